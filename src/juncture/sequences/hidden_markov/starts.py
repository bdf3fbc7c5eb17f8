"""Starting points of Baum-Welch: the given model, clusters, random segments of the data, or consecutive segments.

Each start but the first assigns every step to the states with weights, and estimates a model from the weights. Labelled
steps belong to the state of their label. Clusters are those of k-means of the standardised observations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from juncture.components.contract import Emissions
from juncture.components.densities import mean_and_variance
from juncture.components.shared import SharedEmissions
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import SequenceParts
from juncture.errors import InvalidData, Unsupported
from juncture.learning.em.contract import EMState
from juncture.sequences.hidden_markov.infer import log_prob_chain
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Groups, LearningOptions
from juncture.sequences.hidden_markov.statistics import (
    HiddenMarkovStatistics,
    count_shares,
    estimate_parts,
)

STEPS = 2**13  # at most, in an excerpt
WINDOWS = 16  # of an excerpt
NOISE = 0.2  # how far rows are moved, on the scale of logarithms
UNIFORM_SHARE = 0.05  # of every step goes to all states alike, so that no start forbids what the data may ask for
STRETCH = 4  # at most so many steps are drawn for a state at random
DRAWS = 16  # of which the likeliest is a start at random; EM often gets stuck from a single one
Shares = Callable[[Sequences, slice], np.ndarray]  # (step, state) of some steps
MAX_STEPS = 50_000  # clusters are sought among these; further steps only join them


@dataclass(frozen=True, eq=False)
class Starts:
    """Where learning may start: the model whose structure starts keep, the sequences, the options, random numbers."""

    template: HiddenMarkovModel
    parts: SequenceParts
    options: LearningOptions
    rng: np.random.Generator

    def make(self, kind: str) -> HiddenMarkovModel:
        makers = {
            "given": self.given,
            "k-means": self.cluster,
            "random": self.draw_best,
            "left-to-right": self.cut_stretches,
        }
        return makers[kind]()

    def given(self) -> HiddenMarkovModel:
        """The model itself; of states that it cannot tell apart, all but the first are drawn anew."""
        model, first = self.template, next(iter(self.parts()))
        alike = find_symmetric_states(model) if first.states is None else np.zeros(model.num_states, dtype=bool)
        if not alike.any():
            return model
        transition, emissions = model.transition, model.emissions
        if self.options.learns("emissions") and not isinstance(emissions, SharedEmissions):
            emissions = emissions.estimate(self.assign_steps(self.stretches(alike)).emissions)
        elif self.options.learns("transition"):
            transition = break_symmetry(transition, self.options.rows, self.rng)
        return HiddenMarkovModel(model.initial, transition, emissions, states=model.states)

    def cluster(self) -> HiddenMarkovModel:
        """States are clusters of observations, in the order in which sequences pass through them."""
        states = np.arange(self.template.num_states)
        clusters = Clusters.of(self.template, next(iter(self.parts())), self.rng)
        return self.from_shares(lambda part, steps: soft_assignment(clusters.numbers(part.observations[steps]), states))

    def cut_stretches(self) -> HiddenMarkovModel:
        """Every sequence is cut into as many stretches of the same length as there are states."""
        states = np.arange(self.template.num_states)
        return self.from_shares(
            lambda part, steps: soft_assignment((fraction_passed(part, steps) * len(states)).astype(np.int64), states)
        )

    def draw_best(self) -> HiddenMarkovModel:
        """The likeliest of several draws on an excerpt of the data, and a little of all data, to forbid none of it."""
        first = next(iter(self.parts()))
        some, num_states = excerpt(first), self.template.num_states
        within = replace(self, parts=lambda: iter([some]))
        best = max((within.draw() for _ in range(DRAWS)), key=lambda draw: log_likelihood(self.estimate(draw), some))
        little = self.assign_steps(
            lambda part, steps: np.full((len(part.observations[steps]), num_states), 1.0 / first.num_steps)
        )
        return self.estimate(HiddenMarkovStatistics(best.initial, best.transitions, best.emissions + little.emissions))

    def draw(self) -> HiddenMarkovStatistics:
        """Random tables that the structure allows; each state's distribution from a random stretch of data."""
        seen = self.assign_steps(self.stretches(np.ones(self.template.num_states, dtype=bool)))
        initial, transitions = self.random_tables()
        scale = max(1.0, float(seen.visits.sum()))  # a prior must not drown the draw
        return HiddenMarkovStatistics(scale * initial, scale * transitions, seen.emissions)

    def reseed(self, found: EMState[HiddenMarkovModel, HiddenMarkovStatistics], dead: np.ndarray) -> HiddenMarkovModel:
        """The model found, in which states that no sequence visits any more try other stretches of the data."""
        drawn = self.assign_steps(self.stretches(dead)).emissions
        initial, transitions = self.random_tables()
        own = found.statistics
        entries = own.transitions.sum(axis=1, keepdims=True) * transitions * dead  # (from, to)
        return self.estimate(
            HiddenMarkovStatistics(
                own.initial + UNIFORM_SHARE * own.initial.sum() * initial * dead,
                np.where(dead[:, None], transitions, own.transitions + UNIFORM_SHARE * entries),
                own.emissions + drawn,
            )
        )

    def random_tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows drawn evenly among those with the zeros of the model."""
        options = self.options
        return random_rows(options.may_begin, self.rng), random_rows(options.may_follow, self.rng)

    def stretches(self, states: np.ndarray) -> Shares:
        """A stretch of the first sequences for each of these states, and a little of everything."""
        num_steps, num_states = next(iter(self.parts())).num_steps, len(states)
        length = int(np.clip(num_steps // (2 * num_states), 1, STRETCH))
        begins = self.rng.integers(max(1, num_steps - length + 1), size=num_states)

        def shares(part: Sequences, steps: slice) -> np.ndarray:
            own = np.arange(*steps.indices(part.num_steps))[:, None]
            inside = (own >= begins) & (own < begins + length)
            return np.asarray((0.5 * length / num_steps + inside) * states)

        return shares

    def from_shares(self, shares: Shares) -> HiddenMarkovModel:
        return self.estimate(self.assign_steps(shares))

    def assign_steps(self, shares: Shares) -> HiddenMarkovStatistics:
        """The statistics of all sequences, when steps belong to states in shares."""
        found = []
        for part in self.parts():

            def own(steps: slice, part: Sequences = part) -> np.ndarray:
                return with_labels(part, steps, shares(part, steps))

            found.append(count_shares(self.template, part, own))
        return reduce(operator.add, found)

    def estimate(self, statistics: HiddenMarkovStatistics) -> HiddenMarkovModel:
        """The model that the statistics lead to, as far as the structure allows."""
        allowed = HiddenMarkovStatistics(
            statistics.initial * self.options.may_begin,
            statistics.transitions * self.options.may_follow,
            statistics.emissions,
        )
        return estimate_parts(self.template, allowed, self.options)[0]


def find_symmetric_states(model: HiddenMarkovModel) -> np.ndarray:
    """Which states are exchangeable with an earlier one, so that EM would keep them equal: (state,)."""
    found = np.zeros(model.num_states, dtype=bool)
    by_distribution: dict[Emissions, list[int]] = {}
    try:
        for state in range(model.num_states):
            by_distribution.setdefault(model.emissions.take([state]), []).append(state)
    except Unsupported:  # precomputed log-likelihoods have no distributions to compare
        return found
    for first, *others in by_distribution.values():
        firsts = [first]
        for state in others:
            found[state] = any(are_symmetric(model, one, state) for one in firsts)
            firsts += [] if found[state] else [state]
    return found


def are_symmetric(model: HiddenMarkovModel, one: int, other: int) -> bool:
    """Whether the chain of states is the same with two of them swapped."""
    if model.initial[one] != model.initial[other]:
        return False
    order = np.arange(model.num_states)
    order[[one, other]] = other, one
    return np.array_equal(model.transition, model.transition[order][:, order])


def break_symmetry(transition: np.ndarray, rows: Groups, rng: np.random.Generator) -> np.ndarray:
    """The transition moved a little, so that no two states are alike; tied rows stay tied."""
    moved = transition * np.exp(NOISE * rng.standard_normal(transition.shape))[rows.first[rows.of_state]]
    return moved / moved.sum(axis=-1, keepdims=True)


def excerpt(sequences: Sequences) -> Sequences:
    """Windows spread evenly over the data, as sequences of their own; all of it where that is little."""
    if sequences.num_steps <= STEPS:
        return sequences
    length = STEPS // WINDOWS
    begins = np.linspace(0, sequences.num_steps - length, WINDOWS).astype(np.int64)
    steps = (begins[:, None] + np.arange(length)).ravel()
    owner = np.searchsorted(sequences.offsets, steps, side="right") - 1
    cuts = np.flatnonzero((np.diff(owner) != 0) | (np.diff(steps) != 1)) + 1
    offsets = np.concatenate([[0], cuts, [len(steps)]])
    states = None if sequences.states is None else sequences.states[steps]
    return Sequences(sequences.observations[steps], offsets, sequences.weights[owner[offsets[:-1]]], states)


def log_likelihood(model: HiddenMarkovModel, sequences: Sequences) -> float:
    """Of all sequences, each by its weight."""
    heavy = sequences.weights > 0
    return float(sequences.weights[heavy] @ np.atleast_1d(log_prob_chain(model, sequences))[heavy])


def random_rows(allowed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows that sum to 1, drawn evenly among those that are zero where nothing is allowed."""
    drawn = rng.standard_exponential(allowed.shape) * allowed
    return drawn / drawn.sum(axis=-1, keepdims=True)


def soft_assignment(numbers: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Most of each step for its own state, a little for all: (step, state)."""
    return np.asarray((1 - UNIFORM_SHARE) * (numbers[:, None] == states) + UNIFORM_SHARE / len(states))


def with_labels(part: Sequences, steps: slice, shares: np.ndarray) -> np.ndarray:
    """The shares, with each labelled step in the state of its label."""
    if part.states is None:
        return shares
    labels = part.states[steps, None]
    return np.where(labels >= 0, labels == np.arange(shares.shape[1]), shares)


@dataclass(frozen=True, eq=False)
class Clusters:
    """k-means of the standardised observations: holes count as average."""

    mean: np.ndarray  # (column,)
    scale: np.ndarray  # (column,)
    centers: Any  # the k-means
    state_of: np.ndarray  # (cluster,)

    @classmethod
    def of(cls, model: HiddenMarkovModel, sequences: Sequences, rng: np.random.Generator) -> Clusters:
        from juncture.clusters.means import tightest_clusters

        check_clusterable(model, sequences)
        rows = columns_of(sequences.observations)[:: -(-sequences.num_steps // MAX_STEPS)]
        mean, variance = mean_and_variance(rows, np.ones(len(rows)))
        scale = np.where(variance > 0, np.sqrt(variance), 1.0)
        centers = tightest_clusters(standardise(rows, mean, scale), model.num_states, rng)
        found = cls(mean, scale, centers, np.arange(model.num_states))
        return cls(
            mean, scale, centers, assign_states(found.numbers(sequences.observations), sequences, model.num_states)
        )

    def numbers(self, observations: np.ndarray) -> np.ndarray:
        """The cluster that each step is nearest to, as its state: (step,)."""
        rows = standardise(columns_of(observations), self.mean, self.scale)
        return np.asarray(self.state_of[self.centers.predict(rows)])


def check_clusterable(model: HiddenMarkovModel, sequences: Sequences) -> None:
    if model.emissions.is_table or model.emissions.takes_minus_infinity:
        raise Unsupported(
            f"k-means clusters observed numbers, which {type(model.emissions).__name__} have not: start at random"
        )
    if sequences.num_steps < model.num_states:
        raise InvalidData(
            f"k-means needs a step for each of the {model.num_states} states; there are {sequences.num_steps}"
        )


def columns_of(observations: np.ndarray) -> np.ndarray:
    return observations.reshape(len(observations), int(np.prod(observations.shape[1:]))).astype(np.float64)


def standardise(rows: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(rows), 0.0, (rows - mean) / scale)


def assign_states(numbers: np.ndarray, sequences: Sequences, num_states: int) -> np.ndarray:
    """The state for each cluster: the most frequent label of its steps, else in the order in which sequences pass."""
    from scipy.optimize import linear_sum_assignment

    passed = fraction_passed(sequences, slice(0, sequences.num_steps))
    sizes = np.maximum(np.bincount(numbers, minlength=num_states), 1)
    average = np.bincount(numbers, passed, minlength=num_states) / sizes  # (cluster,)
    together = np.zeros((num_states, num_states))  # (cluster, state)
    if sequences.states is not None:
        known = sequences.states >= 0
        np.add.at(together, (numbers[known], sequences.states[known]), 1.0)
    gaps = np.abs(np.argsort(np.argsort(average))[:, None] - np.arange(num_states)) / num_states**2
    return np.asarray(linear_sum_assignment(gaps - together)[1])


def fraction_passed(sequences: Sequences, steps: slice) -> np.ndarray:
    """How much of its sequence lies before each step, from 0 up to 1."""
    own = np.arange(*steps.indices(sequences.num_steps))
    position = np.searchsorted(sequences.offsets, own, side="right") - 1
    return (own - sequences.offsets[position]) / sequences.lengths[position]
