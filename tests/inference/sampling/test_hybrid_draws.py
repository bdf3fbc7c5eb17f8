"""Likelihood weighting with real variables, logistic children and conditionals that users write; cut-set sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit

import juncture as jt
from juncture.evidence import as_findings


def normal(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def logistic_network() -> jt.BayesianNetwork:
    """A real cause of a choice, whose probability is a sigmoid of it."""
    x, y = jt.Variable("x"), jt.Variable("y", ["no", "yes"])
    return jt.BayesianNetwork([jt.LinearGaussian(x, [], []), jt.Logistic(y, [x], [2.0], -1.0)])


def test_a_logistic_child_of_a_real_parent():
    """Exact inference has no closed form; quadrature has."""
    model = logistic_network()
    evidence = quad(lambda x: normal(x) * expit(2 * x - 1), -10, 10)[0]
    mean = quad(lambda x: x * normal(x) * expit(2 * x - 1), -10, 10)[0] / evidence
    for method in ("likelihood-weighting", "importance", "rejection"):
        beliefs = jt.infer(model, {"y": "yes"}, method=method, rng=0)
        error = beliefs.diagnostics.standard_error("x")
        assert 0.0 < error < 0.1
        assert abs(beliefs["x"].mean - mean) < 4.5 * error
        assert abs(beliefs.log_evidence - math.log(evidence)) < 4.5 * beliefs.diagnostics.log_evidence_error
    given = jt.infer(model, {"x": 0.7}, method="likelihood-weighting", rng=0)
    assert given["y"]["yes"] == pytest.approx(expit(0.4), abs=0.03)
    assert given.log_evidence == pytest.approx(math.log(normal(0.7)))
    many = jt.infer(model, [{"y": "yes"}, {"y": "no"}], method="likelihood-weighting", rng=0)
    assert many["x"].mean[0] == pytest.approx(mean, abs=0.1)
    assert many.diagnostics.standard_error("x").shape == (2,)
    rows = jt.infer(model, {"y": "yes"}, method="likelihood-weighting", rng=0).sample(500, rng=0)
    assert rows.columns["x"].mean() == pytest.approx(mean, abs=0.2)


@dataclass(frozen=True)
class PoissonCounts:
    """A count of mean exp(x), cut at 20: a conditional as users write them."""

    child: jt.Variable
    parents: jt.results.Scope
    num_parameters: int = 0

    def log_probabilities(self, columns):
        counts, rate = np.arange(21), np.exp(columns[self.parents.names[0]])[:, None]
        logs = counts * np.log(rate) - np.array([math.lgamma(count + 1) for count in counts])
        return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)

    def log_prob(self, columns):
        codes = columns[self.child.name]
        return self.log_probabilities(columns)[np.arange(len(codes)), codes]

    def sample(self, columns, num_rows, rng):
        sums = np.exp(self.log_probabilities(columns)).cumsum(axis=1)
        return (sums <= rng.random((num_rows, 1))).sum(axis=1).clip(0, 20)


def test_a_conditional_that_a_user_wrote():
    x, count = jt.Variable("x"), jt.Variable("count", 21)
    model = jt.BayesianNetwork([jt.LinearGaussian(x, [], []), PoissonCounts(count, jt.results.Scope([x]))])
    beliefs = jt.infer(model, {"count": 4}, method="likelihood-weighting", rng=0)

    def joint(value):
        return normal(value) * math.exp(model["count"].log_prob({"x": np.array([value]), "count": np.array([4])})[0])

    evidence = quad(joint, -8, 8)[0]
    mean = quad(lambda value: value * joint(value), -8, 8)[0] / evidence
    assert abs(beliefs["x"].mean - mean) < 4.5 * beliefs.diagnostics.standard_error("x")
    assert abs(beliefs.log_evidence - math.log(evidence)) < 4.5 * beliefs.diagnostics.log_evidence_error
    with pytest.raises(jt.errors.Unsupported, match="takes variables with states"):
        jt.infer(model, {"count": 4}, method=jt.ImportanceSampling(proposal="loopy"))


def test_a_mixed_network_agrees_with_the_strong_junction_tree():
    sex, height, weight = jt.Variable("sex", ["f", "m"]), jt.Variable("height"), jt.Variable("weight")
    model = jt.BayesianNetwork(
        [
            jt.Conditional(sex, [], [0.5, 0.5]),
            jt.LinearGaussian(height, [sex], [[], []], [1.66, 1.79], [0.004, 0.005]),
            jt.LinearGaussian(weight, [height], [80.0], -65.0, 60.0),
        ]
    )
    exact, drawn = (jt.infer(model, {"weight": 80.0}, method=m, rng=0) for m in ("exact", "likelihood-weighting"))
    errors = drawn.diagnostics.standard_errors
    assert abs(drawn["sex"]["m"] - exact["sex"]["m"]) < 4.5 * errors["sex"][1]
    assert abs(drawn["height"].mean - exact["height"].mean) < 4.5 * errors["height"]
    assert abs(drawn.log_evidence - exact.log_evidence) < 4.5 * drawn.diagnostics.log_evidence_error
    assert drawn["height"].quantile(0.5) == pytest.approx(exact["height"].quantile(0.5), abs=0.01)


def test_sums_over_the_rest_lower_the_error():
    """S3-045: E f = E E[f | cut-set], and the conditional mean has no more variance than f."""
    asia, seen = jt.example("asia"), {"xray": "yes", "dysp": "yes"}
    cut = jt.infer(asia, seen, method=jt.sampling.CutsetSampling(draws=1000, cutset=["smoke", "either"]), rng=0)
    all_drawn = jt.infer(asia, seen, method=jt.ImportanceSampling(draws=1000), rng=0)
    exact = jt.infer(asia, seen)
    for name in ("asia", "tub", "lung", "bronc"):
        error = cut.diagnostics.standard_error(name)
        assert (abs(cut[name].values - exact[name].values) < 4.5 * error + 1e-9).all()
        assert (error < all_drawn.diagnostics.standard_error(name)).all()
    assert abs(cut.log_evidence - exact.log_evidence) < 4.5 * cut.diagnostics.log_evidence_error + 1e-9
    assert cut.joint("lung", "bronc").values == pytest.approx(exact.joint("lung", "bronc").values, abs=0.08)


def test_a_grid_too_wide_for_its_memory():
    grid = jt.ising((8, 8), coupling=0.3, field=0.1)
    engine = jt.sampling.CutsetSampling(draws=40, width=4, memory_limit=40_000)
    beliefs, exact = jt.infer(grid, method=engine, rng=0), jt.infer(grid)
    assert abs(beliefs.log_evidence - exact.log_evidence) < 4.5 * beliefs.diagnostics.log_evidence_error
    assert 3 <= len(engine.compile(grid).cutset(grid, as_findings(None, grid.variables))) <= 20
    findings = as_findings({"x0_0": grid.states[0], "x1_1": [0.5, 0.6]}, grid.variables)
    named = jt.sampling.CutsetSampling(cutset=["x0_0", "x1_1", "x3_3"])
    assert named.compile(grid).cutset(grid, findings) == ("x1_1", "x3_3")
    assert jt.infer(grid, method=jt.sampling.CutsetSampling(width=12)).exact
    drawn = jt.sample(grid, 60, given={"x0_0": grid.states[0]}, method=jt.sampling.CutsetSampling(width=4), rng=0)
    assert drawn["x7_7"].shape == (1, 60)
    assert drawn.log_weights is not None
    rows = jt.infer(jt.example("asia"), {"xray": "yes"}, method="cutset", rng=0).sample(2000, rng=0)
    assert (rows.columns["lung"] == 0).mean() == pytest.approx(0.489, abs=0.05)
    with pytest.raises(jt.errors.Unsupported, match="takes variables with states"):
        jt.infer(logistic_network(), method="cutset")


def relations_network() -> jt.BayesianNetwork:
    """Two numbers that are exact in some states, and a copy of the first that is exact in all."""
    a, b = jt.Variable("a", 2), jt.Variable("b", 3)
    x, y, z = (jt.Variable(name) for name in "xyz")
    return jt.BayesianNetwork(
        [
            jt.Conditional(a, [], [0.3, 0.7]),
            jt.Conditional(b, [a], [[0.2, 0.3, 0.5], [0.6, 0.4, 0.0]]),
            jt.LinearGaussian(x, [a], [[], []], [0.0, 0.0], [0.0, 1.0]),
            jt.LinearGaussian(y, [b, x], [[1.0], [0.0], [2.0]], [0.0, 0.0, 1.0], [1.0, 0.0, 4.0]),
            jt.LinearGaussian(z, [x], [1.0], 0.5, 0.0),
        ]
    )


def draw_states(given, num_draws, rng):
    """The states of `relations_network`, all as often, where its numbers are observed."""
    columns = {"a": rng.integers(2, size=num_draws), "b": rng.integers(3, size=num_draws)}
    return columns, np.full(num_draws, math.log(1 / 6))


WEIGHTING, PROPOSAL = jt.LikelihoodWeighting(), jt.ImportanceSampling(proposal=draw_states)


@pytest.mark.parametrize(
    ("method", "evidence"),
    [
        (WEIGHTING, {"x": 0.0}),
        (WEIGHTING, {"x": 0.0, "y": 0.0}),
        (WEIGHTING, {"x": 0.0, "y": 0.0, "b": 0}),
        (WEIGHTING, {"x": 1.0, "y": 0.0}),
        (PROPOSAL, {"x": 0.0, "y": 0.0}),
        (PROPOSAL, {"x": 1.0, "y": 0.0}),
    ],
)
def test_draws_with_fewer_exact_relations_weigh_nothing(method, evidence):
    """Against exact inference: states of probability 0 have weight 0, in marginals, joints, draws and batches."""
    model = relations_network()
    evidence = evidence | {"z": evidence["x"] + 0.5}
    exact = jt.infer(model, evidence)
    rows = jt.infer(model, [evidence, {"x": 2.0, "y": 1.0, "z": 2.5}], method=method, rng=1)
    found = jt.infer(model, evidence, method=method, rng=0)
    for beliefs, log_evidence in ((found, found.log_evidence), (rows, rows.log_evidence[0])):
        assert log_evidence == pytest.approx(exact.log_evidence, abs=0.1)
        for name in ("a", "b"):
            values = np.reshape(beliefs[name].values, (-1, model.variable(name).num_states))[0]
            assert values[exact[name].values == 0] == pytest.approx(0.0, abs=0.0)
            assert values == pytest.approx(exact[name].values, abs=0.05)
    assert found.joint("a", "b").values == pytest.approx(exact.joint("a", "b").values, abs=0.05)
    drawn = found.sample(200, rng=2).columns
    assert (exact.joint("a", "b").values[drawn["a"], drawn["b"]] > 0).all()


def test_a_number_that_no_draw_can_agree_with_is_refused():
    """It is exact in one state and not in the other, so that only the other would be drawn."""
    a, x, y = jt.Variable("a", 2), jt.Variable("x"), jt.Variable("y")
    model = jt.BayesianNetwork(
        [
            jt.Conditional(a, [], [0.5, 0.5]),
            jt.LinearGaussian(x, [], []),
            jt.LinearGaussian(y, [a, x], [[1.0], [0.0]], [0.0, 0.0], [0.0, 1.0]),
        ]
    )
    assert jt.infer(model, {"y": 0.3})["a"].values == pytest.approx([0.5, 0.5])
    with pytest.raises(
        jt.errors.Unsupported, match="no draw agrees with 'y', an exact function of numbers that are drawn"
    ):
        jt.infer(model, {"y": 0.3}, method="likelihood-weighting", rng=0)
    known = jt.infer(model, {"y": 0.3, "x": 0.3}, method="likelihood-weighting", rng=0)
    assert known["a"].values.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(("value", "variance"), [(70.0, 1.0), (0.0, 1e-300)])
def test_weights_beyond_doubles_are_weighed_as_any_others(value, variance):
    """Findings that depend on nothing scale all weights, here by far more than a double holds, and change no answer."""
    x, y = jt.Variable("x"), jt.Variable("y")
    parts = [jt.LinearGaussian(x, [], []), jt.LinearGaussian(y, [x], [1.0])]
    apart = [jt.LinearGaussian(jt.Variable(f"z{place}"), [], [], 0.0, variance) for place in range(4)]
    scaled = {part.child.name: value for part in apart}
    engine = jt.LikelihoodWeighting(draws=500)
    plain = jt.infer(jt.BayesianNetwork(parts), {"y": 1.0}, method=engine, rng=0)
    beliefs = jt.infer(jt.BayesianNetwork([*parts, *apart]), {"y": 1.0, **scaled}, method=engine, rng=0)
    assert abs(beliefs.log_evidence - plain.log_evidence) > 1000.0
    assert beliefs["x"].mean == pytest.approx(plain["x"].mean, rel=1e-11)
    assert beliefs["x"].variance == pytest.approx(plain["x"].variance, rel=1e-11)
    assert beliefs.diagnostics.standard_error("x") == pytest.approx(plain.diagnostics.standard_error("x"), rel=1e-11)
