"""`ExpectationMaximization`: the driver of EM for every kind of model, with restarts, acceleration and a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from juncture.checks import check_choice, check_count
from juncture.errors import NotConvergedWarning, Unsupported, warn_user
from juncture.iteration import INTERRUPTED, Iteration, ProgressCallback, Trace, check_stopping_rule, iterate

Acceleration = Literal["squarem"] | None
Model = TypeVar("Model")
Statistics = TypeVar("Statistics")


@dataclass(frozen=True, eq=False)
class EMState(Generic[Model, Statistics]):
    """A model, the statistics expected under the model, its log-likelihood, and the objective that EM raises."""

    model: Model
    statistics: Statistics
    log_likelihood: float
    objective: float


class EMProblem(Protocol):
    """A model to learn by EM: the first start, further random starts, and the algorithm from a start."""

    @property
    def progress(self) -> ProgressCallback | None: ...
    def start(self) -> Any: ...
    def another_start(self) -> Any: ...
    def algorithm(self, start: Any, acceleration: Acceleration) -> Iteration[Any]: ...


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

    def run(self, problem: EMProblem) -> tuple[Any, Trace]:
        best = self.run_from(problem.start(), problem)
        for _ in range(self.restarts):
            if best[1].is_interrupted:
                break
            best = self._better(best, problem)
        if not best[1].converged:
            warn_user(f"EM {best[1].reason}; the model is the best so far", NotConvergedWarning)
        return best

    def run_from(self, start: Any, problem: EMProblem) -> tuple[Any, Trace]:
        """Run EM from one start."""
        algorithm = problem.algorithm(start, self.acceleration)
        return iterate(algorithm, tolerance=self.tolerance, max_steps=self.max_steps, progress=problem.progress)

    def _better(self, best: tuple[EMState[Any, Any], Trace], problem: EMProblem) -> tuple[EMState[Any, Any], Trace]:
        """The better of the best state so far and the state that EM reaches from a new random start."""
        try:
            found = self.run_from(problem.another_start(), problem)
        except KeyboardInterrupt:
            found = best[0], Trace(best[1].values, False, f"{INTERRUPTED} {best[1].num_steps}")
        if found[1].is_interrupted and found[0].objective < best[0].objective:
            return best[0], Trace(best[1].values, False, found[1].reason)
        return found if found[0].objective > best[0].objective or found[1].is_interrupted else best


def as_expectation_maximization(method: Any, models: str) -> ExpectationMaximization:
    """The driver that `method` stands for: "em", the class, or an object; `models` names what is learned."""
    is_default = method is ExpectationMaximization or (isinstance(method, str) and method == "em")
    learner = ExpectationMaximization() if is_default else method
    if not isinstance(learner, ExpectationMaximization):
        raise Unsupported(f'{models} are learned by "em" or jt.ExpectationMaximization(…); got {method!r}')
    return learner
