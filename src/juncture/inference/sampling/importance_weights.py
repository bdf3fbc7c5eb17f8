"""What weights say about themselves: effective sample size, chi-square, the error of their mean, and Pareto's k.

A weight w = p/q has mean Z and E w² = Z² (1 + χ²(p ‖ q)), so that n draws count as n / (1 + χ²). The largest weights
follow a generalised Pareto distribution with shape k: above 1/2 the variance is infinite, above 0.7 estimates converge
too slowly to be of use. Smoothing replaces the largest weights by the expected order statistics of the distribution
that is fitted to them (Vehtari, Simpson, Gelman, Yao and Gabry 2024; the fit is that of Zhang and Stephens 2009).
"""

from __future__ import annotations

import math

import numpy as np

from juncture.numerics import stable

RELIABLE_K = 0.7
LEAST_SIZE = 25.0  # effective draws
SMALL_SHARE = 0.05  # of Σ w², which the largest weight may have
LEAST_TAIL = 5  # weights, from which on a tail is fitted
PRIOR_K, PRIOR_COUNT = 0.5, 10.0  # a weak prior of the shape
TINY = 1e-150  # in units of the largest weight: next to nothing
TIE = 1e-12  # of logarithms: weights that differ by less are the same but for rounding


def log_mean(log_weights: np.ndarray) -> float:
    """The logarithm of the mean weight: an estimate of log Z."""
    return float(stable.log_sum_exp(log_weights)) - math.log(len(log_weights))


def effective_sample_size(log_weights: np.ndarray) -> float:
    """(Σ w)² / Σ w²: how many draws of equal weight count as much; 0 where all weights are zero."""
    top = log_weights.max(initial=-math.inf)
    if top == -math.inf:
        return 0.0
    weights = np.exp(log_weights - top)
    return float(weights.sum() ** 2 / (weights**2).sum())


def chi_square(log_weights: np.ndarray) -> float:
    """An estimate of χ²(p ‖ q) = E_q (p/q - 1)²: n / effective sample size - 1."""
    size = effective_sample_size(log_weights)
    return len(log_weights) / size - 1.0 if size > 0 else math.inf


def has_reliable_errors(log_weights: np.ndarray) -> bool:
    """Whether enough draws count, and no single weight matters in a tail that is too heavy.

    The tail of weights that are nearly equal may look heavy; it does no harm while its largest weight is small.
    """
    weights = np.exp(log_weights - log_weights.max())
    if weights.sum() ** 2 < LEAST_SIZE * (weights**2).sum():
        return len(log_weights) < LEAST_SIZE
    return bool(SMALL_SHARE * (weights**2).sum() > 1.0) or pareto_k(log_weights) <= RELIABLE_K


def tail_of(log_weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Which weights are the largest, in increasing order, and the logarithm of the largest of the others.

    Weights that are equal to the largest of the others do not count among the largest.
    """
    num_draws = len(log_weights)
    size = min(int(0.2 * num_draws), int(3 * math.sqrt(num_draws)), num_draws - 1)
    if size < LEAST_TAIL:
        return np.empty(0, np.int64), math.inf
    largest = np.argpartition(log_weights, num_draws - size - 1)[num_draws - size - 1 :]
    ordered = largest[np.argsort(log_weights[largest], kind="stable")]
    cut = float(log_weights[ordered[0]])
    return ordered[log_weights[ordered] > cut + TIE], cut


def pareto_k(log_weights: np.ndarray) -> float:
    """The shape of the tail of the weights; -inf where the largest weights are equal.

    It is inf for too few draws, and where most of the largest weights are nothing beside the very largest.
    """
    tail, cut = tail_of(log_weights)
    return math.inf if cut == math.inf else fit_tail(log_weights[tail], cut)[0]


def smooth_weights(log_weights: np.ndarray) -> tuple[np.ndarray, float]:
    """The logarithms of weights whose largest are smoothed, none above the largest; and Pareto's k."""
    tail, cut = tail_of(log_weights)
    k, scale = (math.inf, 0.0) if cut == math.inf else fit_tail(log_weights[tail], cut)
    if not math.isfinite(k):
        return log_weights, k
    top = float(log_weights[tail[-1]])
    ranks = (np.arange(len(tail)) + 0.5) / len(tail)
    excess = scale * (np.expm1(-k * np.log1p(-ranks)) / k if k else -np.log1p(-ranks))
    smoothed = log_weights.copy()
    smoothed[tail] = np.minimum(stable.log(np.exp(cut - top) + excess) + top, top)
    return smoothed, k


def fit_tail(log_tail: np.ndarray, log_cut: float) -> tuple[float, float]:
    """Shape and scale of the generalised Pareto distribution of increasing weights above a cut.

    The scale is in units of the largest weight.
    """
    if len(log_tail) < LEAST_TAIL or log_tail[-1] - log_tail[0] <= TIE:
        return -math.inf, 0.0
    excess = np.exp(log_tail - log_tail[-1]) - np.exp(log_cut - log_tail[-1])
    if excess[quartile_of(len(excess))] < TINY:
        return math.inf, 0.0
    k, scale = fit_generalized_pareto(excess)
    weight = len(excess) / (len(excess) + PRIOR_COUNT)
    return weight * k + (1 - weight) * PRIOR_K, scale


def quartile_of(size: int) -> int:
    """The place of the lower quartile among so many increasing values."""
    return int(size / 4 + 0.5) - 1


def fit_generalized_pareto(values: np.ndarray) -> tuple[float, float]:
    """Shape k and scale of increasing positive values, by the weighted likelihood of Zhang and Stephens (2009)."""
    size = len(values)
    grid = 30 + int(math.sqrt(size))
    steps = 1.0 - np.sqrt(grid / (np.arange(1, grid + 1) - 0.5))
    quartile = values[quartile_of(size)]
    rates = steps / (3.0 * quartile) + 1.0 / values[-1]
    shapes = np.log1p(-rates[:, np.newaxis] * values).mean(axis=1)
    log_likelihoods = size * (np.log(-rates / shapes) - shapes - 1.0)
    weights = np.exp(log_likelihoods - stable.log_sum_exp(log_likelihoods))
    rate = float(weights @ rates)
    k = float(np.log1p(-rate * values).mean())
    return k, -k / rate
