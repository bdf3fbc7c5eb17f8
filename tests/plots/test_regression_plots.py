"""Pictures of regressions and of descent: lines and bands are those of the predictions."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.errors import InvalidData, Unsupported
from juncture.supervised import (
    BayesianLinearRegression,
    ConjugateLinearRegression,
    ConstantStep,
    GeneralizedLinearModel,
    LaplaceLogistic,
    LinearRegression,
    LogisticRegression,
    PolynomialBasis,
    descend,
    ridge_path,
)

figure = pytest.importorskip("matplotlib.figure")
X = np.linspace(0.0, 1.0, 12)
T = np.sin(2 * np.pi * X) + 0.1 * np.cos(31 * X)
CUBIC = PolynomialBasis(3)
MODELS = {
    "plug-in": (lambda: jt.fit(LinearRegression, X, T, basis=CUBIC), lambda fit: fit.model),
    "posterior": (lambda: BayesianLinearRegression.standard(4, 0.1, 9.0, CUBIC).update(X, T), lambda model: model),
    "student": (lambda: ConjugateLinearRegression.standard(4, basis=CUBIC).update(X, T), lambda model: model),
    "evidence": (lambda: jt.fit(BayesianLinearRegression, X, T, basis=CUBIC), lambda fit: fit.model),
    "poisson": (lambda: jt.fit(GeneralizedLinearModel, X, np.arange(12), family=jt.Poisson), lambda fit: fit.model),
}


def test_probabilities_of_classes_along_an_input():
    """The lines are the probabilities; the rows of each class are marked on the height 1."""
    labels = np.where(X > 0.4, "high", "low")
    fit = jt.fit(LogisticRegression, {"size": X}, labels, penalty=jt.L2(0.1))
    laplace = jt.fit(LaplaceLogistic, {"size": X}, labels, penalty=jt.L2(0.1)).model
    for value, model in ((fit, fit.model), (fit.model, fit.model), (laplace, laplace)):
        drawn = value.plot(X={"size": X}, y=labels, ax=axes())
        assert drawn.get_xlabel() == "size"
        lines = [line for line in drawn.lines if len(line.get_xdata()) == 200]
        at = lines[0].get_xdata()
        np.testing.assert_array_equal(np.stack([line.get_ydata() for line in lines], axis=1), model.predict_proba(at))
        marks = [line.get_xdata() for line in drawn.lines if len(line.get_xdata()) < 200]
        assert [len(found) for found in marks] == [(labels == label).sum() for label in model.classes]


def axes():
    return figure.Figure().subplots()


@pytest.mark.parametrize("name", MODELS)
def test_the_line_is_the_mean_and_the_band_holds_its_share(name):
    make, model_of = MODELS[name]
    value = make()
    found = jt.plot(value, X=X, y=T, confidence=0.5, ax=axes())
    at, mean = found.lines[0].get_data()
    predicted = model_of(value).predict(at)
    assert mean == pytest.approx(np.asarray(predicted.mean))
    assert (at[0], at[-1]) == pytest.approx((-0.1, 1.1))
    band = found.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(float(np.min(predicted.quantile(0.25))))
    assert band.max() == pytest.approx(float(np.max(predicted.quantile(0.75))))
    assert found.lines[1].get_ydata() == pytest.approx(T)


def test_a_regression_without_noise_has_no_band():
    found = jt.plot(LinearRegression([1.0, 2.0], 0.0), between=(0, 1), ax=axes())
    assert not found.collections
    assert found.lines[0].get_ydata()[-1] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, InvalidData, "give X="),
        ({"between": (1, 0)}, InvalidData, "the lower one first"),
        ({"between": (0, 1), "confidence": 1.0}, InvalidData, "confidence must be"),
        ({"X": np.ones((3, 2))}, Unsupported, "along one input"),
    ],
)
def test_wrong_options_are_refused(options, error, text):
    with pytest.raises(error, match=text):
        jt.plot(LinearRegression([1.0, 2.0], 0.3), **options, ax=axes())


def test_the_ridge_path_marks_the_least_error_left_out():
    path = ridge_path(X, T, np.exp(np.linspace(-12, 0, 7)), CUBIC)
    found = jt.plot(path, ax=axes())
    assert np.column_stack([line.get_ydata() for line in found.lines[:4]]) == pytest.approx(path.coefficients)
    assert found.lines[4].get_xdata()[0] == path.strengths[path.leave_one_out.argmin()]


def test_descent_is_drawn_by_values_and_by_its_way():
    """S0-043: constant steps on a quadratic function."""

    def function(point):
        return point[0] ** 2 + 8 * point[1] ** 2

    course = descend(function, lambda w: np.array([2, 16]) * w, [3.0, 1.5], step=ConstantStep(0.11))
    assert jt.plot(course, ax=axes()).lines[0].get_ydata() == pytest.approx(course.values)
    way = jt.plot(course, function=function, path=True, ax=axes())
    assert np.column_stack(way.lines[0].get_data()) == pytest.approx(course.points)
    assert way.collections
    line = descend(lambda w: w @ w, lambda w: 2 * w, [3.0], step=ConstantStep(0.25))
    with pytest.raises(Unsupported, match="plane of 2 parameters"):
        jt.plot(line, path=True, ax=axes())
