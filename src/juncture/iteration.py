"""`iterate`: the loop of every algorithm that improves an objective step by step, and the `Trace` of the objective."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from juncture.checks import check_count, check_number, shown
from juncture.errors import InvalidData, ObjectiveDecreased
from juncture.values import few, number_of

State = TypeVar("State")
ProgressCallback = Callable[[int, float], None]

ROUNDING = 1e-9  # a decrease that is smaller, relative to the objective, is rounding


class Iteration(Protocol[State]):
    """An algorithm: the first state, one step, and the objective that a step improves."""

    def init(self) -> State: ...
    def step(self, state: State) -> State: ...
    def objective(self, state: State) -> float: ...


@dataclass(frozen=True)
class Trace:
    """The course of an iterative algorithm.

    `values` holds the objective at the start and after each step; `converged` says whether the algorithm converged, and
    `reason` why it stopped.
    """

    values: tuple[float, ...]
    converged: bool
    reason: str

    @property
    def num_steps(self) -> int:
        return len(self.values) - 1

    def __repr__(self) -> str:
        return f"Trace(values=({few(map(repr, self.values))}), converged={self.converged!r}, reason={self.reason!r})"

    @property
    def is_interrupted(self) -> bool:
        return self.reason.startswith(INTERRUPTED)


INTERRUPTED = "interrupted after step"


def iterate(
    algorithm: Iteration[State],
    *,
    tolerance: float = 1e-8,
    max_steps: int = 1000,
    progress: ProgressCallback | None = None,
) -> tuple[State, Trace]:
    """Step until the objective, which must not fall, gains less than `tolerance` relative to its size.

    Ctrl-C ends the loop with the last complete step, which the trace records.
    """
    state = algorithm.init()
    values = [algorithm.objective(state)]
    try:
        while len(values) <= max_steps:
            moved = algorithm.step(state)
            value = algorithm.objective(moved)
            check_no_decrease(values[-1], value, len(values))
            state = moved
            values.append(value)
            if progress is not None:
                progress(len(values) - 1, value)
            if values[-1] - values[-2] <= tolerance * max(1.0, abs(values[-1])):
                return state, Trace(tuple(values), True, f"the gain fell below {tolerance:g} of the objective")
    except KeyboardInterrupt:
        return state, Trace(tuple(values), False, f"{INTERRUPTED} {len(values) - 1}")
    return state, Trace(tuple(values), False, f"stopped after {number_of(max_steps, 'step')} without converging")


def check_stopping_rule(tolerance: float, max_steps: int) -> None:
    check_number(tolerance, "tolerance", least=0)
    check_count(max_steps, "max_steps", least=1)


def has_fallen(old: float, new: float) -> bool:
    """Whether an objective is lower than it was, beyond rounding."""
    return new < old - ROUNDING * max(1.0, abs(old))


def check_no_decrease(old: float, new: float, step: int) -> None:
    """Check that the objective did not fall beyond rounding, and is a number."""
    if math.isnan(new) or has_fallen(old, new):
        raise ObjectiveDecreased(f"step {step} lowered the objective from {old:.12g} to {new:.12g}; it must not fall")


def check_progress(progress: Any) -> None:
    """Check that a progress callback is a function, or None."""
    if progress is not None and not callable(progress):
        raise InvalidData(f"progress is a function of the step and the objective; got {shown(progress)}")
