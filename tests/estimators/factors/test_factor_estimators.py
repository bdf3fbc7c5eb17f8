"""Factor analysis and probabilistic PCA as scikit-learn estimators."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.decomposition import PCA
from sklearn.decomposition import FactorAnalysis as TheirFactorAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import juncture as jt
from juncture.estimators import FactorAnalysis, ProbabilisticPCA


def table(share=0.0):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 7)) + 0.7 * rng.normal(size=(120, 7))
    return np.where(rng.random(rows.shape) < share, np.nan, rows)


def test_complete_rows_give_what_scikit_learn_gives():
    rows = table()
    ours = FactorAnalysis(2, tolerance=1e-13, max_steps=5000).fit(rows)
    theirs = TheirFactorAnalysis(2, tol=1e-9, max_iter=3000, svd_method="lapack").fit(rows)
    assert ours.get_covariance() == pytest.approx(theirs.get_covariance(), abs=1e-5)
    assert ours.score(rows) == pytest.approx(theirs.score(rows), abs=1e-9)
    assert np.abs(ours.transform(rows)) == pytest.approx(np.abs(theirs.transform(rows)), abs=1e-4)
    plane = ProbabilisticPCA(2).fit(rows)
    axes = PCA(2).fit(rows).components_
    assert np.abs(plane.components_ @ axes.T) == pytest.approx(
        np.diag(np.linalg.norm(plane.components_, axis=1)), abs=1e-8
    )


@pytest.mark.parametrize("kind", [FactorAnalysis, ProbabilisticPCA])
def test_holes_and_weights_are_taken(kind):
    rows = table(0.1)
    weights = np.random.default_rng(1).integers(0, 3, len(rows))
    found = kind(2).fit(rows, sample_weight=weights)
    again = kind(2).fit(np.repeat(rows, weights, axis=0))
    assert found.get_covariance() == pytest.approx(again.get_covariance(), abs=1e-6)
    assert np.isfinite(found.impute(rows)).all()
    assert found.impute(rows)[~np.isnan(rows)] == pytest.approx(rows[~np.isnan(rows)])
    assert found.score_samples(rows) == pytest.approx(jt.log_prob(found.model_, rows))
    assert found.inverse_transform(found.transform(rows)) == pytest.approx(jt.infer(found.model_, rows).expected)
    assert found.sample(5).shape == (5, 7)


def test_pipelines_and_names():
    found = make_pipeline(StandardScaler(), FactorAnalysis(2)).fit(table(0.1))
    assert found.get_feature_names_out().tolist() == ["factoranalysis0", "factoranalysis1"]
    with pytest.raises(jt.errors.InvalidData, match="more than the 7 columns"):
        FactorAnalysis(8).fit(table())
