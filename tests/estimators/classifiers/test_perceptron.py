"""The perceptron as an estimator."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import juncture as jt
from juncture.estimators import Perceptron
from juncture.supervised import OneVersusRest, perceptron_bound
from supervised.linear_classifiers.test_hyperplane import separable
from support.learned import fit_perceptron, of_many


@pytest.mark.parametrize("method", ["stochastic", "batch"])
def test_two_classes_are_the_function(method):
    """S2-226: the same weights and updates as of the kind for columns without a unit, within the bound."""
    given, labels = separable(1)
    units = np.abs(given).max(axis=0)
    points = given / units
    found = Perceptron(method=method).fit(given, labels)
    plain = fit_perceptron(points, labels, batch=method == "batch")
    assert found.coef_[0] * units == pytest.approx(plain.model.weights)
    assert found.num_updates_.tolist() == [plain.num_updates]
    assert found.converged_.all()
    assert method == "batch" or found.num_updates_[0] <= perceptron_bound(points, labels)
    assert (found.predict(given) == labels).all()


def test_many_classes_are_one_against_the_rest():
    """S2-230: a hyperplane a class; labels are texts, the rows a frame."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    codes = np.arange(30) % 3
    points = rng.normal(size=(30, 2)) * 0.3 + np.array([[0, 0], [5, 0], [0, 5]])[codes]
    labels = np.array(["low", "right", "up"])[codes]
    frame = pandas.DataFrame(points, columns=["x", "y"])
    found = Perceptron().fit(frame, labels)
    alike = points / np.abs(points).max(axis=0)
    other = of_many(OneVersusRest, fit_perceptron, alike, labels)
    assert found.decision_function(frame) == pytest.approx(other.activations(alike))
    assert (found.predict(frame) == labels).all()
    assert found.feature_names_in_.tolist() == ["x", "y"]


def test_it_works_in_pipelines_and_grid_search():
    points, labels = separable(2, 30)
    search = GridSearchCV(make_pipeline(StandardScaler(), Perceptron()), {"perceptron__margin": [0.0, 0.5]}, cv=3)
    assert search.fit(points, labels).best_score_ > 0.8


def test_weights_are_repeated_rows_in_batch():
    points, labels = separable(5)
    counts = np.arange(12) % 4
    weighted = Perceptron(method="batch").fit(points, labels, sample_weight=counts)
    repeated = Perceptron(method="batch").fit(np.repeat(points, counts, axis=0), np.repeat(labels, counts))
    assert weighted.coef_ == pytest.approx(repeated.coef_)


def test_holes_and_limits_are_said():
    with pytest.raises(ValueError, match="NaN"):
        Perceptron().fit([[np.nan], [1.0]], [0, 1])
    with pytest.warns(jt.errors.NotConvergedWarning, match="last of 5 passes"):
        Perceptron(max_iter=5).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
