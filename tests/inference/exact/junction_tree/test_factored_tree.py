"""Cliques kept as factors and messages give the answers of cliques whose tables are stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.factors.factor import Factor
from juncture.inference.exact.junction_tree import choice
from juncture.inference.exact.junction_tree import factored_tree as factored_plan
from juncture.inference.exact.junction_tree.best_assignments import max_product_solver
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.inference.exact.junction_tree.dense_tree import pack_cliques
from juncture.inference.exact.junction_tree.factored_tree import FactoredTree, lay_out_factored, pack_factored
from juncture.inference.exact.junction_tree.plan import find_structure, lay_out_plan
from juncture.variables import Variable

SEEDS = st.integers(0, 2**32 - 1)


def random_trees(rng, *, zeros=0.2, scale=0.0, flat=False):
    """(packed, factored) of one model; chunks of some four cells, so that all kinds of loops are run."""
    num_states = rng.integers(1, 5, rng.integers(1, 10))
    variables = [Variable(f"x{node}", int(size)) for node, size in enumerate(num_states)]
    scopes = [rng.permutation(len(variables))[: rng.integers(0, 5)].tolist() for _ in range(rng.integers(1, 14))]
    factors = []
    for scope in scopes:
        logs = scale * rng.normal(size=num_states[scope]) + np.log(rng.random(num_states[scope]))
        logs = np.where(rng.random(logs.shape) < zeros, -np.inf, 0.0 * logs if flat else logs)
        logs = np.where(np.isneginf(logs).all(), 0.0, logs)
        own = [variables[node] for node in scope]
        factors.append(Factor.from_logs(own, logs) if scale else Factor(own, np.exp(logs)))
    structure = find_structure(scopes, num_states)
    return pack_cliques(lay_out_plan(structure), factors), pack_factored(lay_out_factored(structure), factors)


def refuse(self, memory_limit):
    raise jt.TooLarge("it is too large")


def random_finding(rng, num_states):
    """Some nodes observed, some with a likelihood, which may be zero for some states."""
    kinds = rng.random(len(num_states))
    observed, soft = np.flatnonzero(kinds < 0.25), np.flatnonzero(kinds > 0.8)
    likelihoods = [rng.random(num_states[node]) * (rng.random(num_states[node]) > 0.2) for node in soft]
    codes = rng.integers(0, num_states[observed]) if len(observed) else np.empty(0, np.int64)
    return CodedFinding(observed, codes, soft, np.concatenate([np.empty(0), *likelihoods]))


@pytest.fixture(autouse=True, scope="module")
def small_chunks():
    before, factored_plan.CHUNK_CELLS = factored_plan.CHUNK_CELLS, 4
    yield
    factored_plan.CHUNK_CELLS = before


@settings(max_examples=30)
@given(seed=SEEDS)
def test_marginals_and_evidence(seed):
    rng = np.random.default_rng(seed)
    packed, factored = random_trees(rng, zeros=rng.choice([0.0, 0.2, 0.5]))
    nodes = np.arange(len(packed.plan.num_states))
    for _ in range(4):
        row = random_finding(rng, packed.plan.num_states)
        targets = nodes[rng.random(len(nodes)) < rng.choice([0.3, 1.0])]
        expected, log_evidence = packed.run_row(row, targets)
        found, found_log = factored.run(row, targets)
        assert found_log == pytest.approx(log_evidence, abs=1e-12, rel=1e-12)
        if log_evidence > -np.inf:
            is_asked = np.repeat(np.isin(nodes, targets), packed.plan.num_states)
            np.testing.assert_allclose(found[is_asked], expected, atol=1e-12)


@settings(max_examples=15)
@given(seed=SEEDS)
def test_tables_that_doubles_do_not_hold(seed):
    """Products that would vanish are run in logarithms: no zero where there is none."""
    rng = np.random.default_rng(seed)
    packed, factored = random_trees(rng, scale=rng.choice([30.0, 300.0]))
    nodes = np.arange(len(packed.plan.num_states))
    row = random_finding(rng, packed.plan.num_states)
    expected, log_evidence = packed.run(row, nodes)
    found, found_log = factored.run(row, nodes)
    assert found_log == pytest.approx(log_evidence, rel=1e-12, abs=1e-11)
    if log_evidence > -np.inf:
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-300)


@settings(max_examples=15)
@given(seed=SEEDS)
def test_the_first_of_the_best_assignments(seed):
    rng, monkeypatch = np.random.default_rng(seed), pytest.MonkeyPatch()
    packed, factored = random_trees(rng, flat=rng.random() < 0.5)
    row = random_finding(rng, packed.plan.num_states)
    expected = max_product_solver(packed, row)({})
    with monkeypatch.context() as patch:
        patch.setattr(choice, "MANY_TIED", rng.choice([0, 16]))
        if rng.random() < 0.5:  # cliques that cannot be stored
            patch.setattr(FactoredTree, "with_tables", refuse)
        found = max_product_solver(factored, row)({})
    if expected is None:
        assert found is None
    else:
        assert found[0] == expected[0]
        assert found[1] == pytest.approx(expected[1], abs=1e-12, rel=1e-12)


@settings(max_examples=10)
@given(seed=SEEDS)
def test_expected_statistics(seed):
    rng = np.random.default_rng(seed)
    packed, factored = random_trees(rng, zeros=0.0)
    sizes, none = packed.plan.num_states, np.empty(0, np.int64)
    codes = rng.integers(-1, sizes[:, np.newaxis], (len(sizes), 3))
    rows = CodedFindings(np.arange(len(sizes)), codes, none, np.empty((0, 3)), np.zeros(3))
    weights = np.array([1.0, 0.0, 2.5])
    (counts, log_evidence), (sums, found) = (tree.expected_sums(rows, weights) for tree in (packed, factored))
    np.testing.assert_allclose(found, log_evidence, atol=1e-12)
    for factor, clique in enumerate(packed.plan.factor_cliques):
        if clique >= 0:
            np.testing.assert_allclose(sums(factor), counts(factor), atol=1e-12)


@pytest.mark.parametrize("scale", [0.0, 300.0])
def test_draws_have_the_frequencies_of_the_marginals(scale):
    rng = np.random.default_rng(3)
    for _ in range(3):
        _, factored = random_trees(rng, scale=scale)
        sizes, nodes = factored.plan.num_states, np.arange(len(factored.plan.num_states))
        row = CodedFinding(nodes[:1], np.zeros(1, np.int64), nodes[:0], np.empty(0))
        marginals, log_evidence = factored.run(row, nodes)
        if log_evidence == -np.inf:
            continue
        codes = factored.draw(row, 4_000, np.random.default_rng(0))
        counts = np.concatenate([np.bincount(codes[:, node], minlength=size) for node, size in enumerate(sizes)])
        assert not counts[marginals == 0.0].any()
        np.testing.assert_allclose(counts / 4_000, marginals, atol=0.04)  # five standard errors


def test_large_models_are_not_multiplied_out(monkeypatch):
    """Through the verbs: the kind is chosen by size, `cost` counts what is kept, impossible evidence is told."""
    names = [f"x{index}" for index in range(12)]
    rng = np.random.default_rng(0)
    pairs = [(one, other) for place, one in enumerate(names) for other in names[:place]]
    variables = {name: jt.Variable(name, 2) for name in names}
    factors = [jt.Factor([variables[n] for n in pair], rng.random((2, 2)) + 0.1) for pair in pairs]
    factors.append(jt.Factor([variables["x0"], variables["x1"]], [[1.0, 1.0], [1.0, 0.0]]))
    stored = jt.MarkovNetwork(factors)
    evidence = {"x3": 1}
    expected, best = jt.infer(stored, evidence), jt.most_probable(stored, evidence)
    ranked = jt.most_probable(stored, evidence, k=3)
    monkeypatch.setattr(choice, "FACTORED_CELLS", 4_000)
    monkeypatch.setattr(choice, "FACTORED_TABLE", 4_000)
    model = jt.MarkovNetwork(factors)
    found = jt.infer(model, evidence)
    assert type(model.derived["packed model"].tree).__name__ == "FactoredTree"
    assert found.log_evidence == pytest.approx(expected.log_evidence, abs=1e-12)
    for name in names:
        np.testing.assert_allclose(found[name].values, expected[name].values, atol=1e-12)
    assert jt.most_probable(model, evidence).assignment == best.assignment
    assert [one.assignment for one in jt.most_probable(model, evidence, k=3)] == [one.assignment for one in ranked]
    assert jt.cost(model).operations == jt.cost(stored).operations
    assert len(jt.sample(model, 10, given=evidence, rng=0)) == 10
    with pytest.raises(jt.ImpossibleEvidence, match="x0"):
        jt.infer(model, {"x0": 1, "x1": 1})
