"""Sets of positions as the bits of a whole number, and graphs as one such set of parents for each variable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np

from juncture.errors import Unsupported
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph

Positions: TypeAlias = int


def members(positions: Positions) -> list[int]:
    """The positions in the set, rising.

    >>> members(0b1101)
    [0, 2, 3]
    """
    found = []
    while positions:
        lowest = positions & -positions
        found.append(lowest.bit_length() - 1)
        positions ^= lowest
    return found


def set_of(positions: Iterable[int]) -> Positions:
    total = 0
    for position in positions:
        total |= 1 << position
    return total


def graph_of(names: Sequence[str], parents: Sequence[Positions]) -> DirectedGraph:
    """The directed graph in which each variable has these parents."""
    edges = [(names[parent], names[child]) for child, one in enumerate(parents) for parent in members(one)]
    return DirectedGraph(edges, names)


def parents_of(graph: DirectedGraph) -> list[Positions]:
    """The parents of each node."""
    indices = {name: index for index, name in enumerate(graph.nodes)}
    return [set_of(indices[parent] for parent in graph.parents(name)) for name in graph.nodes]


def without(parents: Sequence[Positions], indices: Sequence[int], needed: Sequence[Positions]) -> list[Positions]:
    """The parents of each variable after some variables lose all edges but the required ones."""
    gone = set_of(indices)
    apart = [one & ~gone | needed[child] for child, one in enumerate(parents)]
    for index in indices:
        apart[index] = needed[index]
    return apart


@singledispatch
def member_of(graph: Any) -> DirectedGraph:
    """The graph itself, or one graph of an equivalence class."""
    raise Unsupported(
        f"a DirectedGraph, or a PartiallyDirectedGraph for its class, is asked for; got {type(graph).__name__},"
        " of a model take .graph"
    )


@member_of.register
def _(graph: DirectedGraph) -> DirectedGraph:
    return graph


@member_of.register
def _(graph: PartiallyDirectedGraph) -> DirectedGraph:
    return graph.consistent_extension()


def find_descendants(edges: np.ndarray) -> np.ndarray:
    """(ancestor, descendant): whether a directed path exists between two positions of an acyclic graph."""
    from juncture.kernels.structure.climbing import reach_below

    reaches = np.empty_like(edges)
    reach_below(edges, reaches)
    return reaches


def find_paths(edges: np.ndarray) -> np.ndarray:
    """(from, to): whether a directed path exists between two positions of any directed graph."""
    from juncture.kernels.structure.climbing import close_paths

    reaches = edges.copy()
    close_paths(reaches)
    return reaches
