"""McNemar's test of two classifiers on the same examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from juncture.base.checks import check_array, check_flag
from juncture.errors import InvalidData
from juncture.evaluation.comparison.results import TestResult, check_test


def mcnemar_test(first: Any, second: Any, *, exact: bool = True, confidence: float = 0.95) -> TestResult:
    """McNemar's test of two classifiers on the same test examples.

    Only the examples that one gets right and the other wrong count: where the classifiers are equally good, either is
    right on each of those with probability ½.

    Parameters
    ----------
    first, second
        Whether each example was classified rightly, by the first and by the second classifier.
    exact
        Whether the p-value is that of the binomial distribution; else that of χ² with Edwards's correction.
    confidence
        Of the interval of the difference of accuracies (Bonett and Price 2012).

    Returns
    -------
    TestResult
        The statistic is the smaller of the two counts, or χ².

    Examples
    --------
    >>> right_a = [True] * 8 + [False] * 2 + [True] * 10
    >>> right_b = [False] * 8 + [True] * 2 + [True] * 10
    >>> test = mcnemar_test(right_a, right_b)
    >>> test.statistic, round(test.p_value, 6), test.difference
    (2.0, 0.109375, 0.3)
    """
    level = check_test("two-sided", confidence)
    one, other = (check_right(right) for right in (first, second))
    if one.shape != other.shape:
        raise InvalidData(f"both classifiers answer the same examples; got {len(one)} and {len(other)} of them")
    better, worse = int((one & ~other).sum()), int((~one & other).sum())
    statistic, p_value = binomial_tail(better, worse) if check_flag(exact, "exact") else chi_squared_tail(better, worse)
    low, high = paired_interval(better, worse, len(one), level)
    difference = (better - worse) / len(one)
    return TestResult("McNemar's test", statistic, p_value, difference, low, high, confidence=level)


def check_right(right: Any) -> np.ndarray:
    array = check_array(right, "what was classified rightly", ndim=1)
    if not len(array) or not np.isin(array, (0, 1)).all():
        raise InvalidData("each example was classified rightly (True) or wrongly (False); got something else, or none")
    return array == 1


def binomial_tail(better: int, worse: int) -> tuple[float, float]:
    """The smaller count, and the two-sided tail of the binomial distribution with chance ½."""
    smaller = min(better, worse)
    return float(smaller), min(1.0, 2 * float(special.bdtr(smaller, better + worse, 0.5)))


def chi_squared_tail(better: int, worse: int) -> tuple[float, float]:
    """χ² with Edwards's correction for one degree of freedom, and its tail; without discordant examples 0 and 1."""
    if better + worse == 0:
        return 0.0, 1.0
    statistic = max(abs(better - worse) - 1, 0) ** 2 / (better + worse)
    return statistic, float(special.chdtrc(1, statistic))


def paired_interval(better: int, worse: int, number: int, confidence: float) -> tuple[float, float]:
    """An interval of the difference of two paired proportions: Wald's, with 1 added to both discordant counts."""
    up, down = (better + 1) / (number + 2), (worse + 1) / (number + 2)
    error = np.sqrt((up + down - (up - down) ** 2) / (number + 2))
    margin = float(special.ndtri((1 + confidence) / 2) * error)
    return max(-1.0, up - down - margin), min(1.0, up - down + margin)
