"""`fit` for linear-Gaussian state-space models: expectation maximisation, each step in closed form.

The E-step smooths the sequences (`moments`); the M-step is three regressions (`estimation`; Shumway and Stoffer 1982).
The log-likelihood (plus the log prior) never falls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any, ClassVar, TypeAlias

import numpy as np

from juncture.base.options import Options, as_generator, as_seed, check_names, used_seed
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import SequenceParts, read_sequences
from juncture.errors import InvalidData, InvalidModel, hint
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization, has_full_m_step
from juncture.learning.em.squarem import flatten_tables, unflatten_tables
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.sequences.options import SequenceOptions
from juncture.sequences.state_space.estimation import (
    ALIKE,
    FLOOR,
    REGRESSIONS,
    ObservedValues,
    StateSpaceOptions,
    estimate_state_space,
    raise_to_floor,
    reference_variances,
    report_floor,
)
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.moments import StateSpaceMoments, expected_moments
from juncture.sequences.state_space.parts import standardize

StateSpaceState: TypeAlias = EMState[LinearGaussianStateSpace, StateSpaceMoments]
RADIUS = 0.95  # of the transition's largest eigenvalue: slow, and stable
DRAWN = ("transition", "observation", "input_to_state", "input_to_observation")


@dataclass(frozen=True)
class StateSpaceFitOptions(SequenceOptions):
    """How a linear-Gaussian state space is learned from sequences.

    Parameters
    ----------
    fixed
        The names of parts that stay as they are; parts that vary in time must be among these.
    method
        "em", or an `ExpectationMaximization` with its options, with restarts at random; as EM is slow where noises are
        small or much is missing, `ExpectationMaximization(acceleration="squarem")` is often worth it.
    """

    fixed: Iterable[str] = ()
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization}


def fit_state_space(
    model: LinearGaussianStateSpace,
    data: Any,
    *,
    prior: Mapping[str, InverseWishart] | None = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: StateSpaceFitOptions,
) -> Fit[LinearGaussianStateSpace]:
    """The state space that fits sequences best, by EM from the given model.

    Values and whole steps may be missing, and states may be given. All parts that the model has are learned, but for
    those that are fixed. `data` may be a function that returns parts of the sequences for every pass. `prior` maps
    noises ("transition_noise", "observation_noise", "initial_covariance") to an `InverseWishart`: the mode is taken.

    The states are determined up to a change of their basis, which the start and the fixed parts settle. From one
    sequence, `initial_covariance` shrinks towards 0: fix it, or give it a prior. Where a model could pass through all
    that is observed, noises would vanish: they are kept above 1e-10 of the variance of the observations, or of the
    expected states, and above 1e-6 of their own where values' noises become all but the same; a warning names them.
    """
    check_progress(progress)
    learner, fixed = options.method, fixed_parts(model, options.fixed)
    estimation = StateSpaceOptions(fixed, check_priors(model, prior, fixed))
    given = read_sequences(model, data, options.lengths, options.group, weights=weights)
    given.check_observed()
    seed = as_seed(rng)
    generator = as_generator(seed)
    problem = StateSpaceProblem(model, given.to_learn, estimation, generator)
    found, trace = learner.run(problem, progress)
    if has_full_m_step(learner):
        report_floor(estimate_state_space(found.model, found.statistics, estimation, problem.observed)[1])
    return Fit(found.model, found.log_likelihood, trace, found.statistics, used_seed(seed, generator))


# -- checks
def fixed_parts(model: LinearGaussianStateSpace, fixed: Iterable[str]) -> frozenset[str]:
    """The parts that stay as they are."""
    names = frozenset(check_names(fixed, "fixed"))
    for name in sorted(names):
        if name not in model.parts:
            raise InvalidData(f"the state space has no part {name!r} to be fixed; {hint(name, model.parts)}")
    for name in model.varying:
        if name not in names:
            raise InvalidData(f"{name} varies in time, and such parts are not learned: name it in fixed=[…]")
    for noise, coefficients in REGRESSIONS.values():
        for name in coefficients:
            if noise in model.varying and name in model.parts and name not in names:
                raise InvalidData(f"{name} is not learned where {noise} varies in time: name it in fixed=[…]")
    return names


def check_priors(model: LinearGaussianStateSpace, prior: Any, fixed: Iterable[str]) -> dict[str, InverseWishart]:
    """The priors of noises, by their names."""
    if not isinstance(prior, Mapping | None):
        raise InvalidData(
            f'the prior of a state space is a mapping such as {{"transition_noise": InverseWishart(…)}}; got {prior!r}'
        )
    noises = [noise for noise, _ in REGRESSIONS.values()]
    for name, own in (prior or {}).items():
        if name not in noises:
            raise InvalidData(f"a prior is one of a noise; {name!r} is none; {hint(name, noises)}")
        if name in fixed:
            raise InvalidData(f"{name} is fixed, so its prior has no effect; leave out one of the two")
        size = len(model.parts[name])
        if not isinstance(own, InverseWishart) or own.batch_shape or np.shape(own.scale) != (size, size):
            raise InvalidData(f"the prior of {name} is an InverseWishart of {size} × {size} matrices; got {own!r}")
    return dict(prior or {})


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


def random_start(
    model: LinearGaussianStateSpace, fixed: frozenset[str], rng: np.random.Generator
) -> LinearGaussianStateSpace:
    """The model with other matrices, of the size they have, but for those that are fixed; noises and offsets stay."""
    drawn = {}
    for name, part in model.parts.items():
        if name not in DRAWN or name in fixed:
            continue
        matrix = rng.standard_normal(part.shape)
        wanted = RADIUS if name == "transition" else float(np.linalg.norm(part)) or 1.0
        size = np.abs(np.linalg.eigvals(matrix)).max() if name == "transition" else np.linalg.norm(matrix)
        drawn[name] = matrix * (wanted / size)
    return model.with_parts(**drawn)
