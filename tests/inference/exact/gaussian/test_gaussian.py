"""Gaussian networks: every answer against rational arithmetic, with zero variances and units from 1e-8 to 1e6."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.evidence import as_findings
from juncture.inference.engines.contract import Query, Question
from support.gaussian_oracles import Oracle, condition

ROUNDING = 2.0**-44


@dataclass(frozen=True)
class Case:
    model: jt.BayesianNetwork
    evidence: dict[str, float]


@st.composite
def cases(draw: Any, exact: bool) -> Case:
    """A network over binary fractions, in units of powers of two, and evidence that it can produce.

    With `exact` numbers, deterministic relations hold to the last bit; without, coefficients are any numbers and all
    variances are positive.
    """
    size = draw(st.integers(1, 6))
    names = draw(st.permutations([f"x{place}" for place in range(size)]))
    units = [2.0 ** draw(st.integers(-27, 20)) for _ in names]
    quarters = st.integers(-6, 6).map(lambda n: n / 4) if exact else st.floats(-3, 3).map(lambda x: round(x, 5))
    variables = [jt.Variable(name) for name in names]
    parts, values = [], dict[str, float]()
    for place, variable in enumerate(variables):
        parents = [other for other in range(place) if draw(st.booleans())]
        weights = [draw(quarters) * units[place] / units[other] for other in parents]
        intercept = draw(quarters) * units[place]
        variance = draw(st.sampled_from([0.0, 0.25, 1.0, 2.0**-40] if exact else [0.3, 1.0, 1e-12]))
        variance *= units[place] ** 2
        noise = draw(quarters) * math.sqrt(variance)
        parts.append(jt.LinearGaussian(variable, [variables[other] for other in parents], weights, intercept, variance))
        reached = zip(weights, parents, strict=True)
        values[variable.name] = intercept + sum(w * values[names[other]] for w, other in reached) + noise
    seen = [name for name in names if draw(st.booleans())]
    return Case(jt.BayesianNetwork(draw(st.permutations(parts))), {name: values[name] for name in seen})


def rounding_errors(case: Case, oracle: Oracle, prior: Oracle) -> dict[str, float]:
    """How far each mean, and "log_evidence", moves where an observed value, or the mean of it, is rounded."""
    errors = dict.fromkeys([*oracle.names, "log_evidence"], 0.0)
    for name, value in case.evidence.items():
        size = max(abs(value), abs(float(prior.mean[prior.names.index(name)])))
        moved = condition(case.model, {**case.evidence, name: value + size * ROUNDING})
        errors["log_evidence"] += abs(moved.log_evidence - oracle.log_evidence)
        for other, one, two in zip(oracle.names, oracle.mean, moved.mean, strict=True):
            errors[other] += abs(float(two - one))
    return errors


def check_answers(case: Case) -> None:
    oracle, prior = condition(case.model, case.evidence), condition(case.model, {})
    errors = rounding_errors(case, oracle, prior)
    beliefs = jt.infer(case.model, case.evidence)
    assert beliefs.log_evidence == pytest.approx(oracle.log_evidence, rel=1e-9, abs=1e-9 + errors["log_evidence"])
    for name in oracle.names:
        (mean,), ((variance,),) = oracle.moments(name)
        (_,), ((before,),) = prior.moments(name)
        (center,), _ = prior.moments(name)
        marginal = beliefs[name]
        size = max(abs(mean), abs(center), math.sqrt(before))
        allowed = 1e-9 * math.sqrt(variance) + 1e-13 * size + errors[name]
        assert marginal.mean == pytest.approx(mean, rel=1e-12, abs=allowed)
        assert marginal.variance == pytest.approx(variance, rel=1e-7, abs=1e-20 * before)
    if len(oracle.names) > 1:
        mean, covariance = oracle.moments(*oracle.names)
        deviations = np.sqrt(np.diagonal(covariance))
        found = beliefs.joint(*oracle.names)
        limit = 1e-7 * np.outer(deviations, deviations) + 1e-20 * np.abs(prior.moments(*oracle.names)[1])
        assert (np.abs(found.covariance - covariance) <= limit).all()


@given(cases(exact=True))
def test_answers_agree_with_rational_arithmetic_where_variances_are_zero(case: Case):
    """S1-051, S1-052, S1-127: the oracle has the recursions of means and covariances, parents first."""
    check_answers(case)


@given(cases(exact=False))
def test_answers_agree_with_rational_arithmetic_for_all_units(case: Case):
    check_answers(case)


# --- every verb, against dense linear algebra ------------------------------------------------------------------------


def chain_network(size: int = 4) -> jt.BayesianNetwork:
    variables = [jt.Variable(f"x{place}") for place in range(size)]
    first = jt.LinearGaussian(variables[0], [], [], 1.0, 2.0)
    later = [
        jt.LinearGaussian(variables[place], [variables[place - 1]], [0.8], 0.5, 0.3 + place) for place in range(1, size)
    ]
    return jt.BayesianNetwork([first, *later])


def source_network() -> jt.BayesianNetwork:
    """Three variables, of which the joint is known: mean (1, 2, 7), covariance as in the test below."""
    a, b, c = map(jt.Variable, "abc")
    return jt.BayesianNetwork(
        [
            jt.LinearGaussian(a, [], [], 1.0, 1.0),
            jt.LinearGaussian(b, [a], [2.0], 0.0, 1.0),
            jt.LinearGaussian(c, [b], [3.0], 1.0, 1.0),
        ]
    )


def sum_network() -> jt.BayesianNetwork:
    """x, y and their sum and double sum, without noise."""
    x, y, total, double = map(jt.Variable, ("x", "y", "total", "double"))
    return jt.BayesianNetwork(
        [
            jt.LinearGaussian(x, [], [], 1.0, 1.0),
            jt.LinearGaussian(y, [], [], 2.0, 3.0),
            jt.LinearGaussian(total, [x, y], [1.0, 1.0], 0.0, 0.0),
            jt.LinearGaussian(double, [total], [2.0], 0.0, 0.0),
        ]
    )


def test_the_joint_of_the_sources():
    """S1-050: a chain of three."""
    joint = jt.infer(source_network()).joint("a", "b", "c")
    assert joint.mean == pytest.approx([1, 2, 7])
    assert joint.covariance == pytest.approx(np.array([[1, 2, 6], [2, 5, 15], [6, 15, 46]]))


def test_rows_with_holes_are_a_batch():
    model, rows = chain_network(), [{"x3": 2.0}, {}, {"x0": 1.0, "x2": -1.0}, {"x3": -1.0}]
    beliefs = jt.infer(model, rows)
    assert beliefs.method == "gaussian-elimination"
    assert beliefs.exact
    for number, row in enumerate(rows):
        alone = jt.infer(model, row)
        assert beliefs.log_evidence[number] == pytest.approx(alone.log_evidence, rel=1e-14)
        for name in model.variables.names:
            assert beliefs[name].mean[number] == pytest.approx(alone[name].mean, rel=1e-14)
            assert beliefs[name].variance[number] == pytest.approx(alone[name].variance, rel=1e-14)
        assert beliefs.joint("x1", "x0").covariance[number] == pytest.approx(alone.joint("x1", "x0").covariance)


def test_one_row_after_the_other_answers_as_a_plan_does():
    """The quicker path of single rows: numbers of any kind, in any order, with holes; mistakes are told as ever."""
    model, evidence = chain_network(), {"x3": np.float64(2.0), "x1": 1}
    plan = jt.compile(model, observed=["x1", "x3"])
    for row in (evidence, {"x1": 1.5, "x3": -2.0}, {}, {"x3": 2.0, "x1": float("nan")}):
        beliefs, other = jt.infer(model, row), plan.run(model, row)
        assert beliefs.log_evidence == pytest.approx(other.log_evidence, rel=1e-14)
        for name in model.variables.names:
            assert beliefs[name].mean == pytest.approx(other[name].mean, rel=1e-14)
            assert beliefs[name].variance == pytest.approx(other[name].variance, rel=1e-14)
        assert beliefs["x0"] is beliefs["x0"]
    beliefs = jt.infer(model, evidence, targets=("x2",))
    evidence["x1"] = 100.0
    assert beliefs.with_evidence({"x0": 0.0})["x2"] == jt.infer(model, {"x3": 2.0, "x1": 1.0, "x0": 0.0})["x2"]
    assert jt.infer(model, {"x1": 1.0}, method=jt.messages.GaussianElimination(), memory_limit=2**20)["x2"].mean == 1.3
    assert jt.infer(model, {"x1": 1.0}, targets=[]).targets == ()
    for wrong in (math.inf, 10**400, "tall"):
        with pytest.raises(jt.errors.InvalidData, match=r"'x1' is (infinite|real-valued)"):
            jt.infer(model, {"x1": wrong})
    with pytest.raises(jt.UnknownVariable, match="'x9'"):
        jt.infer(model, {"x9": 1.0})
    with pytest.raises(jt.UnknownVariable, match="'x9'"):
        jt.infer(model, {"x1": 1.0}, targets=["x9"])
    with pytest.raises(jt.UnknownVariable, match="not among the targets"):
        jt.infer(model, {"x1": 1.0}, targets=["x2"])["x0"]


def test_single_rows_of_precise_sensors_and_far_numbers_go_through_the_elimination():
    """Terms that cancel, and squares that no double holds, answer to the last bit as a plan does."""
    x, y, z = map(jt.Variable, "xyz")
    parts = [jt.LinearGaussian(x, [], [], 0.0, 1.0), jt.LinearGaussian(y, [x], [1.0], 0.0, 1e-20)]
    model = jt.BayesianNetwork([*parts, jt.LinearGaussian(z, [x, y], [3.0, -2.0], 0.0, 1e-20)])
    plan, row = jt.compile(model, observed=["y", "z"]), {"y": 1.0 + 1e-10, "z": 1.0}
    assert jt.infer(model, row)["x"].mean == plan.run(model, row)["x"].mean
    assert jt.infer(model, {"y": -2.0})["z"].mean == plan.run(model, {"y": -2.0})["z"].mean
    for far in (1e160, -1e300):
        with pytest.raises(jt.ImpossibleEvidence, match="cannot occur"):
            jt.infer(chain_network(), {"x1": far})
    assert jt.infer(chain_network(), {"x1": 1e100})["x2"].mean == pytest.approx(0.8e100)


def test_marginals_are_gaussians_and_known_values_are_degenerate():
    beliefs = jt.infer(chain_network(), {"x3": 2.0})
    assert isinstance(beliefs["x0"], jt.Gaussian)
    assert isinstance(beliefs.joint("x0", "x1"), jt.MultivariateGaussian)
    known = beliefs["x3"]
    assert (known.mean, known.variance) == (2.0, 0.0)
    assert known.log_prob([2.0, 2.1]).tolist() == [0.0, -math.inf]
    assert known.cdf([1.9, 2.0]).tolist() == [0.0, 1.0]
    assert known.quantile(0.3) == 2.0
    assert beliefs.joint("x0", "x3").variance[1] == 0.0
    assert (beliefs.joint("x0", "x3").sample(5, rng=0)[:, 1] == 2.0).all()


def test_log_prob_sums_out_holes():
    model = chain_network()
    rows = {"x0": [1.0, np.nan, 0.5], "x1": [1.0, 2.0, np.nan], "x2": [0.0, np.nan, np.nan], "x3": [1.0, 0.0, np.nan]}
    found = jt.log_prob(model, rows)
    for number in range(3):
        seen = {name: column[number] for name, column in rows.items() if not np.isnan(column[number])}
        assert found[number] == pytest.approx(condition(model, seen).log_evidence, rel=1e-12)
    assert jt.log_prob(model, {name: column[0] for name, column in rows.items()}) == pytest.approx(found[0], rel=1e-14)
    assert found[0] == pytest.approx(model.log_joint({name: column[0] for name, column in rows.items()}), rel=1e-12)


@st.composite
def scattered(draw: Any) -> tuple[jt.BayesianNetwork, np.ndarray]:
    """A network of any units, and rows of which most observe other variables; some rows observe all, some nothing."""
    rng, size = np.random.default_rng(draw(st.integers(0, 2**32 - 1))), draw(st.integers(1, 6))
    units, variables = 2.0 ** rng.integers(-27, 20, size), [jt.Variable(f"x{place}") for place in range(size)]
    variances = draw(st.sampled_from([(0.3, 1.0, 2.0), (0.3, 1e-10), (0.0, 1.0)]))  # ordinary, precise, exact
    parts = []
    for place, child in enumerate(variables):
        parents = [other for other in range(place) if rng.random() < 0.6]
        slopes = rng.integers(-6, 7, len(parents)) / 4 * units[place] / units[parents]
        variance = rng.choice(variances) * units[place] ** 2
        level = rng.integers(-6, 7) / 4 * units[place]
        parts.append(jt.LinearGaussian(child, [variables[other] for other in parents], slopes, level, variance))
    model = jt.BayesianNetwork([parts[place] for place in rng.permutation(size)])
    rows = np.stack([jt.sample(model, 8, rng=rng).columns[each.name] for each in model.variables], axis=1)
    rows[rng.random(rows.shape) < 0.5] = np.nan
    rows[0] = np.nan
    return model, rows


@given(drawn=scattered())
def test_densities_of_rows_with_holes_of_their_own(drawn: tuple[jt.BayesianNetwork, np.ndarray]):
    """Against rational arithmetic, one by one, and each of them in a block of rows that have the same holes."""
    model, rows = drawn
    names = model.variables.names
    found = jt.log_prob(model, dict(zip(names, rows.T, strict=True)))
    for row, log_density in zip(rows, found, strict=True):
        evidence = {name: float(x) for name, x in zip(names, row, strict=True) if not np.isnan(x)}
        oracle, prior = condition(model, evidence), condition(model, {})
        bound = rounding_errors(Case(model, evidence), oracle, prior)["log_evidence"]
        assert log_density == pytest.approx(oracle.log_evidence, rel=1e-12, abs=1e-12 + bound)
    many = jt.log_prob(model, dict(zip(names, np.repeat(rows, 5000, axis=0).T, strict=True)))
    assert many[::5000] == pytest.approx(found, rel=1e-9, abs=1e-9)


def test_only_densities_are_asked_for_and_all_else_is_found_when_it_is_asked_for():
    model = chain_network()
    rows = {name: [None, 1.5, 2.0, at, None, 3.0] for at, name in enumerate(model.variables.names)}
    table = jt.Dataset(rows | {"x1": [1.0, None, 3.0, None, None, 1.0]}, variables=model.variables)
    findings, names = as_findings(table, model.variables), tuple(rows)
    plan = jt.messages.GaussianElimination().compile(model, names, names)
    answers = plan.run(model, Query(findings, questions=frozenset({Question.LOG_EVIDENCE})))
    others = plan.run(model, Query(findings))
    assert answers.log_evidence == pytest.approx(others.log_evidence, rel=1e-13)
    assert np.array_equal(answers.means(names), others.means(names))


def test_draws_have_the_moments_of_the_posterior():
    model, evidence = sum_network(), {"double": 8.0}
    drawn = jt.sample(model, 20_000, given=evidence, rng=3).columns
    mean, covariance = condition(model, evidence).moments("x", "y", "total")
    rows = np.stack([drawn["x"], drawn["y"], drawn["total"]])
    assert rows.mean(axis=1) == pytest.approx(mean, abs=0.03)
    assert np.cov(rows) == pytest.approx(covariance, abs=0.03)
    assert drawn["total"] == pytest.approx(4.0, rel=1e-12)
    assert (drawn["double"] == 8.0).all()
    again = jt.infer(model, evidence).sample(20_000, rng=3).columns
    assert all((again[name] == drawn[name]).all() for name in drawn)


def test_the_mean_is_most_probable():
    model, evidence = chain_network(), {"x3": 2.0}
    best = jt.most_probable(model, evidence)
    beliefs = jt.infer(model, evidence)
    assert best.assignment == {name: beliefs[name].mean for name in ("x0", "x1", "x2")}
    assert best.log_joint == pytest.approx(model.log_joint({**best.assignment, **evidence}), rel=1e-12)
    assert best.log_prob == pytest.approx(best.log_joint - beliefs.log_evidence)
    pair = jt.most_probable(model, evidence, targets=["x0", "x2"])
    assert pair.log_prob == pytest.approx(beliefs.joint("x0", "x2").log_prob(list(pair.assignment.values())), rel=1e-12)
    assert [one.assignment for one in jt.most_probable(model, evidence, k=1)] == [best.assignment]
    rows = jt.most_probable(model, [evidence, {}])
    assert rows.log_joint[0] == pytest.approx(best.log_joint)
    with pytest.raises(jt.errors.Unsupported, match="no second best"):
        jt.most_probable(model, evidence, k=2)


def test_best_rows_of_high_density_are_drawn():
    x = jt.Variable("x")
    narrow = jt.BayesianNetwork([jt.LinearGaussian(x, [], [], 0.0, 1e-300)])
    picture = jt.draw(jt.most_probable(narrow, [{}, {}])).svg
    assert "log density 344.5" in picture
    assert "log density 344.5" in jt.draw(jt.most_probable(narrow, k=1)).svg


def test_an_unbounded_density_has_no_mode():
    for options in ({}, {"targets": ["x", "y", "total"]}):
        with pytest.raises(
            jt.errors.Unsupported, match=r"the joint density has no maximum: '(total|double)' is determined"
        ):
            jt.most_probable(sum_network(), **options)
    assert jt.most_probable(sum_network(), targets=["x", "total"]).assignment == {"x": 1.0, "total": 3.0}


def test_evidence_on_determined_variables_is_a_test():
    model = sum_network()
    seen = {"x": 0.5, "y": 2.5, "total": 3.0, "double": 6.0}
    free = jt.infer(model, {"x": 0.5, "y": 2.5}).log_evidence
    assert jt.infer(model, seen).log_evidence == pytest.approx(free, rel=1e-14)
    assert jt.log_prob(model, seen) == pytest.approx(free, rel=1e-14) == pytest.approx(model.log_joint(seen))
    assert jt.infer(model, {**seen, "total": 3.0 + 1e-12}).log_evidence == pytest.approx(free, rel=1e-10)
    for clash in ({**seen, "total": 3.1}, {"total": 3.0, "double": 6.1}):
        with pytest.raises(jt.ImpossibleEvidence, match=r"total=3.*cannot occur together"):
            jt.infer(model, clash)
    loose = jt.messages.GaussianElimination(tolerance=0.1)
    assert jt.infer(model, {"total": 3.0, "double": 6.1}, method=loose)["x"].mean == pytest.approx(1.0, abs=0.05)
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning):
        beliefs = jt.infer(model, [{"total": 3.0, "double": 6.1}, {"total": 3.0}])
    assert beliefs.impossible == (0,)
    assert np.isnan(beliefs["x"].mean[0])
    assert beliefs["x"].mean[1] == 1.0


def test_two_sensors_without_noise_have_the_density_of_the_first():
    x, one, two = map(jt.Variable, ("x", "one", "two"))
    parts = [
        jt.LinearGaussian(x, [], [], 1.0, 1.0),
        jt.LinearGaussian(one, [x], [2.0], 0.0, 0.0),
        jt.LinearGaussian(two, [x], [1e6], 0.0, 0.0),
    ]
    both = jt.infer(jt.BayesianNetwork(parts), {"one": 3.0, "two": 1.5e6})
    assert both.log_evidence == pytest.approx(jt.Gaussian(2.0, 4.0).log_prob(3.0), rel=1e-12)
    assert (both["x"].mean, both["x"].variance) == (1.5, 0.0)


def test_interventions_further_evidence_and_plans():
    model = chain_network()
    done = jt.infer(jt.do(model, {"x1": 5.0}))
    assert done["x2"].mean == pytest.approx(4.5)
    assert done["x2"].variance == pytest.approx(2.3)
    assert done["x0"].variance == pytest.approx(2.0)
    beliefs, both = jt.infer(model, {"x3": 1.0}), {"x3": 1.0, "x1": 0.0}
    assert beliefs.with_evidence({"x1": 0.0})["x2"] == jt.infer(model, both)["x2"]
    pair = beliefs.with_evidence({"x1": 0.0})
    singles = [jt.infer(model, {name: value}).log_evidence for name, value in both.items()]
    assert pair.conflict == pytest.approx(sum(singles) - pair.log_evidence)
    plan = jt.compile(model, observed=["x3"], targets=["x0"])
    assert plan.run(model, {"x3": 1.0})["x0"] == beliefs["x0"]
    other = model.with_conditional(jt.LinearGaussian(jt.Variable("x0"), [], [], 3.0, 1.0))
    assert plan.run(other, {"x3": 1.0})["x0"] == jt.infer(other, {"x3": 1.0})["x0"]
    assert jt.cost(model).width == 1
    assert jt.cost(model, observed=["x1"]).operations < jt.cost(model).operations
    with pytest.raises(jt.errors.InvalidModel, match="another structure"):
        plan.run(source_network(), {})


def test_other_models_are_refused_by_name():
    a, x = jt.Variable("a", 2), jt.Variable("x")
    mixed = jt.BayesianNetwork([jt.Conditional(a, [], [0.5, 0.5]), jt.LinearGaussian(x, [a], [[], []], [0, 1], [1, 1])])
    with pytest.raises(jt.errors.Unsupported, match=r"Conditional\(a\) is not"):
        jt.infer(mixed, method="gaussian-elimination")
    with pytest.raises(jt.errors.Unsupported, match=r"LinearGaussian\(x0\)"):
        jt.infer(chain_network(), method="junction-tree")
    with pytest.raises(jt.JunctureError, match="tolerance"):
        jt.messages.GaussianElimination(tolerance=-1.0)


def moved(model: jt.BayesianNetwork, child: str, field: str, place: int, step: float) -> jt.BayesianNetwork:
    """The network with one number of one conditional changed."""
    part: Any = model[child]
    numbers = {key: np.array(getattr(part, key)) for key in ("coefficients", "intercept", "variance")}
    numbers[field].reshape(-1)[place] += step
    return model.with_conditional(jt.LinearGaussian(part.child, part.parents, **numbers))


@pytest.mark.parametrize("target", [None, ("x1", "mean"), ("x1", "variance"), ("x4", "mean")])
def test_sensitivities_are_the_slopes_of_answers(target: Any):
    x = [jt.Variable(f"x{place}") for place in range(5)]
    model = jt.BayesianNetwork(
        [
            jt.LinearGaussian(x[0], [], [], 1.0, 2.0),
            jt.LinearGaussian(x[1], [x[0]], [0.5], 0.3, 0.7),
            jt.LinearGaussian(x[2], [x[0], x[1]], [-1.0, 2.0], 0.0, 0.4),
            jt.LinearGaussian(x[3], [x[2]], [1.5], -0.2, 1.2),
            jt.LinearGaussian(x[4], [x[1]], [1.0], 0.0, 0.6),
        ]
    )
    evidence = {"x3": 2.0, "x0": 0.5}

    def answer(model: jt.BayesianNetwork) -> float:
        beliefs = jt.infer(model, evidence)
        return beliefs.log_evidence if target is None else getattr(beliefs[target[0]], target[1])

    for child, slopes in jt.sensitivity(model, evidence, target=target).items():
        for field, found in slopes.items():
            for place, slope in enumerate(found.reshape(-1)):
                up, down = (answer(moved(model, child, field, place, step)) for step in (1e-5, -1e-5))
                assert slope == pytest.approx((up - down) / 2e-5, rel=1e-6, abs=1e-8)


def test_sensitivity_refuses_what_has_no_slope():
    with pytest.raises(jt.errors.Unsupported, match=r"LinearGaussian\(total \| x, y\) has the variance 0"):
        jt.sensitivity(sum_network(), {"x": 1.0})
    with pytest.raises(jt.errors.InvalidData, match=r"a pair such as \('x', 'mean'\)"):
        jt.sensitivity(chain_network(), {}, target=("x0", 3.0))
    a, x = jt.Variable("a", 2), jt.Variable("x")
    mixed = jt.BayesianNetwork([jt.Conditional(a, [], [0.5, 0.5]), jt.LinearGaussian(x, [a], [[], []], [0, 1], [1, 0])])
    for target in (None, ("x", "mean"), ("a", 1)):
        with pytest.raises(jt.errors.Unsupported, match=r"'a' has states and 'x' is real: change a number"):
            jt.sensitivity(mixed, {"x": 1.0}, target=target)
    with pytest.raises(jt.errors.Unsupported, match="the factors of 'x' are neither"):
        jt.sensitivity(jt.MarkovNetwork([jt.GaussianFactor([x], [0.0], [[1.0]])]))
