"""Decisions under a loss: matrices, powers, any function; against brute force over grids and against scikit-learn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

import juncture as jt
from juncture.supervised import LossMatrix, decide, optimal_decision

SEEDS = st.integers(0, 2**32 - 1)
TWO_BELLS = jt.Mixture([0.5, 0.5], jt.Gaussian([3.0, -3.0], 1.0))
FAMILIES = [jt.Gaussian(1.0, 2.0), jt.Exponential(0.5), jt.Gamma(3.0, 2.0), jt.Laplace(0.5, 1.5), TWO_BELLS]


@given(seed=SEEDS)
def test_no_action_has_less_expected_loss(seed):
    rng = np.random.default_rng(seed)
    classes, actions = rng.integers(1, 5, size=2)
    loss = LossMatrix(rng.normal(size=(classes, actions)))
    shares = rng.dirichlet(np.ones(classes), 6)
    for row, action in zip(shares, loss.decide(shares), strict=True):
        risks = [sum(p * loss.values[k, a] for k, p in enumerate(row)) for a in range(actions)]
        assert risks[int(action)] <= min(risks) + 1e-12


@given(seed=SEEDS)
def test_a_row_is_rejected_exactly_where_the_best_class_is_less_sure_than_the_cost_allows(seed):
    rng = np.random.default_rng(seed)
    shares, cost = rng.dirichlet(np.ones(3), 20), float(rng.uniform(0.05, 0.6))
    decided = LossMatrix.zero_one(["a", "b", "c"], reject=cost).decide(shares)
    sure = shares.max(axis=1) >= 1 - cost
    assert ((decided == "reject") == ~sure).all()
    assert (decided[sure] == np.array(["a", "b", "c"])[shares[sure].argmax(axis=1)]).all()


def test_costs_move_the_decisions_of_any_classifier_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    classes = np.where(rows[:, 0] + rng.normal(size=200) > 0, "ill", "well")
    fitted = LogisticRegression().fit(rows, classes)
    assert (decide(fitted, rows, LossMatrix.zero_one(["well", "ill"])) == fitted.predict(rows)).all()
    loss = LossMatrix([[0, 10], [100, 20]], ["well", "ill"], ["wait", "treat"])
    treated = decide(fitted, rows, loss) == "treat"
    np.testing.assert_array_equal(treated, fitted.predict_proba(rows)[:, 0] > 10 / 90)


def risk_on_nodes(family, power, y):
    """The risk by Gauss-Legendre nodes on pieces that end at y."""
    low, high = float(family.quantile(1e-13)), float(family.quantile(1 - 1e-13))
    ends = sorted({*np.linspace(low, high, 9).tolist(), min(max(y, low), high), float(family.quantile(0.5))})
    nodes, weights = np.polynomial.legendre.leggauss(64)
    total = 0.0
    for start, end in pairwise(ends):
        t = (start + end) / 2 + (end - start) / 2 * nodes
        total += (end - start) / 2 * float(weights @ (np.abs(t - y) ** power * np.exp(family.log_prob(t))))
    return total


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
@pytest.mark.parametrize("power", [1, 2, 1.5])
def test_the_optimal_number_has_the_least_risk_on_a_grid(family, power):
    """S4-021: closed forms and the search against brute force."""
    found = optimal_decision(family, power)
    assert found.risk == pytest.approx(risk_on_nodes(family, power, found.decision), rel=1e-6)
    around = found.decision + np.array([-0.5, -0.01, 0.01, 0.5])
    assert found.risk <= min(risk_on_nodes(family, power, y) for y in around) + 1e-9
    asked = optimal_decision(family, power, actions=around)
    assert asked.decision in around
    assert asked.risk == pytest.approx(risk_on_nodes(family, power, asked.decision), rel=1e-6)


def test_mean_median_and_mode_of_two_bells():
    """S4-022, problem 1.4: the mean 0 with risk 10, the median 0, the modes ±2.9999999 that solve y = 3 tanh 3y."""
    squared = optimal_decision(TWO_BELLS, 2)
    assert (squared.decision, squared.risk) == (pytest.approx(0, abs=1e-12), pytest.approx(10))
    assert optimal_decision(TWO_BELLS, 1).decision == pytest.approx(0, abs=1e-9)
    mode = brentq(lambda y: y - 3 * np.tanh(3 * y), 2, 4)
    assert mode == pytest.approx(2.999999908619724, abs=1e-12)
    found = optimal_decision(TWO_BELLS, 0)
    assert abs(found.decision) == pytest.approx(mode, abs=1e-6)
    assert found.risk is None


@given(seed=SEEDS)
def test_the_asymmetric_absolute_loss_gives_a_quantile(seed):
    rng = np.random.default_rng(seed)
    level, family = float(rng.uniform(0.1, 0.9)), FAMILIES[rng.integers(4)]
    found = optimal_decision(family, lambda t, y: np.where(t > y, level * (t - y), (1 - level) * (y - t)))
    assert found.decision == pytest.approx(float(family.quantile(level)), abs=1e-5)


@given(seed=SEEDS)
def test_draws_and_tables_are_decided_by_enumeration(seed):
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, 6, size=9).astype(float)
    table = jt.Factor([jt.Variable("t", 6)], np.bincount(draws.astype(int), minlength=6))
    for power in (0, 0.5, 1, 2):
        found = optimal_decision(draws, power)
        risks = [np.mean(np.abs(draws - y) ** power if power else draws != y) for y in np.arange(0, 5.01, 0.25)]
        assert found.risk <= min(risks) + 1e-9
        assert optimal_decision(table, power).risk == pytest.approx(found.risk, abs=1e-9)


def test_a_loss_matrix_decides_for_a_table_by_label():
    weather = jt.Factor([jt.Variable("sky", ["rain", "sun"])], [0.3, 0.7])
    loss = LossMatrix([[0, 4], [1, 0]], ["sun", "rain"], ["leave it", "take it"])
    assert optimal_decision(weather, loss) == jt.supervised.OptimalDecision("leave it", pytest.approx(0.3))


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: LossMatrix([[0, np.nan]]), jt.errors.InvalidModel, "not a finite number"),
        (lambda: LossMatrix([[0, 1]], ["a", "b"]), jt.errors.InvalidModel, "class, action"),
        (lambda: LossMatrix.zero_one(2).decide([[0.5, 0.6]]), jt.errors.InvalidData, "sum to 1; row 0"),
        (lambda: LossMatrix.zero_one(2).decide([[1.0]]), jt.errors.InvalidData, "a column for each of the classes"),
        (lambda: decide(object(), [1.0], [[0, 1], [1, 0]]), jt.errors.Unsupported, "no predict_proba"),
        (lambda: optimal_decision(jt.Gaussian(0.0, 1.0), -1), jt.errors.InvalidData, "a power q"),
        (lambda: optimal_decision([], 2), jt.errors.InvalidData, "at least one"),
        (
            lambda: optimal_decision(jt.Gaussian(0.0, 1.0), lambda t, y: 1.0),
            jt.errors.InvalidData,
            "a number for each t",
        ),
        (lambda: optimal_decision([1.0], 2, actions=[]), jt.errors.InvalidData, "at least one"),
        (lambda: optimal_decision([[0.5, 0.5]] * 2, LossMatrix.zero_one(2)), jt.errors.InvalidData, "one distribution"),
    ],
)
def test_what_cannot_be_decided_is_refused_in_a_sentence(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
