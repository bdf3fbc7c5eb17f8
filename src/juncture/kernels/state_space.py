"""The Kalman filter and the Rauch-Tung-Striebel smoother in square-root form: a covariance is L Lᵀ, L lower triangular.

    x_t+1 = transition · x_t + shift_t + noise        y_t = observation · x_t + noise

Flat arrays hold all sequences one after the other. The parts of the model have a leading axis of time, of length 1
where they do not vary. Observations are given less their offsets, with NaN for missing values. `shifts` are the
contributions of offsets and inputs at a step to the next state. State paths are drawn from standard normals; EM takes
second moments of the regressors and residuals, summed over steps.

Householder reflections make L lower triangular, also where L Lᵀ is singular. An entry that is smaller than the rounding
errors of the terms it was computed from is set to zero, so that a variance that is zero in theory is zero here.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import summing_kernel
from juncture.kernels.copying import copy_matrix, copy_vector

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
ROUNDING = 2.0**-48  # relative to the terms of a sum: smaller results are rounding errors
SMALL_SHARE = 0.01  # of the squares of a row: a smaller pivot is exchanged for the largest entry
WIDE = 1e-7  # relative to the length of a row
CANCELLED = 2.0**-51  # relative to the larger of two terms: a smaller difference is rounding error


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
def multiply_row(row, right, out):
    """Fill `out` with row · right, where `right` is lower triangular."""
    size = len(row)
    for column in range(size):
        total = 0.0
        scale = 0.0
        for inner in range(column, size):
            term = row[inner] * right[inner, column]
            total += term
            scale += abs(term)
        out[column] = total if abs(total) > ROUNDING * scale else 0.0


@summing_kernel
def triangulate(array, num_rows, pivots):
    """Turn the first rows into lower echelon form by reflections from the right; array · arrayᵀ does not change.

    `pivots` receives the last nonzero column of each row, or -1 where the row depends on the rows above it. A pivot
    that is small beside the rest of its row is exchanged for the largest entry: where columns differ by many powers of
    ten, as those of a wide prior and of an exact sensor do, the small columns keep their digits (Cox and Higham, BIT
    1998). Until the end each row keeps its reflection behind its pivot.
    """
    column = np.int64(0)
    for row in range(num_rows):
        head, tail = squares(array[row, :column]), squares(array[row, column:])
        is_small = tail <= ROUNDING * ROUNDING * (head + tail) and tail < math.inf
        if is_small and is_rounding(array, row, column, pivots):
            array[row, column:] = 0.0
            pivots[row] = -1
            continue
        if array[row, column] * array[row, column] < SMALL_SHARE * tail:
            exchange(array, num_rows, column, largest(array[row], column))
        length = math.sqrt(tail)
        reflect(array, num_rows, row, column, length)
        pivots[row] = column
        column += 1
    for row in range(num_rows):
        if pivots[row] >= 0:
            array[row, pivots[row] + 1 :] = 0.0
    return column


@summing_kernel
def squares(values):
    """Σ value²."""
    total = 0.0
    for index in range(len(values)):
        total += values[index] * values[index]
    return total


@summing_kernel
def is_rounding(array, row, column, pivots):
    """Whether the remainder of a row, small beside the rest of the row, is only rounding error of terms that cancel.

    A reflection subtracts from an entry at most the length of the row from its pivot on, times the share of the entry's
    column in the reflection: a column with a tiny share is as exact as it is tiny.
    """
    for index in range(column, array.shape[1]):
        bound = 0.0
        for above in range(row):
            pivot = pivots[above]
            if pivot >= 0:
                share = abs(array[above, index]) / array[above, pivot]
                bound += share * math.sqrt(squares(array[row, pivot:]))
        if abs(array[row, index]) > ROUNDING * bound:
            return False
    return True


@summing_kernel
def exchange(array, num_rows, column, other):
    """Exchange two columns."""
    if column != other:
        for row in range(num_rows):
            array[row, column], array[row, other] = array[row, other], array[row, column]


@summing_kernel
def largest(values, first):
    """The index of the largest entry by size, from `first` on."""
    best = first
    for index in range(first + 1, len(values)):
        if abs(values[index]) > abs(values[best]):
            best = index
    return best


@summing_kernel
def reflect(array, num_rows, row, column, length):
    """Reflect the columns from `column` on so that the row, of this length there, is zero behind its pivot."""
    source = array[row, column:]
    turned = source[0] > 0.0  # away from the pivot's sign, so that nothing cancels; turned back below
    is_wide = spans_much(source, length)
    source[0] = source[0] + length if turned else source[0] - length
    scale = 1.0 / (length * abs(source[0]))
    for below in range(row + 1, num_rows):
        target = array[below, column:]
        total = 0.0
        for index in range(len(source)):
            total += target[index] * source[index]
        total *= scale
        if is_wide:
            subtract(target, total, source)
        else:
            for index in range(len(source)):
                target[index] -= total * source[index]
        if turned:
            target[0] = -target[0]
    source[0] = length


@summing_kernel
def spans_much(values, length):
    """Whether some nonzero entry is tiny beside the length of the vector."""
    count = 0
    for index in range(len(values)):
        size = abs(values[index])
        count += (size < WIDE * length) & (size > 0.0)
    return count > 0


@summing_kernel
def subtract(target, total, source):
    """target - total · source, in place; zero where the two cancel, as rounding error would swamp small columns."""
    for index in range(len(source)):
        rest = target[index] - total * source[index]
        target[index] = rest if abs(rest) > CANCELLED * abs(target[index]) else 0.0


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
def is_near(factor, other, rounding):
    """Whether no entry differs by more than `rounding` times the length of its row."""
    for row in range(len(factor)):
        allowed = rounding * math.sqrt(squares(factor[row]))
        for column in range(row + 1):
            if not abs(factor[row, column] - other[row, column]) <= allowed:
                return False
    return True


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
def divide(array, num_rows, pivots, out):
    """Fill `out` with the coefficients X of Y = X A; `array`, in echelon form, has `num_rows` rows A, then the rows Y.

    Rows of A that depend on the rows above them get zeros. The result is the rank of A.
    """
    rank = 0
    for index in range(num_rows):
        rank += pivots[index] >= 0
    for row in range(len(out)):
        for index in range(num_rows - 1, -1, -1):
            column = pivots[index]
            if column < 0:
                out[row, index] = 0.0
                continue
            total = array[num_rows + row, column]
            for later in range(index + 1, num_rows):
                total -= out[row, later] * array[later, column]
            out[row, index] = total / array[index, column]
    return rank


@summing_kernel
def draw_forward(shifts, transition, transition_noise, initial_mean, initial_factor, path):
    """Turn standard normals (step, state) into states, first step first, in place."""
    mean = initial_mean.copy()
    for time in range(len(path)):
        if time == 0:
            color(mean, initial_factor, path[0])
        else:
            advance(shifts[time - 1], at(transition, time - 1), path[time - 1], mean)
            color(mean, at(transition_noise, time - 1), path[time])


@summing_kernel
def color(mean, factor, normals):
    """Turn standard normals into mean + L · normals, in place; from the last row, as L is lower triangular."""
    for row in range(len(normals) - 1, -1, -1):
        total = mean[row]
        for index in range(row + 1):
            total += factor[row, index] * normals[index]
        normals[row] = total


@summing_kernel
def advance(shift, matrix, source, mean):
    """Fill `mean` with shift + matrix · source."""
    for row in range(len(mean)):
        total = shift[row]
        for index in range(len(source)):
            total += matrix[row, index] * source[index]
        mean[row] = total


@summing_kernel
def draw_backward(filtered_mean, predicted_mean, gains, rests, paths):
    """Turn standard normals (path, step, state) into states given all observations, last step first, in place."""
    num_steps, num_states = filtered_mean.shape
    mean, deviation = filtered_mean[0].copy(), filtered_mean[0].copy()
    for number in range(len(paths)):
        path = paths[number]
        for time in range(num_steps - 1, -1, -1):
            copy_vector(filtered_mean[time], mean)
            if time + 1 < num_steps:
                for state in range(num_states):
                    deviation[state] = path[time + 1, state] - predicted_mean[time + 1, state]
                advance(filtered_mean[time], gains[time], deviation, mean)
            color(mean, rests[time], path[time])


@summing_kernel
def covariances(factors, out):
    """Fill `out` with L Lᵀ of each lower triangular L: symmetric and positive semidefinite to the last bit."""
    for step in range(len(factors)):
        factor = factors[step]
        for row in range(len(factor)):
            for column in range(row + 1):
                total = 0.0
                for index in range(column + 1):
                    total += factor[row, index] * factor[column, index]
                out[step, row, column] = total
                out[step, column, row] = total


@summing_kernel
def add_moments(weights, regressors, factors, means, noises, crosses, second, cross, residuals):
    """Add the second moments of regressors x and residuals e, step by step.

    `regressors` are the means of x; `factors` L give the covariance L Lᵀ of the first entries of x, the state. `means`
    are the means of e, with covariance F Fᵀ for F in `noises`, and covariance F Gᵀ with the state for G in `crosses`.
    """
    for step in range(len(weights)):
        weight, x, e = weights[step], regressors[step], means[step]
        add_outer(weight, x, x, second)
        add_product(weight, factors[step], factors[step], second)
        add_outer(weight, e, x, cross)
        add_product(weight, noises[step], crosses[step], cross)
        add_outer(weight, e, e, residuals)
        add_product(weight, noises[step], noises[step], residuals)


@summing_kernel
def add_outer(weight, left, right, out):
    """Add weight · left rightᵀ of two vectors."""
    for row in range(len(left)):
        for column in range(len(right)):
            out[row, column] += weight * left[row] * right[column]


@summing_kernel
def add_product(weight, left, right, out):
    """Add weight · left · rightᵀ of two matrices to the first rows and columns."""
    for row in range(len(left)):
        for column in range(len(right)):
            total = 0.0
            for index in range(left.shape[1]):
                total += left[row, index] * right[column, index]
            out[row, column] += weight * total
