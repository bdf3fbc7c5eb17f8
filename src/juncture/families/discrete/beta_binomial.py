"""BetaBinomial: a Binomial whose probability is a Beta; as a prior, of the targets in a population."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from juncture.families.conjugacy.conjugate_prior import ConjugatePrior
from juncture.families.constraints import COUNT, POSITIVE
from juncture.families.discrete.count_draws import binomial_draws
from juncture.families.discrete.summed import Summed
from juncture.families.discrete.whole_numbers import as_counts
from juncture.families.family import Real, plain
from juncture.families.log_factorial import log_weight, looked_up
from juncture.families.supports import Integers


class BetaBinomial(Summed, ConjugatePrior):
    """p(offset + k) = C(n, k) B(a+k, b+n-k) / B(a, b) for k = 0..n: the predictive of Beta for Binomial.

    As a prior, of the targets of a Hypergeometric; the offset is how many of them have been seen already.

    >>> BetaBinomial(trials=3, a=1, b=1).prob([0, 1, 2, 3]).round(12)
    array([0.25, 0.25, 0.25, 0.25])
    """

    parameters: ClassVar = {"trials": COUNT, "a": POSITIVE, "b": POSITIVE, "offset": COUNT}
    trials: Real
    a: Real
    b: Real
    offset: Real

    def __init__(self, trials: Any, a: Any, b: Any, offset: Any = 0) -> None:
        self._declare(trials=trials, a=a, b=b, offset=offset)

    @property
    def support(self) -> Integers:
        return Integers(self._given["offset"], self._given["offset"] + self._given["trials"])

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        return self._log_mass(x) if self.batch_shape else looked_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        n, a, b, offset = (self._given[name] for name in self.parameters)
        k = x - offset
        return np.asarray(log_weight(k, a) + log_weight(n - k, b) - log_weight(n, a + b))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        n, a, b, offset = (self._given[name] for name in self.parameters)
        return np.asarray(binomial_draws(n, rng.beta(a, b, shape), rng, shape) + as_counts(offset))

    @property
    def mean(self) -> Real:
        n, a, b, offset = (self._given[name] for name in self.parameters)
        return plain(offset + n * (a / (a + b)))

    @property
    def variance(self) -> Real:
        n, a, b, _ = (self._given[name] for name in self.parameters)
        share = a / (a + b)
        return plain(n * share * (1 - share) * ((a + b + n) / (a + b + 1)))

    @property
    def mode(self) -> Real:
        """The smallest of the most probable counts: an end, or floor of (n+1)(a-1)/(a+b-2) between them."""
        n, a, b, offset = np.broadcast_arrays(*(self._given[name] for name in self.parameters))
        width = np.where(a + b > 2, a + b - 2, np.inf)
        between = np.clip(np.ceil((n + 1) * (a - 1) / width) - 1, 0, n)
        candidates = offset + np.stack([np.zeros_like(n), between, n])
        best = np.asarray(self.log_prob(candidates)).argmax(axis=0)
        return plain(as_counts(np.take_along_axis(candidates, best[None], axis=0)[0]))

    # -- as a prior: a number of targets is whole

    def _inside(self) -> Any:
        return plain(np.floor(self.mean))

    def _mean_point(self) -> Any:
        return plain(np.round(self.mean))
