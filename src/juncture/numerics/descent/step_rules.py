"""Rules for the length of a step downhill: constant, decreasing, Armijo's, and the best along the direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from juncture.base.checks import check_number

MOST_SHRINKS = 1000
Along = Callable[[float], float]  # the function at a step of this length


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
