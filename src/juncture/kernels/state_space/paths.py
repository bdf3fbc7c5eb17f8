"""Sampling of state paths from standard normals, and covariances from their factors."""

from __future__ import annotations

from juncture.kernels.compiler import summing_kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.state_space.kalman import at


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
