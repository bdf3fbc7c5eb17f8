"""Expectation maximisation for linear-Gaussian state-space models, each step in closed form.

The E-step smooths the sequences; the M-step is three regressions (Shumway and Stoffer 1982). The log-likelihood (plus
the log prior) never falls.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import ClassVar, TypeAlias

import numpy as np

from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import SequenceParts
from juncture.errors import InvalidModel
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.squarem import flatten_tables, unflatten_tables
from juncture.sequences.state_space.estimation import StateSpaceOptions, estimate_state_space
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.moments import StateSpaceMoments, expected_moments
from juncture.sequences.state_space.noise_floor import (
    ALIKE,
    FLOOR,
    ObservedValues,
    raise_to_floor,
    reference_variances,
)
from juncture.sequences.state_space.parts import standardize
from juncture.sequences.state_space.starts import random_start

StateSpaceState: TypeAlias = EMState[LinearGaussianStateSpace, StateSpaceMoments]


@dataclass(frozen=True, eq=False)
class StateSpaceProblem:
    """A state space to learn by EM: where to start, the sequences, and the options."""

    template: LinearGaussianStateSpace
    parts: SequenceParts
    options: StateSpaceOptions
    rng: np.random.Generator
    models: ClassVar[str] = "state spaces"

    @cached_property
    def values(self) -> ObservedValues:
        return reduce(add, map(ObservedValues.of, self.parts()))

    @property
    def observed(self) -> np.ndarray:
        return self.values.variances

    def start(self) -> LinearGaussianStateSpace:
        return self.template

    def another_start(self) -> LinearGaussianStateSpace:
        return random_start(self.template, self.options.fixed, self.rng)

    def blocks(self) -> Iterable[Sequences]:
        return self.parts()

    def expect(self, model: LinearGaussianStateSpace, block: Sequences) -> Expected[StateSpaceMoments]:
        moments = expected_moments(model, block)
        return Expected(moments, moments.log_likelihood)

    def maximize(self, statistics: StateSpaceMoments, model: LinearGaussianStateSpace) -> LinearGaussianStateSpace:
        return estimate_state_space(model, statistics, self.options, self.observed)[0]

    def log_prior(self, model: LinearGaussianStateSpace) -> float:
        return self.options.log_prior(model)

    def recover(self, state: StateSpaceState, fall: float) -> LinearGaussianStateSpace | None:
        """The model of the state itself, where the objective fell no further than rounding explains."""
        return state.model if fall <= self.resolution(state.model) else None

    def resolution(self, model: LinearGaussianStateSpace) -> float:
        """How far rounding may move the log-likelihood, in which values are counted in units of the least noise."""
        correlations, scale = standardize(model.observation_noise.reshape(-1, *2 * model.event_shape))
        least = np.maximum(np.linalg.eigvalsh(correlations)[:, :1], 0.0) * scale**2
        units = np.sqrt(np.maximum(least.min(axis=0), FLOOR * ALIKE * self.observed))
        return float(np.finfo(float).eps * np.sum(self.values.size / units))

    def to_vector(self, model: LinearGaussianStateSpace) -> np.ndarray:
        return flatten_tables(list(self.learned(model).values()))

    def from_vector(self, vector: np.ndarray, state: StateSpaceState) -> LinearGaussianStateSpace | None:
        """The model with no noise below the floor; None if a noise has no positive variance there."""
        learned = self.learned(state.model)
        changed = dict(zip(learned, unflatten_tables(vector, list(learned.values())), strict=True))
        for noise, variances in reference_variances(state.statistics, self.observed).items():
            if noise in changed:
                changed[noise] = raise_to_floor(changed[noise], variances, state.model.parts[noise])
        try:
            return state.model.with_parts(**changed)
        except InvalidModel:
            return None

    def learned(self, model: LinearGaussianStateSpace) -> dict[str, np.ndarray]:
        """The parts that are learned."""
        return {name: part for name, part in model.parts.items() if name not in self.options.fixed}
