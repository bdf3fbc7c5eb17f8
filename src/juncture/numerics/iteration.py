"""`iterate`: the loop of every iterative algorithm, and its `Trace`.

An `Iteration` improves an objective step by step, an objective that must not fall unless the caller says so. A
`FixedPoint` has no objective: it ends when a step changes its state by less than the tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar, runtime_checkable

from juncture.base.checks import check_count, check_number, shown
from juncture.base.shown import Shown
from juncture.base.values import few, number_of
from juncture.errors import InvalidData, ObjectiveDecreased

State = TypeVar("State")
ProgressCallback = Callable[[int, float], None]

ROUNDING = 1e-9  # a decrease that is smaller, relative to the objective, is rounding


class Iteration(Protocol[State]):
    """An algorithm: the first state, one step, and the objective that a step improves."""

    def init(self) -> State: ...
    def step(self, state: State) -> State: ...
    def objective(self, state: State) -> float: ...


@runtime_checkable
class FixedPoint(Protocol[State]):
    """An algorithm without an objective: the first state, one step, and how far a step moved the state."""

    def init(self) -> State: ...
    def step(self, state: State) -> State: ...
    def change(self, before: State, after: State) -> float: ...


@dataclass(frozen=True)
class Trace(Shown):
    """The course of an iterative algorithm.

    Attributes
    ----------
    values
        The objective at the start and after each step; for a `FixedPoint`, infinity and then the change of each step.
    converged
        Whether the algorithm converged.
    reason
        Why the algorithm stopped.
    models
        What was kept at the start and after each step, one for each value, such as models; None where nothing was.
    """

    values: tuple[float, ...]
    converged: bool
    reason: str
    models: tuple[Any, ...] | None = None

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
    algorithm: Iteration[State] | FixedPoint[State],
    *,
    tolerance: float = 1e-8,
    max_steps: int = 1000,
    progress: ProgressCallback | None = None,
    is_monotone: bool = True,
    patience: int | None = None,
    keep: Callable[[State], Any] | None = None,
) -> tuple[State, Trace]:
    """Step until the algorithm converges, and return the last state with the trace.

    Ctrl-C ends the loop with the last complete step, which the trace records.

    Parameters
    ----------
    algorithm
        An `Iteration`, which converges when a step moves its objective by less than `tolerance` relative to its rise
        since the start, or to 1: in other units of the data a log-likelihood has another size, but rises as much;
        or a `FixedPoint`, which converges when the change of a step is less than `tolerance`.
    tolerance, max_steps
        When to end.
    progress
        A function that is called after each step, with the number of the step and the objective or the change.
    is_monotone
        Whether an objective that falls, beyond rounding, is an error.
    patience
        For an objective that is an estimate, which falls and rises by chance: the algorithm also converges when the
        objective has not risen above all earlier ones in so many steps.
    keep
        What the trace keeps of the first state and of that after each step.
    """
    measure = (
        ChangeMeasure(algorithm) if isinstance(algorithm, FixedPoint) else ObjectiveMeasure(algorithm, is_monotone)
    )
    state = algorithm.init()
    values = [measure.first(state)]
    kept = None if keep is None else [keep(state)]

    def ended(converged: bool, reason: str) -> Trace:
        return Trace(tuple(values), converged, reason, None if kept is None else tuple(kept[: len(values)]))

    try:
        while len(values) <= max_steps:
            moved = algorithm.step(state)
            values.append(measure.next(state, moved, values))
            state = moved
            if kept is not None and keep is not None:
                kept.append(keep(state))
            if progress is not None:
                progress(len(values) - 1, values[-1])
            if measure.is_small(values, tolerance):
                return state, ended(True, measure.reason.format(tolerance))
            if patience is not None and has_stalled(values, patience):
                return state, ended(True, f"the objective has not risen in {patience} steps")
    except KeyboardInterrupt:
        return state, ended(False, f"{INTERRUPTED} {len(values) - 1}")
    return state, ended(False, f"stopped after {number_of(max_steps, 'step')} without converging")


@dataclass(frozen=True)
class ObjectiveMeasure:
    """Progress by the objective of an `Iteration`."""

    algorithm: Any
    is_monotone: bool
    reason: ClassVar[str] = "the gain fell below {:g} of the objective's rise"

    def first(self, state: Any) -> float:
        return float(self.algorithm.objective(state))

    def next(self, before: Any, after: Any, values: list[float]) -> float:
        value = float(self.algorithm.objective(after))
        if self.is_monotone or math.isnan(value):
            check_no_decrease(values[-1], value, len(values))
        return value

    def is_small(self, values: list[float], tolerance: float) -> bool:
        gain, rise = values[-1] - values[-2], values[-1] - values[0]
        size = abs(rise) if math.isfinite(rise) else abs(values[-1])
        return (gain if self.is_monotone else abs(gain)) <= tolerance * max(1.0, size)


@dataclass(frozen=True)
class ChangeMeasure:
    """Progress by the changes of a `FixedPoint`."""

    algorithm: Any
    reason: ClassVar[str] = "the change fell below {:g}"

    def first(self, state: Any) -> float:
        return math.inf

    def next(self, before: Any, after: Any, values: list[float]) -> float:
        return float(self.algorithm.change(before, after))

    def is_small(self, values: list[float], tolerance: float) -> bool:
        return values[-1] <= tolerance


def has_stalled(values: list[float], patience: int) -> bool:
    """Whether none of the last values is above all that came before them."""
    return len(values) > patience and max(values[-patience:]) <= max(values[:-patience])


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
