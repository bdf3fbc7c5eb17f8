"""`draw`: a model, a graph or an answer as a picture; evidence is asked for its beliefs, which stand in the nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from juncture import verbs
from juncture.base.checks import check_choice, check_kind, check_number
from juncture.base.options import check_names
from juncture.drawing.diagram import Diagram, Direction, Drawing, keep_around
from juncture.drawing.marks import add_title, scale_to_width
from juncture.drawing.notebook import num_lines
from juncture.drawing.states import StateDiagram
from juncture.errors import InvalidData, TooLarge
from juncture.networks.picture import Drawable, Picture, add_strengths, find_diagram, show_beliefs, show_states

MAX_LINES = 200_000  # of any picture: edges, each with a bend in every layer that it passes
MAX_ARROWS = 10_000  # between states on a circle
MAX_WIDTH = 20_000  # pixels


def draw(
    model: Drawable,
    beliefs: Any = None,
    *,
    strengths: Mapping[tuple[str, str], float] | None = None,
    around: str | Iterable[str] | None = None,
    direction: Direction = "down",
    width: float | None = None,
    title: str | None = None,
) -> Picture:
    """A picture of a model, a graph or an answer.

    Parameters
    ----------
    model
        A model, a graph, or any object with `to_diagram()`: beliefs, most probable states, also the list of the k best,
        a path or its trellis, a fit, the missingness of a table. Or images: a mapping from titles to arrays
        (row, column), or to pairs of an array and a note.
    beliefs
        Beliefs of this model given one row of evidence: each node then shows a bar per state, with the standard error
        of an engine that draws at random, and observed variables are shaded. Or the evidence, a mapping such as
        `{"xray": "yes"}`, which `infer` is asked with. Or its `most_probable` states: each node then shows its own.
    strengths
        A number of at least 0 for each edge, such as `edge_information(model)`: the strongest edge is drawn widest.
    around
        A variable, or several: only these and their Markov blankets are drawn, that is parents, children and the
        children's other parents; of undirected models the neighbours. Beliefs are those of the whole model.
    direction
        Where arrows lead: "down", or "right".
    width
        How wide the picture is shown, in pixels; its height follows. None for the size at which letters have their own.
    title
        A line above the picture.

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
    >>> part = jt.draw(model, {"xray": "yes"}, around="lung", title="The blanket of lung")
    >>> part.svg.count('class="variable"')  # lung, its parent, its child, and the other parent of that
    4
    """
    from juncture.drawing.svg import to_svg

    diagram = find_diagram(model)
    if isinstance(beliefs, Mapping):
        check_diagram(diagram, "evidence")
        ask: Any = verbs.infer
        beliefs = ask(model, beliefs)
    states = getattr(beliefs, "assignment", None)
    if isinstance(states, Mapping):
        diagram = show_states(diagram, states)
    if strengths is not None:
        diagram = add_strengths(diagram, strengths)
    if around is not None:
        diagram = keep_around(check_diagram(diagram, "around"), names_of(around))
    if check_choice(direction, ("down", "right"), "direction") == "right":
        diagram = replace(check_diagram(diagram, "direction"), direction="right")
    lines, limit = num_lines(diagram), MAX_ARROWS if isinstance(diagram, StateDiagram) else MAX_LINES
    if lines > limit:
        raise TooLarge(
            f"a picture of {len(diagram.nodes):,} nodes would have {lines:,} lines and bends; the limit is {limit:,}:"
            ' draw a smaller part of the model, as with around="name"'
        )
    if beliefs is not None and not isinstance(states, Mapping):
        if getattr(beliefs, "model", None) != model:
            raise InvalidData(
                "these are not beliefs of this model; draw takes what infer gave for it, or evidence such as"
                ' {"xray": "yes"}'
            )
        diagram = show_beliefs(diagram, beliefs)
    svg = to_svg(diagram)
    if title is not None:
        svg = add_title(svg, check_kind(title, str, "the title"))
    return Picture(svg if width is None else scale_to_width(svg, check_number(width, "width", least=1, most=MAX_WIDTH)))


def check_diagram(diagram: Drawing, what: str) -> Diagram:
    """The diagram of a network or a graph; other pictures have no part and no direction."""
    if not isinstance(diagram, Diagram):
        raise InvalidData(f"{what} is for pictures of networks and graphs; this picture has another form: leave it out")
    return diagram


def names_of(around: Any) -> list[str]:
    names = [around] if isinstance(around, str) else check_names(around, "around")
    if not names:
        raise InvalidData("around names no node; give one, as in around='lung', or leave it out")
    return names
