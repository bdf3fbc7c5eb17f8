"""Diagrams as frozen data: nodes, edges between them and groups around them.

>>> Diagram([Node("rain"), Node("grass", shaded=True)], [Edge("rain", "grass")]).edges
(Edge(source='rain', target='grass', directed=True),)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Protocol

from juncture.drawing.palette import EDGE
from juncture.errors import InvalidModel, UnknownVariable

Kind = Literal["variable", "parameter", "factor", "decision", "utility"]
Direction = Literal["down", "right"]
KINDS: tuple[Kind, ...] = ("variable", "parameter", "factor", "decision", "utility")
SYMBOLS = frozenset({"parameter", "factor"})  # drawn as a small mark with the text beside it
ROUNDING = 1e-6  # how far computed probabilities may stray out of [0, 1]


@dataclass(frozen=True)
class Node:
    """A named thing to draw; shaded means observed, bars are (state, probability) rows inside it.

    `errors` are the standard errors of the bars, none where they are exact. A `curve` is drawn in place of bars:
    heights from 0 to 1 of equal steps along a line. The `note` is a second, smaller line; `row` fixes the layer,
    counted from the top.
    """

    name: str
    label: str | None = None
    kind: Kind = "variable"
    shaded: bool = False
    bars: tuple[tuple[str, float], ...] = ()
    note: str | None = None
    row: int | None = None
    curve: tuple[float, ...] = ()
    errors: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "bars", tuple((str(text), float(share)) for text, share in self.bars))
        if self.kind not in KINDS:
            raise InvalidModel(f"node {self.name!r} is of kind {self.kind!r}; a kind is one of {', '.join(KINDS)}")
        if self.bars and self.kind != "variable":
            raise InvalidModel(f"node {self.name!r} is a {self.kind} with bars; only a variable can have bars")
        if self.errors and len(self.errors) != len(self.bars):
            raise InvalidModel(
                f"node {self.name!r} has {len(self.errors)} errors of {len(self.bars)} bars; each bar has one, or none"
            )
        for text, share in self.bars:
            if not -ROUNDING <= share <= 1 + ROUNDING:
                raise InvalidModel(f"node {self.name!r} gives {text!r} the bar {share}; a bar lies between 0 and 1")

    @property
    def text(self) -> str:
        return self.name if self.label is None else self.label


class Drawing(Protocol):
    """Something that `to_svg` draws; it knows about how large the picture will be."""

    @property
    def nodes(self) -> Sequence[Any]: ...
    @property
    def num_lines(self) -> int: ...


class Stroke(NamedTuple):
    """How a line looks."""

    width: float = 1.4
    colour: str = EDGE
    dashed: bool = False

    @classmethod
    def of_strength(cls, share: float) -> Stroke:
        """A line as wide as an edge is strong, from 0 to 1."""
        return cls(0.8 + 4.2 * share)


@dataclass(frozen=True)
class Edge:
    """A line from source to target, with an arrow head when directed; the `note` is a tooltip."""

    source: str
    target: str
    directed: bool = True
    stroke: Stroke = field(default=Stroke(), repr=False)
    note: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Group:
    """A plate: a box around its members with the label in its lower right corner."""

    label: str
    members: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(dict.fromkeys(self.members)))
        if not self.members:
            raise InvalidModel(f"group {self.label!r} has no members; a plate stands around at least one node")


@dataclass(frozen=True)
class Diagram:
    """Nodes with the edges and groups among them; groups may nest and overlap. The legend explains strokes by texts.

    The `direction` is where arrows lead as far as they can.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...] = ()
    groups: tuple[Group, ...] = ()
    title: str | None = None
    legend: tuple[tuple[str, Stroke], ...] = ()
    direction: Direction = "down"

    def __init__(
        self,
        nodes: Iterable[Node],
        edges: Iterable[Edge] = (),
        groups: Iterable[Group] = (),
        title: str | None = None,
        legend: Iterable[tuple[str, Stroke]] = (),
        direction: Direction = "down",
    ) -> None:
        object.__setattr__(self, "nodes", tuple(nodes))
        object.__setattr__(self, "edges", tuple(edges))
        object.__setattr__(self, "groups", tuple(groups))
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "legend", tuple(legend))
        object.__setattr__(self, "direction", direction)
        self._check_names()
        self._check_rows()

    @property
    def index(self) -> dict[str, int]:
        return {node.name: number for number, node in enumerate(self.nodes)}

    @property
    def num_lines(self) -> int:
        return len(self.edges)

    def _check_names(self) -> None:
        counts = Counter(node.name for node in self.nodes)
        repeated = next((name for name, count in counts.items() if count > 1), None)
        if repeated is not None:
            raise InvalidModel(f"the diagram has {counts[repeated]} nodes named {repeated!r}; names are unique")
        mentioned = [name for edge in self.edges for name in (edge.source, edge.target)]
        mentioned += [name for group in self.groups for name in group.members]
        for name in mentioned:
            if name not in counts:
                raise UnknownVariable.among(name, counts, where="the diagram")
        for edge in self.edges:
            if edge.source == edge.target:
                raise InvalidModel(f"node {edge.source!r} has an edge to itself; an edge joins two nodes")

    def _check_rows(self) -> None:
        rows = {node.name: node.row for node in self.nodes if node.row is not None}
        if rows and len(rows) < len(self.nodes):
            missing = next(node.name for node in self.nodes if node.row is None)
            raise InvalidModel(f"node {missing!r} has no row but others have; give a row to every node or to none")
        for edge in self.edges if rows else ():
            if rows[edge.source] == rows[edge.target]:
                raise InvalidModel(f"edge {edge.source!r} to {edge.target!r} lies within a row; edges join two rows")


def place_in_two_rows(diagram: Diagram) -> Diagram:
    """The same factor graph with its variables in the upper row and its factors in the lower one."""
    nodes = [replace(node, row=int(node.kind == "factor")) for node in diagram.nodes]
    return replace(diagram, nodes=tuple(nodes))


def keep_around(diagram: Diagram, names: Sequence[str]) -> Diagram:
    """The part of a diagram that these nodes and their Markov blankets make up.

    The blanket of a node is its parents, its children and their other parents; without directions its neighbours, of
    a factor graph the variables that it shares a factor with. Groups keep the members that are left.
    """
    known = diagram.index
    for name in names:
        if name not in known:
            raise UnknownVariable.among(name, known, where="the picture")
    kinds = {node.name: node.kind for node in diagram.nodes}
    parents: dict[str, list[str]] = {name: [] for name in known}
    children: dict[str, list[str]] = {name: [] for name in known}
    neighbors: dict[str, list[str]] = {name: [] for name in known}
    for edge in diagram.edges:
        if edge.directed:
            parents[edge.target].append(edge.source)
            children[edge.source].append(edge.target)
        else:
            neighbors[edge.source].append(edge.target)
            neighbors[edge.target].append(edge.source)
    kept = set(names)
    for name in names:
        own = {*parents[name], *children[name], *neighbors[name]}
        kept |= own | {parent for child in children[name] for parent in parents[child]}
        kept |= {other for factor in own if kinds[factor] == "factor" for other in neighbors[factor]}
    groups = ((group.label, tuple(name for name in group.members if name in kept)) for group in diagram.groups)
    return replace(
        diagram,
        nodes=tuple(node for node in diagram.nodes if node.name in kept),
        edges=tuple(edge for edge in diagram.edges if edge.source in kept and edge.target in kept),
        groups=tuple(Group(label, members) for label, members in groups if members),
    )
