"""`particle_filter`: sequential Monte Carlo, bootstrap and guided.

At each step every particle moves, by the dynamics or by a proposal q that looks at the observation, and is weighted by
p(y | z) p(z | z') / q(z | z', y). Where the effective sample size falls below a part of the number of particles,
particles are drawn anew in proportion to their weights, by one uniform number and equal steps (systematic resampling).
The product over time of the mean weights is an unbiased estimate of p(y) for any number of particles (Del Moral 2004;
Doucet and Johansen 2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_iterable, check_kind, check_number
from juncture.base.options import as_generator
from juncture.errors import ImpossibleEvidence, InvalidData, NotConvergedWarning, warn_user
from juncture.inference.sampling.particles.beliefs import FilterRun, ParticleBeliefs
from juncture.inference.sampling.particles.state_space import Proposal, StateSpace
from juncture.runtime.memory import check_memory


def particle_filter(
    space: StateSpace,
    observations: Any,
    *,
    particles: int = 500,
    repeats: int = 10,
    proposal: Proposal | None = None,
    resample_below: float = 0.5,
    rng: Any = None,
) -> ParticleBeliefs:
    """Filter the states of a state space that is given by functions, by sequential Monte Carlo.

    Parameters
    ----------
    space
        The model, a `StateSpace`.
    observations
        The observations in the order of time. None, or NaN in every entry, is a missing observation.
    particles
        The number of particles of each filter.
    repeats
        The number of independent filters; standard errors come from the spread of their answers, and intervals of
        them by Student's t, with one degree of freedom less.
    proposal
        Draws that look at the observation, a `Proposal` (a guided filter); None moves particles by the dynamics of the
        model (the bootstrap filter).
    resample_below
        Particles are resampled where their effective sample size falls below this part of their number; 1 resamples at
        every step, 0 never does.
    rng
        A seed or a generator: the same seed gives the same answer.

    Returns
    -------
    ParticleBeliefs
        `log_evidence` and its standard error, means of filtered and smoothed states with theirs, and paths. A
        `NotConvergedWarning` says where the filters disagree too much for these errors to be trusted.

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> space = jt.StateSpace(
    ...     initial=lambda n, rng: rng.normal(size=n),
    ...     transition=lambda states, time, rng: 0.9 * states + rng.normal(size=states.shape),
    ...     log_observation=lambda y, states, time: -0.5 * (y - states) ** 2 - 0.5 * np.log(2 * np.pi),
    ... )
    >>> beliefs = jt.particle_filter(space, [0.3, -0.2, None, 1.1], rng=0)
    >>> exact = jt.infer(jt.LinearGaussianStateSpace(0.9, 1, 1, 1, 0, 1), [0.3, -0.2, np.nan, 1.1]).log_evidence
    >>> abs(beliefs.log_evidence - exact) < 0.1
    True
    >>> low, high = beliefs.interval(0.95)  # of the means of the filtered states
    >>> low.shape
    (4,)
    """
    check_kind(space, StateSpace, "space")
    if proposal is not None:
        check_kind(proposal, Proposal, "proposal")
    run = ParticleFilter(
        space,
        check_count(particles, "particles", least=2),
        proposal,
        check_number(resample_below, "resample_below", least=0.0, most=1.0),
    )
    given = check_iterable(observations, "observations")
    if not given:
        raise InvalidData("a filter needs at least one observation")
    children = as_generator(rng).spawn(check_count(repeats, "repeats", least=1))
    check_memory(16 * run.particles * len(given) * len(children), "all particles", "take fewer")
    runs = [run.filter(given, child) for child in children]  # users' functions need not be safe under threads
    if all(one.log_evidence == -np.inf for one in runs):
        step = max(len(one.states) for one in runs) - 1
        raise ImpossibleEvidence(
            f"no particle gives the observation at time {step} a positive density: take more particles, or a proposal"
            " that looks at the observation"
        )
    beliefs = ParticleBeliefs(space, tuple(runs))
    if 2.0 * beliefs.num_effective_runs < len(runs):
        warn_user(
            f"the filters' estimates of the evidence differ so much that {len(runs)} filters count as"
            f" {beliefs.num_effective_runs:.1f}: take more particles, or a proposal that looks at the observation",
            NotConvergedWarning,
        )
    return beliefs


@dataclass(frozen=True, eq=False)
class ParticleFilter:
    """One filter, with its options."""

    space: StateSpace
    particles: int
    proposal: Proposal | None
    resample_below: float

    def filter(self, observations: list[Any], rng: np.random.Generator) -> FilterRun:
        """Run over all observations; a run in which all weights vanish ends there with log-evidence -∞."""
        log_weights = np.full(self.particles, -np.log(self.particles))  # normalised
        all_states: list[np.ndarray] = []
        all_weights: list[np.ndarray] = []
        states, log_evidence = np.empty(0), 0.0
        for time, observation in enumerate(observations):
            if time and self.is_degenerate(log_weights):
                chosen = systematic_resample(np.exp(log_weights), rng)
                states, log_weights = states[chosen], np.full(self.particles, -np.log(self.particles))
            states, log_steps = self.move(states if time else None, observation, time, rng)
            log_weights = log_weights + log_steps
            log_sum = float(np.logaddexp.reduce(log_weights))
            log_evidence += log_sum
            all_states.append(states)
            if log_evidence == -np.inf:
                return FilterRun(all_states, all_weights, log_evidence)
            log_weights = log_weights - log_sum
            all_weights.append(log_weights)
        return FilterRun(all_states, all_weights, log_evidence)

    def move(
        self, states: np.ndarray | None, observation: Any, time: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """The states of this time, and the logarithms of their weights."""
        seen, log_ratios = is_seen(observation), np.zeros(self.particles)
        if self.proposal is None or not seen:
            start = states is None
            moved = self.space.initial_states(self.particles, rng) if start else self.next(states, time, rng)
        elif states is None:
            moved, log_ratios = self.proposal.draw_initial(self.space, observation, self.particles, rng)
        else:
            moved, log_ratios = self.proposal.draw_next(self.space, states, observation, time, rng)
        log_likelihoods = self.space.log_likelihoods(observation, moved, time) if seen else 0.0
        return moved, log_ratios + log_likelihoods

    def next(self, states: Any, time: int, rng: np.random.Generator) -> np.ndarray:
        return self.space.next_states(states, time, rng)

    def is_degenerate(self, log_weights: np.ndarray) -> bool:
        size = np.exp(-np.logaddexp.reduce(2.0 * log_weights))
        return bool(size < self.resample_below * self.particles or self.resample_below == 1.0)


def is_seen(observation: Any) -> bool:
    """Whether something was observed: not None, nor NaN everywhere."""
    if observation is None:
        return False
    numbers = np.asarray(observation)
    return not (numbers.dtype.kind == "f" and numbers.size and np.isnan(numbers).all())


def systematic_resample(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Indices drawn in proportion to the weights: those of (u + k) / n among the running sums, with one uniform u.

    The index i occurs n w_i times in expectation, and at most one more or less.
    """
    count = len(weights)
    sums = np.cumsum(weights)
    points = (rng.random() + np.arange(count)) / count * sums[-1]
    return np.minimum(np.searchsorted(sums, points, side="right"), np.flatnonzero(weights)[-1])
