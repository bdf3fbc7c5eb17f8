"""The geometry of hyperplanes, the perceptron and its bound, least squares as a classifier."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.supervised import Hyperplane, perceptron_bound
from support.learned import fit_least_squares, fit_maximum_margin, fit_perceptron, of_many

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
EXCLUSIVE = [False, True, True, False]
seeds = st.integers(0, 2**31)


def separable(seed, num_points=12, dimension=2):
    """Points on both sides of a random hyperplane, none nearer than 0.1."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=dimension)
    normal /= np.linalg.norm(normal)
    points = rng.normal(size=(num_points, dimension))
    labels = np.arange(num_points) % 2 == 0
    heights = np.where(labels, 1, -1) * (0.1 + rng.exponential(size=num_points))
    return points + np.outer(heights - points @ normal, normal), labels


def mixed(seed, num_points=12, dimension=2):
    """Points of both classes that overlap."""
    rng = np.random.default_rng(seed)
    points, labels = rng.normal(size=(num_points, dimension)), np.arange(num_points) % 2 == 0
    return points + 0.7 * labels[:, None], labels


@given(seeds, st.integers(1, 4))
def test_distances_and_projections(seed, dimension):
    """S2-217, S2-218, S4-083: the projection is on the hyperplane, x = x_p + r w / ‖w‖, and |r| is the distance."""
    rng = np.random.default_rng(seed)
    boundary = Hyperplane(rng.normal(size=dimension), rng.normal())
    points = rng.normal(size=(5, dimension))
    distances, projected = boundary.signed_distance(points), boundary.project(points)
    normal = boundary.weights / boundary.norm
    assert boundary.activation(projected) == pytest.approx(np.zeros(5), abs=1e-12 * (1 + boundary.norm**2))
    assert np.linalg.norm(points - projected, axis=1) == pytest.approx(np.abs(distances))
    assert projected + np.outer(distances, normal) == pytest.approx(points)
    assert (projected - projected[0]) @ boundary.weights == pytest.approx(np.zeros(5), abs=1e-9)
    assert boundary.offset * normal == pytest.approx(boundary.project(np.zeros((1, dimension)))[0])


@given(seeds, st.floats(0.01, 100))
def test_margins_and_the_canonical_hyperplane(seed, scale):
    """S2-233, S2-234, S4-086: geometric margins do not depend on the scale; canonical: least margin 1, width 1/‖w‖."""
    points, labels = separable(seed)
    boundary = fit_perceptron(points, labels, epochs=100_000).model
    scaled = Hyperplane(scale * boundary.weights, scale * boundary.bias)
    assert scaled.geometric_margins(points, labels) == pytest.approx(boundary.geometric_margins(points, labels))
    assert scaled.functional_margins(points, labels) == pytest.approx(
        scale * boundary.functional_margins(points, labels)
    )
    canonical = scaled.canonical(points, labels)
    assert canonical.functional_margins(points, labels).min() == pytest.approx(1)
    assert canonical.margin(points, labels) == pytest.approx(1 / canonical.norm)
    assert canonical.margin_error(points, labels, 0.0) == 0
    assert canonical.margin_error(points, labels, 1e9) == 1


@given(seeds, st.booleans(), st.booleans())
def test_the_perceptron_separates_what_is_separable(seed, batch, shuffle):
    """S2-225, S2-226, S4-098: no errors at the end, and from zero weights at most (R/γ)² updates (Novikoff)."""
    points, labels = separable(seed)
    found = fit_perceptron(points, labels, batch=batch, shuffle=shuffle, rng=seed, epochs=100_000)
    assert found.trace.converged
    assert found.training_error == 0
    assert found.model.functional_margins(points, labels).min() > 0
    assert found.seed == (seed if shuffle and not batch else None)
    if not batch:
        assert found.num_updates <= perceptron_bound(points, labels)


def test_the_perceptron_goes_as_on_paper():
    """S4-098, T-21: the boundary counts as an error, so that zero weights move; each update adds t (1, x)."""
    points, labels = np.array([[1.0, 2.0], [3.0, 0.0], [-1.0, 1.0], [0.0, -2.0]]), np.array([1, 1, 0, 0])
    weights, updates = np.zeros(3), 0
    for _ in range(10):
        for point, label in zip(points, labels, strict=True):
            sign, lifted = 2 * label - 1, np.array([1, *point])
            if sign * weights @ lifted <= 0:
                weights, updates = weights + sign * lifted, updates + 1
    found = fit_perceptron(points, labels)
    assert (found.model.bias, *found.model.weights) == tuple(weights)
    assert found.num_updates == updates


@given(seeds, st.floats(0.5, 5))
def test_a_margin_is_kept(seed, margin):
    points, labels = separable(seed)
    found = fit_perceptron(points, labels, margin=margin, epochs=100_000)
    assert found.trace.converged
    assert found.training_error == 0
    assert found.model.functional_margins(points, labels).min() > margin


def test_rows_of_many_blocks_go_in_order():
    """The blocks in which activations are computed do not change the result."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(700, 3))
    labels = points @ [1.0, -2.0, 0.5] > 0.3
    weights = np.zeros(4)
    for _ in range(3):
        for point, sign in zip(points, np.where(labels, 1, -1), strict=True):
            if sign * (weights[0] + weights[1:] @ point) <= 0:
                weights += sign * np.array([1, *point])
    with pytest.warns(jt.errors.NotConvergedWarning, match="last of 3 passes"):
        found = fit_perceptron(points, labels, epochs=3)
    assert np.append(found.model.bias, found.model.weights) == pytest.approx(weights)


def test_exclusive_or_reaches_the_limit():
    """S2-226: the rule never ends where the classes are not separable."""
    with pytest.warns(jt.errors.NotConvergedWarning, match="last of 50 passes"):
        found = fit_perceptron(CORNERS, EXCLUSIVE, epochs=50)
    assert not found.trace.converged
    assert len(found.errors) == 50
    assert perceptron_bound(CORNERS, EXCLUSIVE) == np.inf
    assert found.model.weights.tolist() == [0, 0]  # each pass goes around and ends where it began
    assert found.model.predict(CORNERS).tolist() == [found.model.bias > 0] * 4
    for ask in (Hyperplane.signed_distance, Hyperplane.project):
        with pytest.raises(jt.errors.InvalidData, match="there is no boundary"):
            ask(found.model, CORNERS)


def test_weights_are_repeated_rows_in_batch():
    points, labels = mixed(0)
    counts = np.arange(12) % 3
    with pytest.warns(jt.errors.NotConvergedWarning):
        weighted = fit_perceptron(points, labels, batch=True, weights=counts, epochs=20)
    with pytest.warns(jt.errors.NotConvergedWarning):
        repeated = fit_perceptron(np.repeat(points, counts, axis=0), np.repeat(labels, counts), batch=True, epochs=20)
    assert weighted.model.weights == pytest.approx(repeated.model.weights)


@given(seeds)
def test_least_squares_has_the_direction_of_fisher(seed):
    """S4-089: w ∝ S_W⁻¹ (m₁ - m₀); the weights are those of `lstsq`."""
    points, labels = mixed(seed, 15, 3)
    boundary = fit_least_squares(points, labels)
    within = sum(np.cov(points[labels == side].T, bias=True) * (labels == side).sum() for side in (0, 1))
    fisher = np.linalg.solve(within, points[labels].mean(0) - points[~labels].mean(0))
    assert boundary.weights / boundary.norm == pytest.approx(fisher / np.linalg.norm(fisher))
    lifted = np.column_stack([np.ones(15), points])
    expected = np.linalg.lstsq(lifted, np.where(labels, 1.0, -1.0), rcond=None)[0]
    assert np.append(boundary.bias, boundary.weights) == pytest.approx(expected)


@given(seeds, st.floats(0.01, 10), st.sampled_from([2, 30]))
def test_the_ridge_classifier_is_primal_and_dual(seed, strength, dimension):
    """S4-090, S4-091: (X̃ᵀX̃ + λI)⁻¹X̃ᵀt and X̃ᵀ(X̃X̃ᵀ + λI)⁻¹t, with fewer points than features and with more."""
    points, labels = mixed(seed, 12, dimension)
    signs, lifted = np.where(labels, 1.0, -1.0), np.column_stack([np.ones(12), points])
    found = fit_least_squares(points, labels, strength)
    weights = np.append(found.bias, found.weights)
    primal = np.linalg.solve(lifted.T @ lifted + strength * np.eye(dimension + 1), lifted.T @ signs)
    dual = lifted.T @ np.linalg.solve(lifted @ lifted.T + strength * np.eye(12), signs)
    assert weights == pytest.approx(primal, abs=1e-10)
    assert weights == pytest.approx(dual, abs=1e-10)


@given(seeds, st.floats(0.01, 10))
def test_a_free_bias_is_scikit_learns(seed, strength):
    linear_model = pytest.importorskip("sklearn.linear_model")
    points, labels = mixed(seed)
    found = fit_least_squares(points, labels, strength, penalize_constant=False)
    other = linear_model.RidgeClassifier(alpha=strength, solver="svd").fit(points, labels)
    assert found.weights == pytest.approx(other.coef_.ravel(), abs=1e-9)
    assert found.bias == pytest.approx(other.intercept_[0], abs=1e-9)


def test_least_squares_is_pulled_by_points_far_on_the_right_side():
    """S4-089: an outlier of the second class, right and far, moves the boundary; the hinge does not see it."""
    points, labels = np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1])
    far, more = np.append(points, 50.0), np.append(labels, 1)
    assert fit_least_squares(points, labels).offset == pytest.approx(0)
    assert (fit_least_squares(far, more).predict(far) != more).any()
    assert fit_maximum_margin(far, more).hyperplane.offset == pytest.approx(0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Hyperplane([0.0, 0.0], 1.0).offset, "the weights are all 0"),
        (lambda: Hyperplane([], 1.0), "one for each coordinate"),
        (lambda: Hyperplane([np.inf], 1.0), "finite numbers"),
        (lambda: Hyperplane([1.0], 1.0, ["a"]), "got 1 labels of classes"),
        (lambda: fit_perceptron([1.0, 2.0, 3.0], list("abc")), "y has 3 labels"),
        (lambda: fit_perceptron([1.0, 2.0], ["a", None]), "row 1 of y has no class"),
        (lambda: Hyperplane([1.0], 0.0).activation([[1.0, 2.0]]), "1 coordinate here; got points with 2"),
        (lambda: Hyperplane([1.0], 0.0).canonical([1.0, -1.0], [0, 1]), "the least margin is -1"),
        (lambda: Hyperplane([1.0], 0.0).margin([], []), "at least one"),
        (lambda: fit_perceptron([[1.0, 2.0]] * 2, [0, 1], Hyperplane([1.0], 0.0)), "1 coordinate here"),
        (lambda: fit_least_squares([1.0, 2.0], [1, 1]), "points of both"),
        (lambda: fit_perceptron([1.0, np.nan], [0, 1]), "points are finite numbers, and row 1, column 0 is nan"),
    ],
)
def test_wrong_input_gets_a_sentence(call, message):
    with pytest.raises(jt.errors.InvalidData, match=message):
        call()


def test_ordered_classes_are_learned_above_each_of_them():
    """Each learner is told which points lie above a class, in an order that is no sorting, nor its own inverse."""
    order, sizes = ["low", "middle", "high", "top"], np.arange(8.0)
    labels = np.repeat(order, 2)
    told = []

    def learn(points, is_above):
        told.append(np.asarray(is_above).tolist())
        return fit_least_squares(points, is_above)

    found = of_many(jt.supervised.OrderedClassifier, learn, sizes, labels, classes=order)
    assert told == [[place >= 2 * (rank + 1) for place in range(8)] for rank in range(3)]
    assert found.classes == tuple(order)
    assert found.predict(sizes[[0, 7]]).tolist() == ["low", "top"]
    assert found.ranks(sizes).tolist() == sorted(found.ranks(sizes))
    plain = of_many(jt.supervised.OrderedClassifier, fit_least_squares, sizes, np.repeat([1, 2, 3, 4], 2))
    assert plain.classes == (1, 2, 3, 4)
    assert plain.ranks(sizes).tolist() == found.ranks(sizes).tolist()
