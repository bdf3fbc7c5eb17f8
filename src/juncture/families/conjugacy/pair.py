"""`Pair`: one row of the table of conjugate priors. Each prior has its `pairs` at the end of its own file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidData, Unsupported
from juncture.families.conjugacy.compound import Compound
from juncture.families.family import Family
from juncture.families.statistics.known import Known
from juncture.families.statistics.statistics import Statistics


@dataclass(frozen=True)
class Pair:
    """A prior of one parameter of a likelihood, given what is `known` of the likelihood.

    `update(prior, statistics)` is the posterior; `at(point, known)` the likelihood with the parameter `point`;
    `sample_size(prior, known)` how many observations the prior is worth, n more after n observations;
    `closed_form_predictive(posterior, known)` the predictive where it has a name: elsewhere it is a `Compound`.
    `implied` are those of the known that follow from the prior itself; a prior that has seen nothing predicts with the
    pair that `is_usual`. `closed_form_evidence(prior, statistics)` is log p(data) where rows depend on each other, so
    that it does not follow from the likelihood.
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
    closed_form_predictive: Callable[[Any, Known], Family] | None = None
    closed_form_evidence: Callable[[Any, Statistics], Any] | None = None

    def is_for(self, likelihood: type[Family], known: Set[str]) -> bool:
        """Whether it takes this likelihood, with this known."""
        return self.likelihood is likelihood and self.known - self.implied <= known <= self.known

    def predictive(self, posterior: Any, known: Known) -> Family:
        if self.closed_form_predictive is not None:
            return self.closed_form_predictive(posterior, known)
        return Compound(posterior, self, known)

    def log_evidence(self, prior: Any, statistics: Statistics) -> np.ndarray:
        """log p(data) = log-likelihood + log prior - log posterior, the same at every parameter value."""
        if self.closed_form_evidence is not None:
            return np.asarray(self.closed_form_evidence(prior, statistics))
        posterior = self.update(prior, statistics)
        point = posterior._inside()
        log_likelihood = np.asarray(self.at(point, statistics.known).log_likelihood(statistics))
        return np.asarray(log_likelihood + prior.log_prob(point) - posterior.log_prob(point))

    def __str__(self) -> str:
        known = f" with {' and '.join(sorted(self.known - self.implied))} known" if self.known - self.implied else ""
        return f"the {self.parameter} of {self.likelihood.__name__}{known}"

    def __reduce__(self) -> tuple[Any, ...]:
        return find_pair, (self.prior, self.likelihood, self.known)  # functions without a name cannot be pickled


def find_pair(prior: type[Family], likelihood: type[Family], known: Iterable[str]) -> Pair:
    """The pair for these statistics, or a sentence about which there are."""
    if not (isinstance(likelihood, type) and issubclass(likelihood, Family)):
        raise InvalidData(f"a prior predicts a family, such as Poisson; got {likelihood!r}")
    have = frozenset(known)
    for pair in pairs_of(prior):
        if pair.is_for(likelihood, have):
            return pair
    has_name = any(pair.likelihood is likelihood for pair in pairs_of(prior))  # then what is known is amiss
    with_known = f" with {' and '.join(sorted(have)) or 'nothing'} known" if have or has_name else ""
    raise Unsupported(
        f"{prior.__name__} is no conjugate prior for {likelihood.__name__}{with_known}; "
        f"it is one for {_format_pairs(prior)}"
    )


def pair_to_predict(prior: type[Family], family: type[Family] | None, known: Iterable[str]) -> Pair:
    """The pair that a prior predicts with when it has seen no statistics."""
    if family is not None:
        return find_pair(prior, family, known)
    of_prior = pairs_of(prior)
    usual = [pair for pair in of_prior if pair.is_usual or len(of_prior) == 1]
    if not usual:
        raise InvalidData(
            f"this {prior.__name__} has seen no data; say which family it shall predict: {_format_pairs(prior)}"
        )
    return find_pair(prior, usual[0].likelihood, known)


def pairs_of(prior: type[Family]) -> tuple[Pair, ...]:
    """The pairs of a conjugate prior; none of another family."""
    return tuple(getattr(prior, "pairs", ()))


def _format_pairs(prior: type[Family]) -> str:
    return ", ".join(map(str, pairs_of(prior))) or "nothing"
