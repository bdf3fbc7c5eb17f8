"""Logistic regression: classes whose log-odds are linear in features, learned by damped Newton steps (IRLS).

Undamped Newton steps diverge from some starts, although the likelihood is concave; halved steps never do. Under an L1
penalty the weights are w = u - v with u, v ≥ 0, for which the penalty Σ strength (u + v) is smooth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_array, check_flag
from juncture.base.options import Options
from juncture.base.values import few, number_of, read_only
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, InvalidModel, NotConvergedWarning, warn_user
from juncture.learning.conditionals.softmax import NEWTON, SoftmaxLikelihood, standardization
from juncture.learning.fit import Fit
from juncture.learning.newton import Newton
from juncture.learning.undirected.penalties import Penalty, check_penalty, penalize
from juncture.numerics.iteration import Trace
from juncture.numerics.stable import as_numbers, log_sum_exp, softmax
from juncture.supervised.model import read_training
from juncture.supervised.regression.bases import Basis, FeatureModel, LinearBasis, basis_of, check_basis
from juncture.supervised.regression.coefficients import CoefficientTable, feature_labels
from juncture.supervised.regression.inputs_and_targets import (
    check_classes,
    decode_classes,
    read_classes,
    read_inputs,
    read_weights,
)
from juncture.variables import as_plain


class LogisticRegression(FeatureModel):
    """p(class | x) = exp(w_class·φ(x)) / Σ exp(w·φ(x)); the weights of the first class are 0.

    Parameters
    ----------
    classes
        The labels, at least two.
    coefficients
        (class but the first, feature): the log-odds of each class against the first. For two classes (feature,) is
        taken too.
    basis
        The features φ; by default a constant and the inputs.

    `jt.fit(jt.supervised.LogisticRegression, X, y)` learns one, with the options of `LogisticOptions`.

    Examples
    --------
    >>> import juncture as jt
    >>> fitted = jt.fit(jt.supervised.LogisticRegression, [0.0, 1.0, 2.0, 3.0], ["no", "yes", "no", "yes"])
    >>> fitted.model.coefficients.round(4).tolist(), fitted.standard_errors.round(4).tolist()
    ([[-1.3623, 0.9082]], [[1.9749, 1.0852]])
    >>> round(jt.infer(fitted.model, {"x0": 3.0})["y"]["yes"], 4)
    0.7961
    >>> model = LogisticRegression(["no", "yes"], [-1.0, 2.0])
    >>> model.predict_proba([0.5, 2.0]).round(4).tolist()
    [[0.5, 0.5], [0.0474, 0.9526]]
    """

    kind: ClassVar[str] = "logistic regression"
    classes: tuple[Any, ...]
    coefficients: np.ndarray
    basis: Basis

    def __init__(self, classes: Any, coefficients: Any, basis: Basis | None = None) -> None:
        labels = tuple(as_plain(label) for label in check_classes(classes))
        if len(labels) < 2:
            raise InvalidModel(f"a logistic regression has at least 2 classes; got {len(labels)}")
        found = np.atleast_2d(check_array(coefficients, "coefficients", error=InvalidModel))
        if found.ndim != 2 or len(found) != len(labels) - 1:
            raise InvalidModel(
                f"coefficients have the shape (class but the first, feature), {len(labels) - 1} rows here; got"
                f" {found.shape}"
            )
        numbers = as_numbers(found, found.shape, name="coefficients")
        self._set(classes=labels, coefficients=numbers, basis=check_basis(basis))

    @property
    def num_coefficients(self) -> int:
        """The number of features."""
        return int(self.coefficients.shape[1])

    @property
    def num_parameters(self) -> int:
        """The number of free parameters, the coefficients."""
        return int(self.coefficients.size)

    def log_odds(self, X: Any) -> np.ndarray:
        """(row, class): log p(class | x) / p(first class | x)."""
        scores = self._features(X) @ self.coefficients.T
        return np.concatenate([np.zeros((len(scores), 1)), scores], axis=1)

    def predict_target(self, rows: Any, *, method: str = "closed-form", rng: Any = None) -> np.ndarray:
        """(row, class): log p(class | x)."""
        scores = self.log_odds(rows)
        return np.asarray(scores - log_sum_exp(scores, axis=1)[:, None])

    def predict_proba(self, X: Any) -> np.ndarray:
        """(row, class): p(class | x)."""
        return softmax(self.log_odds(X))

    def predict(self, X: Any) -> np.ndarray:
        """(row,): the class of the largest probability; the first of those that are equal."""
        return decode_classes(self.classes, self.log_odds(X).argmax(axis=1))

    def log_prob(self, X: Any, y: Any) -> np.ndarray:
        """(row,): log p(target | x)."""
        scores = self.log_odds(X)
        _, codes = read_classes(y, len(scores), self.classes)
        return np.asarray(scores[np.arange(len(codes)), codes] - log_sum_exp(scores, axis=1))

    def __repr__(self) -> str:
        labels = few(map(repr, self.classes), most=4)
        return f"LogisticRegression([{labels}], {self.coefficients.shape[1]} features, basis={self.basis!r})"


class LogisticFit(Fit[LogisticRegression]):
    """A logistic regression learned from rows.

    Attributes
    ----------
    model
        The `LogisticRegression`.
    log_likelihood
        Of the rows under the model, without the penalty.
    trace
        The penalised log-likelihood at the start and after each step of Newton's method, or of the search under an L1
        penalty.
    statistics
        None: the likelihood needs all rows.
    information
        (coefficient, coefficient): minus the second derivatives of the penalised log-likelihood, in the order of
        `model.coefficients` read by rows.
    root
        (coefficient, direction): B with BBᵀ the covariance; a direction for each that rows or penalty determine.
    log_posterior
        The log-likelihood less the penalty.
    num_rows
        Rows, or the sum of their weights.
    penalty
        What was subtracted: None, `jt.L1` or `jt.L2`.
    has_proper_prior
        Whether the penalty is a Gaussian prior of every coefficient, that of the constant too.
    """

    information: np.ndarray
    root: np.ndarray
    log_posterior: float
    num_rows: float
    penalty: Penalty | None
    has_proper_prior: bool

    def __init__(
        self,
        model: LogisticRegression,
        log_likelihood: float,
        trace: Trace,
        *,
        information: Any,
        root: Any,
        **facts: Any,
    ) -> None:
        super().__init__(model, log_likelihood, trace, None)
        self._set(information=read_only(information), root=read_only(root), **facts)

    @cached_property
    def covariance(self) -> np.ndarray:
        """(coefficient, coefficient): the inverse of the information.

        Of dependent features it is that of the coefficients of least norm, in standard deviations of the features.
        """
        return read_only(self.root @ self.root.T)

    @property
    def standard_errors(self) -> np.ndarray:
        """(class but the first, feature): the standard deviation of each coefficient; without a penalty, Wald's."""
        return np.linalg.norm(self.root, axis=1).reshape(self.model.coefficients.shape)

    def coefficient_table(self, confidence: float = 0.9) -> CoefficientTable:
        """The coefficients with standard errors, z, p and intervals, class by class.

        Parameters
        ----------
        confidence
            Of the intervals.

        Examples
        --------
        >>> import juncture as jt
        >>> fitted = jt.fit(LogisticRegression, [0.0, 1.0, 2.0, 3.0], ["no", "yes", "no", "yes"])
        >>> fitted.coefficient_table().to_pandas()["p"].round(2).to_dict()
        {'constant': 0.49, 'x0': 0.4}
        """
        model, labels = self.model, feature_labels(self.model)
        if len(model.classes) > 2:
            labels = [f"{each}: {label}" for each in model.classes[1:] for label in labels]
        estimates, errors = model.coefficients.reshape(-1), self.standard_errors.reshape(-1)
        return CoefficientTable(labels, estimates, errors, np.inf, confidence)

    def plot(self, **options: Any) -> Any:
        """The probability of each class over one input; `jt.plot`."""
        return plot(self, **options)


@dataclass(frozen=True)
class LogisticOptions(Options):
    """How a logistic regression is learned: maximum likelihood, or its mode under a prior.

    Classes that a hyperplane separates have no maximum of the likelihood, and are refused without a penalty.

    Parameters
    ----------
    basis
        The features; by default a constant and the inputs.
    classes
        The classes in order; by default those of the targets, sorted.
    penalty
        `jt.L2(strength)`: ½ strength Σ w² is subtracted from the log-likelihood, a Gaussian prior. `jt.L1(strength)`:
        strength Σ |w|, which makes some weights exactly 0. For more than two classes every class has weights w, and
        coefficients are their differences to those of the first.
    penalize_constant
        Whether the coefficient of the constant is in the penalty.
    standardize
        Whether the penalty is that of the coefficients of standardised features, which is the same in all units.
    method
        "newton", or a `jt.Newton` with its options.
    """

    basis: Basis | None = None
    classes: Any = None
    penalty: Penalty | None = None
    penalize_constant: bool = False
    standardize: bool = False
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"newton": Newton}

    def __post_init__(self) -> None:
        check_basis(self.basis)
        object.__setattr__(self, "penalty", check_penalty(self.penalty))
        check_flag(self.penalize_constant, "penalize_constant")
        check_flag(self.standardize, "standardize")


def fit_logistic(
    model: LogisticRegression | type[LogisticRegression],
    data: Any,
    y: Any = None,
    *,
    weights: Any = None,
    options: LogisticOptions,
) -> LogisticFit:
    """The regression of largest likelihood; one that is given says its basis, classes and columns."""
    read = read_training(model, data, y, weights)
    if not isinstance(model, type):
        options = replace(options, basis=basis_of(model, options.basis), classes=options.classes or model.classes)
    table, chosen = read_inputs(read.inputs), check_basis(options.basis)
    labels, codes = read_classes(read.targets, len(table), options.classes)
    heavy = read_weights(read.inputs.weights(len(table)), len(table))
    features = table if type(chosen) is LinearBasis else chosen.features(table)[:, int(chosen.has_constant) :]
    standard = standardization(features, heavy, is_centered=chosen.has_constant)
    free = not options.penalize_constant
    if not free and chosen.has_constant:
        standard = standard._replace(center=np.zeros(features.shape[1]))
    unit = np.ones(features.shape[1]) if options.standardize else standard.deviation
    scale = np.append(np.full(int(chosen.has_constant), float(not free)), 1 / unit)
    likelihood = SoftmaxLikelihood(
        features,
        codes,
        heavy,
        len(labels) - 1,
        standard,
        np.zeros(len(scale)),
        couple(len(labels)),
        chosen.has_constant,
    )
    is_proper = not options.standardize  # a prior that depends on the rows has no evidence
    found = learn(likelihood, labels, chosen, options.penalty, scale, options.method.limits, is_proper=is_proper)
    return found.with_model(found.model._with_names(read.names, read.target_name))


def learn(
    likelihood: SoftmaxLikelihood,
    labels: tuple[Any, ...],
    basis: Basis,
    penalty: Penalty | None,
    scale: np.ndarray,
    limits: dict[str, Any],
    *,
    is_proper: bool,
) -> LogisticFit:
    """The fit, in the units of the inputs: those of the likelihood are standardised."""
    strength = penalty.squared if penalty is not None else 0.0
    bent = replace(likelihood, penalty=strength * scale**2)
    if penalty is not None and penalty.absolute:
        point, trace = minimize_absolute(likelihood, penalty.absolute * scale, **limits)
    else:
        point, trace = ascend(bent, **limits)
    change = likelihood.standard.change(likelihood.has_constant)
    coefficients = point.reshape(likelihood.shape) @ change.T
    here, plain = bent.expand(point), likelihood.expand(point)
    back = np.kron(np.eye(likelihood.num_free), np.linalg.inv(change))
    root = np.kron(np.eye(likelihood.num_free), change) @ bent.covariance_root(point)
    model = LogisticRegression(labels, coefficients, basis)
    cost = penalty_at(penalty, point.reshape(likelihood.shape) * scale)
    return LogisticFit(
        model, -plain.value, trace, information=back.T @ here.hessian @ back, root=root,
        log_posterior=-plain.value - cost, num_rows=float(likelihood.weights.sum()), penalty=penalty,
        has_proper_prior=is_proper and bool(strength > 0 and scale.all()),
    )  # fmt: skip


def ascend(
    likelihood: SoftmaxLikelihood, tolerance: float = NEWTON.step_tolerance, max_steps: int = NEWTON.max_steps
) -> tuple[np.ndarray, Trace]:
    """The weights at the maximum, and the steps of Newton's method."""
    found, is_minimum = likelihood.minimize(replace(NEWTON, step_tolerance=tolerance, max_steps=max_steps))
    if not found.converged and max_steps < NEWTON.max_steps:
        warn_user(f"Newton's method did not end within max_steps={max_steps}: raise it", NotConvergedWarning)
    elif not is_minimum:
        raise InvalidData(
            "the coefficients grow without end: a hyperplane separates the classes exactly, or a class has no rows;"
            " give a penalty such as penalty=jt.L2(1.0), under which the answer is finite"
        )
    reason = "the steps are short" if found.converged else f"stopped after {number_of(max_steps, 'step')}"
    return found.point, Trace(tuple(-value for value in found.values), found.converged, reason)


def couple(num_classes: int) -> np.ndarray:
    """The penalty of differences to the first class: Σ w² of all classes is least where the weights sum to 0.

    Of two classes the difference itself is penalised.
    """
    size = num_classes - 1
    return np.eye(size) - (1 / num_classes if size > 1 else 0.0)


def penalty_at(penalty: Penalty | None, differences: np.ndarray) -> float:
    """What the penalty subtracts: of more than two classes, at weights that are centered, or as L1 likes them best."""
    if penalty is None:
        return 0.0
    every = np.concatenate([np.zeros((1, differences.shape[1])), differences]) if len(differences) > 1 else differences
    if len(differences) > 1:
        every = every - (np.median(every, axis=0) if penalty.absolute else every.mean(axis=0))
    return penalize(penalty, every.reshape(-1))


MAX_STEPS = 20_000
GRADIENT = 1e-9  # by the row, at which the search ends
POLISHES = 10
SETTLED = 1e-6  # by the row, above which the search says that it did not converge


def minimize_absolute(
    likelihood: SoftmaxLikelihood, strengths: np.ndarray, tolerance: float = GRADIENT, max_steps: int = MAX_STEPS
) -> tuple[np.ndarray, Trace]:
    """Flat (state but the first, feature): differences to the first class, at the penalised maximum; and the course.

    Of more than two classes every class has weights, which are penalised.
    """
    from scipy.optimize import minimize

    is_binary = likelihood.num_free == 1
    num_states = 1 if is_binary else likelihood.num_free + 1
    total, cost = float(likelihood.weights.sum()), np.tile(strengths, num_states)

    def downhill(point: np.ndarray) -> tuple[float, np.ndarray]:
        every = (point[: len(cost)] - point[len(cost) :]).reshape(num_states, -1)
        free = every if is_binary else every[1:] - every[0]
        here = likelihood.expand(free.reshape(-1))
        slope = here.gradient.reshape(free.shape)
        if not is_binary:
            slope = np.concatenate([-slope.sum(axis=0, keepdims=True), slope])
        flat = slope.reshape(-1)
        value = here.value + float(np.append(cost, cost) @ point)
        return value / total, (np.append(flat, -flat) + np.append(cost, cost)) / total

    start = np.zeros(2 * len(cost))
    options = {"maxiter": max_steps, "maxfun": 2 * max_steps, "ftol": 0.0, "gtol": tolerance, "maxcor": 20}
    course = [-downhill(start)[0] * total]
    found = minimize(
        downhill, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start), options=options,
        callback=lambda intermediate_result: course.append(-intermediate_result.fun * total),
    )  # fmt: skip
    left = np.where(found.x > 0, found.jac, np.minimum(found.jac, 0.0))
    steepest = float(np.abs(left).max(initial=0.0))
    weights = found.x[: len(cost)] - found.x[len(cost) :]
    if steepest <= SETTLED:
        weights = polish(likelihood, weights, cost)
    elif steepest > tolerance:
        warn_user(
            f"the L1 search ended with a gradient, by row, of {steepest:.2g}: {found.message}", NotConvergedWarning
        )
    every = weights.reshape(num_states, -1)
    flat = np.asarray((every if is_binary else every[1:] - every[0]).reshape(-1))
    return flat, Trace(tuple(course), steepest <= max(SETTLED, tolerance), str(found.message))


def polish(likelihood: SoftmaxLikelihood, weights: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """The weights after Newton's steps along those that are not 0, whose signs stay: the search ends with 8 digits.

    Steps that would change a sign, or raise the gradient, are left out.
    """
    free = likelihood.num_free
    differences = np.eye(1) if free == 1 else np.hstack([-np.ones((free, 1)), np.eye(free)])
    change = np.kron(differences, np.eye(likelihood.shape[1]))  # (difference, weight)
    active = (weights != 0) | (cost == 0)
    signs = np.sign(weights) * cost
    best, least = weights, np.inf
    for _ in range(POLISHES):
        here = likelihood.expand(change @ weights)
        slope = (change.T @ here.gradient + signs)[active]
        if not np.abs(slope).max(initial=0.0) < least:
            return best
        best, least = weights, float(np.abs(slope).max(initial=0.0))
        hessian = (change.T @ here.hessian @ change)[np.ix_(active, active)]
        weights = weights.copy()
        weights[active] -= np.linalg.lstsq(hessian, slope, rcond=None)[0]
        if (np.sign(weights) * cost != signs).any():
            return best
    return best
