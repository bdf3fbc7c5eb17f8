"""Markov chains for tests: of any structure, with zeros and tiny entries, and two with known answers."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from juncture.sequences.markov_chains.model import MarkovChain

LIMIT_WITHOUT_REGULARITY = [[1.0, 0.0], [1.0, 0.0]]
ONE_ZERO = [[0.0, 1.0], [0.5, 0.5]]
SWAP = [[0.0, 1.0], [1.0, 0.0]]
ROTATION = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]


@st.composite
def transitions(draw, max_states: int = 6, zeros: float = 0.5) -> np.ndarray:
    """Row-stochastic matrices; about a share `zeros` of their entries are 0, others from 1e-6 to 1 before scaling."""
    size = draw(st.integers(1, max_states))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weights = 10.0 ** rng.uniform(-6, 0, (size, size)) * (rng.random((size, size)) >= zeros)
    weights[np.arange(size), rng.integers(size, size=size)] += 1.0  # every row leads somewhere
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def chains(draw, max_states: int = 6, zeros: float = 0.5) -> MarkovChain:
    return MarkovChain(draw(transitions(max_states, zeros)))


def positive_chains(max_states: int = 6) -> st.SearchStrategy[MarkovChain]:
    """Chains in which every state can follow every state."""
    return chains(max_states, zeros=0.0)


def nearly_decomposable(coupling: float) -> tuple[MarkovChain, np.ndarray]:
    """Two pairs of states that hardly meet, and the stationary distribution in closed form.

    Inside, the pairs have the distributions (3/8, 5/8) and (3/7, 4/7); what flows between them balances.
    """
    e = coupling
    transition = [[0.5 - e, 0.5, e, 0], [0.3, 0.7, 0, 0], [0, 2 * e, 0.2, 0.8 - 2 * e], [0, 0, 0.6, 0.4]]
    weights = np.array([1.0, (0.5 + e) / 0.3, 0.5, (0.8 - 2 * e) * 0.5 / 0.6])  # state 0 sends e, state 2 sends 2e back
    return MarkovChain(transition), weights / weights.sum()
