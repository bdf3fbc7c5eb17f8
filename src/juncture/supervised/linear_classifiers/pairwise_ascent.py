"""The dual of a support vector machine by sequential minimal optimisation, then exactly on its active set.

With β_n = t_n λ_n the dual is the maximum of Σ t_n β_n - ½ βᵀKβ, where Σ β_n = 0 and each t_n β_n is in [0, C]. A step
moves two entries along e_i - e_j (Platt), chosen by the second-order rule of Fan, Chen and Lin. Entries strictly inside
their ends solve a linear system; once they are known, that system gives the solution to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

EXACT_EVERY = 20  # steps between two attempts to solve for the active set


class DualSolution(NamedTuple):
    """Signed multipliers β, the bias, and the largest violation of the conditions of optimality."""

    signed: np.ndarray  # (point,)
    bias: float
    violation: float


def maximize_dual(gram: np.ndarray, signs: np.ndarray, cost: float, tolerance: float, max_steps: int) -> DualSolution:
    """The solution once the violation is within the tolerance, else the last one."""
    low, high = np.where(signs > 0, 0.0, -cost), np.where(signs > 0, cost, 0.0)
    signed, errors = np.zeros(len(signs)), signs.copy()
    best = measure(signed, errors, low, high)
    for step in range(max_steps):
        if best.violation <= tolerance:
            break
        signed, errors = move_pair(gram, signed, errors, low, high)
        best = measure(signed, errors, low, high)
        if step % EXACT_EVERY == EXACT_EVERY - 1 or best.violation <= 1e-3:
            exact = solve_active(gram, signs, signed, low, high)
            if exact is not None and exact.violation <= min(tolerance, best.violation):
                return exact
            if exact is not None and dual(gram, signs, exact.signed) > dual(gram, signs, signed):
                signed, errors, best = exact.signed, signs - gram @ exact.signed, exact
    return best


def dual(gram: np.ndarray, signs: np.ndarray, signed: np.ndarray) -> float:
    """Σ t β - ½ βᵀKβ."""
    return float(signs @ signed - 0.5 * signed @ (gram @ signed))


def move_pair(
    gram: np.ndarray, signed: np.ndarray, errors: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """One step: the entry that most wants to rise, and the one whose fall beside it gains most."""
    diagonal = np.diag(gram)
    rising = int(np.where(signed < high, errors, -np.inf).argmax())
    gains = errors[rising] - errors
    curvature = np.maximum(diagonal[rising] + diagonal - 2 * gram[rising], 1e-12)
    falling = int(np.where((signed > low) & (gains > 0), gains**2 / curvature, -np.inf).argmax())
    length = min(gains[falling] / curvature[falling], high[rising] - signed[rising], signed[falling] - low[falling])
    moved = signed.copy()
    moved[rising] += length
    moved[falling] -= length
    return moved, errors - length * (gram[rising] - gram[falling])


def measure(signed: np.ndarray, errors: np.ndarray, low: np.ndarray, high: np.ndarray) -> DualSolution:
    """The bias between the two sides' limits, and the gap between these.

    t - Kβ may not exceed the bias where β could rise, nor be below it where β could fall.
    """
    rise, fall = errors[signed < high].max(initial=-np.inf), errors[signed > low].min(initial=np.inf)
    return DualSolution(signed, 0.5 * (rise + fall), max(rise - fall, 0.0))


def solve_active(
    gram: np.ndarray, signs: np.ndarray, signed: np.ndarray, low: np.ndarray, high: np.ndarray
) -> DualSolution | None:
    """The best with the entries at their ends held, or as far as the first end on the way; None if all are held."""
    is_free = (signed > low) & (signed < high)
    number = int(is_free.sum())
    if not number:
        return None
    fixed = np.where(is_free, 0.0, signed)
    system = np.ones((number + 1, number + 1))
    system[:-1, :-1], system[-1, -1] = gram[np.ix_(is_free, is_free)], 0.0
    wanted = np.append((signs - gram @ fixed)[is_free], -fixed.sum())
    solution = np.linalg.lstsq(system, wanted, rcond=None)[0]
    moved = fixed.copy()
    moved[is_free] = solution[:-1]
    share = reach(signed, moved, low, high)
    moved = np.clip(signed + share * (moved - signed), low, high)
    return measure(moved, signs - gram @ moved, low, high)


def reach(signed: np.ndarray, wanted: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The largest share of the way, at most all of it, on which every entry stays within its ends."""
    way = wanted - signed
    room = np.where(way > 0, high - signed, low - signed)
    shares = np.divide(room, way, out=np.ones_like(way), where=(way != 0) & np.isfinite(room))
    return float(min(1.0, shares.min(initial=1.0)))
