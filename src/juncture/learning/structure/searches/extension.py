"""A directed graph from a partly directed one, within constraints; where data contradict themselves, the nearest."""

from __future__ import annotations

import numpy as np

from juncture.graphs.directed import DirectedGraph, PartiallyDirectedGraph
from juncture.learning.structure.constraints import Bounds


def directed_extension(
    graph: PartiallyDirectedGraph, bounds: Bounds, weakness: np.ndarray | None = None
) -> DirectedGraph:
    """All edges directed, without a cycle and, if possible, without new immoralities (Dor and Tarsi 1992).

    Again and again a node goes that can come last, with all its edges pointing to it. Where none can, the one that
    breaks least does: an arrow that closes a cycle goes, and of too many parents the weakest.
    """
    places = {name: place for place, name in enumerate(bounds.names)}
    arrows, plain = matrices(graph, places)
    weak = np.zeros(arrows.shape) if weakness is None else weakness
    found = np.zeros_like(arrows)
    left = list(range(len(places)))
    while left:
        node = min(left, key=lambda one: (*harm(arrows, plain, bounds, one), -one))
        parents = np.flatnonzero(arrows[:, node] | plain[:, node])
        order = sorted(parents, key=lambda one: (not bounds.required[one, node], weak[one, node], one))
        found[order[: bounds.max_parents], node] = True
        left.remove(node)
        for matrix in (arrows, plain):
            matrix[node] = matrix[:, node] = False
    names = bounds.names
    edges = [(names[tail], names[head]) for head in range(len(names)) for tail in np.flatnonzero(found[:, head])]
    return DirectedGraph(edges, names)


def harm(arrows: np.ndarray, plain: np.ndarray, bounds: Bounds, node: int) -> tuple[bool, int, int, int]:
    """What breaks when the node comes last: a required arrow, other arrows, the limit of parents, immoralities."""
    parents = arrows[:, node] | plain[:, node]
    joined = arrows | arrows.T | plain
    around = np.flatnonzero(parents | arrows[node])
    beside = np.flatnonzero(plain[:, node])
    new = int((~joined[np.ix_(beside, around)]).sum()) - len(beside)  # no node is joined to itself
    too_many = max(int(parents.sum()) - bounds.max_parents, 0)
    return bool((bounds.required[node] & arrows[node]).any()), int(arrows[node].sum()), too_many, new


def matrices(graph: PartiallyDirectedGraph, places: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """Arrows (tail, head), and plain edges, both ways."""
    arrows = np.zeros((len(places), len(places)), dtype=np.bool_)
    plain = arrows.copy()
    for tail, head in graph.directed_edges:
        arrows[places[tail], places[head]] = True
    for one, other in graph.undirected_edges:
        plain[places[one], places[other]] = plain[places[other], places[one]] = True
    return arrows, plain
