"""Where Baum-Welch starts: the model given, clusters, stretches of data drawn at random, or one after the other.

Each way but the first shares every step out among the states, and estimates from the shares. Steps whose state is told
belong to that state.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from juncture.components.contract import Emissions
from juncture.components.shared import SharedEmissions
from juncture.data.sequences.sequences import Sequences
from juncture.errors import Unsupported
from juncture.sequences.hidden_markov.baum_welch import Believed, Pass
from juncture.sequences.hidden_markov.clusters import Clusters, fraction_passed
from juncture.sequences.hidden_markov.infer import log_prob_chain
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Groups, Wishes
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics, assigned, quietly_estimated

STEPS = 2**13  # at most
WINDOWS = 16
NOISE = 0.2  # how far rows are moved, on the scale of logarithms
SPREAD = 0.05  # of every step goes to all states alike, so that no start forbids what the data may ask for
STRETCH = 4  # at most so many steps are drawn for a state at random
DRAWS = 16  # of which the likeliest is a start at random; EM often gets stuck from a single one
Shares = Callable[[Sequences, slice], np.ndarray]  # (step, state) of some steps


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


def twins(model: HiddenMarkovModel) -> np.ndarray:
    """Which states could swap with an earlier one, and the model would be the same: (state,)."""
    found = np.zeros(model.num_states, dtype=bool)
    by_law: dict[Emissions, list[int]] = {}
    try:
        for state in range(model.num_states):
            by_law.setdefault(model.emissions.take([state]), []).append(state)
    except Unsupported:  # what is given for each step has no law to compare
        return found
    for first, *others in by_law.values():
        firsts = [first]
        for state in others:
            found[state] = any(swap_alike(model, one, state) for one in firsts)
            firsts += [] if found[state] else [state]
    return found


def swap_alike(model: HiddenMarkovModel, one: int, other: int) -> bool:
    """Whether the chain of states is the same with two of them swapped."""
    if model.initial[one] != model.initial[other]:
        return False
    order = np.arange(model.num_states)
    order[[one, other]] = other, one
    return np.array_equal(model.transition, model.transition[order][:, order])


def parted_rows(transition: np.ndarray, rows: Groups, rng: np.random.Generator) -> np.ndarray:
    """The transition moved a little, so that no two states are alike; tied rows stay tied."""
    moved = transition * np.exp(NOISE * rng.standard_normal(transition.shape))[rows.first[rows.of_state]]
    return np.asarray(moved / moved.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Starts:
    """The starts of one task: the model whose structure they keep, the sequences, what is asked, and chance."""

    template: HiddenMarkovModel
    parts: Pass
    wishes: Wishes
    rng: np.random.Generator

    def make(self, kind: str) -> HiddenMarkovModel:
        makers = {
            "given": self.given,
            "k-means": self.clustered,
            "random": self.at_random,
            "left-to-right": self.in_stretches,
        }
        return makers[kind]()

    def given(self) -> HiddenMarkovModel:
        """The model itself; of states that it cannot tell apart, all but the first are drawn anew."""
        model, first = self.template, next(iter(self.parts()))
        alike = twins(model) if first.states is None else np.zeros(model.num_states, dtype=bool)
        if not alike.any():
            return model
        transition, emissions = model.transition, model.emissions
        if self.wishes.learns("emissions") and not isinstance(emissions, SharedEmissions):
            emissions = emissions.estimate(self.shared_out(self.stretches(alike)).emissions)
        elif self.wishes.learns("transition"):
            transition = parted_rows(transition, self.wishes.rows, self.rng)
        return HiddenMarkovModel(model.initial, transition, emissions, states=model.states)

    def clustered(self) -> HiddenMarkovModel:
        """States are clusters of observations, in the order in which sequences pass through them."""
        states = np.arange(self.template.num_states)
        clusters = Clusters.of(self.template, next(iter(self.parts())), self.rng)
        return self.from_shares(lambda part, steps: spread(clusters.numbers(part.observations[steps]), states))

    def in_stretches(self) -> HiddenMarkovModel:
        """Every sequence is cut into as many stretches of the same length as there are states."""
        states = np.arange(self.template.num_states)
        return self.from_shares(
            lambda part, steps: spread((fraction_passed(part, steps) * len(states)).astype(np.int64), states)
        )

    def at_random(self) -> HiddenMarkovModel:
        """The likeliest of several draws on an excerpt of the data, and a little of all data, to forbid none of it."""
        first = next(iter(self.parts()))
        some, num_states = excerpt(first), self.template.num_states
        within = replace(self, parts=lambda: iter([some]))
        best = max((within.drawn() for _ in range(DRAWS)), key=lambda draw: log_likelihood(self.estimated(draw), some))
        little = self.shared_out(
            lambda part, steps: np.full((len(part.observations[steps]), num_states), 1.0 / first.num_steps)
        )
        return self.estimated(HiddenMarkovStatistics(best.initial, best.transitions, best.emissions + little.emissions))

    def drawn(self) -> HiddenMarkovStatistics:
        """Tables drawn evenly among all that the structure allows; each state's law from a stretch drawn at random."""
        seen = self.shared_out(self.stretches(np.ones(self.template.num_states, dtype=bool)))
        initial, transitions = self.random_tables()
        scale = max(1.0, float(seen.visits.sum()))  # a prior must not drown the draw
        return HiddenMarkovStatistics(scale * initial, scale * transitions, seen.emissions)

    def reseeded(self, found: Believed, dead: np.ndarray) -> HiddenMarkovModel:
        """The model found, in which states that no sequence visits any more try other stretches of the data."""
        drawn = self.shared_out(self.stretches(dead)).emissions
        initial, transitions = self.random_tables()
        told = found.statistics
        entries = told.transitions.sum(axis=1, keepdims=True) * transitions * dead  # (from, to)
        return self.estimated(
            HiddenMarkovStatistics(
                told.initial + SPREAD * told.initial.sum() * initial * dead,
                np.where(dead[:, None], transitions, told.transitions + SPREAD * entries),
                told.emissions + drawn,
            )
        )

    def random_tables(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows drawn evenly among those with the zeros of the model."""
        wishes = self.wishes
        return random_rows(wishes.may_begin, self.rng), random_rows(wishes.may_follow, self.rng)

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
        return self.estimated(self.shared_out(shares))

    def shared_out(self, shares: Shares) -> HiddenMarkovStatistics:
        """The statistics of all sequences, when steps belong to states in shares."""
        found = []
        for part in self.parts():

            def own(steps: slice, part: Sequences = part) -> np.ndarray:
                return as_told(part, steps, shares(part, steps))

            found.append(assigned(self.template, part, own))
        return reduce(operator.add, found)

    def estimated(self, statistics: HiddenMarkovStatistics) -> HiddenMarkovModel:
        """The model that the statistics lead to, as far as the structure allows."""
        allowed = HiddenMarkovStatistics(
            statistics.initial * self.wishes.may_begin,
            statistics.transitions * self.wishes.may_follow,
            statistics.emissions,
        )
        return quietly_estimated(self.template, allowed, self.wishes)


def spread(numbers: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Most of each step for its own state, a little for all: (step, state)."""
    return np.asarray((1 - SPREAD) * (numbers[:, None] == states) + SPREAD / len(states))


def as_told(part: Sequences, steps: slice, shares: np.ndarray) -> np.ndarray:
    """The shares, in which steps whose state is told belong to it."""
    if part.states is None:
        return shares
    told = part.states[steps, None]
    return np.where(told >= 0, told == np.arange(shares.shape[1]), shares)


def random_rows(allowed: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Rows that sum to 1, drawn evenly among those that are zero where nothing is allowed."""
    drawn = rng.standard_exponential(allowed.shape) * allowed
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))
