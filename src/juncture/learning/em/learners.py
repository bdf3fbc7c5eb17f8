"""The ways to learn where something is hidden; each takes a task and gives a model with its beliefs, and a trace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from juncture.checks import check_choice, check_count
from juncture.errors import NotConvergedWarning, Unsupported, warn_user
from juncture.iteration import INTERRUPTED, Iteration, Trace, Watch, check_ending, iterate
from juncture.learning.networks.gradient import GradientAscent
from juncture.options import chosen

Acceleration = Literal["squarem"] | None


class Climb(Protocol):
    """A state of EM: a model with what it believes."""

    @property
    def objective(self) -> float: ...


class EMTask(Protocol):
    """A model to learn by EM: where to start, where else, and the algorithm from there."""

    @property
    def progress(self) -> Watch | None: ...
    def start(self) -> Any: ...
    def another_start(self) -> Any: ...
    def algorithm(self, start: Any, acceleration: Acceleration) -> Iteration[Any]: ...


@dataclass(frozen=True)
class ExpectationMaximization:
    """EM until the objective gains less than `tolerance` relative to its size, from one start or the best of several.

    `restarts` further starts are drawn at random; the best end wins. `acceleration="squarem"` takes leaps.
    """

    tolerance: float = 1e-8
    max_steps: int = 1000
    restarts: int = 0
    acceleration: Acceleration = None

    def __post_init__(self) -> None:
        check_ending(self.tolerance, self.max_steps)
        check_count(self.restarts, "restarts")
        check_choice(self.acceleration, (None, "squarem"), "the acceleration of EM")

    def run(self, task: EMTask) -> tuple[Any, Trace]:
        best = self.climb(task.start(), task)
        for _ in range(self.restarts):
            if best[1].is_interrupted:
                break
            best = self._better(best, task)
        if not best[1].converged:
            warn_user(f"EM {best[1].reason}; the model is the best so far", NotConvergedWarning)
        return best

    def climb(self, start: Any, task: EMTask) -> tuple[Any, Trace]:
        """Where EM ends from one start."""
        algorithm = task.algorithm(start, self.acceleration)
        return iterate(algorithm, tolerance=self.tolerance, max_steps=self.max_steps, watch=task.progress)

    def _better(self, best: tuple[Climb, Trace], task: EMTask) -> tuple[Climb, Trace]:
        """The better end of two: the best so far, and that of a new start at random."""
        try:
            found = self.climb(task.another_start(), task)
        except KeyboardInterrupt:
            found = best[0], Trace(best[1].values, False, f"{INTERRUPTED} {best[1].num_steps}")
        if found[1].is_interrupted and found[0].objective < best[0].objective:
            return best[0], Trace(best[1].values, False, found[1].reason)
        return found if found[0].objective > best[0].objective or found[1].is_interrupted else best


LEARNERS: dict[str, Callable[[], Any]] = {"em": ExpectationMaximization, "gradient": GradientAscent}


def learner_for(method: Any) -> Any:
    """The learner that a name or an object stands for."""
    learner = chosen(method, LEARNERS, what="method")
    if not hasattr(learner, "run"):
        raise Unsupported(
            f"a method of learning is one of {', '.join(map(repr, LEARNERS))}, or an object such as"
            f" jt.ExpectationMaximization(…); got {learner!r}"
        )
    return learner
