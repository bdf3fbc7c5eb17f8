"""`ExpectationMaximization`: EM for every kind of model, with restarts, acceleration, a guard and a trace.

Each step computes the expected statistics of all blocks of the data under the model (E-step), and estimates the model
from them (M-step). The log-likelihood, with a prior plus the log prior, never falls (Dempster, Laird and Rubin 1977).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, Literal, Protocol

from juncture.checks import check_choice, check_count, shown
from juncture.errors import ImpossibleEvidence, NotConvergedWarning, Unsupported, hint, warn_user
from juncture.iteration import (
    INTERRUPTED,
    ProgressCallback,
    Trace,
    check_stopping_rule,
    has_fallen,
    iterate,
)
from juncture.learning.em.contract import EMProblem, EMState, Model, Recoverable, Statistics, Vectorized
from juncture.learning.em.squarem import extrapolate
from juncture.options import resolve

Acceleration = Literal["squarem"] | None


@dataclass(frozen=True, eq=False)
class EMSteps(Generic[Model, Statistics]):
    """The steps of EM on a problem, from a start."""

    problem: EMProblem[Model, Statistics]
    first: Model

    def init(self) -> EMState[Model, Statistics]:
        return self.expect(self.first)

    def objective(self, state: EMState[Model, Statistics]) -> float:
        return state.objective

    def expect(self, model: Model) -> EMState[Model, Statistics]:
        """The E-step: the expected statistics of all blocks, added in their order."""
        parts = (self.problem.expect(model, block) for block in self.problem.blocks())
        expected = reduce(operator.add, parts)
        objective = expected.log_likelihood + self.problem.log_prior(model)
        return EMState(model, expected.statistics, expected.log_likelihood, objective)

    def step(self, state: EMState[Model, Statistics]) -> EMState[Model, Statistics]:
        """One M-step and one E-step; where the objective falls, the model that the problem recovers."""
        try:
            moved = self.expect(self.problem.maximize(state.statistics, state.model))
        except ImpossibleEvidence:
            recovered = self.recover(state, math.inf)
            if recovered is None:
                raise
            return recovered
        if not has_fallen(state.objective, moved.objective):
            return moved
        return self.recover(state, state.objective - moved.objective) or moved

    def recover(self, state: EMState[Model, Statistics], fall: float) -> EMState[Model, Statistics] | None:
        if not isinstance(self.problem, Recoverable):
            return None
        model = self.problem.recover(state, fall)
        if model is None:
            return None
        return state if model is state.model else self.expect(model)


@dataclass(frozen=True, eq=False)
class SquaremSteps(EMSteps[Model, Statistics]):
    """Two steps of EM, then the SQUAREM extrapolation where it raises the objective."""

    def step(self, state: EMState[Model, Statistics]) -> EMState[Model, Statistics]:
        once = super().step(state)
        twice = super().step(once)
        reached = self.extrapolate(state, once, twice)
        return reached if reached is not None and reached.objective > twice.objective else twice

    def extrapolate(self, *states: EMState[Model, Statistics]) -> EMState[Model, Statistics] | None:
        """The state at the extrapolated parameters; None if the extrapolation is short, or is no model."""
        problem: Any = self.problem
        vector = extrapolate(*(problem.to_vector(state.model) for state in states))
        model = None if vector is None else problem.from_vector(vector, states[-1])
        return None if model is None else self.expect(model)


def em_steps(
    problem: EMProblem[Model, Statistics], start: Model, acceleration: Acceleration = None
) -> EMSteps[Model, Statistics]:
    """The steps of EM from a start, accelerated if asked for; SQUAREM needs a problem with vectors."""
    if acceleration is None:
        return EMSteps(problem, start)
    if not isinstance(problem, Vectorized):
        raise Unsupported(f"EM of {problem.models} is not accelerated; leave acceleration={acceleration!r} out")
    return SquaremSteps(problem, start)


@dataclass(frozen=True)
class ExpectationMaximization:
    """Expectation maximisation, from one start or the best of several.

    Parameters
    ----------
    tolerance
        EM ends when a step gains less than `tolerance` times the size of the objective.
    max_steps
        The largest number of steps from each start.
    restarts
        The number of further starts, drawn at random; the state with the largest objective is kept.
    acceleration
        "squarem" extrapolates after every two steps, where that raises the objective.
    """

    tolerance: float = 1e-8
    max_steps: int = 1000
    restarts: int = 0
    acceleration: Acceleration = None

    def __post_init__(self) -> None:
        check_stopping_rule(self.tolerance, self.max_steps)
        check_count(self.restarts, "restarts")
        check_choice(self.acceleration, (None, "squarem"), "the acceleration of EM")

    def run(
        self, problem: EMProblem[Model, Statistics], progress: ProgressCallback | None = None
    ) -> tuple[EMState[Model, Statistics], Trace]:
        """The best state of all starts, and its trace; Ctrl-C ends with the best state so far."""
        best = self.run_from(problem.start(), problem, progress)
        for _ in range(self.restarts):
            if best[1].is_interrupted:
                break
            best = self._better(best, problem, progress)
        if not best[1].converged:
            warn_user(f"EM {best[1].reason}; the model is the best so far", NotConvergedWarning)
        return best

    def run_from(
        self, start: Model, problem: EMProblem[Model, Statistics], progress: ProgressCallback | None = None
    ) -> tuple[EMState[Model, Statistics], Trace]:
        """Run EM from one start."""
        steps = em_steps(problem, start, self.acceleration)
        return iterate(steps, tolerance=self.tolerance, max_steps=self.max_steps, progress=progress)

    def _better(
        self,
        best: tuple[EMState[Model, Statistics], Trace],
        problem: EMProblem[Model, Statistics],
        progress: ProgressCallback | None,
    ) -> tuple[EMState[Model, Statistics], Trace]:
        """The better of the best state so far and the state that EM reaches from a new random start."""
        try:
            found = self.run_from(problem.another_start(), problem, progress)
        except KeyboardInterrupt:
            found = best[0], Trace(best[1].values, False, f"{INTERRUPTED} {best[1].num_steps}")
        if found[1].is_interrupted and found[0].objective < best[0].objective:
            return best[0], Trace(best[1].values, False, found[1].reason)
        return found if found[0].objective > best[0].objective or found[1].is_interrupted else best


class Learner(Protocol):
    """A method of learning a model with hidden parts, with its options."""

    def run(self, problem: Any, progress: ProgressCallback | None = None) -> tuple[EMState[Any, Any], Trace]: ...


Learners = Mapping[str, Callable[[], Learner]]
EM_ONLY: Learners = {"em": ExpectationMaximization}


def resolve_learner(method: Any, models: str, learners: Learners = EM_ONLY) -> Any:
    """The method of learning that a name, a class or an object stands for; `models` names what is learned."""
    if isinstance(method, str) and method not in learners:
        raise Unsupported(f"there is no method {method!r} of learning {models}; {hint(method, learners)}")
    learner = None if method is None else resolve(method, learners, what="method")
    if not hasattr(learner, "run"):
        raise Unsupported(
            f"a method of learning {models} is one of {', '.join(map(repr, learners))}, or an object such as"
            f" jt.ExpectationMaximization(…); got {shown(method)}"
        )
    return learner
