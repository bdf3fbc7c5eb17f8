"""Estimates of continuous families that iterate or keep the sample, against SciPy's fits."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from juncture.errors import InvalidData, InvalidModel
from juncture.families.continuous.gamma import Gamma
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.continuous.laplace import Laplace
from juncture.families.continuous.lomax import Lomax
from juncture.families.continuous.pareto import Pareto
from juncture.families.continuous.student_t import StudentT
from juncture.families.continuous.uniform import Uniform
from juncture.families.continuous.von_mises import VonMises
from juncture.families.continuous.weibull import Weibull

# -- estimates that iterate


@given(st.floats(-6, 8))
def test_gamma_shapes_from_tiny_to_huge_are_matched(exponent):
    """The shape is found from its gap to 1e-12; from rounded mean parameters as well as those allow."""
    from juncture.families.matching import match_shape, shape_gap

    shape = 10.0**exponent
    assert match_shape(shape_gap(np.asarray(shape))[0]) == pytest.approx(shape, rel=1e-12)
    rounding = 1e-15 * max(1.0, np.log(shape)) * max(1.0, 2 * shape)
    for member in (Gamma(shape, 3.0), InverseGamma(shape, 0.1)):
        found = type(member).from_mean_parameters(member.mean_parameters)
        assert found.shape == pytest.approx(shape, rel=1e-12 + 10 * rounding)


def test_the_gap_of_a_gamma_shape_is_continuous_where_its_formula_changes():
    from juncture.families.matching import LARGE_SHAPE, shape_gap

    below, above = (shape_gap(np.asarray(LARGE_SHAPE * factor)) for factor in (1 - 1e-15, 1.0))
    assert below[0] == pytest.approx(above[0], rel=1e-13)
    assert below[1] == pytest.approx(above[1], rel=1e-12)


@given(st.floats(-9, 12))
def test_concentrations_from_tiny_to_huge_are_matched(exponent):
    concentration = 10.0**exponent
    member = VonMises(0.7, concentration)
    found = VonMises.from_mean_parameters(member.mean_parameters)
    assert found.concentration == pytest.approx(concentration, rel=1e-12 + 1e-15 * max(1.0, concentration))
    assert found.mean == pytest.approx(0.7)


def test_gamma_estimate_is_scipys():
    data = stats.gamma(2.5, scale=0.5).rvs(500, random_state=0)
    shape, _, scale = stats.gamma.fit(data, floc=0)
    found = Gamma.estimate(Gamma.statistics(data))
    assert (found.shape, found.rate) == pytest.approx((shape, 1 / scale), rel=1e-6)


def test_inverse_gamma_estimate_is_the_gamma_of_the_inverses():
    data = stats.gamma(0.8, scale=2).rvs(300, random_state=1)
    gamma, inverse = Gamma.estimate(Gamma.statistics(data)), InverseGamma.estimate(InverseGamma.statistics(1 / data))
    assert (inverse.shape, inverse.scale) == pytest.approx((gamma.shape, gamma.rate), rel=1e-10)


def test_known_shapes():
    data = [1.0, 2.0, 6.0]
    assert Gamma.estimate(Gamma.statistics(data, shape=6)) == Gamma(6, 2)
    found = InverseGamma.estimate(InverseGamma.statistics(data, shape=2))
    assert (found.shape, found.scale) == pytest.approx((2, 2 / np.mean(1 / np.array(data))))


def full_likelihood_cases():
    laplace = stats.laplace(3, 2).rvs(101, random_state=0)
    pareto = stats.pareto(1.7, scale=2).rvs(100, random_state=1)
    weibull = stats.weibull_min(1.4, scale=3).rvs(200, random_state=2)
    student = stats.t(3, 1, 2).rvs(400, random_state=3)
    lomax = stats.lomax(2.2, scale=3).rvs(400, random_state=4)
    return {
        "Laplace": (Laplace, laplace, stats.laplace.fit(laplace)),
        "Pareto": (Pareto, pareto, stats.pareto.fit(pareto, floc=0)[::2]),
        "Weibull": (Weibull, weibull, stats.weibull_min.fit(weibull, floc=0)[::2]),
        "StudentT": (StudentT, student, stats.t.fit(student)),
        "Lomax": (Lomax, lomax, stats.lomax.fit(lomax, floc=0)[::2]),
    }


@pytest.mark.parametrize("name", ["Laplace", "Pareto", "Weibull", "StudentT", "Lomax"])
def test_nothing_told_gives_the_full_maximum_likelihood(name):
    """SciPy's fit, by a general optimiser, finds the same to its tolerance and nothing more likely."""
    family, data, reference = full_likelihood_cases()[name]
    statistics = family.statistics(data)
    found = family.estimate(statistics)
    assert [getattr(found, parameter) for parameter in family.parameters] == pytest.approx(reference, rel=2e-3)
    assert found.log_likelihood(statistics) >= family(*reference).log_likelihood(statistics) - 1e-9
    assert found.log_likelihood(statistics) == pytest.approx(np.sum(found.log_prob(data)))


@pytest.mark.parametrize("name", ["Laplace", "Pareto", "Weibull", "StudentT", "Lomax"])
def test_weights_are_repetitions_in_a_sample(name):
    family, data, _ = full_likelihood_cases()[name]
    weights = np.arange(len(data)) % 3
    weighted = family.estimate(family.statistics(data, weights=weights))
    repeated = family.estimate(family.statistics(np.repeat(data, weights)))
    for parameter in family.parameters:
        assert getattr(weighted, parameter) == pytest.approx(getattr(repeated, parameter), rel=1e-8)


@pytest.mark.parametrize("name", ["Laplace", "Pareto", "Weibull", "StudentT", "Lomax"])
def test_columns_of_weights_are_a_batch_of_estimates(name):
    family, data, _ = full_likelihood_cases()[name]
    weights = np.random.default_rng(0).random((len(data), 2))
    together = family.estimate(family.statistics(data, weights=weights))
    assert together.batch_shape == (2,)
    for column in range(2):
        alone = family.estimate(family.statistics(data, weights=weights[:, column]))
        for parameter in family.parameters:
            assert getattr(together, parameter)[column] == pytest.approx(getattr(alone, parameter), rel=1e-8)


def test_student_t_of_known_degrees():
    data = stats.t(4, 1, 2).rvs(300, random_state=0)
    statistics = StudentT.statistics(data, degrees=4)
    found = StudentT.estimate(statistics)
    reference = stats.t.fit(data, f0=4)
    assert (found.degrees, found.location, found.scale) == pytest.approx(reference, rel=1e-3, abs=1e-3)
    assert found.log_likelihood(statistics) >= StudentT(*reference).log_likelihood(statistics) - 1e-9


def test_a_fixed_parameter_makes_sums_of_its_own_for_each_member_of_a_batch():
    data = np.array([1.0, 2.0, 6.0])
    together = Laplace([0.0, 2.0], 1.0).statistics(data)
    assert together.batch_shape == (2,)
    assert together.total[:, 0].tolist() == [9.0, 5.0]
    assert Laplace.estimate(together) == Laplace([0.0, 2.0], [3.0, 5 / 3])


def test_sums_for_another_fixed_parameter_are_refused():
    statistics = Laplace.statistics([1.0, 2.0], location=1.0)
    with pytest.raises(InvalidData, match="its own location"):
        Laplace(0.0, 1.0).log_likelihood(statistics)
    with pytest.raises(InvalidData, match="its own location"):
        Laplace(0.0, 1.0).score(Laplace.statistics([1.0, 2.0]))
    with pytest.raises(InvalidModel, match="takes location by name"):
        Laplace.from_natural_parameters([-1.0])


@pytest.mark.parametrize(
    ("member", "other"),
    [
        (Laplace(0, 1), Laplace(2, 0.5)),
        (Laplace(3, 2), Laplace(3, 0.7)),
        (Pareto(2, 3), Pareto(1.5, 2)),
        (Pareto(2, 3), Pareto(4, 3)),
        (Weibull(1.5, 2), Weibull(0.8, 3)),
        (Weibull(2, 1), Weibull(2, 3)),
    ],
)
def test_divergences_where_the_fixed_parameter_differs(member, other):
    def integrand(x):
        return member.prob(x) * (member.log_prob(x) - other.log_prob(x))

    cuts = [member.quantile(p) for p in (0, 1e-9, 0.01, 0.3, 0.5, 0.9, 0.999, 1 - 1e-9, 1)]
    expected = sum(integrate.quad(integrand, low, high)[0] for low, high in pairwise(cuts))
    assert member.kl_divergence(other) == pytest.approx(expected, rel=1e-6)
    assert member.cross_entropy(other) == pytest.approx(member.entropy() + expected, rel=1e-6)


def test_divergence_of_paretos_is_infinite_where_the_other_starts_later():
    assert Pareto(2, 1).kl_divergence(Pareto(2, 1.5)) == np.inf


# -- the sample and the range as statistics


def test_samples_add_scale_and_travel():
    from juncture.families.statistics_document import statistics_from_json

    first, second = StudentT.statistics([1.0, 5.0]), StudentT.statistics([2.0], weights=[3.0])
    both = first + second
    assert both.values.tolist() == [1.0, 5.0, 2.0]
    assert both.weights.tolist() == [1.0, 1.0, 3.0]
    assert float(both.weight) == 5
    assert both.scaled(2).weights.tolist() == [2.0, 2.0, 6.0]
    assert both + second.scaled(0) == both  # rows that weigh nothing are left out
    assert statistics_from_json(both.to_json()) == both
    with pytest.raises(InvalidData, match="same is known"):
        first + StudentT.statistics([2.0], degrees=3)


def test_ranges_add_scale_and_travel():
    from juncture.families.statistics_document import statistics_from_json

    first, second = Uniform.statistics([1.0, 5.0]), Uniform.statistics([2.0, 9.0, -1.0], weights=[3.0, 1.0, 0.0])
    both = first + second
    assert (float(both.weight), float(both.low), float(both.high)) == (6, 1, 9)
    assert first + Uniform.statistics([]) == first
    assert Uniform.statistics([]) + first == first
    assert first + second.scaled(0) == first
    assert statistics_from_json(both.to_json()) == both
    assert Uniform(0, 10).log_likelihood(both) == pytest.approx(-6 * np.log(10))
    assert Uniform(0, 8).log_likelihood(both) == -np.inf


def test_the_range_of_long_data():
    data = np.random.default_rng(0).random(300_000)
    found = Uniform.estimate(Uniform.statistics(data))
    assert (found.low, found.high) == (data.min(), data.max())
    assert Uniform.estimate(Uniform.statistics(data, low=0)) == Uniform(0, data.max())


def test_weighted_median():
    sample = Laplace.statistics([3.0, 1.0, 2.0, 10.0], weights=[1.0, 1.0, 1.0, 2.0])
    assert sample.median() == 3.0
    assert Laplace.statistics([4.0, 1.0, 2.0, 10.0]).median() == 3.0
