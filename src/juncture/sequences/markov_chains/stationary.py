"""Stationary laws, one for each closed class, by elimination without subtraction.

A law is found to nearly full relative precision also where classes hang together by probabilities as small as 1e-300:
only sums, products and quotients of non-negative numbers are taken (Grassmann, Taksar and Heyman 1985).
"""

from __future__ import annotations

import numpy as np

from juncture.checks import check_number
from juncture.errors import Unsupported
from juncture.sequences.markov_chains.structure import ChainStructure

LARGE = 1e150
BEYOND_FLOATS = "some states hang together by probabilities below 1e-308, which floats cannot tell from 0"


def stationary_laws(transition: np.ndarray, structure: ChainStructure) -> np.ndarray:
    """One law for each closed class, 0 outside of it: (class, state). All stationary laws are mixtures of these."""
    laws = np.zeros((len(structure.closed), len(transition)))
    for law, members in zip(laws, structure.closed, strict=True):
        law[members] = stationary_law(transition[np.ix_(members, members)])
    return laws


def stationary_law(transition: np.ndarray) -> np.ndarray:
    """The stationary law of an irreducible chain.

    The chain is watched only while in its first n states, for n ever smaller: what left for state n comes back as state
    n sends it on. The diagonal is never read: a state is left with what its other entries sum to.
    """
    watched = transition.copy()
    for last in range(len(watched) - 1, 0, -1):
        leaving = checked_leaving(watched[last, :last].sum())
        watched[:last, last] /= leaving
        watched[:last, :last] += np.outer(watched[:last, last], watched[last, :last])
    law = np.zeros(len(watched))
    law[0] = 1.0
    for state in range(1, len(law)):
        law[state] = law[:state] @ watched[:state, state]
        if law[state] > LARGE:
            law /= law[state]
    return np.asarray(law / law.sum())


def checked_leaving(total: float) -> float:
    """The probability of leaving a state, which is positive unless a product of several was too small for a number."""
    if not total > 0:
        raise Unsupported(BEYOND_FLOATS)
    return total


def satisfies_detailed_balance(transition: np.ndarray, law: np.ndarray, tolerance: float) -> bool:
    """π(x) S(x, y) = π(y) S(y, x) for all x and y, each to a relative tolerance."""
    check_number(tolerance, "tolerance", least=0)
    flow = law[:, None] * transition
    return bool((np.abs(flow - flow.T) <= tolerance * (flow + flow.T)).all())


def reversal(transition: np.ndarray, law: np.ndarray) -> np.ndarray:
    """π(y) S(y, x) / π(x): what was before x, in a chain of this stationary law."""
    flow = law[:, None] * transition
    return np.asarray((flow / flow.sum(axis=0)).T)
