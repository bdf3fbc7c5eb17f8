"""`Density` and `Atoms`: normalising, resolving, refusing."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidData, InvalidModel
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.poisson import Poisson
from juncture.information.atoms import Atoms, empirical
from juncture.information.density import Density


@pytest.mark.parametrize(
    ("log_density", "interval", "log_total"),
    [
        (lambda x: -(x**2) / 2, (-np.inf, np.inf), 0.5 * np.log(2 * np.pi)),
        (lambda x: -((x - 700) ** 2) / 2 - 5000, (-np.inf, np.inf), 0.5 * np.log(2 * np.pi) - 5000),
        (lambda x: -1e6 * x**2, (-np.inf, np.inf), 0.5 * np.log(np.pi / 1e6)),
        (lambda x: -x, (0.0, np.inf), 0.0),
        (lambda x: x, (-np.inf, 0.0), 0.0),
        (lambda x: -0.5 * np.log(x), (0.0, 1.0), np.log(2)),
        (lambda x: -np.log1p(x**2), (-np.inf, np.inf), np.log(np.pi)),
        (lambda x: np.zeros(x.shape), (3.0, 7.0), np.log(4)),
    ],
)
def test_normalised_by_quadrature(log_density, interval, log_total):
    density = Density(log_density, *interval)
    assert density.log_normalizer == pytest.approx(log_total, abs=1e-10)
    assert density.expectation(np.ones_like) == pytest.approx(1.0)


def test_mixtures():
    density = Density.mixture([0.9, 0.1], [Gaussian(0.0, 1.0), Gaussian(50.0, 1e-6)])
    assert density.expectation(lambda x: x) == pytest.approx(5.0)
    expected = 0.1 * Gaussian(50.0, 1e-6).prob(50.0)
    assert density.prob(50.0) == pytest.approx(expected)
    assert Density(lambda x: -x, 0.0).log_prob(-1.0) == -np.inf


def test_infinite_expectations_are_seen():
    cauchy = Density(lambda x: -np.log1p(x**2))
    assert cauchy.expectation(np.square) == np.inf


def test_the_empirical_distribution():
    """S0-160."""
    seen = empirical([3, 1, 3, 3], weights=[1, 2, 1, 0])
    assert seen == Atoms([1, 3], [0.5, 0.5])
    assert seen.log_prob([1, 2])[1] == -np.inf
    assert empirical([[0, 1], [0, 1], [1, 1]]).probabilities == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: Density(lambda x: x, 1.0, 0.0), InvalidModel, "low to high"),
        (lambda: Density(lambda x: x), InvalidModel, "no finite integral"),
        (lambda: Density(lambda x: 0.0, 0.0, 1.0), InvalidModel, "as many numbers"),
        (lambda: Density(lambda x: np.full(x.shape, np.nan), 0.0, 1.0), InvalidModel, "below infinity"),
        (lambda: Density(lambda x: -x, 0.0, cuts=[-1.0]), InvalidModel, "cuts"),
        (lambda: Density.mixture([0.5, 0.6], [Gaussian(0, 1)] * 2), InvalidModel, "sums to 1.1"),
        (lambda: Density.mixture([1.0], [Poisson(1.0)]), InvalidModel, "continuous"),
        (lambda: Atoms([1, 1], [0.5, 0.5]), InvalidData, "twice"),
        (lambda: empirical([]), InvalidData, "at least one"),
        (lambda: empirical([1.0], weights=[0.0]), InvalidData, "not all 0"),
    ],
)
def test_refused(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


def test_a_density_answers_like_the_family_it_was_made_of():
    family = Gaussian(1.0, 4.0)
    density = Density(lambda x: -((x - 1.0) ** 2) / 8.0)
    points = np.linspace(-6.0, 8.0, 9)
    assert density.mean == pytest.approx(1.0, abs=1e-12)
    assert density.variance == pytest.approx(4.0, rel=1e-12)
    assert density.cdf(points) == pytest.approx(family.cdf(points), abs=1e-10)
    shares = np.array([1e-6, 0.1, 0.5, 0.9])
    assert density.quantile(shares) == pytest.approx(family.quantile(shares), abs=1e-6)
    with pytest.raises(InvalidData, match="probability from 0 to 1"):
        density.quantile(1.5)
