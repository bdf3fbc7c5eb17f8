"""Measures of classifiers: `confusion_matrix`, and curves over all thresholds of a score.

How often each class was predicted as which gives accuracy, precision, recall and F, Cohen's kappa and Matthews'
correlation. The receiver operating
characteristic, and precision against recall, show a score at each of its thresholds.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, check_iterable, check_number, is_iterable, shown
from juncture.data.tables.labels import sorting_key
from juncture.drawing.notebook import html_table
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, MissingExtra, UnknownState, hint
from juncture.factors.printed_tables import align_columns

if TYPE_CHECKING:
    import pandas as pd

    from juncture.drawing.lines import LineChart


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix:
    """Counts of examples by their true class (rows) and the class that was predicted (columns).

    Where a share is 0/0, as the precision of a class that was never predicted, it is `zero_division`, 0 by default;
    `undefined` lists these.

    Attributes
    ----------
    labels
        The classes, in the order of rows and columns.
    counts
        (true class, predicted class); sums of weights where examples have weights.
    """

    labels: tuple[Any, ...]
    counts: np.ndarray

    @property
    def accuracy(self) -> float:
        """The share of examples that were predicted rightly."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def balanced_accuracy(self) -> float:
        """The accuracy where every class that occurs counts the same: the mean of their recalls."""
        sizes = self.counts.sum(axis=1)
        return float(np.mean(np.diag(self.counts)[sizes > 0] / sizes[sizes > 0]))

    def precision(self, label: Any = None, zero_division: float = 0.0) -> Any:
        """The share of examples predicted as a class that are of it: a number for a label, else (class,)."""
        return self._of(label, share(np.diag(self.counts), self.counts.sum(axis=0), zero_division))

    def recall(self, label: Any = None, zero_division: float = 0.0) -> Any:
        """The share of examples of a class that are predicted as it: a number for a label, else (class,)."""
        return self._of(label, share(np.diag(self.counts), self.counts.sum(axis=1), zero_division))

    def f_score(self, label: Any = None, beta: float = 1.0, zero_division: float = 0.0) -> Any:
        """F_β = (1 + β²) precision · recall / (β² precision + recall); for β = 1 their harmonic mean."""
        square = check_number(beta, "beta", above=0, finite=True) ** 2
        hits = np.diag(self.counts)
        missed, false = self.counts.sum(axis=1) - hits, self.counts.sum(axis=0) - hits
        return self._of(label, share((1 + square) * hits, (1 + square) * hits + square * missed + false, zero_division))

    def cohen_kappa(self, zero_division: float = 0.0) -> float:
        """Cohen's κ: the agreement above that of chance, (accuracy - chance) / (1 - chance).

        Chance is the accuracy of predictions with the same shares of the classes, independent of the truth. κ is 1
        where all predictions are right, and 0 at chance; where chance agrees always, it is `zero_division`.
        """
        true, predicted = self._class_shares()
        by_chance = true @ (predicted.sum() - predicted)
        wrong = (self.counts.sum() - np.trace(self.counts)) / self.counts.sum()
        return float(share(np.array(by_chance - wrong), np.array(by_chance), zero_division))

    def matthews_correlation(self, zero_division: float = 0.0) -> float:
        """Matthews' correlation of truth and prediction, of any number of classes, between -1 and 1.

        It is the covariance of the indicators of the classes, summed over the classes, over the root of both variances.
        Where all examples have one class, or one prediction, it is `zero_division`.
        """
        true, predicted = self._class_shares()
        spreads = (true @ (true.sum() - true)) * (predicted @ (predicted.sum() - predicted))
        together = self.accuracy - true @ predicted
        return float(share(np.array(together), np.array(np.sqrt(spreads)), zero_division))

    def _class_shares(self) -> tuple[np.ndarray, np.ndarray]:
        """(class,): the share of each true class, and of each prediction."""
        shares = self.counts / self.counts.sum()
        return shares.sum(axis=1), shares.sum(axis=0)

    @property
    def undefined(self) -> tuple[tuple[str, Any], ...]:
        """The shares that are 0/0, with their class: precision of what was never predicted, recall of what never is."""
        empty = {"precision": self.counts.sum(axis=0) == 0, "recall": self.counts.sum(axis=1) == 0}
        return tuple((name, self.labels[place]) for name, which in empty.items() for place in np.flatnonzero(which))

    def normalized(self) -> np.ndarray:
        """The share of each prediction within its true class, (true class, predicted class); 0 where it has none."""
        return share(self.counts, self.counts.sum(axis=1, keepdims=True), 0.0)

    def to_pandas(self) -> pd.DataFrame:
        """The counts, with the true classes as rows."""
        import pandas as pd

        rows, columns = pd.Index(self.labels, name="true"), pd.Index(self.labels, name="predicted")
        return pd.DataFrame(self.counts, index=rows, columns=columns)

    def plot(self, **options: Any) -> Any:
        """The counts as an image, with shares within the true classes as shades."""
        return plot(self, **options)

    def _of(self, label: Any, values: np.ndarray) -> Any:
        if label is None:
            return values
        if label not in self.labels:
            raise UnknownState(f"there is no class {label!r}; {hint(label, self.labels)}")
        return float(values[self.labels.index(label)])

    def _lines(self) -> list[list[str]]:
        heads = ["true \\ predicted", *map(str, self.labels), "precision", "recall"]
        shares = zip(self.precision(), self.recall(), strict=True)
        rows = zip(self.labels, self.counts, shares, strict=True)
        return [heads, *([str(a), *(f"{n:g}" for n in row), *(f"{s:.3f}" for s in two)] for a, row, two in rows)]

    def __repr__(self) -> str:
        found = f"accuracy {self.accuracy:.4g}, balanced {self.balanced_accuracy:.4g}"
        return "\n".join([f"ConfusionMatrix: {found}", *align_columns(self._lines(), 1)])

    def _repr_html_(self) -> str:
        heads, *rows = self._lines()
        return html_table(heads, rows, f"accuracy {self.accuracy:.4g}", num_labels=1)


def confusion_matrix(
    truth: Any, predicted: Any, *, labels: Sequence[Any] | None = None, weights: Any = None
) -> ConfusionMatrix:
    """Count examples by their true class and the class that was predicted.

    Parameters
    ----------
    truth, predicted
        A class for each example: labels of any kind that can be compared.
    labels
        The classes in their order; by default all that occur, sorted.
    weights
        Of the examples; 1 by default.

    Returns
    -------
    ConfusionMatrix
        The counts, and the measures that follow from them.

    Examples
    --------
    >>> matrix = confusion_matrix(["pos"] * 10 + ["neg"] * 90, ["neg"] * 100, labels=["pos", "neg"])
    >>> matrix.counts.tolist(), matrix.accuracy, matrix.balanced_accuracy
    ([[0.0, 10.0], [0.0, 90.0]], 0.9, 0.5)
    >>> matrix.undefined
    (('precision', 'pos'),)
    """
    pairs = [as_labels(truth, "the true classes"), as_labels(predicted, "the predicted classes")]
    if len(pairs[0]) != len(pairs[1]) or not pairs[0]:
        raise InvalidData(f"each example has a true and a predicted class; got {len(pairs[0])} and {len(pairs[1])}")
    given = check_iterable(labels, "labels") if labels is not None else sorted({*pairs[0], *pairs[1]}, key=sorting_key)
    unfit = next((label for label in given if not isinstance(label, Hashable)), None)
    if unfit is not None:
        raise InvalidData(f"labels are texts, numbers or truth values; got {shown(unfit)}")
    known = {label: place for place, label in enumerate(given)}
    missing = next((label for label in (*pairs[0], *pairs[1]) if label not in known), None)
    if missing is not None:
        raise InvalidData(f"the class {shown(missing)} occurs but is not among the labels {shown(given)}")
    own = np.ones(len(pairs[0])) if weights is None else check_array(weights, "the weights", ndim=1)
    if len(own) != len(pairs[0]) or not (np.isfinite(own) & (own >= 0)).all() or own.sum() <= 0:
        raise InvalidData("weights are numbers of at least 0, one for each example, and not all 0")
    codes = np.array([[known[label] for label in side] for side in pairs])
    counts = np.bincount(codes[0] * len(known) + codes[1], own, minlength=len(known) ** 2)
    return ConfusionMatrix(tuple(given), counts.reshape(len(known), len(known)))


def as_labels(labels: Any, what: str) -> list[Any]:
    """Labels as Python objects; holes are refused."""
    array = labels.to_numpy() if hasattr(labels, "to_numpy") else labels
    found = check_iterable(array.tolist() if isinstance(array, np.ndarray) else array, what)
    for label in found:
        is_hole = label is None or (isinstance(label, float) and np.isnan(label))
        if is_hole or not isinstance(label, Hashable):
            raise InvalidData(f"{what} are labels, without holes; got {shown(label)}")
    return found


def share(parts: np.ndarray, wholes: np.ndarray, zero_division: float) -> np.ndarray:
    """Parts of wholes; of nothing it is `zero_division`."""
    other = check_number(zero_division, "zero_division")
    wide = np.broadcast_to(wholes, parts.shape)
    return np.divide(parts, wide, out=np.full(parts.shape, other), where=wide > 0)


@dataclass(frozen=True, eq=False, repr=False)
class ScoreCurve:
    """A point for each threshold of a score.

    Attributes
    ----------
    name
        "ROC" or "precision-recall".
    x, y
        The false and true positive rates, or recall and precision.
    thresholds
        An example counts as positive from its threshold on; infinite where none does.
    area
        The area under the curve; of precision and recall the average precision, without interpolation.
    base
        The area of a score that says nothing: ½, or the share of positive examples.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    thresholds: np.ndarray
    area: float
    base: float

    def to_pandas(self) -> pd.DataFrame:
        """A row for each threshold."""
        import pandas as pd

        names = ("false_positive_rate", "true_positive_rate") if self.name == "ROC" else ("recall", "precision")
        return pd.DataFrame({"threshold": self.thresholds, names[0]: self.x, names[1]: self.y})

    def plot(self, **options: Any) -> Any:
        """The curve, with its area in the legend."""
        return plot(self, **options)

    def to_diagram(self) -> LineChart:
        """The curve, and the line of a score that says nothing."""
        from juncture.drawing.lines import Line, LineChart

        is_roc, ends = self.name == "ROC", np.array([0.0, 1.0])
        axes = ("false positive rate", "true positive rate") if is_roc else ("recall", "precision")
        level = ends if is_roc else np.full(2, self.base)
        curve = Line(f"{self.name}, area {self.area:.4g}", self.x, self.y, kind="line" if is_roc else "steps")
        return LineChart(
            (Line(f"without knowledge {self.base:.4g}", ends, level, kind="dashes"), curve), axes, (), True
        )

    def _repr_html_(self) -> str:
        from juncture.drawing.notebook import diagram_html

        return diagram_html(repr(self), self.to_diagram())

    def __repr__(self) -> str:
        return f"ScoreCurve({self.name}; area {self.area:.4g}, without knowledge {self.base:.4g})"


def roc_curve(truth: Any, scores: Any, *, weights: Any = None) -> ScoreCurve:
    """True against false positive rates over all thresholds of a score, by scikit-learn.

    Parameters
    ----------
    truth
        Whether each example is positive.
    scores
        Higher for examples that are more probably positive.
    weights
        Of the examples.

    Returns
    -------
    ScoreCurve
        Its area is the probability that a positive example scores higher than a negative one, ties counting half.

    Examples
    --------
    >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).area
    0.75
    """
    metrics = load_metrics()
    is_positive, values, own = check_scored(truth, scores, weights)
    x, y, thresholds = metrics.roc_curve(is_positive, values, sample_weight=own, drop_intermediate=False)
    return ScoreCurve("ROC", x, y, thresholds, float(metrics.auc(x, y)), 0.5)


def precision_recall_curve(truth: Any, scores: Any, *, weights: Any = None) -> ScoreCurve:
    """Precision against recall over all thresholds of a score, by scikit-learn.

    Parameters
    ----------
    truth
        Whether each example is positive.
    scores
        Higher for examples that are more probably positive.
    weights
        Of the examples.

    Returns
    -------
    ScoreCurve
        Its last point, recall 0 and precision 1, belongs to no threshold.

    Examples
    --------
    >>> round(precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).area, 4)
    0.8333
    """
    metrics = load_metrics()
    is_positive, values, own = check_scored(truth, scores, weights)
    precision, recall, thresholds = metrics.precision_recall_curve(is_positive, values, sample_weight=own)
    area = float(metrics.average_precision_score(is_positive, values, sample_weight=own))
    base = float(np.average(is_positive, weights=own))
    return ScoreCurve("precision-recall", recall, precision, np.append(thresholds, np.inf), area, base)


def check_scored(truth: Any, scores: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Truth values, scores, and weights, of both kinds of examples."""
    if is_iterable(truth) and any(isinstance(label, str) for label in truth):
        raise InvalidData("the truth is 0 or 1 for each example; of labels, compare them: labels == 'yes'")
    positive, values = check_array(truth, "the truth", ndim=1), check_array(scores, "the scores", ndim=1)
    if positive.shape != values.shape or not np.isin(positive, (0, 1)).all() or not np.isfinite(values).all():
        raise InvalidData("each example has a truth value, 0 or 1, and a finite score")
    own = None if weights is None else check_array(weights, "the weights", ndim=1)
    if own is not None and (own.shape != values.shape or not (np.isfinite(own) & (own >= 0)).all()):
        raise InvalidData("weights are numbers of at least 0, one for each example")
    counted = positive if own is None else positive[own > 0]
    if not 0 < counted.sum() < len(counted):
        raise InvalidData("a curve needs positive and negative examples; these are all of one kind")
    return positive, values, own


def load_metrics() -> Any:
    """The metrics of scikit-learn, or the sentence that says how to install it."""
    try:
        from sklearn import metrics
    except ModuleNotFoundError:
        raise MissingExtra.named("scikit-learn", "sklearn") from None
    return metrics
