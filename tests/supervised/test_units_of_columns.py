"""Units and offsets of columns change nothing but units: a law over all regressions and classifiers.

Every learner sees a table, and the same table with each column in another unit and far from 0; the first is what the
second has left after its rounding, so that both hold the same numbers. Predictions are equal within the rounding of
scores: the offset in standard deviations times the rounding of doubles.
"""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture import supervised
from juncture.base.dispatch import what_it_does
from juncture.base.kinds import KINDS
from juncture.supervised import LinearBasis, PolynomialBasis
from support.learned import (
    fit_classifier,
    fit_least_squares,
    fit_maximum_margin,
    learn_forest,
    learn_tree,
    minimize_risk,
    minimize_zero_one,
    of_many,
)

ROWS = 60
EPS = np.finfo(float).eps
RNG = np.random.default_rng(7)
TABLE = RNG.normal(size=(ROWS, 3))
SCORE = TABLE @ [1.0, -0.5, 0.3]
REAL = SCORE + RNG.normal(size=ROWS)
BINARY = (SCORE + RNG.logistic(size=ROWS) > 0).astype(int)
THREE = np.digitize(SCORE + RNG.logistic(size=ROWS), [-1.0, 1.0])
COUNTS = RNG.poisson(np.exp(0.5 * SCORE))
POSITIVE = RNG.gamma(2.0, np.exp(0.3 * SCORE))
RATES = RNG.gamma(2.0, 1 / (8.0 + SCORE))
PLAIN = LinearBasis(intercept=False)


def glm(family, targets, link=None, **options):
    def learn(x, unit):
        fit = jt.fit(supervised.GeneralizedLinearModel, x, targets, family=family, link=link, **options)
        given = {"trials": options["trials"]} if "trials" in options else {}
        errors = fit.standard_errors[1:] * np.abs(fit.model.coefficients[1:]) / fit.model.coefficients[1:] ** 2
        return np.concatenate([fit.model.predict(x, **given).mean, errors, [fit.deviance, fit.log_likelihood]])

    return learn


def linear(x, unit):
    fit = jt.fit(supervised.LinearRegression, x, REAL)
    errors = fit.standard_errors[1:] / np.abs(fit.model.coefficients[1:])
    return np.concatenate([fit.model.mean(x), errors, [fit.log_likelihood, fit.condition_number]])


def logistic(targets):
    def learn(x, unit):
        fit = jt.fit(supervised.LogisticRegression, x, targets)
        errors = fit.standard_errors[:, 1:] / np.abs(fit.model.coefficients[:, 1:])
        return np.concatenate([fit.model.predict_proba(x).ravel(), errors.ravel(), [fit.log_likelihood]])

    return learn


def penalized(kind, targets, penalty, strength):
    return lambda x, unit: jt.fit(kind, x, targets, penalty=penalty(strength(unit))).model.predict_proba(x).ravel()


def bayes_of_units(kind, **noise):
    """A prior of the weights in the units of the columns, all of them the same unit, and a weak one of the constant."""

    def learn(x, unit):
        prior = kind(np.zeros(4), np.diag([1e-9, *[unit**2] * 3]), **noise)
        return prior.update(x - x.mean(axis=0), REAL).predict(x - x.mean(axis=0)).mean

    return learn


def evidence(x, unit):
    """One precision for the weights of all columns in standard deviations; of the constant it depends on the offset."""
    return jt.fit(supervised.BayesianLinearRegression, x - x.mean(axis=0), REAL).model.predict(x - x.mean(axis=0)).mean


def bases(x, unit):
    centered = (x - x.mean(axis=0), REAL - REAL.mean())
    return supervised.compare_bases(*centered, [PLAIN]).best.predict(centered[0]).mean


def ridge(strength):
    def learn(x, unit):
        path = supervised.ridge_path(x, REAL, [strength * unit**2], penalize_constant=False)
        return np.concatenate([path.models[0].mean(x), path.leave_one_out, path.degrees_of_freedom])

    return learn


def generative(families):
    def learn(x, unit):
        return fit_classifier(families, x, THREE).model.predict_proba(x).ravel()

    return learn


def activation(learner, **options):
    return lambda x, unit: learner(x, BINARY, **{key: value(unit) for key, value in options.items()}).activation(x)


def risk_minimizer(x, y, **options):
    return minimize_risk(x, y, **options).model


def of_classes(kind):
    return lambda x, unit: of_many(kind, supervised.Hyperplane, x, THREE).activations(x).ravel()


# what each learner learns from and predicts: a column may have any unit and any offset
ANY = {
    "LinearRegression": [linear],
    "ridge_path": [ridge(0.0)],
    "BayesianLinearRegression": [evidence],
    "GeneralizedLinearModel": [
        glm(jt.Gaussian, REAL), glm(jt.Gaussian, np.exp(0.3 * REAL), "log"), glm(jt.Bernoulli, BINARY),
        glm(jt.Bernoulli, BINARY, "probit"), glm(jt.Bernoulli, BINARY, "complementary log-log"),
        glm(jt.Binomial, THREE, trials=2), glm(jt.Poisson, COUNTS), glm(jt.Poisson, COUNTS + 30, "square root"),
        glm(jt.Geometric, COUNTS), glm(jt.NegativeBinomial, COUNTS, successes=2.5),
        glm(jt.Exponential, POSITIVE, "log"), glm(jt.Exponential, RATES), glm(jt.Gamma, POSITIVE, "log"),
        glm(jt.Gamma, RATES), glm(jt.Gamma, RATES, "inverse squared"),
    ],
    "LogisticRegression": [logistic(BINARY), logistic(THREE)],
    "GenerativeClassifier": [generative(families) for families in ("gaussian", "lda", "qda")],
    "Hyperplane": [activation(fit_least_squares)],
    "OneVersusRest": [of_classes(supervised.OneVersusRest)],
    "AllPairs": [of_classes(supervised.AllPairs)],
    "OrderedClassifier": [of_classes(supervised.OrderedClassifier)],
    "DecisionTree": [lambda x, unit: learn_tree(x, REAL).predict(x)],
    "RandomForest": [lambda x, unit: learn_forest(x, THREE, num_trees=5).predict_proba(x).ravel()],
}  # fmt: skip
# those with a penalty, a margin or a prior, which has the unit of the columns: they have one unit, and any offset
COMMON = {
    "compare_bases": [bases],
    "ridge_path": [ridge(2.0)],
    "LogisticRegression": [
        penalized(supervised.LogisticRegression, THREE, jt.L2, lambda unit: 0.5 * unit**2)
    ],
    "LaplaceLogistic": [
        penalized(supervised.LaplaceLogistic, BINARY, jt.L2, lambda unit: 0.5 * unit**2)
    ],
    "BayesianLinearRegression": [
        bayes_of_units(supervised.BayesianLinearRegression, noise_precision=1.5)
    ],
    "ConjugateLinearRegression": [bayes_of_units(supervised.ConjugateLinearRegression, shape=2.0, scale=1.0)],
}  # fmt: skip
# found by searches that end at tolerances of their own; margins are inner products, in which an offset costs its square
SEARCHES = {
    "LogisticRegression": [
        lambda x, unit: (
            jt.fit(supervised.LogisticRegression, x, BINARY, penalty=jt.L1(2.0 * unit)).model.predict_proba(x).ravel()
        )
    ],
    "MaximumMargin": [activation(fit_maximum_margin, cost=lambda unit: 0.5 / unit**2)],
    "Hyperplane by risk": [activation(risk_minimizer, penalty=lambda unit: 1e-2 * unit**2)],
}
EXCEPTIONS = {
    "Hyperplane by perceptron": "the rule starts at 0 and adds points with a 1 for the bias, so that both matter",
    "jt.StochasticGradient": "a step of the gradient has the unit of the columns",
    "descend_stochastic": "it minimises any function, of any parameters",
    "Hyperplane by zero-one": "it counts errors of all dichotomies: the number of errors is the answer, tested below",
}


def another_table(unit, offset):
    """The table in other units and far from 0, and what its rounding leaves of it in the units it had."""
    far = (TABLE + offset) * unit
    near = far / unit - offset
    return near, far


def compare(learn, unit, offset, tolerance):
    near, far = another_table(unit, offset)
    own = float(np.asarray(unit).ravel()[0])
    np.testing.assert_allclose(learn(far, own), learn(near, 1.0), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e7])
def test_any_unit_and_any_offset(name, offset):
    """Powers of ten over 24 orders, and means of up to 10⁷ standard deviations, such as those of timestamps."""
    unit, sign = np.array([1e-12, 1.0, 1e12]), np.array([1.0, -1.0, 1.0])
    for learn in ANY[name]:
        compare(learn, unit, offset * sign, 1e3 * EPS * max(1.0, offset) + 1e-11)


@pytest.mark.parametrize("name", COMMON)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6])
def test_one_unit_with_a_penalty_of_that_unit(name, offset):
    for learn in COMMON[name]:
        compare(learn, 8.0, offset, 1e3 * EPS * max(1.0, offset) + 1e-11)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("offset", [0.0, 1e2])
def test_searches_in_one_unit(name, offset):
    for learn in SEARCHES[name]:
        compare(learn, 2.0, offset, 1e-5)


def test_the_least_number_of_errors_has_no_unit():
    near, far = another_table(np.array([1e-3, 1.0, 1e3]), 100.0)
    found = [minimize_zero_one(x[:12], BINARY[:12]).predict(x[:12]) for x in (near, far)]
    assert (found[0] != BINARY[:12]).sum() == (found[1] != BINARY[:12]).sum()


def takes_class(name):
    """Whether `jt.fit` takes the class of a supervised kind."""
    kind = getattr(supervised, name, None)
    return kind is not None and getattr(what_it_does(jt.fit, kind), "takes_class", False)


def test_no_learner_is_left_out():
    """Every public function and kind that learns from a table of numbers is above, or has a reason why not."""
    learners = {name for name in supervised.__all__ if name.startswith(("fit_", "learn_", "minimize_", "descend_"))}
    learners |= {"ridge_path", "compare_bases", *filter(takes_class, KINDS)}
    learners |= {f"Hyperplane by {method}" for method in ("risk", "perceptron", "zero-one")}
    assert set(jt.methods(supervised.Hyperplane).names["fit"]) == {
        "auto",
        "least-squares",
        "risk",
        "perceptron",
        "zero-one",
    }
    assert learners <= {*ANY, *COMMON, *SEARCHES, *EXCEPTIONS}


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_units_and_offsets_of_the_target(scale, shift):
    """Of a linear regression and a Gaussian model, coefficients and errors follow the target."""
    plain = jt.fit(supervised.LinearRegression, TABLE, REAL)
    far = (REAL + shift) * scale
    near = far / scale - shift
    for fit in (
        jt.fit(supervised.LinearRegression, TABLE, far),
        jt.fit(supervised.GeneralizedLinearModel, TABLE, far, family=jt.Gaussian),
    ):
        exact = jt.fit(supervised.LinearRegression, TABLE, near)
        tolerance = 1e3 * EPS * max(1.0, shift)
        np.testing.assert_allclose(fit.model.coefficients[1:] / scale, exact.model.coefficients[1:], rtol=tolerance)
        np.testing.assert_allclose(fit.standard_errors / scale, exact.standard_errors, rtol=tolerance)
    np.testing.assert_allclose(exact.model.coefficients, plain.model.coefficients, rtol=1e-8, atol=1e-8)


def test_dependent_columns_have_no_unit_either():
    """Of dependent columns the coefficients are the shortest in standard deviations, whatever the units."""
    both = np.column_stack([TABLE, TABLE[:, 0] + TABLE[:, 1], np.full(ROWS, 0.1)])
    unit = np.array([1e-6, 1.0, 1e6, 1e3, 10.0])
    for fit in (
        lambda x: jt.fit(supervised.LinearRegression, x, REAL).model.coefficients[1:],
        lambda x: jt.fit(supervised.GeneralizedLinearModel, x, COUNTS, family=jt.Poisson).model.coefficients[1:],
        lambda x: jt.fit(supervised.LogisticRegression, x, BINARY).model.coefficients[0, 1:],
    ):
        np.testing.assert_allclose(fit(both * unit) * unit, fit(both), rtol=1e-8, atol=1e-12)
        assert fit(both)[-1] == 0.0


def test_a_polynomial_of_logistic_regression_keeps_its_digits():
    """A degree of 9 in features far from 0: against the same polynomial in centered powers, which is the same model."""
    x = np.linspace(9.0, 11.0, 200)
    labels = (np.sin(4 * x) + RNG.logistic(size=200) > 0).astype(int)
    far = jt.fit(supervised.LogisticRegression, x, labels, basis=PolynomialBasis(6))
    near = jt.fit(supervised.LogisticRegression, x - 10.0, labels, basis=PolynomialBasis(6))
    assert far.log_likelihood == pytest.approx(near.log_likelihood, rel=1e-9)
    np.testing.assert_allclose(far.standard_errors[0, -1], near.standard_errors[0, -1], rtol=1e-3)


def test_every_estimator_with_its_defaults():
    """The law over scikit-learn's classes: any unit and offset, without a penalty in units."""
    base = pytest.importorskip("sklearn.base")
    from juncture import estimators

    supervised_ones = []
    for name in estimators.__all__:
        learner = getattr(estimators, name)()
        if base.is_classifier(learner) or base.is_regressor(learner):
            supervised_ones.append(name)
    own_rule = {"Perceptron": "its rule starts at 0, with a 1 for the bias"}
    assert own_rule.keys() <= set(supervised_ones)
    for name in sorted(set(supervised_ones) - own_rule.keys()):
        kind = getattr(estimators, name)
        options = {"penalty": None} if name == "LogisticRegression" else {}
        targets = THREE if base.is_classifier(kind()) else REAL
        for offset in (0.0, 1e6):
            near, far = another_table(np.array([1e-9, 1.0, 1e9]), offset)
            ask = "predict_proba" if base.is_classifier(kind()) else "predict"
            found = [getattr(kind(**options).fit(x, targets), ask)(x) for x in (near, far)]
            tolerance = 1e3 * EPS * max(1.0, offset) + 1e-11
            np.testing.assert_allclose(found[1], found[0], rtol=tolerance, atol=tolerance, err_msg=name)
