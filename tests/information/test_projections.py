"""M-, I- and α-projections: the bimodal example, moments, the Pythagorean identity over all exponential families."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.components.mixture import Mixture
from juncture.errors import InvalidData, Unsupported
from juncture.factors.factor import Factor
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.pareto import Pareto
from juncture.families.continuous.student_t import StudentT
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.poisson import Poisson
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.information.atoms import empirical
from juncture.information.density import Density
from juncture.information.divergences import alpha_divergence, kl_divergence
from juncture.information.projections import alpha_projection, i_projection, m_projection
from juncture.variables import Variable
from support.family_examples import INTERIOR, draws, members_of, over


def bimodal():
    return Density.mixture([0.5, 0.5], [Gaussian(-3.0, 1.0), Gaussian(3.0, 1.0)])


def test_m_projection_covers_both_modes():
    """S4-242."""
    found = m_projection(bimodal(), Gaussian)
    assert (found.mean, found.variance) == pytest.approx((0.0, 10.0))
    assert kl_divergence(bimodal(), found) == pytest.approx(0.461995, abs=1e-6)


def test_i_projection_settles_on_a_mode():
    """S4-241: two global optima, and a third local one in the middle."""
    found = i_projection(bimodal(), Gaussian)
    assert len(found) == 3
    assert sorted(each.member.mean for each in found[:2]) == pytest.approx([-2.984306, 2.984306], abs=1e-6)
    assert [each.member.variance for each in found] == pytest.approx([1.047283, 1.047283, 7.528270], abs=1e-6)
    assert [each.divergence for each in found] == pytest.approx([0.688769, 0.688769, 0.840621], abs=1e-6)
    assert found[2].member.mean == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("alpha", "mean", "variance"),
    [
        (-1.0, 2.99260, 1.02024), (-0.5, 2.99034, 1.02730), (0.0, 2.98431, 1.04728), (0.25, 0.0, 8.61541),
        (0.5, 0.0, 9.30176), (0.75, 0.0, 9.72961), (1.0, 0.0, 10.0), (1.5, 0.0, 10.29863), (2.0, 0.0, 10.45145),
    ],
)  # fmt: skip
def test_alpha_projection_includes_more_with_alpha(alpha, mean, variance):
    """S4-258, with the table of (a)-19."""
    best = alpha_projection(bimodal(), Gaussian, alpha)[0]
    assert (abs(best.member.mean), best.member.variance) == pytest.approx((mean, variance), abs=1e-5)
    assert best.divergence == pytest.approx(alpha_divergence(bimodal(), best.member, alpha))


def test_nearby_members_are_farther():
    best = alpha_projection(bimodal(), Laplace, 0.0)[0]
    for step in (0.99, 1.01):
        assert kl_divergence(Laplace(best.member.location, best.member.scale * step), bimodal()) > best.divergence
        assert kl_divergence(Laplace(best.member.location * step, best.member.scale), bimodal()) > best.divergence


@over(INTERIOR)
def test_the_pythagorean_identity(member):
    """S4-243: H(p, q) - H(p, q*) = KL(q* ‖ q), for the M-projection q* of data p, over every exponential family."""
    relatives = [other for other in members_of(type(member)) if same_knowledge(member, other)]
    data = draws(member, 60)
    nearest = type(member).estimate(member.statistics(data))
    for other in relatives[:3]:
        gap = np.mean(nearest.log_prob(data)) - np.mean(other.log_prob(data))
        assert gap == pytest.approx(nearest.kl_divergence(other), rel=1e-6, abs=1e-8)


def same_knowledge(member, other):
    own, theirs = member._known(), other._known()
    same_shape = other in INTERIOR and other.event_shape == member.event_shape
    return same_shape and all(np.array_equal(own[name], theirs[name]) for name in own)


def test_the_pythagorean_identity_of_a_density():
    """S4-243, with KL itself."""
    nearest, other = m_projection(bimodal(), Gaussian), Gaussian(1.0, 6.0)
    gap = kl_divergence(bimodal(), other) - kl_divergence(bimodal(), nearest)
    assert gap == pytest.approx(kl_divergence(nearest, other))


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5))
def test_m_projection_matches_moments(weights):
    """S4-242: E u(X) under p and under its projection."""
    table = Factor([Variable("count", len(weights))], np.array(weights) / np.sum(weights))
    mean = table.expectation("count")
    assert m_projection(table, Poisson).rate == pytest.approx(mean)
    assert m_projection(table.values, Binomial, trials=len(weights) - 1).mean == pytest.approx(mean)
    assert m_projection(table, Categorical, num_states=len(weights)).probabilities == pytest.approx(table.values)


@pytest.mark.parametrize(
    ("p", "family"), [(Gamma(2.0, 3.0), Gamma), (Geometric(0.3), Geometric), (Beta(2.0, 3.0), Beta)]
)
def test_a_member_is_its_own_projection(p, family):
    assert m_projection(p, family) == p
    best = i_projection(p, family)[0]
    assert best.divergence == pytest.approx(0.0, abs=1e-9)
    assert best.member.mean == pytest.approx(p.mean, rel=1e-6)


def test_projections_between_families():
    assert m_projection(Beta(2.0, 3.0), Gaussian).variance == pytest.approx(Beta(2.0, 3.0).variance)
    assert m_projection(Geometric(0.3), Poisson).rate == pytest.approx(Geometric(0.3).mean)
    projected = m_projection(Gamma(3.0, 2.0), Gaussian, variance=4.0)
    assert (projected.mean, projected.variance) == pytest.approx((1.5, 4.0))
    wide = i_projection(StudentT(1.0), Gaussian)[0]  # no moments, and yet a nearest Gaussian
    assert wide.member.mean == pytest.approx(0.0, abs=1e-6)
    half = i_projection(bimodal(), Gamma)[0]
    assert half.divergence > 0.688769


def test_what_is_known_stays():
    found = i_projection(bimodal(), Gaussian, variance=1.0)
    assert {each.member.variance for each in found} == {1.0}
    assert i_projection([0.1, 0.2, 0.3, 0.4], Binomial, trials=3)[0].member.trials == 3


def test_the_projection_of_data_is_the_maximum_likelihood_estimate():
    """S0-161, S4-030; vectors too."""
    rows = np.random.default_rng(0).normal(size=(40, 2))
    fitted = MultivariateGaussian.estimate(MultivariateGaussian.statistics(rows))
    found = m_projection(empirical(rows), MultivariateGaussian)
    assert found.mean == pytest.approx(fitted.mean)
    assert found.covariance == pytest.approx(fitted.covariance)


# --- mixtures, and vectors -------------------------------------------------------------------------------------------
def two_bumps(mean, covariance=None):
    """½ N(-m, Σ) + ½ N(m, Σ)."""
    mean = np.asarray(mean)
    spread = np.eye(len(mean)) if covariance is None else covariance
    return Mixture([0.5, 0.5], [MultivariateGaussian(sign * mean, spread) for sign in (-1, 1)])


def test_a_mixture_is_projected_as_its_density():
    mixture = Mixture([0.5, 0.5], Gaussian([-3.0, 3.0], [1.0, 1.0]))
    assert m_projection(mixture, Gaussian).variance == pytest.approx(10.0)
    for mine, same in zip(i_projection(mixture, Gaussian), i_projection(bimodal(), Gaussian), strict=True):
        assert mine.divergence == pytest.approx(same.divergence, abs=1e-9)
        assert mine.member.variance == pytest.approx(same.member.variance, abs=1e-6)
    assert kl_divergence(mixture, Gaussian(0.0, 10.0)) == pytest.approx(0.461995, abs=1e-6)
    assert kl_divergence(Gaussian(0.0, 10.0), mixture) == pytest.approx(
        kl_divergence(Gaussian(0.0, 10.0), bimodal()), rel=1e-9
    )
    counts = Mixture([0.25, 0.75], Poisson([1.0, 5.0]))
    assert m_projection(counts, Poisson).rate == pytest.approx(4.0)


@given(st.integers(1, 4), st.integers(0, 1000))
def test_m_projection_of_two_bumps(size, seed):
    """S4-242: N(0, Σ + m mᵀ)."""
    rng = np.random.default_rng(seed)
    mean, root = rng.normal(size=size), rng.normal(size=(size, size))
    covariance = root @ root.T + 0.1 * np.eye(size)
    found = m_projection(two_bumps(mean, covariance), MultivariateGaussian)
    assert found.mean == pytest.approx(np.zeros(size), abs=1e-12)
    assert found.covariance == pytest.approx(covariance + np.outer(mean, mean), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("mean", [[3.0, 0.0], [2.0, -1.0, 2.0], [1.5, 1.5, 1.5, 1.5]])
def test_i_projection_of_two_bumps_is_the_one_dimensional_one_along_m(mean):
    """S4-241, S4-242: μ = ±2.984306, variance 1.047283, KL .688769; the middle one; M's KL .461995."""
    along = np.array(mean) / 3
    found = i_projection(two_bumps(mean), MultivariateGaussian)
    assert sorted(one.member.mean @ along for one in found) == pytest.approx([-2.984306, 0.0, 2.984306], abs=1e-6)
    assert [one.divergence for one in found] == pytest.approx([0.688769, 0.688769, 0.840621], abs=1e-6)
    for one, variance in zip(found, (1.047283, 1.047283, 7.528270), strict=True):
        expected = np.eye(len(mean)) + (variance - 1) * np.outer(along, along)
        assert one.member.covariance == pytest.approx(expected, abs=1e-6)
    (covers,) = alpha_projection(two_bumps(mean), MultivariateGaussian, 1.0)
    assert covers.divergence == pytest.approx(0.461995, abs=1e-6)


@given(st.integers(0, 1000))
def test_projections_move_with_linear_maps(seed):
    """In other coordinates A x + b the nearest Gaussians are the images, at the same divergence."""
    rng = np.random.default_rng(seed)
    turn, shift = rng.normal(size=(2, 2)) + 2 * np.eye(2), rng.normal(size=2)
    moved = Mixture(
        [0.5, 0.5],
        [MultivariateGaussian(sign * turn @ [1.0, 2.0] + shift, turn @ turn.T) for sign in (-1, 1)],
    )
    before = i_projection(two_bumps([1.0, 2.0]), MultivariateGaussian)[0]
    after = i_projection(moved, MultivariateGaussian)[0]
    assert after.divergence == pytest.approx(before.divergence, abs=1e-7)
    ends = [shift + turn @ before.member.mean, shift - turn @ before.member.mean]
    assert min(np.abs(after.member.mean - end).max() for end in ends) < 1e-4
    assert after.member.covariance == pytest.approx(turn @ before.member.covariance @ turn.T, abs=1e-4)


def test_components_of_different_covariances():
    """Against sums over a grid of the plane: the divergence, and that nothing near has a smaller one."""
    parts = [
        MultivariateGaussian([0.0, 0.0], [[1.0, 0.9], [0.9, 1.0]]),
        MultivariateGaussian([0.0, 3.0], [[1.0, -0.9], [-0.9, 1.0]]),
    ]
    p = Mixture([0.6, 0.4], parts)
    line = np.linspace(-12, 15, 541)
    points = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    log_p = p.log_prob(points)

    def on_grid(q):
        log_q = q.log_prob(points)
        return float(np.sum(np.exp(log_q) * (log_q - log_p)) * (line[1] - line[0]) ** 2)

    best, *others = i_projection(p, MultivariateGaussian)
    assert others
    assert best.divergence == pytest.approx(on_grid(best.member), abs=1e-7)
    rng = np.random.default_rng(0)
    for _ in range(5):
        root = np.linalg.cholesky(best.member.covariance) + 0.05 * np.tril(rng.normal(size=(2, 2)))
        near = MultivariateGaussian(best.member.mean + 0.05 * rng.normal(size=2), root @ root.T)
        assert on_grid(near) > best.divergence
    (covers,) = alpha_projection(p, MultivariateGaussian, 1.0)
    log_q = covers.member.log_prob(points)
    area = (line[1] - line[0]) ** 2
    assert covers.divergence == pytest.approx(np.sum(np.exp(log_p) * (log_p - log_q)) * area, abs=1e-6)


def test_a_mixture_of_one_family_has_the_averages_of_its_components():
    """S4-242: E u(X), of Dirichlet distributions E log x."""
    mixture = Mixture([0.3, 0.7], Dirichlet([[1.0, 2.0, 3.0], [4.0, 1.0, 1.0]]))
    found = m_projection(mixture, Dirichlet)
    expected = 0.3 * Dirichlet([1.0, 2.0, 3.0]).mean_parameters + 0.7 * Dirichlet([4.0, 1.0, 1.0]).mean_parameters
    assert found.mean_parameters == pytest.approx(expected, rel=1e-8)


FOUR = [MultivariateGaussian(10.0 * row, np.eye(4)) for row in [*np.eye(4), np.zeros(4)]]


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: m_projection(StudentT(1.0), Gaussian), InvalidData, "infinite"),
        (lambda: m_projection(Gaussian(0, 1), Beta), InvalidData, "has no member"),
        (lambda: m_projection([0.5, 0.5], Binomial), InvalidData, "trials"),
        (lambda: m_projection([[0.5, 0.5]], Bernoulli), InvalidData, "at a time"),
        (lambda: m_projection(Factor([Variable("a", 2), Variable("b", 2)], np.full((2, 2), 0.25)), Poisson),
         InvalidData, "one variable"),
        (lambda: i_projection(Beta(2, 3), Gaussian), Unsupported, "no Gaussian"),
        (lambda: i_projection(Pareto(3, 4), Pareto), Unsupported, "moves"),
        (lambda: i_projection(Gamma([1.0, 2.0], 1.0), Gamma), Unsupported, "one distribution"),
        (lambda: i_projection(Mixture([0.2] * 5, FOUR), MultivariateGaussian), Unsupported, "in 4 dimensions"),
        (lambda: i_projection(two_bumps([1.0, 2.0]), Gaussian), Unsupported, "among MultivariateGaussians"),
        (lambda: alpha_projection(two_bumps([1.0, 2.0]), MultivariateGaussian, 0.5), Unsupported, "alpha 0 or 1"),
        (lambda: m_projection(two_bumps([1.0, 2.0]), Dirichlet), Unsupported, "onto MultivariateGaussian"),
    ],
)  # fmt: skip
def test_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
