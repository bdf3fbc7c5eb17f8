"""The table cells of the steps of coded sequences: a state with the states before it, or with the last observed one.

A chain of order m is one of order 1 whose states are the last m states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juncture.data.sequences import UNKNOWN, Sequences
from juncture.errors import InvalidData


def fill_from_states(sequences: Sequences) -> Sequences:
    """Sequences whose labelled states stand where observations are missing; both are states of the chain."""
    if sequences.states is None:
        return sequences
    seen = sequences.observations.astype(np.float64)
    known = sequences.states != UNKNOWN
    clash = known & ~np.isnan(seen) & (seen != sequences.states)
    if clash.any():
        where = sequences.describe_step(int(np.argmax(clash)))
        raise InvalidData(
            f"{where} has a state that is not its observation; in a Markov chain both are the state: leave out one of"
            " them"
        )
    filled = np.where(known, sequences.states, seen)
    return replace(sequences, observations=filled if np.isnan(filled).any() else filled.astype(np.int64), states=None)


def own_steps(sequences: Sequences) -> np.ndarray:
    """The time of each step in its sequence: (step,)."""
    return np.arange(sequences.num_steps) - np.repeat(sequences.offsets[:-1], sequences.lengths)


def owners(sequences: Sequences, steps: np.ndarray) -> np.ndarray:
    """The sequence that each of these steps belongs to."""
    return np.asarray(np.searchsorted(sequences.offsets, steps, side="right") - 1)


def cells(sequences: Sequences, steps: np.ndarray, depth: int, num_states: int) -> np.ndarray:
    """The position of each step in a flat table of its state with the `depth` ones before it, the oldest first."""
    positions = np.zeros(len(steps), dtype=np.int64)
    for back in range(depth, -1, -1):
        positions = positions * num_states + sequences.observations[steps - back].astype(np.int64)
    return positions


@dataclass(frozen=True, eq=False)
class Sightings:
    """What is observed of sequences with holes: the first of each, and each next one, with the steps between them."""

    first_owner: np.ndarray  # (sequence,) without those of which nothing is observed
    first_time: np.ndarray
    first: np.ndarray
    owner: np.ndarray  # (pair,)
    gap: np.ndarray  # at least 1
    before: np.ndarray
    after: np.ndarray

    @classmethod
    def of(cls, sequences: Sequences) -> Sightings:
        steps = np.flatnonzero(~np.isnan(sequences.observations.astype(np.float64)))
        codes, owner = sequences.observations[steps].astype(np.int64), owners(sequences, steps)
        begins = np.ones(len(steps), dtype=bool)
        begins[1:] = owner[1:] != owner[:-1]
        later = np.flatnonzero(~begins)
        return cls(
            owner[begins],
            steps[begins] - sequences.offsets[owner[begins]],
            codes[begins],
            owner[later],
            steps[later] - steps[later - 1],
            codes[later - 1],
            codes[later],
        )


def first_order_matrix(table: np.ndarray) -> np.ndarray:
    """The transitions between histories, (history, history), from a table (*history, next).

    The history (a, b, …, c) goes to (b, …, c, next), so that each row has as many entries as there are states.
    """
    num_states = table.shape[-1]
    rows = table.reshape(-1, num_states)
    moves = np.zeros((len(rows), len(rows)))
    before = np.arange(len(rows))[:, None]
    moves[before, (before * num_states + np.arange(num_states)) % len(rows)] = rows
    return moves
