"""Tests of the difference between two learners by paired scores: t-tests (plain, corrected, 5×2) and McNemar's test.

The scores of the folds of a cross-validation share training rows, so that their differences are correlated and their
variance is too small for the plain test. The correction (Nadeau and Bengio 2003; Bouckaert and Frank 2004 for repeated
folds) replaces 1/n by 1/n + test/training rows. McNemar's test is for two classifiers on the same examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import special

from juncture.base.checks import check_array, check_choice, check_flag, check_number
from juncture.base.shown import Shown
from juncture.errors import InvalidData, Unsupported

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TestResult(Shown):
    """A test of the hypothesis that two learners do not differ.

    Attributes
    ----------
    name
        The test.
    statistic
        Its statistic.
    p_value
        The probability, where there is no difference, of a statistic that speaks at least as much against it.
    difference
        The estimated difference, first learner minus second.
    low, high
        The ends of the confidence interval of the difference; one of them is infinite for a one-sided alternative.
    alternative
        "two-sided", "greater" or "less".
    confidence
        The confidence of the interval.
    null
        The distribution of the statistic where there is no difference: "t", "F", "chi-squared" or "binomial" (with
        chance ½), or empty where it has no table.
    degrees
        The degrees of freedom of that distribution, or the number of trials.
    """

    __test__ = False  # pytest takes no class of this name for tests

    name: str
    statistic: float
    p_value: float
    difference: float
    low: float
    high: float
    alternative: str = "two-sided"
    confidence: float = 0.95
    null: str = ""
    degrees: tuple[float, ...] = ()

    def is_significant(self, level: float = 0.05) -> bool:
        """Whether the p-value is at most the level; that it is not proves nothing."""
        return self.p_value <= check_number(level, "the level", above=0, below=1)

    def critical_value(self, level: float = 0.05) -> float:
        """Return the value from which on the statistic is significant at a level: t_α, or t_{α/2} of a two-sided test.

        Of a two-sided t-test it is that of |T|, and of the alternative "less" T must not lie above it. Of the exact
        McNemar test it is the largest count that is significant, -1 where none is.

        Parameters
        ----------
        level
            α, by default 0.05.

        Returns
        -------
        float

        Examples
        --------
        >>> a, b = [0.81, 0.82, 0.84, 0.78, 0.85], [0.80, 0.77, 0.70, 0.83, 0.80]
        >>> round(paired_t_test(a, b).critical_value(), 3)
        2.776
        """
        alpha = check_number(level, "the level", above=0, below=1)
        if not self.null:
            raise Unsupported(f"{self.name} has no table of critical values here: compare its p-value with the level")
        return critical_value(self.null, self.degrees, alpha, self.alternative)

    def to_pandas(self) -> pd.Series:
        """The fields as a series."""
        import pandas as pd

        return pd.Series({name: getattr(self, name) for name in self.__dataclass_fields__})


Alternative = Literal["two-sided", "greater", "less"]


def paired_t_test(
    first: Any, second: Any, *, alternative: Alternative = "two-sided", confidence: float = 0.95
) -> TestResult:
    """The paired t-test: of the difference between two learners on the same independent samples.

    On the folds of a cross-validation it finds differences too often: take `corrected_t_test` there.

    Parameters
    ----------
    first, second
        The scores of the two learners, one a sample, in the same order.
    alternative
        "two-sided", or "greater" or "less" where it is known beforehand that only the first can be better, or worse.
    confidence
        Of the interval.

    Returns
    -------
    TestResult
        The statistic T = mean difference / its standard error, the p-value by n - 1 degrees of freedom, and the
        interval. No difference is rejected where the p-value is small.

    Examples
    --------
    >>> a = [0.81, 0.82, 0.84, 0.78, 0.85, 0.86, 0.82, 0.83, 0.82, 0.81]
    >>> b = [0.80, 0.77, 0.70, 0.83, 0.80, 0.78, 0.75, 0.80, 0.78, 0.77]
    >>> test = paired_t_test(a, b)
    >>> round(test.statistic, 2), round(test.p_value, 5)
    (2.98, 0.01544)
    """
    differences = check_pairs(first, second)
    return t_test("paired t-test", differences, 1 / len(differences), alternative, check_test(alternative, confidence))


def corrected_t_test(
    first: Any,
    second: Any,
    test_fraction: float,
    *,
    alternative: Alternative = "two-sided",
    confidence: float = 0.95,
) -> TestResult:
    """The corrected t-test for scores of resampled rows, as of (repeated) cross-validation.

    Parameters
    ----------
    first, second
        The scores of the two learners on the same test parts: (fold,) or (repeat, fold).
    test_fraction
        The share of rows that each test part has: 1/k for k folds.
    alternative, confidence
        As in `paired_t_test`.

    Returns
    -------
    TestResult
        With the variance of the mean difference s² (1/n + test/training rows).

    Examples
    --------
    >>> a, b = [0.81, 0.85, 0.84, 0.82, 0.80], [0.79, 0.80, 0.81, 0.80, 0.79]
    >>> corrected_t_test(a, b, 1 / 5).p_value > paired_t_test(a, b).p_value
    True
    """
    differences = check_pairs(first, second)
    fraction = check_number(test_fraction, "test_fraction", above=0, below=1)
    scale = 1 / len(differences) + fraction / (1 - fraction)
    return t_test("corrected t-test", differences, scale, alternative, check_test(alternative, confidence))


def t_test(name: str, differences: np.ndarray, scale: float, alternative: str, confidence: float) -> TestResult:
    """A t-test whose squared standard error is the variance of the differences times a scale."""
    mean, error = float(differences.mean()), float(np.sqrt(differences.var(ddof=1) * scale))
    degrees = len(differences) - 1
    if error <= 1e-12 * abs(mean):  # all differences are the same
        error = 0.0
    statistic = mean / error if error > 0 else np.sign(mean) * np.inf if mean else 0.0
    margin = error * float(special.stdtrit(degrees, (1 + confidence) / 2 if alternative == "two-sided" else confidence))
    low = -np.inf if alternative == "less" else mean - margin
    high = np.inf if alternative == "greater" else mean + margin
    p_value = tail_probability(float(statistic), degrees, alternative)
    ends = float(low), float(high)
    return TestResult(name, float(statistic), p_value, mean, *ends, alternative, confidence, "t", (degrees,))


def tail_probability(statistic: float, degrees: float, alternative: str) -> float:
    """The p-value of a t statistic."""
    below = float(special.stdtr(degrees, statistic))
    above = float(special.stdtr(degrees, -statistic))
    return {"less": below, "greater": above, "two-sided": min(1.0, 2 * min(below, above))}[alternative]


def critical_value(null: str, degrees: tuple[float, ...], level: float, alternative: str) -> float:
    """The end of the region in which a statistic is significant."""
    if null == "t":
        value = -float(special.stdtrit(degrees[0], level / 2 if alternative == "two-sided" else level))
        return -value if alternative == "less" else value
    if null == "F":
        return float(special.fdtri(*degrees, 1 - level))
    if null == "chi-squared":
        return float(special.chdtri(degrees[0], level))
    counts = np.arange(degrees[0] // 2 + 1)
    return float((2 * special.bdtr(counts, degrees[0], 0.5) <= level).sum() - 1)


def five_by_two_test(first: Any, second: Any, *, kind: Literal["F", "t"] = "F") -> TestResult:
    """The 5×2 test: five repeats of a cross-validation with two folds.

    Parameters
    ----------
    first, second
        The scores of the two learners, (5, 2): repeat and fold.
    kind
        "F", the test of all ten differences (Alpaydın 1999); or "t", that of the first (Dietterich 1998).

    Returns
    -------
    TestResult
        Two-sided; the interval is that of the t statistic of the mean difference with five degrees of freedom.

    Examples
    --------
    >>> a = [[0.8, 0.82], [0.79, 0.83], [0.81, 0.8], [0.84, 0.8], [0.78, 0.82]]
    >>> b = [[0.7, 0.75], [0.74, 0.75], [0.76, 0.72], [0.77, 0.73], [0.72, 0.73]]
    >>> five_by_two_test(a, b).p_value < 0.05
    True
    """
    check_choice(kind, ("F", "t"), "kind")
    one, other = check_array(first, "the scores"), check_array(second, "the scores")
    if one.shape != (5, 2) or other.shape != (5, 2):
        raise InvalidData(f"the 5×2 test takes scores of shape (5, 2): repeat, fold; got {one.shape}, {other.shape}")
    differences = check_pairs(one, other).reshape(5, 2)
    variance = ((differences - differences.mean(axis=1, keepdims=True)) ** 2).sum()  # of all five repeats
    if variance <= 0:
        raise InvalidData("the two folds of each repeat differ by the same amount, so the 5×2 test has no variance")
    mean = float(differences.mean())
    if kind == "F":
        statistic = float((differences**2).sum() / (2 * variance))
        p_value = float(special.fdtrc(10, 5, statistic))
    else:
        statistic = float(differences[0, 0] / np.sqrt(variance / 5))
        p_value = tail_probability(statistic, 5, "two-sided")
    margin = float(special.stdtrit(5, 0.975) * np.sqrt(variance / 5))
    degrees = (10, 5) if kind == "F" else (5,)
    ends = mean - margin, mean + margin
    return TestResult(f"5×2 {kind}-test", statistic, p_value, mean, *ends, null=kind, degrees=degrees)


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
    null = ("binomial", (better + worse,)) if exact else ("chi-squared", (1,))
    return TestResult("McNemar's test", statistic, p_value, difference, low, high, "two-sided", level, *null)


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


ALTERNATIVES = ("two-sided", "greater", "less")


def check_pairs(first: Any, second: Any, least: int = 2) -> np.ndarray:
    """The differences of paired scores, first minus second, in one axis."""
    one, other = (check_array(scores, "the scores") for scores in (first, second))
    if one.shape != other.shape or one.size < least:
        raise InvalidData(
            f"paired scores have the same shape and at least {least} pairs; got {one.shape}, {other.shape}"
        )
    differences = (one - other).reshape(-1)
    if not np.isfinite(differences).all():
        raise InvalidData("a score is missing or infinite; leave the fold or data set out for both learners")
    return differences


def check_test(alternative: Any, confidence: Any) -> float:
    """Check the alternative, and return the confidence."""
    check_choice(alternative, ALTERNATIVES, "alternative")
    return check_number(confidence, "the confidence", above=0, below=1)
