"""Lower bounds on the noise that is learned, without which a likelihood could grow without bound.

With few steps or many free parts, a state-space model can pass through its observations exactly; its density there
becomes infinite as the noise vanishes. So a learned covariance is, in every direction, at least that of independent
noises with FLOOR of certain variances: those of the observations for the observation noise, those of the expected
states for the two other noises. Where noises become almost perfectly correlated, ALIKE of their own variances is the
bound. A noise that was below the bound, and fits better there, may keep its value; so no step of EM makes the fit
worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.data.sequences import Sequences
from juncture.errors import RegularizedWarning, warn_user
from juncture.sequences.state_space.moments import StateSpaceMoments
from juncture.sequences.state_space.parts import factor_of

FLOOR = 1e-10  # of the variances of observations or states
ALIKE = 1e-6  # of the variances of a noise itself
ROUNDING = 1e-14  # of the level: a smaller deviation counts as none


@dataclass(frozen=True, eq=False)
class ObservedValues:
    """Of what is observed of each value, (value,): the weight, the mean, the squares about it, and the size of all."""

    weight: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    size: np.ndarray  # Σ |value|, without weights

    @classmethod
    def of(cls, sequences: Sequences) -> ObservedValues:
        weights = np.repeat(sequences.weights, sequences.lengths)[:, None]
        weights = np.where(np.isnan(sequences.observations), 0.0, weights)
        values = np.where(weights > 0, sequences.observations, 0.0)
        total = np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
        mean = (weights * values).sum(axis=0) / total
        squares = (weights * (values - mean) ** 2).sum(axis=0)
        return cls(total, mean, squares, np.nansum(np.abs(sequences.observations), axis=0))

    def __add__(self, other: ObservedValues) -> ObservedValues:
        weight, apart = self.weight + other.weight, other.mean - self.mean
        share = other.weight / weight
        squares = self.squares + other.squares + self.weight * share * apart**2
        return ObservedValues(weight, self.mean + share * apart, squares, self.size + other.size)

    @property
    def variances(self) -> np.ndarray:
        return positive(self.squares / self.weight, self.mean)


def state_variances(moments: StateSpaceMoments) -> np.ndarray:
    """(state,): the variance of what is expected of each state, at all steps."""
    second = moments.transition.regressors + moments.observation.regressors
    num_states = len(moments.initial.residuals)
    weight = max(second[-1, -1], np.finfo(float).tiny)
    mean = second[:num_states, -1] / weight
    return positive(np.diagonal(second)[:num_states] / weight - mean**2, mean)


def positive(variance: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The variance; where there is none, the square of the mean, or 1."""
    square = np.where(mean != 0, mean**2, 1.0)
    return np.where(variance > ROUNDING**2 * square, variance, square)


def reference_variances(moments: StateSpaceMoments, observed: np.ndarray) -> dict[str, np.ndarray]:
    """The variances that each noise is measured by."""
    hidden = state_variances(moments)
    return {"initial_covariance": hidden, "transition_noise": hidden, "observation_noise": observed}


def raise_to_floor(noise: np.ndarray, variances: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The best covariance that is nowhere below the floor, or nowhere below what was least before.

    `noise` is the best of all covariances, and the best of those above a floor keeps its eigenvectors.
    """
    units = np.sqrt(np.maximum(FLOOR * variances, ALIKE * np.diagonal(noise)))
    scale = units[:, None] * units
    values, vectors = np.linalg.eigh(noise / scale)
    floor = least_allowed(values, noise / scale, before / scale)
    if values[0] >= floor:
        return noise
    return (vectors * np.maximum(values, floor)) @ vectors.T * scale


def least_allowed(values: np.ndarray, noise: np.ndarray, before: np.ndarray) -> float:
    """1, unless `before` has less in some direction, and fits better than anything that has not."""
    lengths = np.diagonal(factor_of(before))
    if not lengths.all():
        return 0.0  # a noise that is none in some direction stays so
    own = np.linalg.eigvalsh(before)
    kept = np.maximum(values, 1.0)
    loss = np.log(kept).sum() + (values / kept).sum()
    if own[0] >= 1.0 or loss <= 2.0 * np.log(np.abs(lengths)).sum() + np.trace(np.linalg.solve(before, noise)):
        return 1.0
    return max(float(own[0]), 0.0)


def report_floor(names: tuple[str, ...]) -> None:
    """Warn of the noises that the floor holds up, if there are any."""
    if names:
        has, was = ("has", "was") if len(names) == 1 else ("have", "were")
        warn_user(
            f"{' and '.join(names)} {has} shrunk to {FLOOR:g} of the variance of observations or states, or to"
            f" {ALIKE:g} of its own variances, and {was} kept there, for the data leave no noise: fix parts,"
            " or give a prior or more data",
            RegularizedWarning,
        )
