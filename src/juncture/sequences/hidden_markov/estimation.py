"""The hidden Markov model that statistics lead to: each part by itself, tables in closed form."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.components.regularized import named
from juncture.errors import InvalidData, RegularizedWarning, warn_user
from juncture.learning.conditionals.table import NEGLIGIBLE
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Wishes
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics
from juncture.sequences.hidden_markov.tied_states import Groups


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
