"""Newton's method with halved steps: the minimum of a smooth function from its gradient and Hessian."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.errors import InvalidData

MOST_HALVINGS = 60
RANK_TOLERANCE = 1e-13  # of singular values, in units in which the Hessian has a unit diagonal
WELL_CONDITIONED = 1e-6  # the least eigenvalue over the largest at which a Hessian keeps ten digits of its inverse


class Expansion(NamedTuple):
    """A function at one point, to second order."""

    value: float
    gradient: np.ndarray
    hessian: np.ndarray


Expand = Callable[[np.ndarray], Expansion]


class Minimum(NamedTuple):
    """Where the method ended, the function there, whether it ended before it ran out of steps, and its course."""

    point: np.ndarray
    here: Expansion
    converged: bool
    values: tuple[float, ...] = ()  # of the function: at the start, and after each step

    @property
    def num_steps(self) -> int:
        return len(self.values) - 1


def newton_step(here: Expansion) -> np.ndarray:
    """-H⁻¹ g, in units in which the Hessian has a unit diagonal; of a singular Hessian, the shortest such step."""
    if not np.isfinite(here.hessian).all():
        raise InvalidData("the second derivatives are not finite: rescale the features or parameters")
    scale = np.sqrt(np.maximum(np.diag(here.hessian), 0.0))
    unit = np.where(scale > 0, scale, 1.0)
    scaled = here.hessian / np.outer(unit, unit)
    return -np.linalg.lstsq(scaled, here.gradient / unit, rcond=RANK_TOLERANCE)[0] / unit


def shortest_step(here: Expansion) -> np.ndarray:
    """-H⁻¹ g in the units of the parameters: of a singular Hessian, the shortest such step."""
    return np.asarray(-np.linalg.lstsq(here.hessian, here.gradient, rcond=None)[0])


def is_well_conditioned(hessian: np.ndarray) -> bool:
    """Whether a Hessian keeps enough digits to be solved or inverted."""
    values = np.linalg.eigvalsh(hessian)
    return bool(values.size == 0 or values[0] > WELL_CONDITIONED * values[-1])


def inverse_root(hessian: np.ndarray) -> np.ndarray:
    """(parameter, direction): B with BBᵀ = H⁻¹, on the directions in which the function is curved."""
    values, vectors = np.linalg.eigh(hessian)
    keep = values > RANK_TOLERANCE * values.max(initial=0.0)
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]))


def least_curvature(hessian: np.ndarray, before: np.ndarray) -> float:
    """The curvature of any direction in units of what it was before, least over largest; 0 where one has lost it."""
    root = inverse_root(before)
    if not root.size:
        return 1.0
    values = np.linalg.eigvalsh(root.T @ hessian @ root)
    return float(max(values[0], 0.0) / values[-1]) if values[-1] > 0 else 0.0


def is_short(step: np.ndarray, point: np.ndarray, tolerance: float) -> bool:
    """Whether the largest entry of the step is at most tolerance · (1 + the largest entry of the point)."""
    return bool(np.abs(step).max(initial=0.0) <= tolerance * (1 + np.abs(point).max(initial=0.0)))


@dataclass(frozen=True)
class DampedNewton:
    """Newton steps, each halved until the function falls.

    Parameters
    ----------
    step_of
        The step to try. One for a function that is not convex must point downhill.
    tolerance, relative_tolerance
        The method ends when the Newton decrement -g·step is at most tolerance + relative_tolerance · |value|. With a
        relative tolerance the last step is still taken: it squares the remaining error.
    step_tolerance
        The method also ends after a step whose largest entry is at most step_tolerance · (1 + that of the point).
    sufficient
        The share of the decrement that a step must gain (Armijo's rule).
    rounding, scale
        A rise of at most rounding · max(scale, |value|) counts as rounding.
    lowest
        The method also ends when the value falls below this: the function is unbounded.
    max_steps
        The largest number of steps.

    Examples
    --------
    >>> found = DampedNewton().minimize(lambda x: Expansion(float(x @ x), 2 * x, 2 * np.eye(2)), np.ones(2))
    >>> found.point, found.converged
    (array([0., 0.]), True)
    """

    step_of: Callable[[Expansion], np.ndarray] = newton_step
    tolerance: float = 1e-26
    relative_tolerance: float = 0.0
    step_tolerance: float = 0.0
    sufficient: float = 1e-4
    rounding: float = 1e-15
    scale: float = 0.0
    lowest: float = -np.inf
    max_steps: int = 200

    def minimize(self, expand: Expand, start: np.ndarray, first: Expansion | None = None) -> Minimum:
        """The minimum downhill of `start`; `expand` may give the value inf outside the domain of the function.

        `first` is the expansion at the start, where that is known already.
        """
        point, here = start, expand(start) if first is None else first
        values = [here.value]
        for _ in range(self.max_steps):
            step = self.step_of(here) if start.size else start
            decrement = -float(here.gradient @ step)
            is_settled = decrement <= self.tolerance + self.relative_tolerance * abs(here.value)
            if here.value < self.lowest or (is_settled and not self.relative_tolerance):
                return Minimum(point, here, True, tuple(values))
            size, there = self._halve(expand, point, step, here)
            if there is None:  # nothing but rounding is left to gain
                return Minimum(point, here, True, tuple(values))
            point, here = point + size * step, there
            values.append(here.value)
            if is_settled or is_short(step, point, self.step_tolerance):
                return Minimum(point, here, True, tuple(values))
        return Minimum(point, here, False, tuple(values))

    def _halve(
        self, expand: Expand, point: np.ndarray, step: np.ndarray, here: Expansion
    ) -> tuple[float, Expansion | None]:
        """The first of the sizes 1, ½, ¼, … at which the function falls enough, and the expansion there."""
        gain = -self.sufficient * float(here.gradient @ step)
        rounding = self.rounding * max(self.scale, abs(here.value))
        for halving in range(MOST_HALVINGS):
            size = 0.5**halving
            there = expand(point + size * step)
            if there.value <= here.value - size * gain + rounding:
                return size, there
        return 0.0, None
