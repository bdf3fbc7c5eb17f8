"""Log-likelihoods of the steps of a chain, relative to the largest of their step."""

from __future__ import annotations

import numpy as np

from juncture.kernels.chains.log_encoded import encode_log
from juncture.kernels.compiler import kernel

LOG_SMALLEST = -700.0  # the exponential of a smaller number is no normal double


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
def clear_small(values):
    """Replace by -inf every logarithm whose exponential would underflow."""
    for step in range(len(values)):
        for state in range(values.shape[1]):
            if values[step, state] < LOG_SMALLEST:
                values[step, state] = -np.inf


@kernel
def encode(values):
    """Turn logarithms into encoded numbers of `log_encoded`, in place."""
    for step in range(len(values)):
        for state in range(values.shape[1]):
            values[step, state] = encode_log(values[step, state])
