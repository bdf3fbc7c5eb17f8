"""Second moments of the regressors and residuals of linear-Gaussian distributions, summed over steps."""

from __future__ import annotations

from juncture.kernels.compiler import summing_kernel


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
