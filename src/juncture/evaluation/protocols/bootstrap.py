"""The bootstrap estimate of the error of a learner: .632, and .632+ (Efron and Tibshirani 1997).

Rows outside of a bootstrap sample give an error that is too large, since a sample has only .632 of the rows; the rows
that were learned from give one that is too small. The estimate lies between, for .632+ the nearer to the former the
more the learner overfits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_count
from juncture.base.options import as_generator
from juncture.base.shown import Shown
from juncture.errors import InvalidData
from juncture.evaluation.protocols.cross_validation import check_learner, count_rows, is_classifier, reported_errors
from juncture.numerics.iteration import ProgressCallback, check_progress

SHARE = 1 - np.exp(-1)  # .632: the share of rows in a bootstrap sample


@dataclass(frozen=True)
class BootstrapError(Shown):
    """An estimate of the error of a learner on new rows.

    Attributes
    ----------
    error
        The estimate, .632 or .632+.
    training
        The error on the rows that were learned from.
    outside
        The mean error of rows under the samples that do not have them.
    without_knowledge
        The error where targets had nothing to do with the rows.
    overfitting
        Between 0 and 1: how far the error outside went from the training error to that without knowledge.
    draws
        The number of bootstrap samples.
    """

    error: float
    training: float
    outside: float
    without_knowledge: float
    overfitting: float
    draws: int


def bootstrap_error(
    learner: Any,
    X: Any,
    y: Any,
    *,
    draws: int = 50,
    kind: str = ".632+",
    rng: Any = None,
    progress: ProgressCallback | None = None,
) -> BootstrapError:
    """The error of a learner on new rows, by the bootstrap.

    Parameters
    ----------
    learner
        An estimator of scikit-learn: the error is the share of wrong classes of a classifier, and the mean squared
        error of a regression.
    X, y
        The rows and their targets: arrays or frames.
    draws
        The number of bootstrap samples.
    kind
        ".632+" or ".632".
    rng
        The seed, or a generator; fresh by default.
    progress
        A function that is called after each sample with their number and the error outside of it.

    Returns
    -------
    BootstrapError
        The estimate and what it was made of.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> x = np.random.default_rng(0).normal(size=(40, 2))
    >>> found = bootstrap_error(KNeighborsClassifier(1), x, x[:, 0] > 0, draws=10, rng=0)
    >>> found.training, found.training < found.error <= found.outside
    (0.0, True)
    """
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing as take

    check_choice(kind, (".632", ".632+"), "kind")
    check_progress(progress)
    check_learner(learner)
    loss = wrong_class if is_classifier(learner) else squared_error
    times, generator = check_count(draws, "draws", least=1), as_generator(rng)
    number = count_rows(X)
    with reported_errors(learner):
        truth = np.asarray(y)
    if truth.shape != (number,):
        raise InvalidData(f"y has a target for each of the {number} rows; got the shape {truth.shape}")
    with reported_errors(learner):
        predicted = np.asarray(clone(learner).fit(X, y).predict(X))
        sums, counts = np.zeros(number), np.zeros(number)
        for draw in range(times):
            rows = generator.integers(number, size=number)
            outside = np.setdiff1d(np.arange(number), rows)
            if not len(outside):
                continue
            model = clone(learner).fit(take(X, rows), take(y, rows))
            losses = loss(truth[outside], np.asarray(model.predict(take(X, outside))))
            sums[outside] += losses
            counts[outside] += 1
            if progress is not None:
                progress(draw + 1, float(losses.mean()))
    if not counts.any():
        raise InvalidData("every bootstrap sample has all rows; take more rows, or more draws")
    outer = float((sums[counts > 0] / counts[counts > 0]).mean())
    chance = error_without_knowledge(truth, predicted, is_classifier(learner))
    return combine(float(loss(truth, predicted).mean()), outer, chance, kind, times)


def combine(training: float, outside: float, chance: float, kind: str, draws: int) -> BootstrapError:
    """The weighted mean of training error and error outside."""
    limited = min(outside, chance)
    rate = (limited - training) / (chance - training) if limited > training and chance > training else 0.0
    weight = SHARE / (1 - (1 - SHARE) * rate) if kind == ".632+" else SHARE
    upper = limited if kind == ".632+" else outside
    estimate = float((1 - weight) * training + weight * upper)
    return BootstrapError(estimate, training, outside, chance, rate, draws)


def wrong_class(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return np.asarray(truth != predicted, dtype=float)


def squared_error(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    return np.asarray((truth - predicted) ** 2, dtype=float)


def error_without_knowledge(truth: np.ndarray, predicted: np.ndarray, is_of_classes: bool) -> float:
    """The mean loss over all pairs of a target and a prediction."""
    if not is_of_classes:
        return float(np.mean(truth**2) - 2 * truth.mean() * predicted.mean() + np.mean(predicted**2))
    labels = np.unique(np.concatenate([truth, predicted]))
    shares = [np.mean(side[:, None] == labels, axis=0) for side in (truth, predicted)]
    return float(1 - shares[0] @ shares[1])
