"""`ExpectationMaximization`: EM for every kind of model, with restarts, acceleration, a guard and a trace.

Each step computes the expected statistics of all blocks of the data under the model (E-step), and estimates the model
from them (M-step). The log-likelihood, with a prior plus the log prior, never falls (Dempster, Laird and Rubin 1977).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Protocol, runtime_checkable

from juncture.base.checks import check_choice, check_count, check_flag, shown
from juncture.base.options import Options, resolve
from juncture.errors import InvalidData, NotConvergedWarning, Unsupported, hint, warn_user
from juncture.learning.em.contract import AsksEngine, Bounded, EMProblem, EMState, Model, Statistics, Vectorized
from juncture.learning.em.incremental import IncrementalSteps
from juncture.learning.em.steps import EMSteps, MStep, SquaremSteps
from juncture.numerics.iteration import INTERRUPTED, ProgressCallback, Trace, check_stopping_rule, iterate
from juncture.runtime.workers import has_workers, map_runs

Acceleration = Literal["squarem"] | None
PATIENCE = 10  # steps without a rise after which EM ends whose E-step draws at random


def em_steps(
    problem: EMProblem[Model, Statistics],
    start: Model,
    acceleration: Acceleration = None,
    num_blocks: int | None = None,
    m_step: MStep | None = None,
) -> EMSteps[Model, Statistics]:
    """The steps of EM from a start: accelerated, or incremental, if the problem allows it."""
    if num_blocks is not None:
        if not isinstance(problem, Bounded):
            raise Unsupported(f"EM of {problem.models} is not incremental; leave num_blocks={num_blocks} out")
        return IncrementalSteps(problem, start, m_step, num_blocks)
    if acceleration is None:
        return EMSteps(problem, start, m_step)
    if not isinstance(problem, Vectorized):
        raise Unsupported(f"EM of {problem.models} is not accelerated; leave acceleration={acceleration!r} out")
    return SquaremSteps(problem, start)


@dataclass(frozen=True)
class ExpectationMaximization(Options):
    """Expectation maximisation, from one start or the best of several.

    Parameters
    ----------
    tolerance
        EM ends when a step gains less than `tolerance` times what the objective rose since the start (or less than
        `tolerance` itself, if it rose by less than 1). The default is 1e-7, because steps of EM shrink slowly: where
        each gains 0.99 of the step before, a last step of 1e-7 leaves 1e-5 of the rise to gain, while a stricter rule
        takes more steps for changes far below the standard errors. Take 1e-10 for many digits, with
        `acceleration="squarem"`. Where the engine of the E-step draws at random, the objective is an estimate: EM
        also ends when it has not risen in 10 steps.
    max_steps
        The largest number of steps from each start.
    restarts
        The number of further starts, drawn at random; the state with the largest objective is kept.
    acceleration
        "squarem" extrapolates after every two steps, where that raises the objective.
    num_blocks
        Incremental EM (Neal and Hinton 1998): data in memory are cut into this number of blocks, and an M-step follows
        the E-step of each block, with the statistics of the other blocks as they were. A step is a pass over all
        blocks. The objective is then the lower bound of the log-likelihood (plus the log prior), which never falls. The
        blocks of a source of rows stay as they are.
    m_step
        Generalised EM: a function of the model, of the model that the M-step gives, and of the expected statistics.
        It returns the next model, which must not lower the objective; for example one in which some parameters stay
        as they are, or obey a constraint.
    engine
        Of networks, the engine of the E-step: a name or an engine, as `method` in `infer`. Where it draws at random
        every step has the same random numbers.
    history
        Whether `fitted.history` keeps the model at the start and after each step, of the start that was best.

    Examples
    --------
    >>> import juncture as jt
    >>> rows = [0.1, 0.3, 0.2, 9.1, 9.2, 9.0]
    >>> start = jt.Mixture([0.5, 0.5], [jt.Gaussian(1.0, 1.0), jt.Gaussian(8.0, 1.0)])
    >>> only_weights = jt.ExpectationMaximization(
    ...     m_step=lambda model, best, statistics: jt.Mixture(best.weights, model.components)
    ... )
    >>> jt.fit(start, rows, method=only_weights).model
    Mixture(0.5 · Gaussian(mean=1.0, variance=1.0) + 0.5 · Gaussian(mean=8.0, variance=1.0))
    """

    tolerance: float = 1e-7
    max_steps: int = 1000
    restarts: int = 0
    acceleration: Acceleration = None
    num_blocks: int | None = None
    m_step: MStep | None = None
    engine: Any = "auto"
    history: bool = False

    def __post_init__(self) -> None:
        check_flag(self.history, "history")
        check_stopping_rule(self.tolerance, self.max_steps)
        check_count(self.restarts, "restarts")
        check_choice(self.acceleration, (None, "squarem"), "the acceleration of EM")
        if self.num_blocks is not None:
            check_count(self.num_blocks, "num_blocks", least=1)
        if self.m_step is not None and (isinstance(self.m_step, type) or not callable(self.m_step)):
            raise InvalidData(
                f"m_step is a function of the model, the best model and the statistics; got {shown(self.m_step)}"
            )
        if self.acceleration is not None and (self.num_blocks is not None or self.m_step is not None):
            raise InvalidData(
                "squarem extrapolates whole steps of EM: leave out acceleration, or num_blocks and m_step"
            )

    def run(
        self, problem: EMProblem[Model, Statistics], progress: ProgressCallback | None = None
    ) -> tuple[EMState[Model, Statistics], Trace]:
        """The best state of all starts, and its trace; Ctrl-C ends with the best state so far."""
        if not (isinstance(self.engine, str) and self.engine == "auto") and not isinstance(problem, AsksEngine):
            raise Unsupported(f"the E-step of {problem.models} asks no engine; leave engine={shown(self.engine)} out")
        if self.restarts and has_workers() and not getattr(problem, "is_elsewhere", False):
            best = self._best_of_workers(problem, progress)
        else:
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
        steps = em_steps(problem, start, self.acceleration, self.num_blocks, self.m_step)
        is_random = getattr(problem, "is_random", False)
        found, trace = iterate(
            steps,
            tolerance=self.tolerance,
            max_steps=self.max_steps,
            progress=progress,
            is_monotone=not is_random,
            patience=PATIENCE if is_random else None,
            keep=model_of if self.history else None,
        )
        return steps.finish(found), trace

    def _best_of_workers(
        self, problem: EMProblem[Model, Statistics], progress: ProgressCallback | None
    ) -> tuple[EMState[Model, Statistics], Trace]:
        """The best state of all starts, each of which runs on a worker; of equal ones the first."""
        starts = [problem.start(), *(problem.another_start() for _ in range(self.restarts))]
        runs = map_runs(partial(self.run_from, problem=problem), starts)
        best = next(runs)
        try:
            for number, found in enumerate(runs, start=2):
                best = found if found[0].objective > best[0].objective else best
                if progress is not None:
                    progress(number, best[0].objective)
        except KeyboardInterrupt:
            return best[0], replace(best[1], converged=False, reason=f"{INTERRUPTED} {best[1].num_steps}")
        return best

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
            found = best[0], replace(best[1], converged=False, reason=f"{INTERRUPTED} {best[1].num_steps}")
        if found[1].is_interrupted and found[0].objective < best[0].objective:
            return best[0], replace(best[1], converged=False, reason=found[1].reason)
        return found if found[0].objective > best[0].objective or found[1].is_interrupted else best


def model_of(state: EMState[Any, Any]) -> Any:
    return state.model


@runtime_checkable
class Learner(Protocol):
    """A method of learning a model with hidden parts, with its options."""

    def run(self, problem: Any, progress: ProgressCallback | None = None) -> tuple[EMState[Any, Any], Trace]: ...


Learners = Mapping[str, Callable[[], Learner]]
EM_ONLY: Learners = {"em": ExpectationMaximization}


def has_full_m_step(learner: Learner) -> bool:
    """Whether models are those of the M-step, so that warnings about estimates concern them."""
    return getattr(learner, "m_step", None) is None


def resolve_learner(method: Any, models: str, learners: Learners = EM_ONLY) -> Any:
    """The method of learning that a name, a class or an object stands for; `models` names what is learned."""
    if isinstance(method, str) and method not in learners:
        raise Unsupported(f"there is no method {method!r} of learning {models}; {hint(method, learners)}")
    learner = None if method is None else resolve(method, learners, what="method")
    if not isinstance(learner, Learner):
        raise Unsupported(
            f"a method of learning {models} is one of {', '.join(map(repr, learners))}, or an object such as"
            f" jt.ExpectationMaximization(…); got {shown(method)}"
        )
    return learner
