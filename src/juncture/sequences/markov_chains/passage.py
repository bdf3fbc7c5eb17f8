"""Hitting probabilities and hitting times of a chain, by elimination without subtraction.

Solving (I - Q) t = 1 directly loses as many digits as the time is long. Without subtraction, a mean passage time of
1e12 steps is found to nearly full precision.
"""

from __future__ import annotations

import numpy as np

from juncture.errors import Unsupported
from juncture.sequences.markov_chains.stationary import BEYOND_FLOATS, check_leaving
from juncture.sequences.markov_chains.structure import ChainStructure, can_reach


def hitting_probabilities(transition: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The probability of ever being in a target, from each state; `targets` are marked: (state,)."""
    lost, open_ = fates(transition, targets)
    chances = np.where(lost, 0.0, 1.0)
    if open_.any():
        exits = np.stack([transition[np.ix_(open_, goal)].sum(axis=1) for goal in (~open_ & ~lost, lost)], axis=1)
        chances[open_] = first_exits(transition[np.ix_(open_, open_)], exits)[0][:, 0]
    return chances


def hitting_times(transition: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The mean number of steps until a target, 0 in a target; infinite where it is not certain to be reached."""
    lost, open_ = fates(transition, targets)
    times = np.where(lost | open_, np.inf, 0.0)
    waiting = ~(lost | open_ | targets)
    if waiting.any():
        exits = transition[np.ix_(waiting, targets)].sum(axis=1, keepdims=True)
        times[waiting] = first_exits(transition[np.ix_(waiting, waiting)], exits)[1]
    return times


def absorption_probabilities(transition: np.ndarray, structure: ChainStructure) -> np.ndarray:
    """The probability of ending in each closed class, from each state: (state, class)."""
    chances = np.zeros((len(transition), len(structure.closed)))
    for position, members in enumerate(structure.closed):
        chances[members, position] = 1.0
    transient = ~structure.is_recurrent
    if transient.any():
        exits = np.stack([transition[np.ix_(transient, members)].sum(axis=1) for members in structure.closed], axis=1)
        chances[transient] = first_exits(transition[np.ix_(transient, transient)], exits)[0]
    return chances


def fates(transition: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states from which no target can be reached, and those from which it can but need not be."""
    links = transition > 0
    lost = ~can_reach(links, targets)
    before = links & ~targets[:, None]  # ways that have met no target yet
    return lost, can_reach(before, lost) & ~lost


def first_exits(within: np.ndarray, exits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By which exit a set of states is left, and after how many steps on average: (state, exit) and (state,).

    `within` are the probabilities of steps inside the set, `exits` of steps out of it: (state, exit); every state must
    have a way out. States are left out of view one after the other, the last first, and then found again.
    """
    within, exits, waits = within.copy(), exits.copy(), np.ones(len(within))
    leaving = np.empty(len(within))
    for last in range(len(within) - 1, -1, -1):
        leaving[last] = check_leaving(within[last, :last].sum() + exits[last].sum())
        share = within[:last, last] / leaving[last]
        within[:last, :last] += np.outer(share, within[last, :last])
        exits[:last] += np.outer(share, exits[last])
        waits[:last] += share * waits[last]
    for state in range(len(within)):
        exits[state] = (exits[state] + within[state, :state] @ exits[:state]) / leaving[state]
        with np.errstate(over="ignore"):
            waits[state] = (waits[state] + within[state, :state] @ waits[:state]) / leaving[state]
        if not np.isfinite(waits[state]):
            raise Unsupported(BEYOND_FLOATS)
    return exits, waits
