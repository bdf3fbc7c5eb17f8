"""Every family by its name: what the laws of the tests run over, and what files call them."""

from __future__ import annotations

from juncture.families.bernoulli import Bernoulli
from juncture.families.beta import Beta
from juncture.families.family import Family
from juncture.families.gaussian import Gaussian

FAMILIES: dict[str, type[Family]] = {family.__name__: family for family in (Bernoulli, Beta, Gaussian)}
