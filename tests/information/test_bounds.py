"""Chebyshev's inequality, the weak law and the central limit theorem, as examples that are checked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.errors import InvalidData
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.binomial import Binomial
from juncture.information.bounds import chebyshev_bound, samples_needed, standard_error


@given(st.integers(0, 9999), st.floats(0.1, 3.0))
def test_chebyshev_bounds_every_tail(seed, distance):
    """S2-069."""
    rng = np.random.default_rng(seed)
    values, shares = rng.normal(size=5), rng.dirichlet(np.ones(5))
    mean = shares @ values
    variance = shares @ (values - mean) ** 2
    tail = shares[np.abs(values - mean) >= distance].sum()
    assert tail <= chebyshev_bound(variance, distance) + 1e-12


@pytest.mark.parametrize("k", [1.0, 2.0, 5.0])
def test_chebyshev_is_tight_for_three_points(k):
    """S2-069: mass 1/2k² at ±k, the rest at 0, has variance 1."""
    assert chebyshev_bound(1.0, k) == pytest.approx(2 * (1 / (2 * k**2)))


def test_the_average_of_coins():
    """S2-068: by enumeration, the variance of the average of n is σ²/n."""
    n, p = 12, 0.3
    counts = np.arange(n + 1)
    shares = np.asarray(Binomial(n, p).prob(counts))
    assert shares @ (counts / n - p) ** 2 == pytest.approx(standard_error(p * (1 - p), n) ** 2)


def test_weak_law():
    """S2-070: 500 tosses, and the bound holds."""
    assert samples_needed(0.25, 0.1, 0.05) == 500
    inside = Binomial(500, 0.5).cdf(299) - Binomial(500, 0.5).cdf(200)
    assert 1 - inside <= 0.05


def test_central_limit():
    """S2-071: the distance between the binomial's and the normal's distribution functions shrinks like 1/√n."""

    def distance(n):
        counts = np.arange(n + 1)
        normal = Gaussian(0.3 * n, 0.21 * n)
        return np.abs(Binomial(n, 0.3).cdf(counts) - normal.cdf(counts + 0.5)).max()

    distances = [distance(n) for n in (10, 100, 1000, 10_000)]
    assert distances == sorted(distances, reverse=True)
    assert distances[-1] < 2e-3


@pytest.mark.parametrize(
    "ask",
    [
        lambda: chebyshev_bound(-1.0, 1.0),
        lambda: chebyshev_bound(1.0, 0.0),
        lambda: samples_needed(1.0, 0.1, 0.0),
        lambda: standard_error(1.0, 0),
    ],
)
def test_refused(ask):
    with pytest.raises(InvalidData):
        ask()
