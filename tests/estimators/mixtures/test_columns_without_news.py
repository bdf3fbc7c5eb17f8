"""A law of mixtures, with holes and weights: columns that are constant, ones or copies of others hide no clusters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.metrics import adjusted_rand_score

from juncture.components.gaussian_estimate import FLOOR
from juncture.errors import RegularizedWarning
from juncture.estimators import BayesianGaussianMixture, BernoulliMixture, GaussianMixture, MixedMixture

COVARIANCES = ("full", "tied", "diag", "spherical")
MIXTURES = {
    **{kind: lambda kind=kind: GaussianMixture(2, covariance_type=kind, tol=1e-4) for kind in COVARIANCES},
    "bayesian": lambda: BayesianGaussianMixture(2),
    "mixed": lambda: MixedMixture(2),
    "bernoulli": lambda: BernoulliMixture(2, prior=0.5, binarize=None),
}
ADDED = {
    "nothing": lambda rows: rows[:, :0],
    "ones": lambda rows: np.ones((len(rows), 1)),
    "zeros and ones": lambda rows: np.tile([0.0, 1.0], (len(rows), 1)),
    "a constant": lambda rows: np.full((len(rows), 1), 3.7),
    "a copy": lambda rows: rows[:, :1],
    "copies": lambda rows: rows,
    "rounded": np.round,
    "rounded to a constant": lambda rows: np.round(rows[:, :2] / 1e4) + np.arange(2.0),
}
CELLS = {"bernoulli": [name for name in ADDED if name != "a constant"]}  # cells that are zeros and ones


def clusters(kind, rng, size=50):
    """Rows of two clusters that are far apart, and the cluster of each."""
    truth = rng.integers(0, 2, size)
    if kind == "bernoulli":
        return np.where(rng.random((size, 12)) < 0.02, 1.0 - truth[:, None], truth[:, None]), truth
    return rng.normal(size=(size, 3)) + 60.0 * truth[:, None], truth


def with_holes(rows, rng):
    """A quarter of the cells of each row missing, so that each row shows where it belongs."""
    rows, number = rows.copy(), rows.shape[1] // 4
    for row in rows:
        row[rng.choice(len(row), max(number, 1), replace=False)] = np.nan
    return rows


def fitted(kind, rows, weights):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RegularizedWarning)
        return MIXTURES[kind]().fit(rows, sample_weight=weights)


def check_floor(found, rows, weights):
    """No direction is narrower than the floor, in units of the deviations of what is seen of the columns."""
    seen = np.ma.masked_invalid(rows)
    mean = np.ma.average(seen, axis=0, weights=weights)
    spread = np.sqrt(np.ma.average((seen - mean) ** 2, axis=0, weights=weights))
    spread, size = np.where(spread > 1e-12, spread, np.where(mean == 0, 1.0, np.abs(mean))), rows.shape[1]
    wide = np.broadcast_to(found.model_.components.full.covariance, (2, size, size))
    least = np.linalg.eigvalsh(wide / np.outer(spread, spread))[:, 0]
    assert (least > FLOOR * (1 - 1e-6)).all()


@pytest.mark.parametrize("kind", MIXTURES)
def test_columns_that_say_nothing_new_hide_no_clusters(kind):
    for name in CELLS.get(kind, ADDED):
        for seed, (has_holes, has_weights) in enumerate([(False, False), (True, False), (False, True), (True, True)]):
            rng = np.random.default_rng(seed)
            rows, truth = clusters(kind, rng)
            rows = np.hstack([rows, ADDED[name](rows)])
            rows = with_holes(rows, rng) if has_holes else rows
            weights = rng.uniform(0.0, 2.0, len(rows)) if has_weights else None
            found = fitted(kind, rows, weights)
            labels = found.predict(rows)
            assert adjusted_rand_score(truth, labels) == 1.0, (name, has_holes, has_weights)
            assert np.isfinite(found.score(rows)), (name, has_holes, has_weights)
            if kind in COVARIANCES:
                check_floor(found, rows, weights)


@pytest.mark.parametrize("kind", ["full", "tied", "diag"])
@pytest.mark.parametrize("value", [0.0, 1.0, 3.7, -1e9])
def test_a_constant_column_changes_no_share(kind, value):
    """It has the same density in every component, wherever it is seen."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 80)
    rows = rng.normal(size=(80, 2)) + 3.0 * truth[:, None]
    rows[rng.random(80) < 0.2, 1] = np.nan
    column = np.where(rng.random((80, 1)) < 0.2 + 0.5 * truth[:, None], np.nan, value)
    few, more = (GaussianMixture(2, covariance_type=kind, max_iter=10, tol=1e-300) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shares = few.fit(rows).predict_proba(rows)
        others = more.fit(np.hstack([rows, column])).predict_proba(np.hstack([rows, column]))
    np.testing.assert_allclose(others, shares, atol=1e-9)


def test_rows_of_ones():
    found = BernoulliMixture(2).fit([[1]] * 6)
    assert found.weights_.sum() == pytest.approx(1.0)
    assert found.probabilities_[found.weights_.argmax(), 0] == pytest.approx(
        7 / 8, abs=1e-6
    )  # six rows and a pseudo-count
