"""The error of any rule, given the probabilities and densities of the classes; and bounds of the Bayes error.

The risk of a rule d is Σ_k p(k) ∫ p(x | k) loss(k, d(x)) dx. Bayes' rule, the most probable class or the action of
least expected loss, has the smallest.

Bounds of it: min(a, b) ≤ a^s b^(1-s) gives P(error) ≤ p(1)^s p(2)^(1-s) ∫ p(x | 1)^s p(x | 2)^(1-s) dx for every s in
[0, 1]. Chernoff's bound takes the best s, Bhattacharyya's s = 1/2; several classes add the bounds of all pairs. As the
number of rows grows, the nearest neighbour errs at a rate between the Bayes error R and R (2 - R K / (K - 1)) (Cover
and Hart 1967).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_function, check_kind, check_number, shown
from juncture.base.options import as_generator
from juncture.base.shown import Shown
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.decisions.loss_matrix import LossMatrix, as_loss
from juncture.evaluation.decisions.optimal_decision import parts_of
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.information.grids import changes, common_grid
from juncture.numerics import stable
from juncture.numerics.quadrature.gauss_legendre import Grid
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.variables import Variable

Rule = Callable[[Any], Any]


@dataclass(frozen=True)
class ErrorRate(Shown):
    """The probability of an error, or the expected loss, of a rule.

    Attributes
    ----------
    value
        The rate.
    method
        "sum" or "quadrature", which are exact but for rounding, or "draws".
    standard_error
        Of a rate from draws; 0 else.
    """

    value: float
    method: str
    standard_error: float = 0.0

    @property
    def exact(self) -> bool:
        return self.method != "draws"

    def __float__(self) -> float:
        return self.value


def conditional_error(classifier: GenerativeClassifier, rows: Any, decisions: Any = None) -> np.ndarray:
    """The probability that a decision is wrong given the row: 1 - p(decision | row).

    Parameters
    ----------
    classifier
        Classes with their probabilities and densities.
    rows
        As the classifier takes them.
    decisions
        A class for each row; by default the most probable one, whose error no other decision falls below.

    Returns
    -------
    numpy.ndarray
        One probability a row.

    Examples
    --------
    >>> import juncture as jt
    >>> classes = jt.supervised.GenerativeClassifier([0.5, 0.5], [jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)])
    >>> conditional_error(classes, [0.0, 2.0]).round(4).tolist()
    [0.5, 0.018]
    """
    check_kind(classifier, GenerativeClassifier, "the classifier")
    shares = classifier.predict_proba(rows)
    if decisions is None:
        return np.asarray(1.0 - shares.max(axis=1))
    codes = decision_codes(decisions, classifier.classes, len(shares))
    return np.asarray(1.0 - shares[np.arange(len(shares)), codes])


def classification_error(
    classifier: GenerativeClassifier,
    rule: Rule | None = None,
    *,
    loss: LossMatrix | Any = None,
    draws: int = 100_000,
    rng: Any = None,
) -> ErrorRate:
    """How often a rule is wrong, or what it loses on average; without a rule, the error of Bayes' rule.

    Parameters
    ----------
    classifier
        Classes with their probabilities and densities.
    rule
        A function from rows to classes, or to actions of the loss, such as the `predict` of another classifier; by
        default the rule of least risk.
    loss
        A `LossMatrix`, or a matrix (class, action); by default 1 for every wrong class.
    draws, rng
        The number of rows that are drawn, and their seed, where rows are vectors: sums and integrals over single
        numbers are exact.

    Returns
    -------
    ErrorRate

    Examples
    --------
    >>> import juncture as jt
    >>> classes = jt.supervised.GenerativeClassifier([0.5, 0.5], [jt.Gaussian(-1.0, 1.0), jt.Gaussian(1.0, 1.0)])
    >>> round(classification_error(classes).value, 6)
    0.158655
    >>> round(classification_error(classes, lambda x: (x > 0.5).astype(int)).value, 6)
    0.187672
    """
    check_kind(classifier, GenerativeClassifier, "the classifier")
    matrix = as_loss(LossMatrix.zero_one(classifier.classes) if loss is None else loss, classifier.classes)

    def codes(rows: Any) -> np.ndarray:
        if rule is None:
            return np.asarray((classifier.predict_proba(rows) @ matrix.values).argmin(axis=1))
        return decision_codes(check_function(rule, "the rule")(rows), matrix.actions, len(rows))

    if classifier.densities.event_shape:
        return drawn_error(classifier, codes, matrix, check_count(draws, "draws", least=2), rng)
    grid = line_grid(classifier, codes)
    joint = np.exp(classifier.log_joint(grid.points))  # (point, class)
    losses = matrix.values.T[codes(grid.points)]  # (point, class)
    risk = grid.total((joint * losses).sum(axis=1), "the error")
    return ErrorRate(float(risk), "sum" if grid.is_discrete else "quadrature")


def line_grid(classifier: GenerativeClassifier, codes: Rule) -> Grid:
    """Points for all densities; panels end where the decision changes."""
    parts = [part for each in classifier.densities for part in parts_of(each)]
    return common_grid(*parts, more_ends=lambda points: changes(codes, points[seen(classifier, points)]))


def seen(classifier: GenerativeClassifier, points: np.ndarray) -> np.ndarray:
    """Where some class has a density that is not 0 in double precision."""
    return np.asarray(np.exp(classifier.log_joint(points)).sum(axis=1) > 0)


def drawn_error(classifier: GenerativeClassifier, codes: Rule, matrix: LossMatrix, draws: int, rng: Any) -> ErrorRate:
    """The mean over drawn rows of the expected loss given the row, which varies less than the loss itself."""
    rows, _ = classifier.draw(draws, as_generator(rng))
    values = np.asarray(rows, np.float64).reshape(draws, classifier.num_columns)
    risks = (classifier.predict_proba(values) * matrix.values.T[codes(values)]).sum(axis=1)
    return ErrorRate(float(risks.mean()), "draws", float(risks.std(ddof=1) / np.sqrt(draws)))


def distinct_decisions(decisions: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The different decisions that a rule gives, sorted, and the position of each row's among them."""
    try:
        given = np.asarray(decisions)
        if given.shape == (count,):
            return np.unique(given, return_inverse=True)
    except (TypeError, ValueError):  # lists of different lengths, or what cannot be sorted
        pass
    raise InvalidData(f"there must be a decision, a label, for each of {count} rows; got {shown(decisions)}")


def decision_codes(decisions: Any, labels: tuple[Any, ...], count: int) -> np.ndarray:
    """The positions of decisions among the labels."""
    kinds, places = distinct_decisions(decisions, count)
    known = Variable("class", list(labels))
    found = [known.find(label) for label in kinds.tolist()]
    if None in found:
        raise Unsupported(f"the decision {kinds[found.index(None)]!r} is none of {', '.join(map(repr, labels))}")
    return np.array(found, dtype=np.int64)[places]


@dataclass(frozen=True)
class ErrorBounds(Shown):
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
