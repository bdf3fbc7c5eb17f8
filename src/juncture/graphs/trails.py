"""`Trail`: a path between two nodes, with the reason why each inner node is open or blocked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Set
from typing import NamedTuple

from juncture.base.values import Value
from juncture.graphs.separation import search
from juncture.graphs.text import quote_name
from juncture.graphs.traversal import Steps


class Passage(NamedTuple):
    """An inner node of a trail: whether it lets influence through, and why."""

    node: str
    is_open: bool
    reason: str


class Trail(Value):
    """A trail of a graph: its nodes, its edges, and whether and why each inner node is open or blocks the trail.

    Parameters
    ----------
    nodes
        The names of the nodes in order.
    arrows
        The text of each edge: "->", "<-" or "--".
    passages
        For each inner node, whether it is open and the reason.

    Examples
    --------
    >>> from juncture.graphs.directed import DirectedGraph
    >>> graph = DirectedGraph.parse("a -> b <- c; b -> d")
    >>> graph.active_trail("a", "c", given="d")
    Trail('a -> b <- c: b is a collider and its descendant d is given')
    """

    nodes: tuple[str, ...]
    arrows: tuple[str, ...]
    passages: tuple[Passage, ...]

    def __init__(self, nodes: Iterable[str], arrows: Iterable[str], passages: Iterable[Passage]) -> None:
        self._set(nodes=tuple(nodes), arrows=tuple(arrows), passages=tuple(passages))

    @property
    def is_active(self) -> bool:
        """Whether every inner node is open."""
        return all(passage.is_open for passage in self.passages)

    @property
    def blocked_at(self) -> tuple[str, ...]:
        """The nodes that block the trail; one is enough."""
        return tuple(passage.node for passage in self.passages if not passage.is_open)

    @property
    def reasons(self) -> dict[str, str]:
        """Each inner node with the reason why it is open or blocked."""
        return {passage.node: passage.reason for passage in self.passages}

    @property
    def path(self) -> str:
        """The nodes and arrows alone, as `a -> b <- c`."""
        steps = zip(self.arrows, self.nodes[1:], strict=True)
        return quote_name(self.nodes[0]) + "".join(f" {arrow} {quote_name(node)}" for arrow, node in steps)

    def __str__(self) -> str:
        """The path, then why it is open, or where it is blocked."""
        reasons = [passage.reason for passage in self.passages if passage.is_open == self.is_active]
        return f"{self.path}: {'; '.join(reasons) or 'they are adjacent'}"

    def __repr__(self) -> str:
        return f"Trail({str(self)!r})"


Judge = Callable[[str, str, str], Passage]


def passages(nodes: list[str], judge: Judge) -> Iterator[Passage]:
    """The judgement of each inner node, given its neighbours on the trail."""
    return (judge(*triple) for triple in zip(nodes, nodes[1:], nodes[2:], strict=False))


def directed_passage(node: str, arrows: tuple[str, str], children: Steps, given: Set[str]) -> Passage:
    """A collider is open if it or a descendant is given; any other node if it is not."""
    name = quote_name(node)
    if arrows == ("->", "<-"):
        below = nearest(node, children, given)
        if below is None:
            return Passage(node, False, f"{name} is a collider; neither it nor a descendant is given")
        found = "it" if below == node else f"its descendant {quote_name(below)}"
        return Passage(node, True, f"{name} is a collider and {found} is given")
    kind = "a common cause" if arrows == ("<-", "->") else "on the way"
    return plain_passage(node, kind, given)


def plain_passage(node: str, kind: str, given: Set[str]) -> Passage:
    """A node that is open unless it is given."""
    is_given = "is" if node in given else "not"
    return Passage(node, node not in given, f"{quote_name(node)} is {kind} and {is_given} given")


def nearest(node: str, children: Steps, given: Set[str]) -> str | None:
    """The node itself, or else its nearest descendant, that is given."""
    if node in given:
        return node
    _, found = search([node], lambda state: [(child, True) for child in children[state[0]]], given)
    return None if found is None else found[0]


def simple_paths(start: str, target: str, neighbors: Callable[[str], Iterable[str]]) -> Iterator[list[str]]:
    """Every path that visits no node twice, one by one; there may be very many."""
    path, stack = [start], [iter(neighbors(start))]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            path.pop()
        elif node == target:
            yield [*path, target]
        elif node not in path:
            path.append(node)
            stack.append(iter(neighbors(node)))
