"""Numbers that the sources print about learning in networks."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from support.builders import joint_table

COUNTS = {"101": 10, "011": 14, "110": 8, "000": 12, "100": 1, "010": 2, "111": 1, "001": 2}
COLLIDER = jt.DirectedGraph([("x1", "x3"), ("x2", "x3")])


@pytest.fixture
def fifty():
    """The 50 observations of S4 worked example 14, each kind of row with its number as a weight."""
    columns = {f"x{place + 1}": [int(row[place]) for row in COUNTS] for place in range(3)}
    return jt.Dataset(columns, weights=list(COUNTS.values()))


def test_fifty_observations_by_maximum_likelihood(fifty):
    """S4-207."""
    fitted = jt.fit(COLLIDER, fifty)
    model = fitted.model
    assert model["x1"][1] == pytest.approx(2 / 5)
    assert model["x2"][1] == pytest.approx(1 / 2)
    on = model["x3"].values[..., 1]
    assert on == pytest.approx(np.array([[1 / 7, 7 / 8], [10 / 11, 1 / 9]]))
    assert fitted.log_likelihood == pytest.approx(-86.568379348, abs=5e-10)


def test_what_the_fitted_network_says(fifty):
    """S4 worked example 14: explaining away."""
    model = jt.fit(COLLIDER, fifty).model
    assert jt.infer(model)["x3"].values[1] == pytest.approx(0.509397547, abs=5e-10)
    for given, answer in [({}, 0.400552388), ({"x2": 1}, 0.078048780), ({"x2": 0}, 0.809248555)]:
        assert jt.infer(model, {"x3": 1, **given})["x1"].values[1] == pytest.approx(answer, abs=5e-10)


def test_fifty_observations_with_other_graphs(fifty):
    """S4-207: the saturated and the independent model."""
    full = jt.DirectedGraph([("x1", "x2"), ("x1", "x3"), ("x2", "x3")])
    assert jt.fit(full, fifty).log_likelihood == pytest.approx(-86.401496, abs=5e-7)
    alone = jt.DirectedGraph(nodes=["x1", "x2", "x3"])
    assert jt.fit(alone, fifty).log_likelihood == pytest.approx(-102.805130, abs=5e-7)


def test_fifty_observations_under_beta_1_1(fifty):
    """S4-209: the posterior mean, which predicts the next row."""
    model = jt.fit(COLLIDER, fifty, prior=1.0).model
    assert model["x1"][1] == pytest.approx(21 / 52)
    assert model["x2"][1] == pytest.approx(26 / 52)
    assert model["x3"].values[..., 1] == pytest.approx(np.array([[3 / 16, 15 / 18], [11 / 13, 2 / 11]]))


def test_how_thin_the_fifty_are_spread(fifty):
    """S4-208: each parameter sees only part of the data."""
    statistics = jt.statistics(COLLIDER, fifty)
    assert statistics["x3"].of_parents.tolist() == [[14.0, 16.0], [11.0, 9.0]]
    assert statistics["x3"].of_parents.sum() == 50
    assert statistics.rare_rows(12) == [("x3", {"x1": 1, "x2": 1}, 9.0), ("x3", {"x1": 1, "x2": 0}, 11.0)]


PAIR = [jt.Variable("x1", 2), jt.Variable("x2", 2)]
SEEN = {"x1": [1, 1, None], "x2": [1, None, 0]}


def uniform_pair() -> jt.BayesianNetwork:
    first, second = PAIR
    return jt.BayesianNetwork(
        [jt.Conditional(first, [], [0.5, 0.5]), jt.Conditional(second, [first], [[0.5, 0.5]] * 2)]
    )


@pytest.mark.parametrize(
    ("steps", "joint", "log_likelihood"),
    [
        (1, [1 / 6, 0.0, 1 / 3, 1 / 2], -1.568616),
        (2, [0.111111, 0.0, 0.355556, 0.533333], -1.508532),
        (3, [0.079365, 0.0, 0.387302, 0.533333], -1.473440),
    ],
)
def test_problem_5_4_step_by_step(steps, joint, log_likelihood):
    """S4 worked example 11, S4-212: EM from uniform on {[1,1], [1,?], [?,0]}."""
    with pytest.warns(jt.errors.NotConvergedWarning, match=f"stopped after {steps} step"):
        fitted = jt.fit(uniform_pair(), SEEN, method=jt.ExpectationMaximization(max_steps=steps))
    assert joint_table(fitted.model).ravel() == pytest.approx(joint, abs=5e-7)
    assert fitted.log_likelihood == pytest.approx(log_likelihood, abs=5e-7)


@pytest.mark.parametrize(
    "method",
    [
        jt.ExpectationMaximization(tolerance=1e-14, max_steps=200_000),
        jt.ExpectationMaximization(tolerance=1e-14, acceleration="squarem"),
        jt.GradientAscent(tolerance=1e-14),
    ],
)
def test_problem_5_4_to_its_end(method):
    """S4 worked example 11: (0, 0, ½, ½), with log-likelihood -2 ln 2."""
    fitted = jt.fit(uniform_pair(), SEEN, method=method)
    assert joint_table(fitted.model).ravel() == pytest.approx([0.0, 0.0, 0.5, 0.5], abs=1e-4)
    assert fitted.log_likelihood == pytest.approx(-2 * np.log(2), abs=1e-5)


def test_problem_5_4_first_question():
    """S4 worked example 11 a: of {[1, ?]} the log-likelihood is ln(θ10 + θ11)."""
    with pytest.warns(jt.errors.UnseenParentsWarning):
        fitted = jt.fit(uniform_pair(), {"x1": [1], "x2": [None]})
    assert fitted.trace.values[0] == pytest.approx(np.log(0.5))
    assert fitted.log_likelihood == pytest.approx(0.0)


def test_a_missing_leaf_says_nothing_of_its_parents():
    """S2-184: rows without their leaf leave the parents' estimates as they are."""
    graph = jt.DirectedGraph([("x", "leaf")])
    rows = {"x": [0, 0, 1, 1, 1, 0, 1], "leaf": [0, 1, 1, 1, 0, None, None]}
    fitted = jt.fit(graph, rows, method=jt.ExpectationMaximization(tolerance=1e-13))
    seen = jt.fit(graph, {name: column[:5] for name, column in rows.items()})
    assert fitted.model["x"].values == pytest.approx([3 / 7, 4 / 7])
    assert fitted.model["leaf"].values == pytest.approx(seen.model["leaf"].values, abs=1e-5)


def test_naive_bayes_is_conditional_frequencies():
    """S0-265, S0-368, S2-187: counts by class, with Laplace's correction (k + 1) / (n + 2) on request (S0-351)."""
    graph = jt.DirectedGraph([("y", "w1"), ("y", "w2")])
    rows = {"y": [0, 0, 0, 1, 1], "w1": [1, 1, 0, 0, 0], "w2": [0, 1, 1, 1, 1]}
    plain, corrected = jt.fit(graph, rows).model, jt.fit(graph, rows, prior=1.0).model
    assert plain["y"].values == pytest.approx([3 / 5, 2 / 5])
    assert plain["w1"].values[:, 1] == pytest.approx([2 / 3, 0.0])
    assert corrected["w1"].values[:, 1] == pytest.approx([3 / 5, 1 / 4])


def test_rgb_balls():
    """S2 worked example 5: ML (.4, .3, .3), log-likelihood -10.889000; with Dirichlet(1,1,1) (5, 4, 4)/13."""
    graph, balls = jt.DirectedGraph(nodes=["ball"]), {"ball": list("RRRGBGBRBG")}
    fitted = jt.fit(graph, balls, variables=[jt.Variable("ball", ["R", "G", "B"])])
    assert fitted.model["ball"].values == pytest.approx([0.4, 0.3, 0.3])
    assert fitted.log_likelihood == pytest.approx(-10.889000, abs=5e-7)
    smoothed = jt.fit(graph, balls, prior=1.0, variables=[jt.Variable("ball", ["R", "G", "B"])]).model
    assert smoothed["ball"].values == pytest.approx(np.array([5, 4, 4]) / 13)


def test_more_categories_than_rows():
    """S0-329: some estimates are 0 and a new row is impossible; the posterior mean leaves none at 0."""
    graph, die = jt.DirectedGraph(nodes=["die"]), [jt.Variable("die", 5)]
    rows = {"die": [0, 3, 3]}
    assert (jt.fit(graph, rows, variables=die).model["die"].values == 0).sum() == 3
    assert jt.fit(graph, rows, prior=1.0, variables=die).model["die"].values.min() > 0


def test_tied_naive_bayes():
    """S4-235 (problem 6.2): p = N1 / N and μ_t pooled over all features of class t."""
    label, words = jt.Variable("t", 2), [jt.Variable(f"w{place}", 2) for place in range(10)]
    parts = [jt.Conditional(word, [label], [[0.5, 0.5]] * 2) for word in words]
    model = jt.BayesianNetwork([jt.Conditional(label, [], [0.5, 0.5]), *parts], tied=[[word.name for word in words]])
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 300)
    features = rng.random((300, 10)) < np.where(kind, 0.7, 0.4)[:, None]
    rows = {"t": kind, **{word.name: features[:, place].astype(int) for place, word in enumerate(words)}}
    fitted = jt.fit(model, rows).model
    assert fitted["w3"].values[:, 1] == pytest.approx([features[kind == 0].mean(), features[kind == 1].mean()])
