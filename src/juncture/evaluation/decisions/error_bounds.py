"""Bounds of the Bayes error: Bhattacharyya, Chernoff, and the error of the nearest neighbour.

min(a, b) ≤ a^s b^(1-s) gives P(error) ≤ p(1)^s p(2)^(1-s) ∫ p(x | 1)^s p(x | 2)^(1-s) dx for every s in [0, 1].
Chernoff's bound takes the best s, Bhattacharyya's s = 1/2; several classes add the bounds of all pairs. As the number
of rows grows, the nearest neighbour errs at a rate between the Bayes error R and R (2 - R K / (K - 1)) (Cover and Hart
1967).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_kind, check_number
from juncture.errors import Unsupported
from juncture.evaluation.decisions.optimal_decision import parts_of
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.information.grids import common_grid
from juncture.numerics import stable
from juncture.supervised.generative.classifier import GenerativeClassifier


@dataclass(frozen=True)
class ErrorBounds:
    """Upper bounds of the error of Bayes' rule.

    Attributes
    ----------
    bhattacharyya, chernoff
        The sums of the bounds of all pairs of classes, at most the error of the most probable class alone.
    exponents
        For each pair of classes the s of its Chernoff bound.
    """

    bhattacharyya: float
    chernoff: float
    exponents: dict[tuple[Any, Any], float]


def error_bounds(classifier: GenerativeClassifier) -> ErrorBounds:
    """Bhattacharyya's and Chernoff's bounds of the Bayes error.

    Parameters
    ----------
    classifier
        Classes whose densities are of single numbers, or Gaussian vectors.

    Returns
    -------
    ErrorBounds

    Examples
    --------
    >>> import juncture as jt
    >>> classes = jt.supervised.GenerativeClassifier([0.5, 0.5], [jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)])
    >>> round(error_bounds(classes).chernoff, 6)  # exp(-1/2) / 2; the error is 0.158655
    0.303265
    """
    from scipy.optimize import minimize_scalar

    check_kind(classifier, GenerativeClassifier, "the classifier")
    logs = stable.log(classifier.prior)
    half, best, exponents = 0.0, 0.0, {}
    for one, other in combinations(range(classifier.num_classes), 2):
        if np.isneginf(logs[[one, other]]).any():
            continue
        affinity = log_affinity(classifier.densities[one], classifier.densities[other])

        def log_bound(s: float, affinity: Any = affinity, pair: tuple[int, int] = (one, other)) -> float:
            return float(s * logs[pair[0]] + (1 - s) * logs[pair[1]] + affinity(s))

        found = minimize_scalar(log_bound, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
        s = min((0.5, float(found.x), 0.0, 1.0), key=log_bound)
        half, best = half + np.exp(log_bound(0.5)), best + np.exp(log_bound(s))
        exponents[classifier.classes[one], classifier.classes[other]] = s
    trivial = 1.0 - float(classifier.prior.max())
    return ErrorBounds(min(float(half), trivial), min(float(best), trivial), exponents)


def log_affinity(p: Any, q: Any) -> Any:
    """The function s → log ∫ p^s q^(1-s)."""
    if isinstance(p, MultivariateGaussian) and isinstance(q, MultivariateGaussian):
        return lambda s: gaussian_log_affinity(p, q, s)
    if getattr(p, "event_shape", ()) or getattr(q, "event_shape", ()):
        raise Unsupported("bounds of the error are for densities of single numbers and for Gaussian vectors")
    grid = common_grid(*parts_of(p), *parts_of(q))
    log_p, log_q = np.asarray(p.log_prob(grid.points)), np.asarray(q.log_prob(grid.points))
    both = (log_p > -np.inf) & (log_q > -np.inf)

    def affinity(s: float) -> float:
        mixed = np.zeros(len(log_p))
        mixed[both] = np.exp(s * log_p[both] + (1 - s) * log_q[both])
        return float(stable.log(min(grid.total(mixed, "the affinity"), 1.0)))

    return affinity


def gaussian_log_affinity(p: MultivariateGaussian, q: MultivariateGaussian, s: float) -> float:
    """-s (1-s)/2 Δᵀ S⁻¹ Δ - ½ log |S| + (1-s)/2 log |Σp| + s/2 log |Σq|, with S = (1-s) Σp + s Σq."""
    first, second = np.asarray(p.covariance), np.asarray(q.covariance)
    step = np.asarray(p.mean) - np.asarray(q.mean)
    mixed = (1 - s) * first + s * second
    logs = [float(np.linalg.slogdet(matrix)[1]) for matrix in (mixed, first, second)]
    square = float(step @ np.linalg.solve(mixed, step))
    return -0.5 * s * (1 - s) * square - 0.5 * (logs[0] - (1 - s) * logs[1] - s * logs[2])


def nearest_neighbor_bounds(bayes_error: float, num_classes: int = 2) -> tuple[float, float]:
    """Between which rates the nearest neighbour errs, as the number of rows grows: R and R (2 - R K / (K - 1)).

    Parameters
    ----------
    bayes_error
        The error R of Bayes' rule.
    num_classes
        The number K of classes.

    Returns
    -------
    tuple of float

    Examples
    --------
    >>> nearest_neighbor_bounds(0.25)
    (0.25, 0.375)
    """
    most = 1.0 - 1.0 / check_count(num_classes, "num_classes", least=2)
    error = check_number(bayes_error, f"the Bayes error of {num_classes} classes", least=0, most=most)
    return error, error * (2.0 - error / most)
