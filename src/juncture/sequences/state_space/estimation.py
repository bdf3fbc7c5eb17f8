"""The M-step of a linear-Gaussian state-space model: three regressions of the residuals of the current model.

Noises that are learned have lower bounds, without which a likelihood could grow without bound. With few steps or many
free parts, a state-space model can pass through its observations exactly; its density there becomes infinite as the
noise vanishes. So a learned covariance is, in every direction, at least that of independent noises with FLOOR of
certain variances: those of the observations for the observation noise, those of the expected states for the two other
noises. Where noises become almost perfectly correlated, ALIKE of their own variances is the bound. A noise that was
below the bound, and fits better there, may keep its value; so no step of EM makes the fit worse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.sequences import Sequences
from juncture.errors import RegularizedWarning, warn_user
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.moments import ResidualMoments, StateSpaceMoments
from juncture.sequences.state_space.parts import factor_of, standardize

REGRESSIONS = {  # the noise of each regression, and its coefficients in the order of the regressors
    "initial": ("initial_covariance", ("initial_mean",)),
    "transition": ("transition_noise", ("transition", "input_to_state", "transition_offset")),
    "observation": ("observation_noise", ("observation", "input_to_observation", "observation_offset")),
}
NEGLIGIBLE = 1e-12  # of the regressors' correlations: a direction in which they do not vary
FLOOR = 1e-10  # of the variances of observations or states
ALIKE = 1e-6  # of the variances of a noise itself
ROUNDING = 1e-14  # of the level: a smaller deviation counts as none


def estimate_state_space(
    model: LinearGaussianStateSpace, moments: StateSpaceMoments, options: StateSpaceOptions, observed: np.ndarray
) -> tuple[LinearGaussianStateSpace, tuple[str, ...]]:
    """The model that expected statistics lead to, and the names of the noises that the least one allowed holds up.

    Regressions without a step in the data keep their parameters. `observed` holds the variances of the observations.
    """
    changed: dict[str, np.ndarray] = {}
    held: list[str] = []
    by_noise = reference_variances(moments, observed)
    for name, (noise, coefficients) in REGRESSIONS.items():
        regression: ResidualMoments = getattr(moments, name)
        if regression.weight == 0:
            continue
        free = {part: position for part, position in columns(model, coefficients).items() if part not in options.fixed}
        change = change_of(regression, free)
        for part, position in free.items():
            changed[part] = model.parts[part] + change[:, position].reshape(model.parts[part].shape)
        if noise not in options.fixed:
            found = noise_of(regression, change, options.priors.get(noise))
            changed[noise] = raise_to_floor(found, by_noise[noise], model.parts[noise])
            held += [noise] if changed[noise] is not found else []
    return model.with_parts(**changed), tuple(held)


@dataclass(frozen=True, eq=False)
class StateSpaceOptions:
    """The parts that stay as they are, and the priors of noises."""

    fixed: frozenset[str]
    priors: dict[str, InverseWishart]

    def log_prior(self, model: LinearGaussianStateSpace) -> float:
        return float(sum(np.asarray(prior.log_prob(model.parts[name])) for name, prior in self.priors.items()))


def columns(model: LinearGaussianStateSpace, coefficients: tuple[str, ...]) -> dict[str, slice]:
    """Where the regressors of each part that the model has are among those of its regression."""
    widths = (model.state_dimension, model.num_inputs, 1)[-len(coefficients) :]  # the first state is regressed on 1
    ends = np.cumsum(widths).tolist()
    positions = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
    return {name: position for name, position in zip(coefficients, positions, strict=True) if name in model.parts}


def change_of(regression: ResidualMoments, free: dict[str, slice]) -> np.ndarray:
    """The change of coefficients that explains most of the residuals, zero for those that stay: E e xᵀ (E x xᵀ)⁺."""
    change = np.zeros_like(regression.cross)
    if free:
        positions = np.concatenate([np.arange(position.start, position.stop) for position in free.values()])
        second, scale = standardize(regression.regressors[np.ix_(positions, positions)])
        units = np.where(scale > 0, scale, 1.0)
        inverse = np.linalg.pinv(second, rcond=NEGLIGIBLE, hermitian=True)
        change[:, positions] = (regression.cross[:, positions] / units) @ inverse / units
    return change


def noise_of(regression: ResidualMoments, change: np.ndarray, prior: Any) -> np.ndarray:
    """The mean square of what is still left over; with a prior, the mode."""
    explained = regression.cross @ change.T
    left = regression.residuals - explained - explained.T + change @ regression.regressors @ change.T
    weight = regression.weight
    if prior is not None:
        left, weight = left + prior.scale, weight + prior.degrees + len(left) + 1
    factor = factor_of((left + left.T) / (2 * weight))  # rounding must not leave a negative variance
    return factor @ factor.T


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


def reference_variances(moments: StateSpaceMoments, observed: np.ndarray) -> dict[str, np.ndarray]:
    """The variances that each noise is measured by."""
    hidden = state_variances(moments)
    return {"initial_covariance": hidden, "transition_noise": hidden, "observation_noise": observed}


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
