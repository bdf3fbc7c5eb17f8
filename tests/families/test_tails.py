"""P(X > x) and the logarithms of both tails: exact to rounding, also where the tails leave the range of numbers."""

from __future__ import annotations

import numpy as np
import pytest

from juncture.errors import InvalidData, Unsupported
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.lomax import Lomax
from juncture.families.continuous.pareto import Pareto
from juncture.families.continuous.scaled_inverse_chi_squared import ScaledInverseChiSquared
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.uniform import Uniform
from juncture.families.continuous.von_mises import VonMises
from juncture.families.continuous.weibull import Weibull
from juncture.families.cumulative import Cumulative
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.beta_negative_binomial import BetaNegativeBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from support.family_examples import REFERENCES, assert_is_a_sentence, members_of, over_families, over_providing_families

over_numbers = over_providing_families("_cdf")
SUBTRACTED = {"BetaBinomial", "BetaNegativeBinomial"}  # SciPy's upper tails are 1 - P(X ≤ x)
PROBABILITIES = np.array([1e-9, 1e-4, 0.1, 0.4, 0.5, 0.6, 0.9, 1 - 1e-4, 1 - 1e-9])

# by mpmath with 60 digits: series of positive terms for incomplete gamma and beta functions, 3F2 for the
# beta negative binomial, sums of masses for the other counts, quadrature for von Mises
EXACT = [
    ("log_sf", Gaussian(0, 1), 9.0, -43.628149113332115),
    ("log_sf", Gaussian(2, 9), 302.0, -5005.5242086942051),
    ("log_sf", Gamma(3, 1), 100000.0, -99977.667276250619),
    ("log_sf", Gamma(0.1, 2), 400.0, -808.26998617469163),
    ("log_sf", Gamma(1000, 1), 1100.0, -6.8501250144362653),
    ("log_cdf", Gamma(5e4, 1), 40000.0, -1161.8973567010646),
    ("log_cdf", Gamma(1.5, 1), 1e-250, -863.75409274324005),
    ("log_sf", InverseGamma(3, 2), 1e130, -897.72050419522604),
    ("log_cdf", InverseGamma(3, 2), 0.0001, -19980.886072075487),
    ("log_sf", ScaledInverseChiSquared(6, 2), 1e130, -894.42466732922171),
    ("log_cdf", Beta(5, 3), 1e-100, -1148.2480240592994),
    ("log_cdf", Beta(1000, 2000), 0.01, -2720.2735710833215),
    ("log_sf", Beta(5000, 5000), 0.75, -1443.2416485130252),
    ("log_sf", Beta(3, 40), 0.875, -76.679661937111679),
    ("log_sf", Binomial(9999, 0.25), 4999, -1443.2416485130252),
    ("log_cdf", Binomial(100000, 0.25), 1000, -24271.003202351303),
    ("log_sf", Binomial(30, 0.5), 28, -17.360428212313213),
    ("log_sf", Poisson(10.0), 1000, -3624.1392251073903),
    ("log_cdf", Poisson(5e4), 40000, -1078.8661670233594),
    ("log_sf", Poisson(10.0), 30, -16.34326692422294),
    ("log_sf", NegativeBinomial(2.5, 0.25), 5000, -1428.2848046062191),
    ("log_cdf", NegativeBinomial(1000, 0.25), 100, -1083.1037166468285),
    ("log_sf", Geometric(0.25), 5000, -1438.6980443313564),
    ("log_sf", StudentT(5), 1e200, -2300.3348367582322),
    ("log_sf", StudentT(300, 10, 0.5), 1000000.0, -3500.7986134573715),
    ("log_cdf", StudentT(3, 0, 2), -50.0, -9.5646510418893378),
    ("log_sf", StudentT(1e6), 60.0, -1801.7795192273431),
    ("log_cdf", VonMises(0.5, 200), -2.0, -363.27247903581694),
    ("log_sf", VonMises(0.5, 200), 2.5, -286.70044461410495),
    ("log_cdf", VonMises(2, 30), -3.0, -20.07729954421836),
    ("log_sf", VonMises(0, 2), 3.0, -6.6099776221705634),
    ("log_sf", Laplace(1, 2), 3001.0, -1500.6931471805599),
    ("log_sf", Pareto(30, 5), 1e60, -4096.3700300162592),
    ("log_sf", Lomax(4, 30), 1e100, -907.42924767096965),
    ("log_sf", Weibull(2, 3), 300.0, -10000.0),
    ("log_cdf", Weibull(2, 3), 1e-200, -923.23126177495449),
    ("log_sf", Exponential(0.25), 100000.0, -25000.0),
    ("log_sf", Uniform(0, 1), 0.9999999990686774, -20.794415416798359),
    ("log_sf", BetaNegativeBinomial(1, 2, 3), 5, -2.0149030205422648),
    ("log_sf", BetaNegativeBinomial(2.5, 0.5, 1.5), 100, -1.6733966665176368),
    ("log_sf", BetaNegativeBinomial(3, 4, 2), 1000, -20.162987465288297),
    ("log_sf", BetaNegativeBinomial(2, 1.5, 3), 1000000, -18.046394789764929),
    ("log_sf", BetaNegativeBinomial(20, 30, 10), 50, -14.457615899448178),
    ("log_sf", BetaNegativeBinomial(1, 0.125, 1), 1000000000, -2.6504314139396535),
    ("log_sf", Hypergeometric(5000, 2000, 1500), 1200, -738.90390192882537),
    ("log_sf", Hypergeometric(50, 10, 10), 8, -17.058753236633552),
    ("log_cdf", BetaBinomial(1000, 600, 20), 100, -699.00449040241406),
    ("log_cdf", BetaBinomial(20, 3, 2), 1, -4.8766099523384498),
    ("log_cdf", BetaNegativeBinomial(1e4, 50, 1e4), 10, -13514.75463636516),
]


def points_of(member):
    """Values across the distribution, and beyond its ends."""
    middle = np.asarray(member.quantile(PROBABILITIES), dtype=float)
    return np.concatenate([middle, [middle[0] - 1.0, middle[-1] + 1.0]])


@pytest.mark.parametrize(("method", "member", "x", "expected"), EXACT, ids=[f"{row[0]}-{row[1]}" for row in EXACT])
def test_far_tails(method, member, x, expected):
    found = getattr(member, method)(x)
    assert type(found) is float
    assert found == pytest.approx(expected, rel=2e-13)
    if expected > -700:
        assert getattr(member, method.removeprefix("log_"))(x) == pytest.approx(np.exp(expected), rel=1e-11)


@over_numbers
def test_both_tails_make_one(family):
    for member in members_of(family):
        x = points_of(member)
        np.testing.assert_allclose(np.asarray(member.sf(x)) + member.cdf(x), 1, rtol=0, atol=4e-15)


@over_numbers
def test_logarithms_are_those_of_the_tails(family):
    for member in members_of(family):
        x = points_of(member)
        for log_tail, tail in ((member.log_sf(x), member.sf(x)), (member.log_cdf(x), member.cdf(x))):
            np.testing.assert_allclose(np.exp(log_tail), tail, rtol=1e-12, atol=1e-300)
            assert (np.asarray(log_tail) <= 0).all()


@over_numbers
def test_tails_end_at_zero_and_one(family):
    for member in members_of(family):
        assert (member.sf(-np.inf), member.sf(np.inf)) == (1, 0)
        assert (member.log_sf(-np.inf), member.log_sf(np.inf)) == (0, -np.inf)
        assert (member.log_cdf(-np.inf), member.log_cdf(np.inf)) == (-np.inf, 0)
        assert (np.diff(member.sf(np.sort(points_of(member)))) <= 1e-14).all()


@over_numbers
def test_equal_scipy_relative_to_the_tail(family):
    if family.__name__ not in REFERENCES or family.__name__ in SUBTRACTED:
        return
    for member in members_of(family):
        frozen, x = REFERENCES[family.__name__](member), points_of(member)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(member.sf(x), frozen.sf(x), rtol=1e-7, atol=1e-300)
            np.testing.assert_allclose(member.cdf(x), frozen.cdf(x), rtol=1e-7, atol=1e-300)


@over_numbers
def test_an_interval_in_the_upper_tail_keeps_its_digits(family):
    for member in members_of(family):
        low, high = (float(x) for x in member.quantile(np.array([0.999, 1 - 1e-7])))
        tail = member.sf(low) - member.sf(high)
        assert member.interval_prob(low, high) == pytest.approx(tail, rel=1e-12)
        assert member.interval_prob(low, np.inf) == pytest.approx(member.sf(low), rel=1e-12)


def test_intervals_of_a_gaussian():
    assert Gaussian().interval_prob(9, np.inf) == pytest.approx(1.1285884059538405e-19, rel=1e-13)
    assert Gaussian().interval_prob(-np.inf, -9) == Gaussian().interval_prob(9, np.inf)
    assert Gaussian([0.0, 1.0]).interval_prob([9.0, -1.0], [10.0, 1.0]) == pytest.approx(
        [Gaussian().sf(9) - Gaussian().sf(10), Gaussian(1.0).cdf(1) - Gaussian(1.0).cdf(-1)]
    )


@over_numbers
def test_every_distribution_of_numbers_has_an_upper_tail_of_its_own(family):
    """1 - P(X ≤ x) is no upper tail."""
    assert family._sf is not Cumulative._sf


@over_families
def test_tails_of_batches_and_wrong_values(family):
    member = members_of(family)[0]
    if family._cdf is Cumulative._cdf:
        for method in (member.sf, member.log_sf, member.log_cdf):
            with pytest.raises(Unsupported) as caught:
                method(0.5)
            assert_is_a_sentence(caught.value)
        return
    for method in (member.sf, member.log_sf, member.log_cdf):
        with pytest.raises(InvalidData, match=r"NaN|missing"):
            method(np.nan)
        with pytest.raises(InvalidData):
            method("high")


def test_batches_have_the_tails_of_their_members():
    batch = BetaNegativeBinomial([1.0, 3.0], [2.0, 0.5], [3.0, 1.5])
    x = np.array([[0.0], [7.0], [400.0]])
    for method in ("cdf", "sf", "log_cdf", "log_sf"):
        expected = [[getattr(batch[k], method)(value) for k in range(2)] for value in x[:, 0]]
        np.testing.assert_allclose(getattr(batch, method)(x), expected, rtol=1e-13)
    batch = BetaBinomial(10, [1.0, 2.0], 3.0)
    np.testing.assert_allclose(batch.sf(4), [batch[0].sf(4), batch[1].sf(4)], rtol=1e-15)
