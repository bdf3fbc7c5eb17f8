"""Colliders of PC: exact on an oracle, independent of the order of the columns, and nearer to the truth on rows."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture import structure
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, Unsupported
from juncture.formats.bundled import example
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.separation import SeparationSets, bits
from juncture.learning.structure.independence import as_tester, independence_test
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.searches.pc import (
    COLLIDER_RULES,
    PC,
    Verdicts,
    Vote,
    find_skeleton,
    is_collider,
    is_open,
    orient_skeleton,
)
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable
from juncture.verbs import sample
from support.builders import random_table

pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")
ROWS = {"a": [0, 1] * 20, "b": [0, 0, 1, 1] * 10}


def random_graph(rng: np.random.Generator, num_nodes: int, degree: float) -> DirectedGraph:
    names = [f"n{index}" for index in range(num_nodes)]
    order = rng.permutation(names)
    pairs = combinations(range(num_nodes), 2)
    share = degree / max(num_nodes - 1, 1)
    return DirectedGraph([(str(order[i]), str(order[j])) for i, j in pairs if rng.random() < share], names)


def line_rows(rng: np.random.Generator, graph: DirectedGraph, num_rows: int) -> Dataset:
    columns: dict[str, np.ndarray] = {}
    for name in graph.topological_order():
        slopes = rng.uniform(0.4, 1.2, len(graph.parents(name))) * rng.choice([-1, 1], len(graph.parents(name)))
        parts = [slope * columns[parent] for slope, parent in zip(slopes, graph.parents(name), strict=True)]
        columns[name] = rng.normal(size=num_rows) + sum(parts, np.zeros(num_rows))
    return Dataset({name: columns[name] for name in graph.nodes})


def table_rows(rng: np.random.Generator, graph: DirectedGraph, num_rows: int) -> Dataset:
    variables = {name: Variable(name, 3) for name in graph.nodes}
    parents = {name: Scope(variables[one] for one in graph.parents(name)) for name in graph.nodes}
    model = BayesianNetwork(random_table(rng, variables[name], parents[name]) for name in graph.nodes)
    return sample(model, num_rows, rng=rng).only(graph.nodes)


@given(st.integers(0, 10**6))
def test_separations_by_bits_are_those_of_the_graph(seed):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(2, 9)), 3.0)
    separations = SeparationSets(graph)
    for _ in range(40):
        first, second, *rest = rng.permutation(len(graph.nodes)).tolist()
        observed = rest[: int(rng.integers(len(rest) + 1))]
        names = [graph.nodes[index] for index in observed]
        expected = graph.is_separated(graph.nodes[first], graph.nodes[second], names)
        assert separations.is_separated(first, second, bits(observed)) == expected


@given(st.integers(0, 10**6), st.sampled_from(list(COLLIDER_RULES)))
def test_an_oracle_gives_the_exact_class(seed, rule):
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(1, 13)), float(rng.uniform(1, 4)))
    assert learn_structure(graph, "pc", colliders=rule) == graph.essential_graph()


def test_an_oracle_gives_the_exact_class_of_large_graphs():
    for seed, num_nodes in enumerate((40, 60)):
        graph = random_graph(np.random.default_rng(seed), num_nodes, 2.5)
        assert learn_structure(graph, "pc") == graph.essential_graph()


@pytest.mark.parametrize("rule", COLLIDER_RULES)
@pytest.mark.parametrize("rows_of", [line_rows, table_rows])
def test_the_order_of_the_columns_does_not_matter(rows_of, rule):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 8, 3.0)
        data = rows_of(rng, graph, 150)
        found = learn_structure(data, "pc", colliders=rule)
        for _ in range(3):
            turned = data.only(rng.permutation(graph.nodes).tolist())
            assert learn_structure(turned, "pc", colliders=rule) == found


def first_stays(data: Dataset, level: float):
    """What PC did before: a collider where no separating set holds the middle, the first of the columns wins."""
    tester = as_tester(data, "auto", np.random.default_rng(0))
    bounds = PC().bounds(tester.names)
    skeleton = find_skeleton(tester, bounds, level)
    triples = [
        (tail, middle, head)
        for middle, around in enumerate(skeleton.adjacent)
        for tail, head in combinations(np.flatnonzero(around).tolist(), 2)
        if (tail, head) in skeleton.separators and not any(middle in one for one in skeleton.separators[tail, head])
    ]
    return orient_skeleton(skeleton, Verdicts(triples, set()), bounds)


@pytest.mark.parametrize(("rows_of", "num_rows"), [(line_rows, 300), (line_rows, 1000), (table_rows, 1000)])
def test_votes_are_nearer_to_the_truth_than_the_first_column(rows_of, num_rows):
    distances: dict[str, list[int]] = {"majority": [], "conservative": [], "first": []}
    for seed in range(12):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 8, 3.0)
        data = rows_of(rng, graph, num_rows)
        found = {rule: learn_structure(data, "pc", level=0.01, colliders=rule) for rule in COLLIDER_RULES}
        for rule, learned in {**found, "first": first_stays(data, 0.01)}.items():
            distances[rule].append(structure.compare(learned, graph.essential_graph()).distance)
    means = {rule: np.mean(values) for rule, values in distances.items()}
    assert means["majority"] < means["first"]
    assert means["conservative"] < means["first"]


def test_the_rules():
    assert [is_collider(Vote(share, 0.5), "majority") for share in (0.0, 0.4, 0.5, 1.0)] == [True, True, False, False]
    assert [is_open(Vote(share, 0.5), "majority") for share in (0.5, 0.6, 1.0)] == [True, False, False]
    assert [is_collider(Vote(share, 0.5), "conservative") for share in (0.0, 0.1, 1.0)] == [True, False, False]
    assert [is_open(Vote(share, 0.5), "conservative") for share in (0.1, 0.9, 1.0)] == [True, True, False]
    rows = sample(example("asia"), 300, rng=0)
    majority, conservative = (learn_structure(rows, "pc", colliders=rule) for rule in ("majority", "conservative"))
    assert majority.skeleton() == conservative.skeleton()
    with pytest.raises(InvalidData, match="the rule of colliders is 'majority' or 'conservative'; got 'majorty'"):
        PC(colliders="majorty")


@pytest.mark.parametrize(
    "test", [3, int, len, lambda a, b, given: True, None, np.zeros(2)], ids=lambda test: type(test).__name__
)
def test_a_test_of_a_wrong_kind_is_refused_with_a_sentence(test):
    for ask in (
        lambda: independence_test(ROWS, "a", "b", test=test),
        lambda: learn_structure(ROWS, "pc", test=test),
        lambda: learn_structure(ROWS, "mmhc", test=test),
    ):
        with pytest.raises(Unsupported, match=r"a test is a name (such as 'g2', )?or an object"):
            ask()
    with pytest.raises(Unsupported, match="there is no test 'g3'; known are 'g2'"):
        independence_test(ROWS, "a", "b", test="g3")


@pytest.mark.parametrize(
    "wrong", [{"a": ["a"], "b": "b"}, {"a": "a", "b": 3}, {"a": "a", "b": "b", "given": 3}, {"given": [["c"]]}], ids=str
)
def test_columns_of_a_wrong_kind_are_refused_with_a_sentence(wrong):
    with pytest.raises((InvalidData, KeyError), match=r"columns|name of a column must be|given must be|no variable"):
        independence_test(ROWS, **{"a": "a", "b": "b", **wrong})
