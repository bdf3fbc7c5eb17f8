"""Divergences between arrays, tables, families and densities: laws over random ones, and the printed numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr

from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.evaluation.decisions.optimal_test import bayes_error, optimal_test
from juncture.factors.factor import Factor
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.uniform import Uniform
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.poisson import Poisson
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.information.atoms import empirical
from juncture.information.common_points import compare
from juncture.information.density import Density
from juncture.information.divergences import (
    alpha_divergence,
    alpha_terms,
    chi_squared_divergence,
    kl_divergence,
    pinsker_bound,
    redundancy,
    total_variation,
)
from juncture.information.entropies import cross_entropy, entropy
from juncture.variables import Variable
from support.family_examples import INTERIOR, MEMBERS, members_of, over

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.2, 0.6])
A, B = Variable("a", 2), Variable("b", 3)
NUMBERS = [member for member in MEMBERS if member.event_shape == () and hasattr(member.support, "low")]
SINGLE = [member for member in INTERIOR if member in NUMBERS]


def with_zeros(size, seed, sparsity):
    rng = np.random.default_rng(seed)
    values = rng.exponential(size=size) * (rng.random(size) >= sparsity)
    values[rng.integers(size)] += 0.1
    return values


@st.composite
def pairs(draw, *, normalized=True):
    size = draw(st.integers(1, 6))
    found = [with_zeros(size, draw(st.integers(0, 9999)), draw(st.sampled_from([0.0, 0.4]))) for _ in range(2)]
    return [values / values.sum() for values in found] if normalized else found


# -- KL


@given(pairs())
def test_kl_is_a_gap_that_closes_only_between_equals(pair):
    """S0-155, S2-075, S4-027; SciPy is the reference."""
    p, q = pair
    assert kl_divergence(p, q) == pytest.approx(max(stats.entropy(p, q), 0.0), abs=1e-12)
    assert kl_divergence(p, q) >= 0
    assert kl_divergence(p, p) == 0.0
    assert np.isinf(kl_divergence(p, q)) == bool((p > 0)[q == 0].any())


@given(pairs(), st.floats(0.01, 100))
def test_kl_to_an_unnormalized_distribution(pair, scale):
    """S4-027: KL(p ‖ c q) = KL(p ‖ q) - log c."""
    p, q = pair
    assert kl_divergence(p, scale * q) == pytest.approx(kl_divergence(p, q) - np.log(scale), abs=1e-11)


def test_kl_between_gaussians():
    """S4-028."""
    assert kl_divergence(Gaussian(0, 1), Gaussian(1, 1)) == pytest.approx(0.5)
    assert kl_divergence(Gaussian(0, 1), Gaussian(1, 4)) == pytest.approx(0.4431471806)
    assert kl_divergence(Gaussian(1, 4), Gaussian(0, 1)) == pytest.approx(1.3068528194)


def test_kl_is_not_symmetric():
    """S0-155."""
    assert kl_divergence(P, Q) != pytest.approx(kl_divergence(Q, P))


def test_redundancy_is_what_the_wrong_code_costs():
    """S4-031: E_p[length of the code for q] - H(p), in bits."""
    assert redundancy(P, Q) == pytest.approx(cross_entropy(P, Q, base=2) - entropy(P, base=2))
    assert redundancy([0.5, 0.25, 0.25], [0.25, 0.25, 0.5]) == pytest.approx(0.25)


def test_maximum_likelihood_is_the_nearest_member():
    """S0-160, S0-161, S4-030: KL(p̂ ‖ p_θ) = -H(p̂) - (1/N) Σ log p_θ(x)."""
    data = np.array([0, 3, 1, 1, 4, 2, 2, 2])
    seen = empirical(data)
    assert seen.probabilities.sum() == pytest.approx(1.0)
    divergences = [kl_divergence(seen, Poisson(rate)) for rate in np.linspace(1.5, 2.5, 101)]
    by_hand = [-entropy(seen) - np.mean(Poisson(rate).log_prob(data)) for rate in np.linspace(1.5, 2.5, 101)]
    assert divergences == pytest.approx(by_hand)
    fitted = Poisson.estimate(Poisson.statistics(data))
    assert kl_divergence(seen, fitted) <= min(divergences)


def test_the_other_direction_is_infinite_where_nothing_was_seen():
    """S0-162."""
    assert kl_divergence(Poisson(2.0), empirical([0, 1, 2])) == np.inf


# -- total variation, tests, Pinsker, χ²


@given(pairs())
def test_total_variation_is_the_best_event(pair):
    """S4-032, S4-033: over all 2^n acceptance regions; the smallest error is ½ (1 - TV)."""
    p, q = pair
    regions = [np.array(region) for region in product([False, True], repeat=len(p))]
    gains = [p[region].sum() - q[region].sum() for region in regions]
    assert total_variation(p, q) == pytest.approx(max(gains), abs=1e-12)
    test = optimal_test(p, q)
    assert p[test.accepted].sum() - q[test.accepted].sum() == pytest.approx(max(gains), abs=1e-12)
    assert bayes_error(p, q) == pytest.approx(0.5 * (1 - max(gains)), abs=1e-12)


@given(pairs(), st.floats(0.05, 0.95))
def test_the_test_with_any_prior_errs_least(pair, prior):
    p, q = pair
    assert bayes_error(p, q, prior) == pytest.approx(np.minimum(prior * p, (1 - prior) * q).sum(), abs=1e-12)


@given(pairs())
def test_pinsker(pair):
    """S4-034."""
    p, q = pair
    assert total_variation(p, q) <= pinsker_bound(p, q) + 1e-12
    assert bayes_error(p, q) >= 0.5 * (1 - pinsker_bound(p, q)) - 1e-12


def test_printed_distances():
    """S4-033, S4-034."""
    assert total_variation(P, Q) == pytest.approx(0.4)
    assert pinsker_bound(P, Q) == pytest.approx(0.424301, abs=1e-6)


def test_chi_squared():
    """Bernoulli ½ against ¼: 1/3; Σ (p - q)²/q in general."""
    assert chi_squared_divergence([0.5, 0.5], [0.25, 0.75]) == pytest.approx(1 / 3)
    assert chi_squared_divergence(Bernoulli(0.5), Bernoulli(0.25)) == pytest.approx(1 / 3)
    assert chi_squared_divergence(P, Q) == pytest.approx(((P - Q) ** 2 / Q).sum())
    assert chi_squared_divergence(Gaussian(0, 1), Gaussian(1, 1)) == pytest.approx(np.e - 1)
    assert chi_squared_divergence(Gaussian(0, 1), Gaussian(0, 0.4)) == np.inf


def test_tests_between_densities():
    """S4-032: two Gaussians split half-way; a wide one is chosen on both sides of a narrow one."""
    shifted = optimal_test(Gaussian(0, 1), Gaussian(1, 1))
    assert shifted.accepted[0] == pytest.approx((-np.inf, 0.5))
    assert (shifted.missed, shifted.error) == pytest.approx((ndtr(-0.5), ndtr(-0.5)))
    cut = np.sqrt(8 / 3 * np.log(2))
    assert optimal_test(Gaussian(0, 1), Gaussian(0, 4)).accepted[0] == pytest.approx((-cut, cut))
    wide = optimal_test(Gaussian(0, 4), Gaussian(0, 1)).accepted
    assert np.ravel(wide) == pytest.approx([-np.inf, -cut, cut, np.inf])
    assert optimal_test(Uniform(0, 2), Uniform(1, 4)).accepted[0] == pytest.approx((0.0, 2.0))
    assert bayes_error(Uniform(0, 2), Uniform(1, 4)) == pytest.approx(0.5 * (1 / 3))


def test_tests_between_counts():
    assert optimal_test(Poisson(3.0), Poisson(5.0)).accepted == ((0.0, 3.0),)
    assert optimal_test(Poisson(5.0), Poisson(3.0)).accepted == ((4.0, np.inf),)
    assert total_variation(Poisson(3.0), Poisson(5.0)) == pytest.approx(
        stats.poisson.cdf(3, 3) - stats.poisson.cdf(3, 5), abs=1e-13
    )


def test_total_variation_between_families_that_cross():
    assert total_variation(Gaussian(0, 1), Gaussian(1, 1)) == pytest.approx(2 * ndtr(0.5) - 1, abs=1e-13)
    assert total_variation(Exponential(1.0), Exponential(2.0)) == pytest.approx(0.25, abs=1e-13)
    assert total_variation(Beta(1, 2), Beta(2, 1)) == pytest.approx(0.5, abs=1e-13)
    assert total_variation(Uniform(0, 1), Uniform(2, 3)) == pytest.approx(1.0, abs=1e-13)
    assert total_variation(StudentT(1.0), StudentT(1.0, 2.0)) == pytest.approx(2 / np.pi * np.arctan(1.0), abs=1e-12)


@over(NUMBERS)
def test_distances_between_relatives_obey_pinsker(member):
    """S4-034 over the registry."""
    for other in members_of(type(member))[:2]:
        distance = total_variation(member, other)
        assert -1e-12 <= distance <= pinsker_bound(member, other) + 1e-8
        assert distance == pytest.approx(total_variation(other, member), abs=1e-9)


# -- α


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(0.5, 0.3696523928), (2.0, 0.3833333333), (-1.0, 0.5066666667), (1.0, 0.3600624406), (0.0, 0.3948162052)],
)
def test_printed_alpha_divergences(alpha, expected):
    """S4-257."""
    assert alpha_divergence(P, Q, alpha) == pytest.approx(expected, abs=1e-10)


@given(pairs(normalized=False), st.sampled_from([-1.5, -0.2, 0.0, 1e-6, 0.3, 0.5, 0.9, 1.0, 1.7]))
def test_alpha_divergence_of_any_totals(pair, alpha):
    """S4-257 with T-57: the sum runs over the whole numerator; D_α(p ‖ q) = D_{1-α}(q ‖ p) ≥ 0."""
    p, q = pair
    found = alpha_divergence(p, q, alpha)
    assert found >= 0
    assert found == pytest.approx(alpha_divergence(q, p, 1 - alpha), rel=1e-12)
    assert alpha_divergence(p, p, alpha) == pytest.approx(0.0, abs=1e-15)
    if abs(alpha) > 1e-3 and abs(1 - alpha) > 1e-3 and (p > 0).all() and (q > 0).all():
        terms = alpha * p + (1 - alpha) * q - p**alpha * q ** (1 - alpha)
        assert found == pytest.approx((terms / (alpha * (1 - alpha))).sum(), abs=1e-11, rel=1e-11)


@given(pairs(normalized=False))
def test_the_limits_of_the_alpha_divergence(pair):
    """S4-257 with T-57: Σ p log p/q - p + q at α = 1, its mirror image at 0, and continuously so."""
    p, q = pair[0] + 0.01, pair[1] + 0.01
    limit = (p * np.log(p / q) - p + q).sum()
    assert alpha_divergence(p, q, 1.0) == pytest.approx(limit, abs=1e-12)
    assert alpha_divergence(q, p, 0.0) == pytest.approx(limit, abs=1e-12)
    for step in (1e-7, -1e-7, 1e-12):
        assert alpha_divergence(p, q, 1 + step) == pytest.approx(limit, abs=1e-4 * (1 + limit) * abs(step) / 1e-7)
        assert alpha_divergence(q, p, step) == pytest.approx(limit, abs=1e-4 * (1 + limit) * abs(step) / 1e-7)


@over(SINGLE)
@pytest.mark.parametrize("alpha", [-0.5, 0.5, 1.5])
def test_the_closed_form_of_siblings_is_the_sum_or_integral(member, alpha):
    others = [each for each in members_of(type(member)) if each in SINGLE and each != member]
    if not others:
        pytest.skip("one example only")
    closed = alpha_divergence(member, others[0], alpha)
    pair = compare(member, others[0])
    try:
        numeric = pair.total(alpha_terms(pair.log_p, pair.log_q, alpha), "the divergence")
    except Unsupported:  # too slow a decay, and said so
        return
    assert numeric == pytest.approx(closed, rel=1e-5, abs=1e-7)


def test_siblings_of_vectors_have_alpha_divergences():
    """Bhattacharyya's coefficient of two Gaussians with one covariance: exp(-Δ²/8)."""
    p, q = (MultivariateGaussian([shift, 0.0], [[2.0, 1.0], [1.0, 2.0]]) for shift in (0.0, 1.0))
    assert alpha_divergence(p, q, 0.5) == pytest.approx(4 * (1 - np.exp(-(2 / 3) / 8)))
    assert alpha_divergence(p, q, 1.0) == pytest.approx(p.kl_divergence(q))


def test_unrelated_families():
    """Quadrature sees a tail that closed forms know of: N(0,1) and N(0,0.51), whose p²/q is five times as wide."""
    normal = Density(lambda x: -(x**2) / 2)
    assert alpha_divergence(normal, Gaussian(0, 0.51), 2) == pytest.approx(
        alpha_divergence(Gaussian(0, 1), Gaussian(0, 0.51), 2)
    )
    assert alpha_divergence(normal, Gaussian(0, 0.4), 2) == np.inf
    assert alpha_divergence(StudentT(2.0), Gaussian(0, 1), 2) == np.inf
    assert alpha_divergence(Laplace(0, 1), Gaussian(0, 1), 0) == pytest.approx(
        kl_divergence(Gaussian(0, 1), Laplace(0, 1))
    )
    assert alpha_divergence(Geometric(0.5), Poisson(1.0), 2) == np.inf


# -- shapes, refusals


def test_tables_are_aligned_by_name():
    p, q = Factor([A, B], np.full((2, 3), 1 / 6)), Factor([B, A], np.arange(1.0, 7.0).reshape(3, 2) / 21)
    assert kl_divergence(p, q) == pytest.approx(stats.entropy(p.values.ravel(), q.values.T.ravel()))
    assert optimal_test(p, q).accepted.shape == (2, 3)


def test_batches():
    batch = Bernoulli([0.5, 0.1])
    assert total_variation(batch, Bernoulli(0.25)) == pytest.approx([0.25, 0.15])
    assert kl_divergence(batch, Bernoulli(0.5)).shape == (2,)
    assert alpha_divergence(batch, Bernoulli([[0.3], [0.4]]), 0.5).shape == (2, 2)
    assert bayes_error(batch, Bernoulli(0.5)) == pytest.approx([0.5, 0.3])
    assert total_variation([[0.5, 0.5], [1.0, 0.0]], [0.5, 0.5]) == pytest.approx([0.0, 0.5])


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: total_variation(Gaussian(0, 1), Poisson(1.0)), Unsupported, "discrete and a continuous"),
        (lambda: total_variation(P, 2 * Q), InvalidModel, "the second distribution"),
        (lambda: chi_squared_divergence(2 * P, Q), InvalidModel, "the first distribution"),
        (lambda: kl_divergence(Factor([A], [0.5, 0.5]), Factor([B], [0.2, 0.2, 0.6])), InvalidModel, "different"),
        (lambda: alpha_divergence(P, Q, np.nan), InvalidData, "finite"),
        (lambda: bayes_error(P, Q, 1.0), InvalidData, "prior"),
        (
            lambda: total_variation(*[MultivariateGaussian([x, 0.0], np.eye(2)) for x in (0.0, 1.0)]),
            Unsupported,
            "single numbers",
        ),
    ],
)
def test_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()
