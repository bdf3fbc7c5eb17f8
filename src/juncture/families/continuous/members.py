"""The continuous families of single numbers."""

from __future__ import annotations

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

MEMBERS = (
    Beta, Exponential, Gamma, Gaussian, InverseGamma, Laplace, Lomax, Pareto, ScaledInverseChiSquared, StudentT,
    Uniform, VonMises, Weibull,
)  # fmt: skip
