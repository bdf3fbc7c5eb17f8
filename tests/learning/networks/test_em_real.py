"""EM with holes in real columns: expected statistics against dense linear algebra, and where EM ends."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Query, Question
from support.hybrid_oracle import Oracle
from support.learning_oracles import with_holes

SEEDS = st.integers(0, 2**32 - 1)
EXACT = jt.ExpectationMaximization(tolerance=1e-14, max_steps=20_000)


def random_network(rng, share_real):
    """Tables, and lines of which some have no noise."""
    parts = []
    for number in range(rng.integers(1, 6)):
        is_real = rng.random() < share_real
        variable = jt.Variable(f"v{number}") if is_real else jt.Variable(f"v{number}", int(rng.integers(1, 4)))
        known = [part.child for part in parts if is_real or not part.child.is_real]
        parents = [each for each in known if rng.random() < 0.6]
        shape = [each.num_states for each in parents if not each.is_real]
        if is_real:
            slopes = rng.normal(size=(*shape, sum(each.is_real for each in parents)))
            variance = rng.choice([0.0, 0.5, 1.0, 4.0], shape, p=[0.1, 0.3, 0.3, 0.3])
            parts.append(jt.LinearGaussian(variable, parents, slopes, 100.0 + rng.normal(size=shape), variance))
        else:
            parts.append(jt.Conditional(variable, parents, rng.dirichlet(np.ones(variable.num_states), shape)))
    return jt.BayesianNetwork([parts[at] for at in rng.permutation(len(parts))])


def expected_by_enumeration(model, rows, weights):
    """Sums over all rows, configurations and dense Gaussians: counts, or Σw, Σwx and Σwxxᵀ of (real parents, child)."""
    totals = {}
    for part in model.conditionals:
        shape = [each.num_states for each in part.parents if not each.is_real]
        size = sum(each.is_real for each in part.parents) + 1
        sums = [np.zeros(shape), np.zeros((*shape, size)), np.zeros((*shape, size, size))]
        totals[part.child.name] = sums if part.child.is_real else [np.zeros(part.scope.shape)]
    for row, weight in zip(rows, weights, strict=True):
        oracle = Oracle(model, row)
        for share, case in zip(oracle.weights, oracle.cases, strict=True):
            for part in model.conditionals:
                sums, states = totals[part.child.name], [each for each in part.parents if not each.is_real]
                index = tuple(case.codes[each.name] for each in states)
                if not part.child.is_real:
                    sums[0][(*index, case.codes[part.child.name])] += weight * share
                    continue
                real = [each.name for each in (*part.parents, part.child) if each.is_real]
                at = [oracle.real.index(name) for name in real]
                mean = case.mean[at] - 100.0
                spread = case.covariance[np.ix_(at, at)] + np.outer(mean, mean)
                for total, value in zip(sums, (1.0, mean, spread), strict=True):
                    total[index] += weight * share * value
    return totals


def check_expected(model, seed, method):
    rng = np.random.default_rng(seed)
    rows = with_holes(rng, jt.sample(model, 6, rng=rng), rng.uniform(0.1, 0.9))
    weights = rng.uniform(0.0, 2.0, 6)
    plan = method.compile(model, model.variables.names)
    findings = as_findings(rows, model.variables)
    answers = plan.run(model, Query(findings, questions=frozenset({Question.EXPECTED})))
    found = answers.expected(model.conditionals, weights)
    cells = rows.to_dict()
    plain = [{name: cells[name][at] for name in cells if cells[name][at] is not None} for at in range(len(rows))]
    logs = [Oracle(model, row).log_evidence for row in plain]
    assert answers.log_evidence == pytest.approx(logs, abs=1e-7)
    wanted = expected_by_enumeration(model, plain, weights)
    for part, (first, *rest) in zip(model.conditionals, found, strict=True):
        total, *sums = wanted[part.child.name]
        assert first == pytest.approx(total, abs=1e-8)
        if sums:
            center, scatter = rest[0] - 100.0, rest[1]
            outer = scatter + first[..., None, None] * center[..., :, None] * center[..., None, :]
            assert first[..., None] * center == pytest.approx(sums[0], abs=1e-7, rel=1e-8)
            assert outer == pytest.approx(sums[1], abs=1e-6, rel=1e-8)


@given(seed=SEEDS)
def test_expected_statistics_of_hybrid_networks(seed):
    check_expected(random_network(np.random.default_rng(seed), 0.6), seed, jt.messages.StrongJunctionTree())


@given(seed=SEEDS)
def test_expected_statistics_of_gaussian_networks(seed):
    check_expected(random_network(np.random.default_rng(seed), 1.0), seed, jt.messages.GaussianElimination())


# --- where EM ends ---------------------------------------------------------------------------------------------------


def holes_in(rng, values, share):
    values = values.copy()
    values[rng.random(values.shape) < share] = np.nan
    return values


def log_normal(rows, mean, factor):
    """The log-likelihood of rows with holes under N(mean, factor factorᵀ)."""
    total, covariance = 0.0, factor @ factor.T
    for row in rows:
        seen = ~np.isnan(row)
        block, error = covariance[np.ix_(seen, seen)], row[seen] - mean[seen]
        squares = error @ np.linalg.solve(block, error)
        total -= 0.5 * (np.linalg.slogdet(block)[1] + squares + seen.sum() * math.log(2 * math.pi))
    return total


def test_a_complete_graph_ends_at_the_maximum_for_a_multivariate_normal_with_missing_cells():
    from scipy.optimize import minimize

    rng = np.random.default_rng(4)
    rows = rng.normal(size=(25, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.7], [0.0, 0.0, 0.8]]) + 5.0
    rows = holes_in(rng, rows, 0.25)
    lower = np.tril_indices(3)

    def loss(vector):
        factor = np.zeros((3, 3))
        factor[lower] = vector[3:]
        return -log_normal(rows, vector[:3], factor)

    best = minimize(loss, [5.0, 5.0, 5.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0], method="BFGS", options={"gtol": 1e-7})
    graph = jt.DirectedGraph.parse("a -> b; a -> c; b -> c")
    fitted = jt.fit(graph, dict(zip("abc", rows.T, strict=True)), method=EXACT)
    assert fitted.log_likelihood == pytest.approx(-best.fun, abs=1e-8)
    joint = jt.infer(fitted.model).joint("a", "b", "c")
    factor = np.zeros((3, 3))
    factor[lower] = best.x[3:]
    assert joint.mean == pytest.approx(best.x[:3], abs=1e-4)
    assert joint.covariance == pytest.approx(factor @ factor.T, abs=1e-4)


def test_a_hidden_cause_of_three_variables_gives_their_covariance_back():
    """One factor of three variables has as many free numbers as their covariance matrix."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 1)) * [1.0, 2.0, -1.5] + rng.normal(size=(60, 3))
    columns = dict(zip("xyz", rows.T, strict=True))
    graph, hidden = jt.DirectedGraph.parse("h -> x; h -> y; h -> z"), jt.Variable("h")
    fitted = jt.fit(graph, columns, variables=[hidden], latent=["h"], method=EXACT, rng=0)
    joint = jt.infer(fitted.model).joint("x", "y", "z")
    assert joint.mean == pytest.approx(rows.mean(axis=0), abs=1e-5)
    assert joint.covariance == pytest.approx(np.cov(rows.T, bias=True), abs=1e-4)
    again = jt.fit(fitted.model, columns, latent=["h"])
    assert again.log_likelihood == pytest.approx(fitted.log_likelihood, abs=1e-6)


def test_families_without_holes_have_the_closed_form_after_one_step():
    rng = np.random.default_rng(2)
    model = jt.BayesianNetwork(
        [
            jt.Conditional(k := jt.Variable("k", 2), [], [0.4, 0.6]),
            jt.LinearGaussian(x := jt.Variable("x"), [k], np.zeros((2, 0)), [1e6, 1e6 + 3.0], [1.0, 2.0]),
            jt.LinearGaussian(y := jt.Variable("y"), [k, x], [[1.0], [-1.0]], [0.0, 2e6], [1.0, 0.5]),
            jt.LinearGaussian(jt.Variable("z"), [y], [2.0], 1.0, 1.0),
        ]
    )
    rows = jt.sample(model, 200, rng=rng)
    closed = jt.fit(model, rows).model
    columns = dict(rows.to_dict())
    columns["z"] = [None, *columns["z"][1:]]
    one = jt.ExpectationMaximization(max_steps=1)
    with pytest.warns(jt.errors.NotConvergedWarning):
        found = jt.fit(model, columns, method=one).model
    for name in "kxy":
        for field in ("values",) if name == "k" else ("coefficients", "intercept", "variance"):
            assert getattr(found[name], field) == pytest.approx(getattr(closed[name], field), rel=1e-9)


def test_a_hidden_switch_of_lines_is_found():
    rng = np.random.default_rng(3)
    kind, x = rng.integers(0, 2, 150), rng.normal(size=150)
    y = np.where(kind, 3.0 * x + 4.0, -x - 4.0) + 0.3 * rng.normal(size=150)
    graph = jt.DirectedGraph.parse("kind -> y; x -> y")
    switch = jt.Variable("kind", 2)
    columns = {"x": holes_in(rng, x, 0.1), "y": holes_in(rng, y, 0.1)}
    options = {"variables": [switch], "latent": ["kind"], "method": jt.ExpectationMaximization(restarts=1)}
    fitted = jt.fit(graph, columns, **options)
    assert sorted(fitted.model["y"].coefficients[:, 0]) == pytest.approx([-1.0, 3.0], abs=0.15)
    assert fitted.model["y"].variance == pytest.approx([0.09, 0.09], abs=0.03)


def test_priors_decide_what_holes_leave_open():
    """With a prior the objective is the posterior density, and its mode solves the equations of the mode."""
    prior = jt.NormalInverseGamma(1.0, 2.0, 3.0, 1.0)
    columns = {"x": [0.5, 1.5, None, None], "k": ["a", None, "b", "b"]}
    graph = jt.DirectedGraph.parse("k -> x")
    for point in ("mean", "mode"):
        fitted = jt.fit(graph, columns, prior={"x": prior, "k": 2.0}, point=point, method=EXACT)
        assert (np.diff(fitted.trace.values) >= -1e-12).all()
        again = jt.estimate(fitted.model, fitted.statistics, {"x": prior, "k": 2.0}, point=point)
        for field in ("intercept", "variance"):
            assert getattr(fitted.model["x"], field) == pytest.approx(getattr(again["x"], field), abs=1e-5)


# --- what the rows do not say ----------------------------------------------------------------------------------------


def test_a_column_without_values_is_refused_unless_it_is_hidden():
    graph, columns = jt.DirectedGraph.parse("x -> y"), {"x": np.full(4, np.nan), "y": [0.5, 1.5, 3.5, 1.2]}
    with pytest.raises(jt.errors.InvalidData, match="no row has a value of 'x'"):
        jt.fit(graph, columns)
    fitted = jt.fit(graph, columns, variables=[jt.Variable("x")], rng=0)
    assert jt.infer(fitted.model)["y"].variance == pytest.approx(np.var(columns["y"]), rel=1e-6)
    assert jt.fit(fitted.model, columns).trace.converged


def test_a_variance_that_vanishes_is_held_up():
    rng = np.random.default_rng(5)
    x = rng.normal(size=40)
    columns = {"x": holes_in(rng, x, 0.2), "y": 2.0 * x + 1.0}
    with pytest.warns(jt.errors.RegularizedWarning, match="the variance of 'y' has shrunk"):
        fitted = jt.fit(jt.DirectedGraph.parse("x -> y"), columns)
    assert fitted.model["y"].coefficients == pytest.approx([2.0], abs=1e-3)
    assert 0 < fitted.model["y"].variance <= 1.01e-10 * np.var(columns["y"])
    with pytest.warns(jt.errors.RegularizedWarning, match="'x'"):
        jt.fit(jt.DirectedGraph.parse("x"), {"x": [2.5, 2.5, None]}, variables=[jt.Variable("x")])


def test_tied_lines_stay_tied_at_the_floor():
    rng = np.random.default_rng(9)
    x = rng.normal(size=30)
    names = [jt.Variable(name) for name in "xyz"]
    lines = [jt.LinearGaussian(child, [parent], [1.5], 0.0, 1.0) for parent, child in pairwise(names)]
    model = jt.BayesianNetwork([jt.LinearGaussian(names[0], [], []), *lines], tied=[("y", "z")])
    columns = {"x": x, "y": holes_in(rng, 2.0 * x, 0.2), "z": 4.0 * x}
    with pytest.warns(jt.errors.RegularizedWarning, match="the variance of 'y' has shrunk"):
        fitted = jt.fit(model, columns).model
    assert fitted["y"].variance == fitted["z"].variance
    assert fitted["y"].coefficients == fitted["z"].coefficients


def test_a_relation_without_noise_stays():
    x, y, z = (jt.Variable(name) for name in "xyz")
    model = jt.BayesianNetwork(
        [
            jt.LinearGaussian(x, [], [], 0.0, 1.0),
            jt.LinearGaussian(y, [], [], 0.0, 1.0),
            jt.LinearGaussian(z, [x, y], [1.0, 1.0], 0.0, 0.0),
        ]
    )
    rows = {"x": [1.0, None, 3.0, 0.5], "y": [None, 0.5, 1.5, None], "z": [3.0, 2.5, 4.5, 2.0]}
    fitted = jt.fit(model, rows)
    assert fitted.model["z"] == model["z"]
    assert fitted.model["x"].intercept == pytest.approx(np.mean([1.0, 2.0, 3.0, 0.5]))
    assert fitted.model["y"].variance == pytest.approx(np.var([2.0, 0.5, 1.5, 1.5]))


def test_states_that_no_row_has_keep_their_line_with_a_warning():
    k = jt.Variable("k", ["a", "b", "c"])
    columns = {"k": ["a", "b", "a", "b", "a", "b"], "x": [0.5, 2.5, 1.5, None, 0.7, 3.1]}
    with pytest.warns(jt.errors.UnseenParentsWarning) as caught:
        fitted = jt.fit(jt.DirectedGraph.parse("k -> x"), columns, variables=[k, jt.Variable("x")])
    assert "no row speaks of some combinations of the parents' states of 'x'" in str(caught[-1].message)
    assert fitted.model["x"].intercept[0] == pytest.approx(0.9)
    with pytest.raises(jt.errors.InvalidData, match="no row speaks of some combinations"):
        jt.fit(fitted.model, columns, on_unseen="error", prior={"k": 1.0})


def test_what_has_no_expected_statistics_is_refused():
    rng = np.random.default_rng(6)
    columns = {"x": holes_in(rng, rng.normal(size=30), 0.2), "k": rng.integers(0, 2, 30)}
    with pytest.raises(jt.errors.Unsupported, match=r"Logistic\(k \| x\) is of another kind: drop the rows with holes"):
        jt.fit(jt.DirectedGraph.parse("x -> k"), columns)
    with pytest.raises(jt.errors.Unsupported, match="gradients and standard errors are for tables"):
        jt.fit(jt.DirectedGraph.parse("k -> x"), columns, method="gradient")
    fitted = jt.fit(jt.DirectedGraph.parse("k -> x"), columns)
    with pytest.raises(jt.errors.Unsupported, match="gradients and standard errors are for tables"):
        fitted.standard_errors  # noqa: B018


@pytest.mark.parametrize("method", [jt.messages.GaussianElimination(), jt.messages.StrongJunctionTree()])
def test_rows_of_probability_zero_add_nothing(method):
    x, y, z = (jt.Variable(name) for name in "xyz")
    model = jt.BayesianNetwork(
        [
            jt.LinearGaussian(x, [], [], 0.0, 1.0),
            jt.LinearGaussian(y, [x], [2.0], 0.0, 0.0),
            jt.LinearGaussian(z, [], [], 0.0, 1.0),
        ]
    )
    rows = {"x": [1.0, 1.0, None], "y": [2.0, 3.0, 5.0], "z": [0.5, 7.0, None]}
    plan = method.compile(model, model.variables.names)
    answers = plan.run(
        model, Query(as_findings(jt.Dataset(rows), model.variables), questions=frozenset({Question.EXPECTED}))
    )
    found = answers.expected(model.conditionals, np.ones(3))
    assert np.isneginf(answers.log_evidence).tolist() == [False, True, False]
    for (weight, center, _), means in zip(found, ([1.75], [1.75, 3.5], [0.25]), strict=True):
        assert weight == 2.0
        assert center == pytest.approx(means)
    with pytest.raises(jt.ImpossibleEvidence, match=r"gives a row probability zero \(x=1.0, y=3.0, z=7.0\)"):
        jt.fit(model, rows, fixed=["y"], engine=method)


def test_parents_that_depend_on_each_other_are_told_once():
    rng = np.random.default_rng(8)
    x = rng.normal(size=30)
    columns = {"x": x, "w": 2.0 * x, "y": holes_in(rng, x + 0.5 * rng.normal(size=30), 0.2)}
    with pytest.warns(UserWarning, match="the real parents of 'y' depend on each other linearly") as caught:
        fitted = jt.fit(jt.DirectedGraph.parse("x -> y; w -> y"), columns)
    assert len(caught) == 1
    assert fitted.trace.num_steps > 1
