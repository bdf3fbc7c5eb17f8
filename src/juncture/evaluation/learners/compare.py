"""`compare_learners`: all pairs of learners in one table, with the test that suits their scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, check_flag, check_mapping, check_number
from juncture.base.options import as_seed
from juncture.base.shown import Shown
from juncture.drawing.notebook import html_table
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.evaluation.learners.bayesian import bayesian_correlated_t, bayesian_signed_rank
from juncture.evaluation.learners.paired_tests import corrected_t_test
from juncture.evaluation.learners.rank_tests import wilcoxon_test
from juncture.factors.printed_tables import align_columns

if TYPE_CHECKING:
    import pandas as pd

REASONS = {
    "corrected t-test": "folds share training rows: their variance is corrected",
    "Wilcoxon's signed-rank test": "scores on data sets are of different scales",
}
HEADS = ("first", "second", "difference", "low", "high", "p_value", "second_better", "equivalent", "first_better")


@dataclass(frozen=True)
class LearnerPair(Shown):
    """Two learners and how they differ.

    Attributes
    ----------
    first, second
        Their names.
    difference, low, high
        The estimated difference, first minus second, and its confidence interval.
    p_value
        Of no difference, adjusted for the number of pairs (Holm 1979).
    second_better, equivalent, first_better
        Posterior probabilities, with the region of practical equivalence.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    second_better: float
    equivalent: float
    first_better: float


@dataclass(frozen=True)
class LearnerComparison:
    """All pairs of learners, compared on the same folds or data sets.

    Attributes
    ----------
    means
        The mean score of each learner, best first.
    pairs
        The pairs; the better of two is the first.
    test, reason
        The test that was used, and why.
    rope
        Half the width of the region of practical equivalence.
    confidence
        The confidence of the intervals.
    """

    means: tuple[tuple[str, float], ...]
    pairs: tuple[LearnerPair, ...]
    test: str
    reason: str
    rope: float
    confidence: float

    def to_pandas(self) -> pd.DataFrame:
        """A row for each pair."""
        import pandas as pd

        return pd.DataFrame([vars(pair) for pair in self.pairs], columns=list(HEADS))

    def plot(self, **options: Any) -> Any:
        """The differences with their intervals, and the region of practical equivalence."""
        return plot(self, **options)

    def __str__(self) -> str:
        scores = ", ".join(f"{name} {mean:.4g}" for name, mean in self.means)
        lines = [["", "difference", "interval", "p", "better", "equivalent", "worse"], *map(cells_of, self.pairs)]
        return "\n".join([f"mean scores: {scores}", f"{self.test}: {self.reason}", *align_columns(lines, 1)])

    def _repr_html_(self) -> str:
        rows = ([pair.first, pair.second, *(f"{number:.4g}" for number in numbers_of(pair))] for pair in self.pairs)
        return html_table([head.replace("_", " ") for head in HEADS], rows, self.test, num_labels=2)


def cells_of(pair: LearnerPair) -> list[str]:
    """A pair as a line of the printed table."""
    chances = (pair.first_better, pair.equivalent, pair.second_better)
    interval = f"[{pair.low:.3g}, {pair.high:.3g}]"
    numbers = [f"{pair.difference:+.3g}", interval, f"{pair.p_value:.2g}", *(f"{chance:.3f}" for chance in chances)]
    return [f"{pair.first} - {pair.second}", *numbers]


def numbers_of(pair: LearnerPair) -> list[float]:
    return [getattr(pair, head) for head in HEADS[2:]]


def compare_learners(
    scores: Mapping[str, Any],
    *,
    test_fraction: float | None = None,
    rope: float = 0.01,
    higher_is_better: bool = True,
    confidence: float = 0.95,
    rng: Any = None,
) -> LearnerComparison:
    """Compare learners by their scores on the same test parts of one data set, or on the same data sets.

    Parameters
    ----------
    scores
        The scores of each learner by its name, in the same order of folds, (fold,) or (repeat, fold), or of data sets.
    test_fraction
        For folds the share of rows of a test part, 1/k. None means that scores are of independent data sets.
    rope
        Half the width of the region of practical equivalence, in units of the score.
    higher_is_better
        Whether higher scores are better; of losses the sign is turned in `means`, so that higher is better.
    confidence
        Of the intervals.
    rng
        The seed of the signed-rank posterior, or a generator; fresh by default.

    Returns
    -------
    LearnerComparison
        The corrected t-test and the Bayesian correlated t for folds; Wilcoxon's test and the Bayesian signed-rank test
        for data sets. The p-values are adjusted for the number of pairs.

    Examples
    --------
    >>> scores = {"tree": [0.81, 0.85, 0.84, 0.82, 0.80], "bayes": [0.79, 0.80, 0.81, 0.80, 0.79]}
    >>> print(compare_learners(scores, test_fraction=1 / 5))
    mean scores: tree 0.824, bayes 0.798
    corrected t-test: folds share training rows: their variance is corrected
                  difference            interval      p  better  equivalent  worse
    tree - bayes      +0.026  [-0.00225, 0.0542]  0.063   0.905       0.083  0.012
    """
    ordered = order_learners(scores, 1.0 if check_flag(higher_is_better, "higher_is_better") else -1.0)
    width = check_number(rope, "the rope", least=0, finite=True)
    found, names, seed = [], list(ordered), as_seed(rng)
    for first, second in combinations(names, 2):
        found.append(compare_pair(ordered[first], ordered[second], test_fraction, width, confidence, seed))
    adjusted = adjust_p_values([test.p_value for test, _ in found])
    pairs = tuple(
        LearnerPair(*both, test.difference, test.low, test.high, p_value, *bayes.probabilities)
        for both, (test, bayes), p_value in zip(combinations(names, 2), found, adjusted, strict=True)
    )
    name = found[0][0].name
    means = tuple((learner, float(column.mean())) for learner, column in ordered.items())
    return LearnerComparison(means, pairs, name, REASONS[name], width, found[0][0].confidence)


def compare_pair(
    first: np.ndarray, second: np.ndarray, test_fraction: float | None, rope: float, confidence: float, rng: Any
) -> tuple[Any, Any]:
    """The test and the posterior of two learners."""
    if test_fraction is None:
        test = wilcoxon_test(first, second, confidence=confidence)
        return test, bayesian_signed_rank(first, second, rope=rope, rng=rng)
    test = corrected_t_test(first, second, test_fraction, confidence=confidence)
    return test, bayesian_correlated_t(first, second, test_fraction, rope=rope)


def order_learners(scores: Any, sign: float) -> dict[str, np.ndarray]:
    """The scores by name, the learner with the best mean first."""
    named = check_mapping(scores, "the scores")
    tables = {str(name): sign * check_array(table, f"the scores of {name!r}") for name, table in named.items()}
    if len(tables) < 2 or len(tables) != len(named):
        raise InvalidData("a comparison needs the scores of two learners or more, each under a name of its own")
    return dict(sorted(tables.items(), key=lambda item: -float(np.mean(item[1])) if item[1].size else 0.0))


def adjust_p_values(p_values: list[float]) -> list[float]:
    """Holm's adjustment: the j-th smallest of m p-values times m - j + 1, made monotone, at most 1."""
    order = np.argsort(p_values, kind="stable")
    ranked = np.array(p_values)[order] * np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(ranked), 1.0)
    return adjusted.tolist()
