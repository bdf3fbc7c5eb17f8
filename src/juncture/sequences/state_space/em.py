"""Expectation maximisation for linear-Gaussian state spaces, each step in closed form.

The expectation step smooths the sequences, the maximisation step is three regressions (Shumway and Stoffer 1982). The
log-likelihood, with priors plus their logarithms, never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.errors import InvalidModel
from juncture.iteration import has_fallen
from juncture.learning.em.squarem import extrapolate
from juncture.sequences.state_space.estimation import StateSpaceOptions, estimate_state_space
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.moments import StateSpaceMoments, expected_moments
from juncture.sequences.state_space.noise_floor import ALIKE, FLOOR, lifted, observed_variances, reference_variances
from juncture.sequences.state_space.parts import standardized


@dataclass(frozen=True, eq=False)
class EMState:
    """A model, the statistics expected under it, and its objective."""

    model: LinearGaussianStateSpace
    moments: StateSpaceMoments
    objective: float
    held: tuple[str, ...] = ()  # noises that would have shrunk below the least one allowed


@dataclass(frozen=True, eq=False)
class StateSpaceEM:
    """EM from a start."""

    model: LinearGaussianStateSpace
    sequences: Sequences
    options: StateSpaceOptions

    @cached_property
    def observed(self) -> np.ndarray:
        return observed_variances(self.sequences)

    def init(self) -> EMState:
        return self.expect(self.model)

    def step(self, state: EMState) -> EMState:
        moved = self.expect(*estimate_state_space(state.model, state.moments, self.options, self.observed))
        fall = state.objective - moved.objective
        is_rounding = has_fallen(state.objective, moved.objective) and fall <= self.resolution(state.model)
        return state if is_rounding else moved

    def resolution(self, model: LinearGaussianStateSpace) -> float:
        """How far rounding may move the log-likelihood, in which values are counted in units of the least noise."""
        correlations, scale = standardized(model.observation_noise.reshape(-1, *2 * model.event_shape))
        least = np.maximum(np.linalg.eigvalsh(correlations)[:, :1], 0.0) * scale**2
        units = np.sqrt(np.maximum(least.min(axis=0), FLOOR * ALIKE * self.observed))
        return float(np.finfo(float).eps * np.nansum(np.abs(self.sequences.observations) / units))

    def objective(self, state: EMState) -> float:
        return state.objective

    def expect(self, model: LinearGaussianStateSpace, held: tuple[str, ...] = ()) -> EMState:
        """The expectation step under a model."""
        moments = expected_moments(model, self.sequences)
        return EMState(model, moments, moments.log_likelihood + self.options.log_prior(model), held)


@dataclass(frozen=True, eq=False)
class AcceleratedStateSpaceEM(StateSpaceEM):
    """Two steps of EM, then the SQUAREM extrapolation where it raises the objective."""

    def step(self, state: EMState) -> EMState:
        once = super().step(state)
        twice = super().step(once)
        parts = extrapolate(*(self.learned(stage.model) for stage in (state, once, twice)))
        reached = None if parts is None else self.reached(twice, parts)
        return twice if reached is None or not reached.objective > twice.objective else reached

    def reached(self, state: EMState, parts: list[np.ndarray]) -> EMState | None:
        """The extrapolated model, with no noise below the floor; None if a noise has no positive variance there."""
        names = [name for name in state.model.parts if name not in self.options.fixed]
        changed = dict(zip(names, parts, strict=True))
        for noise, variances in reference_variances(state.moments, self.observed).items():
            if noise in changed:
                changed[noise] = lifted(changed[noise], variances, state.model.parts[noise])
        try:
            return self.expect(state.model.with_parts(**changed), state.held)
        except InvalidModel:
            return None

    def learned(self, model: LinearGaussianStateSpace) -> list[np.ndarray]:
        return [part for name, part in model.parts.items() if name not in self.options.fixed]
