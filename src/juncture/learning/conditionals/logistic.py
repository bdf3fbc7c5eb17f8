"""Learning a `Logistic` conditional: Newton's method on the log-likelihood, which is concave."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.notes import NO_NOTES, Notes
from juncture.errors import InvalidData
from juncture.factors.logistic import Logistic
from juncture.families.continuous.gaussian import Gaussian
from juncture.learning.conditionals.contract import EstimationOptions, estimate_conditional, log_prior, takes_prior
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.learning.conditionals.softmax import SoftmaxLikelihood, standardization
from juncture.learning.conditionals.table import prior_of


@takes_prior.register
def _(conditional: Logistic) -> bool:
    return True


@log_prior.register
def _(conditional: Logistic, options: EstimationOptions) -> float:
    """-½ Σ weight² / variance: the mode under independent Gaussians; the bias has a flat prior."""
    return -0.5 * prior_precision(options, conditional.child.name) * float(np.sum(conditional.weights**2))


@estimate_conditional.register
def _(conditional: Logistic, part: RowCounts, options: EstimationOptions) -> tuple[Logistic, Notes]:
    """Newton's method on inputs with mean 0 and variance 1, whatever theirs are."""
    numbers = [
        column if parent.is_real else parent.numbers[column.astype(np.int64)]
        for parent, column in zip(part.parents, part.rows.T, strict=False)
    ]
    inputs = np.stack(numbers, axis=1) if numbers else np.empty((len(part.rows), 0))  # (row, parent)
    standard, num_free = standardization(inputs, part.weights), part.child.num_states - 1
    penalty = np.append(0.0, prior_precision(options, part.child.name) / standard.deviation**2)
    codes = part.rows[:, -1].astype(np.int64)
    likelihood = SoftmaxLikelihood(inputs, codes, part.weights, num_free, standard, penalty, np.eye(num_free))
    found, is_minimum = likelihood.minimize()
    if not is_minimum:
        raise InvalidData(
            f"the logistic weights of {part.child.name!r} grow without end: its parents separate its states exactly, or"
            f" a state has no rows; give rows that are not separable, or a prior such as"
            f" {{{part.child.name!r}: jt.Gaussian(0, 10)}}"
        )
    every = found.point.reshape(likelihood.shape) @ standard.change(True).T  # (state but the first, bias and parents)
    weights, bias = every[:, 1:], every[:, 0]
    if part.child.num_states == 2:
        return Logistic(part.child, part.parents, weights[0], bias[0]), NO_NOTES
    none = np.zeros((1, weights.shape[1]))
    return Logistic(part.child, part.parents, np.concatenate([none, weights]), np.append(0.0, bias)), NO_NOTES


def prior_precision(options: EstimationOptions, name: str) -> float:
    """One over the variance of a Gaussian prior for the weights of this child; 0 when it has none."""
    prior: Any = prior_of(options.prior, name)
    if prior is None or (options.prior is prior and not isinstance(prior, Gaussian)):
        return 0.0
    if not isinstance(prior, Gaussian) or prior.mean != 0:
        raise InvalidData(f"the prior of the logistic weights of {name!r} is a jt.Gaussian with mean 0; got {prior!r}")
    return float(1.0 / prior.variance)
