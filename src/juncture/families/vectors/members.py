"""The families of vectors and matrices."""

from __future__ import annotations

from juncture.families.family import Family
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.dirichlet_multinomial import DirichletMultinomial
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multinomial import Multinomial
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.families.vectors.wishart import Wishart

MEMBERS: tuple[type[Family], ...] = (
    Dirichlet,
    DirichletMultinomial,
    InverseWishart,
    Multinomial,
    MultivariateGaussian,
    MultivariateStudentT,
    NormalGamma,
    NormalInverseGamma,
    NormalInverseWishart,
    Wishart,
)
