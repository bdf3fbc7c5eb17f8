"""Two hypotheses and one observation: the test with the least probability of error, and that probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_number
from juncture.components.mixture import Mixture
from juncture.factors.factor import Factor
from juncture.families.family import Real, plain
from juncture.information.common_points import Comparison, compare, crossings, log_ratio, map_pairs, weigh
from juncture.numerics.quadrature.gauss_legendre import Grid


@dataclass(frozen=True, eq=False)
class OptimalTest:
    """Say "p" on the accepted values, where prior · p > (1 - prior) · q, and "q" on all others.

    `accepted` is a Boolean array over the states, in p's order; for distributions of numbers, (low, high) intervals.
    """

    accepted: Any
    missed: Real  # P(say "q" | p)
    false_alarm: Real  # P(say "p" | q)
    error: Real  # how often the answer is wrong


def optimal_test(p: Any, q: Any, prior: float = 0.5) -> OptimalTest:
    """The likelihood-ratio test of p against q.

    Parameters
    ----------
    p, q
        The distributions of the observation under the two hypotheses.
    prior
        The probability that p is true.

    Returns
    -------
    OptimalTest
        The values for which the test says "p", and the probabilities of its errors.

    Examples
    --------
    >>> optimal_test([0.5, 0.3, 0.2], [0.2, 0.2, 0.6]).accepted
    array([ True,  True, False])
    """
    prior = check_number(prior, "the prior probability of the first hypothesis", above=0, below=1)
    threshold = np.log1p(-prior) - np.log(prior)
    pair = compare(p, q, threshold=threshold)
    says_p = log_ratio(pair.log_p, pair.log_q) > threshold
    missed = pair.total(weigh(pair.log_p, np.where(says_p, 0.0, 1.0)), "the error")
    false_alarm = pair.total(weigh(pair.log_q, np.where(says_p, 1.0, 0.0)), "the error")
    if pair.grid is not None:
        accepted: Any = intervals(p, q, pair, pair.grid, threshold)
    else:
        accepted = says_p.reshape(p.values.shape) if isinstance(p, Factor) else says_p
    error = prior * missed + (1 - prior) * false_alarm
    return OptimalTest(accepted, plain(missed), plain(false_alarm), plain(error))


def bayes_error(p: Any, q: Any, prior: float = 0.5) -> Real:
    """The smallest probability of error of any test between two hypotheses: Σ min(prior · p, (1 - prior) · q).

    With even odds it is ½ (1 - total variation).

    Parameters
    ----------
    p, q
        The distributions of the observation under the two hypotheses.
    prior
        The probability that p is true.

    Returns
    -------
    float or numpy.ndarray
        The probability of error.

    Examples
    --------
    >>> bayes_error([0.5, 0.5], [1.0, 0.0])
    0.25
    """
    return map_pairs(lambda p, q: optimal_test(p, q, prior).error, p, q)


def ends_of(p: Any) -> tuple[float, float]:
    """The ends of the values of a distribution of numbers; of a mixture those of all its components."""
    supports = [one.support for one in p] if isinstance(p, Mixture) else [p.support]
    return min(float(np.min(one.low)) for one in supports), max(float(np.max(one.high)) for one in supports)


def intervals(p: Any, q: Any, pair: Comparison, grid: Grid, threshold: float) -> tuple[tuple[float, float], ...]:
    """The stretches where the test says "p", in order; the outermost go on to the ends of p's support."""
    seen = (np.exp(pair.log_p) > 0) | (np.exp(pair.log_q) > 0)
    points, says_p = grid.points[seen], (log_ratio(pair.log_p, pair.log_q) > threshold)[seen]
    edges = np.flatnonzero(np.diff(says_p))  # the answer changes after these points
    if grid.is_discrete:
        starts, stops = np.r_[points[0], points[edges + 1]], np.r_[points[edges], np.inf if grid.edges else points[-1]]
    else:
        inner = crossings(p, q, threshold, grid.points)
        low, high = ends_of(p)
        starts, stops = np.r_[low, inner], np.r_[inner, high]
    mine = np.r_[says_p[0], says_p[edges + 1]]
    return tuple(zip(starts[mine].tolist(), stops[mine].tolist(), strict=True))
