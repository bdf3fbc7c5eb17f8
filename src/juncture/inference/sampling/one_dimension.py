"""Draws of a single number: by inversion of its distribution function, by rejection, and by slices of its density."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, check_function, check_kind, check_number, shown
from juncture.base.options import as_generator
from juncture.errors import InvalidData, NotConvergedWarning, warn_user
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.monte_carlo import as_logs, check_proposal, draw_from
from juncture.numerics.stable import as_probabilities

HALVINGS = 200  # of an interval that is narrowed to the last digit
BLOCK = 2**14  # tries at a time
ROUNDING = 1e-9  # by which a density may exceed its bound
FAR = 1e300  # where the search for an end of an interval stops
MOST_STEPS = 1000  # of widening or narrowing a slice


def inverse_transform(
    n: int,
    *,
    quantile: Callable[[Any], Any] | None = None,
    cdf: Callable[[Any], Any] | None = None,
    probabilities: Any = None,
    rng: Any = None,
) -> np.ndarray:
    """`n` draws F⁻¹(U) of uniform numbers U.

    Parameters
    ----------
    n
        The number of draws.
    quantile
        F⁻¹, of an array of numbers in (0, 1).
    cdf
        F itself, which is inverted numerically: the smallest x with F(x) ≥ u.
    probabilities
        Those of the codes 0, 1, 2, …, which are drawn by their running sums.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    (n,)
        Numbers; or codes, given `probabilities`.

    Examples
    --------
    >>> import numpy as np
    >>> waits = inverse_transform(10_000, quantile=lambda u: -np.log1p(-u) / 2.0, rng=0)
    >>> bool(abs(waits.mean() - 0.5) < 0.02)
    True
    """
    count = check_count(n, "n")
    given = [one for one in (quantile, cdf, probabilities) if one is not None]
    if len(given) != 1:
        raise InvalidData(f"give one of quantile=, cdf= and probabilities=; got {len(given)} of them")
    uniforms = as_generator(rng).random(count)
    if probabilities is not None:
        given_shares = check_array(probabilities, "probabilities", ndim=1)
        shares = as_probabilities(given_shares, given_shares.shape, name="probabilities")
        sums = np.cumsum(shares)
        return np.minimum(np.searchsorted(sums / sums[-1], uniforms, side="right"), np.flatnonzero(shares)[-1])
    open_uniforms = np.clip(uniforms, np.finfo(float).tiny, None)  # (0, 1): F⁻¹(0) may be -inf
    if quantile is not None:
        return check_array(check_function(quantile, "quantile")(open_uniforms), "what quantile gives", ndim=1)
    return invert(check_function(cdf, "cdf"), open_uniforms)


def invert(cdf: Callable[[Any], Any], levels: np.ndarray) -> np.ndarray:
    """The smallest x with cdf(x) ≥ level, by bisection of an interval that is doubled until it holds x."""
    low, high = np.full(levels.shape, -1.0), np.full(levels.shape, 1.0)
    for end, is_low in ((low, True), (high, False)):
        for _ in range(1024):
            is_below = check_array(cdf(end), "what cdf gives") < levels
            wrong = (is_below != is_low) & (np.abs(end) < FAR)
            if not wrong.any():
                break
            end[wrong] *= 2.0
    for _ in range(HALVINGS):
        middle = low + (high - low) / 2
        is_below = np.asarray(cdf(middle)) < levels
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return high


@dataclass(frozen=True, eq=False)
class AcceptedDraws:
    """What rejection sampling kept.

    Attributes
    ----------
    values
        The accepted draws, (n,).
    num_tries
        How many were drawn in all.
    log_normalizer, log_normalizer_error
        The logarithm of ∫ exp(log_density), which is bound times rate, and its standard error.
    """

    values: np.ndarray
    num_tries: int
    log_normalizer: float
    log_normalizer_error: float

    @property
    def acceptance_rate(self) -> float:
        """The share that was accepted."""
        return len(self.values) / self.num_tries

    def __repr__(self) -> str:
        return f"AcceptedDraws({len(self.values):,} of {self.num_tries:,})"


def rejection_sample(
    log_density: Callable[[Any], Any],
    proposal: Any,
    log_bound: float,
    n: int,
    *,
    max_tries: int = 100_000_000,
    rng: Any = None,
) -> AcceptedDraws:
    """`n` draws from a density that is known up to a constant, below a bound times a proposal that can be drawn from.

    Parameters
    ----------
    log_density
        Log p̃ of an array of draws.
    proposal
        A distribution q with `sample(n, rng=)` and `log_prob`.
    log_bound
        Log k, with p̃(x) ≤ k q(x) for all x. A draw is accepted with probability p̃(x) / (k q(x)).
    n
        How many draws to accept.
    max_tries
        The most draws of the proposal.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    AcceptedDraws
        Exact, independent draws, the rate of acceptance and the constant of the density. A density above its bound at
        a draw is refused.

    Examples
    --------
    >>> import math
    >>> import juncture as jt
    >>> draws = rejection_sample(lambda x: -x**2 / 2, jt.Gaussian(0.0, 2.0), math.log(4 * math.pi) / 2, 5000, rng=0)
    >>> round(draws.acceptance_rate, 1)  # 1/√2
    0.7
    """
    check_function(log_density, "log_density")
    check_proposal(proposal)
    bound, count = check_number(log_bound, "log_bound", finite=True), check_count(n, "n", least=1)
    limit, stream = check_count(max_tries, "max_tries", least=1), as_generator(rng)
    kept: list[np.ndarray] = []
    num_kept = num_tries = 0
    while num_kept < count and num_tries < limit:
        draws = np.asarray(draw_from(proposal, min(BLOCK, limit - num_tries), stream))
        places = np.flatnonzero(is_accepted(log_density, proposal, bound, draws, stream))[: count - num_kept]
        kept.append(draws[places])
        num_kept += len(places)
        num_tries += int(places[-1]) + 1 if num_kept == count else len(draws)
    if num_kept < count:
        raise InvalidData(
            f"only {num_kept} of {num_tries:,} draws were accepted, {count} were asked for: the bound is far too large,"
            " or the proposal lies elsewhere; raise max_tries= or choose another"
        )
    rate = max(count - 1, 1) / max(num_tries - 1, 1)
    return AcceptedDraws(np.concatenate(kept), num_tries, bound + math.log(rate), math.sqrt((1 - rate) / count))


def is_accepted(
    log_density: Callable[[Any], Any], proposal: Any, log_bound: float, draws: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """(draw,): whether each is kept; a density above the bound is refused."""
    log_q = as_logs(proposal.log_prob(draws), len(draws), "log_prob of the proposal")
    logs = as_logs(log_density(draws), len(draws), "log_density") - log_bound - log_q
    if (logs > ROUNDING).any():
        worst = int(np.argmax(logs))
        raise InvalidData(
            f"the density exceeds its bound at {draws[worst]!r}, by the factor {math.exp(min(logs[worst], 700)):.3g}:"
            " raise log_bound"
        )
    return np.log1p(-rng.random(len(draws))) < logs


def slice_sample(
    log_density: Callable[[Any], Any],
    start: Any,
    n: int,
    *,
    width: float = 1.0,
    warmup: int = 100,
    name: str = "x",
    rng: Any = None,
) -> Draws:
    """Draws from a density of one number, known up to a constant, by slice sampling.

    A level is drawn below the density at the last draw, then a number from the interval about it in which the density
    is above the level: widened in steps until both ends are below, narrowed after each number that is below
    (Neal 2003).

    Parameters
    ----------
    log_density
        Of an array of numbers, one for each chain.
    start
        A number, or one for each chain, where the density is positive.
    n
        The number of draws of each chain.
    width
        The first width of an interval.
    warmup
        How many draws to leave out before.
    name
        The name of the number in the `Draws`.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    Draws
        (chain, draw), with their diagnostics.

    Examples
    --------
    >>> draws = slice_sample(lambda x: -abs(x), [0.0, 1.0], 2000, rng=0)
    >>> draws["x"].shape
    (2, 2000)
    >>> bool(abs(abs(draws["x"]).mean() - 1.0) < 0.15)
    True
    """
    check_function(log_density, "log_density")
    count, skipped = check_count(n, "n", least=1), check_count(warmup, "warmup")
    step, stream = check_number(width, "width", above=0, finite=True), as_generator(rng)
    check_kind(name, str, "name")
    x = np.atleast_1d(check_array(start, "start")).astype(float)
    if x.ndim != 1 or not np.isfinite(as_logs(log_density(x), len(x), "log_density")).all():
        raise InvalidData(f"start is a number, or one a chain, where log_density is finite; got {shown(start)}")
    values = np.empty((len(x), count))
    for turn in range(skipped + count):
        x = slice_step(log_density, x, step, stream)
        if turn >= skipped:
            values[:, turn - skipped] = x
    return Draws({name: values})


def slice_step(log_density: Callable[[Any], Any], x: np.ndarray, width: float, rng: np.random.Generator) -> np.ndarray:
    """The next draw of each chain."""
    level = as_logs(log_density(x), len(x), "log_density") + np.log1p(-rng.random(x.shape))
    low = x - width * rng.random(x.shape)
    high = low + width
    for end, step in ((low, -width), (high, width)):
        for _ in range(MOST_STEPS):
            is_above = np.asarray(log_density(end)) > level
            if not is_above.any():
                break
            end[is_above] += step
        else:
            warn_user("a slice was not widened to its ends; raise width=", NotConvergedWarning)
    new, is_done = x.copy(), np.zeros(x.shape, bool)
    for _ in range(MOST_STEPS):
        proposed = low + (high - low) * rng.random(x.shape)
        is_inside = np.asarray(log_density(proposed)) > level
        new = np.where(is_inside & ~is_done, proposed, new)
        is_done |= is_inside
        if is_done.all():
            break
        low = np.where(~is_done & (proposed < x), proposed, low)
        high = np.where(~is_done & (proposed >= x), proposed, high)
    return new
