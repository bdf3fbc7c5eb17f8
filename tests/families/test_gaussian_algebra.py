"""The multivariate Gaussian in its two forms, and the algebra of blocks behind it, against dense algebra."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.vectors.block_matrices import block_inverse, schur_complement, woodbury_inverse
from juncture.families.vectors.multivariate_gaussian import CanonicalGaussian, MultivariateGaussian
from support.processor_time import time_of

SEEDS = st.integers(0, 10**6)


def random_covariance(rng, dimension):
    factor = rng.normal(size=(dimension, dimension + 2))
    return factor @ factor.T / dimension


@st.composite
def gaussians(draw, low=2, high=6):
    rng = np.random.default_rng(draw(SEEDS))
    dimension = draw(st.integers(low, high))
    return MultivariateGaussian(rng.normal(size=dimension), random_covariance(rng, dimension))


@st.composite
def parted(draw):
    """A Gaussian, some of its indices in any order, and the others in order."""
    gaussian = draw(gaussians())
    order = draw(st.permutations(range(gaussian.dimension)))
    count = draw(st.integers(1, gaussian.dimension - 1))
    return gaussian, list(order[:count]), sorted(order[count:])


@st.composite
def square_matrices(draw):
    """An invertible matrix without symmetry, and indices of a block."""
    rng = np.random.default_rng(draw(SEEDS))
    size = draw(st.integers(2, 6))
    order = draw(st.permutations(range(size)))
    return rng.normal(size=(size, size)) + 3 * np.eye(size), list(order[: draw(st.integers(1, size - 1))])


def others(indices, size):
    return [place for place in range(size) if place not in indices]


# -- blocks


@given(square_matrices())
def test_schur_complement_block_diagonalises(case):
    """S0-204: D M G is block diagonal, with [M/A] as its second block."""
    matrix, one = case
    two = others(one, len(matrix))
    ordered = matrix[np.ix_(one + two, one + two)]
    k = len(one)
    block, upper, lower = ordered[:k, :k], ordered[:k, k:], ordered[k:, :k]
    left, right = np.eye(len(matrix)), np.eye(len(matrix))
    left[k:, :k] = -lower @ np.linalg.inv(block)
    right[:k, k:] = -np.linalg.inv(block) @ upper
    diagonal = left @ ordered @ right
    np.testing.assert_allclose(diagonal[:k, k:], 0, atol=1e-9)
    np.testing.assert_allclose(diagonal[k:, :k], 0, atol=1e-9)
    np.testing.assert_allclose(diagonal[k:, k:], schur_complement(matrix, one), atol=1e-9)


@given(square_matrices())
def test_determinant_by_blocks(case):
    """S0-205: |M| = |A| |[M/A]|."""
    matrix, one = case
    block = matrix[np.ix_(one, one)]
    expected = np.linalg.det(block) * np.linalg.det(schur_complement(matrix, one))
    assert np.linalg.det(matrix) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(SEEDS, st.integers(2, 5))
def test_positivity_by_blocks(seed, size):
    """S0-206: for A ≻ 0, M ≻ 0 exactly when [M/A] ≻ 0."""
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(size, size))
    matrix = half + half.T + rng.uniform(0, 3) * np.eye(size)
    matrix[0, 0] = 1.0
    is_positive = np.linalg.eigvalsh(matrix)[0] > 0
    assert is_positive == (np.linalg.eigvalsh(schur_complement(matrix, [0]))[0] > 0)


@given(square_matrices())
def test_inverse_by_blocks(case):
    """S0-207 with E60, for off-diagonal blocks that are not square."""
    matrix, one = case
    np.testing.assert_allclose(block_inverse(matrix, one), np.linalg.inv(matrix), rtol=1e-7, atol=1e-9)


def test_a_batch_of_matrices_is_inverted_by_blocks():
    matrices = np.random.default_rng(0).normal(size=(4, 3, 5, 5)) + 4 * np.eye(5)
    np.testing.assert_allclose(block_inverse(matrices, [4, 1]), np.linalg.inv(matrices), atol=1e-10)


def test_matrix_inversion_lemma():
    """S0-216 with E66: (I + λXᵀX)⁻¹ from a 5 × 5 inverse, and the general diagonal."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(5, 40))
    np.testing.assert_allclose(woodbury_inverse(x.T, 0.7), np.linalg.inv(np.eye(40) + 0.7 * x.T @ x), atol=1e-12)
    noise = rng.uniform(0.5, 2.0, 40)
    dense = np.linalg.inv(np.diag(noise) + x.T @ x)
    np.testing.assert_allclose(woodbury_inverse(x.T, diagonal=noise), dense, atol=1e-12)


def test_matrix_inversion_lemma_is_quick_for_few_columns():
    """S0-216: n = 2000, p = 5."""
    x = np.random.default_rng(2).normal(size=(2000, 5))
    dense: list[np.ndarray] = []
    slow = time_of(lambda: dense.append(np.linalg.inv(np.eye(2000) + x @ x.T)), times=1)
    assert time_of(lambda: woodbury_inverse(x)) < slow
    np.testing.assert_allclose(woodbury_inverse(x), dense[0], atol=1e-10)


@pytest.mark.parametrize("indices", [[0, 0], [3], [-1], [0.5], [[0]], "a"])
def test_indices_that_are_none_are_refused(indices):
    with pytest.raises(InvalidData, match=r"indices (are|run)"):
        schur_complement(np.eye(3), indices)
    with pytest.raises(InvalidData, match=r"indices (are|run)"):
        MultivariateGaussian(np.zeros(3), np.eye(3)).marginal(indices)


# -- the two forms


@given(gaussians(low=1))
def test_canonical_form_is_the_same_density(gaussian):
    """S0-200: η = Σ⁻¹μ, Λ = Σ⁻¹; and back."""
    canonical = gaussian.to_canonical()
    x = gaussian.sample(5, rng=0)
    np.testing.assert_allclose(canonical.precision, np.linalg.inv(gaussian.covariance), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(canonical.log_prob(x), gaussian.log_prob(x), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(canonical.log_value(x), gaussian.log_prob(x), rtol=1e-7, atol=1e-7)
    again = canonical.to_moments()
    np.testing.assert_allclose(again.mean, gaussian.mean, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(again.covariance, gaussian.covariance, rtol=1e-7, atol=1e-8)


@given(gaussians(high=4))
def test_log_partition_gives_mean_and_covariance(gaussian):
    """S0-202 with E55: ∇A = (μ, Σ + μμᵀ), ∇²A = Cov u: Σ, and for the squares Isserlis' formula."""
    d, mean, cov = gaussian.dimension, gaussian.mean, gaussian.covariance
    natural = gaussian.natural_parameters
    np.testing.assert_allclose(gaussian.mean_parameters, [*mean, *(cov + np.outer(mean, mean)).ravel()], atol=1e-9)
    partition = lambda eta: MultivariateGaussian._log_partition_of(eta, {})  # noqa: E731
    steps = 1e-6 * np.eye(len(natural))
    slopes = [(partition(natural + step) - partition(natural - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(slopes, gaussian.mean_parameters, rtol=1e-4, atol=1e-4)
    information = gaussian.fisher_information()
    np.testing.assert_allclose(information[:d, :d], cov, rtol=1e-6, atol=1e-8)
    i, j, k, m = 0, d - 1, 0, d - 1
    isserlis = cov[i, k] * cov[j, m] + cov[i, m] * cov[j, k]
    isserlis += mean[i] * mean[k] * cov[j, m] + mean[i] * mean[m] * cov[j, k]
    isserlis += mean[j] * mean[k] * cov[i, m] + mean[j] * mean[m] * cov[i, k]
    assert information[d + i * d + j, d + k * d + m] == pytest.approx(isserlis, rel=1e-6, abs=1e-8)


def test_the_statistics_are_not_minimal():
    """S0-201: of p + p² statistics, p + p(p+1)/2 are free."""
    gaussian = MultivariateGaussian([1.0, 0.0, 2.0], np.diag([1.0, 2.0, 3.0]))
    assert gaussian.natural_parameters.shape == (12,)
    assert np.linalg.matrix_rank(gaussian.fisher_information(), tol=1e-9) == 3 + 6


# -- marginals and conditionals


@given(parted())
def test_marginals_in_both_forms(case):
    """S0-203, S0-209 and S0-211 with E63, for indices in any order."""
    gaussian, indices, _ = case
    moments = gaussian.marginal(indices)
    np.testing.assert_array_equal(moments.mean, gaussian.mean[indices])
    np.testing.assert_array_equal(moments.covariance, gaussian.covariance[np.ix_(indices, indices)])
    canonical = gaussian.to_canonical().marginal(indices)
    np.testing.assert_allclose(canonical.to_moments().mean, moments.mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(canonical.to_moments().covariance, moments.covariance, rtol=1e-6, atol=1e-7)
    assert canonical.log_integral() == pytest.approx(0, abs=1e-7)


@given(parted())
def test_conditionals_in_both_forms(case):
    """S0-210 and S0-212, with the chain rule S0-208 (E61, E62): log p(x) = log p(x1) + log p(x2 | x1)."""
    gaussian, given_indices, rest = case
    x = gaussian.sample(rng=3)
    moments = gaussian.conditional(given_indices, x[given_indices])
    chained = gaussian.marginal(given_indices).log_prob(x[given_indices]) + moments.log_prob(x[rest])
    assert gaussian.log_prob(x) == pytest.approx(chained, rel=1e-8, abs=1e-7)
    canonical = gaussian.to_canonical().conditional(given_indices, x[given_indices])
    precision = gaussian.precision
    np.testing.assert_allclose(canonical.precision, precision[np.ix_(rest, rest)], rtol=1e-12)
    expected = gaussian.to_canonical().loading[rest] - precision[np.ix_(rest, given_indices)] @ x[given_indices]
    np.testing.assert_allclose(canonical.loading, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(canonical.to_moments().mean, moments.mean, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(canonical.to_moments().covariance, moments.covariance, rtol=1e-6, atol=1e-7)
    evidence = gaussian.marginal(given_indices).log_prob(x[given_indices])
    assert canonical.log_integral() == pytest.approx(evidence, rel=1e-7, abs=1e-7)


def test_a_conditional_by_hand():
    """S0-210: Σ = [[2, 1], [1, 2]], μ = 0 gives X2 | x1 from N(x1/2, 3/2); rows of values give a batch."""
    gaussian = MultivariateGaussian([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])
    rows = gaussian.conditional([0], [[1.0], [4.0]])
    assert rows.batch_shape == (2,)
    np.testing.assert_allclose(rows.mean, [[0.5], [2.0]])
    np.testing.assert_allclose(rows.covariance, [[1.5]])


def test_batches_of_gaussians_have_marginals_and_conditionals():
    rng = np.random.default_rng(5)
    batch = MultivariateGaussian(rng.normal(size=(3, 4)), np.stack([random_covariance(rng, 4) for _ in range(3)]))
    values = rng.normal(size=(3, 2))
    conditional, canonical = batch.conditional([3, 1], values), batch.to_canonical().conditional([3, 1], values)
    marginal = batch.to_canonical().marginal([2, 0]).to_moments()
    for place, member in enumerate(batch):
        alone = member.conditional([3, 1], values[place])
        np.testing.assert_allclose(conditional[place].mean, alone.mean, rtol=1e-12)
        np.testing.assert_allclose(conditional[place].covariance, alone.covariance, rtol=1e-12)
        np.testing.assert_allclose(canonical.to_moments()[place].mean, alone.mean, rtol=1e-9)
        np.testing.assert_allclose(marginal[place].covariance, member.marginal([2, 0]).covariance, rtol=1e-9)


def test_pairwise_conditional_distribution():
    """S0-213: given the rest, a pair has the covariance Λ_II⁻¹, a 2 × 2 inverse."""
    rng = np.random.default_rng(6)
    gaussian = MultivariateGaussian(np.zeros(5), random_covariance(rng, 5))
    inner = gaussian.precision[np.ix_([1, 3], [1, 3])]
    by_hand = np.array([[inner[1, 1], -inner[0, 1]], [-inner[0, 1], inner[0, 0]]]) / np.linalg.det(inner)
    np.testing.assert_allclose(gaussian.conditional([0, 2, 4], np.zeros(3)).covariance, by_hand, rtol=1e-9)


# -- independence


def test_partial_correlation_is_that_of_residuals():
    """S0-214 with E64: the correlation of what is left of two columns after regression on the others."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(300, 5)) @ rng.normal(size=(5, 5))
    fitted = MultivariateGaussian.estimate(MultivariateGaussian.statistics(rows))
    rest = np.column_stack([np.ones(300), rows[:, [0, 2, 3]]])
    left = rows[:, [1, 4]] - rest @ np.linalg.lstsq(rest, rows[:, [1, 4]], rcond=None)[0]
    found = fitted.partial_correlations()
    assert found[1, 4] == pytest.approx(np.corrcoef(left.T)[0, 1], abs=1e-9)
    np.testing.assert_array_equal(np.diagonal(found), 1)
    precision = fitted.precision[np.ix_([1, 4], [1, 4])]
    covariance = fitted.conditional([0, 2, 3], np.zeros(3)).covariance
    assert covariance[0, 1] == pytest.approx(-precision[0, 1] / np.linalg.det(precision), rel=1e-8)


def test_partial_correlation_of_two_is_their_correlation():
    """S0-214: ½ for Σ = [[2, 1], [1, 2]]."""
    gaussian = MultivariateGaussian([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])
    assert gaussian.partial_correlations()[0, 1] == pytest.approx(0.5)


def test_zeros_of_the_precision_are_missing_edges():
    """S0-215: AR(1) has a tridiagonal precision, so its graph is a chain; scales do not matter."""
    places = np.arange(6)
    covariance = 0.8 ** np.abs(places[:, None] - places)
    scales = 10.0 ** np.arange(-2, 4)
    for one in (covariance, covariance * np.outer(scales, scales)):
        graph = MultivariateGaussian(np.zeros(6), one).graph()
        assert graph.is_chain()
        assert graph.nodes == tuple("012345")
    named = MultivariateGaussian(np.zeros(2), np.eye(2)).graph(names=["a", "b"])
    assert (named.nodes, named.edges) == (("a", "b"), ())


def test_the_moral_graph_covers_the_precision():
    """S0-215: for x0 -> x2 <- x1 -> x3, parents of one child are joined."""
    weights = np.zeros((4, 4))
    weights[2, [0, 1]], weights[3, 1] = [1.0, -0.5], 2.0
    mixing = np.linalg.inv(np.eye(4) - weights)
    graph = MultivariateGaussian(np.zeros(4), mixing @ mixing.T).graph()
    assert set(map(frozenset, graph.edges)) == {frozenset(edge) for edge in ("01", "02", "12", "13")}


def test_graphs_that_cannot_be_are_refused():
    with pytest.raises(InvalidData, match="to name"):
        MultivariateGaussian(np.zeros(2), np.eye(2)).graph(names=["a"])
    with pytest.raises(InvalidData, match="a graph each"):
        MultivariateGaussian(np.zeros(2), [np.eye(2)] * 3).graph()


# -- products


@given(SEEDS)
def test_products_and_quotients_add(seed):
    rng = np.random.default_rng(seed)
    one, other = (CanonicalGaussian(rng.normal(size=3), random_covariance(rng, 3), 0.5) for _ in range(2))
    x = rng.normal(size=(4, 3))
    np.testing.assert_allclose((one * other).log_value(x), one.log_value(x) + other.log_value(x), atol=1e-9)
    np.testing.assert_allclose((one * other / other).log_value(x), one.log_value(x), atol=1e-9)


def test_a_product_of_densities_is_bayes_rule():
    """N(x; 0, 1) N(2; x, 4) ∝ N(x; 0.4, 0.8), and its integral is the evidence N(2; 0, 5)."""
    prior = MultivariateGaussian([0.0], [[1.0]]).to_canonical()
    likelihood = MultivariateGaussian([2.0], [[4.0]]).to_canonical()
    posterior = (prior * likelihood).to_moments()
    np.testing.assert_allclose([posterior.mean[0], posterior.covariance[0, 0]], [0.4, 0.8])
    evidence = MultivariateGaussian([0.0], [[5.0]]).log_prob([2.0])
    assert (prior * likelihood).log_integral() == pytest.approx(evidence)


def test_what_cannot_be_normalised_says_so():
    """A factor may be flat; only its density is refused."""
    flat = CanonicalGaussian([0.0, 0.0], np.zeros((2, 2)), 0.0)
    dense = MultivariateGaussian([1.0, 2.0], np.eye(2)).to_canonical()
    assert (flat * dense) == dense
    assert flat.log_value([3.0, 4.0]) == 0
    for call in (flat.log_integral, flat.to_moments, lambda: flat.marginal([0]), lambda: flat.log_prob([0.0, 0.0])):
        with pytest.raises(Unsupported, match="not positive definite"):
            call()
    with pytest.raises(Unsupported, match="not positive definite"):
        CanonicalGaussian([0.0], [[0.0]])


def test_canonical_gaussians_are_checked_values():
    one = CanonicalGaussian([1.0, 0.0], np.eye(2))
    assert pickle.loads(pickle.dumps(one)) == one  # noqa: S301
    assert one != CanonicalGaussian([1.0, 0.0], np.eye(2), 0.0)
    with pytest.raises(InvalidModel, match="does not go with"):
        CanonicalGaussian([1.0], np.eye(2))
    with pytest.raises(InvalidModel, match="symmetric"):
        CanonicalGaussian([1.0, 0.0], [[1.0, 0.5], [0.0, 1.0]])
    with pytest.raises(InvalidData, match="do not multiply"):
        one * CanonicalGaussian([1.0], [[1.0]])
    with pytest.raises(InvalidData, match="none is left"):
        one.conditional([1, 0], [0.0, 0.0])
    with pytest.raises(TypeError):
        one * 2
