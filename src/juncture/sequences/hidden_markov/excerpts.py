"""Excerpts of sequences, by which starts are told apart in little time."""

from __future__ import annotations

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.verbs import log_prob

STEPS = 2**13  # at most
WINDOWS = 16


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
    return float(sequences.weights[heavy] @ np.atleast_1d(log_prob(model, sequences))[heavy])
