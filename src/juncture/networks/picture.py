"""`Picture`, the SVG text that `draw` gives, and diagrams of models with beliefs in their nodes.

The belief of a variable with states is a bar for each state, that of a real variable a small curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from juncture.base.checks import check_mapping, check_number, check_path
from juncture.drawing.diagram import Diagram, Drawing, Edge, Node, Stroke
from juncture.drawing.notebook import diagram_html
from juncture.drawing.rasters import Rasters
from juncture.errors import FormatError, InvalidData, TooLarge, Unsupported
from juncture.factors.factor import Factor
from juncture.runtime.files import write_bytes

KINDS = (".svg", ".png", ".pdf")  # of files of pictures
STEPS = 48
TAIL = 0.002  # of the probability, left out at each end
MARGIN = 0.08  # of the range, added at each end


@runtime_checkable
class Drawable(Protocol):
    """A model that knows its own diagram."""

    def to_diagram(self) -> Drawing: ...


@dataclass(frozen=True, repr=False)
class Picture:
    """A drawing as SVG text; notebooks show it."""

    svg: str

    def save(self, path: str | Path) -> None:
        """Write the picture to a file whose name ends in .svg, .png or .pdf; the last two need the extra `plot`."""
        from juncture.drawing.images import render

        kind = check_ending(path)
        write_bytes(path, self.svg.encode() if kind == ".svg" else render(self.svg, kind[1:]))

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({len(self.svg):,} characters of SVG)"


def check_ending(path: str | Path) -> str:
    """The ending of the name of a file for a picture."""
    kind = check_path(path).suffix.lower()
    if kind not in KINDS:
        raise FormatError("pictures are SVG, PNG or PDF; end the file's name in .svg, .png or .pdf", file=str(path))
    return kind


def find_diagram(model: object) -> Drawing:
    """The diagram of a model, of an answer, or of the list of the k best answers."""
    if isinstance(model, list | tuple) and model and hasattr(model[0], "_diagram_of"):
        if not all(isinstance(each, type(model[0])) for each in model):
            raise InvalidData("draw takes the answers of one question, such as the k best assignments")
        return model[0]._diagram_of(model)
    if isinstance(model, Mapping):
        return Rasters.of(model)
    if not isinstance(model, Drawable) or isinstance(model, type):
        what = "an empty list" if isinstance(model, list) and not model else type(model).__name__
        remedy = "; draw its entries one by one" if isinstance(model, list | tuple) and model else ""
        raise Unsupported(f"draw takes a model, a graph or an answer; got {what}{remedy}")
    return model.to_diagram()


def show_states(diagram: Drawing, assignment: Mapping[str, Any]) -> Diagram:
    """The diagram with the state of each variable below its name."""
    if not isinstance(diagram, Diagram):
        raise InvalidData("states are shown in the nodes of a network; draw the answer alone, draw(best)")
    strange = next((name for name in assignment if name not in diagram.index), None)
    if strange is not None:
        raise InvalidData(f"the assignment names {strange!r}, which this model has not; draw the model that was asked")
    nodes = (replace(node, note=str(assignment.get(node.name, node.note or "")) or None) for node in diagram.nodes)
    return replace(diagram, nodes=tuple(nodes))


def show_beliefs(diagram: Drawing, beliefs: Any) -> Diagram:
    """The diagram with a bar for each state in its nodes."""
    if not isinstance(diagram, Diagram) or not beliefs.is_single:
        raise InvalidData(
            "nodes show the beliefs of a network about one row; infer one row, or draw the beliefs alone: draw(beliefs)"
        )
    return replace(diagram, nodes=tuple(add_beliefs(node, beliefs) for node in diagram.nodes))


def add_beliefs(node: Node, beliefs: Any) -> Node:
    if node.kind != "variable" or node.name not in beliefs.targets:
        return node
    shaded = bool(beliefs.findings.is_observed(node.name)[0])
    try:
        marginal = beliefs[node.name]
    except TooLarge:
        return replace(node, note="too large to compute", shaded=shaded)
    if not isinstance(marginal, Factor):
        return replace(node, note=moments_text(marginal), curve=density_heights(marginal), shaded=shaded)
    bars = tuple((str(label), float(p)) for label, p in marginal.to_dict().items())
    errors = beliefs.diagnostics.standard_errors
    has_errors = node.name in errors and not shaded
    return replace(node, bars=bars, shaded=shaded, errors=tuple(errors[node.name].tolist()) if has_errors else ())


def density_heights(marginal: Any) -> tuple[float, ...]:
    """The probability of equal steps along the line, over the largest; nothing for a variable that is known.

    Steps of probability, not values of the density: a point that has a probability of its own has a height too.
    """
    low, high = (float(marginal.quantile(level)) for level in (TAIL, 1 - TAIL))
    if not np.isfinite(high - low) or high <= low:
        return ()
    margin = MARGIN * (high - low)
    ends = np.linspace(low - margin, high + margin, STEPS + 1)
    masses = np.diff(np.asarray(marginal.cdf(ends), float))
    return tuple((masses / masses.max()).tolist())


def moments_text(marginal: Any) -> str:
    """The mean and the standard deviation; of a variable that is known its value."""
    if marginal.variance == 0:
        return f"{marginal.mean:.4g}"
    return f"{marginal.mean:.4g} ± {marginal.variance**0.5:.3g}"


def add_strengths(diagram: Drawing, strengths: Mapping[tuple[str, str], float]) -> Diagram:
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
