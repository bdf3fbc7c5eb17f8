"""Graphs over names as sets of positions, and back; and without some edges."""

from __future__ import annotations

from collections.abc import Sequence

from juncture.graphs.directed import DirectedGraph
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
