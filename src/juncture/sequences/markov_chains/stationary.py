"""Stationary distributions, one for each closed class, by elimination without subtraction.

The result has nearly full relative precision also where states communicate only by probabilities as small as 1e-300,
because only sums, products and quotients of non-negative numbers are taken (Grassmann, Taksar and Heyman 1985).
"""

from __future__ import annotations

import numpy as np

from juncture.checks import check_number
from juncture.errors import Unsupported
from juncture.sequences.markov_chains.structure import ChainStructure

LARGE = 1e150
BEYOND_FLOATS = "some states communicate only by probabilities below 1e-308, which floats cannot distinguish from 0"


def stationary_distributions(transition: np.ndarray, structure: ChainStructure) -> np.ndarray:
    """One for each closed class, 0 outside of it: (class, state). Their mixtures are all stationary distributions."""
    distributions = np.zeros((len(structure.closed), len(transition)))
    for distribution, members in zip(distributions, structure.closed, strict=True):
        distribution[members] = stationary_distribution(transition[np.ix_(members, members)])
    return distributions


def stationary_distribution(transition: np.ndarray) -> np.ndarray:
    """The stationary distribution of an irreducible chain.

    The chain is watched only while in its first n states, for n ever smaller: what left for state n comes back as state
    n sends it on. The diagonal is never read: a state is left with what its other entries sum to.
    """
    watched = transition.copy()
    for last in range(len(watched) - 1, 0, -1):
        leaving = check_leaving(watched[last, :last].sum())
        watched[:last, last] /= leaving
        watched[:last, :last] += np.outer(watched[:last, last], watched[last, :last])
    distribution = np.zeros(len(watched))
    distribution[0] = 1.0
    for state in range(1, len(distribution)):
        distribution[state] = distribution[:state] @ watched[:state, state]
        if distribution[state] > LARGE:
            distribution /= distribution[state]
    return np.asarray(distribution / distribution.sum())


def check_leaving(total: float) -> float:
    """The probability of leaving a state, which is positive unless a product of several was too small for a number."""
    if not total > 0:
        raise Unsupported(BEYOND_FLOATS)
    return total


def satisfies_detailed_balance(transition: np.ndarray, distribution: np.ndarray, tolerance: float) -> bool:
    """π(x) S(x, y) = π(y) S(y, x) for all x and y, each to a relative tolerance."""
    check_number(tolerance, "tolerance", least=0)
    flow = distribution[:, None] * transition
    return bool((np.abs(flow - flow.T) <= tolerance * (flow + flow.T)).all())


def reversal(transition: np.ndarray, distribution: np.ndarray) -> np.ndarray:
    """π(y) S(y, x) / π(x): what was before x, in a chain of this stationary distribution."""
    flow = distribution[:, None] * transition
    return np.asarray((flow / flow.sum(axis=0)).T)
