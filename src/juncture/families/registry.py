"""Every family by its name, as in files; the tests run their laws over this table, and over the conjugate pairs."""

from __future__ import annotations

from juncture.families.conjugacy import Pair, pairs_of
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
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.beta_negative_binomial import BetaNegativeBinomial
from juncture.families.discrete.binomial import Binomial
from juncture.families.discrete.categorical import Categorical
from juncture.families.discrete.geometric import Geometric
from juncture.families.discrete.hypergeometric import Hypergeometric
from juncture.families.discrete.negative_binomial import NegativeBinomial
from juncture.families.discrete.poisson import Poisson
from juncture.families.family import Family
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.dirichlet_multinomial import DirichletMultinomial
from juncture.families.vectors.independent import Independent
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multinomial import Multinomial
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.families.vectors.wishart import Wishart

DISCRETE = (
    Bernoulli, Geometric, Binomial, NegativeBinomial, Categorical, Poisson,
    Hypergeometric, BetaBinomial, BetaNegativeBinomial,
)  # fmt: skip
CONTINUOUS = (
    Beta, Exponential, Gamma, Gaussian, InverseGamma, Laplace, Lomax, Pareto, ScaledInverseChiSquared, StudentT,
    Uniform, VonMises, Weibull,
)  # fmt: skip
VECTORS = (
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

FAMILIES: dict[str, type[Family]] = {family.__name__: family for family in (*DISCRETE, *CONTINUOUS, *VECTORS)}

COMPOSED: dict[str, type[Family]] = {Independent.__name__: Independent}  # of other families, without parameters

PAIRS: tuple[Pair, ...] = tuple(pair for family in FAMILIES.values() for pair in pairs_of(family))
