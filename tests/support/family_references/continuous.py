"""Members of the continuous families for the laws to run over, and SciPy's distributions of the same law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import stats

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
from juncture.families.family import Family

EXAMPLES: dict[str, list[Family]] = {
    "Beta": [Beta(6, 9), Beta(1, 1), Beta(0.5, 0.5), Beta(2, 1), Beta(0.05, 30), Beta([1.5, 40.0], [3.0, 200.0])],
    "Exponential": [Exponential(1.0), Exponential(0.25), Exponential(1e-3), Exponential([0.5, 2.0, 300.0])],
    "Gamma": [Gamma(2, 3), Gamma(1, 1), Gamma(0.5, 0.2), Gamma(40, 1e-3), Gamma(0.1, 5), Gamma([3.0, 70.0], 2.0)],
    "Gaussian": [Gaussian(0, 1), Gaussian(3, 0.01), Gaussian(-1e3, 4), Gaussian([0.0, 1.0, 2.0], [1.0, 1e-4, 100.0])],
    "InverseGamma": [
        InverseGamma(3, 4),
        InverseGamma(0.5, 1),
        InverseGamma(1.5, 0.01),
        InverseGamma(60, 500),
        InverseGamma([2.5, 8.0], [1.0, 3.0]),
    ],
    "Laplace": [Laplace(0, 1), Laplace(-2, 0.5), Laplace(100, 3), Laplace([0.0, 1.0], [2.0, 0.01])],
    "Lomax": [Lomax(3, 4), Lomax(0.7, 1), Lomax(1.5, 0.02), Lomax(4, 30), Lomax([2.5, 5.0], [1.0, 10.0])],
    "Pareto": [Pareto(3, 2), Pareto(0.8, 1), Pareto(1.5, 0.01), Pareto(30, 5), Pareto([2.5, 4.0], [1.0, 10.0])],
    "ScaledInverseChiSquared": [
        ScaledInverseChiSquared(6, 2),
        ScaledInverseChiSquared(1, 1),
        ScaledInverseChiSquared(100, 0.01),
        ScaledInverseChiSquared([5.0, 9.0], [1.0, 30.0]),
    ],
    "StudentT": [
        StudentT(5),
        StudentT(1, 2, 0.5),
        StudentT(1.5, -1, 3),
        StudentT(300, 10, 0.1),
        StudentT([3.0, 2.5], [0.0, 4.0], [1.0, 2.0]),
    ],
    "Uniform": [Uniform(0, 1), Uniform(0, 0.5), Uniform(-3, 100), Uniform([0.0, 1.0], [2.0, 1.001])],
    "VonMises": [
        VonMises(0, 2),
        VonMises(1, 0.01),
        VonMises(-3, 5),
        VonMises(0.5, 200),
        VonMises(0.0, 0.0),
        VonMises([0.3, 2.0], [1.0, 30.0]),
    ],
    "Weibull": [Weibull(2, 3), Weibull(1, 1), Weibull(0.7, 0.1), Weibull(15, 40), Weibull([1.5, 5.0], [1.0, 2.0])],
}

REFERENCES: dict[str, Callable[[Any], Any]] = {
    "Beta": lambda d: stats.beta(d.a, d.b),
    "Exponential": lambda d: stats.expon(scale=1 / d.rate),
    "Gamma": lambda d: stats.gamma(d.shape, scale=1 / d.rate),
    "Gaussian": lambda d: stats.norm(d.mean, d.standard_deviation),
    "InverseGamma": lambda d: stats.invgamma(d.shape, scale=d.scale),
    "Laplace": lambda d: stats.laplace(d.location, d.scale),
    "Lomax": lambda d: stats.lomax(d.shape, scale=d.scale),
    "Pareto": lambda d: stats.pareto(d.shape, scale=d.scale),
    "ScaledInverseChiSquared": lambda d: stats.invgamma(d.degrees / 2, scale=d.degrees * d.scale / 2),
    "StudentT": lambda d: stats.t(d.degrees, d.location, d.scale),
    "Uniform": lambda d: stats.uniform(d.low, d.high - d.low),
    "Weibull": lambda d: stats.weibull_min(d.shape, scale=d.scale),
}
"""SciPy's von Mises turns its range with the mean and gives the variance of that range, so it is no reference here:
`families/test_continuous.py` compares what is the same."""
