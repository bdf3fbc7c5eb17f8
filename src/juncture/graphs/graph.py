"""What all kinds of graphs share: nodes, edges, text, DOT, networkx; and the checks of nodes and edges.

Nodes are names, edges are pairs of different names; `as_nodes` and `as_edges` check what users give.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from juncture.base.checks import check_iterable
from juncture.base.values import Value
from juncture.errors import InvalidModel, MissingExtra, UnknownVariable
from juncture.graphs.text import SHOWN, Link, clauses, dot_text, parse_chains

if TYPE_CHECKING:
    from juncture.drawing.diagram import Diagram

Edge: TypeAlias = tuple[str, str]


class Graph(Value):
    """Named nodes with edges between them; two graphs of a class with the same nodes and edges are equal."""

    _kind: ClassVar[str]
    _arrow: ClassVar[str]
    _arrows: ClassVar[tuple[str, ...]]
    _networkx_class: ClassVar[str]
    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]

    def __init__(self, edges: Iterable[Edge] = (), nodes: Iterable[str] = ()) -> None:
        pairs = as_edges(edges, self._arrow)
        names = dict.fromkeys(as_nodes(nodes))
        names.update(dict.fromkeys(name for pair in pairs for name in pair))
        self._set(nodes=tuple(names), edges=pairs)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The graph written as chains, separated by `;` or line ends; a name alone is an isolated node.

        Names with spaces or special characters stand between double quotes, in which a backslash
        escapes a quote or a backslash.
        """
        if not isinstance(text, str):
            raise InvalidModel(f"parse reads text such as 'a {cls._arrow} b'; got {text!r}")
        return cls._from_links(*parse_chains(text, cls._arrows))

    @classmethod
    def _from_links(cls, links: Iterable[Link], nodes: Iterable[str]) -> Self:
        return cls(((link.tail, link.head) for link in links), nodes)

    def _links(self) -> Iterable[Link]:
        return (Link(tail, self._arrow, head) for tail, head in self.edges)

    def subgraph(self, names: str | Iterable[str]) -> Self:
        """These nodes, and the edges between them, in the order they have here."""
        kept = self._check_names(names)
        links = (link for link in self._links() if link.tail in kept and link.head in kept)
        return self._from_links(links, (node for node in self.nodes if node in kept))

    def to_dot(self) -> str:
        """The graph in the language of Graphviz."""
        return dot_text(self._kind, self.nodes, self._links())

    def to_diagram(self) -> Diagram:
        """What is drawn: arrows, and lines for undirected edges."""
        from juncture.drawing.diagram import Diagram, Node
        from juncture.drawing.diagram import Edge as Line

        lines = (Line(link.tail, link.head, directed=link.arrow == "->") for link in self._links())
        return Diagram(map(Node, self.nodes), lines)

    def to_networkx(self) -> Any:
        """A networkx graph with the same nodes and edges, added in the same order."""
        try:
            import networkx as nx
        except ImportError as error:
            raise MissingExtra.named("networkx", "networkx") from error
        graph = getattr(nx, self._networkx_class)()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph

    @classmethod
    def _check_networkx(cls, graph: Any) -> None:
        try:
            found = "Multi" * graph.is_multigraph() + ("DiGraph" if graph.is_directed() else "Graph")
        except AttributeError:
            found = type(graph).__name__
        if found != cls._networkx_class:
            raise InvalidModel(
                f"a {cls.__name__} is made from a networkx.{cls._networkx_class}, not from a {found}; convert it first"
            )

    def __str__(self) -> str:
        """The whole graph as `parse` reads it."""
        return "; ".join(clauses(self._links(), self.nodes))

    def __repr__(self) -> str:
        shown = list(islice(clauses(self._links(), self.nodes), SHOWN + 1))
        if len(shown) <= SHOWN:
            return f"{type(self).__name__}({'; '.join(shown)!r})"
        text = "; ".join([*shown[:SHOWN], "…"])
        return f"<{type(self).__name__} of {len(self.nodes)} nodes and {len(self.edges)} edges: {text}>"

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import diagram_html

        return diagram_html(repr(self), self.to_diagram())

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {node: position for position, node in enumerate(self.nodes)}

    def _check_names(self, names: str | Iterable[str] | None) -> set[str]:
        """The names, all of them nodes; text is one name, not its letters, and None none."""
        if names is None or isinstance(names, str):
            names = [] if names is None else [names]
        return {self._check_name(name) for name in check_iterable(names, "the names of nodes")}

    def _check_name(self, name: str) -> str:
        if not isinstance(name, str) or name not in self._positions:
            raise UnknownVariable.among(name, self.nodes, where="the graph")
        return name


def adjacency(nodes: Iterable[str], pairs: Iterable[Edge]) -> dict[str, tuple[str, ...]]:
    """For each node the second names of the pairs it comes first in, in order."""
    lists: dict[str, list[str]] = {node: [] for node in nodes}
    for first, second in pairs:
        lists[first].append(second)
    return {node: tuple(others) for node, others in lists.items()}


def as_nodes(nodes: Iterable[object]) -> tuple[str, ...]:
    """Distinct names, in the order given."""
    if isinstance(nodes, str):
        raise InvalidModel(f"nodes must be a list of names, not the text {nodes!r}")
    names: dict[str, None] = {}
    for node in check_iterable(nodes, "nodes", error=InvalidModel):
        name = as_name(node)
        if name in names:
            raise InvalidModel(f"the node {name!r} is listed twice; list each node once")
        names[name] = None
    return tuple(names)


def as_edges(edges: Iterable[object], arrow: str) -> tuple[Edge, ...]:
    """Pairs of different names, in the order given."""
    if isinstance(edges, str):
        raise InvalidModel(f"edges must be a list of pairs of names, not the text {edges!r}; for text there is parse")
    return tuple(as_edge(edge, arrow) for edge in check_iterable(edges, "edges", error=InvalidModel))


def as_edge(edge: Any, arrow: str) -> Edge:
    """A pair of different names; a set raises, since it has no first and second."""
    if type(edge) is not tuple and isinstance(edge, str | Set | Mapping):  # the quick check first
        raise InvalidModel(f"an edge must be a pair of names such as ('a', 'b'); got {edge!r}")
    try:
        first, second = edge
    except (TypeError, ValueError):
        raise InvalidModel(f"an edge must be a pair of names such as ('a', 'b'); got {edge!r}") from None
    tail, head = as_name(first), as_name(second)
    if tail == head:
        raise InvalidModel(f"the edge {tail!r} {arrow} {head!r} joins a node to itself; an edge needs two nodes")
    return tail, head


def as_name(name: object) -> str:
    if not isinstance(name, str) or not name:
        raise InvalidModel(f"a node's name must be a non-empty string; got {name!r}")
    return str(name)  # NumPy's strings as Python's own
