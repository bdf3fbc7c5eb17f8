"""Curves over all thresholds of a score: receiver operating characteristic, and precision against recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, is_iterable
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, MissingExtra

if TYPE_CHECKING:
    import pandas as pd


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
