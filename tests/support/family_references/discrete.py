"""Members of the families of counts and labels, and SciPy's distributions of the same law."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

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
from juncture.families.vectors.dirichlet_multinomial import DirichletMultinomial
from juncture.families.vectors.multinomial import Multinomial

EXAMPLES: dict[str, list[Family]] = {
    "Bernoulli": [
        Bernoulli(0.3), Bernoulli(0.5), Bernoulli(1e-9), Bernoulli(0.0), Bernoulli(1.0), Bernoulli([0.1, 0.9]),
    ],
    "Geometric": [Geometric(0.3), Geometric(0.999), Geometric(0.01), Geometric(1.0), Geometric([[0.2], [0.7]])],
    "Binomial": [
        Binomial(10, 0.3), Binomial(1, 0.5), Binomial(1000, 1e-6), Binomial(200, 0.999), Binomial(7, 0.0),
        Binomial(7, 1.0),
        Binomial([3, 8], [0.2, 0.6]),
    ],
    "NegativeBinomial": [
        NegativeBinomial(4, 0.5), NegativeBinomial(0.5, 0.1), NegativeBinomial(1, 0.7), NegativeBinomial(300.0, 0.95),
        NegativeBinomial(2.5, 1.0), NegativeBinomial([1.5, 6.0], 0.4),
    ],
    "Categorical": [
        Categorical([0.2, 0.5, 0.3]), Categorical([0.0, 1.0, 0.0]),
        Categorical([1e-12, 0.5, 0.5 - 1e-12]),
        Categorical(np.arange(1, 41) / 820), Categorical([[0.1, 0.9], [0.5, 0.5], [1.0, 0.0]]),
    ],
    "Poisson": [Poisson(2.5), Poisson(0.01), Poisson(0.0), Poisson(7.0), Poisson(5000.0), Poisson([0.5, 30.0, 2.0])],
    "Hypergeometric": [
        Hypergeometric(50, 12, 10), Hypergeometric(10, 9, 8), Hypergeometric(100_000, 300, 500),
        Hypergeometric(6, 0, 3), Hypergeometric(6, 6, 3), Hypergeometric(20, [5, 15], 7),
    ],
    "BetaBinomial": [
        BetaBinomial(10, 2.0, 3.0), BetaBinomial(5, 0.3, 0.2), BetaBinomial(40, 1.0, 1.0), BetaBinomial(30, 1e4, 2e4),
        BetaBinomial(0, 1.0, 2.0), BetaBinomial(8, 1.5, 4.0, offset=3), BetaBinomial([4, 9], 2.0, [1.0, 5.0]),
    ],
    "BetaNegativeBinomial": [
        BetaNegativeBinomial(3, 12.0, 4.0), BetaNegativeBinomial(1, 9.0, 2.0), BetaNegativeBinomial(7, 30.0, 0.5),
        BetaNegativeBinomial([2.0, 5.0], 14.0, [3.0, 6.0]),
    ],
    "Multinomial": [
        Multinomial(6, [0.2, 0.5, 0.3]), Multinomial(1, [0.25, 0.75]), Multinomial(50, [0.7, 0.1, 0.1, 0.1]),
        Multinomial(5, [0.5, 0.0, 0.5]),
        Multinomial([2, 7], [[0.1, 0.9], [0.5, 0.5]]),
    ],
    "DirichletMultinomial": [
        DirichletMultinomial(6, [1.0, 2.0, 0.5]), DirichletMultinomial(1, [3.0, 1.0]),
        DirichletMultinomial(20, [0.1, 0.1, 5.0]),
        DirichletMultinomial(10, [1e5, 3e5]), DirichletMultinomial(0, [1.0, 1.0]), DirichletMultinomial(4, [2.0]),
        DirichletMultinomial([3, 5], [[1.0, 1.0], [0.5, 4.0]]),
    ],
}  # fmt: skip


class Floored:
    """SciPy's hypergeometric; its distribution function has holes between whole numbers."""

    def __init__(self, member: Any) -> None:
        self.frozen = stats.hypergeom(member.population, member.targets, member.draws)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.frozen, name)

    def cdf(self, x: Any) -> Any:
        return self.frozen.cdf(np.floor(x))


def labelled(member: Any) -> Any:
    return stats.rv_discrete(values=(np.arange(member.num_states), member.probabilities))


REFERENCES: dict[str, Callable[[Any], Any]] = {
    "Bernoulli": lambda member: stats.bernoulli(member.probability),
    "Geometric": lambda member: stats.geom(member.probability, loc=-1),
    "Binomial": lambda member: stats.binom(member.trials, member.probability),
    "NegativeBinomial": lambda member: stats.nbinom(member.successes, member.probability),
    "Categorical": labelled,
    "Poisson": lambda member: stats.poisson(member.rate),
    "Hypergeometric": Floored,
    "BetaBinomial": lambda member: stats.betabinom(member.trials, member.a, member.b, loc=member.offset),
    "BetaNegativeBinomial": lambda member: stats.betanbinom(member.successes, member.a, member.b),
    "Multinomial": lambda member: stats.multinomial(member.trials, member.probabilities),
    "DirichletMultinomial": lambda member: stats.dirichlet_multinomial(member.concentration, member.trials),
}
