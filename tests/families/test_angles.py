"""Von Mises: angles, their distribution function, and the Gaussian they become."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from juncture.errors import Unsupported
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.von_mises import VonMises


@pytest.mark.parametrize("concentration", [0.0, 1e-3, 2.0, 49.9, 50.1, 1e4])
@pytest.mark.parametrize("mean", [0.0, 2.5, -9.0])
def test_the_distribution_function_of_angles(mean, concentration):
    member = VonMises(mean, concentration)
    cuts, center = np.linspace(-np.pi, np.pi, 25), (mean + np.pi) % (2 * np.pi) - np.pi
    width = min(1.0, 1 / np.sqrt(max(concentration, 1.0)))
    peaks = [center + step * width for step in (-3, 0, 3)]
    ends = np.unique(np.clip([*cuts, *peaks], -np.pi, np.pi))
    parts = [integrate.quad(member.prob, a, b, epsabs=1e-13)[0] for a, b in pairwise(ends)]
    np.testing.assert_allclose(member.cdf(ends), np.append(0, np.cumsum(parts)), atol=1e-11)
    probabilities = np.array([1e-6, 0.1, 0.5, 0.999])
    np.testing.assert_allclose(member.cdf(member.quantile(probabilities)), probabilities, atol=1e-12)


def test_angles_count_modulo_a_turn():
    member = VonMises(1.0, 3.0)
    x = np.array([-3.0, 0.5, 2.0])
    np.testing.assert_allclose(member.log_prob(x + 2 * np.pi), member.log_prob(x), rtol=1e-12)
    np.testing.assert_allclose(member.log_prob(x), stats.vonmises(3.0, 1.0).logpdf(x), rtol=1e-12)
    assert VonMises.estimate(VonMises.statistics(x + 4 * np.pi)).mean == pytest.approx(
        VonMises.estimate(VonMises.statistics(x)).mean
    )


def test_a_large_concentration_is_a_gaussian():
    member, limit = VonMises(0.3, 1e10), Gaussian(0.3, 1e-10)
    assert member.entropy() == pytest.approx(limit.entropy(), rel=1e-9)
    x = 0.3 + np.array([-2e-5, 0.0, 1e-5])
    np.testing.assert_allclose(member.log_prob(x), limit.log_prob(x), rtol=1e-8)
    assert member.kl_divergence(VonMises(0.3 + 1e-5, 1e10)) == pytest.approx(0.5, rel=1e-6)


def test_angles_have_no_linear_variance():
    with pytest.raises(Unsupported, match="circular_variance"):
        _ = VonMises(0, 1).variance
    assert VonMises(0, 0).circular_variance == 1
    with pytest.raises(Unsupported, match="all angles are alike"):
        _ = VonMises(0, 0).mode
