"""Conjugate priors: `ConjugatePrior`, a family that stays in the family when statistics of the right kind come in.

`Pair` is one row of the table of conjugate priors; each prior has its `pairs` at the end of its own file. `Compound` is
the predictive ∫ p(x | θ) p(θ) dθ of a pair whose predictive has no name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData, Unsupported
from juncture.families.expectation import expectation
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.statistics import Known, Statistics, check_known, known_of_members


class ConjugatePrior(Family):
    """A prior for the parameters of other families: its `pairs` say which, and how.

    A posterior remembers whose statistics it has seen, for `predictive`; that is no part of equality.
    """

    pairs: ClassVar[tuple[Pair, ...]] = ()
    _seen: tuple[type[Family], dict[str, np.ndarray]] | None = None

    def posterior(self, statistics: Statistics) -> Self:
        """The prior after the data: the same family with new parameters. The data may come in any number of parts."""
        pair = self._pair_for(statistics)
        updated: Self = pair.update(self, statistics)
        updated._set(_seen=(statistics.family, dict(statistics.known)))
        return updated

    def log_evidence(self, statistics: Statistics) -> Real:
        """log p(data) = log ∫ p(data | θ) p(θ) dθ."""
        return plain(self._pair_for(statistics).log_evidence(self, statistics))

    def predictive(self, family: type[Family] | None = None, **known: Any) -> Family:
        """The distribution of one more observation, the parameter integrated out.

        Parameters
        ----------
        family
            The family of the observation; by default the one whose statistics this posterior has seen.
        known
            The parameters of that family that are not integrated out, such as the trials of a Binomial.

        Returns
        -------
        Family
            A member of a family where the integral has a closed form with a name, else a `Compound`.
        """
        pair, held = self._pair_to_predict(family, known)
        return pair.predictive(self, held)

    def likelihood_at(self, point: Any, family: type[Family] | None = None, **known: Any) -> Any:
        """The member of the family with the parameter `point`."""
        pair, held = self._pair_to_predict(family, known)
        return pair.at(point, held)

    def likelihood_at_mode(self) -> Any:
        """The maximum a posteriori member of the family whose statistics were seen."""
        return self.likelihood_at(self.mode)

    def likelihood_at_mean(self) -> Any:
        """The member of the family with the posterior mean as parameter."""
        return self.likelihood_at(self._mean_point())

    def equivalent_sample_size(self, family: type[Family] | None = None, **known: Any) -> Real:
        """How many observations the prior is worth, for the family seen or given."""
        pair, held = self._pair_to_predict(family, known)
        return plain(pair.sample_size(self, held))

    def _inside(self) -> Any:
        """A parameter value where prior and posterior have a finite density."""
        return self.mean

    def _mean_point(self) -> Any:
        """The mean, as a parameter value that `likelihood_at` takes."""
        return self.mean

    def _pair_for(self, statistics: Statistics) -> Pair:
        if not isinstance(statistics, Statistics):
            raise InvalidData(f"a prior takes statistics, such as Poisson.statistics(data); got {statistics!r}")
        return find_pair(type(self), statistics.family, statistics.known)

    def _pair_to_predict(self, family: type[Family] | None, known: dict[str, Any]) -> tuple[Pair, Known]:
        if family is None and self._seen is not None:
            seen, remembered = self._seen
            return find_pair(type(self), seen, remembered | known), remembered | check_known(seen, known)
        pair = pair_to_predict(type(self), family, known)
        return pair, check_known(pair.likelihood, known)

    def __getitem__(self, index: Any) -> Self:
        """Members of the batch; they remember what it has seen."""
        member = super().__getitem__(index)
        if self._seen is not None:
            family, known = self._seen
            member._set(_seen=(family, known_of_members(family, known, self.batch_shape, index)))
        return member

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_seen": self._seen}


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


class Compound(Family):
    """The predictive of a conjugate prior: its density is the evidence of one observation, in closed form."""

    _fields = ("prior", "pair", "known")
    prior: Any
    pair: Pair
    known: dict[str, np.ndarray]

    def __init__(self, prior: Any, pair: Pair, known: Known) -> None:
        self._set(_given={}, batch_shape=prior.batch_shape, prior=prior, pair=pair, known=dict(known))

    @property
    def event_shape(self) -> tuple[int, ...]:
        return tuple(self._member().event_shape)

    @property
    def support(self) -> Any:
        return self._member().support

    def __getitem__(self, index: Any) -> Compound:
        """Members of the batch."""
        if not self.batch_shape:
            return super().__getitem__(index)
        known = known_of_members(self.pair.likelihood, self.known, self.batch_shape, index)
        return Compound(self.prior[index], self.pair, known)

    def _member(self) -> Any:
        return self.pair.at(self.prior._inside(), self.known)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        single = self.pair.likelihood._single(x, self.known)
        return self.pair.log_evidence(self.prior, single)

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        size = shape[: len(shape) - len(self.batch_shape)]
        return np.asarray(self.pair.at(self.prior.sample(size, rng=rng), self.known).sample(rng=rng))

    def _draw_inside(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return self._draw(shape, rng)  # draws of the likelihood are inside

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        """E P(X ≤ x | θ), by quadrature over θ."""
        return self._expect_at(x, lambda member, value: member.cdf(value))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        """E P(X > x | θ), by quadrature over θ."""
        return self._expect_at(x, lambda member, value: member.sf(value))

    def _expect_at(self, x: np.ndarray, function: Callable[[Any, float], Any]) -> np.ndarray:
        """E function(likelihood at θ, x), for each x and member of the batch."""
        found = np.empty(np.broadcast_shapes(x.shape, self.batch_shape))
        for index in np.ndindex(found.shape):
            own = self[index[found.ndim - len(self.batch_shape) :]] if self.batch_shape else self
            value = float(np.broadcast_to(x, found.shape)[index])
            found[index] = expectation(own.prior, partial(_value_at, own, function, value))
        return found

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["prior"], state["pair"], state["known"])  # type: ignore[misc]

    def __repr__(self) -> str:
        return f"Compound({self.pair.likelihood.__name__}, {self.prior!r})"


def _value_at(compound: Compound, function: Callable[[Any, float], Any], x: float, theta: Any) -> Any:
    return function(compound.pair.at(theta, compound.known), x)
