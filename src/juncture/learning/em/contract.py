"""`EMProblem`: all that a kind of model supplies to be learned by expectation maximisation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar, runtime_checkable

import numpy as np


class Addable(Protocol):
    """Statistics: those of two blocks of data add up to those of both."""

    def __add__(self, other: Any, /) -> Self: ...


Model = TypeVar("Model")
Statistics = TypeVar("Statistics", bound=Addable)


@dataclass(frozen=True, eq=False)
class Expected(Generic[Statistics]):
    """The result of an E-step on a block of data: expected statistics, and the log-likelihood of the block."""

    statistics: Statistics
    log_likelihood: float

    def __add__(self, other: Expected[Statistics]) -> Expected[Statistics]:
        return Expected(self.statistics + other.statistics, self.log_likelihood + other.log_likelihood)


@dataclass(frozen=True, eq=False)
class EMState(Generic[Model, Statistics]):
    """A model, the statistics expected under the model, its log-likelihood, and the objective that EM raises."""

    model: Model
    statistics: Statistics
    log_likelihood: float
    objective: float


class EMProblem(Protocol[Model, Statistics]):
    """A model to learn from data with hidden parts: where to start, the E-step of a block, and the M-step."""

    @property
    def models(self) -> str:
        """What is learned, in the plural, for messages: "hidden Markov models"."""

    def start(self) -> Model: ...

    def another_start(self) -> Model:
        """A model drawn at random, for a restart."""

    def blocks(self) -> Iterable[Any]:
        """The data, block by block: the same blocks in the same order at every call."""

    def expect(self, model: Model, block: Any) -> Expected[Statistics]:
        """The E-step on one block."""

    def maximize(self, statistics: Statistics, model: Model) -> Model:
        """The M-step: the model estimated from the expected statistics of all blocks."""

    def log_prior(self, model: Model) -> float:
        """The term that a prior adds to the log-likelihood; 0 without a prior."""


@runtime_checkable
class Mapped(Protocol):
    """A problem that runs its E-step where the blocks are: on threads that read them, or on a cluster."""

    def expect_blocks(self, model: Any) -> Iterable[Expected[Any]]:
        """The E-step of each block, in the order of the blocks."""


@runtime_checkable
class Bounded(Protocol):
    """A problem that knows the bound of the log-likelihood away from the posterior: incremental EM needs it."""

    def expected_log_joint(self, statistics: Any, model: Any) -> float:
        """E log p(x, z | model), of statistics that another model may have expected; they add over blocks."""


@runtime_checkable
class AsksEngine(Protocol):
    """A problem whose E-step is the answer of an engine of inference."""

    engine: Any


@runtime_checkable
class Divisible(Protocol):
    """A problem whose data in memory can be cut into blocks."""

    def divide(self, block: Any, number: int) -> Iterable[Any]:
        """The same data in at most this number of blocks, none of them empty."""


@runtime_checkable
class Vectorized(Protocol[Model, Statistics]):
    """A problem whose models are vectors of numbers, so that SQUAREM can extrapolate them."""

    def to_vector(self, model: Model) -> np.ndarray:
        """The learned parameters in one vector."""

    def from_vector(self, vector: np.ndarray, state: EMState[Model, Statistics]) -> Model | None:
        """The model nearest to a vector that was extrapolated from a state; None if there is no model near."""


@runtime_checkable
class Recoverable(Protocol[Model, Statistics]):
    """A problem that knows what to do where rounding in a degenerate model lowers the objective."""

    def recover(self, state: EMState[Model, Statistics], fall: float) -> Model | None:
        """Another model than the M-step from this state gave, as the objective fell; None to raise.

        `fall` is infinite where the M-step gave a model in which some data are impossible.
        """
