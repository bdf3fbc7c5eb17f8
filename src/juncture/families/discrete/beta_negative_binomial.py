"""BetaNegativeBinomial: a NegativeBinomial whose probability has a Beta distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from juncture.families.constraints import POSITIVE
from juncture.families.cumulative import log_of_smaller
from juncture.families.discrete.whole_numbers import as_counts, poisson_draws, sum_cdf, sum_log_cdf, whole_quantile
from juncture.families.family import Family, Real, plain
from juncture.families.incomplete import FAR, LARGE, log_beta_density, log_integral, log_with_far
from juncture.families.log_factorial import binomial_log_mass, log_weight, look_up
from juncture.families.supports import Integers
from juncture.numerics import stable
from juncture.numerics.stable import SMALLEST

SMALL = 1e-3  # of a shape: 1 + shape loses its digits
SUMMED, BLOCK = 4096, 1024
REACH, LOG_LARGEST = 60.0, 690.0
FIRST = 2000  # counts in the table


class BetaNegativeBinomial(Family):
    """p(x) = Γ(x+r) / (x! Γ(r)) B(a+r, b+x) / B(a, b) for x = 0, 1, 2, …: failures before r successes.

    The predictive of Beta for NegativeBinomial, and with one success for Geometric. Its tail is a power of x: the mean
    is infinite for a ≤ 1, the variance for a ≤ 2.

    Parameters
    ----------
    successes
        The number r of successes waited for, positive.
    a, b
        The shapes of the Beta distribution of the probability.

    Examples
    --------
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
        return self._log_mass(x) if self.batch_shape else look_up(self._log_mass, x)

    def _log_mass(self, x: np.ndarray) -> np.ndarray:
        return log_mass(x, *(self._given[name] for name in self.parameters))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        r, a, b = (self._given[name] for name in self.parameters)
        p = np.maximum(rng.beta(a, b, shape), np.finfo(float).tiny)
        with np.errstate(over="ignore"):  # a success may be as rare as never
            rates = rng.standard_gamma(r, shape) * np.minimum((1 - p) / p, np.finfo(float).max)
        return poisson_draws(rates, rng)

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
        return self._cdf_and_sf(x)[0]

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return self._cdf_and_sf(x)[1]

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return sum_log_cdf(self, x)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        below, above = self._cdf_and_sf(x)
        far = (above < FAR) & np.isfinite(x)
        return np.where(far, self._log_beyond(x, far), log_of_smaller(above, below))

    def _cdf_and_sf(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """P(X ≤ x) and P(X > x): from a table of the first counts, beyond it and past the mode from the tail."""
        past = (x > FIRST) & (x >= self.mode) & np.isfinite(x)
        above = np.exp(self._log_beyond(x, past))
        near = np.where(past, -1.0, x)
        if not (np.asarray(self.mode) <= FIRST).all():
            below = sum_cdf(self, near)
            return np.where(past, 1 - above, below), np.where(past, above, 1 - below)
        lower, upper = self._table()
        index = np.where(np.isposinf(x), len(lower) - 1, np.clip(np.floor(near), -1, FIRST) + 1).astype(np.intp)
        member = np.arange(int(np.prod(self.batch_shape))).reshape(self.batch_shape)
        below, left = (sums.reshape(len(sums), -1)[index, member] for sums in (lower, upper))
        return np.where(past, 1 - above, below), np.where(past, above, left)

    def _table(self) -> tuple[np.ndarray, np.ndarray]:
        """P(X ≤ k) and P(X > k) for k from -1 to FIRST, and at infinity; worked out once."""
        if "table" not in self.derived:
            last = np.full(self.batch_shape, float(FIRST))
            beyond = np.exp(self._log_beyond(last, np.ones(self.batch_shape, bool))).astype(np.longdouble)
            counts = np.arange(FIRST + 1.0).reshape(-1, *(1,) * len(self.batch_shape))
            masses = np.asarray(self.prob(counts), dtype=np.longdouble)
            nothing = np.zeros((1, *self.batch_shape), dtype=np.longdouble)
            lower = np.concatenate([nothing, np.cumsum(masses, axis=0)])
            upper = np.concatenate([np.cumsum(masses[::-1], axis=0)[::-1], nothing]) + beyond
            lower, upper = lower / upper[0], upper / upper[0]
            lower = np.where(lower <= 0.5, lower, 1 - upper)
            ends = np.concatenate([lower, nothing + 1]), np.concatenate([upper, nothing])
            self.derived["table"] = tuple(np.asarray(sums, dtype=float) for sums in ends)
        lower, upper = self.derived["table"]
        return lower, upper

    def _log_beyond(self, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """log P(X > x) where that is wanted, past the mode."""
        x, wanted, *parameters = np.broadcast_arrays(x, wanted, *(self._given[name] for name in self.parameters))
        found = np.full(wanted.shape, -np.inf)
        if wanted.any():
            found[wanted] = log_upper_tail(np.floor(x[wanted]), *(parameter[wanted] for parameter in parameters))
        return found

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)


def log_mass(x: np.ndarray, r: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """log Γ(x+r) / (x! Γ(r)) B(a+r, b+x) / B(a, b), for real x ≥ 0; large and small shapes by Bayes' rule.

    For any p it is log NegativeBinomial(x | r, p) + log Beta(p | a, b) - log Beta(p | a+r, b+x). At the mean of the
    posterior no part cancels another.
    """
    log_betas = log_weight(a, b) + np.log(a) - log_weight(a + r, b + x) - np.log(a + r)  # 1/B(a, b), B(a+r, b+x)
    direct = np.asarray(log_weight(x, r) + log_betas)
    x, r, a, b, direct = np.broadcast_arrays(x, r, a, b, direct)
    is_far = (np.maximum(x, r) > LARGE) | (np.minimum(np.minimum(a, b), r) < SMALL)
    is_held = (x + b < np.inf) & ((a + r) / (a + r + b + x) >= SMALLEST)  # the mean, in doubles
    return log_with_far(direct, is_far & is_held, log_by_bayes, x, r, a, b)


def log_by_bayes(x: np.ndarray, r: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = a + r + b + x
    p, rest = (a + r) / total, (b + x) / total
    swapped = p < 0.5  # of p and 1 - p, the smaller has the more digits
    log_ways = binomial_log_mass(np.where(swapped, r, x), x + r, np.where(swapped, p, rest))
    prior, posterior = log_beta_density(a, b, p, rest), log_beta_density(a + r, b + x, p, rest)
    return np.asarray(np.log(r / (x + r)) + log_ways + prior - posterior)


def log_upper_tail(x: np.ndarray, r: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """log P(X > x) for x from the mode on: SUMMED masses, and for the rest Euler and Maclaurin's formula.

    Beyond t = last + ½ the sum is ∫ f dt + f'(t)/24, as f hardly changes from one count to the next there. The
    integral runs over log t up to REACH, from where on the density is a power: f t / a is left.
    """
    wide = [parameter[..., None] for parameter in (r, a, b)]
    total = log_mass(x + 1, r, a, b) + np.log(_sum_of_ratios(x[..., None] + 1, *wide))
    start = x + SUMMED + 0.5
    log_start, log_next = (log_mass(start + shift, r, a, b) for shift in (0.0, 0.5))
    slope = 2 * (log_next - log_start)
    with np.errstate(over="ignore"):
        std = np.sqrt(np.where(a > 2, r * (r + a) * b * (a + b) / np.maximum(a - 2, 1e-3) ** 3, np.inf))

    def log_density(v: np.ndarray) -> np.ndarray:
        return log_mass(start[..., None] * np.exp(v), *wide) + v - log_start[..., None]

    reach = np.clip(LOG_LARGEST - np.log(start), 0.0, REACH)
    integral = np.exp(log_integral(log_density, np.maximum(np.maximum(-slope * start, start / std), 1.0), reach))
    rest = log_start + stable.log(np.maximum(start * integral + slope / 24, 0.0))
    end = start * np.exp(reach)
    return np.asarray(np.logaddexp(np.logaddexp(total, rest), log_mass(end, r, a, b) + np.log(end) - np.log(a)))


def _sum_of_ratios(x: np.ndarray, r: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Σ f(j) / f(x) over SUMMED counts j from x on: each mass is (j+r)(j+b) / (j+1)(j+a+b+r) of the one before."""
    total, height = np.zeros(x.shape[:-1]), np.ones(x.shape)
    for first in range(0, SUMMED, BLOCK):
        j = x + np.arange(first, first + BLOCK)
        heights = height * np.cumprod((j + r) / (j + 1) * ((j + b) / (j + a + b + r)), axis=-1)
        total += height[..., 0] + heights[..., :-1].sum(axis=-1)
        height = heights[..., -1:]
    return np.asarray(total)
