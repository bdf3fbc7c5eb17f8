"""What a hidden Markov model needs to know of sequences; counted where states are told, expected where they are not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.errors import InvalidData
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.values import Value, number_of, read_only

STEPS_AT_ONCE = 2**16


class HiddenMarkovStatistics(Value):
    """How often sequences began in each state and went from each to each, and what was seen in each; they add."""

    _fields = ("initial", "transitions", "emissions")
    initial: np.ndarray  # (state,)
    transitions: np.ndarray  # (from, to)
    emissions: Any  # the emissions' own

    def __init__(self, initial: Any, transitions: Any, emissions: Any) -> None:
        self._set(
            initial=read_only(initial, np.float64), transitions=read_only(transitions, np.float64), emissions=emissions
        )

    @property
    def visits(self) -> np.ndarray:
        """How many steps were spent in each state: (state,)."""
        return np.asarray(self.initial + self.transitions.sum(axis=0))

    def __add__(self, other: object) -> HiddenMarkovStatistics:
        if not isinstance(other, HiddenMarkovStatistics):
            return NotImplemented
        if self.initial.shape != other.initial.shape:
            raise InvalidData(
                f"statistics of models with {len(self.initial)} and {len(other.initial)} states do not add"
            )
        emissions = self.emissions + other.emissions
        return HiddenMarkovStatistics(self.initial + other.initial, self.transitions + other.transitions, emissions)

    def __radd__(self, other: object) -> HiddenMarkovStatistics:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def __repr__(self) -> str:
        steps = number_of(self.visits.sum(), "step")
        return f"HiddenMarkovStatistics({number_of(len(self.initial), 'state')}, {steps})"


def labelled_statistics(
    model: HiddenMarkovModel, data: Any, *, lengths: Any = None, weights: Any = None
) -> HiddenMarkovStatistics:
    """The statistics of sequences whose states are all told."""
    sequences = with_weights(model.sequences(data, lengths), weights)
    refuse_unlabelled(sequences)
    return counted(model, sequences)


def counted(model: HiddenMarkovModel, sequences: Sequences) -> HiddenMarkovStatistics:
    """Every step counts for the state that is told."""
    states, labels = np.arange(model.num_states), sequences.states
    if labels is None:
        labels = np.zeros(0, dtype=np.int64)
    return assigned(model, sequences, lambda steps: (labels[steps, None] == states).astype(np.float64))


def assigned(
    model: HiddenMarkovModel, sequences: Sequences, shares_of: Callable[[slice], np.ndarray]
) -> HiddenMarkovStatistics:
    """The statistics when steps belong to states in shares, told for some steps at a time: (step, state)."""
    weights = np.repeat(sequences.weights, sequences.lengths)  # (step,)
    begins = np.zeros(sequences.num_steps, dtype=bool)
    begins[sequences.offsets[:-1][sequences.lengths > 0]] = True
    parts, before = [], np.zeros((1, model.num_states))
    for start in range(0, max(1, sequences.num_steps), STEPS_AT_ONCE):
        block = slice(start, min(start + STEPS_AT_ONCE, sequences.num_steps))
        shares, first = shares_of(block), begins[block]
        weighted = shares * weights[block, None]
        earlier = np.concatenate([before, shares])[:-1]  # the shares of the step before each
        emissions = model.emissions.statistics(sequences.observations[block], weighted)
        parts.append(
            HiddenMarkovStatistics(weighted[first].sum(axis=0), earlier[~first].T @ weighted[~first], emissions)
        )
        before = shares[-1:]
    return reduce(operator.add, parts)


def with_weights(sequences: Sequences, weights: Any) -> Sequences:
    """The sequences with other weights, if some are given."""
    if weights is None:
        return sequences
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"weights are numbers, one for each sequence: {error}") from error
    if given.shape != sequences.weights.shape:
        raise InvalidData(f"there are {sequences.num} sequences, but weights of the shape {given.shape}")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise InvalidData(f"the weight of a sequence is finite and at least 0; got {given[~(given >= 0)]}")
    return replace(sequences, weights=given)


def refuse_unlabelled(sequences: Sequences) -> None:
    if sequences.states is None:
        raise InvalidData(
            "the statistics of labelled sequences were asked for, but no states are told; give"
            " jt.Sequence(observations, states=…), or let jt.fit learn without"
        )
    unknown = np.flatnonzero(sequences.states < 0)
    if unknown.size:
        raise InvalidData(
            "the statistics of labelled sequences were asked for, but the state is not told at"
            f" {sequences.place(int(unknown[0]))}; jt.fit learns without"
        )


def is_labelled(sequences: Sequences) -> bool:
    """Whether the state of every step is told."""
    return sequences.states is not None and bool((sequences.states >= 0).all())
