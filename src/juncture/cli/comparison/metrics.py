"""The scores of predictions on a test part: of classes by their probabilities, of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.cli.comparison.task import PredictionTask
from juncture.errors import InvalidData, JunctureError, hint
from juncture.evaluation.measures.scores import brier_score


class Metric(NamedTuple):
    """A score of true and predicted values: whether higher is better, which difference does not matter, its range."""

    title: str
    score: Callable[[np.ndarray, np.ndarray], float]
    higher_is_better: bool
    rope: float
    lowest: float
    highest: float
    is_in_units: bool = False  # of the target: the rope is a share of its standard deviation


def accuracy(truth: np.ndarray, shares: np.ndarray) -> float:
    return float(np.mean(shares.argmax(axis=1) == truth))


def balanced_accuracy(truth: np.ndarray, shares: np.ndarray) -> float:
    hits = shares.argmax(axis=1) == truth
    return float(np.mean([hits[truth == code].mean() for code in np.unique(truth)]))


def log_loss(truth: np.ndarray, shares: np.ndarray) -> float:
    from sklearn import metrics

    return float(metrics.log_loss(truth, shares, labels=range(shares.shape[1])))


def brier(truth: np.ndarray, shares: np.ndarray) -> float:
    return brier_score(truth, shares, labels=range(shares.shape[1]))


def roc_area(truth: np.ndarray, shares: np.ndarray) -> float:
    from sklearn import metrics

    return float(metrics.roc_auc_score(truth, shares[:, 1]))


def root_mean_squared(truth: np.ndarray, predicted: np.ndarray) -> float:
    from sklearn import metrics

    return float(metrics.root_mean_squared_error(truth, predicted))


def mean_absolute(truth: np.ndarray, predicted: np.ndarray) -> float:
    from sklearn import metrics

    return float(metrics.mean_absolute_error(truth, predicted))


def explained_share(truth: np.ndarray, predicted: np.ndarray) -> float:
    """R²: the share of the variance that the predictions explain."""
    from sklearn import metrics

    return float(metrics.r2_score(truth, predicted))


METRICS: dict[str, dict[str, Metric]] = {
    "classes": {
        "accuracy": Metric("accuracy", accuracy, True, 0.01, 0.0, 1.0),
        "balanced-accuracy": Metric("balanced accuracy", balanced_accuracy, True, 0.01, 0.0, 1.0),
        "log-loss": Metric("log loss", log_loss, False, 0.01, 0.0, np.inf),
        "brier": Metric("Brier score", brier, False, 0.01, 0.0, 2.0),
        "roc-auc": Metric("area under the ROC curve", roc_area, True, 0.01, 0.0, 1.0),
    },
    "numbers": {
        "r2": Metric("R²", explained_share, True, 0.01, -np.inf, 1.0),
        "rmse": Metric("root mean squared error", root_mean_squared, False, 0.01, 0.0, np.inf, True),
        "mae": Metric("mean absolute error", mean_absolute, False, 0.01, 0.0, np.inf, True),
    },
}


def metrics_of(task: PredictionTask) -> dict[str, Metric]:
    """The metrics that a task has: the area under the ROC curve needs two classes."""
    return {name: metric for name, metric in METRICS[task.kind].items() if name != "roc-auc" or len(task.labels) == 2}


def select_metric(task: PredictionTask, name: Any) -> str:
    """The metric by which learners are compared; the first of the task's kind by default."""
    known = metrics_of(task)
    if name is None:
        return next(iter(known))
    check_metric(name)
    if name in known:
        return str(name)
    if name in METRICS[task.kind]:
        raise InvalidData("the area under the ROC curve needs a target of two classes; take another metric")
    other = next(kind for kind in METRICS if name in METRICS[kind])
    raise InvalidData(
        f"the metric {name!r} judges {other}, and {task.target!r} is predicted as {task.kind}: take task={other!r}, or"
        f" one of {', '.join(known)}"
    )


def check_metric(name: Any, error: type[JunctureError] = InvalidData) -> None:
    """Check that this is the name of a metric, of classes or of numbers."""
    known = [each for kind in METRICS.values() for each in kind]
    if not isinstance(name, str) or name not in known:
        raise error(f"there is no metric {name!r}; {hint(name, known)}")


def check_parts(task: PredictionTask, splits: list[Any], metric: str) -> None:
    """Refuse test parts on which the metric is not defined."""
    rows = [test for _, test in splits]
    if metric == "roc-auc" and any(len(np.unique(task.outcomes[test])) < 2 for test in rows):
        raise InvalidData("a test part has rows of one class only, on which roc-auc has no value; take fewer folds")
    if task.kind == "numbers" and min(map(len, rows)) < 2:
        raise InvalidData("a test part has a single row, on which R² has no value; take fewer folds")


def rope_of(task: PredictionTask, metric: Metric) -> float:
    """Half the width of the region of practical equivalence."""
    return metric.rope * float(task.outcomes.std()) if metric.is_in_units else metric.rope


def score_all(task: PredictionTask, truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """All scores of a test part; NaN where a metric has no value on it."""
    found = {}
    for name, metric in metrics_of(task).items():
        is_defined = name != "roc-auc" or len(np.unique(truth)) == 2
        found[name] = metric.score(truth, predicted) if is_defined else float("nan")
    return found
