"""The search for elimination orders, against sets; networks of many noisy causes, against sums over subsets."""

import math
from decimal import Decimal, localcontext
from itertools import chain, combinations, pairwise

import numpy as np
import pytest

import juncture as jt
from juncture.inference.engines.lowering import lower
from juncture.inference.exact.clique_search import HOPELESS
from juncture.inference.exact.enumeration import Enumeration
from juncture.inference.exact.junction_tree.plan import find_structure
from juncture.kernels.elimination_orders import greedy_orders
from juncture.kernels.elimination_orders.greedy_orders import as_lists, moral_graph

HEURISTICS = (
    greedy_orders.MIN_FILL,
    greedy_orders.WEIGHTED_FILL,
    greedy_orders.MIN_WEIGHT,
    greedy_orders.MIN_NEIGHBOURS,
)


def random_graph(rng):
    size = int(rng.integers(1, 140))  # more than one word of bits and one block
    pairs = np.argwhere(np.triu(rng.random((size, size)) < rng.random() ** 2, 1))
    neighbours = [set() for _ in range(size)]
    for one, other in pairs.tolist():
        neighbours[one].add(other)
        neighbours[other].add(one)
    starts = np.arange(0, 2 * len(pairs) + 1, 2)
    return neighbours, moral_graph(size, starts, pairs.reshape(-1))


def score(neighbours, sizes, node, heuristic):
    around = sorted(neighbours[node])
    missing = [(a, b) for a, b in combinations(around, 2) if b not in neighbours[a]]
    if not missing:
        return -1.0
    scores = {
        greedy_orders.MIN_FILL: len(missing),
        greedy_orders.WEIGHTED_FILL: sum(sizes[a] * sizes[b] for a, b in missing),
        greedy_orders.MIN_WEIGHT: np.log(sizes[[node, *around]]).sum(),
        greedy_orders.MIN_NEIGHBOURS: len(around),
    }
    return scores[heuristic]


@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_each_step_takes_a_node_of_lowest_score_and_knows_its_neighbours(heuristic):
    rng = np.random.default_rng(heuristic)
    for limit in [np.inf] * 8 + [5.0] * 8:
        neighbours, graph = random_graph(rng)
        sizes, late = rng.integers(1, 5, len(graph)), rng.random(len(graph)) < rng.choice([0.0, 0.3])
        noise = rng.random(len(graph))
        order, separators, _ = greedy_orders.eliminate(graph, np.log(sizes), heuristic, noise, 0.0, late, limit, np.inf)
        assert sorted(order) == list(range(len(graph)))
        assert not any(late[node] and not late[after] for node, after in pairwise(order))
        np.testing.assert_array_equal(separators, greedy_orders.follow_order(graph, order))
        starts, nodes = as_lists(separators)
        for step, node in enumerate(order):
            turn = [other for other in order[step:] if late[other] == late[node]]
            if limit == np.inf:
                least = min(score(neighbours, sizes, other, heuristic) for other in turn)
                assert score(neighbours, sizes, node, heuristic) <= least + 1e-9
            assert set(nodes[starts[step] : starts[step + 1]]) == neighbours[node]
            for other in neighbours[node]:
                neighbours[other] = (neighbours[other] | neighbours[node]) - {other, node}


def noisy_network(rng, num_causes, num_children, most):
    causes = [jt.Variable(f"cause {number}", ["no", "yes"]) for number in range(num_causes)]
    parts = [jt.Conditional(cause, [], [0.9, 0.1]) for cause in causes]
    for number in range(num_children):
        parents = rng.choice(num_causes, int(rng.integers(1, most + 1)), replace=False)  # in any order
        child = jt.Variable(f"child {number}", ["no", "yes"])
        parts.append(jt.NoisyOr(child, [causes[p] for p in parents], rng.uniform(0.1, 0.9, len(parents)), leak=0.02))
    return jt.BayesianNetwork(parts)


def log_evidence_by_subsets(network, present, absent):
    """Inclusion and exclusion over the children that are present (Heckerman 1989), with 50 digits."""
    parts = {part.child.name: part for part in network.conditionals}
    subsets = chain.from_iterable(combinations(present, size) for size in range(len(present) + 1))
    with localcontext(prec=50):
        return float(
            sum((-1) ** len(subset) * probability_of_absence(parts, (*absent, *subset)) for subset in subsets).ln()
        )


def probability_of_absence(parts, children):
    """That none of these children is present: of every cause that is active, none of its effects is."""
    spared = {name: Decimal(1) for name, part in parts.items() if not len(part.parents)}
    for name in children:
        for parent, probability in zip(parts[name].parents, parts[name].probabilities, strict=True):
            spared[parent.name] *= 1 - Decimal(float(probability))
    prior = math.prod(Decimal("0.9") + Decimal("0.1") * weight for weight in spared.values())
    return prior * math.prod(1 - Decimal(float(parts[name].leak)) for name in children)


def test_many_noisy_children_cost_what_those_that_are_present_cost():
    network = noisy_network(np.random.default_rng(3), num_causes=90, num_children=80, most=30)
    with pytest.raises(jt.TooLarge, match=r"largest table \d.*e\+\d+ entries"):
        jt.infer(network, method="exact")
    names = [name for name in network.variables.names if name.startswith("child")]
    present, absent = names[:6], names[6:]
    evidence = {**dict.fromkeys(present, "yes"), **dict.fromkeys(absent, "no")}
    expected = log_evidence_by_subsets(network, present, absent)
    assert jt.infer(network, evidence).log_evidence == pytest.approx(expected, rel=1e-13)
    smaller = noisy_network(np.random.default_rng(3), num_causes=60, num_children=80, most=30)
    lowered = lower(smaller, evidence).condition(evidence)  # of others up to 10: totals are minimized, not widths
    assert find_structure(lowered.scopes, lowered.scope.shape).tree.cost.width <= len(present) + 2


def test_the_factors_of_observed_noisy_children_multiply_to_the_network():
    rng = np.random.default_rng(5)
    for _ in range(5):
        network = noisy_network(rng, num_causes=6, num_children=3, most=6)
        names = [f"child {number}" for number in range(3)]
        states = {name: str(rng.choice(["no", "yes"])) for name in names[: int(rng.integers(0, 4))]}
        left = lower(network, states).condition(states)
        beliefs = jt.infer(jt.FactorGraph(left.factors, left.scope), targets=["cause 0"])
        by_enumeration = jt.infer(network, states, method=Enumeration())
        assert beliefs.log_evidence == pytest.approx(by_enumeration.log_evidence, rel=1e-12)
        assert beliefs["cause 0"]["yes"] == pytest.approx(by_enumeration["cause 0"]["yes"], rel=1e-12)


def test_a_search_without_hope_ends_soon_and_says_how_large():
    rng = np.random.default_rng(1)
    size = 1500
    pairs = [rng.choice(size, 2, replace=False).tolist() for _ in range(4 * size)]
    cost = find_structure(pairs, [2] * size).tree.cost
    assert cost.operations > np.exp(HOPELESS)
    assert "e+" in str(cost)
    assert str(find_structure([list(range(1100))], [2] * 1100).tree.cost).startswith(
        "width 1099, largest table more than 1e308 entries"
    )
