"""`particle_filter`: sequential Monte Carlo, bootstrap and guided, with its answers, `ParticleBeliefs`.

At each step every particle moves, by the dynamics or by a proposal q that looks at the observation, and is weighted by
p(y | z) p(z | z') / q(z | z', y). Where the effective sample size falls below a part of the number of particles,
particles are drawn anew in proportion to their weights, by one uniform number and equal steps (systematic resampling).
The product over time of the mean weights is an unbiased estimate of p(y) for any number of particles (Del Moral 2004;
Doucet and Johansen 2011). Standard errors come from the spread of independent filters; smoothing goes backwards in time
and is quadratic in the number of particles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_flag, check_function, check_iterable, check_kind, check_number
from juncture.base.options import as_generator, as_seed
from juncture.base.values import SameContent
from juncture.errors import ImpossibleEvidence, InvalidData, InvalidModel, NotConvergedWarning, Unsupported, warn_user
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.particle_model import ParticleModel, Proposal, as_states
from juncture.runtime.memory import check_memory
from juncture.runtime.parallel import blocks_of

BLOCK = 2**21  # pairs of particles that are looked at together


def particle_filter(
    space: ParticleModel,
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
        The model, a `ParticleModel`.
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
    >>> space = jt.sampling.ParticleModel(
    ...     initial=lambda n, rng: rng.normal(size=n),
    ...     transition=lambda states, time, rng: 0.9 * states + rng.normal(size=states.shape),
    ...     log_observation=lambda y, states, time: -0.5 * (y - states) ** 2 - 0.5 * np.log(2 * np.pi),
    ... )
    >>> beliefs = jt.sampling.particle_filter(space, [0.3, -0.2, None, 1.1], rng=0)
    >>> exact = jt.infer(jt.LinearGaussianStateSpace(0.9, 1, 1, 1, 0, 1), [0.3, -0.2, np.nan, 1.1]).log_evidence
    >>> abs(beliefs.log_evidence - exact) < 0.1
    True
    >>> low, high = beliefs.interval(0.95)  # of the means of the filtered states
    >>> low.shape
    (4,)
    """
    check_kind(space, ParticleModel, "space")
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
    seed = as_seed(rng)
    children = as_generator(seed).spawn(check_count(repeats, "repeats", least=1))
    check_memory(16 * run.particles * len(given) * len(children), "all particles", "take fewer")
    runs = [run.filter(given, child) for child in children]  # users' functions need not be safe under threads
    if all(one.log_evidence == -np.inf for one in runs):
        step = max(len(one.states) for one in runs) - 1
        raise ImpossibleEvidence(
            f"no particle gives the observation at time {step} a positive density: take more particles, or a proposal"
            " that looks at the observation"
        )
    beliefs = ParticleBeliefs(space, tuple(runs), seed)
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

    space: ParticleModel
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


@dataclass(frozen=True, eq=False, repr=False)
class ParticleBeliefs(SameContent):
    """What particle filters know about the states. Every filter counts in proportion to its evidence.

    Attributes
    ----------
    space
        The model.
    runs
        The filters, each with its `states` and `log_weights` by time.
    """

    space: ParticleModel
    runs: tuple[FilterRun, ...]
    seed: int | None = None

    def __repr__(self) -> str:
        error = "" if self.log_evidence_error is None else f" ± {self.log_evidence_error:.2g}"
        size, steps = len(self.runs[0].states[0]), len(self.alive[0].states)
        numbers = f"{len(self.runs)} × {size:,} particles, {steps} steps"
        return f"ParticleBeliefs({numbers}, log_evidence {self.log_evidence:.6g}{error})"

    @cached_property
    def alive(self) -> tuple[FilterRun, ...]:
        """The filters in which some weight was positive to the end."""
        return tuple(run for run in self.runs if run.log_evidence > -np.inf)

    @cached_property
    def shares(self) -> np.ndarray:
        """(filter,): the weights by which living filters are averaged, in proportion to their p(observations)."""
        values = np.array([run.log_evidence for run in self.alive])
        weights = np.exp(values - values.max())
        return weights / weights.sum()

    @property
    def num_effective_runs(self) -> float:
        """How many filters of equal evidence would count as much: 1 / Σ share²."""
        return float(1.0 / (self.shares**2).sum())

    @cached_property
    def log_evidence(self) -> float:
        """The logarithm of the mean of the filters' estimates of p(observations), each of which is unbiased."""
        values = np.array([run.log_evidence for run in self.runs])
        return float(np.logaddexp.reduce(values) - math.log(len(values)))

    @cached_property
    def log_evidence_error(self) -> float | None:
        """The standard error of `log_evidence`, from the spread of the filters; None for a single filter."""
        if len(self.runs) < 2:
            return None
        ratios = np.exp(np.array([run.log_evidence for run in self.runs]) - self.log_evidence)
        return float(ratios.std(ddof=1) / math.sqrt(len(ratios)))

    @property
    def degrees_of_freedom(self) -> int:
        """Of the standard errors, which come from the spread of the filters: one less than there are."""
        return len(self.alive) - 1

    def log_evidence_interval(self, confidence: float = 0.9) -> tuple[float, float]:
        """The interval that holds log p(observations) with this probability, by Student's t.

        Parameters
        ----------
        confidence
            In (0, 1).

        Returns
        -------
        low, high
            Two floats.
        """
        error = self.student_quantile(confidence) * (self.log_evidence_error or 0.0)
        return self.log_evidence - error, self.log_evidence + error

    def interval(
        self, confidence: float = 0.9, function: Callable[[np.ndarray], Any] | None = None, *, smoothed: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """The intervals that hold E f(z[t]) with this probability each, for the errors of the filters.

        A few filters know their own spread badly: 1.96 standard errors of ten filters hold the truth in 92 of 100
        cases, and Student's t with nine degrees of freedom takes 2.26 of them.

        Parameters
        ----------
        confidence
            In (0, 1).
        function
            As in `filtered`.
        smoothed
            Whether all observations are given, instead of those up to each time.

        Returns
        -------
        low, high
            Both (time, …).
        """
        check_flag(smoothed, "smoothed")
        quantile = self.student_quantile(confidence)
        means, errors = self.smoothed(function) if smoothed else self.filtered(function)
        return means - quantile * np.asarray(errors), means + quantile * np.asarray(errors)

    def student_quantile(self, confidence: float) -> float:
        """How many standard errors lie between the middle and the end of an interval."""
        from scipy.stats import t as student_t

        check_number(confidence, "confidence", above=0, below=1)
        if self.degrees_of_freedom < 1:
            raise Unsupported("a single filter does not know its error: take repeats= of at least 2")
        return float(student_t.ppf(0.5 + 0.5 * confidence, self.degrees_of_freedom))

    @cached_property
    def effective_sample_sizes(self) -> np.ndarray:
        """(time,): of the weights, the mean over the filters."""
        return np.mean([run.effective_sample_sizes for run in self.alive], axis=0)

    def filtered(self, function: Callable[[np.ndarray], Any] | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        """E f(z[t]) given the observations up to each time.

        Parameters
        ----------
        function
            A function of many states, (particle, …) → (particle, …); None takes the states themselves.

        Returns
        -------
        means, standard_errors
            Both (time, …). The standard errors come from the spread of the filters; None for a single filter.
            `interval` makes intervals of them, by Student's t with their `degrees_of_freedom`.
        """
        return self.combine([run.weights for run in self.alive], function)

    def smoothed(self, function: Callable[[np.ndarray], Any] | None = None) -> tuple[np.ndarray, np.ndarray | None]:
        """E f(z[t]) given all observations, by the backward recursion: quadratic in the number of particles.

        Parameters
        ----------
        function
            A function of many states, (particle, …) → (particle, …); None takes the states themselves.

        Returns
        -------
        means, standard_errors
            Both (time, …), as those of `filtered`.
        """
        return self.combine(self.smoothed_weights, function)

    @cached_property
    def smoothed_weights(self) -> list[np.ndarray]:
        """(time, particle) of each living filter: the weights of particles at each time given all observations."""
        return [run.smoothed_weights(self.space) for run in self.alive]

    def sample(self, n: int, rng: Any = None) -> Draws:
        """Paths of states given all observations, drawn backwards in time.

        Parameters
        ----------
        n
            The number of paths.
        rng
            A seed or a generator.

        Returns
        -------
        Draws
            `draws["state"]` is (1, path, time, …).
        """
        count, generator = check_count(n, "n", least=1), as_generator(rng)
        counts = generator.multinomial(count, self.shares)
        parts = [run.paths(self.space, many, generator) for run, many in zip(self.alive, counts, strict=True) if many]
        paths = generator.permutation(np.concatenate(parts))
        return Draws({"state": paths[np.newaxis]})

    def combine(
        self, weights: list[np.ndarray], function: Callable[[np.ndarray], Any] | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The mean over the filters by their shares, and its standard error by the delta method for a ratio."""
        apply: Callable[[np.ndarray], Any] = np.asarray if function is None else check_function(function, "function")
        answers: list[list[np.ndarray]] = []
        for run, rows in zip(self.alive, weights, strict=True):
            values = [as_states(apply(states), len(states), "the function") for states in run.states]
            answers.append([np.tensordot(row, one, axes=1) for row, one in zip(rows, values, strict=True)])
        table = np.array(answers)  # (filter, time, …)
        means = np.tensordot(self.shares, table, axes=1)
        count = len(self.alive)
        if count < 2:
            return means, None
        squares = np.tensordot(self.shares**2, (table - means) ** 2, axes=1)
        return means, np.sqrt(squares * count / (count - 1))


@dataclass(frozen=True, eq=False)
class FilterRun:
    """One filter: by time, the states, (particle, …), and the logarithms of their weights, which sum to 1."""

    states: list[np.ndarray]
    log_weights: list[np.ndarray]
    log_evidence: float

    @property
    def weights(self) -> np.ndarray:
        """(time, particle)."""
        return np.exp(np.stack(self.log_weights))

    @property
    def effective_sample_sizes(self) -> np.ndarray:
        """(time,): 1 / Σ w²."""
        return 1.0 / (self.weights**2).sum(axis=1)

    def smoothed_weights(self, space: ParticleModel) -> np.ndarray:
        """(time, particle): weights given all observations, by the backward recursion.

        w[t, i | T] = w[t, i] Σ_j w[t+1, j | T] p(z_j | z_i) / Σ_k w[t, k] p(z_j | z_k).
        """
        smoothed = [np.exp(self.log_weights[-1])]
        for time in range(len(self.states) - 1, 0, -1):
            total = np.zeros(len(self.states[time - 1]))
            for block in blocks_of(len(self.states[time]), max(1, BLOCK // len(total))):
                total += smoothed[-1][block] @ self.backward_weights(space, self.states[time][block], time)
            smoothed.append(total)
        return np.stack(smoothed[::-1])

    def backward_weights(self, space: ParticleModel, later: np.ndarray, time: int) -> np.ndarray:
        """(later, particle): p(z[time - 1] | z[time], observations before `time`), over the particles."""
        log_pairs = space.log_transitions(later, self.states[time - 1], time) + self.log_weights[time - 1]
        highest = log_pairs.max(axis=1, keepdims=True)
        if (highest == -np.inf).any():
            raise InvalidModel("log_transition gives density 0 to a step that was drawn: it does not fit the dynamics")
        pairs = np.exp(log_pairs - highest)
        return pairs / pairs.sum(axis=1, keepdims=True)

    def paths(self, space: ParticleModel, count: int, rng: np.random.Generator) -> np.ndarray:
        """(path, time, …): paths given all observations, drawn backwards (Godsill, Doucet and West 2004)."""
        chosen = draw_rows(np.broadcast_to(np.exp(self.log_weights[-1]), (count, len(self.states[-1]))), rng)
        steps = [self.states[-1][chosen]]
        for time in range(len(self.states) - 1, 0, -1):
            blocks = blocks_of(count, max(1, BLOCK // len(self.states[time - 1])))
            drawn = [draw_rows(self.backward_weights(space, steps[-1][block], time), rng) for block in blocks]
            steps.append(self.states[time - 1][np.concatenate(drawn)])
        return np.stack(steps[::-1], axis=1)


def draw_rows(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An index of each row, in proportion to its weights."""
    sums = np.cumsum(weights, axis=1)
    points = rng.random(len(weights)) * sums[:, -1]
    return np.minimum((sums <= points[:, np.newaxis]).sum(axis=1), weights.shape[1] - 1)
