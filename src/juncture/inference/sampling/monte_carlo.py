"""Monte Carlo integration: means of functions over draws, with the standard errors and intervals of the CLT.

`monte_carlo` takes the mean over independent draws: without bias, √n (estimate - mean) → N(0, σ²).
`importance_estimate` takes draws from a proposal q in place of p, each weighted by p/q; with densities that are known
up to constants the weights are divided by their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_flag, check_function, check_number, shown
from juncture.base.options import as_generator
from juncture.base.shown import Shown
from juncture.errors import InvalidData
from juncture.families.family import CanSample, Distribution
from juncture.inference.sampling import importance_weights
from juncture.numerics import stable
from juncture.numerics.stable import plain
from juncture.runtime.parallel import blocks_of

BLOCK = 2**16  # draws at a time


@dataclass(frozen=True)
class MonteCarloEstimate(Shown):
    """The mean of a function over draws, and its standard error.

    Attributes
    ----------
    value, standard_error
        Numbers, or arrays where the function gives several numbers for each draw.
    num_draws
        The number of draws.
    """

    value: Any
    standard_error: Any
    num_draws: int

    def interval(self, confidence: float = 0.9) -> tuple[Any, Any]:
        """The two ends of the interval that holds the true mean with this probability, by the CLT."""
        from scipy.special import ndtri

        width = float(ndtri(0.5 + check_number(confidence, "confidence", least=0, below=1) / 2)) * np.asarray(
            self.standard_error
        )
        return plain(self.value - width), plain(self.value + width)


@dataclass(frozen=True)
class ImportanceEstimate(MonteCarloEstimate):
    """The mean of a function under p, from draws of q.

    Attributes
    ----------
    log_ratio, log_ratio_error
        The logarithm of the mean weight: of Z of the target over Z of the proposal, and its standard error.
    effective_sample_size, chi_square, pareto_k
        How many draws of p count as much, an estimate of χ²(p ‖ q), and the shape of the tail of the weights.
    log_weights
        (draw,)
    """

    log_ratio: float = 0.0
    log_ratio_error: float = 0.0
    effective_sample_size: float = 0.0
    chi_square: float = 0.0
    pareto_k: float = 0.0
    log_weights: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False)


def monte_carlo(
    function: Callable[[Any], Any], sampler: Any, n: int = 10_000, *, rng: Any = None
) -> MonteCarloEstimate:
    """E function(X), estimated by the mean over independent draws of X.

    Parameters
    ----------
    function
        Of an array of draws; it gives a number for each draw, (draw,), or several, (draw, …).
    sampler
        A distribution, or whatever has `sample(n, rng=)`; or a function of (n, rng) that gives n draws.
    n
        The number of draws, at least 2.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    MonteCarloEstimate
        The value, its standard error, and intervals.

    Examples
    --------
    >>> import juncture as jt
    >>> square = jt.sampling.monte_carlo(lambda x: x**2, jt.Gaussian(0.0, 2.0), 40_000, rng=0)
    >>> low, high = square.interval(0.99)
    >>> low < 2.0 < high
    True
    """
    check_function(function, "function")
    count, stream = check_count(n, "n", least=2), as_generator(rng)
    total: Any = None
    for block in blocks_of(count, BLOCK):
        size = block.stop - block.start
        values = as_values(function(draw_from(sampler, size, stream)), size)
        flat, mean = values.reshape(size, -1), values.reshape(size, -1).mean(axis=0)
        part = (float(size), mean, ((flat - mean) ** 2).sum(axis=0))
        total = part if total is None else add_moments(total, part)
    _, mean, scatter = total
    shape = values.shape[1:]
    error = np.sqrt(scatter / (count - 1) / count)
    return MonteCarloEstimate(plain(mean.reshape(shape)), plain(error.reshape(shape)), count)


def add_moments(one: Any, other: Any) -> Any:
    """Number, mean and scatter of two groups of values together."""
    count = one[0] + other[0]
    shift = other[1] - one[1]
    return count, one[1] + shift * other[0] / count, one[2] + other[2] + shift**2 * one[0] * other[0] / count


def importance_estimate(
    function: Callable[[Any], Any],
    log_target: Callable[[Any], Any],
    proposal: Any,
    n: int = 10_000,
    *,
    self_normalized: bool = True,
    smoothing: bool = False,
    rng: Any = None,
) -> ImportanceEstimate:
    """E function(X) for X with density p, from draws of another distribution q, each weighted by p/q.

    Parameters
    ----------
    function
        Of an array of draws; it gives a number for each draw, (draw,), or several, (draw, …).
    log_target
        Log p of each draw, up to a constant if the weights are divided by their sum.
    proposal
        A distribution with `sample(n, rng=)` and `log_prob`, which is positive wherever p is.
    n
        The number of draws, at least 2.
    self_normalized
        Whether the weights are divided by their sum, which often helps also where p and q are normalised; else by n,
        without bias.
    smoothing
        Whether the largest weights are smoothed by a Pareto distribution.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    ImportanceEstimate
        The value and its standard error, and what the weights say about themselves.

    Examples
    --------
    >>> import juncture as jt
    >>> wide = jt.Gaussian(0.0, 4.0)
    >>> found = jt.sampling.importance_estimate(lambda x: x**2, lambda x: -x**2 / 2, wide, 20_000, rng=0)
    >>> abs(found.value - 1.0) < 3 * found.standard_error
    True
    >>> round(found.log_ratio, 1), round(float(np.log(np.sqrt(2 * np.pi))), 1)
    (0.9, 0.9)
    """
    check_function(function, "function")
    check_function(log_target, "log_target")
    check_flag(self_normalized, "self_normalized")
    check_flag(smoothing, "smoothing")
    count = check_count(n, "n", least=2)
    draws = draw_from(check_proposal(proposal), count, as_generator(rng))
    values = as_values(function(draws), count)
    logs = as_log_weights(log_target(draws), proposal.log_prob(draws), count)
    if smoothing:
        logs = importance_weights.smooth_weights(logs)[0]
    value, error = weighted_mean(values, logs, is_normalized=self_normalized)
    size = importance_weights.effective_sample_size(logs)
    return ImportanceEstimate(
        plain(value),
        plain(error),
        count,
        importance_weights.log_mean(logs),
        math.sqrt(max(1.0 / size - 1.0 / count, 0.0) * count / (count - 1)),
        size,
        importance_weights.chi_square(logs),
        importance_weights.pareto_k(logs),
        logs,
    )


def importance_variance_bound(p: Any, q: Any, largest: float, n: int) -> Any:
    """Return the bound M²/n (1 + χ²(p ‖ q)) of the variance of Σ f p/q / n over draws of q, for |f| ≤ M.

    Parameters
    ----------
    p, q
        The target and the proposal: two distributions of the same kind.
    largest
        M, which |f| nowhere exceeds.
    n
        The number of draws.

    Returns
    -------
    float or numpy.ndarray
        The bound; infinite where no number of draws helps, as where q has lighter tails than p, or is 0 where p is not.

    Examples
    --------
    >>> import juncture as jt
    >>> round(jt.sampling.importance_variance_bound([0.5, 0.5], [0.25, 0.75], 1.0, 100), 6)  # 4/3 · 1/100
    0.013333
    """
    from juncture.information.divergences import chi_squared_divergence

    size = check_number(largest, "largest", least=0, finite=True)
    count = check_count(n, "n", least=1)
    ratio = 1.0 + np.asarray(chi_squared_divergence(p, q))
    with np.errstate(over="ignore"):  # M² beyond doubles is infinite
        return plain(np.square(size) * ratio / count if size else np.zeros_like(ratio))


def weighted_mean(values: np.ndarray, log_weights: np.ndarray, *, is_normalized: bool) -> tuple[np.ndarray, np.ndarray]:
    """Σ w f / Σ w with the error of the delta method, or the mean of w f with that of the CLT."""
    shape = (-1, *[1] * (values.ndim - 1))
    if not is_normalized:
        terms = np.exp(log_weights).reshape(shape) * values
        return terms.mean(axis=0), terms.std(axis=0, ddof=1) / math.sqrt(len(terms))
    weights = np.exp(log_weights - stable.log_sum_exp(log_weights)).reshape(shape)
    mean = (weights * values).sum(axis=0)
    return mean, np.sqrt((weights**2 * (values - mean) ** 2).sum(axis=0))


def draw_from(sampler: Any, n: int, rng: np.random.Generator) -> Any:
    """Draws of a distribution, or of a function of (n, rng), the first axis one for each."""
    if isinstance(sampler, type):
        raise InvalidData(f"a sampler is a distribution or a function of (n, rng); got the class {sampler.__name__}")
    drawn = sampler.sample(n, rng=rng) if isinstance(sampler, CanSample) else check_function(sampler, "sampler")(n, rng)
    array = check_array(drawn, "what the sampler gives")
    if array.shape[:1] != (n,):
        raise InvalidData(f"the sampler must give {n} draws; got {shown(drawn)}")
    return np.asarray(drawn)


def check_proposal(proposal: Any) -> Any:
    """A distribution that can be drawn from and has a density."""
    if isinstance(proposal, type) or not isinstance(proposal, Distribution):
        raise InvalidData(f"a proposal is a distribution with sample and log_prob; got {shown(proposal)}")
    return proposal


def as_values(values: Any, n: int) -> np.ndarray:
    """Finite numbers, the first axis one for each draw."""
    array = check_array(values, "what the function gives")
    if array.shape[:1] != (n,):
        raise InvalidData(f"the function must give a number for each of {n} draws; got {shown(values)}")
    if not np.isfinite(array).all():
        where = int(np.flatnonzero(~np.isfinite(array.reshape(n, -1)).all(axis=1))[0])
        raise InvalidData(f"the function gave {array.reshape(n, -1)[where]} for draw {where}; it must be finite")
    return array


def as_logs(values: Any, n: int, what: str) -> np.ndarray:
    """The logarithm of a density at each draw, below infinity."""
    array = check_array(values, f"what {what} gives")
    if array.shape != (n,) or np.isnan(array).any() or np.isposinf(array).any():
        raise InvalidData(f"{what} must give a number below infinity for each of {n} draws; got {shown(values)}")
    return array


def as_log_weights(log_target: Any, log_proposal: Any, n: int) -> np.ndarray:
    """Log p - log q; -inf where p is zero, but not everywhere."""
    logs = as_logs(log_target, n, "log_target") - as_logs(log_proposal, n, "log_prob of the proposal")
    if np.isneginf(logs).all():
        raise InvalidData("the target is zero at every draw of the proposal: they have nothing in common")
    return logs
