"""`Pair`: one row of the table of conjugate priors."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.families.conjugacy.compound import Compound
from juncture.families.family import Family
from juncture.families.statistics.statistics import Known, Statistics


@dataclass(frozen=True)
class Pair:
    """A prior of one parameter of a likelihood, given what is `known` of the likelihood.

    `update(prior, statistics)` is the posterior; `at(point, known)` the likelihood with the parameter `point`;
    `sample_size(prior, known)` how many observations the prior is worth, n more after n observations;
    `told_predictive(posterior, known)` the predictive where it has a name: elsewhere it is a `Compound`.
    `implied` are those of the known that the prior tells by itself; a prior that has seen nothing predicts with the
    pair that `is_usual`. `told_evidence` replaces what follows from the likelihood, where rows depend on each other.
    """

    prior: type[Family]
    likelihood: type[Family]
    parameter: str
    update: Callable[[Any, Any], Any]
    at: Callable[[Any, Known], Any]
    sample_size: Callable[[Any, Known], Any]
    known: frozenset[str] = frozenset()
    implied: frozenset[str] = frozenset()
    is_usual: bool = False
    told_predictive: Callable[[Any, Known], Family] | None = None
    told_evidence: Callable[[Any, Statistics], Any] | None = None

    def is_for(self, likelihood: type[Family], known: Set[str]) -> bool:
        """Whether it takes this likelihood, with this known."""
        return self.likelihood is likelihood and self.known - self.implied <= known <= self.known

    def predictive(self, posterior: Any, known: Known) -> Family:
        if self.told_predictive is not None:
            return self.told_predictive(posterior, known)
        return Compound(posterior, self, known)

    def log_evidence(self, prior: Any, statistics: Statistics) -> np.ndarray:
        """log p(data) = log-likelihood + log prior - log posterior, the same at every parameter value."""
        if self.told_evidence is not None:
            return np.asarray(self.told_evidence(prior, statistics))
        posterior = self.update(prior, statistics)
        point = posterior._inside()
        log_likelihood = np.asarray(self.at(point, statistics.known).log_likelihood(statistics))
        return np.asarray(log_likelihood + prior.log_prob(point) - posterior.log_prob(point))

    def __str__(self) -> str:
        known = f" with {' and '.join(sorted(self.known - self.implied))} known" if self.known - self.implied else ""
        return f"the {self.parameter} of {self.likelihood.__name__}{known}"

    def __reduce__(self) -> tuple[Any, ...]:
        from juncture.families.conjugacy.pairs import find_pair

        return find_pair, (self.prior, self.likelihood, self.known)  # functions without a name cannot be pickled
