"""What families of whole numbers share: quantiles, distribution functions by adding up masses, and draws.

`whole_quantile` inverts any distribution function. `Summed` is the base class of families of counts for whose
distribution functions there are no special functions. Counts beyond the largest integer are drawn as whole
floating-point numbers: the distribution of so large a count is normal to floating-point precision, and the distribution
of a rare count is Poisson.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.errors import TooLarge
from juncture.families.cumulative import log_of_smaller
from juncture.families.family import Family
from juncture.families.incomplete import FAR

LARGEST = 2.0**62  # integers stop soon after
FARTHEST = 2.0**1000  # further on lies infinity; sums of a million of these are finite
ONE_BY_ONE, LAST = 22, 1001  # powers of two tried one by one, as sums of masses end soon after; the last of them
ROUNDING = 1e-12
EPS = float(np.finfo(float).eps)
TIE = 64 * EPS  # so near to a probability, P(X ≤ x) has reached it
MOST_TERMS = 2_000_000
FEW = 4096  # masses of a support so small are added up once
LARGEST_SUM = 2.0**53  # up to here, sums of counts are exact as floating-point numbers
MANY = 2.0**40


def whole_quantile(family: Any, probability: np.ndarray) -> np.ndarray:
    """The smallest whole number x with P(X ≤ x) ≥ probability: between two powers of two, then by halving.

    Of probability 1 it is infinite where the support has no upper end, unless all the mass is on one value.
    """
    support, shape = family.support, np.broadcast_shapes(probability.shape, family.batch_shape)
    low, high = (np.broadcast_to(np.asarray(end, dtype=float), shape) for end in (support.low, support.high))
    endless = (probability == 1) & np.isinf(high) & (np.asarray(family.variance) > 0)
    wanted = np.where(endless, 0.0, probability)
    under, over = _between_powers(family, wanted, low, high)
    while (open_ := ((middle := np.floor(0.5 * under + 0.5 * over)) > under) & (middle < over)).any():
        enough = ~_short_of(family, middle, wanted)
        under, over = np.where(open_ & ~enough, middle, under), np.where(open_ & enough, middle, over)
    return as_counts(np.where(endless, np.inf, over))


def _between_powers(
    family: Any, wanted: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """low + 2^(k-1) - 1 and low + 2^k - 1 around a quantile: small k one by one, larger ones doubled, then halved."""

    def at(power: np.ndarray) -> np.ndarray:
        steps = np.where(power > LAST, np.inf, np.exp2(np.minimum(power, LAST)) - 1)
        return np.where(power < 0, low - 1, np.minimum(low + steps, high))

    under, over = np.full(low.shape, -1.0), np.zeros(low.shape)
    while (short := _short_of(family, at(over), wanted) & (at(over) < high)).any():
        further = np.where(over < ONE_BY_ONE, over + 1, np.where(over < LAST, np.minimum(2 * over, LAST), LAST + 1))
        under, over = np.where(short, over, under), np.where(short, further, over)
    while (open_ := (middle := np.floor((under + over) / 2)) > under).any():
        enough = ~_short_of(family, at(middle), wanted)
        under, over = np.where(open_ & ~enough, middle, under), np.where(open_ & enough, middle, over)
    return at(under), at(over)


def _short_of(family: Any, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    below, above = (np.clip(part, 0.0, 1.0) for part in family._cdf_and_sf(x))
    return falls_short(below, above, wanted)


def falls_short(below: np.ndarray, above: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Whether P(X ≤ x) < wanted by more than rounding, from P(X ≤ x) and P(X > x): the smaller of the two decides."""
    in_upper_half = np.where(wanted < 1, above > (1 - wanted) * (1 + TIE) + EPS / 4, below < 1)
    return np.where(wanted <= 0.5, below < wanted * (1 - TIE), in_upper_half)


def as_counts(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers as integers, unless one is too large or infinite."""
    return numbers.astype(np.int64) if (numbers <= LARGEST).all() else numbers


def as_share(ratio: np.ndarray) -> np.ndarray:
    """A part of a whole, which rounding may have left a little above 1."""
    return np.where(ratio <= 1 + ROUNDING, np.minimum(ratio, 1.0), ratio)


class Summed(Family):
    """A family of counts whose distribution functions are sums of masses."""

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        return sum_cdf(self, x)

    def _sf(self, x: np.ndarray) -> np.ndarray:
        return sum_sf(self, x)

    def _log_cdf(self, x: np.ndarray) -> np.ndarray:
        return sum_log_cdf(self, x)

    def _log_sf(self, x: np.ndarray) -> np.ndarray:
        return sum_log_sf(self, x)

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return whole_quantile(self, probability)


def sum_cdf(family: Any, x: np.ndarray) -> np.ndarray:
    """P(X ≤ x) by adding up the masses from the lower end of the support; above ½, what P(X > x) leaves of 1."""
    low, high = (np.asarray(end, dtype=float) for end in (family.support.low, family.support.high))
    offsets = np.floor(np.where(x >= high, low - 1, np.maximum(x, low - 1)) - low)  # -1 below the support
    if not _is_short(family, offsets):
        raise TooLarge(f"P(X ≤ x) of {family!r} would add up more than {MOST_TERMS:,} masses; ask for a smaller x")
    below = np.where(x >= high, 1.0, _sums(family, offsets, upwards=True))
    is_upper = (below > 0.5) & (x < high)
    if is_upper.any() and _is_short(family, high - low):
        return np.where(is_upper, 1 - sum_sf(family, np.where(is_upper, x, high)), below)
    return below


def sum_sf(family: Any, x: np.ndarray) -> np.ndarray:
    """P(X > x) by adding up the masses from the upper end; where that is far, what P(X ≤ x) leaves of 1."""
    low, high = (np.asarray(end, dtype=float) for end in (family.support.low, family.support.high))
    offsets = high - 1 - np.floor(np.clip(x, low - 1, high))  # -1 at and above the upper end
    if not _is_short(family, offsets):
        return np.asarray(1 - sum_cdf(family, x))
    return np.where(x < low, 1.0, _sums(family, np.where(x < low, -1.0, offsets), upwards=False))


def _sums(family: Any, offsets: np.ndarray, *, upwards: bool) -> np.ndarray:
    """The sum of the masses at the offsets 0 to the given one from an end of the support; 0 for the offset -1."""
    num_members, size = _num_members(family), np.asarray(family.support.high - family.support.low) + 1
    if (size <= FEW).all():
        sums = family.derived.get(("sums", upwards))
        if sums is None:
            sums = family.derived[("sums", upwards)] = _all_sums(family, np.max(size), upwards=upwards)
    else:
        sums = _sums_of(family, offsets.max(initial=-1.0) + 1, upwards=upwards)
    members = np.arange(num_members).reshape(family.batch_shape)
    return np.asarray(sums.reshape(len(sums), num_members)[(offsets + 1).astype(np.intp), members], dtype=float)


def _all_sums(family: Any, num_steps: float, *, upwards: bool) -> np.ndarray:
    """The sums over the whole support, divided by the last: what rounding does to all masses alike does not add up."""
    sums = _sums_of(family, num_steps, upwards=upwards)
    return np.asarray(sums / sums[-1])


def _sums_of(family: Any, num_steps: float, *, upwards: bool) -> np.ndarray:
    steps = np.arange(num_steps).reshape(-1, *(1,) * len(family.batch_shape))
    masses = np.asarray(family.prob(family.support.low + steps if upwards else family.support.high - steps))
    return np.cumsum(np.concatenate([np.zeros((1, *masses.shape[1:])), masses]), axis=0, dtype=np.longdouble)


def sum_log_cdf(family: Any, x: np.ndarray) -> np.ndarray:
    """log P(X ≤ x), from the logarithms of the masses where it underflows."""
    below, above = np.asarray(family._cdf(x)), np.asarray(family._sf(x))
    low = np.asarray(family.support.low, dtype=float)
    far = (below < FAR) & (x >= low)
    found = log_of_smaller(below, above)
    return np.where(far, _log_sums(family, np.where(far, np.floor(x) - low, -1.0), 1.0), found) if far.any() else found


def sum_log_sf(family: Any, x: np.ndarray) -> np.ndarray:
    """log P(X > x), from the logarithms of the masses where it underflows."""
    below, above = np.asarray(family._cdf(x)), np.asarray(family._sf(x))
    high = np.asarray(family.support.high, dtype=float)
    far = (above < FAR) & (x < high)
    found = log_of_smaller(above, below)
    offsets = np.where(far, high - 1 - np.floor(np.where(far, x, 0.0)), -1.0)
    return np.where(far, _log_sums(family, offsets, -1.0), found) if far.any() else found


def _log_sums(family: Any, offsets: np.ndarray, step: float) -> np.ndarray:
    """log of the sum of the masses from an end of the support to each offset."""
    if not _is_short(family, offsets):
        raise TooLarge(f"a tail of {family!r} would add up more than {MOST_TERMS:,} masses; ask nearer to its end")
    end = family.support.low if step > 0 else family.support.high
    steps = np.arange(offsets.max(initial=-1.0) + 1).reshape(-1, *(1,) * len(family.batch_shape))
    masses = np.asarray(family.log_prob(end + step * steps))
    sums = np.logaddexp.accumulate(np.concatenate([np.full((1, *masses.shape[1:]), -np.inf), masses]), axis=0)
    members = np.arange(_num_members(family)).reshape(family.batch_shape)
    return np.asarray(sums.reshape(len(sums), -1)[(offsets + 1).astype(np.intp), members])


def _is_short(family: Any, num_terms: np.ndarray) -> bool:
    return bool((num_terms * _num_members(family) < MOST_TERMS).all())


def _num_members(family: Any) -> int:
    return int(np.prod(family.batch_shape))


def sum_expectation(family: Any, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """E function(X) for each of a batch, over supports from 0 to an upper end."""
    most = float(np.max(family.support.high))
    if most * np.prod(family.batch_shape) > MOST_TERMS:
        raise TooLarge(f"an expectation under {family!r} would add up more than {MOST_TERMS:,} terms")
    x = np.arange(most + 1).reshape(-1, *(1,) * len(family.batch_shape))
    return np.asarray((family.prob(x) * function(x)).sum(axis=0))


def poisson_draws(rates: Any, rng: np.random.Generator, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """A Poisson count for each rate; floating-point numbers as soon as one rate is beyond the integers.

    NumPy's draws of rates above 1e14 are too wide, by a third at 1e16: counts of MANY events are drawn as normal.
    """
    rates = np.minimum(np.asarray(rates, dtype=float), FARTHEST)
    if not (rates > MANY).any():
        return np.asarray(rng.poisson(rates, shape))
    wide = np.broadcast_to(rates, rates.shape if shape is None else shape)
    few = rng.poisson(np.minimum(wide, MANY))
    return as_counts(np.where(wide > MANY, _normal_draws(wide, np.sqrt(wide), rng), few))


def binomial_draws(trials: Any, probability: Any, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """How many of the trials succeed; floating-point numbers as soon as there are more trials than integers.

    Of so many trials, successes or failures that are rare are Poisson, and others normal.
    """
    trials, p = np.asarray(trials, dtype=float), np.asarray(probability, dtype=float)
    if not (trials > LARGEST).any():
        return np.asarray(rng.binomial(trials.astype(np.int64), p, shape))
    trials, p = np.broadcast_to(trials, shape), np.broadcast_to(p, shape)
    is_many = trials > LARGEST
    few = rng.binomial(np.where(is_many, 0.0, trials).astype(np.int64), p)
    hits, misses = trials * p, trials * (1 - p)
    rare = rng.poisson(np.minimum(np.minimum(hits, misses), MANY))
    counts = np.where(hits <= misses, rare, trials - rare)
    usual = _normal_draws(hits, np.sqrt(hits * (1 - p)), rng)
    many = np.where(np.minimum(hits, misses) <= MANY, counts, np.clip(usual, 0.0, trials))
    return np.where(is_many, many, few)


def check_countable(trials: np.ndarray, name: str) -> None:
    """Counts that must add up to the trials are drawn as far as their sum is exact."""
    if (trials > LARGEST_SUM).any():
        raise TooLarge(
            f"counts of {name} are drawn for at most 2**53 trials, as far as their sums are exact; "
            f"got {float(trials.max()):g} trials"
        )


def _normal_draws(mean: np.ndarray, std: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    with np.errstate(over="ignore"):
        drawn = np.round(mean + std * rng.standard_normal(mean.shape))
    return np.clip(drawn, 0.0, FARTHEST)
