"""Losses, penalised risks, the exact 0-1 minimiser, threshold networks, and many classes by binary learners."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture import supervised
from juncture.supervised import (
    AllPairs,
    OneVersusRest,
    count_dichotomies,
    find_separation,
    linear_dichotomies,
    margin_loss,
    margin_loss_derivative,
    threshold_network,
)
from supervised.linear_classifiers.test_hyperplane import CORNERS, EXCLUSIVE, mixed, seeds, separable
from support.learned import (
    fit_least_squares,
    fit_maximum_margin,
    fit_perceptron,
    minimize_risk,
    minimize_zero_one,
    of_many,
)

SURROGATES = ["squared", "hinge", "logistic_bits"]
SMOOTH = ["squared", "logistic", "logistic_bits"]


@given(st.floats(-20, 20))
def test_losses_are_above_the_errors(margin):
    """S4-087: squared, hinge and logistic / ln 2 are at least the 0-1 loss; the perceptron's is not."""
    for loss in SURROGATES:
        assert margin_loss(margin, loss) >= margin_loss(margin, "zero_one") - 1e-15
    assert margin_loss(-0.1, "perceptron") < margin_loss(-0.1, "zero_one")
    assert margin_loss(0.0, "logistic_bits") == pytest.approx(1)


@given(st.floats(-5, 5), st.sampled_from([*SMOOTH, "hinge", "perceptron"]))
def test_derivatives_are_those_of_the_losses(margin, loss):
    """S2-223, S4-087: central differences, away from the kinks."""
    step = 1e-6
    if loss in ("hinge", "perceptron") and min(abs(margin), abs(margin - 1)) < 2 * step:
        return
    slope = (margin_loss(margin + step, loss) - margin_loss(margin - step, loss)) / (2 * step)
    assert margin_loss_derivative(margin, loss) == pytest.approx(slope, abs=1e-6)


@given(seeds, st.floats(0.01, 1))
def test_squared_risk_is_ridge(seed, strength):
    """S4-085, T-18: (1/N) Σ (1 - m)² + λ ½‖w‖² has the ridge solution of strength N λ / 2."""
    points, labels = mixed(seed)
    found = minimize_risk(points, labels, "squared", strength).model
    ridge = fit_least_squares(points, labels, len(points) * strength / 2, penalize_constant=False)
    assert np.append(found.bias, found.weights) == pytest.approx(np.append(ridge.bias, ridge.weights), abs=1e-7)


@given(seeds, st.floats(0.02, 1))
def test_logistic_risk_is_scikit_learns(seed, strength):
    """S4-085, S4-087: the weights of `LogisticRegression`."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    points, labels = mixed(seed)
    found = minimize_risk(points, labels, "logistic", strength).model
    other = linear_model.LogisticRegression(C=1 / (len(points) * strength), tol=1e-9, max_iter=10_000)
    other.fit(points, labels)
    assert found.weights == pytest.approx(other.coef_[0], abs=1e-5)
    assert found.bias == pytest.approx(other.intercept_[0], abs=1e-5)


@given(seeds, st.floats(0.02, 1), st.sampled_from(SMOOTH))
def test_the_conditions_of_the_lasso_hold(seed, strength, loss):
    """S4-085: the slope of the risk is -λ sign(w) where a weight is not 0, within ±λ where it is, 0 for the bias."""
    points, labels = mixed(seed, 12, 3)
    found = minimize_risk(points, labels, loss, jt.L1(strength)).model
    signs = np.where(labels, 1, -1)
    pull = signs * margin_loss_derivative(signs * found.activation(points), loss) / len(points)
    slopes, is_used = points.T @ pull, found.weights != 0
    assert pull.sum() == pytest.approx(0, abs=1e-7)
    assert slopes[is_used] == pytest.approx(-strength * np.sign(found.weights[is_used]), abs=1e-7)
    assert (np.abs(slopes) <= strength + 1e-7).all()


def test_soft_thresholds_on_an_orthonormal_design():
    """S4-085: with orthonormal columns, L1 shrinks each coefficient of least squares by λ N / 2 and cuts at 0."""
    points = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=float)  # columns of mean 0, ΣX² = 4
    labels = np.array([1, 1, 0, 1])
    plain = fit_least_squares(points, labels).weights
    found = minimize_risk(points, labels, "squared", jt.L1(0.4)).model
    assert found.weights == pytest.approx(np.sign(plain) * np.maximum(np.abs(plain) - 0.2, 0), abs=1e-8)


@given(seeds, st.floats(0.01, 1))
def test_hinge_risk_is_a_soft_margin(seed, strength):
    """S4-102: the least mean hinge + λ ½‖w‖² is λ times the primal of the machine with C = 1 / (N λ)."""
    points, labels = mixed(seed)
    found = minimize_risk(points, labels, "hinge", strength)
    machine = fit_maximum_margin(points, labels, cost=1 / (len(points) * strength))
    assert found.objective == pytest.approx(strength * machine.primal_objective)


@given(seeds, st.floats(0.01, 1), st.sampled_from([*SMOOTH, "hinge"]), st.sampled_from([jt.L1, jt.L2]))
def test_no_nearby_weights_are_better(seed, strength, loss, penalty):
    """S4-085: the objective is convex, so that a local minimum is the least; random directions do not lower it."""
    points, labels = mixed(seed)
    found = minimize_risk(points, labels, loss, penalty(strength))
    rng = np.random.default_rng(seed)
    signs = np.where(labels, 1, -1)
    for length in (1e-3, 0.1, 1.0):
        bias, *others = np.append(found.model.bias, found.model.weights) + length * rng.normal(size=3)
        weights = np.array(others)
        size = np.abs(weights).sum() if penalty is jt.L1 else 0.5 * weights @ weights
        objective = margin_loss(signs * (points @ weights + bias), loss).mean() + strength * size
        assert found.objective <= objective + 1e-9


@given(seeds, st.integers(1, 3), st.integers(1, 6))
def test_dichotomies_are_what_linear_programs_separate(seed, dimension, number):
    """S4-088: the enumeration is that of all labels which a linear program separates; Cover's number of them."""
    points = np.random.default_rng(seed).normal(size=(number, dimension))
    found = {tuple(row) for row in linear_dichotomies(points).tolist()}
    expected = {labels for labels in product([False, True], repeat=number) if find_separation(points, labels)}
    assert found == expected
    assert len(found) == count_dichotomies(number, dimension)


@given(seeds)
def test_dichotomies_of_points_in_special_position(seed):
    """S4-088: grids, where many points are on one line and some are equal, have the same dichotomies both ways."""
    points = np.random.default_rng(seed).integers(0, 3, size=(5, 2)).astype(float)
    found = {tuple(row) for row in linear_dichotomies(points).tolist()}
    assert found == {labels for labels in product([False, True], repeat=5) if find_separation(points, labels)}


@given(seeds, st.sampled_from(["squared", "logistic", "hinge"]))
def test_no_surrogate_has_fewer_errors(seed, loss):
    """S4-088: the least number of errors is the standard for convex losses, the perceptron and the mean of classes."""
    points, labels = mixed(seed, 10)
    best = (minimize_zero_one(points, labels).predict(points) != labels).sum()
    assert best <= (minimize_risk(points, labels, loss).model.predict(points) != labels).sum()
    assert best == (linear_dichotomies(points) != labels).sum(axis=1).min()
    easy, sides = separable(seed, 8)
    assert (minimize_zero_one(easy, sides).predict(easy) == sides).all()


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.booleans(), min_size=2**n, max_size=2**n)))
def test_two_layers_have_any_truth_table(table):
    """S2-221: the disjunctive or conjunctive normal form, with at most half as many units as rows."""
    inputs = list(product([0, 1], repeat=len(table).bit_length() - 1))
    network = threshold_network(table)
    assert network.predict(inputs).tolist() == table
    assert network.num_hidden <= len(table) / 2


def test_exclusive_or_by_two_units():
    """S2-221: h₁ = [a - b - ½ > 0], h₂ = [b - a - ½ > 0], and the disjunction of both."""
    network = threshold_network(EXCLUSIVE)
    assert sorted(network.hidden_weights.tolist()) == [[-1, 1], [1, -1]]
    assert network.hidden_biases.tolist() == [-0.5, -0.5]
    assert network.predict(CORNERS).tolist() == EXCLUSIVE


def three_classes(seed, number=18):
    rng = np.random.default_rng(seed)
    codes = np.arange(number) % 3
    return rng.normal(size=(number, 2)) + np.array([[0, 0], [3, 0], [0, 3]])[codes], np.array(["a", "b", "c"])[codes]


@given(seeds)
def test_scikit_learns_reductions_are_the_same(seed):
    """S2-230, S2-231, S4-114: one against the rest and all pairs, of a ridge classifier."""
    multiclass = pytest.importorskip("sklearn.multiclass")
    from sklearn.linear_model import RidgeClassifier

    points, labels = three_classes(seed)
    base = RidgeClassifier(alpha=1.0, solver="svd")

    def learner(points, labels):
        return fit_least_squares(points, labels, 1.0, penalize_constant=False)

    rest, pairs = (of_many(kind, learner, points, labels) for kind in (OneVersusRest, AllPairs))
    other = multiclass.OneVsRestClassifier(base).fit(points, labels)
    assert rest.activations(points) == pytest.approx(other.decision_function(points), abs=1e-9)
    assert (rest.predict(points) == other.predict(points)).all()
    assert len(pairs.discriminants) == 3
    assert (pairs.wins(points).sum(axis=1) == 3).all()
    others = multiclass.OneVsOneClassifier(base).fit(points, labels)
    is_clear = pairs.wins(points).max(axis=1) == 2
    assert (pairs.predict(points) == others.predict(points))[is_clear].all()


def test_two_classes_are_the_binary_learner():
    """S2-230, S4-114: with two classes both reductions are the learner itself."""
    points, labels = separable(3)
    plain = fit_perceptron(points, labels).model.predict(points)
    for kind in (OneVersusRest, AllPairs):
        assert (of_many(kind, fit_perceptron, points, labels).predict(points) == plain).all()
        by_name = of_many(kind, supervised.Hyperplane, points, labels, method="perceptron")
        assert by_name == of_many(kind, fit_perceptron, points, labels)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimize_risk([1.0, 2.0], [0, 1], "perceptron"), 'method="perceptron"'),
        (lambda: minimize_risk([1.0, 2.0], [0, 0]), "points of both"),
        (lambda: threshold_network([0, 1, 1]), "2, 4, 8"),
        (lambda: of_many(AllPairs, fit_perceptron, [1.0, 2.0], ["a", "a"]), "at least 2 classes"),
        (lambda: of_many(AllPairs, lambda points, labels: None, [1.0, 2.0], ["a", "b"]), "method activation"),
        (lambda: supervised.ThresholdNetwork([[1.0]], [0.0, 1.0], [1.0], 0.0), "one entry a hidden unit"),
        (lambda: linear_dichotomies(np.zeros((0, 2))), "at least one"),
    ],
)
def test_wrong_input_gets_a_sentence(call, message):
    with pytest.raises(jt.JunctureError, match=message):
        call()


def test_too_many_hyperplanes_are_refused():
    with pytest.raises(jt.TooLarge, match="give fewer points"):
        linear_dichotomies(np.random.default_rng(0).normal(size=(60, 5)))
