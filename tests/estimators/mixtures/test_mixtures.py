"""Mixtures as scikit-learn estimators: the same answers as scikit-learn on whole rows, and holes and weights on top."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.mixture import GaussianMixture as TheirGaussianMixture

from juncture.errors import InvalidData, UnseenStatesWarning
from juncture.estimators import BernoulliMixture, GaussianMixture, MixedMixture


def clusters(rng, size=100):
    return np.concatenate([rng.normal(mean, 1.0, (size, 2)) for mean in (0.0, 6.0)])


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_answers_are_those_of_scikit_learn(kind):
    rows = clusters(np.random.default_rng(0))
    mine = GaussianMixture(2, covariance_type=kind, tol=1e-13).fit(rows)
    theirs = TheirGaussianMixture(2, covariance_type=kind, tol=1e-12, max_iter=1000, reg_covar=0.0).fit(rows)
    order = np.argsort(mine.means_[:, 0]), np.argsort(theirs.means_[:, 0])
    assert mine.means_[order[0]] == pytest.approx(theirs.means_[order[1]], abs=1e-5)
    assert mine.covariances_.shape == theirs.covariances_.shape
    for name in ("score", "bic", "aic"):
        assert getattr(mine, name)(rows) == pytest.approx(getattr(theirs, name)(rows), rel=1e-8)


def test_weights_are_copies_of_rows_and_a_row_of_holes_changes_nothing():
    rng = np.random.default_rng(1)
    rows, weights = clusters(rng), rng.integers(0, 3, 200)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    mine = GaussianMixture(2, tol=1e-13).fit(rows, sample_weight=weights)
    copies = GaussianMixture(2, tol=1e-13).fit(np.repeat(rows, weights, axis=0))
    more = GaussianMixture(2, tol=1e-13).fit(np.vstack([rows, [[np.nan, np.nan]]]), sample_weight=[*weights, 5])
    for other in (copies, more):
        order = np.argsort(mine.means_[:, 0]), np.argsort(other.means_[:, 0])
        assert mine.means_[order[0]] == pytest.approx(other.means_[order[1]], abs=1e-5)
    filled, deviation = mine.impute(rows, return_std=True)
    assert not np.isnan(filled).any()
    assert ((deviation > 0) == np.isnan(rows)).all()


def test_stretched_clusters():
    """S0-065: a mixture finds clusters that k-means cuts across."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal([0.0, y], [8.0, 0.5], (200, 2)) for y in (0.0, 4.0)])
    truth = np.repeat([0, 1], 200)
    mine = GaussianMixture(2, n_init=5, covariance_type="tied").fit_predict(rows)
    theirs = KMeans(2, n_init=5, random_state=0).fit_predict(rows)
    assert adjusted_rand_score(truth, mine) > 0.95
    assert adjusted_rand_score(truth, theirs) < 0.5


def test_text_numbers_and_counts_in_one_table():
    rng = np.random.default_rng(2)
    which = rng.random(300) < 0.4
    rows = np.empty((300, 3), object)
    rows[:, 0] = np.where(which, rng.normal(5, 1, 300), rng.normal(0, 1, 300))
    rows[:, 1] = np.where(rng.random(300) < np.where(which, 0.9, 0.1), "yes", "no")
    rows[:, 2] = rng.poisson(np.where(which, 9, 2))
    rows[rng.random(rows.shape) < 0.1] = None
    found = MixedMixture(2, kinds={2: "poisson"}).fit(rows)
    agreement = np.mean(found.predict(rows) == which)
    assert max(agreement, 1 - agreement) > 0.95
    assert found.categories_[1] == ["no", "yes"]
    drawn, components = found.sample(5)
    assert set(drawn[:, 1]) <= {"no", "yes"}
    with pytest.warns(UnseenStatesWarning, match="x1 1"):
        assert found.predict([[0.0, "maybe", 1]]).shape == (1,)  # an unknown label is a hole
    with pytest.raises(InvalidData, match="poisson"):
        MixedMixture(2, kinds=["poison"]).fit(rows)
    assert len(components) == 5


def test_binary_cells_are_checked():
    with pytest.raises(InvalidData, match="all cells are 0, 1 or missing"):
        BernoulliMixture(2, binarize=None).fit([[0, 1], [2, 0]])
    found = BernoulliMixture(1, prior=0.0).fit([[0, 1], [1, 1], [1, np.nan], [0, 1]])
    assert found.probabilities_ == pytest.approx(np.array([[0.5, 1.0]]))
