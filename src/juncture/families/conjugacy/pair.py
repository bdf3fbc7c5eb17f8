"""`Pair`: one row of the table of conjugate priors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from juncture.families.conjugacy.compound import Compound
from juncture.families.family import Family
from juncture.families.statistics import Known


@dataclass(frozen=True)
class Pair:
    """A prior and a likelihood, given what is known of the likelihood.

    `update(prior, statistics)` is the posterior; `at(point, known)` the likelihood with the parameter `point`;
    `told_predictive(posterior, known)` the predictive where it has a name: elsewhere it is a `Compound`.
    """

    prior: type[Family]
    likelihood: type[Family]
    known: frozenset[str]
    update: Callable[[Any, Any], Any]
    at: Callable[[Any, Known], Any]
    sample_size: Callable[[Any], Any]
    told_predictive: Callable[[Any, Known], Family] | None = None

    def predictive(self, posterior: Any, known: Known) -> Family:
        if self.told_predictive is not None:
            return self.told_predictive(posterior, known)
        return Compound(posterior, self, known)
