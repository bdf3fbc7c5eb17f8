"""Moment matching without a closed form: natural parameters from mean parameters, by Newton's method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import digamma, i0e, i1e, polygamma

MAX_STEPS = 100
TOLERANCE = 1e-13
LARGE_SHAPE = 16.0  # from here on log α - ψ(α), which cancels, is summed as a series exact to rounding
SHAPE_SERIES = {1: 1 / 2, 2: 1 / 12, 4: -1 / 120, 6: 1 / 252, 8: -1 / 240, 10: 1 / 132, 12: -691 / 32760}
TRIGAMMA_STEPS = np.arange(8.0)
TRIGAMMA_SERIES = [
    1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798, -174611 / 330, 854513 / 138,
    -236364091 / 2730, 8553103 / 6,
]  # fmt: skip  # Bernoulli numbers
TRIGAMMA_BLOCK = 4096
LARGE_CONCENTRATION = 1e3
SMALL_GAP = 1e-8  # below it, the difference that Newton's method takes is lost to rounding


def log_means(counts: np.ndarray) -> np.ndarray:
    """E log x_k = ψ(α_k) - ψ(Σα) of a Dirichlet with counts α; a Beta has two."""
    return digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True))


def match_log_means(wanted: np.ndarray) -> np.ndarray:
    """The counts α whose `log_means` are given, for Beta and Dirichlet (Minka's Newton step, which costs O(k)).

    α_k = ψ⁻¹(ψ(Σα) + E log x_k) is iterated a few times first: it converges from everywhere.
    """
    counts = np.ones(wanted.shape)
    for _ in range(20):
        counts = inverse_digamma(digamma(counts.sum(axis=-1, keepdims=True)) + wanted)
    for _ in range(MAX_STEPS):
        total = counts.sum(axis=-1, keepdims=True)
        gradient = digamma(total) - digamma(counts) + wanted
        curvature, shared = -polygamma(1, counts), polygamma(1, total)
        pull = (gradient / curvature).sum(axis=-1, keepdims=True) / (
            1 / shared + (1 / curvature).sum(axis=-1, keepdims=True)
        )
        step = (gradient - pull) / curvature
        counts = np.maximum(counts - step, counts / 10)
        if (np.abs(step) <= TOLERANCE * counts).all():
            break
    return counts


def inverse_digamma(value: np.ndarray) -> np.ndarray:
    """x with ψ(x) = value, by Newton from Minka's start."""
    x = np.where(value >= -2.22, np.exp(np.minimum(value, 500.0)) + 0.5, -1 / (np.minimum(value, -2.22) - digamma(1.0)))
    for _ in range(8):
        x = x - (digamma(x) - value) / polygamma(1, x)
    return np.asarray(x)


def match_degrees(gap: np.ndarray, dimension: int) -> np.ndarray:
    """The degrees ν above d - 1 with d log ν/2 - Σ ψ((ν-i)/2) = gap, i from 0 to d - 1: log |E X| - E log |X|.

    For a Wishart matrix X of size d; with d = 1, of a Gamma with the shape ν/2. The reciprocal of the left side is
    almost straight, so Newton's method is applied to that. As the gap vanishes, ν · gap tends to d (d+1) / 2.
    """
    limit = dimension * (dimension + 1) / 2
    wanted = np.maximum(gap, SMALL_GAP)
    excess = max(2.0, limit) / wanted  # ν - (d - 1)
    for _ in range(MAX_STEPS):
        degrees = excess + dimension - 1
        halves = 0.5 * (degrees[..., None] - np.arange(dimension))
        found = dimension * np.log(degrees / 2) - digamma(halves).sum(axis=-1)
        slope = dimension / degrees - 0.5 * polygamma(1, halves).sum(axis=-1)
        step = found * (1 - found / wanted) / slope
        excess = np.maximum(excess + step, excess / 10)
        if (np.abs(step) <= TOLERANCE * excess).all():
            break
    return np.where(gap < SMALL_GAP, limit / np.maximum(gap, np.finfo(float).tiny), excess + dimension - 1)


def match_shape(gap: np.ndarray) -> np.ndarray:
    """The shape α with log α - ψ(α) = gap > 0, for gamma and inverse gamma: gap is log E x - E log x.

    log gap falls with log α along a line of slope -1 at both ends, so Newton's method in the logarithms is safe.
    """
    shape = np.where(gap < 1, 0.5, 1.0) / gap
    for _ in range(MAX_STEPS):
        value, slope = shape_gap(shape)
        step = np.log(value / gap) * value / slope
        shape = shape * np.exp(-step)
        if (np.abs(step) <= TOLERANCE).all():
            break
    return np.asarray(shape)


def shape_gap(shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """log α - ψ(α), and α times its derivative."""
    return log_minus_digamma(shape), -shape * trigamma_excess(shape)


def log_minus_digamma(shape: np.ndarray) -> np.ndarray:
    """log α - ψ(α), about 1/2α: where the difference cancels, by its series."""
    large = shape >= LARGE_SHAPE
    small, inverse = np.where(large, 1.0, shape), 1 / np.where(large, shape, LARGE_SHAPE)
    series = sum(factor * inverse**power for power, factor in SHAPE_SERIES.items())
    return np.where(large, series, np.log(small) - digamma(small))


def trigamma_excess(x: np.ndarray) -> np.ndarray:
    """ψ'(x) - 1/x for x > 0, about 1/2x²: Σ 1 / (x+k)²(x+k+1) over the first steps up, then a series; all positive."""
    flat = np.asarray(x, dtype=float).ravel()
    found = np.empty(flat.shape)
    with np.errstate(over="ignore"):
        for start in range(0, flat.size, TRIGAMMA_BLOCK):
            block = slice(start, start + TRIGAMMA_BLOCK)
            near = flat[block, None] + TRIGAMMA_STEPS  # (number, step)
            inverse = 1 / (flat[block] + len(TRIGAMMA_STEPS))
            square = inverse * inverse
            series = _horner(TRIGAMMA_SERIES, square)
            found[block] = (1 / (near * near * (near + 1))).sum(axis=1) + square * (0.5 + inverse * series)
    return found.reshape(np.shape(x))


def _horner(factors: list[float], x: np.ndarray) -> np.ndarray:
    """Σ factor_k x^k."""
    total = np.full(x.shape, factors[-1])
    for factor in factors[-2::-1]:
        total = factor + x * total
    return total


def match_concentration(resultant: np.ndarray) -> np.ndarray:
    """The concentration κ with I1(κ)/I0(κ) = resultant, from 0 to below 1, for von Mises.

    A/(1-A), with A = I1/I0, is κ/2 for small κ and 2κ for large: Newton's method in the logarithms.
    """
    wanted = np.where(resultant > 0, resultant, 0.5)
    odds = wanted / (1 - wanted)
    concentration = np.where(odds < 1, 2 * odds, 0.5 * odds)
    for _ in range(MAX_STEPS):
        ratio = i1e(concentration) / i0e(concentration)
        slope = concentration * (1 - ratio / concentration - ratio**2) / (ratio * (1 - ratio))
        slope = np.where(concentration < LARGE_CONCENTRATION, slope, 1.0)  # it is 1 + O(1/κ), and cancels
        step = np.log(ratio / (1 - ratio) / odds) / slope
        concentration = concentration * np.exp(-step)
        if (np.abs(step) <= TOLERANCE).all():
            break
    return np.where(resultant > 0, concentration, 0.0)


def increasing_root(
    function: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    low: np.ndarray,
    high: np.ndarray,
    start: np.ndarray,
) -> np.ndarray:
    """The x from low to high where an increasing function, given with its slope, is 0; the nearer end if there is none.

    Newton's method, each step kept inside a bracket that shrinks, for many functions at once.
    """
    x = np.asarray(start, dtype=float)
    for _ in range(MAX_STEPS):
        value, slope = function(x)
        low, high = np.where(value <= 0, x, low), np.where(value >= 0, x, high)
        newton = x - value / np.where(slope > 0, slope, np.inf)
        moved = np.where((newton > low) & (newton < high), newton, 0.5 * (low + high))
        moved = np.where(value == 0, x, moved)
        change, x = np.abs(moved - x), moved
        if (change <= TOLERANCE * np.maximum(np.abs(x), np.finfo(float).tiny)).all():
            break
    return x
