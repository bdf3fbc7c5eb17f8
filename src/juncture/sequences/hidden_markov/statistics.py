"""The sufficient statistics of a hidden Markov model, and the model estimated from them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from juncture.base.notes import NO_NOTES, Name, Notes
from juncture.base.values import Value, number_of, read_only
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.errors import InvalidData
from juncture.learning.conditionals.table import NEGLIGIBLE
from juncture.learning.fit import check_learned
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Groups, HiddenMarkovEstimate, LearningOptions
from juncture.sequences.options import LabelledSequences

STEPS_AT_ONCE = 2**16


class HiddenMarkovStatistics(Value):
    """The (expected) sufficient statistics of a hidden Markov model; `a + b` are those of both data sets.

    Parameters
    ----------
    initial
        (state,): how often each state came first.
    transitions
        (from, to): how often each state followed each state.
    emissions
        The statistics of the emissions.
    """

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
        return self.initial + self.transitions.sum(axis=0)

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
    model: HiddenMarkovModel,
    data: Any,
    *,
    weights: Any = None,
    options: LabelledSequences,
) -> HiddenMarkovStatistics:
    """The statistics of sequences whose steps are all labelled."""

    def count(sequences: Sequences) -> HiddenMarkovStatistics:
        check_labelled(sequences)
        return count_labelled(model, sequences)

    return read_sequences(model, data, options.lengths, options.group, options.states, weights).total(count)


def count_labelled(model: HiddenMarkovModel, sequences: Sequences) -> HiddenMarkovStatistics:
    """Every step counts for the state of its label."""
    states, labels = np.arange(model.num_states), sequences.states
    if labels is None:
        labels = np.zeros(0, dtype=np.int64)
    return count_shares(model, sequences, lambda steps: (labels[steps, None] == states).astype(np.float64))


def count_shares(
    model: HiddenMarkovModel, sequences: Sequences, shares_of: Callable[[slice], np.ndarray]
) -> HiddenMarkovStatistics:
    """The statistics when steps belong to states in shares; `shares_of` returns those of some steps: (step, state)."""
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


def check_labelled(sequences: Sequences) -> None:
    if sequences.states is None:
        raise InvalidData(
            "the statistics of labelled sequences were asked for, but no step is labelled; give"
            " jt.Sequence(observations, states=…), or use jt.fit, which needs no labels"
        )
    unknown = np.flatnonzero(sequences.states < 0)
    if unknown.size:
        raise InvalidData(
            "the statistics of labelled sequences were asked for, but there is no label at"
            f" {sequences.describe_step(int(unknown[0]))}; jt.fit needs no labels"
        )


def is_labelled(sequences: Sequences) -> bool:
    """Whether every step is labelled."""
    return sequences.states is not None and bool((sequences.states >= 0).all())


def estimate_hidden_markov(
    model: HiddenMarkovModel,
    statistics: HiddenMarkovStatistics,
    prior: Any = None,
    *,
    options: HiddenMarkovEstimate,
) -> HiddenMarkovModel:
    """The model that the statistics lead to: maximum likelihood, or with a prior the mean or mode of the posterior."""
    if not isinstance(statistics, HiddenMarkovStatistics):
        raise InvalidData(f"estimate takes jt.statistics(model, sequences); got {type(statistics).__name__}")
    if len(statistics.initial) != model.num_states:
        raise InvalidData(
            f"the statistics are of {len(statistics.initial)} states, the model has {model.num_states}:"
            " take them with jt.statistics(model, sequences)"
        )
    single = Groups.numbered(range(model.num_states))
    learning = LearningOptions.of(model, single, prior, options.fixed, options.point)
    check_allowed(model, statistics, learning)
    learned, notes = estimate_parts(model, statistics, learning)
    notes.warn(state_names(model))
    return check_learned(learned)


def state_names(model: HiddenMarkovModel) -> Name:
    """What a warning calls the distribution of a state."""
    return lambda position: f"state {model.states[position]!r}"


def estimate_parts(
    model: HiddenMarkovModel, statistics: HiddenMarkovStatistics, options: LearningOptions
) -> tuple[HiddenMarkovModel, Notes]:
    """Each learned part from its statistics; a row or a distribution without any weight stays as it is.

    The notes are about the distributions that regularisation keeps from their data.
    """
    initial, transition, emissions, notes = model.initial, model.transition, model.emissions, NO_NOTES
    if options.learns("initial"):
        initial = normalize_counts((statistics.initial + options.initial_counts)[None], initial[None])[0]
    if options.learns("transition"):
        counts = options.rows.pool(statistics.transitions) + options.transition_counts
        transition = normalize_counts(counts, transition[options.rows.first])[options.rows.of_state]
    if options.learns("emissions"):
        emissions, notes = emissions.estimate_with_notes(statistics.emissions, options.emissions_prior)
    return HiddenMarkovModel.trusted(model, initial, transition, emissions), notes


def normalize_counts(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Counts as rows that sum to 1.

    Negligible counts become 0: left to shrink, their products would underflow.
    """
    counts = np.where(counts < NEGLIGIBLE * counts.sum(), 0.0, counts)
    totals = counts.sum(axis=-1, keepdims=True)
    return np.divide(counts, totals, out=otherwise.copy(), where=totals > 0)


def check_allowed(model: HiddenMarkovModel, statistics: HiddenMarkovStatistics, options: LearningOptions) -> None:
    """Labels may use only the beginnings and transitions that the model allows."""
    begun = np.argwhere((statistics.initial > 0) & ~options.may_begin)
    if begun.size and options.learns("initial"):
        raise InvalidData(
            f"a sequence begins in state {model.states[begun[0, 0]]!r}, where the model says that none can: zeros stay"
            " zeros, so give a model whose initial is positive there"
        )
    passed = np.argwhere((statistics.transitions > 0) & ~options.may_follow)
    if passed.size and options.learns("transition"):
        before, after = (model.states[position] for position in passed[0])
        raise InvalidData(
            f"a sequence goes from state {before!r} to {after!r}, which the model forbids: zeros stay zeros, so give a"
            " model whose transition is positive there"
        )
