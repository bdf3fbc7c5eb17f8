"""Tests by ranks, for scores on many data sets: Wilcoxon's signed ranks for two learners, Friedman's for more."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special, stats

from juncture.base.checks import check_array, check_flag, check_mapping, check_number
from juncture.drawing.notebook import html_table
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.evaluation.learners.paired_tests import Alternative, TestResult, check_pairs, check_test

if TYPE_CHECKING:
    import pandas as pd

FEW = 13  # pairs for which all signs are tried where differences are tied or 0


def wilcoxon_test(
    first: Any, second: Any, *, alternative: Alternative = "two-sided", confidence: float = 0.95
) -> TestResult:
    """Wilcoxon's signed-rank test of two learners over data sets.

    Differences of 0 share their ranks between both signs. The p-value is exact for up to 13 pairs, and for up to 50
    where no differences are tied or 0.

    Parameters
    ----------
    first, second
        The scores of the two learners, one a data set.
    alternative, confidence
        As in `paired_t_test`.

    Returns
    -------
    TestResult
        The statistic is the sum of the ranks of positive differences. The difference is the median of the means of
        all pairs of differences (Hodges and Lehmann), with the interval that belongs to the test.

    Examples
    --------
    >>> a, b = [0.80, 0.75, 0.91, 0.60, 0.84], [0.78, 0.70, 0.90, 0.56, 0.81]
    >>> wilcoxon_test(a, b).p_value
    0.0625
    """
    level = check_test(alternative, confidence)
    differences = check_pairs(first, second)
    ranks = stats.rankdata(np.abs(differences))
    statistic = float(ranks[differences > 0].sum() + ranks[differences == 0].sum() / 2)
    p_value = signed_rank_p_value(differences, alternative)
    means = np.sort((differences[:, None] + differences)[np.triu_indices(len(differences))] / 2)
    low, high = signed_rank_interval(means, len(differences), alternative, level)
    name = "Wilcoxon's signed-rank test"
    return TestResult(name, statistic, p_value, float(np.median(means)), low, high, alternative, level)


def signed_rank_p_value(differences: np.ndarray, alternative: str) -> float:
    """The p-value by SciPy: exact where that is feasible."""
    if not differences.any():
        return 1.0
    is_plain = len(np.unique(np.abs(differences))) == len(differences) and (differences != 0).all()
    method: Any = "exact" if is_plain and len(differences) <= 50 else "asymptotic"
    if not is_plain and len(differences) <= FEW:
        method = stats.PermutationMethod(n_resamples=2**FEW)  # more than there are signs: all of them are tried
    found = stats.wilcoxon(differences, zero_method="zsplit", alternative=alternative, method=method)
    return min(1.0, float(found.pvalue))


def signed_rank_interval(means: np.ndarray, number: int, alternative: str, confidence: float) -> tuple[float, float]:
    """The ends of the interval among the sorted means of pairs: as many are cut off as the null distribution says."""
    tail = (1 - confidence) / (2 if alternative == "two-sided" else 1)
    below = np.cumsum(signed_rank_probabilities(number))
    cut = int(np.searchsorted(below, tail * (1 + 1e-12), side="right"))  # P(statistic < cut) ≤ tail
    low, high = (means[cut - 1], means[-cut]) if cut > 0 else (-np.inf, np.inf)
    return float(-np.inf if alternative == "less" else low), float(np.inf if alternative == "greater" else high)


def signed_rank_probabilities(number: int) -> np.ndarray:
    """The distribution of the sum of the ranks of positive differences where each sign has probability ½."""
    chances = np.ones(1)
    for rank in range(1, number + 1):
        chances = (np.concatenate([chances, np.zeros(rank)]) + np.concatenate([np.zeros(rank), chances])) / 2
    return chances


@dataclass(frozen=True, eq=False)
class FriedmanTest:
    """Friedman's test of several learners over data sets, with the differences of ranks that count.

    Attributes
    ----------
    names
        The learners.
    mean_ranks
        The mean rank of each, 1 for the best.
    statistic, p_value
        Friedman's χ², corrected for ties, and its p-value.
    f_statistic, f_p_value
        The F statistic of Iman and Davenport, which is less conservative, and its p-value.
    num_sets
        The number of data sets.
    level
        The level of the critical difference.
    critical_difference
        Nemenyi's: mean ranks that differ by less are not significantly different.
    """

    names: tuple[str, ...]
    mean_ranks: np.ndarray
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    num_sets: int
    level: float
    critical_difference: float

    def is_significant(self) -> bool:
        """Whether the p-value is at most the level; if not, differences of pairs mean nothing."""
        return self.p_value <= self.level

    def pair_p_values(self) -> np.ndarray:
        """Nemenyi's p-value of each pair of learners, (learner, learner)."""
        number = len(self.names)
        unit = math.sqrt(number * (number + 1) / (6 * self.num_sets))
        distances = np.abs(self.mean_ranks[:, None] - self.mean_ranks) / unit
        return np.asarray(np.clip(stats.studentized_range.sf(distances * math.sqrt(2), number, np.inf), 0.0, 1.0))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest groups of learners, best first, whose ranks all lie within the critical difference."""
        order = np.argsort(self.mean_ranks, kind="stable")
        ranks = self.mean_ranks[order]
        ends = np.searchsorted(ranks, ranks + self.critical_difference, side="right")
        kept = [place for place in range(len(ranks)) if place == 0 or ends[place] > ends[place - 1]]
        return tuple(tuple(self.names[i] for i in order[place : ends[place]]) for place in kept)

    def to_pandas(self) -> pd.DataFrame:
        """The mean rank of each learner, best first."""
        import pandas as pd

        frame = pd.DataFrame({"mean_rank": self.mean_ranks}, index=pd.Index(self.names, name="learner"))
        return frame.sort_values("mean_rank", kind="stable")

    def plot(self, **options: Any) -> Any:
        """The critical-difference diagram: learners on a line of ranks, with bars over groups that do not differ."""
        return plot(self, **options)

    def _repr_html_(self) -> str:
        order = np.argsort(self.mean_ranks, kind="stable")
        rows = ((self.names[place], f"{self.mean_ranks[place]:.3f}") for place in order)
        note = f"p = {self.p_value:.3g}; critical difference {self.critical_difference:.3g} at {self.level:g}"
        return html_table(["learner", "mean rank"], rows, note, num_labels=1)


def friedman_test(
    scores: Mapping[str, Sequence[float]], *, higher_is_better: bool = True, level: float = 0.05
) -> FriedmanTest:
    """Friedman's test of several learners over data sets, with Nemenyi's critical difference.

    Equal scores share the mean of their ranks, and the statistic is divided by the share of the variance of ranks that
    ties leave, 1 - Σ (t³ - t) / n k (k² - 1) over groups of t equal scores, as in R and SciPy. The classic formula,
    which Friedman (1937) and Demšar (2006) print, has no such correction: it is smaller where there are ties, and the
    same where there are none.

    Parameters
    ----------
    scores
        The scores of each learner, one a data set, by the name of the learner; at least three learners.
    higher_is_better
        Whether higher scores get the better ranks; False for errors and losses.
    level
        The level of the critical difference.

    Returns
    -------
    FriedmanTest
        Mean ranks, the test, and which learners differ.

    Examples
    --------
    >>> scores = {"a": [0.9, 0.8, 0.85, 0.7], "b": [0.8, 0.7, 0.8, 0.6], "c": [0.7, 0.75, 0.6, 0.5]}
    >>> test = friedman_test(scores)
    >>> test.mean_ranks.tolist(), round(test.statistic, 3)
    ([1.0, 2.25, 2.75], 6.5)
    """
    names, table = check_scores(scores)
    signs = -1.0 if check_flag(higher_is_better, "higher_is_better") else 1.0
    alpha = check_number(level, "the level", above=0, below=1)
    num_sets, number = table.shape
    ranks = stats.rankdata(signs * table, axis=1)
    spread = ((ranks - (number + 1) / 2) ** 2).sum()  # of all ranks: n k (k² - 1) / 12 without ties
    between = num_sets * ((ranks.mean(axis=0) - (number + 1) / 2) ** 2).sum()
    statistic = float(num_sets * (number - 1) * between / spread) if spread > 0 else 0.0
    most = num_sets * (number - 1)
    f_statistic = (num_sets - 1) * statistic / (most - statistic) if statistic < most * (1 - 1e-14) else math.inf
    p_value = float(special.chdtrc(number - 1, statistic))
    f_p_value = float(special.fdtrc(number - 1, (number - 1) * (num_sets - 1), f_statistic))
    unit = math.sqrt(number * (number + 1) / (12 * num_sets))
    critical = float(stats.studentized_range.isf(alpha, number, np.inf)) * unit
    means = ranks.mean(axis=0)
    return FriedmanTest(names, means, statistic, p_value, f_statistic, f_p_value, num_sets, alpha, critical)


def check_scores(scores: Any, least: int = 3) -> tuple[tuple[str, ...], np.ndarray]:
    """The names of learners, and their scores as (data set, learner)."""
    named = check_mapping(scores, "the scores")
    columns = [check_array(column, f"the scores of {name!r}", ndim=1) for name, column in named.items()]
    if len(columns) < least or len({len(column) for column in columns}) != 1 or len(columns[0]) < 2:
        raise InvalidData(f"there must be {least} learners or more, with as many scores each, and at least 2 of them")
    table = np.stack(columns, axis=1)
    if not np.isfinite(table).all():
        raise InvalidData("a score is missing or infinite; leave the data set out for all learners")
    return tuple(str(name) for name in named), table
