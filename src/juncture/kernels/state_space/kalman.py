"""The Kalman filter and the Rauch-Tung-Striebel smoother in square-root form: a covariance is L Lᵀ, L lower triangular.

    x_t+1 = transition · x_t + shift_t + noise        y_t = observation · x_t + noise

Flat arrays hold all sequences one after the other. The parts of the model have a leading axis of time, of length 1
where they do not vary. Observations are given less their offsets, with NaN for missing values. `shifts` are the
contributions of offsets and inputs at a step to the next state.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import summing_kernel
from juncture.kernels.copying import copy_matrix, copy_vector
from juncture.kernels.state_space.echelon import ROUNDING, divide, is_near, multiply_row, triangulate

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


@summing_kernel
def at(part, time):
    """The matrix of a step."""
    return part[time] if len(part) > 1 else part[0]


@summing_kernel
def list_observed(values, indices):
    """List the coordinates that are not missing; how many there are."""
    count = 0
    for index in range(len(values)):
        if not math.isnan(values[index]):
            indices[count] = index
            count += 1
    return count


@summing_kernel
def condition_factor(observation, noise, factor, indices, count, work, pivots):
    """Condition the state's factor L on an observation, by triangulation of one array.

    From [noise, observation · L; 0, L] to [X, 0; Y, Z]: the factor X of the predicted observation, the gain Y X⁻¹, and
    the factor Z of the state given the observation.
    """
    num_values, num_states = observation.shape
    for row in range(count):
        copy_vector(noise[indices[row]], work[row, :num_values])
        multiply_row(observation[indices[row]], factor, work[row, num_values:])
    work[count : count + num_states, :num_values] = 0.0
    copy_matrix(factor, work[count : count + num_states, num_values:])
    triangulate(work, count + num_states, pivots)


@summing_kernel
def condition_mean(values, observation, indices, count, work, pivots, mean, scaled):
    """Replace the mean by the mean given the values; log p(values), or inf where they have no density."""
    log_density = -count * HALF_LOG_TWO_PI
    for row in range(count):
        if pivots[row] < 0:
            return math.inf
        total = values[indices[row]]
        for index in range(len(mean)):
            total -= observation[indices[row], index] * mean[index]
        for index in range(row):
            total -= work[row, index] * scaled[index]
        scaled[row] = total / work[row, row]
        log_density -= 0.5 * scaled[row] * scaled[row] + math.log(work[row, row])
    for state in range(len(mean)):
        for index in range(count):
            mean[state] += work[count + state, index] * scaled[index]
    return log_density


@summing_kernel
def predict_mean(transition, shift, mean, moved):
    """Replace the mean by that of the next state: transition · mean + shift."""
    for state in range(len(mean)):
        moved[state] = shift[state]
        for index in range(len(mean)):
            moved[state] += transition[state, index] * mean[index]
    copy_vector(moved, mean)


@summing_kernel
def predict_factor(transition, noise, factor, work, pivots):
    """From [transition · L, noise] to [L', 0]: the factor L' of the next state."""
    num_states = len(factor)
    for state in range(num_states):
        multiply_row(transition[state], factor, work[state, :num_states])
        copy_vector(noise[state], work[state, num_states:])
    triangulate(work, num_states, pivots)


@summing_kernel
def filter_sequence(
    observations, shifts, transition, observation, transition_noise, observation_noise, initial_mean, initial_factor,
    predicted_mean, predicted_factor, filtered_mean, filtered_factor, log_densities,
):  # fmt: skip
    """The Kalman filter along one sequence; see `filter_sequences`."""
    num_values, num_states = observation.shape[1:]
    is_constant = max(len(transition), len(observation), len(transition_noise), len(observation_noise)) == 1
    is_steady = False  # the factors equal those of the step before: only means change
    mean, factor, updated = initial_mean.copy(), initial_factor.copy(), initial_factor.copy()
    update_work = np.empty((num_values + num_states, num_values + num_states))
    predict_work = np.empty((num_states, 2 * num_states))
    pivots, indices = np.empty(num_values + num_states, np.int64), np.empty(num_values, np.int64)
    ignored, scaled, moved = np.empty(num_states, np.int64), np.empty(num_values), np.empty(num_states)
    for time in range(len(observations)):
        if len(predicted_mean):
            copy_vector(mean, predicted_mean[time])
            copy_matrix(factor, predicted_factor[time])
        values, loading = observations[time], at(observation, time)
        count = list_observed(values, indices)
        is_steady = is_steady and count == num_values
        if count == 0:
            copy_matrix(factor, updated)
        elif not is_steady:
            condition_factor(loading, at(observation_noise, time), factor, indices, count, update_work, pivots)
            copy_matrix(update_work[count:, count:], updated)
        log_densities[time] = condition_mean(values, loading, indices, count, update_work, pivots, mean, scaled)
        if not math.isfinite(log_densities[time]):
            return
        if len(filtered_mean):
            copy_vector(mean, filtered_mean[time])
            copy_matrix(updated, filtered_factor[time])
        if time + 1 < len(observations):
            predict_mean(at(transition, time), shifts[time], mean, moved)
            if not is_steady:
                predict_factor(at(transition, time), at(transition_noise, time), updated, predict_work, ignored)
                is_steady = is_constant and count == num_values and is_near(factor, predict_work, ROUNDING)
                copy_matrix(predict_work, factor)


@summing_kernel(work=("log_densities", "initial_factor", "initial_mean"))
def filter_sequences(
    offsets, observations, shifts,
    transition, observation, transition_noise, observation_noise, initial_mean, initial_factor,
    predicted_mean, predicted_factor, filtered_mean, filtered_factor, log_densities,
):  # fmt: skip
    """Fill in the predicted and the filtered distribution of each state, and log p(observation | observations before).

    Where the arrays of distributions are empty, only the densities are stored. An observation without a density gets
    inf, and ends the work on its sequence.
    """
    for sequence in range(len(offsets) - 1):
        steps = slice(offsets[sequence], offsets[sequence + 1])
        filter_sequence(
            observations[steps], shifts[steps],
            transition, observation, transition_noise, observation_noise, initial_mean, initial_factor,
            predicted_mean[steps], predicted_factor[steps], filtered_mean[steps], filtered_factor[steps],
            log_densities[steps],
        )  # fmt: skip


@summing_kernel
def condition_on_next(transition, noise, factor, gain, rest, work, pivots):
    """The distribution of a state given the next state: a gain, and the factor of the remaining covariance.

    From [transition · L, noise; L, 0] to [X, 0; Y, Z]: the next state's factor X, the gain Y X⁻¹, and the remainder Z.
    """
    num_states = len(factor)
    for state in range(num_states):
        multiply_row(transition[state], factor, work[state, :num_states])
        copy_vector(noise[state], work[state, num_states:])
        copy_vector(factor[state], work[num_states + state, :num_states])
        work[num_states + state, num_states:] = 0.0
    triangulate(work, 2 * num_states, pivots)
    rank = divide(work, num_states, pivots, gain)
    copy_matrix(work[num_states:, rank:], rest)


@summing_kernel
def smooth_sequence(
    transition, transition_noise, predicted_mean, filtered_mean, filtered_factor,
    smoothed_mean, smoothed_factor, gains, rests,
):  # fmt: skip
    """The smoother along one sequence; see `smooth_sequences`."""
    num_steps, num_states = filtered_mean.shape
    next_work = np.empty((2 * num_states, 2 * num_states))
    work = np.empty((num_states, 2 * num_states))
    pivots = np.empty(2 * num_states, np.int64)
    is_constant = max(len(transition), len(transition_noise)) == 1
    last = num_steps - 1
    copy_vector(filtered_mean[last], smoothed_mean[last])
    copy_matrix(filtered_factor[last], smoothed_factor[last])
    gains[last] = 0.0
    copy_matrix(filtered_factor[last], rests[last])
    for time in range(num_steps - 2, -1, -1):
        gain, rest, later = gains[time], rests[time], smoothed_factor[time + 1]
        is_same = (
            is_constant and time + 2 < num_steps and is_near(filtered_factor[time], filtered_factor[time + 1], 0.0)
        )
        if is_same:
            copy_matrix(gains[time + 1], gain)
            copy_matrix(rests[time + 1], rest)
        else:
            condition_on_next(
                at(transition, time), at(transition_noise, time), filtered_factor[time], gain, rest, next_work, pivots
            )
        for state in range(num_states):
            total = filtered_mean[time, state]
            for index in range(num_states):
                total += gain[state, index] * (smoothed_mean[time + 1, index] - predicted_mean[time + 1, index])
            smoothed_mean[time, state] = total
        if is_same and is_near(later, smoothed_factor[time + 2], ROUNDING):
            copy_matrix(later, smoothed_factor[time])
            continue
        for state in range(num_states):
            copy_vector(rest[state], work[state, :num_states])
            multiply_row(gain[state], later, work[state, num_states:])
        triangulate(work, num_states, pivots)
        copy_matrix(work, smoothed_factor[time])


@summing_kernel
def smooth_sequences(
    offsets, transition, transition_noise, predicted_mean, filtered_mean, filtered_factor,
    smoothed_mean, smoothed_factor, gains, rests,
):  # fmt: skip
    """Fill in the distribution of each state given all observations, and that given the next state as well.

    The latter is N(filtered + gain · (next - predicted), rest · restᵀ). The last state has no next, and gain zero.
    """
    for sequence in range(len(offsets) - 1):
        steps = slice(offsets[sequence], offsets[sequence + 1])
        if steps.start < steps.stop:
            smooth_sequence(
                transition, transition_noise, predicted_mean[steps], filtered_mean[steps], filtered_factor[steps],
                smoothed_mean[steps], smoothed_factor[steps], gains[steps], rests[steps],
            )  # fmt: skip
