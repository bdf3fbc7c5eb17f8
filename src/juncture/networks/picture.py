"""`draw`: a model as a picture, with beliefs in its nodes where they are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from juncture.checks import check_mapping, check_number
from juncture.drawing.diagram import Diagram, Edge, Node, Stroke
from juncture.drawing.notebook import diagram_html, num_lines
from juncture.drawing.states import StateDiagram
from juncture.errors import FormatError, InvalidData, TooLarge, Unsupported
from juncture.files.writing import write_text

MAX_LINES = 200_000  # of any picture: edges, each with a bend in every layer that it passes
MAX_ARROWS = 10_000  # between states on a circle


class Drawable(Protocol):
    """A model that knows its own diagram."""

    def to_diagram(self) -> Diagram | StateDiagram: ...


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing as SVG text; notebooks show it."""

    svg: str

    def save(self, path: str | Path) -> None:
        """Write the picture to a file whose name ends in .svg."""
        if Path(path).suffix.lower() != ".svg":
            raise FormatError("pictures are SVG; give the file a name that ends in .svg", file=str(path))
        write_text(path, self.svg)

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} characters of SVG)"


def draw(model: Drawable, beliefs: Any = None, *, strengths: Mapping[tuple[str, str], float] | None = None) -> Picture:
    """A picture of the model's graph.

    Parameters
    ----------
    model
        A model, a graph, or any object with `to_diagram()`.
    beliefs
        Beliefs of this model given one row of evidence: each node then shows a bar per state, and observed variables
        are shaded.
    strengths
        A number of at least 0 for each edge, such as `edge_information(model)`: the strongest edge is drawn widest.

    Returns
    -------
    Picture
        SVG text, which notebooks show and `save` writes.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.example("asia")
    >>> jt.draw(model, jt.infer(model, {"xray": "yes"})).svg[:4]
    '<svg'
    """
    from juncture.drawing.svg import to_svg

    if not hasattr(model, "to_diagram"):
        raise Unsupported(f"draw takes a model or a graph; got {type(model).__name__}")
    diagram = model.to_diagram()
    lines, limit = num_lines(diagram), MAX_ARROWS if isinstance(diagram, StateDiagram) else MAX_LINES
    if lines > limit:
        raise TooLarge(
            f"a picture of {len(diagram.nodes):,} nodes would have {lines:,} lines and bends; the limit is {limit:,}:"
            " draw a smaller part of the model"
        )
    if beliefs is not None:
        if getattr(beliefs, "model", None) != model:
            raise InvalidData("these are not beliefs of this model; draw takes what infer gave for it")
        if not isinstance(diagram, Diagram) or not beliefs.is_single:
            raise InvalidData("a picture shows the beliefs of a network about one row; infer one row and draw that")
        diagram = replace(diagram, nodes=tuple(add_beliefs(node, beliefs) for node in diagram.nodes))
    if strengths is not None:
        diagram = add_strengths(diagram, strengths)
    return Picture(to_svg(diagram))


def add_beliefs(node: Node, beliefs: Any) -> Node:
    if node.kind != "variable" or node.name not in beliefs.targets:
        return node
    bars = tuple((str(label), float(p)) for label, p in beliefs[node.name].to_dict().items())
    return replace(node, bars=bars, shaded=bool(beliefs.findings.is_observed(node.name)[0]))


def add_strengths(diagram: Diagram | StateDiagram, strengths: Mapping[tuple[str, str], float]) -> Diagram:
    """The diagram with lines as wide as their edges are strong, in proportion to the strongest."""
    if not isinstance(diagram, Diagram):
        raise InvalidData("strengths go with the edges of a network or a graph; this model is drawn by its states")
    numbers = {
        edge: check_number(number, f"the strength of the edge {edge!r}", least=0)
        for edge, number in check_mapping(strengths, "strengths").items()
    }
    known = {(edge.source, edge.target) for edge in diagram.edges}
    strange = next((edge for edge in numbers if edge not in known), None)
    if strange is not None:
        raise InvalidData(f"strengths name the edge {strange!r}, which the picture has not; give pairs of its edges")
    largest = max(numbers.values(), default=0.0) or 1.0
    edges = (add_strength(edge, numbers.get((edge.source, edge.target)), largest) for edge in diagram.edges)
    return replace(diagram, edges=tuple(edges))


def add_strength(edge: Edge, number: float | None, largest: float) -> Edge:
    return edge if number is None else replace(edge, stroke=Stroke.of_strength(number / largest), note=f"{number:.4g}")


def model_html(model: Drawable) -> str:
    """What a notebook shows: a line of words, and the picture unless it would be too large to read."""
    return diagram_html(repr(model), model.to_diagram())
