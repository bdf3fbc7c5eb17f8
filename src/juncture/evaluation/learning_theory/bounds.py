"""Hoeffding's inequality, uniform convergence over a class, and the sample complexity of learning (PAC bounds).

A class of |H| hypotheses is learned by minimising the empirical risk of a loss between 0 and 1. With N examples, and
with probability at least 1 - δ, the risk of the hypothesis that is learned exceeds the smallest risk in the class by
at most ε. Sizes of classes may be whole numbers of any length: 2 ** (16 * 3) for three weights of 16 bits. The error of
a hyperplane is also bounded by the margins of the points that it was learned from.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from juncture.base.checks import check_count, check_flag, check_number, check_tuples


def hoeffding_bound(draws: Any, deviation: Any, *, low: float = 0.0, high: float = 1.0) -> float:
    """Hoeffding's inequality: P(|mean of M samples - expectation| ≥ d) ≤ 2 exp(-2 M d² / (high - low)²).

    Parameters
    ----------
    draws
        M, the number of independent samples.
    deviation
        A positive distance d from the expectation.
    low, high
        The ends of the interval in which the samples lie.

    Returns
    -------
    float
        The bound on the probability, at most 1.

    Examples
    --------
    >>> round(hoeffding_bound(100, 0.1), 6)
    0.270671
    """
    number = check_count(draws, "draws", least=1)
    distance = check_number(deviation, "the deviation", above=0) / check_width(low, high)
    return min(1.0, 2 * math.exp(-2 * number * distance * distance))


def hoeffding_deviation(draws: Any, delta: Any, *, low: float = 0.0, high: float = 1.0) -> float:
    """The half-width of Hoeffding's confidence interval: the deviation at which the bound is δ.

    Parameters
    ----------
    draws
        M, the number of independent samples.
    delta
        The probability δ that the interval fails.
    low, high
        The ends of the interval in which the samples lie.

    Returns
    -------
    float
        (high - low) √(log(2 / δ) / 2M).

    Examples
    --------
    >>> round(hoeffding_deviation(100, 0.05), 6)
    0.13581
    """
    number = check_count(draws, "draws", least=1)
    return check_width(low, high) * math.sqrt(math.log(2 / check_delta(delta)) / (2 * number))


def hoeffding_samples(deviation: Any, delta: Any, *, low: float = 0.0, high: float = 1.0) -> int:
    """The number of samples for which Hoeffding's bound on a deviation is at most δ.

    Parameters
    ----------
    deviation
        The half-width of the interval.
    delta
        The probability δ that the interval fails.
    low, high
        The ends of the interval in which the samples lie.

    Returns
    -------
    int
        ⌈(high - low)² log(2 / δ) / (2 deviation²)⌉.

    Examples
    --------
    >>> hoeffding_samples(0.1, 0.05)
    185
    """
    distance = Fraction(check_number(deviation, "the deviation", above=0, finite=True) / check_width(low, high))
    return math.ceil(Fraction(math.log(2 / check_delta(delta))) / (2 * distance * distance))


def uniform_convergence_bound(num_rows: Any, num_hypotheses: Any, deviation: Any) -> float:
    """A bound on the probability that some hypothesis has an empirical risk further than a deviation from its risk.

    Parameters
    ----------
    num_rows
        N, the number of examples.
    num_hypotheses
        The size |H| of the class.
    deviation
        The distance between empirical risk and risk.

    Returns
    -------
    float
        2 |H| exp(-2 N deviation²), at most 1: Hoeffding's bound for each hypothesis, added up.

    Examples
    --------
    >>> round(uniform_convergence_bound(2120, 1000, 0.05), 4)
    0.0498
    """
    number = check_count(num_rows, "num_rows", least=1)
    distance = check_number(deviation, "the deviation", above=0)
    exponent = math.log(2) + capacity(num_hypotheses) - 2 * number * distance * distance
    return math.exp(min(0.0, exponent))


def capacity(num_hypotheses: Any) -> float:
    """The capacity of a finite class: log |H| in nats.

    Parameters
    ----------
    num_hypotheses
        The size |H| of the class, a whole number of any length.

    Returns
    -------
    float
        log |H|; divided by log 2, it is in bits, and no VC dimension of a class of this size is larger.

    Examples
    --------
    >>> round(capacity(2**48) / math.log(2), 9)
    48.0
    """
    return math.log(check_count(num_hypotheses, "the number of hypotheses", least=1))


def sample_complexity(num_hypotheses: Any, epsilon: Any, delta: Any, *, realizable: bool = False) -> int:
    """The number of examples with which a finite class is learned to accuracy ε with confidence 1 - δ.

    Parameters
    ----------
    num_hypotheses
        The size |H| of the class: 2 ** (bits * weights) where weights are quantised.
    epsilon
        How far the risk may lie above the smallest in the class.
    delta
        The probability with which learning may fail.
    realizable
        Whether some hypothesis of the class has risk 0.

    Returns
    -------
    int
        ⌈2 log(2|H| / δ) / ε²⌉, or ⌈log(|H| / δ) / ε⌉ in the realisable case.

    Examples
    --------
    >>> sample_complexity(1000, 0.1, 0.05), sample_complexity(1000, 0.1, 0.05, realizable=True)
    (2120, 100)
    """
    accuracy = Fraction(check_number(epsilon, "epsilon", above=0, below=1))  # exact: its square may be no float
    size, doubt = capacity(num_hypotheses), math.log(1 / check_delta(delta))
    if check_flag(realizable, "realizable"):
        return math.ceil(Fraction(size + doubt) / accuracy)
    return math.ceil(2 * Fraction(math.log(2) + size + doubt) / (accuracy * accuracy))


def estimation_error_bound(num_rows: Any, num_hypotheses: Any, delta: Any, *, realizable: bool = False) -> float:
    """How far the risk that is learned from N examples may lie above the smallest of the class: ε of the complexity.

    Parameters
    ----------
    num_rows
        N, the number of examples.
    num_hypotheses
        The size |H| of the class.
    delta
        The probability with which the bound may fail.
    realizable
        Whether some hypothesis of the class has risk 0.

    Returns
    -------
    float
        √(2 log(2|H| / δ) / N), or log(|H| / δ) / N in the realisable case.

    Examples
    --------
    >>> round(estimation_error_bound(1000, 1000, 0.05), 6)
    0.145579
    """
    number, size = check_count(num_rows, "num_rows", least=1), capacity(num_hypotheses)
    doubt = math.log(1 / check_delta(delta))
    if check_flag(realizable, "realizable"):
        return (size + doubt) / number
    return math.sqrt(2 * (math.log(2) + size + doubt) / number)


def threshold_sample_complexity(epsilon: Any, delta: Any) -> int:
    """The number of examples with which thresholds on a line are learned in the realisable case, without quantisation.

    Parameters
    ----------
    epsilon
        The risk that is allowed.
    delta
        The probability with which learning may fail.

    Returns
    -------
    int
        ⌈log(2 / δ) / ε⌉, since both strips of probability ε beside the threshold are missed with at most 2(1 - ε)^N.

    Examples
    --------
    >>> threshold_sample_complexity(0.1, 0.05)
    37
    """
    return math.ceil(
        Fraction(math.log(2 / check_delta(delta))) / Fraction(check_number(epsilon, "epsilon", above=0, below=1))
    )


def vc_sample_complexity(
    dimension: Any, epsilon: Any, delta: Any, *, constants: tuple[float, float]
) -> tuple[float, float]:
    """The bounds of the fundamental theorem of learning: C (d + log 1/δ) / ε² for the two constants C.

    Parameters
    ----------
    dimension
        The VC dimension d of the class.
    epsilon
        How far the risk may lie above the smallest in the class.
    delta
        The probability with which learning may fail.
    constants
        Of the lower and of the upper bound; the theorem says that they exist, and texts give different ones.

    Returns
    -------
    tuple
        The lower and the upper bound on the number of examples.

    Examples
    --------
    >>> [round(bound) for bound in vc_sample_complexity(3, 0.1, 0.05, constants=(0.5, 64))]
    [300, 38373]
    """
    (pair,) = check_tuples([constants], 2, "the constants")
    lower, upper = (check_number(constant, "a constant", above=0) for constant in pair)
    size = check_count(dimension, "the VC dimension") + math.log(1 / check_delta(delta))
    accuracy = check_number(epsilon, "epsilon", above=0, below=1)
    return lower * size / accuracy / accuracy, upper * size / accuracy / accuracy


def margin_vc_bound(radius: Any, margin: Any, dimension: int | None = None) -> int:
    """A bound on the VC dimension of hyperplanes with a margin, for points in a ball: min(⌈R² / m²⌉, D) + 1.

    Parameters
    ----------
    radius
        R, of the ball that holds the points.
    margin
        m, the distance of every point from the hyperplane.
    dimension
        D, of the space; None where it has any number of dimensions.

    Returns
    -------
    int
        The bound.

    Examples
    --------
    >>> margin_vc_bound(1.0, 0.5), margin_vc_bound(1.0, 0.5, dimension=2)
    (5, 3)
    """
    extent = Fraction(check_number(radius, "the radius", above=0, finite=True))
    by_margin = math.ceil((extent / Fraction(check_number(margin, "the margin", above=0, finite=True))) ** 2)
    return 1 + (by_margin if dimension is None else min(by_margin, check_count(dimension, "the dimension", least=1)))


def check_width(low: Any, high: Any) -> float:
    bottom = check_number(low, "low", finite=True)
    return check_number(high, "high", above=bottom, finite=True) - bottom


def check_delta(delta: Any) -> float:
    return check_number(delta, "delta", above=0, below=1)


def margin_error_bound(
    margin_error: Any, num_rows: Any, delta: Any, *, radius: Any, norm: Any, margin: Any, constant: Any = 1.0
) -> float:
    """A bound on the error of a linear classifier: ν + √((c/m) (R²Λ²/ρ² ln²m + ln 1/δ)), with probability 1 - δ.

    Parameters
    ----------
    margin_error
        ν, the share of the points whose functional margin is less than ρ, from 0 to 1 (`Hyperplane.margin_error`, which
        takes ρ/‖w‖).
    num_rows
        m, the number of points.
    delta
        δ, between 0 and 1.
    radius
        R, the length of the longest point.
    norm
        Λ, the largest ‖w‖ that the learner may choose.
    margin
        ρ.
    constant
        c, which the theorem leaves open.

    Returns
    -------
    float
        It may be above 1, and then says nothing.

    Examples
    --------
    >>> round(margin_error_bound(0.02, 1_000_000, 0.05, radius=1.0, norm=1.0, margin=0.5), 4)
    0.0477
    """
    share = check_number(margin_error, "margin_error", least=0, most=1)
    number, chance = check_count(num_rows, "num_rows", least=1), check_delta(delta)
    length = check_number(radius, "radius", least=0, finite=True) * check_number(norm, "norm", least=0, finite=True)
    ratio = length / check_number(margin, "margin", above=0, finite=True)
    price = check_number(constant, "constant", above=0, finite=True)
    return share + math.sqrt(price / number) * math.hypot(ratio * math.log(number), math.sqrt(math.log(1 / chance)))
