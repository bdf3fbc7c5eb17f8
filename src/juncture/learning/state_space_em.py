"""Expectation maximisation for linear-Gaussian state spaces, each step in closed form.

The expectation step smooths the sequences, the maximisation step is three regressions (Shumway and Stoffer 1982). The
log-likelihood, with priors plus their logarithms, never falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.data.sequences import Sequences
from juncture.errors import InvalidModel
from juncture.learning.leaps import extrapolated
from juncture.learning.state_space_estimation import StateSpaceWishes, estimated_state_space
from juncture.learning.state_space_moments import StateSpaceMoments, expected_moments
from juncture.models.state_space import LinearGaussianStateSpace


@dataclass(frozen=True, eq=False)
class Believed:
    """A model, the statistics expected under it, and its objective."""

    model: LinearGaussianStateSpace
    moments: StateSpaceMoments
    objective: float


@dataclass(frozen=True, eq=False)
class StateSpaceEM:
    """EM from a start."""

    model: LinearGaussianStateSpace
    sequences: Sequences
    wishes: StateSpaceWishes

    def init(self) -> Believed:
        return self.believed(self.model)

    def step(self, state: Believed) -> Believed:
        return self.believed(estimated_state_space(state.model, state.moments, self.wishes))

    def objective(self, state: Believed) -> float:
        return state.objective

    def believed(self, model: LinearGaussianStateSpace) -> Believed:
        """The expectation step under a model."""
        moments = expected_moments(model, self.sequences)
        return Believed(model, moments, moments.log_likelihood + self.wishes.log_prior(model))


@dataclass(frozen=True, eq=False)
class AcceleratedStateSpaceEM(StateSpaceEM):
    """Two steps of EM, then a leap along them (SQUAREM), taken back when it does not raise the objective."""

    def step(self, state: Believed) -> Believed:
        once = super().step(state)
        twice = super().step(once)
        parts = extrapolated(*(self.learned(stage.model) for stage in (state, once, twice)))
        reached = None if parts is None else self.reached(twice.model, parts)
        return twice if reached is None or not reached.objective > twice.objective else reached

    def reached(self, model: LinearGaussianStateSpace, parts: list[np.ndarray]) -> Believed | None:
        """The other end of a leap, unless it lies outside: where a noise has no positive variance."""
        names = [name for name in model.parts if name not in self.wishes.fixed]
        try:
            return self.believed(model.with_parts(**dict(zip(names, parts, strict=True))))
        except InvalidModel:
            return None

    def learned(self, model: LinearGaussianStateSpace) -> list[np.ndarray]:
        return [part for name, part in model.parts.items() if name not in self.wishes.fixed]
