"""Eigenvalues of a chain's transition matrix, and how far the second is from 1."""

from __future__ import annotations

import math

import numpy as np

from juncture.sequences.markov_chains.evolution import product
from juncture.sequences.markov_chains.stationary import satisfies_detailed_balance, stationary_distribution
from juncture.sequences.markov_chains.structure import ChainStructure

ROUNDING = 1e-9
NEAR_ONE = 0.9
SMALLEST_GAP = 1e-15  # that eigenvalues show
MOST_STEPS = 2**900


def eigenvalues(transition: np.ndarray, structure: ChainStructure) -> np.ndarray:
    """All of them, the largest in modulus first; real numbers where all are.

    They are those of the classes, since no way leads back from one class to another.
    """
    parts = [
        eigenvalues_within(transition[np.ix_(members, members)], bool(closed))
        for members, closed in zip(structure.members, structure.is_closed, strict=True)
    ]
    found = np.concatenate(parts)
    order = np.lexsort((-found.imag, -found.real, -np.round(np.abs(found), 12)))
    return found[order]


def eigenvalues_within(transition: np.ndarray, is_closed: bool) -> np.ndarray:
    """Those of one class. A closed one has 1; if it is reversible, all are those of a symmetric matrix, and real."""
    if not is_closed:
        return np.linalg.eigvals(transition)
    if satisfies_detailed_balance(transition, stationary_distribution(transition), ROUNDING):
        roots = np.sqrt(transition)
        found = np.linalg.eigvalsh(roots * roots.T)
    else:
        found = np.linalg.eigvals(transition)
    found[np.argmin(np.abs(found - 1.0))] = 1.0
    return np.asarray(found)


def spectral_gap(transition: np.ndarray, structure: ChainStructure, modulus: float) -> float:
    """1 - |λ₂| to nearly full relative precision, from |λ₂| as far as it is known.

    Near 1 the difference would be lost; it is read off a power in which |λ₂| has become smaller.
    """
    if structure.periods[structure.is_closed].sum() > 1:
        return 0.0  # as many eigenvalues have the modulus 1
    steps = 1
    while modulus > NEAR_ONE and steps < MOST_STEPS:
        for _ in range(int(-math.log2(max(1.0 - modulus, SMALLEST_GAP)))):
            transition, steps = product(transition, transition), 2 * steps
        modulus = float(np.sort(np.abs(np.linalg.eigvals(transition)))[-2])
    return max(-math.expm1(math.log(modulus) / steps), 0.0) if modulus > 0 else 1.0
