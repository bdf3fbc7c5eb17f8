"""Proper scores of predictive distributions: logarithmic, CRPS and Brier's; and errors of predicted numbers.

The smaller a proper score, the better. The continuous ranked probability score is ∫ (F(x) - 1(x ≥ y))² dx. It is in
the units of y; for a prediction without uncertainty it is the absolute error. Predicted numbers have the root mean
squared error, and Pearson's correlation with what was observed.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np
from scipy import special

from juncture.base.checks import check_array, shown
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import Mixture
from juncture.data.tables.labels import sorting_key
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.measures.classification import as_labels
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.family import Family, HasDensity, plain
from juncture.numerics.quadrature.gauss_legendre import integrate

TAILS = np.concatenate([10.0 ** -np.arange(15, 1, -1), [0.05, 0.25]])
LEVELS = np.concatenate([TAILS, [0.5], 1 - TAILS[::-1]])  # between their quantiles the integral of the CRPS is smooth


def log_score(distribution: Any, observed: Any) -> Any:
    """The logarithmic score -log p(observed); infinite for what was said to be impossible.

    Parameters
    ----------
    distribution
        A member of a family, a batch with a member for each observation, or a `Mixture`.
    observed
        What happened: a value, or one for each row.

    Returns
    -------
    float or numpy.ndarray
        A score for each observation.

    Examples
    --------
    >>> import juncture as jt
    >>> round(log_score(jt.Gaussian(0.0, 1.0), 1.0), 6)
    1.418939
    """
    if isinstance(distribution, type) or not isinstance(distribution, HasDensity):
        raise Unsupported(f"the logarithmic score needs a distribution with log_prob; got {shown(distribution)}")
    return plain(-np.asarray(distribution.log_prob(observed)))


def crps(distribution: Any, observed: Any) -> Any:
    """The continuous ranked probability score of a predictive distribution on the line.

    Parameters
    ----------
    distribution
        A `Gaussian` or a batch of them, and a `Mixture` of them: in closed form. Another member of a family of
        numbers: by quadrature, or for whole numbers by summation. An array whose last axis holds draws: of their
        empirical distribution.
    observed
        What happened: a number, or one for each row.

    Returns
    -------
    float or numpy.ndarray
        A score for each observation.

    Examples
    --------
    >>> import juncture as jt
    >>> round(crps(jt.Gaussian(0.0, 1.0), 0.0), 6)
    0.233695
    >>> crps([[0.0, 2.0]], [1.0]).tolist()  # two draws
    [0.5]
    """
    values = check_array(observed, "what was observed")
    if not np.isfinite(values).all():
        raise InvalidData("what was observed is a finite number; one is missing or infinite")
    return plain(crps_of(distribution, values))


def brier_score(truth: Any, probabilities: Any, *, labels: Any = None, weights: Any = None) -> float:
    """Brier's score of predicted probabilities of classes: the mean of Σ (probability - 1[class is true])².

    It lies between 0 and 2. With two classes it is twice the mean squared error of the probability of one of them,
    which is the `score` of a `Calibration`.

    Parameters
    ----------
    truth
        A class for each example.
    probabilities
        (example, class): they sum to 1. The columns of a frame may have the names of the classes.
    labels
        The classes in the order of the columns; by default the names of the columns of a frame, else all classes that
        occur, sorted.
    weights
        Of the examples; 1 by default.

    Returns
    -------
    float
        The mean over the examples; the smaller, the better.

    Examples
    --------
    >>> round(brier_score(["a", "b", "c"], [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.3, 0.3, 0.4]]), 6)
    0.28
    """
    given = as_labels(truth, "the true classes")
    table = check_array(probabilities, "the probabilities", ndim=2)
    if labels is None:
        own = getattr(probabilities, "columns", None)
        labels = sorted(set(given), key=sorting_key) if own is None else list(own)
    classes = as_labels(labels, "labels")
    if table.shape != (len(given), len(classes)) or not given:
        raise InvalidData(
            f"probabilities have a row for each example and a column for each class, ({len(given)}, {len(classes)})"
            f" here; got {table.shape}: give labels=, the classes in the order of the columns"
        )
    known = {label: place for place, label in enumerate(classes)}
    missing = next((label for label in given if label not in known), None)
    if missing is not None:
        raise InvalidData(f"the class {shown(missing)} occurs but is not among the labels {shown(classes)}")
    wrong = ~((table >= 0).all(axis=1) & (np.abs(table.sum(axis=1) - 1) <= 1e-6))
    if wrong.any():
        raise InvalidData(f"probabilities of a row are at least 0 and sum to 1; those of row {wrong.argmax()} do not")
    truths = np.eye(len(classes))[[known[label] for label in given]]
    return float(np.average(np.square(table - truths).sum(axis=1), weights=check_row_weights(weights, len(given))))


def root_mean_squared_error(truth: Any, predicted: Any, *, weights: Any = None) -> float:
    """The root of the mean squared difference between numbers and their predictions.

    Parameters
    ----------
    truth, predicted
        Numbers, one an example.
    weights
        Of the examples.

    Returns
    -------
    float
        √(mean (predicted - true)²).

    Examples
    --------
    >>> root_mean_squared_error([1.0, 2.0, 3.0], [2.0, 3.0, 4.0])
    1.0
    """
    one, other = check_numbers(truth, predicted)
    return float(np.sqrt(np.average((one - other) ** 2, weights=check_row_weights(weights, len(one)))))


def pearson_correlation(truth: Any, predicted: Any) -> float:
    """Pearson's correlation of numbers and their predictions, between -1 and 1.

    Parameters
    ----------
    truth, predicted
        Numbers, one an example; neither all the same.

    Returns
    -------
    float
        Their covariance, divided by both standard deviations.

    Examples
    --------
    >>> round(pearson_correlation([1.0, 2.0, 3.0], [5.0, 3.0, 1.0]), 9)
    -1.0
    """
    one, other = check_numbers(truth, predicted)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        raise InvalidData("numbers that are all the same have no correlation")
    return float(np.corrcoef(one, other)[0, 1])


@singledispatch
def crps_of(distribution: Any, values: np.ndarray) -> np.ndarray:
    """Draws along the last axis: E|X - y| - ½ E|X - X'| of their empirical distribution."""
    draws = check_array(distribution, "the draws")
    if not draws.ndim or not draws.shape[-1] or not np.isfinite(draws).all():
        raise InvalidData("draws are finite numbers along the last axis, at least one for each observation")
    if draws.shape[:-1] not in ((), values.shape):
        raise InvalidData(f"draws of shape {draws.shape} do not fit observations of shape {values.shape}")
    ordered, number = np.sort(draws, axis=-1), draws.shape[-1]
    weights = 2 * np.arange(1, number + 1) - number - 1
    apart = np.abs(ordered - values[..., None]).mean(axis=-1)
    return np.asarray(apart - (ordered @ weights) / number**2)


@crps_of.register
def crps_of_gaussian(distribution: Gaussian, values: np.ndarray) -> np.ndarray:
    """E|X - y| - ½ E|X - X'|, where X - X' has twice the variance."""
    mean, variance = np.asarray(distribution.mean), np.asarray(distribution.variance)
    return np.asarray(mean_distance(values - mean, variance) - mean_distance(0.0, 2 * variance) / 2)


@crps_of.register
def crps_of_mixture(distribution: Mixture, values: np.ndarray) -> np.ndarray:
    """The same expectations over pairs of components."""
    components = distribution.components
    if not isinstance(components, GaussianEmissions) or components.event_shape not in ((), (1,)):
        raise Unsupported("the CRPS of a mixture is that of Gaussian components on the line; draw from it instead")
    means, variances = np.ravel(components.mean), np.ravel(components.covariance)
    weights = np.asarray(distribution.weights)
    near = mean_distance(values[..., None] - means, variances) @ weights
    pairs = mean_distance(means[:, None] - means, variances[:, None] + variances)
    return np.asarray(near - weights @ pairs @ weights / 2)


def mean_distance(shift: Any, variance: Any) -> np.ndarray:
    """E|X| of a Gaussian X with this mean and variance."""
    deviation = np.sqrt(variance)
    z = np.divide(shift, deviation)
    density = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    return np.asarray(2 * deviation * density + shift * (2 * special.ndtr(z) - 1))


@crps_of.register
def crps_of_family(distribution: Family, values: np.ndarray) -> np.ndarray:
    """By quadrature or summation, one observation after the other."""
    if distribution.event_shape or not hasattr(distribution, "cdf") or not np.isfinite(distribution.mean).all():
        raise Unsupported(f"the CRPS is that of numbers with a finite mean; got {distribution!r}")
    if distribution.batch_shape not in ((), values.shape):
        raise InvalidData(f"a batch of shape {distribution.batch_shape} does not fit observations {values.shape}")
    members = [distribution] * values.size if not distribution.batch_shape else members_of(distribution)
    score = crps_of_counts if distribution.support.is_discrete else crps_on_the_line
    scores = [score(member, float(value)) for member, value in zip(members, values.reshape(-1), strict=True)]
    return np.array(scores).reshape(values.shape)


def members_of(batch: Any) -> list[Any]:
    """The members of a batch in the order of its axes, the last the fastest."""
    return [batch[index] for index in np.ndindex(batch.batch_shape)]


def crps_on_the_line(member: Any, value: float) -> float:
    """∫ F² below the observation and ∫ (1 - F)² above."""
    edges = np.unique(np.append(np.asarray(member.quantile(LEVELS)), value))
    edges = edges[np.isfinite(edges)]
    below, above = edges[edges <= value], edges[edges >= value]
    left = integrate(lambda x: np.asarray(member.cdf(x)) ** 2, below) if len(below) > 1 else 0.0
    right = integrate(lambda x: (1 - np.asarray(member.cdf(x))) ** 2, above) if len(above) > 1 else 0.0
    return float(left + right)


def crps_of_counts(member: Any, value: float) -> float:
    """Σ over unit steps between whole numbers, and the part of a step at an observation between two."""
    low, high = member.quantile(LEVELS[[0, -1]])
    places = np.unique(np.append(np.arange(min(low, np.floor(value)), max(high, np.ceil(value)) + 1), value))
    heights = np.asarray(member.cdf(np.floor(places[:-1]))) - (places[:-1] >= value)
    return float(heights**2 @ np.diff(places))


def check_row_weights(weights: Any, number: int) -> np.ndarray:
    """The weights of this many examples, 1 by default."""
    own = np.ones(number) if weights is None else check_array(weights, "the weights", ndim=1)
    if own.shape != (number,) or not (np.isfinite(own) & (own >= 0)).all() or own.sum() <= 0:
        raise InvalidData("weights are numbers of at least 0, one for each example, and not all 0")
    return own


def check_numbers(truth: Any, predicted: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and their predictions, without holes."""
    one, other = check_array(truth, "the truth", ndim=1), check_array(predicted, "the predictions", ndim=1)
    if one.shape != other.shape or not len(one) or not np.isfinite(one).all() or not np.isfinite(other).all():
        raise InvalidData("each example has a finite true number and a finite prediction")
    return one, other
