"""Posterior probabilities of edges, against the sum over all graphs."""

from __future__ import annotations

import pickle
from functools import cache
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import norm

import juncture as jt
from juncture.learning.structure.edge_posteriors import count_orders
from support.structure_examples import random_reals, random_rows


@cache
def all_graphs(size: int) -> list[tuple[int, ...]]:
    """Every acyclic graph: the sets of parents of each node, as bits."""
    choices = [[one for one in range(1 << size) if not one >> child & 1] for child in range(size)]
    return [graph for graph in product(*choices) if is_acyclic(graph)]


def is_acyclic(graph: tuple[int, ...]) -> bool:
    """Whether removing nodes without parents, again and again, leaves none."""
    left = (1 << len(graph)) - 1
    while left:
        free = sum(1 << node for node, parents in enumerate(graph) if left >> node & 1 and not parents & left)
        if not free:
            return False
        left &= ~free
    return True


@cache
def num_orders(graph: tuple[int, ...]) -> int:
    """The number of orders in which all parents come first, one by one."""
    count = 0
    for order in permutations(range(len(graph))):
        seen, fits = 0, True
        for child in order:
            fits &= not graph[child] & ~seen
            seen |= 1 << child
        count += fits
    return count


def exact_posteriors(data, score, prior, keeps=lambda graph: True):
    """Sums over all graphs, each scored as a whole."""
    size, names = len(data.variables), tuple(data.columns)
    graphs = [graph for graph in all_graphs(size) if keeps(graph)]
    families = {}
    for child in range(size):
        for parents in {graph[child] for graph in graphs}:
            edges = [(names[one], names[child]) for one in range(size) if parents >> one & 1]
            kept = jt.structure.score(jt.DirectedGraph(edges, names), data, score)
            rest = [jt.structure.score(jt.DirectedGraph([], [name]), data, score) for name in names]
            families[child, parents] = kept - sum(rest) + rest[child]
    logs = np.array([sum(families[child, one] for child, one in enumerate(graph)) for graph in graphs])
    weights = np.exp(logs - logs.max()) * (
        [count_orders(graph, 1000) for graph in graphs] if prior == "orders" else 1.0
    )
    edges = np.array([[[one >> tail & 1 for one in graph] for tail in range(size)] for graph in graphs])
    return np.tensordot(weights / weights.sum(), edges, axes=1)


def is_within(found, exact):
    """Within the errors of normal estimates at 0.001 over the number of edges."""
    width = norm.ppf(1 - 0.0005 / exact.size)
    return bool((np.abs(found.probabilities - exact) <= width * found.standard_errors + 1e-9).all())


def test_there_are_543_graphs_of_four_nodes():
    assert [len(all_graphs(size)) for size in (1, 2, 3, 4)] == [1, 3, 25, 543]
    assert all(count_orders(graph, 1000) == num_orders(graph) for graph in all_graphs(4))


@pytest.mark.parametrize("prior", ["orders", "graphs"])
def test_states_against_all_graphs(prior):
    data = random_rows(np.random.default_rng(1), 60, [2, 3, 2, 2])
    found = jt.structure.posteriors(data, prior=prior, draws=800, rng=3)
    assert is_within(found, exact_posteriors(data, "bdeu", prior))
    assert found.r_hat < 1.02
    assert (found.standard_errors < 0.03).all()


def test_numbers_against_all_graphs():
    data = random_reals(np.random.default_rng(2), 25, 4)
    assert is_within(jt.structure.posteriors(data, draws=800, rng=4), exact_posteriors(data, "bge", "orders"))


@pytest.mark.slow
@pytest.mark.parametrize("prior", ["orders", "graphs"])
def test_five_variables_against_29281_graphs(prior):
    data = random_rows(np.random.default_rng(5), 80, [2, 2, 3, 2, 2])
    assert len(all_graphs(5)) == 29281
    found = jt.structure.posteriors(data, prior=prior, draws=4000, rng=6)
    assert is_within(found, exact_posteriors(data, "bdeu", prior))


def test_constraints_hold():
    data = random_rows(np.random.default_rng(7), 50, [2, 2, 2, 2])
    names = tuple(data.columns)
    options = {"required": [(names[3], names[0])], "forbidden": [(names[1], names[2])], "max_parents": 2}
    found = jt.structure.posteriors(data, draws=600, rng=1, **options)
    assert found[names[3], names[0]] == 1.0
    assert found[names[1], names[2]] == 0.0

    def keeps(graph):
        return graph[0] >> 3 & 1 and not graph[2] >> 1 & 1 and all(one.bit_count() <= 2 for one in graph)

    assert is_within(found, exact_posteriors(data, "bdeu", "orders", keeps))


def test_an_edge_of_the_sources_is_found():
    rows = jt.sample(jt.example("asia"), 1000, rng=0)
    found = jt.structure.posteriors(rows, max_parents=2, draws=200, rng=0)
    assert found["smoke", "bronc"] + found["bronc", "smoke"] > 0.99
    strengths = found.strengths()
    assert np.allclose(strengths.directed, found.probabilities)
    assert ("either", "xray") in strengths.average(0.5).edges or ("xray", "either") in strengths.average(0.5).edges
    assert "R-hat" in repr(found)
    assert "svg" in found._repr_html_()


def test_the_same_seed_gives_the_same_draws():
    data = random_rows(np.random.default_rng(1), 40, [2, 2, 2])
    one, other = (jt.structure.posteriors(data, draws=50, rng=9) for _ in range(2))
    assert one == other == pickle.loads(pickle.dumps(one))  # noqa: S301
    assert np.array_equal(one.draws["edges"], other.draws["edges"])


def test_one_column_has_no_edges():
    assert jt.structure.posteriors({"a": [0, 1, 1]}, draws=10, rng=0).probabilities.tolist() == [[0.0]]


def test_what_cannot_be_is_refused():
    data = random_rows(np.random.default_rng(1), 40, [2, 2, 2])
    with pytest.raises(jt.errors.InvalidData, match='prior must be "graphs" or "orders"'):
        jt.structure.posteriors(data, prior="uniform")
    with pytest.raises(jt.UnknownVariable):
        jt.structure.posteriors(data, draws=10, rng=0)["n0", "n9"]
    with pytest.raises(jt.TooLarge, match="at most 62 variables"):
        jt.structure.posteriors({f"c{one}": [0, 1] for one in range(63)})
    with pytest.raises(jt.TooLarge, match="set max_parents"):
        jt.structure.posteriors({f"c{one}": [0, 1] for one in range(30)})
