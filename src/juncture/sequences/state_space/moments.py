"""Expected statistics of a linear-Gaussian state-space model: moments of residuals and regressors.

Each of the three conditionals (first state, next state, observation) is a linear regression with Gaussian noise. Its
statistics are second moments of the regressors x and of the residual e of the current model. In these, unlike in the
moments of the states, nothing cancels when states lie far from 0, and fixed parts are already accounted for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial, reduce
from operator import add
from typing import TypeVar

import numpy as np

from juncture.data.missingness import group_by_pattern
from juncture.data.sequences import Sequences
from juncture.kernels.state_space import add_moments
from juncture.runtime.parallel import map_blocks
from juncture.sequences.state_space.kalman import BLOCK_STEPS, Smoothed, filtered, smoothed
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.parts import additions, each_step

Sums = TypeVar("Sums", "ResidualMoments", "StateSpaceMoments")


@dataclass(frozen=True, eq=False)
class ResidualMoments:
    """Sums over steps of E x xᵀ, E e xᵀ and E e eᵀ, and the weight they were taken over."""

    weight: float
    regressors: np.ndarray  # (regressor, regressor)
    cross: np.ndarray  # (value, regressor)
    residuals: np.ndarray  # (value, value)

    def __add__(self, other: ResidualMoments) -> ResidualMoments:
        return add_sums(self, other)


@dataclass(frozen=True, eq=False)
class StateSpaceMoments:
    """The statistics of all three regressions, and the log-likelihood under the model they were expected with."""

    initial: ResidualMoments  # on 1
    transition: ResidualMoments  # on state, inputs and 1
    observation: ResidualMoments  # on state, inputs and 1
    log_likelihood: float

    def __add__(self, other: StateSpaceMoments) -> StateSpaceMoments:
        return add_sums(self, other)


def add_sums(one: Sums, other: Sums) -> Sums:
    """Field by field."""
    return type(one)(*(getattr(one, field.name) + getattr(other, field.name) for field in fields(one)))


def expected_moments(model: LinearGaussianStateSpace, sequences: Sequences) -> StateSpaceMoments:
    """The expectation step: the statistics of all sequences, a block of them at a time."""
    size = max(1, BLOCK_STEPS * sequences.num // max(1, sequences.num_steps))

    def moments(block: slice) -> StateSpaceMoments:
        before = int(sequences.offsets[block.start])
        return moments_of(model, sequences.take(block), lambda step: sequences.describe_step(before + step))

    return reduce(add, map_blocks(moments, sequences.num, size))


def moments_of(
    model: LinearGaussianStateSpace, sequences: Sequences, name_step: Callable[[int], str]
) -> StateSpaceMoments:
    forward = filtered(model, sequences, name_step=name_step)
    steps = Steps.of(model, sequences, smoothed(model, sequences, forward))
    log_likelihood = float(steps.weights @ forward.log_densities)
    return StateSpaceMoments(
        initial_moments(steps), transition_moments(steps), observation_moments(steps), log_likelihood
    )


@dataclass(frozen=True, eq=False)
class Steps:
    """All steps of some sequences, and the distributions of their states."""

    model: LinearGaussianStateSpace
    sequences: Sequences
    smoothed: Smoothed
    times: np.ndarray  # (step,), from 0 in each sequence
    weights: np.ndarray  # (step,)
    shifts: np.ndarray  # (step, state)
    levels: np.ndarray  # (step, value)
    regressors: np.ndarray  # (step, state and inputs and 1): means

    @classmethod
    def of(cls, model: LinearGaussianStateSpace, sequences: Sequences, smoothed: Smoothed) -> Steps:
        times = np.arange(sequences.num_steps) - np.repeat(sequences.offsets[:-1], sequences.lengths)
        weights = np.repeat(sequences.weights, sequences.lengths)
        inputs = np.zeros((len(times), 0)) if sequences.covariates is None else sequences.covariates
        regressors = np.hstack([smoothed.smoothed_mean, inputs, np.ones((len(times), 1))])
        return cls(
            model, sequences, smoothed, times, weights, *additions(model, times, sequences.covariates), regressors
        )

    def moments(
        self, positions: np.ndarray, means: np.ndarray, noises: np.ndarray, crosses: np.ndarray
    ) -> ResidualMoments:
        """Moments, on the regressors of these steps, of residuals with these means and F Fᵀ of `noises` as covariance.

        The covariance with the state is F Gᵀ, with G of `crosses`.
        """
        weights, x = self.weights[positions], self.regressors[positions]
        found = nothing(self.model, means.shape[1])
        factors = self.smoothed.smoothed_factor[positions]
        add_moments(weights, x, factors, means, noises, crosses, found.regressors, found.cross, found.residuals)
        return replace(found, weight=float(weights.sum()))


def initial_moments(steps: Steps) -> ResidualMoments:
    """e = z[0] - initial_mean."""
    first = np.nonzero(steps.times == 0)[0]
    weights, factors = steps.weights[first], steps.smoothed.smoothed_factor[first]
    means = steps.smoothed.smoothed_mean[first] - steps.model.initial_mean
    weight = float(weights.sum())
    residuals = (weights[:, None] * means).T @ means + np.einsum("t,tik,tjk->ij", weights, factors, factors)
    return ResidualMoments(weight, np.array([[weight]]), (weights @ means)[:, None], residuals)


def transition_moments(steps: Steps) -> ResidualMoments:
    """e = z[t+1] - transition z[t] - shift[t], at all steps that another one follows."""
    here = np.nonzero(steps.times[1:] > 0)[0]
    return in_blocks(
        lambda positions: move_moments(steps, positions), here, nothing(steps.model, steps.model.state_dimension)
    )


def move_moments(steps: Steps, here: np.ndarray) -> ResidualMoments:
    """With independent ξ and ζ, z[t+1] = mean + L ξ and z[t] = mean + G L ξ + H ζ, by the smoother's gain and rest."""
    smoothed, move = steps.smoothed, each_step(steps.model.transition, 2, steps.times[here])
    means = smoothed.smoothed_mean[here + 1] - multiply_each(move, smoothed.smoothed_mean[here]) - steps.shifts[here]
    later = smoothed.smoothed_factor[here + 1]  # L
    earlier = np.concatenate([smoothed.gains[here] @ later, smoothed.rests[here]], axis=2)  # [G L, H]
    noises = -(move @ earlier)
    noises[:, :, : later.shape[1]] += later
    return steps.moments(here, means, noises, earlier)


def observation_moments(steps: Steps) -> ResidualMoments:
    """e = y[t] - observation z[t] - level[t], at all steps where y[t] is observed in part or in whole."""
    found = nothing(steps.model, steps.model.observation_dimension)
    for observed, alike in patterns(~np.isnan(steps.sequences.observations)):
        found = in_blocks(partial(look_moments, steps, observed), alike, found)
    return found


def look_moments(steps: Steps, observed: np.ndarray, positions: np.ndarray) -> ResidualMoments:
    """Given z and what is observed, e = J e_observed + noise of covariance R - J R_observed, J = R R_observed⁻¹."""
    model, factors, times = steps.model, steps.smoothed.smoothed_factor[positions], steps.times[positions]
    look = each_step(model.observation, 2, times)[:, observed]
    values = (steps.sequences.observations[positions] - steps.levels[positions])[:, observed]
    coefficients, rest = regression_on(noise_at(model, times), observed)
    means = values - multiply_each(look, steps.smoothed.smoothed_mean[positions])
    part = steps.moments(positions, multiply_each(coefficients, means), -(coefficients @ look @ factors), factors)
    unknown = np.einsum("t,tij->ij", steps.weights[positions], np.broadcast_to(rest, (len(positions), *rest.shape[1:])))
    return replace(part, residuals=part.residuals + unknown)


def in_blocks(
    moments: Callable[[np.ndarray], ResidualMoments], positions: np.ndarray, start: ResidualMoments
) -> ResidualMoments:
    """The moments of these steps, a block of them at a time, added to some."""
    parts = map_blocks(lambda block: moments(positions[block]), len(positions), BLOCK_STEPS // 2)
    return reduce(add, parts, start)


def multiply_each(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Matrix · vector of each step."""
    return (matrices @ vectors[..., None])[..., 0]


def noise_at(model: LinearGaussianStateSpace, times: np.ndarray) -> np.ndarray:
    """The noise of each of the times, or one for all."""
    return model.observation_noise[times] if "observation_noise" in model.varying else model.observation_noise[None]


def nothing(model: LinearGaussianStateSpace, num_values: int) -> ResidualMoments:
    """The moments of no step."""
    size = model.state_dimension + model.num_inputs + 1
    return ResidualMoments(
        0.0, np.zeros((size, size)), np.zeros((num_values, size)), np.zeros((num_values, num_values))
    )


def patterns(observed: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(which values are observed, at which steps), but for steps at which none is."""
    if observed.all():
        yield np.arange(observed.shape[1]), np.arange(len(observed))
        return
    for pattern, steps in group_by_pattern(observed):
        if pattern.any():
            yield np.nonzero(pattern)[0], steps


def regression_on(noise: np.ndarray, observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """J = R R_observed⁺ and R - J R_observed, of each R."""
    rows = noise[:, observed]
    coefficients = np.swapaxes(np.linalg.pinv(rows[:, :, observed], hermitian=True) @ rows, -2, -1)
    coefficients[:, observed] = np.eye(len(observed))
    rest = noise - coefficients @ rows
    rest[:, observed] = 0.0
    rest[:, :, observed] = 0.0
    return coefficients, rest
