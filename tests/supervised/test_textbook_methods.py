"""What the texts define and other libraries do, held to the definitions; ordered classes, and problem 3.1."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.drawing.rasters import Rasters
from juncture.supervised import (
    ConstantStep,
    GaussianBasis,
    Hyperplane,
    OneVersusRest,
    OrderedClassifier,
    descend,
    margin_loss,
)
from supervised.linear_classifiers.test_hyperplane import CORNERS, EXCLUSIVE, mixed, seeds
from support.learned import fit_least_squares, fit_maximum_margin, fit_perceptron, of_many

pytest.importorskip("sklearn")


@given(seeds, st.integers(1, 12))
def test_nearest_neighbours_are_a_kernel_rule(seed, number):
    """S2-026 to S2-030, S4-096: a(x) = Σ t_n / k over the k nearest; k = 1 has no errors, k = N is the mean."""
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    points, labels = mixed(seed)
    signs, others = np.where(labels, 1.0, -1.0), np.random.default_rng(seed + 1).normal(size=(7, 2))
    distances = np.linalg.norm(others[:, None] - points, axis=2)
    nearest = np.argsort(distances, axis=1)[:, :number]
    activation = signs[nearest].mean(axis=1)
    assert KNeighborsRegressor(number).fit(points, signs).predict(others) == pytest.approx(activation)
    voted = KNeighborsClassifier(number).fit(points, labels).predict(others)
    assert (voted == (activation > 0))[activation != 0].all()
    assert KNeighborsClassifier(1).fit(points, labels).score(points, labels) == 1
    assert KNeighborsRegressor(12).fit(points, signs).predict(others) == pytest.approx(np.full(7, signs.mean()))


def test_the_nearest_neighbour_moves_away_with_the_dimension():
    """S4-097: its mean distance is Γ(1 + 1/D) (V N)^(-1/D), on a torus, with V the volume of the unit ball."""
    from scipy.spatial import cKDTree
    from scipy.special import gamma

    rng = np.random.default_rng(0)
    for dimension, number in product((1, 2, 4), (500, 4000)):
        points = rng.random((number, dimension))
        distances = cKDTree(points, boxsize=1).query(points, 2)[0][:, 1]
        volume = np.pi ** (dimension / 2) / gamma(dimension / 2 + 1)
        expected = gamma(1 + 1 / dimension) * (volume * number) ** (-1 / dimension)
        error = distances.std() / np.sqrt(number)
        assert distances.mean() == pytest.approx(expected, abs=6 * error)  # neighbours are not independent


def test_a_multilayer_perceptron_has_exclusive_or():
    """S4-116: scikit-learn's `MLPClassifier`; its activations are those of the definition."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((4,), activation="tanh", solver="lbfgs", random_state=0).fit(CORNERS, EXCLUSIVE)
    assert network.predict(CORNERS).tolist() == EXCLUSIVE
    hidden = np.tanh(CORNERS @ network.coefs_[0] + network.intercepts_[0])
    outputs = 1 / (1 + np.exp(-(hidden @ network.coefs_[1] + network.intercepts_[1])[:, 0]))
    assert network.predict_proba(CORNERS)[:, 1] == pytest.approx(outputs)


@given(seeds)
def test_gradient_descent_finds_least_squares(seed):
    """S2-224, S2-229: ∇ ½Σ(t - w·x)² = -Σ (t - w·x) x; it converges for steps below 2/λ, and not above."""
    points, labels = mixed(seed)
    lifted, signs = np.column_stack([np.ones(len(points)), points]), np.where(labels, 1.0, -1.0)
    curvature = np.linalg.eigvalsh(lifted.T @ lifted).max()

    def run(length, max_steps):
        return descend(
            lambda w: 0.5 * ((signs - lifted @ w) ** 2).sum(),
            lambda w: -lifted.T @ (signs - lifted @ w),
            np.zeros(3),
            step=ConstantStep(length),
            max_steps=max_steps,
        )

    exact = fit_least_squares(points, labels)
    found = run(1.5 / curvature, 5000)
    assert found.point == pytest.approx(np.append(exact.bias, exact.weights), abs=1e-6)
    course = run(2.5 / curvature, 60)
    assert not course.converged
    assert course.values[-1] > course.values[1]


def test_features_of_the_inputs_make_curved_boundaries():
    """S4-084: Gaussian features separate a ring from its middle; the features 1 and x are the linear classifier."""
    angles = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    points, labels = np.vstack([3 * ring, 0.5 * ring]), np.repeat([0, 1], 20)
    features = GaussianBasis([-2.0, 0.0, 2.0], 1.0)(points)[:, 1:]
    assert (fit_least_squares(features, labels).predict(features) == labels).all()
    assert (fit_least_squares(points, labels).predict(points) != labels).any()


@given(seeds)
def test_the_risk_of_errors_is_one_less_the_accuracy(seed):
    """S2-191: the mean 0-1 loss."""
    from sklearn.metrics import accuracy_score

    points, labels = mixed(seed)
    boundary = Hyperplane(np.random.default_rng(seed).normal(size=2), 0.1)
    risk = margin_loss(boundary.functional_margins(points, labels), "zero_one").mean()
    assert risk == pytest.approx(1 - accuracy_score(labels, boundary.predict(points)))


@given(seeds, st.permutations(["low", "middle", "high"]))
def test_ordered_classes(seed, order):
    """S2-006: boundaries of a line between classes in a given order; two classes are the binary learner."""
    rng = np.random.default_rng(seed)
    codes = np.arange(15) % 3
    sizes, labels = 3.0 * codes + rng.uniform(0, 2, size=15), np.array(order)[codes]
    found = of_many(OrderedClassifier, fit_maximum_margin, sizes, labels, classes=order)
    assert found.classes == tuple(order)
    assert (found.predict(sizes) == labels).all()
    assert found.ranks([-100.0, 100.0]).tolist() == [0, 2]
    cuts = [part.hyperplane.offset for part in found.discriminants]
    expected = [(sizes[codes == k].max() + sizes[codes == k + 1].min()) / 2 for k in (0, 1)]
    assert cuts == pytest.approx(expected)


def test_labels_that_do_not_exclude_each_other():
    """S2-006: multilabel is one classifier a label; novelty is a low log-probability under a fitted model."""
    from sklearn.multioutput import MultiOutputClassifier

    from juncture.estimators import NaiveBayes

    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2))
    tags = points + 0.3 * rng.normal(size=(60, 2)) > 0
    both = MultiOutputClassifier(NaiveBayes()).fit(points, tags)
    for label in (0, 1):
        alone = NaiveBayes().fit(points, tags[:, label])
        assert (both.predict(points)[:, label] == alone.predict(points)).all()
    family = jt.MultivariateGaussian
    fitted = family.estimate(family.statistics(points))
    assert fitted.log_prob([0.0, 0.0]) > fitted.log_prob([6.0, -6.0])


def test_weights_of_classes_are_images():
    """S4-115: a weight vector a class, drawn with the shape of the images; the pixel that tells the classes is dark."""
    images = np.random.default_rng(0).normal(size=(40, 3, 4))
    labels = images[:, 2, 1] > 0
    weights = of_many(OneVersusRest, fit_least_squares, images.reshape(40, 12), labels).discriminants[1].weights
    raster = Rasters.of({"above": weights.reshape(3, 4)}).nodes[0]
    assert raster.shades.shape == (3, 4)
    assert np.unravel_index(raster.shades.argmax(), (3, 4)) == (2, 1)
    assert "above" in jt.draw({"above": weights.reshape(3, 4)}).svg


def test_unknown_orders_are_refused():
    for order, message in ((["a"], "the class 'b', which is not among"), (["a", "b", "c"], "points of both")):
        with pytest.raises(jt.errors.InvalidData, match=message):
            of_many(OrderedClassifier, fit_least_squares, [1.0, 2.0], ["a", "b"], classes=order)


def test_problem_3_1():
    """S4-117, S4-103: setosa and virginica by sepal length and width, 40 of each to learn from, 10 to test (T-25)."""
    from sklearn.datasets import load_iris
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    from juncture.estimators import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

    rows, kinds = load_iris(return_X_y=True)
    points, labels = rows[kinds != 1, :2], kinds[kinds != 1] == 2
    held = np.arange(100) % 5 == 0
    start = Hyperplane([1.0, 0.01], -5.5)
    with pytest.warns(jt.errors.NotConvergedWarning, match="last of 1 passes"):
        online = fit_perceptron(points[~held], labels[~held], start, epochs=1, shuffle=True, rng=0).model
    soft = fit_maximum_margin(points[~held], labels[~held], cost=1.0)
    plane = fit_least_squares(points[~held], labels[~held])
    errors = {
        "least squares": (plane.predict(points[held]) != labels[held]).sum(),
        "machine": (soft.predict(points[held]) != labels[held]).sum(),
        "quadratic": (QuadraticDiscriminantAnalysis().fit(points[~held], labels[~held]).predict(points[held])
                      != labels[held]).sum(),
    }  # fmt: skip
    assert max(errors.values()) <= 1
    assert ((online.activation(points[held]) > 0) != labels[held]).mean() <= 0.5
    linear = LinearDiscriminantAnalysis(class_prior=[0.5, 0.5]).fit(points[~held], labels[~held])
    assert plane.weights / plane.norm == pytest.approx(linear.coef_[0] / np.linalg.norm(linear.coef_[0]))
    search = GridSearchCV(SVC(kernel="linear"), {"C": [0.01, 1.0, 100.0]}, cv=4).fit(points[~held], labels[~held])
    assert search.best_score_ > 0.95
    method = jt.StochasticGradient(learning_rate=jt.supervised.ConstantStep(1.0), max_steps=80)
    options = {"family": jt.Bernoulli, "method": method, "start": [-5.5, 1.0, 0.01]}
    steps = jt.fit(jt.supervised.GeneralizedLinearModel, points[~held], labels[~held].astype(float), rng=0, **options)
    assert steps.course.points.shape == (81, 3)
    assert np.isfinite(steps.trace.values).all()
