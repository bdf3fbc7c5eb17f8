"""The distribution function of a von Mises angle around 0, and its inverse, exact to rounding."""

from __future__ import annotations

import numpy as np
from scipy.special import gammainc, i0e, ive

from juncture.families.incomplete import log_integral
from juncture.families.matching import increasing_root
from juncture.numerics.stable import LOG_TWO_PI

FEW = 50.0  # up to this concentration the Fourier series is short
NUM_WAVES, NUM_TERMS = 72, 16


def turns_below(angle: np.ndarray, concentration: np.ndarray, amplitudes: list[np.ndarray] | None = None) -> np.ndarray:
    """P(X ≤ angle) for -π ≤ angle ≤ π; a whole turn further it is one more.

    The amplitudes of the waves are those of `wave_amplitudes`, where they serve several calls.
    """
    amplitudes = wave_amplitudes(concentration) if amplitudes is None else amplitudes
    angle, concentration = np.broadcast_arrays(angle, concentration)
    turns = np.round(angle / (2 * np.pi))
    rest = angle - 2 * np.pi * turns
    few = concentration <= FEW
    series = _fourier(rest, amplitudes) if few.any() else rest
    narrow = _narrow(rest, np.where(few, FEW, concentration)) if not few.all() else rest
    return np.asarray(turns + np.where(few, series, narrow))


def angle_below(turns: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """The angle with that many turns below it."""
    whole, amplitudes = np.floor(turns), wave_amplitudes(concentration)
    wanted, concentration = np.broadcast_arrays(turns - whole, concentration)

    def excess(angle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        drop = 2 * concentration * np.sin(0.5 * angle) ** 2
        density = np.exp(-drop - LOG_TWO_PI) / i0e(concentration)
        return turns_below(angle, concentration, amplitudes) - wanted, density

    ends = np.full(wanted.shape, np.pi)
    return np.asarray(2 * np.pi * whole + increasing_root(excess, -ends, ends, start=np.zeros(wanted.shape)))


def log_turns_between(low: np.ndarray, high: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """log P(low < X ≤ high), exact to rounding however small, for angles at most one turn apart.

    The density rises or falls between neighbouring multiples of π: each such piece is integrated from its higher end.
    """
    low, high, concentration = np.broadcast_arrays(low, high, concentration)
    first = np.floor(low / np.pi)
    total = np.full(low.shape, -np.inf)
    for step in range(3):
        half_turn = first + step
        left, right = np.clip(half_turn * np.pi, low, high), np.clip((half_turn + 1) * np.pi, low, high)
        falls = half_turn % 2 == 0
        start = np.where(falls, left - half_turn * np.pi, (half_turn + 1) * np.pi - right)
        total = np.logaddexp(total, _log_piece(np.clip(start, 0.0, np.pi), right - left, concentration))
    return np.asarray(total - LOG_TWO_PI - np.log(i0e(concentration)))


def _log_piece(start: np.ndarray, length: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """log ∫ exp(-2κ sin²(θ/2)) dθ from start, over a length, with both ends between 0 and π."""
    wide, twice = start[..., None], 2 * concentration[..., None]
    rate = np.maximum(concentration * np.sin(start), np.maximum(np.sqrt(concentration), 1.0))
    inner = log_integral(lambda v: -twice * np.sin(wide + 0.5 * v) * np.sin(0.5 * v), rate, length)
    return np.asarray(inner - 2 * concentration * np.sin(0.5 * start) ** 2)


def wave_amplitudes(concentration: np.ndarray) -> list[np.ndarray]:
    """I_j(κ) / I0(κ) for the waves j = 1, 2, …; only up to FEW they are asked for."""
    few = np.where(concentration <= FEW, concentration, 1.0)
    return [ive(wave, few) / i0e(few) for wave in range(1, NUM_WAVES)]


def _fourier(angle: np.ndarray, amplitudes: list[np.ndarray]) -> np.ndarray:
    """½ + θ/2π + Σ I_j(κ)/I0(κ) sin(jθ) / jπ."""
    total = 0.5 + angle / (2 * np.pi)
    for wave, amplitude in enumerate(amplitudes, 1):
        total = total + amplitude * np.sin(wave * angle) / (wave * np.pi)
    return np.asarray(total)


def _narrow(angle: np.ndarray, concentration: np.ndarray) -> np.ndarray:
    """By the substitution s = sin(θ/2): ∫ exp(-2κs²) (1-s²)^(-½) ds, term by term of the root's binomial series."""
    power = 2 * concentration * np.sin(0.5 * angle) ** 2
    inside, total, factor = np.zeros(angle.shape), np.zeros(angle.shape), np.ones(angle.shape)
    for term in range(NUM_TERMS):
        inside = inside + factor * gammainc(term + 0.5, power)
        total = total + factor
        factor = factor * (term + 0.5) ** 2 / ((term + 1) * 2 * concentration)
    return np.asarray(0.5 + 0.5 * np.sign(angle) * inside / total)
