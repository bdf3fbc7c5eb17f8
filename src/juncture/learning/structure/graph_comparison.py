"""A learned graph compared with another: different, found and missed edges, and the gap of their scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import singledispatch
from typing import Any, TypeAlias

from juncture.drawing.diagram import Diagram, Node, Stroke
from juncture.drawing.diagram import Edge as Line
from juncture.drawing.notebook import diagram_html
from juncture.drawing.palette import EXTRA_LINE, MISSED_LINE, TURNED_LINE
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.graphs.graph import Edge
from juncture.learning.structure.scores import scores
from juncture.learning.structure.sets import member_of

AnyGraph: TypeAlias = DirectedGraph | PartiallyDirectedGraph
LEGEND = (
    ("in both graphs", Stroke()),
    ("extra: only in the learned graph", Stroke(2.2, EXTRA_LINE)),
    ("missed: only in the true graph", Stroke(2.2, MISSED_LINE, dashed=True)),
    ("in both, with another direction", Stroke(2.2, TURNED_LINE)),
)


@dataclass(frozen=True)
class GraphComparison:
    """A learned graph compared with the true graph.

    Attributes
    ----------
    distance
        The structural Hamming distance (SHD): the number of pairs whose edge is missing, extra or differently directed.
    class_distance
        The SHD between the equivalence classes, where directions that data cannot identify do not count.
    precision, recall
        Of the edges, whatever their direction.
    arrow_precision, arrow_recall
        Of the edges with their direction.
    score_gap
        The score of the true graph less the score of the learned graph, where data were given.
    learned, truth
        The two graphs.
    """

    distance: int
    class_distance: int
    precision: float
    recall: float
    arrow_precision: float
    arrow_recall: float
    score_gap: float | None = None
    learned: Any = field(default=None, repr=False)
    truth: Any = field(default=None, repr=False)

    def to_diagram(self) -> Diagram:
        """What is drawn: the edges of both graphs, with a colour for those that are extra, missed or turned."""
        mine, other = links(self.learned), links(self.truth)
        lines = (compared_line(pair, mine, other) for pair in mine | other)
        return Diagram(map(Node, self.learned.nodes), lines, legend=LEGEND)

    def _repr_html_(self) -> str:
        return diagram_html(repr(self), self.to_diagram())


def compare(learned: Any, truth: Any, data: Any = None, score: Any = "bic") -> GraphComparison:
    """Compare a learned graph with the true graph.

    Parameters
    ----------
    learned, truth
        Directed graphs, or equivalence classes, with the same nodes.
    data, score
        Where data are given, `score_gap` is the score of the truth less the score of the learned graph.

    Returns
    -------
    GraphComparison
        Distances, precision and recall.

    Examples
    --------
    >>> truth = DirectedGraph.parse("a -> b -> c")
    >>> found = compare(DirectedGraph.parse("c -> b -> a"), truth)
    >>> found.distance, found.class_distance, found.recall, found.arrow_recall
    (2, 0, 1.0, 0.0)
    """
    mine, other = links(learned), links(truth)
    if set(learned.nodes) != set(truth.nodes):
        raise InvalidData("the two graphs must have the same nodes to be compared")
    gap = None
    if data is not None:
        gap = scores.score(truth, data, score) - scores.score(learned, data, score)
    return GraphComparison(
        distance=num_different(mine, other),
        class_distance=num_different(links(class_of(learned)), links(class_of(truth))),
        precision=share(set(mine), set(other)),
        recall=share(set(other), set(mine)),
        arrow_precision=share(set(mine.items()), set(other.items())),
        arrow_recall=share(set(other.items()), set(mine.items())),
        score_gap=gap,
        learned=learned,
        truth=truth,
    )


Links: TypeAlias = dict[frozenset[str], Edge | None]
"""For each joined pair the direction of its edge; None where it has none."""


@singledispatch
def links(graph: Any) -> Links:
    raise Unsupported(
        f"a DirectedGraph or a PartiallyDirectedGraph can be compared; got {type(graph).__name__},"
        " of a model take .graph"
    )


@links.register
def _(graph: DirectedGraph) -> Links:
    return {frozenset(edge): edge for edge in graph.edges}


@links.register
def _(graph: PartiallyDirectedGraph) -> Links:
    arrows: Links = {frozenset(edge): edge for edge in graph.directed_edges}
    return arrows | {frozenset(edge): None for edge in graph.undirected_edges}


def compared_line(pair: frozenset[str], mine: Links, other: Links) -> Line:
    """The edge of the learned graph, or the one that it lacks, in the colour of what is wrong with it."""
    text, stroke = LEGEND[0]
    if pair not in other:
        text, stroke = LEGEND[1]
    elif pair not in mine:
        text, stroke = LEGEND[2]
    elif mine[pair] != other[pair]:
        text, stroke = LEGEND[3]
    edge = mine[pair] if pair in mine else other[pair]
    source, target = edge or sorted(pair)
    return Line(source, target, directed=edge is not None, stroke=stroke, note=text)


def num_different(mine: Links, other: Links) -> int:
    pairs = mine.keys() | other.keys()
    return sum(mine.get(pair, ()) != other.get(pair, ()) for pair in pairs)


def share(part: set[Any], whole: set[Any]) -> float:
    """How much of `part` is in `whole`; all of nothing is."""
    return len(part & whole) / len(part) if part else 1.0


def class_of(graph: AnyGraph) -> PartiallyDirectedGraph:
    """The class of a graph; a partly directed one that no graph extends is taken as it is."""
    try:
        return member_of(graph).essential_graph()
    except InvalidModel:
        return PartiallyDirectedGraph(graph.directed_edges, graph.undirected_edges, graph.nodes)  # type: ignore[union-attr]
