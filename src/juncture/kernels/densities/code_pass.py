"""One pass of EM over rows of codes: the responsibilities of a mixture of tables, and the expected counts."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.densities.mixture_pass import exponentiate


@kernel(work=("rows", "log_weights"))
def code_mixture_pass(rows, weights, offsets, log_tables, log_weights, counts):
    """Add the expected counts of each code to `counts`; the weight of each component, log-likelihood and bad rows.

    Rows hold a code for each column, NaN for a hole. The tables of all columns stand one below the other: code v of
    column j is the row offsets[j] + v of `log_tables` and of `counts`, both (code, component).
    """
    num_rows, num_columns = rows.shape
    num_components = len(log_weights)
    weight, shares, powers = np.zeros(num_components), np.empty(num_components), np.empty(num_components)
    log_likelihood, num_bad = 0.0, 0
    for row in range(num_rows):
        values = rows[row]
        copy_vector(log_weights, shares)
        is_seen = False
        for column in range(num_columns):
            if not np.isnan(values[column]):
                is_seen = True
                logs = log_tables[offsets[column] + np.int64(values[column])]
                for index in range(num_components):
                    shares[index] += logs[index]
        if weights[row] == 0.0 or not is_seen:
            continue
        top = shares.max()
        if not np.isfinite(top):
            num_bad += 1
            continue
        for index in range(num_components):
            shares[index] -= top
        exponentiate(shares, powers)
        total = shares.sum()
        log_likelihood += weights[row] * (top + np.log(total))
        factor = weights[row] / total
        for index in range(num_components):
            shares[index] *= factor
            weight[index] += shares[index]
        for column in range(num_columns):
            if not np.isnan(values[column]):
                into = counts[offsets[column] + np.int64(values[column])]
                for index in range(num_components):
                    into[index] += shares[index]
    return weight, log_likelihood, num_bad
