"""Losses of a margin m = t a: the 0-1 loss, and the convex losses that stand for it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_choice
from juncture.numerics.stable import sigmoid


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
