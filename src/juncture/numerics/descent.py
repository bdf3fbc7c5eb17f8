"""Descent methods with their traces: gradient, Newton and stochastic gradient, and rules for the length of a step.

x ← x + ε d, with ⟨d, ∇f(x)⟩ < 0. With d = -H⁻¹∇f and ε = 1 this is Newton's method, which may diverge; with Armijo's
rule it does not. `newton.py` has the damped method that the library itself uses. The stochastic descent takes the
gradient of one row at a time.

The length of a step is constant, decreasing, Armijo's, or the best along the direction. `TrustRegion` takes the best
step of a quadratic model within a radius in place of a direction and a length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from juncture.base.checks import check_array, check_count, check_function, check_number
from juncture.base.options import as_generator
from juncture.base.values import Value, number_of, read_only
from juncture.errors import InvalidData
from juncture.numerics.iteration import Trace, check_stopping_rule

MOST_SHRINKS = 1000
MACHINE = 4 * float(np.finfo(float).eps)
Along = Callable[[float], float]  # the function at a step of this length


class Descent(Value):
    """The course of a descent.

    Attributes
    ----------
    points
        (step, coordinate): the start, and the point after each step.
    values
        (step,): the function there; empty where a stochastic descent was not asked for it.
    lengths
        (step - 1,): the length ε of each step, as a share of the direction; of a trust region the distance.
    trace
        The values with how the descent ended.
    """

    points: np.ndarray
    lengths: np.ndarray
    trace: Trace

    def __init__(self, points: Any, lengths: Any, trace: Trace) -> None:
        self._set(points=read_only(points, np.float64), lengths=read_only(lengths, np.float64), trace=trace)

    @property
    def point(self) -> np.ndarray:
        """Where the descent ended."""
        return np.asarray(self.points[-1])

    @property
    def values(self) -> np.ndarray:
        return np.array(self.trace.values)

    @property
    def converged(self) -> bool:
        return self.trace.converged

    def __repr__(self) -> str:
        return f"Descent({number_of(len(self.points) - 1, 'step')}; {self.trace.reason})"


def descend(  # noqa: PLR0913 (one function, many options)
    function: Callable[[np.ndarray], Any],
    gradient: Callable[[np.ndarray], Any],
    start: Any,
    *,
    hessian: Callable[[np.ndarray], Any] | None = None,
    direction: Callable[[np.ndarray], Any] | None = None,
    step: StepRule | TrustRegion | None = None,
    regularization: float = 0.0,
    tolerance: float = 1e-8,
    max_steps: int = 1000,
) -> Descent:
    """Minimise a function by steps downhill, and keep them all.

    Parameters
    ----------
    function, gradient
        f and ∇f of a vector.
    start
        The first point: a vector, or a number.
    hessian
        The second derivatives; with them the direction is Newton's, -(H + 2λI)⁻¹ ∇f.
    direction
        A function that gives the direction at a point, which must point downhill; by default that of Newton, or -∇f.
    step
        The rule for the length: `ConstantStep`, `DecreasingStep`, `Armijo` (the default) or `ExactLineSearch`. Newton's
        method as in books is `ConstantStep(1.0)`. With a Hessian also `TrustRegion`, for functions that are not convex.
    regularization
        λ, for Hessians that are singular.
    tolerance
        The descent has converged where no entry of the gradient is larger.
    max_steps
        The largest number of steps.

    Returns
    -------
    Descent
        A descent that leaves the numbers ends there, and says so.

    Examples
    --------
    >>> from juncture.supervised import ConstantStep
    >>> bowl = descend(lambda x: x @ x, lambda x: 2 * x, [3.0, 4.0], step=ConstantStep(0.25))
    >>> bowl.points[:3].tolist(), bowl.converged
    ([[3.0, 4.0], [1.5, 2.0], [0.75, 1.0]], True)
    """
    check_stopping_rule(tolerance, max_steps)
    rule = Armijo() if step is None else step
    if isinstance(rule, TrustRegion) and (hessian is None or direction is not None):
        raise InvalidData("a trust region needs hessian=, the second derivatives, and takes no direction")
    if not isinstance(rule, StepRule | TrustRegion):
        raise InvalidData("step must be a rule such as Armijo() or ConstantStep(0.1)")
    strength = check_number(regularization, "regularization", least=0, finite=True)
    downhill = Downhill(
        check_function(function, "function"),
        check_function(gradient, "gradient"),
        None if hessian is None else check_function(hessian, "hessian"),
        None if direction is None else check_function(direction, "direction"),
        strength,
    )
    with np.errstate(over="ignore", invalid="ignore"):  # a descent that diverges ends in a sentence
        if isinstance(rule, TrustRegion):
            return run_trust_region(downhill, as_point(start), rule, tolerance, max_steps)
        return run_descent(downhill, as_point(start), rule, tolerance, max_steps)


@dataclass(frozen=True)
class Downhill:
    """The function, its derivatives, and the direction that they give."""

    function: Callable[[np.ndarray], Any]
    slope_of: Callable[[np.ndarray], Any]
    hessian: Callable[[np.ndarray], Any] | None
    own_direction: Callable[[np.ndarray], Any] | None
    regularization: float

    def value(self, point: np.ndarray) -> float:
        return value_at(self.function, point)

    def gradient(self, point: np.ndarray) -> np.ndarray:
        found = check_array(self.slope_of(point), "what the gradient gives").reshape(-1)
        if found.shape != point.shape:
            raise InvalidData(f"the gradient has {len(found)} entries, and the point {len(point)}")
        return found

    def along(self, point: np.ndarray, way: np.ndarray) -> Along:
        """The function at a step of a length."""
        return lambda length: self.value(point + length * way)

    def direction(self, point: np.ndarray, gradient: np.ndarray) -> np.ndarray | None:
        """The direction; None where the Hessian is singular."""
        if self.own_direction is not None:
            found = check_array(self.own_direction(point), "what the direction gives").reshape(-1)
            if found.shape != point.shape or not found @ gradient < 0:
                raise InvalidData("the direction must point downhill: its product with the gradient must be negative")
            return found
        if self.hessian is None:
            return -gradient
        try:
            return -np.linalg.solve(self.bend(point), gradient)
        except np.linalg.LinAlgError:
            return None

    def bend(self, point: np.ndarray) -> np.ndarray:
        """H + 2λI."""
        hessian: Any = self.hessian
        matrix = check_array(hessian(point), "what the Hessian gives").reshape(len(point), len(point))
        return np.asarray(matrix + 2 * self.regularization * np.eye(len(point)))


def value_at(function: Callable[[np.ndarray], Any], point: np.ndarray) -> float:
    """A function at a point, which must be one number."""
    found = check_array(function(point), "what the function gives")
    if found.size != 1:
        raise InvalidData(f"the function must give one number; it gave an array of the shape {found.shape}")
    return float(found.reshape(()))


def run_descent(downhill: Downhill, start: np.ndarray, rule: StepRule, tolerance: float, max_steps: int) -> Descent:
    """The loop: gradient, direction, length, step."""
    points, values, lengths = [start], [downhill.value(start)], list[float]()
    if not np.isfinite(values[0]):
        raise InvalidData(f"the function is {values[0]:g} at the start, which must be a point with a finite value")
    reason, converged = f"stopped after {number_of(max_steps, 'step')} without converging", False
    for k in range(1, max_steps + 2):
        here = points[-1]
        gradient = downhill.gradient(here)
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            converged, reason = True, f"no entry of the gradient is above {tolerance:g}"
            break
        if k > max_steps:
            break
        way = downhill.direction(here, gradient)
        if way is None:
            reason = f"the Hessian at step {k} is singular: give regularization, a positive number"
            break
        size = rule.length(downhill.along(here, way), float(gradient @ way), k)
        there = here + size * way
        value = downhill.value(there) if np.isfinite(there).all() else np.nan
        if not np.isfinite(value):
            reason = f"step {k} left the numbers: the descent diverges, so take shorter steps"
            break
        if not size > 0:
            reason = f"no length of step {k} gains anything beyond rounding"
            break
        points.append(there)
        values.append(value)
        lengths.append(size)
    return Descent(points, lengths, Trace(tuple(values), converged, reason))


def run_trust_region(
    downhill: Downhill, start: np.ndarray, rule: TrustRegion, tolerance: float, max_steps: int
) -> Descent:
    """The loop of a trust region: the best step within the radius is taken if it gains enough of what it promised."""
    points, values, lengths, radius = [start], [downhill.value(start)], list[float](), rule.radius
    if not np.isfinite(values[0]):
        raise InvalidData(f"the function is {values[0]:g} at the start, which must be a point with a finite value")
    reason, converged = f"stopped after {number_of(max_steps, 'step')} without converging", False
    for k in range(1, max_steps + 2):
        here, value = points[-1], values[-1]
        gradient = downhill.gradient(here)
        if np.abs(gradient).max(initial=0.0) <= tolerance:
            converged, reason = True, f"no entry of the gradient is above {tolerance:g}"
            break
        if k > max_steps:
            break
        matrix = downhill.bend(here)
        if not (np.isfinite(matrix).all() and np.isfinite(gradient).all()):
            reason = f"the derivatives at step {k} are not finite"
            break
        there, gained, radius = step_of_enough_gain(downhill, here, value, gradient, matrix, radius, rule.sufficient)
        if (there == here).all():
            reason = f"no radius of step {k} gains anything beyond rounding"
            break
        points.append(there)
        values.append(value - gained)
        lengths.append(float(np.linalg.norm(there - here)))
    return Descent(points, lengths, Trace(tuple(values), converged, reason))


def step_of_enough_gain(
    downhill: Downhill,
    here: np.ndarray,
    value: float,
    gradient: np.ndarray,
    hessian: np.ndarray,
    radius: float,
    sufficient: float,
) -> tuple[np.ndarray, float, float]:
    """The point after a step that gains enough, its gain, and the next radius; the same point where none gains."""
    slack = MACHINE * abs(value)  # what rounding does to a difference of values
    while True:
        way = step_within(gradient, hessian, radius)
        there, length = here + way, float(np.linalg.norm(way))
        if (there == here).all():
            return here, 0.0, radius
        promised = -float(gradient @ way + way @ hessian @ way / 2)
        gained = value - downhill.value(there)
        if not gained + slack >= 0.25 * promised:
            radius = 0.25 * length
        elif gained >= 0.75 * promised and length > 0.99 * radius:
            radius = 2 * radius
        if gained + slack >= sufficient * promised:
            return there, gained, radius


def step_within(gradient: np.ndarray, hessian: np.ndarray, radius: float) -> np.ndarray:
    """The p of least ⟨g, p⟩ + ½ pᵀHp with |p| ≤ radius: -(H + μI)⁻¹ g, with the least μ ≥ 0 that allows it.

    Moré and Sorensen (1983). Where g has no part along the directions of least curvature, which is negative, and the
    step for their μ is shorter than the radius, one of them fills it up.
    """
    from scipy.optimize import brentq

    curvatures, directions = np.linalg.eigh(hessian)
    parts = directions.T @ gradient

    def step(shift: float) -> np.ndarray:
        bent = curvatures + shift
        return -np.divide(parts, bent, out=np.zeros_like(parts), where=bent > 0)

    def excess(shift: float) -> float:
        return float(1 / radius - 1 / np.linalg.norm(step(shift)))

    least, size = float(curvatures[0]), float(np.linalg.norm(gradient))
    if least > 0 and np.linalg.norm(step(0.0)) <= radius:
        return np.asarray(directions @ step(0.0))
    low = max(0.0, -least)
    spread = MACHINE * max(np.abs(curvatures).max(), size / radius)
    if np.linalg.norm(step(low + spread)) <= radius:  # the parts along the least curvature are 0, or next to it
        inner = step(low + spread)
        inner[0] = 0.0
        inner[0] = np.sqrt(max(radius**2 - inner @ inner, 0.0)) if least < 0 else 0.0
        return np.asarray(directions @ inner)
    high = size / radius - least + spread
    shift = float(brentq(excess, low + spread, high, xtol=1e-300, rtol=4 * np.finfo(float).eps))
    return np.asarray(directions @ step(shift))


def as_point(start: Any) -> np.ndarray:
    """A vector of at least one finite number."""
    point = np.atleast_1d(check_array(start, "start"))
    if point.ndim != 1 or not point.size or not np.isfinite(point).all():
        raise InvalidData("a start is a finite number or a vector of these")
    return point


def descend_stochastic(
    gradient: Callable[[np.ndarray, int], Any],
    start: Any,
    num_rows: int,
    *,
    step: StepRule | None = None,
    max_steps: int = 1000,
    function: Callable[[np.ndarray], Any] | None = None,
    rng: Any = None,
) -> Descent:
    """Minimise a sum over rows by the gradient of one row at a time, drawn with replacement.

    Parameters
    ----------
    gradient
        The gradient of the term of one row: a function of the point and the number of the row.
    start
        The first point.
    num_rows
        How many rows there are.
    step
        `ConstantStep` or `DecreasingStep`, by default ConstantStep(0.1).
    max_steps
        The number of steps.
    function
        The whole sum, if its values along the way are wanted.
    rng
        A NumPy generator or a seed.

    Returns
    -------
    Descent

    Examples
    --------
    >>> from juncture.supervised import DecreasingStep
    >>> rows = np.array([1.0, 2.0, 6.0])
    >>> mean = descend_stochastic(lambda x, row: x - rows[row], 0.0, 3, step=DecreasingStep(), max_steps=2000, rng=0)
    >>> bool(abs(mean.point[0] - 3.0) < 0.2)
    True
    """
    check_function(gradient, "gradient")
    number, steps = check_count(num_rows, "num_rows", least=1), check_count(max_steps, "max_steps", least=1)
    rule = ConstantStep(0.1) if step is None else step
    if not isinstance(rule, ConstantStep | DecreasingStep):
        raise InvalidData("step must be ConstantStep or DecreasingStep: one row says nothing about a line search")
    drawn = as_generator(rng).integers(number, size=steps)
    points = [as_point(start)]
    for k, row in enumerate(drawn, start=1):
        with np.errstate(over="ignore", invalid="ignore"):
            slope = check_array(gradient(points[-1], int(row)), "what the gradient gives").reshape(-1)
            there = points[-1] - rule.length(float, 0.0, k) * slope
        if there.shape != points[0].shape or not np.isfinite(there).all():
            raise InvalidData(f"step {k}, of row {row}, does not lead to finite numbers: take shorter steps")
        points.append(there)
    whole = None if function is None else check_function(function, "function")
    values = () if whole is None else tuple(value_at(whole, point) for point in points)
    lengths = [rule.length(float, 0.0, k) for k in range(1, steps + 1)]
    return Descent(points, lengths, Trace(values, False, f"took {number_of(steps, 'step')}"))


@runtime_checkable
class StepRule(Protocol):
    """How long a step is: `along` is the function along the direction, `slope` its derivative at 0, k counts from 1."""

    def length(self, along: Along, slope: float, k: int) -> float: ...


@dataclass(frozen=True)
class ConstantStep:
    """Every step has the same length ε, which may be too long to converge.

    Parameters
    ----------
    size
        ε, positive.
    """

    size: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.size, "size", above=0, finite=True)

    def length(self, along: Along, slope: float, k: int) -> float:
        return self.size


@dataclass(frozen=True)
class DecreasingStep:
    """Step k has the length size / k, whose sum is infinite and whose squares have a finite sum (Robbins and Monro).

    Parameters
    ----------
    size
        The length of the first step, positive.
    """

    size: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.size, "size", above=0, finite=True)

    def length(self, along: Along, slope: float, k: int) -> float:
        return self.size / k


@dataclass(frozen=True)
class Armijo:
    """The first of the lengths first, first · shrink, … with f(x + εd) ≤ f(x) + sufficient · ε ⟨∇f, d⟩.

    Parameters
    ----------
    sufficient
        The share of the linear gain that a step must have, between 0 and 1.
    shrink
        By what a length that is too long is multiplied, between 0 and 1.
    first
        The length that is tried first.
    """

    sufficient: float = 1e-4
    shrink: float = 0.5
    first: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.sufficient, "sufficient", above=0, below=1)
        check_number(self.shrink, "shrink", above=0, below=1)
        check_number(self.first, "first", above=0, finite=True)

    def length(self, along: Along, slope: float, k: int) -> float:
        here, size = along(0.0), self.first
        for _ in range(MOST_SHRINKS):
            if along(size) <= here + self.sufficient * size * slope:
                return size
            size *= self.shrink
        return 0.0


@dataclass(frozen=True)
class ExactLineSearch:
    """The length with the smallest value along the direction, found by bracketing and Brent's method.

    Parameters
    ----------
    tolerance
        Relative, of the length.
    """

    tolerance: float = 1e-10

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", above=0, below=1)

    def length(self, along: Along, slope: float, k: int) -> float:
        from scipy.optimize import minimize_scalar

        far = 1.0
        while along(2 * far) < along(far) and far < 2.0**MOST_SHRINKS:
            far *= 2
        options = {"xatol": self.tolerance * far}
        found = minimize_scalar(along, bounds=(0.0, 2 * far), method="bounded", options=options)
        return float(found.x)


@dataclass(frozen=True)
class TrustRegion:
    """The step of least ⟨∇f, p⟩ + ½ pᵀHp within a radius, which follows how well this quadratic tells the function.

    A step is taken if it gains a share of what the quadratic promises. Where it gains less than a quarter of that, the
    radius shrinks to a quarter of the step; where it gains more than three quarters and reaches the radius, this
    doubles. H need not be positive definite: the steps lead away from saddle points and maxima.

    Parameters
    ----------
    radius
        The first radius, positive.
    sufficient
        The share of the promised gain that a step must have, between 0 and ¼.
    """

    radius: float = 1.0
    sufficient: float = 1e-4

    def __post_init__(self) -> None:
        check_number(self.radius, "radius", above=0, finite=True)
        check_number(self.sufficient, "sufficient", above=0, below=0.25)
