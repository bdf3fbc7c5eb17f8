"""The statistics of sequences that a hidden Markov model needs, and the model estimated from them."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from juncture.components.contract import named
from juncture.data.sequences.sequences import UNKNOWN, Sequences
from juncture.errors import InvalidData, RegularizedWarning, warn_user
from juncture.learning.conditionals.table import NEGLIGIBLE
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Groups, Wishes
from juncture.values import Value, number_of, read_only

STEPS_AT_ONCE = 2**16


def refuse_unobserved(parts: Iterable[Sequences]) -> None:
    """Raise where there are steps that count, but nothing is observed at any of them, and no state is told."""
    num_steps = 0
    for part in parts:
        counts = np.repeat(part.weights > 0, part.lengths)
        if is_told(part.observations[counts]) or (part.states is not None and is_told(part.states[counts], UNKNOWN)):
            return
        num_steps += int(counts.sum())
    if num_steps:
        raise InvalidData(
            "nothing was observed: all values of all steps are missing, so there is nothing to learn from"
        )


def is_told(values: np.ndarray, unknown: int | None = None) -> bool:
    """Whether some value is neither NaN nor the code of what is unknown."""
    known = ~np.isnan(values) if values.dtype.kind == "f" else values != unknown
    return bool(np.any(known))


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


def estimate_hidden_markov(
    model: HiddenMarkovModel,
    statistics: HiddenMarkovStatistics,
    prior: Any = None,
    *,
    fixed: Iterable[str] = (),
) -> HiddenMarkovModel:
    """The model that the statistics lead to: maximum likelihood, or with a prior the mode of the posterior."""
    if not isinstance(statistics, HiddenMarkovStatistics):
        raise InvalidData(f"estimate takes jt.statistics(model, sequences); got {type(statistics).__name__}")
    if len(statistics.initial) != model.num_states:
        raise InvalidData(
            f"the statistics are of {len(statistics.initial)} states, the model has {model.num_states}:"
            " take them with jt.statistics(model, sequences)"
        )
    wishes = Wishes.of(model, Groups.numbered(range(model.num_states)), prior, fixed)
    refuse_forbidden(model, statistics, wishes)
    return estimated(model, statistics, wishes)


def estimated(model: HiddenMarkovModel, statistics: HiddenMarkovStatistics, wishes: Wishes) -> HiddenMarkovModel:
    """Each part that is learned from its statistics; a row or a law that nothing was seen of stays as it is."""
    initial, transition, emissions = model.initial, model.transition, model.emissions
    if wishes.learns("initial"):
        initial = rows_from((statistics.initial + wishes.initial_counts)[None], initial[None])[0]
    if wishes.learns("transition"):
        counts = wishes.rows.pooled(statistics.transitions) + wishes.transition_counts
        transition = rows_from(counts, transition[wishes.rows.first])[wishes.rows.of_state]
    if wishes.learns("emissions"):
        with named(lambda place, state: f"state {model.states[place]!r}"):
            emissions = emissions.estimate(statistics.emissions, wishes.emissions_prior)
    return HiddenMarkovModel(initial, transition, emissions, states=model.states)


def quietly_estimated(
    model: HiddenMarkovModel, statistics: HiddenMarkovStatistics, wishes: Wishes
) -> HiddenMarkovModel:
    """The same on the way of EM: whether a law had to be held shows in the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RegularizedWarning)
        return estimated(model, statistics, wishes)


def report_regularized(model: HiddenMarkovModel, statistics: HiddenMarkovStatistics, wishes: Wishes) -> None:
    """One warning for each law of the model in the end that is held where its data would not have it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RegularizedWarning)
        estimated(model, statistics, wishes)
    for message in dict.fromkeys(str(each.message) for each in caught if each.category is RegularizedWarning):
        warn_user(message, RegularizedWarning)


def rows_from(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Counts as rows that sum to 1.

    What no sequence believes in any more is nothing: left to shrink, its products would underflow.
    """
    counts = np.where(counts < NEGLIGIBLE * counts.sum(), 0.0, counts)
    totals = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=otherwise.copy(), where=totals > 0))


def refuse_forbidden(model: HiddenMarkovModel, statistics: HiddenMarkovStatistics, wishes: Wishes) -> None:
    """Labels may use only the beginnings and transitions that the model allows."""
    begun = np.argwhere((statistics.initial > 0) & ~wishes.may_begin)
    if begun.size and wishes.learns("initial"):
        raise InvalidData(
            f"a sequence begins in state {model.states[begun[0, 0]]!r}, where the model says that none can: zeros stay"
            " zeros, so give a model whose initial is positive there"
        )
    passed = np.argwhere((statistics.transitions > 0) & ~wishes.may_follow)
    if passed.size and wishes.learns("transition"):
        before, after = (model.states[place] for place in passed[0])
        raise InvalidData(
            f"a sequence goes from state {before!r} to {after!r}, which the model forbids: zeros stay zeros, so give a"
            " model whose transition is positive there"
        )
