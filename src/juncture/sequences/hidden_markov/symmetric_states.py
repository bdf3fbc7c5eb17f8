"""States that a model cannot tell apart: whatever is seen, EM would keep them alike."""

from __future__ import annotations

import numpy as np

from juncture.components.contract import Emissions
from juncture.errors import Unsupported
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.tied_states import Groups

NOISE = 0.2  # how far rows are moved, on the scale of logarithms


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
