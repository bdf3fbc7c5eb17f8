"""Checks of the nodes and edges that users give: names, and pairs of different names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, TypeAlias

from juncture.base.checks import check_iterable
from juncture.errors import InvalidModel

Edge: TypeAlias = tuple[str, str]


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
