"""Regularised empirical risk: the least (1/N) Σ loss(t (w·x + b)) + λ R(w), with R = ‖w‖₁ or ½‖w‖²; and its losses.

The loss of a margin m = t (w·x + b) is the 0-1 loss, or a convex loss that stands for it. Smooth losses go by
accelerated proximal gradient steps, the hinge by the dual of the support vector machine (½‖w‖²) or a linear program
(‖w‖₁); the bias is not penalised. Least squares and ridge regression on the targets ±1 have a closed form:
`fit_least_squares`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_choice, check_count, check_flag, check_number
from juncture.base.values import number_of, read_only
from juncture.errors import InvalidData, NotConvergedWarning, Unsupported, warn_user
from juncture.numerics.stable import sigmoid
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane, LinearDiscriminant, check_labels, read_points
from juncture.supervised.linear_classifiers.maximum_margin import fit_maximum_margin
from juncture.supervised.regression.linear import ridge_path

PENALTIES = ("l1", "l2")


class RiskFit(LinearDiscriminant):
    """The weights of least regularised risk.

    Attributes
    ----------
    weights
        (coordinate,); all may be 0 under a strong penalty.
    bias
        The weight of the constant.
    risk
        (1/N) Σ loss.
    objective
        The risk and the penalty.
    """

    risk: float
    objective: float

    def __init__(self, weights: Any, bias: float, risk: float, objective: float) -> None:
        self._set(
            weights=read_only(weights, np.float64), bias=float(bias), risk=float(risk), objective=float(objective)
        )

    @property
    def hyperplane(self) -> Hyperplane:
        """The boundary; weights that are all 0 have none."""
        return Hyperplane(self.weights, self.bias)._named(self.feature_names)

    def __repr__(self) -> str:
        risks = f"risk {self.risk:.6g}, objective {self.objective:.6g}"
        return f"RiskFit({number_of(len(self.weights), 'weight')}, {risks})"


def minimize_risk(
    points: Any,
    labels: Any,
    loss: str = "logistic",
    *,
    penalty: str = "l2",
    strength: float = 1e-3,
    tolerance: float = 1e-9,
    max_steps: int = 100_000,
) -> RiskFit:
    """Minimise (1/N) Σ loss(t (w·x + b)) + λ ½‖w‖², or + λ‖w‖₁.

    Parameters
    ----------
    points
        (point, coordinate), or (point,) on a line.
    labels
        True (or 1) for points of the second class, False (or 0) for those of the first; both must occur.
    loss
        "squared", "logistic", "logistic_bits" or "hinge", as in `margin_loss`. The hinge with "l2" is the support
        vector machine with the cost 1 / (N λ).
    penalty
        "l2" is ½‖w‖²; "l1" is ‖w‖₁, which makes some weights 0.
    strength
        λ, positive.
    tolerance, max_steps
        Steps end once the conditions of optimality hold within the tolerance, or after so many.

    Returns
    -------
    RiskFit

    Examples
    --------
    >>> points, labels = [[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [4.0, 0.0]], [0, 0, 1, 1]
    >>> found = minimize_risk(points, labels, "hinge", penalty="l1", strength=0.1)
    >>> found.weights.round(6).tolist(), round(found.bias, 6)  # the second coordinate is left out
    ([1.0, 0.0], -2.0)
    """
    places, names = read_points(points)
    is_second = check_labels(labels, len(places))
    if is_second.all() or not is_second.any():
        raise InvalidData("a risk is minimised between two classes: give points of both, labelled 0 and 1")
    form, price = check_choice(penalty, PENALTIES, "penalty"), check_number(strength, "strength", above=0, finite=True)
    least, most = check_number(tolerance, "tolerance", above=0), check_count(max_steps, "max_steps", least=1)
    chosen = LOSSES[check_loss(loss)]
    signs = np.where(is_second, 1.0, -1.0)
    if loss == "hinge" and form == "l2":
        machine = fit_maximum_margin(places, is_second, cost=1 / (len(places) * price), tolerance=least, max_steps=most)
        weights, bias = (machine.signs * machine.multipliers) @ places, machine.bias
    elif loss == "hinge":
        weights, bias = minimize_hinge_lasso(places, signs, price)
    elif chosen.curvature is None:
        raise Unsupported(
            f'the loss "{loss}" has no least penalised risk worth learning: that of the perceptron is 0 at zero weights'
            ' (use fit_perceptron), and the 0-1 loss has no gradient (use minimize_zero_one); give "squared",'
            ' "logistic", "logistic_bits" or "hinge"'
        )
    else:
        weights, bias = descend(places, signs, chosen, form, price, least, most)
    risk = float(chosen.value(signs * (places @ weights + bias)).mean())
    size = np.abs(weights).sum() if form == "l1" else 0.5 * weights @ weights
    return RiskFit(weights, bias, risk, risk + price * float(size))._named(names)


def descend(
    points: np.ndarray, signs: np.ndarray, loss: MarginLoss, penalty: str, strength: float, least: float, most: int
) -> tuple[np.ndarray, float]:
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
    return current[1:], float(current[0] - current[1:] @ center)


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


def fit_least_squares(
    points: Any, labels: Any, strength: float = 0.0, *, penalize_bias: bool = True, weights: Any = None
) -> Hyperplane:
    """The hyperplane of least Σ (t - w·x - b)² + λ‖(b, w)‖², with t = 1 for the second class and -1 for the first.

    Without a penalty its weights have the direction of Fisher's discriminant. Points far on the right side of the
    boundary pull it too: the loss grows again beyond a margin of 1. One singular value decomposition solves the primal
    equations, (XᵀX + λI) w = Xᵀt, or the dual ones, whichever are fewer; where features depend on each other, the
    weights are those of least norm.

    Parameters
    ----------
    points
        (point, coordinate), or (point,) on a line; apply a basis first for other features.
    labels
        True (or 1) for points of the second class, False (or 0) for those of the first; both must occur.
    strength
        λ, at least 0, of the sum over points and not of their mean.
    penalize_bias
        Whether b is in the penalty; scikit-learn's `RidgeClassifier` leaves it out.
    weights
        The weight of each point.

    Returns
    -------
    Hyperplane

    Examples
    --------
    >>> boundary = fit_least_squares([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])
    >>> boundary.weights.round(6).tolist(), round(boundary.bias, 6)
    ([0.6], 0.0)
    """
    places, names = read_points(points)
    is_second = check_labels(labels, len(places))
    price = check_number(strength, "strength", least=0, finite=True)
    with_bias = check_flag(penalize_bias, "penalize_bias")
    if is_second.all() or not is_second.any():
        raise InvalidData("a boundary lies between two classes: give points of both, labelled 0 and 1")
    signs = np.where(is_second, 1.0, -1.0)
    path = ridge_path(places, signs, [price], weights=weights, penalize_constant=with_bias)
    bias, *others = path.coefficients[0]
    return Hyperplane(others, float(bias))._named(names)
