"""BetaNegativeBinomial: a NegativeBinomial whose probability is a Beta."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from juncture.families.constraints import POSITIVE
from juncture.families.discrete.whole_numbers import LARGEST, as_counts, summed_cdf, whole_quantile
from juncture.families.family import Family, Real, plain
from juncture.families.log_factorial import log_rising, looked_up
from juncture.families.supports import Integers


class BetaNegativeBinomial(Family):
    """p(x) = Γ(x+r) / (x! Γ(r)) B(a+r, b+x) / B(a, b) for x = 0, 1, 2, …: failures before r successes.

    The predictive of Beta for NegativeBinomial, and with one success for Geometric. Its tail is a power of x: the mean
    is infinite for a ≤ 1, the variance for a ≤ 2.

    >>> BetaNegativeBinomial(successes=1, a=2, b=3).prob([0, 1]).round(12)
    array([0.4, 0.2])
    """

    parameters: ClassVar = {"successes": POSITIVE, "a": POSITIVE, "b": POSITIVE}
    successes: Real
    a: Real
    b: Real

    def __init__(self, successes: Any, a: Any, b: Any) -> None:
        self._declare(successes=successes, a=a, b=b)

    @property
    def support(self) -> Integers:
        return Integers()

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        return self._log_mass(x) if self.batch_shape else looked_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        r, a, b = (self._given[name] for name in self.parameters)
        log_ways = log_rising(r, x) - gammaln(x + 1.0)
        return np.asarray(log_ways + log_rising(b, x) + log_rising(a, r) - log_rising(a + b, r + x))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        r, a, b = (self._given[name] for name in self.parameters)
        p = np.maximum(rng.beta(a, b, shape), np.finfo(float).tiny)
        with np.errstate(over="ignore"):  # a success may be as rare as never
            rates = rng.standard_gamma(r, shape) * ((1 - p) / p)
        return np.asarray(rng.poisson(np.minimum(rates, LARGEST)))

    @property
    def mean(self) -> Real:
        r, a, b = (self._given[name] for name in self.parameters)
        return plain(np.where(a > 1, r * b / np.where(a > 1, a - 1, 1.0), np.inf))

    @property
    def variance(self) -> Real:
        r, a, b = (self._given[name] for name in self.parameters)
        safe = np.where(a > 2, a, 3.0)
        found = r * (r + safe - 1) * b * (safe + b - 1) / ((safe - 2) * (safe - 1) ** 2)
        return plain(np.where(a > 2, found, np.inf))

    @property
    def mode(self) -> Real:
        """The smallest of the most probable counts."""
        r, a, b = (self._given[name] for name in self.parameters)
        top = np.ceil((r - 1) * (b - 1) / (a + 1)) - 1
        return plain(as_counts(np.maximum(top, 0.0)))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return summed_cdf(self, x)

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)
