"""Graphs over names as sets of positions, and back; and without some edges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from juncture.errors import Unsupported
from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.learning.structure.sets import Positions, members, set_of


def graph_of(names: Sequence[str], parents: Sequence[Positions]) -> DirectedGraph:
    """The graph in which each has these parents."""
    edges = [(names[parent], names[child]) for child, one in enumerate(parents) for parent in members(one)]
    return DirectedGraph(edges, names)


def parents_of(graph: DirectedGraph) -> list[Positions]:
    """The parents of each node."""
    places = {name: place for place, name in enumerate(graph.nodes)}
    return [set_of(places[parent] for parent in graph.parents(name)) for name in graph.nodes]


def without(parents: Sequence[Positions], places: Sequence[int], needed: Sequence[Positions]) -> list[Positions]:
    """The parents of each when some variables have only the edges that they must have."""
    gone = set_of(places)
    apart = [one & ~gone | needed[child] for child, one in enumerate(parents)]
    for place in places:
        apart[place] = needed[place]
    return apart


@singledispatch
def member_of(graph: Any) -> DirectedGraph:
    """The graph itself, or one of the class that it stands for."""
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
