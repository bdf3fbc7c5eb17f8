"""The discrete families."""

from __future__ import annotations

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

MEMBERS: tuple[type[Family], ...] = (
    Bernoulli, Geometric, Binomial, NegativeBinomial, Categorical, Poisson,
    Hypergeometric, BetaBinomial, BetaNegativeBinomial,
)  # fmt: skip
