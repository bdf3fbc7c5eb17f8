"""Undirected graphs for tests: random ones, those with known treewidth, and what elimination does to them, slowly."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
from hypothesis import strategies as st

from juncture.graphs.undirected import UndirectedGraph


@st.composite
def undirected_graphs(draw, max_nodes=7, min_nodes=0):
    nodes = draw(st.permutations([f"n{i}" for i in range(draw(st.integers(min_nodes, max_nodes)))]))
    return UndirectedGraph([pair for pair in combinations(nodes, 2) if draw(st.booleans())], nodes)


def random_graph(rng: np.random.Generator, num_nodes: int, density: float) -> UndirectedGraph:
    nodes = [f"n{i}" for i in range(num_nodes)]
    return UndirectedGraph([pair for pair in combinations(nodes, 2) if rng.random() < density], nodes)


def cycle(length: int) -> UndirectedGraph:
    nodes = [f"n{i}" for i in range(length)]
    return UndirectedGraph(zip(nodes, nodes[1:] + nodes[:1], strict=True))


def complete(num_nodes: int) -> UndirectedGraph:
    nodes = [f"n{i}" for i in range(num_nodes)]
    return UndirectedGraph(combinations(nodes, 2), nodes)


def grid(rows: int, columns: int) -> UndirectedGraph:
    cells = list(product(range(rows), range(columns)))
    pairs = [(a, b) for a, b in combinations(cells, 2) if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1]
    return UndirectedGraph([(f"{a}", f"{b}") for a, b in pairs], map(str, cells))


def petersen() -> UndirectedGraph:
    """Pairs of five things, joined when they share none."""
    pairs = list(combinations("abcde", 2))
    return UndirectedGraph([("".join(a), "".join(b)) for a, b in combinations(pairs, 2) if not set(a) & set(b)])


def edge_set(edges) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in edges}


def eliminated(graph: UndirectedGraph, order) -> tuple[list[set[str]], set[frozenset[str]]]:
    """By the definition: the neighbours of each node when it goes, and all edges that were ever there."""
    edges, gone, around = edge_set(graph.edges), set(), []
    for node in order:
        others = {other for other in graph.nodes if frozenset((node, other)) in edges} - gone
        edges |= edge_set(combinations(others, 2))
        gone.add(node)
        around.append(others)
    return around, edges


def brute_force_treewidth(graph: UndirectedGraph) -> int:
    """The least over all orders of the most neighbours that a node has when it goes."""
    return min(max(map(len, eliminated(graph, order)[0]), default=-1) for order in permutations(graph.nodes))
