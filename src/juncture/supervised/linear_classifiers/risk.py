"""Regularised empirical risk: the least (1/N) Σ loss(t (w·x + b)) + λ R(w), with R = ‖w‖₁ or ½‖w‖²; and its losses.

The loss of a margin m = t (w·x + b) is the 0-1 loss, or a convex loss that stands for it. Smooth losses go by
accelerated proximal gradient steps, the hinge by the dual of the support vector machine (½‖w‖²) or a linear program
(‖w‖₁); the bias is not penalised. Least squares and ridge regression on the targets ±1 have a closed form:
`LeastSquares`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_flag, check_number
from juncture.base.options import Options
from juncture.errors import InvalidData, NotConvergedWarning, Unsupported, warn_user
from juncture.learning.undirected.penalties import L2, check_penalty
from juncture.numerics.iteration import Trace
from juncture.numerics.stable import sigmoid
from juncture.supervised.linear_classifiers.decision_function import BinaryRows, DecisionFit
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.kernels import LinearKernel
from juncture.supervised.linear_classifiers.maximum_margin import SequentialMinimalOptimization
from juncture.supervised.regression.linear import ridge_path


class RiskFit(DecisionFit):
    """The hyperplane of least regularised risk.

    Attributes
    ----------
    model
        The `Hyperplane`; its weights may all be 0 under a strong penalty.
    risk
        (1/N) Σ loss.
    objective
        The risk and the penalty.
    trace, training_error, log_likelihood, statistics, seed
        As those of `DecisionFit`.
    """

    risk: float
    objective: float

    def __init__(
        self, model: Hyperplane, trace: Trace, training_error: float, *, risk: float, objective: float
    ) -> None:
        super().__init__(model, trace, training_error)
        self._set(risk=float(risk), objective=float(objective))


@dataclass(frozen=True)
class EmpiricalRisk(Options):
    """Minimise (1/N) Σ loss(t (w·x + b)) + λ ½‖w‖², or + λ‖w‖₁; both classes must occur.

    Parameters
    ----------
    loss
        "squared", "logistic", "logistic_bits" or "hinge", as in `margin_loss`. The hinge with `jt.L2` is the support
        vector machine with the cost 1 / (N λ).
    penalty
        `jt.L2(λ)`, or the number λ: λ ½‖w‖²; `jt.L1(λ)`: λ‖w‖₁, which makes some weights 0. The bias is free.
    tolerance
        Steps end once the conditions of optimality hold within the tolerance.
    max_steps
        The largest number of steps, after which a warning says so.

    Examples
    --------
    >>> import juncture as jt
    >>> points, labels = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]], [0, 0, 1, 1]
    >>> sparse = EmpiricalRisk(loss="hinge", penalty=jt.L1(0.1))
    >>> found = jt.fit(jt.supervised.Hyperplane, points, labels, method=sparse)
    >>> found.model.weights.round(6).tolist(), round(found.model.bias, 6)  # the second coordinate is left out
    ([1.0, 0.0], -2.0)
    """

    loss: str = "logistic"
    penalty: Any = L2(1e-3)  # noqa: RUF009 (a frozen value)
    tolerance: float = 1e-9
    max_steps: int = 100_000

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", check_penalty(self.penalty))
        if self.penalty is None:
            raise InvalidData("a risk has its least value under a penalty: give penalty=jt.L2(1e-3), or jt.L1(…)")
        check_number(self.tolerance, "tolerance", above=0)
        check_count(self.max_steps, "max_steps", least=1)
        if LOSSES[check_loss(self.loss)].curvature is None and self.loss != "hinge":
            raise Unsupported(
                f'the loss "{self.loss}" has no least penalised risk worth learning: that of the perceptron is 0 at'
                ' zero weights (use method="perceptron"), and the 0-1 loss has no gradient (use method="zero-one");'
                ' give "squared", "logistic", "logistic_bits" or "hinge"'
            )

    def learn(self, rows: BinaryRows, start: Hyperplane | None, rng: Any) -> RiskFit:
        """Return the hyperplane of least regularised risk, a convex objective: the start does not matter."""
        rows.check_both("a risk is minimised")
        rows.check_unweighted("the mean loss")
        form, price = ("l1", self.penalty.absolute) if self.penalty.absolute else ("l2", self.penalty.squared)
        places, signs, chosen, is_done = rows.places, rows.signs, LOSSES[self.loss], True
        if self.loss == "hinge" and form == "l2":
            limits = SequentialMinimalOptimization(self.tolerance, self.max_steps)
            found = limits.solve(places, rows.is_second, 1 / (len(places) * price), LinearKernel())
            weights, bias, is_done = found.signed @ places, found.bias, found.violation <= self.tolerance
        elif self.loss == "hinge":
            weights, bias = minimize_hinge_lasso(places, signs, price)
        else:
            weights, bias, is_done = descend(places, signs, chosen, form, price, self.tolerance, self.max_steps)
        risk = float(chosen.value(signs * (places @ weights + bias)).mean())
        size = float(np.abs(weights).sum() if form == "l1" else 0.5 * weights @ weights)
        model = Hyperplane(weights, bias, rows.classes)
        reason = "the conditions of optimality hold" if is_done else f"stopped after {self.max_steps:,} steps"
        trace = Trace((risk + price * size,), is_done, reason)
        error = rows.error_of(model.activation(places))
        return RiskFit(model, trace, error, risk=risk, objective=risk + price * size)


def descend(
    points: np.ndarray, signs: np.ndarray, loss: MarginLoss, penalty: str, strength: float, least: float, most: int
) -> tuple[np.ndarray, float, bool]:
    """Accelerated proximal gradient steps on centered points, which restart when they turn back."""
    center = points.mean(axis=0)
    features = np.column_stack([np.ones(len(points)), points - center])
    rate = len(points) / (float(loss.curvature or 1.0) * float(np.linalg.norm(features, 2)) ** 2)
    current = ahead = np.zeros(features.shape[1])
    momentum, change = 1.0, np.inf
    for _ in range(most):
        slope = features.T @ (signs * loss.derivative(signs * (features @ ahead))) / len(points)
        moved = shrink(ahead - rate * slope, rate * strength, penalty)
        change = float(np.abs(moved - ahead).max()) / rate
        if change <= least:
            current = moved
            break
        turns_back = (ahead - moved) @ (moved - current) > 0
        following = 1.0 if turns_back else 0.5 * (1 + math.sqrt(1 + 4 * momentum**2))
        ahead = moved + (0.0 if turns_back else (momentum - 1) / following) * (moved - current)
        current, momentum = moved, following
    else:
        warn_user(
            f"the risk is not yet at its minimum: a gradient of {change:.3g} is left; give more max_steps, or scale"
            " the columns",
            NotConvergedWarning,
        )
    return current[1:], float(current[0] - current[1:] @ center), change <= least


def shrink(values: np.ndarray, amount: float, penalty: str) -> np.ndarray:
    """The proximal step of the penalty; the first entry, the bias, is free."""
    moved = values / (1 + amount) if penalty == "l2" else np.sign(values) * np.maximum(np.abs(values) - amount, 0.0)
    moved[0] = values[0]
    return np.asarray(moved)


def minimize_hinge_lasso(points: np.ndarray, signs: np.ndarray, strength: float) -> tuple[np.ndarray, float]:
    """The linear program over w = w⁺ - w⁻, b and slacks: the least mean slack + λ Σ (w⁺ + w⁻)."""
    from scipy.optimize import linprog

    number, size = points.shape
    signed = signs[:, None] * points
    costs = np.concatenate([np.full(2 * size, strength), [0.0], np.full(number, 1.0 / number)])
    limits = -np.hstack([signed, -signed, signs[:, None], np.eye(number)])
    bounds = [(0, None)] * (2 * size) + [(None, None)] + [(0, None)] * number
    found = linprog(costs, limits, -np.ones(number), bounds=bounds)
    return found.x[:size] - found.x[size : 2 * size], float(found.x[2 * size])


class MarginLoss(NamedTuple):
    """A loss, its (sub)derivative, and a bound on its second derivative: None where it has none."""

    value: Callable[[np.ndarray], np.ndarray]
    derivative: Callable[[np.ndarray], np.ndarray]
    curvature: float | None


LOSSES = {
    "zero_one": MarginLoss(lambda m: (m <= 0) * 1.0, np.zeros_like, None),
    "squared": MarginLoss(lambda m: (1 - m) ** 2, lambda m: 2 * (m - 1), 2.0),
    "perceptron": MarginLoss(lambda m: np.maximum(0, -m), lambda m: (m <= 0) * -1.0, None),
    "hinge": MarginLoss(lambda m: np.maximum(0, 1 - m), lambda m: (m < 1) * -1.0, None),
    "logistic": MarginLoss(lambda m: np.logaddexp(0, -m), lambda m: -sigmoid(-m), 0.25),
    "logistic_bits": MarginLoss(
        lambda m: np.logaddexp(0, -m) / math.log(2), lambda m: -sigmoid(-m) / math.log(2), 0.25 / math.log(2)
    ),
}


def margin_loss(margins: Any, loss: str) -> np.ndarray:
    """The loss of functional margins m = t (w·x + b).

    Parameters
    ----------
    margins
        Numbers.
    loss
        "zero_one" (1 for m ≤ 0), "squared" (1 - m)², "perceptron" max(0, -m), "hinge" max(0, 1 - m), "logistic"
        ln(1 + e⁻ᵐ), or "logistic_bits", which divides that by ln 2. The squared loss, the hinge and "logistic_bits" are
        nowhere below the 0-1 loss; the perceptron's is.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> margin_loss([-1.0, 0.0, 0.5, 2.0], "hinge").tolist()
    [2.0, 1.0, 0.5, 0.0]
    """
    return np.asarray(LOSSES[check_loss(loss)].value(check_array(margins, "margins")))


def margin_loss_derivative(margins: Any, loss: str) -> np.ndarray:
    """The derivative of `margin_loss` by the margin; at a kink, one of the subderivatives.

    Parameters
    ----------
    margins, loss
        As in `margin_loss`; the 0-1 loss has the derivative 0, which says nothing.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> margin_loss_derivative([-1.0, 0.5, 2.0], "hinge").tolist()
    [-1.0, -1.0, -0.0]
    """
    return np.asarray(LOSSES[check_loss(loss)].derivative(check_array(margins, "margins")))


def check_loss(loss: Any) -> str:
    return str(check_choice(loss, LOSSES, "loss"))


@dataclass(frozen=True)
class LeastSquares(Options):
    """The hyperplane of least Σ (t - w·x - b)² + λ‖(b, w)‖², with t = 1 for the second class and -1 for the first.

    Without a penalty its weights have the direction of Fisher's discriminant. Points far on the right side of the
    boundary pull it too: the loss grows again beyond a margin of 1. One singular value decomposition solves the primal
    equations, (XᵀX + λI) w = Xᵀt, or the dual ones, whichever are fewer; where features depend on each other, the
    weights are those of least norm. Both classes must occur.

    Parameters
    ----------
    penalty
        `jt.L2(λ)`, or the number λ, of the sum over points and not of their mean; None for none.
    penalize_constant
        Whether b is in the penalty; scikit-learn's `RidgeClassifier` leaves it out.

    Examples
    --------
    >>> import juncture as jt
    >>> boundary = jt.fit(jt.supervised.Hyperplane, [-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1], method=LeastSquares()).model
    >>> boundary.weights.round(6).tolist(), round(boundary.bias, 6)
    ([0.6], 0.0)
    """

    penalty: Any = None
    penalize_constant: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", check_penalty(self.penalty))
        if self.penalty is not None and self.penalty.absolute:
            raise Unsupported(
                'least squares has a closed form under jt.L2; jt.L1 is for method="risk", with loss="squared"'
            )
        check_flag(self.penalize_constant, "penalize_constant")

    def learn(self, rows: BinaryRows, start: Hyperplane | None, rng: Any) -> DecisionFit:
        """The hyperplane, which does not depend on a start."""
        rows.check_both("a boundary lies")
        price = 0.0 if self.penalty is None else self.penalty.squared
        path = ridge_path(
            rows.places, rows.signs, [price], weights=rows.weights, penalize_constant=self.penalize_constant
        )
        bias, *others = path.coefficients[0]
        model = Hyperplane(others, float(bias), rows.classes)
        activations = model.activation(rows.places)
        own = np.append(model.weights, model.bias if self.penalize_constant else 0.0)
        cost = float(rows.heavy @ (rows.signs - activations) ** 2 + price * own @ own)
        return DecisionFit(model, Trace((cost,), True, "solved in one step"), rows.error_of(activations))
