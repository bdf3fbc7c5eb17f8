"""Log-likelihoods of the steps of a chain, relative to the largest of their step."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import encode_log
from juncture.kernels.compiler import kernel

LOG_SMALLEST = -700.0  # the exponential of a smaller number is no normal double
FARTHEST = 1e18  # below the largest of a step: sums of such logarithms along a path have no digits left


@kernel
def subtract_tops(values, labels, tops):
    """Subtract from each row (step, state) its maximum, and store it in `tops`; the first step with NaN, or -1.

    `labels` is empty or has one entry a step. Where a label gives the state (≥ 0), the other states become impossible.
    A row without a possible state is all -inf with top 0. In a row with infinite densities only these states stay
    possible.
    """
    for step in range(len(values)):
        if len(labels) and labels[step] >= 0:
            for state in range(values.shape[1]):
                if state != labels[step]:
                    values[step, state] = -np.inf
        top = -np.inf
        for state in range(values.shape[1]):
            if np.isnan(values[step, state]):
                return step
            top = max(top, values[step, state])
        tops[step] = top if top > -np.inf else 0.0
        for state in range(values.shape[1]):
            if top == np.inf:
                values[step, state] = 0.0 if values[step, state] == np.inf else -np.inf
            else:
                values[step, state] -= tops[step]
    return -1


@kernel
def replace_small(values, replacement):
    """Replace finite logarithms whose exponentials would underflow; the first step with one beyond FARTHEST, or -1."""
    farthest = -1
    for step in range(len(values)):
        for state in range(values.shape[1]):
            if -np.inf < values[step, state] < LOG_SMALLEST:
                if values[step, state] < -FARTHEST and farthest < 0:
                    farthest = step
                values[step, state] = replacement
    return farthest


@kernel
def encode(values):
    """Turn logarithms into encoded numbers of `log_encoded`; the first step with one beyond FARTHEST, or -1."""
    farthest = -1
    for step in range(len(values)):
        for state in range(values.shape[1]):
            if -np.inf < values[step, state] < -FARTHEST and farthest < 0:
                farthest = step
            values[step, state] = encode_log(values[step, state])
    return farthest
