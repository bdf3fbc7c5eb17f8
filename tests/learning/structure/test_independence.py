"""Tests of independence, beside SciPy; and p-values that are uniform where nothing depends on anything."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency, kstest, norm, pearsonr

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData, UnknownVariable, Unsupported
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.independence import (
    TESTS,
    ChiSquaredTest,
    FisherZTest,
    GSquaredTest,
    OracleTester,
    PermutationTest,
    as_tester,
    independence_test,
)
from support.structure_examples import random_reals, random_rows

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("test", "power"), [(GSquaredTest(), "log-likelihood"), (ChiSquaredTest(), "pearson")])
def test_layer_by_layer_as_scipy(test, power):
    data = random_rows(np.random.default_rng(1), 300, [3, 4, 2, 3])
    first, second, third, fourth = data.arrays
    statistic = degrees = 0.0
    for layer in np.unique(third * 3 + fourth):
        rows = third * 3 + fourth == layer
        table = np.zeros((3, 4))
        np.add.at(table, (first[rows], second[rows]), 1)
        seen = table[np.ix_(table.any(axis=1), table.any(axis=0))]
        if min(seen.shape) > 1:
            found = chi2_contingency(seen, correction=False, lambda_=power)
            statistic, degrees = statistic + found.statistic, degrees + found.dof
    (p_value,) = test.on(data, RNG).p_values((0, 1), [(2, 3)])
    assert p_value == pytest.approx(chi2.sf(statistic, degrees))


def test_nothing_to_compare_is_independent():
    data = Dataset({"a": [0, 0, 0], "b": [0, 1, 0]})
    assert GSquaredTest().on(data, RNG).p_values((0, 1), [()]) == 1.0


def test_fisher_z_is_the_partial_correlation():
    data = random_reals(np.random.default_rng(1), 50, 3)
    first, second, third = data.arrays
    tester = FisherZTest().on(data, RNG)
    r = pearsonr(first, second).statistic
    assert tester.p_values((0, 1), [()])[0] == pytest.approx(2 * norm.sf(np.sqrt(47) * np.arctanh(abs(r))))
    line = np.column_stack([np.ones(50), third])
    noises = [column - line @ np.linalg.lstsq(line, column, rcond=None)[0] for column in (first, second)]
    partial = pearsonr(*noises).statistic
    assert tester.p_values((0, 1), [(2,)])[0] == pytest.approx(2 * norm.sf(np.sqrt(46) * np.arctanh(abs(partial))))


def test_permutations_of_a_tiny_table_are_fishers_exact_test():
    """2 × 2 with margins 4 and 4: G² is as large as observed in 2 of 70 arrangements."""
    data = Dataset({"a": [0] * 4 + [1] * 4, "b": [0] * 4 + [1] * 4})
    (p_value,) = PermutationTest(num_shuffles=20_000).on(data, np.random.default_rng(0)).p_values((0, 1), [()])
    assert p_value == pytest.approx(2 / 70, abs=0.005)


def test_permutations_stay_within_layers():
    """Given a copy of one of them, nothing can be shuffled: every arrangement is the observed one."""
    data = Dataset({"a": [0, 1] * 10, "b": [0, 1] * 10, "copy": [0, 1] * 10})
    tester = PermutationTest(num_shuffles=50).on(data, RNG)
    assert tester.p_values((0, 1), [(2,)]) == 1.0
    assert tester.p_values((0, 1), [()])[0] == pytest.approx(1 / 51)


@pytest.mark.parametrize("name", TESTS)
def test_p_values_of_independent_columns_are_uniform(name):
    rng = np.random.default_rng(3)
    values = []
    for _ in range(200):
        columns = {"a": rng.integers(2, size=200), "b": rng.integers(3, size=200), "c": rng.integers(2, size=200)}
        if name == "fisher-z":
            columns = {key: rng.normal(size=200) for key in columns}
        test = PermutationTest(99) if name == "permutation" else name
        values.append(as_tester(Dataset(columns), test, rng).p_values((0, 1), [(2,)])[0])
    assert kstest(values, "uniform").pvalue > 0.01


def test_an_oracle_is_certain():
    graph = DirectedGraph.parse("a -> c <- b")
    tester = OracleTester(graph.nodes, graph.is_separated)
    indices = {name: index for index, name in enumerate(graph.nodes)}
    pair = (indices["a"], indices["b"])
    assert tester.p_values(pair, [()]) == 1.0
    assert tester.p_values(pair, [(indices["c"],)]) == 0.0


def test_refusals():
    numbers, states = Dataset({"a": [0.5, 1.5], "b": [1.0, 2.0]}), Dataset({"a": [0, 1], "b": [1, 0]})
    with pytest.raises(Unsupported, match="fisher-z"):
        GSquaredTest().on(numbers, RNG)
    with pytest.raises(Unsupported, match="g2"):
        FisherZTest().on(states, RNG)
    with pytest.raises(Unsupported, match="weights"):
        PermutationTest().on(Dataset(states, weights=[1.0, 2.0]), RNG)


def test_one_question_by_name():
    data = random_rows(np.random.default_rng(3), 200, [2, 3, 2, 2])
    tester = GSquaredTest().on(data, RNG)
    assert independence_test(data, "n3", "n0", "n1") == tester.p_values((0, 3), [(1,)])[0]
    assert independence_test(data, "n0", "n1", ["n2", "n3"], test="chi2") == pytest.approx(
        ChiSquaredTest().on(data, RNG).p_values((0, 1), [(2, 3)])[0], rel=1e-12
    )
    with pytest.raises(UnknownVariable, match="n9"):
        independence_test(data, "n0", "n9")
    with pytest.raises(InvalidData, match="different columns"):
        independence_test(data, "n0", "n1", "n0")
