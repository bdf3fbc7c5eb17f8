"""Learning a `Logistic` conditional: Newton's method on the log-likelihood, which is concave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.factors.logistic import Logistic
from juncture.learning.conditionals.contract import EstimationOptions, estimate_conditional, log_prior, takes_prior
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.learning.conditionals.table import prior_of
from juncture.newton import DampedNewton, Expansion
from juncture.numerics import log_sum_exp, softmax

FLAT = 1e-11  # a curvature this small, relative to the largest, is none


def shortest_step(here: Expansion) -> np.ndarray:
    """-H⁻¹ g; of a singular Hessian, the step that is shortest in the weights of standardised inputs."""
    return -np.linalg.lstsq(here.hessian, here.gradient, rcond=None)[0]


NEWTON = DampedNewton(
    shortest_step,
    tolerance=-np.inf,  # only short steps end the method: where the likelihood rises for ever, they stay long
    step_tolerance=1e-8,
    sufficient=0.0,
    rounding=1e-14,
    scale=1.0,
    max_steps=100,  # where the likelihood rises for ever, each step moves the scores by about 1
)


@takes_prior.register
def _(conditional: Logistic) -> bool:
    return True


@log_prior.register
def _(conditional: Logistic, options: EstimationOptions) -> float:
    """-½ Σ weight² / variance: the mode under independent Gaussians; the bias has a flat prior."""
    return -0.5 * prior_precision(options, conditional.child.name) * float(np.sum(conditional.weights**2))


@estimate_conditional.register
def _(conditional: Logistic, part: RowCounts, options: EstimationOptions) -> Logistic:
    """Newton's method on inputs with mean 0 and variance 1, whatever theirs are."""
    numbers = [
        column if parent.is_real else parent.numbers[column.astype(np.int64)]
        for parent, column in zip(part.parents, part.rows.T, strict=False)
    ]
    inputs = np.stack([np.ones(len(part.rows)), *numbers], axis=1)  # (row, bias and parents)
    center, deviation = means_and_deviations(inputs[:, 1:], part.weights)
    inputs[:, 1:] = (inputs[:, 1:] - center) / deviation
    penalty = np.append(0.0, prior_precision(options, part.child.name) / deviation**2)
    likelihood = Likelihood(inputs, part.rows[:, -1].astype(np.int64), part.weights, penalty)
    found = newton(likelihood, part.child.num_states - 1, part.child.name)  # (state but the first, bias and parents)
    weights = found[:, 1:] / deviation
    bias = found[:, 0] - weights @ center
    if part.child.num_states == 2:
        return Logistic(part.child, part.parents, weights[0], bias[0])
    none = np.zeros((1, weights.shape[1]))
    return Logistic(part.child, part.parents, np.concatenate([none, weights]), np.append(0.0, bias))


def means_and_deviations(columns: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weighted mean of each column, and its standard deviation, or 1 where that is 0."""
    total = weights.sum()
    if not total > 0:
        return np.zeros(columns.shape[1]), np.ones(columns.shape[1])
    center = weights @ columns / total
    deviation = np.sqrt(weights @ (columns - center) ** 2 / total)
    return center, np.where(deviation > 1e-14 * np.abs(center), deviation, 1.0)


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The penalised log-likelihood of weights (state but the first, input), and its derivatives."""

    inputs: np.ndarray  # (row, input)
    codes: np.ndarray  # (row,)
    weights: np.ndarray  # (row,)
    penalty: np.ndarray  # (input,)

    def value(self, found: np.ndarray) -> float:
        scores = np.concatenate([np.zeros((len(self.inputs), 1)), self.inputs @ found.T], axis=1)
        fit = scores[np.arange(len(self.codes)), self.codes] - log_sum_exp(scores, axis=1)
        return float(self.weights @ fit - 0.5 * np.sum(self.penalty * found**2))

    def gradient(self, found: np.ndarray, p: np.ndarray) -> np.ndarray:
        seen = np.eye(len(found) + 1)[self.codes][:, 1:]
        return (self.weights[:, None] * (seen - p)).T @ self.inputs - self.penalty * found

    def curvature(self, p: np.ndarray) -> np.ndarray:
        """Σ w (diag p - p pᵀ) ⊗ x xᵀ + penalty, flat: (state and input, state and input)."""
        num_free, size = p.shape[1], len(self.penalty)
        curvature = np.zeros((num_free, size, num_free, size))
        for one in range(num_free):
            for other in range(num_free):
                bend = self.weights * p[:, one] * ((one == other) - p[:, other])
                curvature[one, :, other] = (self.inputs * bend[:, None]).T @ self.inputs
        return curvature.reshape(num_free * size, num_free * size) + np.diag(np.tile(self.penalty, num_free))

    def expand(self, found: np.ndarray) -> Expansion:
        """Minus the log-likelihood and its derivatives, flat: (state and input,)."""
        p = self.probabilities(found)
        return Expansion(-self.value(found), -self.gradient(found, p).reshape(-1), self.curvature(p))

    def probabilities(self, found: np.ndarray) -> np.ndarray:
        """P(state) of all states but the first: (row, state)."""
        scores = self.inputs @ found.T
        return softmax(np.concatenate([np.zeros((len(scores), 1)), scores], axis=1))[:, 1:]


def newton(likelihood: Likelihood, num_free: int, name: str) -> np.ndarray:
    """The weights at which the penalised gradient vanishes."""
    start = np.zeros((num_free, likelihood.inputs.shape[1]))
    found = NEWTON.minimize(lambda flat: likelihood.expand(flat.reshape(start.shape)), start.reshape(-1))
    before = likelihood.curvature(likelihood.probabilities(start))
    if found.converged and rank(found.here.hessian, before) == rank(before, before):
        return found.point.reshape(start.shape)
    raise InvalidData(
        f"the logistic weights of {name!r} grow without end: its parents separate its states exactly, or a state has"
        f" no rows; give rows that are not separable, or a prior such as {{{name!r}: jt.Gaussian(0, 10)}}"
    )


def rank(curvature: np.ndarray, before: np.ndarray) -> int:
    """In how many directions there is any: a direction that has lost its curvature leads to infinity.

    Each direction is measured by what it had before: a prior may bend one far more than the rows bend the others.
    """
    size = np.sqrt(np.maximum(np.diag(before), np.finfo(float).tiny))
    relative = curvature / np.outer(size, size)
    return int(np.linalg.matrix_rank(relative, tol=FLAT * np.abs(relative).max(initial=0.0), hermitian=True))


def prior_precision(options: EstimationOptions, name: str) -> float:
    """One over the variance of a Gaussian prior for the weights of this child; 0 when it has none."""
    prior: Any = prior_of(options.prior, name)
    if prior is None or (options.prior is prior and not hasattr(prior, "variance")):
        return 0.0
    if not hasattr(prior, "variance") or prior.mean != 0:
        raise InvalidData(f"the prior of the logistic weights of {name!r} is a jt.Gaussian with mean 0; got {prior!r}")
    return float(1.0 / prior.variance)
