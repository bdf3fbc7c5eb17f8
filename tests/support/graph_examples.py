"""Graphs for tests: random ones, all small ones, those with known treewidth; elimination and d-separation, slowly."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations, product

import numpy as np
from hypothesis import strategies as st

from juncture.errors import InvalidModel
from juncture.graphs.directed import DirectedGraph
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


# --- directed graphs -------------------------------------------------------------------------------------------------


@st.composite
def directed_graphs(draw, max_nodes=6, min_nodes=0):
    """Edges agree with a hidden order of the nodes."""
    hidden = draw(st.permutations([f"n{i}" for i in range(draw(st.integers(min_nodes, max_nodes)))]))
    edges = [pair for pair in combinations(hidden, 2) if draw(st.booleans())]
    return DirectedGraph(edges, draw(st.permutations(hidden)))


@cache
def all_directed_graphs(num_nodes: int) -> tuple[DirectedGraph, ...]:
    """Every directed graph without cycles on so many nodes: each pair is not joined, or joined in one direction."""
    nodes = list("abcdef"[:num_nodes])
    pairs = list(combinations(nodes, 2))
    graphs = []
    for marks in product((None, 1, -1), repeat=len(pairs)):
        edges = [pair[::mark] for pair, mark in zip(pairs, marks, strict=True) if mark]
        try:
            graphs.append(DirectedGraph(edges, nodes))
        except InvalidModel:
            continue
    return tuple(graphs)


@cache
def all_undirected_graphs(num_nodes: int) -> tuple[UndirectedGraph, ...]:
    nodes = list("abcdef"[:num_nodes])
    pairs = list(combinations(nodes, 2))
    return tuple(
        UndirectedGraph([pair for pair, joined in zip(pairs, row, strict=True) if joined], nodes)
        for row in product((False, True), repeat=len(pairs))
    )


def disjoint_sets(names, count: int = 3):
    """All ways to put each name into one of so many sets, or into none."""
    for row in product(range(count + 1), repeat=len(names)):
        yield tuple({name for name, place in zip(names, row, strict=True) if place == which} for which in range(count))


# --- three other definitions of d-separation -------------------------------------------------------------------------


def separated_by_trails(graph: DirectedGraph, a, b, given) -> bool:
    """By the definition: every path without directions has a node that blocks it."""
    return not any(is_open(graph, path, given) for one in a for other in b for path in paths(graph, one, other))


def paths(graph: DirectedGraph, start, target, before=()):
    if start == target:
        yield (*before, target)
    elif start not in before:
        for node in {*graph.parents(start), *graph.children(start)}:
            yield from paths(graph, node, target, (*before, start))


def is_open(graph: DirectedGraph, path, given) -> bool:
    for before, node, after in zip(path, path[1:], path[2:], strict=False):
        if before in graph.parents(node) and after in graph.parents(node):
            if not ({node} | graph.descendants(node)) & set(given):
                return False
        elif node in given:
            return False
    return True


def separated_by_moral_graph(graph: DirectedGraph, a, b, given) -> bool:
    """The moral graph of the ancestors falls apart when what is given is taken away."""
    names = {*a, *b, *given}
    moral = graph.subgraph(names | graph.ancestors(names)).moralize()
    rest = moral.subgraph(set(moral.nodes) - set(given))
    return not any(set(a) & set(part) and set(b) & set(part) for part in rest.components())


def separated_by_deletion(graph: DirectedGraph, a, b, given) -> bool:
    """Keep the ancestors, delete the edges that leave what is given; no path is left (S4-201)."""
    names = {*a, *b, *given}
    kept = graph.subgraph(names | graph.ancestors(names))
    cut = UndirectedGraph([edge for edge in kept.edges if edge[0] not in given], kept.nodes)
    return not any(set(a) & set(part) and set(b) & set(part) for part in cut.components())
