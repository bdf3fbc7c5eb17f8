"""The M-step of a linear-Gaussian state-space model: three regressions of the residuals of the current model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.moments import ResidualMoments, StateSpaceMoments
from juncture.sequences.state_space.noise_floor import raise_to_floor, reference_variances
from juncture.sequences.state_space.parts import factor_of, standardize

REGRESSIONS = {  # the noise of each regression, and its coefficients in the order of the regressors
    "initial": ("initial_covariance", ("initial_mean",)),
    "transition": ("transition_noise", ("transition", "input_to_state", "transition_offset")),
    "observation": ("observation_noise", ("observation", "input_to_observation", "observation_offset")),
}
NEGLIGIBLE = 1e-12  # of the regressors' correlations: a direction in which they do not vary


@dataclass(frozen=True, eq=False)
class StateSpaceOptions:
    """The parts that stay as they are, and the priors of noises."""

    fixed: frozenset[str]
    priors: dict[str, InverseWishart]

    def log_prior(self, model: LinearGaussianStateSpace) -> float:
        return float(sum(np.asarray(prior.log_prob(model.parts[name])) for name, prior in self.priors.items()))


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
