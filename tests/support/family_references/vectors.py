"""Members of the families of vectors, matrices and pairs, and SciPy's distributions of the same law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from juncture.families.family import Family
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.normal_gamma import NormalGamma, NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.families.vectors.wishart import Wishart

ROUND = [[2.0, 0.5], [0.5, 1.0]]
NARROW = [[1.0, 0.999], [0.999, 1.0]]  # correlated almost fully
UNITS = [[1e-2, 2.0], [2.0, 1e3]]  # columns in different units
CUBE = [[2.0, 1.0, -0.5], [1.0, 3.0, 0.25], [-0.5, 0.25, 1.0]]

EXAMPLES: dict[str, list[Family]] = {
    "Dirichlet": [
        Dirichlet([1.0, 2.0, 5.0]), Dirichlet([1.0, 1.0, 1.0]), Dirichlet([0.3, 0.5]), Dirichlet([2.0, 900.0, 40.0]),
        Dirichlet(np.linspace(0.5, 3.0, 12)), Dirichlet([[3.0, 2.0], [1.0, 4.0], [20.0, 30.0]]),
    ],
    "MultivariateGaussian": [
        MultivariateGaussian([1.0, -2.0], ROUND), MultivariateGaussian([0.0, 0.0], NARROW),
        MultivariateGaussian([0.1, 1e3], UNITS), MultivariateGaussian([3.0], [[0.25]]),
        MultivariateGaussian([0.0, 1.0, 2.0], CUBE), MultivariateGaussian([[0.0, 0.0], [5.0, 1.0]], [ROUND, NARROW]),
    ],
    "MultivariateStudentT": [
        MultivariateStudentT(5.0, [1.0, -2.0], ROUND), MultivariateStudentT(1.0, [0.0, 0.0], NARROW),
        MultivariateStudentT(1.5, [3.0], [[0.25]]), MultivariateStudentT(1e4, [0.0, 1.0, 2.0], CUBE),
        MultivariateStudentT([3.0, 30.0], [[0.0, 0.0], [5.0, 1.0]], ROUND),
    ],
    "Wishart": [
        Wishart(5.0, ROUND), Wishart(2.5, NARROW), Wishart(400.0, ROUND), Wishart(3.0, [[2.0]]), Wishart(7.5, CUBE),
        Wishart([4.0, 9.0], [ROUND, NARROW]),
    ],
    "InverseWishart": [
        InverseWishart(9.0, ROUND), InverseWishart(2.5, NARROW), InverseWishart(400.0, ROUND),
        InverseWishart(6.0, [[2.0]]), InverseWishart(12.5, CUBE), InverseWishart([6.0, 9.0], [ROUND, NARROW]),
    ],
    "NormalGamma": [
        NormalGamma(1.0, 2.0, 3.0, 4.0), NormalGamma(0.0, 0.01, 0.6, 0.1), NormalGamma(-5.0, 100.0, 200.0, 50.0),
        NormalGamma([0.0, 1.0], 1.0, [2.0, 5.0], 3.0),
    ],
    "NormalInverseGamma": [
        NormalInverseGamma(1.0, 2.0, 3.0, 4.0), NormalInverseGamma(0.0, 0.01, 0.6, 0.1),
        NormalInverseGamma(-5.0, 100.0, 200.0, 50.0), NormalInverseGamma([0.0, 1.0], 1.0, [2.0, 5.0], 3.0),
    ],
    "NormalInverseWishart": [
        NormalInverseWishart([1.0, 2.0], 3.0, 9.0, ROUND), NormalInverseWishart([0.0, 0.0], 0.1, 2.5, NARROW),
        NormalInverseWishart([3.0], 2.0, 4.0, [[0.5]]), NormalInverseWishart([0.0, 1.0, 2.0], 5.0, 12.0, CUBE),
        NormalInverseWishart([[0.0, 0.0], [5.0, 1.0]], [1.0, 2.0], [6.0, 9.0], [ROUND, NARROW]),
    ],
}  # fmt: skip


def gaussian_of(member: Any) -> Any:
    """By its Cholesky factor: SciPy takes matrices of very unlike scales for singular."""
    return stats.multivariate_normal(member.mean, stats.Covariance.from_cholesky(np.linalg.cholesky(member.covariance)))


REFERENCES: dict[str, Callable[[Any], Any]] = {
    "Dirichlet": lambda member: stats.dirichlet(member.concentration),
    "MultivariateGaussian": gaussian_of,
    "MultivariateStudentT": lambda member: stats.multivariate_t(member.location, member.scale, member.degrees),
    "Wishart": lambda member: stats.wishart(member.degrees, member.scale),
    "InverseWishart": lambda member: stats.invwishart(member.degrees, member.scale),
}
