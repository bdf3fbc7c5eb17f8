"""Orders that are improved part by part: valid, never worse than a heuristic, the same again, and the best known."""

from itertools import combinations

import numpy as np
import pytest

from juncture.inference.exact import clique_search
from juncture.inference.exact.clique_search import HEURISTICS, best_order, order_of, restrict, try_order
from juncture.inference.exact.junction_tree.plan import find_structure
from juncture.kernels.elimination_orders import greedy_orders, triangulation
from juncture.kernels.elimination_orders.greedy_orders import moral_graph


def as_graph(pairs, size):
    return moral_graph(size, np.arange(0, 2 * len(pairs) + 1, 2), np.array(pairs, dtype=np.int64).reshape(-1))


def random_pairs(rng, size, density):
    return [pair for pair in combinations(range(size), 2) if rng.random() < density]


def grid(rows, columns):
    nodes = np.arange(rows * columns).reshape(rows, columns)
    across = zip(nodes[:, :-1].ravel(), nodes[:, 1:].ravel(), strict=True)
    return [*across, *zip(nodes[:-1].ravel(), nodes[1:].ravel(), strict=True)]


def cliques_of(tree):
    return [set(tree.nodes[start:end].tolist()) for start, end in zip(tree.starts, tree.starts[1:], strict=False)]


def assert_junction_tree(tree, scopes):
    """Every scope is in a clique, no clique is in its parent, and the cliques of a node hang together."""
    cliques, size = cliques_of(tree), len(tree.order)
    assert sorted(tree.order.tolist()) == list(range(size))
    assert all(any(set(scope) <= clique for clique in cliques) for scope in scopes)
    heads = [0] * size
    for clique, parent in enumerate(tree.parents.tolist()):
        held = cliques[parent] if parent >= 0 else set()
        assert not cliques[clique] <= held
        for node in cliques[clique] - held:
            heads[node] += 1
    assert heads == [1] * size


@pytest.mark.parametrize("seed", range(4))
def test_improved_orders_are_valid_and_never_worse_than_a_heuristic(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(60, 100))  # more than a part, and more than a word of bits
    pairs = [*random_pairs(rng, size, 1.8 / size), *((node, node + 1) for node in range(0, size - 1, 2))]
    states = rng.integers(2, 5, size)
    tree = find_structure(pairs, states).tree
    assert_junction_tree(tree, pairs)
    graph, never, in_order = as_graph(pairs, size), np.zeros(size, np.bool_), np.arange(float(size))
    totals = [try_order(graph, np.log(states), heuristic, in_order, never).total for heuristic in HEURISTICS]
    cells = sum(float(np.prod(states[list(clique)], dtype=float)) for clique in cliques_of(tree))
    assert cells <= min(totals)
    assert tree.cost.operations == pytest.approx(clique_search.OPERATIONS_PER_CELL * cells)
    np.testing.assert_array_equal(find_structure(pairs, states).tree.order, tree.order)


KNOWN_WIDTHS = {  # edges, nodes, treewidth
    "cycle": ([(node, (node + 1) % 12) for node in range(12)], 12, 2),
    "complete": (list(combinations(range(6), 2)), 6, 5),
    "complete bipartite": ([(one, 5 + other) for one in range(5) for other in range(9)], 14, 5),
    "grid 5": (grid(5, 5), 25, 5),
    "grid 3 × 20": (grid(3, 20), 60, 3),
    "Petersen graph": (
        [pair for k in range(5) for pair in ((k, (k + 1) % 5), (k, k + 5), (k + 5, (k + 2) % 5 + 5))],
        10,
        4,
    ),
}


@pytest.mark.parametrize("name", KNOWN_WIDTHS)
def test_the_width_of_small_graphs_is_the_treewidth(name):
    pairs, size, width = KNOWN_WIDTHS[name]
    assert find_structure(pairs, [12] * size).tree.cost.width == width


def test_a_chordal_graph_gets_no_fill():
    rng = np.random.default_rng(7)
    for _ in range(5):
        order, separators, _ = greedy_orders.eliminate(
            as_graph(random_pairs(rng, 40, 0.08), 40),
            np.zeros(40),
            0,
            rng.random(40),
            1.0,
            np.zeros(40, bool),
            9.0,
            9e9,
        )
        filled = np.zeros_like(separators)
        triangulation.add_fill(filled, order, separators)
        shuffled = restrict(filled, rng.permutation(40))
        np.testing.assert_array_equal(fill_of(shuffled, triangulation.perfect_order(shuffled)), shuffled)
        np.testing.assert_array_equal(fill_of(shuffled, best_order(shuffled, np.full(40, 3.0)).nodes), shuffled)


def fill_of(graph, order):
    filled = graph.copy()
    triangulation.add_fill(filled, order, greedy_orders.follow_order(graph, order))
    return filled


def test_better_orders_than_those_of_the_heuristics_are_found():
    size = 225
    pairs = grid(15, 15)
    graph, logs = as_graph(pairs, size), np.full(size, np.log(2.0))
    never, in_order = np.zeros(size, np.bool_), np.arange(float(size))
    heuristic = min(try_order(graph, logs, code, in_order, never).total for code in HEURISTICS)
    assert best_order(graph, logs).total <= 0.7 * heuristic


def test_a_breadth_first_order_is_an_order():
    for pairs, size in ((grid(7, 5), 35), ([], 3), ([(0, 1), (2, 3)], 5)):
        order = clique_search.breadth_first_order(as_graph(pairs, size))
        assert sorted(order.tolist()) == list(range(size))
        assert order_of(as_graph(pairs, size), np.zeros(size), order).total <= size


def test_an_order_ends_once_it_is_worse_than_the_bound():
    graph, logs, never = as_graph(grid(6, 6), 36), np.full(36, np.log(3.0)), np.zeros(36, np.bool_)
    whole = try_order(graph, logs, greedy_orders.MIN_FILL, np.arange(36.0), never)
    assert whole.total == order_of(graph, logs, whole.nodes).total
    for share in (0.1, 0.9):
        assert share * whole.total < try_order(graph, logs, 0, np.arange(36.0), never, share * whole.total).total


def test_late_nodes_stay_late():
    pairs, late = grid(6, 6), np.arange(36) % 5 == 0
    order = best_order(as_graph(pairs, 36), np.full(36, np.log(8.0)), late=late)
    assert late[order.nodes].tolist() == sorted(late.tolist())


def test_the_improvement_is_the_same_interpreted_and_compiled():
    rng = np.random.default_rng(2)
    graph = as_graph(random_pairs(rng, 24, 0.15), 24)
    logs = np.log(rng.integers(2, 9, 24))
    given = graph, logs, clique_search.SEED, 500_000, 1e3
    np.testing.assert_array_equal(
        triangulation.improve_order.interpreted(*given), triangulation.improve_order.compiled(*given)
    )


def test_other_sizes_weigh_cliques_while_the_cost_counts_states():
    pairs, states = [(0, 1), (1, 2), (2, 3), (3, 0)], np.array([9, 2, 9, 2])
    starts, nodes = np.arange(0, 9, 2), np.array(pairs).reshape(-1)
    plain = clique_search.best_tree(states, starts, nodes)
    weighed = clique_search.best_tree(states, starts, nodes, log_sizes=np.log([1.0, 5.0, 1.0, 5.0]))
    assert cliques_of(plain) in ([{0, 1, 3}, {1, 2, 3}], [{1, 2, 3}, {0, 1, 3}])
    assert cliques_of(weighed) in ([{0, 1, 2}, {0, 2, 3}], [{0, 2, 3}, {0, 1, 2}])
    assert weighed.cost.largest_table == 9 * 9 * 2
