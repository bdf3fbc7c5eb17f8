"""Principal components, and the choice of their number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt

SEEDS = st.integers(0, 10_000)
METHODS = ["eigen", "svd", "deflation"]


def random_rows(seed, number=30, columns=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(number, columns)) @ rng.normal(size=(columns, columns)) + rng.normal(size=columns)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("method", METHODS)
@given(seed=SEEDS)
def test_three_ways_give_the_eigenvectors(method, center, seed):
    """S0-254, S0-255 and S4-178: variances are eigenvalues, with the divisor N; also without a center."""
    rows = random_rows(seed)
    centered = rows - rows.mean(axis=0) * center
    values, vectors = np.linalg.eigh(centered.T @ centered / len(rows))
    found = jt.clusters.principal_components(rows, 2, method=method, center=center)
    assert found.variances == pytest.approx(values[:1:-1], rel=1e-8)
    projector = vectors[:, 2:] @ vectors[:, 2:].T
    assert found.components.T @ found.components == pytest.approx(projector, abs=1e-6)
    assert found.components @ found.components.T == pytest.approx(np.eye(2), abs=1e-10)


@pytest.mark.parametrize("center", [True, False])
@given(seed=SEEDS)
def test_the_error_is_the_number_of_rows_times_the_discarded_eigenvalues(center, seed):
    """S4-178 and S0-256, with E82 corrected: the analysis and the synthesis view have one answer."""
    rows = random_rows(seed)
    found = jt.clusters.principal_components(rows, 2, center=center)
    centered = rows - rows.mean(axis=0) * center
    discarded = np.linalg.eigvalsh(centered.T @ centered / len(rows))[:2].sum()
    left = ((rows - found.reconstruct(rows)) ** 2).sum()
    assert left == pytest.approx(len(rows) * discarded, rel=1e-8)
    assert found.error == pytest.approx(left, rel=1e-8)
    assert found.synthesize(found.project(rows)) == pytest.approx(found.reconstruct(rows))
    other = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 2)))[0]  # no other plane is closer
    base = found.center
    assert ((rows - base - (rows - base) @ other @ other.T) ** 2).sum() >= left - 1e-9


def test_they_are_those_of_scikit_learn():
    decomposition = pytest.importorskip("sklearn.decomposition")
    rows = random_rows(3)
    ours, theirs = jt.clusters.principal_components(rows, 3), decomposition.PCA(3).fit(rows)
    assert np.abs(np.sum(ours.components * theirs.components_, axis=1)) == pytest.approx(np.ones(3))
    assert ours.variances == pytest.approx(theirs.explained_variance_ * 29 / 30)
    assert ours.shares == pytest.approx(theirs.explained_variance_ratio_)


def test_weights_are_repetitions():
    rows, counts = random_rows(1), np.random.default_rng(0).integers(0, 4, 30)
    weighed = jt.clusters.principal_components(rows, 2, weights=counts)
    repeated = jt.clusters.principal_components(np.repeat(rows, counts, axis=0), 2)
    assert weighed.components == pytest.approx(repeated.components)
    assert weighed.error == pytest.approx(repeated.error)


def test_linear_kernel_components_are_these():
    """S4-179: scikit-learn's KernelPCA with a linear kernel has the same projections."""
    decomposition = pytest.importorskip("sklearn.decomposition")
    rows = random_rows(5)
    theirs = decomposition.KernelPCA(2, kernel="linear").fit_transform(rows)
    assert np.abs(theirs) == pytest.approx(np.abs(jt.clusters.principal_components(rows, 2).project(rows)))


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_rows_have_orthonormal_components(method):
    for rows in (np.ones((4, 3)), np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 0.0])):
        found = jt.clusters.principal_components(rows, 3, method=method)
        assert found.components @ found.components.T == pytest.approx(np.eye(3), abs=1e-8)
        assert found.error == pytest.approx(0.0, abs=1e-12)


def test_mistakes_are_explained():
    rows = random_rows(0)
    with pytest.raises(jt.errors.InvalidData, match="row 2 has a hole: fit a ProbabilisticPCA"):
        jt.clusters.principal_components(np.where(np.arange(30)[:, None] == 2, np.nan, rows))
    with pytest.raises(jt.errors.InvalidData, match="at most 4 components"):
        jt.clusters.principal_components(rows, 5)
    with pytest.raises(jt.errors.InvalidData, match="method"):
        jt.clusters.principal_components(rows, method="power")


# --- how many --------------------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_the_evidence_is_minkas(seed):
    """As scikit-learn computes it; eigenvalues with another divisor change all by the same constant."""
    assess = pytest.importorskip("sklearn.decomposition._pca")._assess_dimension
    rows = random_rows(seed, 40, 5)
    found = jt.clusters.choose_dimension(rows)
    spectrum = jt.clusters.principal_components(rows).variances
    expected = [assess(spectrum, int(rank), len(rows)) for rank in found.dimensions]
    assert found.log_evidence == pytest.approx(expected, rel=1e-8)
    assert found.probabilities.sum() == pytest.approx(1.0)


def test_the_dimension_is_found():
    rng = np.random.default_rng(0)
    for true in (1, 3, 5):
        rows = rng.normal(size=(400, true)) @ rng.normal(size=(true, 8)) + 0.3 * rng.normal(size=(400, 8))
        assert jt.clusters.choose_dimension(rows).best == true
    with pytest.raises(jt.errors.InvalidData, match="more rows than columns"):
        jt.clusters.choose_dimension(rows[:5])
    with pytest.raises(jt.errors.InvalidData, match="all rows are equal"):
        jt.clusters.choose_dimension(np.ones((9, 3)))
