"""`TableComparison`: how well each learner predicts a column of a table, and which differences matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from juncture.cli.comparison.metrics import METRICS, Metric
from juncture.cli.comparison.report import format_row, summarize, write_report
from juncture.cli.comparison.task import PredictionTask
from juncture.data.missingness import Missingness
from juncture.drawing.notebook import html_table
from juncture.drawing.pictures import plot
from juncture.evaluation.learners.compare import LearnerComparison, LearnerPair
from juncture.evaluation.protocols.cross_validation import CrossValidation
from juncture.factors.printed_tables import align_columns

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.95  # the probability from which a difference, or an equivalence, is taken as settled
HEADS = ("learner", "of", "mean", "low", "high", "difference", "p_value", "better", "equivalent", "verdict", "seconds")


@dataclass(frozen=True, eq=False, repr=False)
class LearnerResult:
    """The scores of one learner on all test parts, or why there are none.

    Attributes
    ----------
    name, source
        The learner, and where it comes from.
    scores
        The scores by metric, (repeat, fold); empty where the learner failed.
    predictions
        Of each row by the learner that has not seen it, in the first repeat: (row, class) or (row,).
    seconds
        Processor time.
    failure
        What went wrong, where it did.
    warnings
        What the learner warned of, each once.
    """

    name: str
    source: str
    scores: Mapping[str, np.ndarray]
    predictions: np.ndarray | None
    seconds: float
    failure: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class ColumnImportance:
    """How much the score of the best learner falls where the cells of a column are permuted in the test parts.

    Attributes
    ----------
    learner
        The learner.
    names
        The columns, the most important first.
    falls
        (column, fold): the score less that with the column permuted; positive where the column helps.
    """

    learner: str
    names: tuple[str, ...]
    falls: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class TableComparison:
    """Learners compared on the same folds of one table.

    Attributes
    ----------
    task
        What was predicted from what; its `notes` say what was left out.
    metric
        The name of the metric by which learners are compared.
    learners
        The results, best first; learners that failed at the end.
    comparison
        All pairs, by the corrected t-test and the Bayesian correlated t; None where fewer than two learners finished.
    folds, repeats
        The protocol.
    missing
        The missing cells of the table.
    importance
        Of the columns for the best learner.
    interrupted
        The learners that were not finished when the comparison was interrupted.
    """

    task: PredictionTask
    metric: str
    learners: tuple[LearnerResult, ...]
    comparison: LearnerComparison | None
    folds: int
    repeats: int
    missing: Missingness
    importance: ColumnImportance | None = None
    interrupted: tuple[str, ...] = ()

    @property
    def finished(self) -> tuple[LearnerResult, ...]:
        """The learners that have scores, best first."""
        return tuple(learner for learner in self.learners if learner.failure is None)

    @property
    def best(self) -> LearnerResult:
        """The learner with the best mean score."""
        return self.finished[0]

    @property
    def measure(self) -> Metric:
        """The metric by which learners are compared."""
        return METRICS[self.task.kind][self.metric]

    def validation(self, learner: LearnerResult) -> CrossValidation:
        """The scores of a learner by the metric of the comparison."""
        return CrossValidation(learner.scores[self.metric], 1 / self.folds, self.metric)

    def interval(self, learner: LearnerResult, confidence: float = 0.95) -> tuple[float, float]:
        """The interval of the mean score by the t distribution, with the correction for shared training rows.

        What lies beyond the possible values of the score, such as an accuracy above 1, is cut off.
        """
        found = self.validation(learner)
        margin = found.corrected_error * float(special.stdtrit(found.scores.size - 1, (1 + confidence) / 2))
        return max(found.mean - margin, self.measure.lowest), min(found.mean + margin, self.measure.highest)

    def pair(self, learner: LearnerResult) -> LearnerPair | None:
        """The best learner compared with this one."""
        pairs = () if self.comparison is None else self.comparison.pairs
        return next((one for one in pairs if (one.first, one.second) == (self.best.name, learner.name)), None)

    def verdict(self, learner: LearnerResult) -> str:
        """How a learner compares with the best: "best", "worse", "equivalent" or "undecided"; or "failed".

        "worse" takes both a posterior probability of 0.95 and a p-value, adjusted for all pairs, of at most 0.05.
        """
        if learner.failure is not None:
            return "failed"
        pair = self.pair(learner)
        if pair is None:
            return "best"
        if pair.first_better >= SURE and pair.p_value <= 1 - SURE:
            return "worse"
        return "equivalent" if pair.equivalent >= SURE else "undecided"

    def rows(self) -> list[dict[str, Any]]:
        """A row for each learner, with None where there is no number."""
        found = []
        for learner in self.learners:
            pair, is_scored = self.pair(learner), learner.failure is None
            low, high = self.interval(learner) if is_scored else (None, None)
            mean = self.validation(learner).mean if is_scored else None
            numbers = (
                (None,) * 4 if pair is None else (pair.difference, pair.p_value, pair.first_better, pair.equivalent)
            )
            cells = (learner.name, learner.source, mean, low, high, *numbers, self.verdict(learner), learner.seconds)
            found.append(dict(zip(HEADS, cells, strict=True)))
        return found

    def to_pandas(self) -> pd.DataFrame:
        """A row for each learner: its mean score, interval, and how it compares with the best."""
        import pandas as pd

        return pd.DataFrame(self.rows(), columns=list(HEADS))

    def to_html(self) -> str:
        """A report as one HTML page that needs no other file."""
        return write_report(self)

    def plot(self, **options: Any) -> Any:
        """The mean score of each learner with its interval."""
        return plot(self, **options)

    def summary(self) -> list[str]:
        """What was found, in sentences."""
        return summarize(self)

    def __repr__(self) -> str:
        return f"TableComparison({self.task.target!r} by {len(self.learners)} learners; best {self.best.name})"

    def __str__(self) -> str:
        lines = [["", self.metric, "interval", "difference", "p", "better", "equivalent", "verdict"]]
        return "\n".join([*self.summary(), "", *align_columns([*lines, *map(format_row, self.rows())], 1)])

    def _repr_html_(self) -> str:
        rows = [[None if row[head] is None else as_text(row[head]) for head in HEADS] for row in self.rows()]
        return html_table([head.replace("_", " ") for head in HEADS], rows, " ".join(self.summary()), num_labels=1)


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"
