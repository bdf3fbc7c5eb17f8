"""The steps of EM: an E-step on all blocks and an M-step, plain or extrapolated by SQUAREM."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeAlias

from juncture.base.checks import check_kind
from juncture.errors import ImpossibleEvidence
from juncture.learning.em.contract import EMProblem, EMState, Expected, Mapped, Model, Recoverable, Statistics
from juncture.learning.em.squarem import extrapolate
from juncture.numerics.iteration import has_fallen

MStep: TypeAlias = Callable[[Any, Any, Any], Any]  # (model, the model of the full M-step, statistics) → model


@dataclass(frozen=True, eq=False)
class EMSteps(Generic[Model, Statistics]):
    """The steps of EM on a problem, from a start."""

    problem: EMProblem[Model, Statistics]
    first: Model
    m_step: MStep | None = None

    def init(self) -> EMState[Model, Statistics]:
        return self.expect(self.first)

    def objective(self, state: EMState[Model, Statistics]) -> float:
        return state.objective

    def expect(self, model: Model) -> EMState[Model, Statistics]:
        """The E-step: the expected statistics of all blocks, added in their order."""
        expected: Expected[Statistics] = reduce(operator.add, expect_blocks(self.problem, model))
        objective = expected.log_likelihood + self.problem.log_prior(model)
        return EMState(model, expected.statistics, expected.log_likelihood, objective)

    def maximize(self, statistics: Statistics, model: Model) -> Model:
        """The M-step; a generalised one gives a model of the same kind that need not be the best."""
        best = self.problem.maximize(statistics, model)
        if self.m_step is None:
            return best
        chosen: Model = self.m_step(model, best, statistics)
        return check_kind(chosen, type(model), "what m_step returns")

    def step(self, state: EMState[Model, Statistics]) -> EMState[Model, Statistics]:
        """One M-step and one E-step; where the objective falls, the model that the problem recovers."""
        try:
            moved = self.expect(self.maximize(state.statistics, state.model))
        except ImpossibleEvidence:
            recovered = self.recover(state, math.inf)
            if recovered is None:
                raise
            return recovered
        if not has_fallen(state.objective, moved.objective):
            return moved
        return self.recover(state, state.objective - moved.objective) or moved

    def recover(self, state: EMState[Model, Statistics], fall: float) -> EMState[Model, Statistics] | None:
        if not isinstance(self.problem, Recoverable) or self.m_step is not None:
            return None
        model = self.problem.recover(state, fall)
        if model is None:
            return None
        return state if model is state.model else self.expect(model)

    def finish(self, state: EMState[Model, Statistics]) -> EMState[Model, Statistics]:
        """The state to report."""
        return state


def expect_blocks(problem: EMProblem[Any, Any], model: Any) -> Iterable[Expected[Any]]:
    """The E-step of each block, in order."""
    if isinstance(problem, Mapped):
        return problem.expect_blocks(model)
    return (problem.expect(model, block) for block in problem.blocks())


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
