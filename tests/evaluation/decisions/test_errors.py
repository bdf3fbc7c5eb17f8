"""Errors of rules, their bounds and their regions, against closed forms, enumeration and quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import juncture as jt
from juncture.supervised import (
    GenerativeClassifier,
    LossMatrix,
    classification_error,
    conditional_error,
    decision_regions,
    error_bounds,
    nearest_neighbor_bounds,
)

SEEDS = st.integers(0, 2**32 - 1)
TWO = GenerativeClassifier([0.5, 0.5], [jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)], ["-", "+"])


def random_classes(rng):
    count = int(rng.integers(2, 4))
    bells = [jt.Gaussian(float(rng.normal(0, 2)), float(rng.uniform(0.3, 3))) for _ in range(count)]
    return GenerativeClassifier(rng.dirichlet(np.ones(count) * 3), bells)


def test_two_gaussians_are_mistaken_with_probability_phi_of_minus_one():
    """S2-080: N(-1, 1) against N(1, 1) with even odds, Φ(-1) = 0.158655."""
    found = classification_error(TWO)
    assert found.value == pytest.approx(norm.cdf(-1), abs=1e-12)
    assert found.exact
    assert found.value == pytest.approx(
        jt.evaluation.bayes_error(jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)), abs=1e-12
    )


@given(seed=SEEDS)
def test_the_error_of_a_threshold_is_that_of_the_normal_distribution(seed):
    """S2-079: the error of any rule; Bayes' rule errs least."""
    cut = float(np.random.default_rng(seed).uniform(-3, 3))
    found = classification_error(TWO, lambda x: np.where(x > cut, "+", "-"))
    assert found.value == pytest.approx(0.5 * norm.sf(cut + 1) + 0.5 * norm.cdf(cut - 1), abs=1e-10)
    assert found.value >= classification_error(TWO).value - 1e-12


@given(seed=SEEDS)
def test_the_bayes_error_of_numbers_is_an_integral_of_the_conditional_error(seed):
    classes = random_classes(np.random.default_rng(seed))

    x = np.linspace(-30, 30, 60_001)
    wanted = np.trapezoid(conditional_error(classes, x) * np.exp(classes.log_prob(x)), x)
    assert classification_error(classes).value == pytest.approx(wanted, abs=1e-6)  # the square of the steps


@given(seed=SEEDS)
def test_over_a_finite_set_no_rule_has_a_smaller_error(seed):
    """S2-081: brute force over all rules; S2-078: the posterior of a joint table."""
    rng = np.random.default_rng(seed)
    tables, prior = rng.dirichlet(np.ones(4), 2), rng.dirichlet(np.ones(2))
    classes = GenerativeClassifier(prior, [jt.Categorical(table) for table in tables])
    joint = prior[:, None] * tables
    errors = [
        1 - sum(joint[code >> x & 1, x] for x in range(4))
        for code in range(2**4)
    ]  # fmt: skip
    assert classification_error(classes).value == pytest.approx(min(errors), abs=1e-12)
    np.testing.assert_allclose(conditional_error(classes, range(4)), 1 - joint.max(axis=0) / joint.sum(axis=0))
    given_errors = conditional_error(classes, range(4), [1, 1, 0, 0])
    assert (given_errors >= conditional_error(classes, range(4)) - 1e-12).all()
    rule = rng.integers(2, size=4)
    wanted = 1 - sum(joint[rule[x], x] for x in range(4))
    assert classification_error(classes, lambda x: rule[np.asarray(x).astype(int)]).value == pytest.approx(wanted)


def test_a_reject_option_trades_errors_for_its_cost():
    loss = LossMatrix.zero_one(["-", "+"], reject=0.2)
    found = classification_error(TWO, loss=loss).value
    edge = np.log(4) / 2  # where the more probable class has the probability 0.8
    wanted = norm.cdf(-1 - edge) + 0.2 * (norm.cdf(edge - 1) - norm.cdf(-edge - 1))
    assert found == pytest.approx(wanted, abs=1e-10)
    assert found < classification_error(TWO).value


def test_vectors_are_drawn_and_the_standard_error_says_how_sure_the_rate_is():
    pair = GenerativeClassifier([0.5, 0.5], jt.MultivariateGaussian([[0.0, 0.0], [2.0, 0.0]], [np.eye(2)] * 2))
    found = classification_error(pair, draws=20_000, rng=0)
    assert not found.exact
    assert found.value == pytest.approx(norm.cdf(-1), abs=5 * found.standard_error)
    assert found.standard_error < 0.002


@given(seed=SEEDS)
def test_bounds_are_above_the_error_and_chernoff_is_the_tighter(seed):
    classes = random_classes(np.random.default_rng(seed))
    bounds, error = error_bounds(classes), classification_error(classes).value
    assert error <= bounds.chernoff + 1e-9
    assert bounds.chernoff <= bounds.bhattacharyya + 1e-9
    low, high = nearest_neighbor_bounds(error, classes.num_classes)
    assert low <= high <= 2 * error + 1e-12


@given(seed=SEEDS)
def test_the_affinity_of_gaussian_vectors_is_that_of_numbers_on_an_axis(seed):
    rng = np.random.default_rng(seed)
    means, variances, prior = rng.normal(size=2), rng.uniform(0.3, 3, size=2), rng.dirichlet(np.ones(2) * 3)
    line = GenerativeClassifier(prior, [jt.Gaussian(m, v) for m, v in zip(means, variances, strict=True)])
    vectors = jt.MultivariateGaussian([[m, 0.5] for m in means], [np.diag([v, 2.0]) for v in variances])
    plane = GenerativeClassifier(prior, vectors)
    assert error_bounds(plane).bhattacharyya == pytest.approx(error_bounds(line).bhattacharyya, abs=1e-8)
    assert error_bounds(plane).chernoff == pytest.approx(error_bounds(line).chernoff, abs=1e-7)


def test_with_even_odds_and_equal_variances_both_bounds_are_half_of_exp_of_minus_one_half():
    bounds = error_bounds(TWO)
    assert bounds.bhattacharyya == pytest.approx(np.exp(-0.5) / 2)
    assert bounds.exponents == {("-", "+"): pytest.approx(0.5, abs=1e-4)}


def test_boundaries_are_where_two_classes_are_equally_probable():
    """S2-083, S2-084, S2-088: μ = 0 and 2, σ² = 1: the boundary 1 with even odds, 1.693147 with 0.8 against 0.2."""
    for prior, wanted in (([0.5, 0.5], 1.0), ([0.8, 0.2], 1 + np.log(4) / 2)):
        classes = GenerativeClassifier(prior, [jt.Gaussian(0.0, 1.0), jt.Gaussian(2.0, 1.0)])
        regions = decision_regions(classes, -4, 6)
        assert regions.boundary.tolist() == [pytest.approx(wanted, abs=1e-12)]
        assert [label for _, _, label in regions.intervals] == [0, 1]


@given(seed=SEEDS)
def test_points_of_a_boundary_in_the_plane_have_two_most_probable_classes(seed):
    rng = np.random.default_rng(seed)
    covariances = [np.diag(rng.uniform(0.3, 3, size=2)) for _ in range(3)]
    classes = GenerativeClassifier(np.ones(3) / 3, jt.MultivariateGaussian(rng.normal(0, 2, (3, 2)), covariances))
    regions = decision_regions(classes, (-4, -4), (4, 4), points=15)
    if len(regions.boundary):
        best = np.sort(classes.log_joint(regions.boundary), axis=1)
        np.testing.assert_allclose(best[:, -1], best[:, -2], atol=1e-9)
    corner = classes.predict([[-4.0, 4.0]])[0]
    assert regions.labels[regions.codes[0, -1]] == corner


def test_regions_of_a_classifier_of_scikit_learn_are_drawn():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(100, 2))
    tree = DecisionTreeClassifier(max_depth=1).fit(rows, np.where(rows[:, 0] > 0.25, "right", "left"))
    regions = decision_regions(tree, (-2, -2), (2, 2), points=21)
    np.testing.assert_allclose(regions.boundary[:, 0], tree.tree_.threshold[0], atol=1e-6)  # single precision
    assert len(regions.plot().images) == 1
    one = DecisionTreeClassifier(max_depth=1).fit(rows[:, :1], rows[:, 0] > 0.25)
    assert decision_regions(one, -2, 2).boundary.tolist() == [pytest.approx(one.tree_.threshold[0], abs=1e-6)]
    assert len(decision_regions(TWO, -2, 2).plot().lines) == 3


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: classification_error(3), jt.errors.InvalidData, "must be a GenerativeClassifier"),
        (lambda: classification_error(TWO, lambda x: ["?"] * len(x)), jt.errors.Unsupported, "none of '-', '\\+'"),
        (lambda: classification_error(TWO, lambda x: "+"), jt.errors.InvalidData, "a decision, a label, for each"),
        (
            lambda: conditional_error(TWO, [0.0], ["+", "-"]),
            jt.errors.InvalidData,
            "a decision, a label, for each of 1 rows",
        ),
        (lambda: decision_regions(TWO, 1, -1), jt.errors.InvalidData, "low has the smaller"),
        (lambda: decision_regions(3, 0, 1), jt.errors.Unsupported, "a rule is a function"),
        (lambda: nearest_neighbor_bounds(0.6), jt.errors.InvalidData, "at most 0.5"),
        (lambda: decision_regions(TWO, 0, np.inf), jt.errors.InvalidData, "finite"),
    ],
)
def test_what_has_no_answer_is_refused_in_a_sentence(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
