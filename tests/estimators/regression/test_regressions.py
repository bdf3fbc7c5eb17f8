"""`LogisticRegression` and `GeneralizedLinearModel` mean what scikit-learn's users mean by the same words."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn import linear_model
from sklearn.datasets import load_iris

import juncture as jt
from juncture.estimators import GeneralizedLinearModel, LogisticRegression
from juncture.estimators.linear import weigh_classes
from juncture.learning.conditionals.softmax import standardization

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(150, 3))
SCORES = ROWS @ [[1.0, -1.0, 0.2], [0.0, 0.5, -0.5], [0.3, 0.0, 0.0]] + RNG.gumbel(size=(150, 3))
LABELS = {2: np.array(["a", "b"])[SCORES[:, :2].argmax(axis=1)], 3: np.array(["a", "b", "c"])[SCORES.argmax(axis=1)]}
PRECISE = {"tol": 1e-12, "max_iter": 100_000}


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("penalty", [None, 1.0, jt.L1(1.0)])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 2.0, "b": 0.5}])
def test_the_words_mean_the_same_as_in_scikit_learn(number, penalty, class_weight):
    """Coefficients, intercepts and decisions: K rows that sum to 0, of two classes one row.

    The penalty is that of standardised columns: scikit-learn gets these.
    """
    options = {None: {"C": np.inf}, 1.0: {"C": 1.0}, jt.L1(1.0): {"l1_ratio": 1.0, "solver": "saga", "C": 1.0}}[penalty]
    weights = RNG.uniform(0.5, 2.0, len(ROWS))
    ours = LogisticRegression(penalty, class_weight=class_weight).fit(ROWS, LABELS[number], weights)
    theirs = linear_model.LogisticRegression(**options, **PRECISE, class_weight=class_weight)
    heavy = weigh_classes(class_weight, LABELS[number], weights)
    center, units = standardization(ROWS, heavy)
    theirs.fit((ROWS - center) / units, LABELS[number], sample_weight=weights)
    theirs.coef_ = theirs.coef_ / units
    theirs.intercept_ = theirs.intercept_ - theirs.coef_ @ center
    assert ours.coef_.shape == theirs.coef_.shape == (1 if number == 2 else 3, 3)
    np.testing.assert_allclose(ours.predict_proba(ROWS), theirs.predict_proba(ROWS), atol=1e-5)
    np.testing.assert_allclose(ours.predict_log_proba(ROWS), np.log(ours.predict_proba(ROWS)), rtol=1e-12)
    scores = ROWS @ ours.coef_.T + ours.intercept_
    np.testing.assert_allclose(ours.decision_function(ROWS), scores[:, 0] if number == 2 else scores, atol=1e-12)
    if number > 2:
        np.testing.assert_allclose(ours.coef_.sum(axis=0), 0.0, atol=1e-14)
    if penalty != jt.L1(1.0):  # of which the coefficients of more than two classes are not unique
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(
            ours.intercept_ - ours.intercept_.mean() * (number > 2),
            theirs.intercept_ - theirs.intercept_.mean() * (number > 2),
            atol=1e-5,
        )


def test_no_penalty_refuses_classes_that_are_separable():
    rows, labels = load_iris(return_X_y=True)
    with pytest.raises(jt.errors.InvalidData, match="a hyperplane separates the classes exactly"):
        LogisticRegression(penalty=None).fit(rows, labels)
    assert LogisticRegression().fit(rows, labels).score(rows, labels) > 0.95


def test_limits_of_the_search():
    with pytest.warns(jt.errors.NotConvergedWarning, match="max_steps=2"):
        short = LogisticRegression(max_iter=2).fit(ROWS, LABELS[3])
    assert short.n_iter_ == 2
    loose = LogisticRegression(tol=0.5).fit(ROWS, LABELS[3])
    assert loose.n_iter_ < LogisticRegression().fit(ROWS, LABELS[3]).n_iter_
    counts = RNG.poisson(np.exp(ROWS[:, 0]))
    with pytest.warns(jt.errors.NotConvergedWarning, match="max_steps=1"):
        GeneralizedLinearModel(jt.Poisson, max_iter=1).fit(ROWS, counts)


def test_decisions_of_a_posterior_are_those_of_its_probabilities():
    for number in (2, 3):
        fitted = LogisticRegression(posterior=True).fit(ROWS, LABELS[number])
        scores, p = fitted.decision_function(ROWS), fitted.predict_proba(ROWS)
        wanted = np.log(p[:, 1] / p[:, 0]) if number == 2 else np.log(p) - np.log(p).mean(axis=1, keepdims=True)
        np.testing.assert_allclose(scores, wanted, atol=1e-12)


@pytest.mark.parametrize("family", [jt.Poisson, jt.Gamma, jt.Gaussian])
def test_the_score_is_the_share_of_deviance_explained(family):
    means = np.exp(0.5 * ROWS[:, 0])
    targets = {jt.Poisson: RNG.poisson(means), jt.Gamma: RNG.gamma(2.0, means), jt.Gaussian: means}[family]
    weights = RNG.uniform(0.5, 2.0, len(ROWS))
    ours = GeneralizedLinearModel(family, link="identity" if family is jt.Gaussian else "log").fit(
        ROWS, targets, weights
    )
    kinds = {jt.Poisson: linear_model.PoissonRegressor, jt.Gamma: linear_model.GammaRegressor}
    theirs = kinds[family](alpha=0.0, **PRECISE) if family in kinds else linear_model.LinearRegression()
    theirs.fit(ROWS, targets, sample_weight=weights)
    new = slice(0, 50)
    assert ours.score(ROWS[new], targets[new], weights[new]) == pytest.approx(
        theirs.score(ROWS[new], targets[new], weights[new]), abs=1e-6
    )


def test_a_score_with_an_exposure_is_against_the_best_constant_rate():
    exposure = RNG.uniform(1.0, 9.0, len(ROWS))
    counts = RNG.poisson(exposure * np.exp(0.5 * ROWS[:, 0]))
    fitted = GeneralizedLinearModel(jt.Poisson).fit(ROWS, counts, exposure=exposure)
    wanted = 1 - fitted.fit_.deviance / fitted.fit_.null_deviance
    assert fitted.score(ROWS, counts, exposure=exposure) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"penalty": "none"}, "a penalty is jt.L1"),
        ({"penalty": -1.0}, "the strength of L2 must be"),
        ({"class_weight": "even"}, "class_weight, as a word, must be"),
        ({"class_weight": {"z": 1.0}}, "class_weight has the class 'z'"),
        ({"class_weight": {"a": -1.0}}, "a weight of class_weight"),
        ({"tol": -1.0}, "tolerance"),
        ({"max_iter": 0}, "max_steps"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(options, words):
    with pytest.raises(jt.errors.InvalidData, match=words):
        LogisticRegression(**options).fit(ROWS, LABELS[2])
