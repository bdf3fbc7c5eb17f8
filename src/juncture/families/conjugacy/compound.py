"""`Compound`: ∫ p(x | θ) p(θ) dθ for a conjugate pair whose predictive has no name of its own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.families.expectation import expectation
from juncture.families.family import Family
from juncture.families.statistics.known import Known, known_of_members

if TYPE_CHECKING:
    from juncture.families.conjugacy.pair import Pair


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
