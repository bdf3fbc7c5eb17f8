"""Learning a `Logistic` conditional: Newton's method on the log-likelihood, which is concave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.factors.logistic import Logistic
from juncture.learning.kinds.contract import Wishes, estimated, expected_part, log_likelihood_of, log_prior, summarise
from juncture.learning.kinds.row_counts import RowCounts
from juncture.numerics import log_sum_exp, softmax

MAX_STEPS = 200
TOLERANCE = 1e-10
RUNAWAY = 1e4  # scores beyond this: the likelihood rises for ever


@summarise.register
def _(conditional: Logistic, data: Dataset) -> RowCounts:
    return RowCounts.of(conditional, data)


@expected_part.register
def _(conditional: Logistic, tables: Sequence[np.ndarray]) -> RowCounts:
    return RowCounts.of_table(conditional, tables[0])


@log_likelihood_of.register
def _(conditional: Logistic, part: RowCounts) -> float:
    return part.log_likelihood(conditional)


@log_prior.register
def _(conditional: Logistic, wishes: Wishes) -> float:
    """-½ Σ weight² / variance: the mode under independent Gaussians; the bias has a flat prior."""
    return -0.5 * prior_precision(wishes, conditional.child.name) * float(np.sum(conditional.weights**2))


@estimated.register
def _(conditional: Logistic, part: RowCounts, wishes: Wishes) -> Logistic:
    numbers = [
        column if parent.is_real else parent.numbers[column.astype(np.int64)]
        for parent, column in zip(part.parents, part.rows.T, strict=False)
    ]
    inputs = np.stack([np.ones(len(part.rows)), *numbers], axis=1)  # (row, bias and parents)
    penalty = np.full(inputs.shape[1], prior_precision(wishes, part.child.name))
    penalty[0] = 0.0
    found = newton(inputs, part.rows[:, -1].astype(np.int64), part, penalty)  # (state but the first, bias and parents)
    if part.child.num_states == 2:
        return Logistic(part.child, part.parents, found[0, 1:], found[0, 0])
    full = np.concatenate([np.zeros((1, found.shape[1])), found])
    return Logistic(part.child, part.parents, full[:, 1:], full[:, 0])


def newton(inputs: np.ndarray, codes: np.ndarray, part: RowCounts, penalty: np.ndarray) -> np.ndarray:
    """The weights at which the penalised gradient vanishes, by Newton steps that are halved until they rise."""
    weights, num_free = part.weights, part.child.num_states - 1
    seen = np.eye(num_free + 1)[codes][:, 1:]
    found = np.zeros((num_free, inputs.shape[1]))
    value = objective(found, inputs, codes, weights, penalty)
    for _ in range(MAX_STEPS):
        p = probabilities(found, inputs)
        gradient = (weights[:, None] * (seen - p)).T @ inputs - penalty * found
        step = newton_step(inputs, p, weights, penalty, gradient)
        size = 1.0
        while (moved := objective(found + size * step, inputs, codes, weights, penalty)) < value and size > 1e-10:
            size /= 2
        found, gain, value = found + size * step, moved - value, max(moved, value)
        if np.abs(inputs @ found.T).max(initial=0.0) > RUNAWAY:
            break
        if gain <= TOLERANCE * max(1.0, abs(value)) and np.abs(step).max() <= 1e-8 * (1 + np.abs(found).max()):
            return found
    raise InvalidData(
        f"the logistic weights of {part.child.name!r} grow without end: its parents tell its states apart exactly;"
        f" give rows in which they do not, or a prior such as {{{part.child.name!r}: jt.Gaussian(0, 10)}}"
    )


def newton_step(
    inputs: np.ndarray, p: np.ndarray, weights: np.ndarray, penalty: np.ndarray, gradient: np.ndarray
) -> np.ndarray:
    """The gradient divided by the curvature Σ w (diag p - p pᵀ) ⊗ x xᵀ + penalty."""
    size = gradient.size
    spread = np.einsum("n,nk,kl->nkl", weights, p, np.eye(p.shape[1])) - np.einsum("n,nk,nl->nkl", weights, p, p)
    curvature = np.einsum("nkl,ni,nj->kilj", spread, inputs, inputs).reshape(size, size)
    curvature += np.diag(np.tile(penalty, len(gradient)))
    return np.asarray(np.linalg.lstsq(curvature, gradient.reshape(-1), rcond=None)[0]).reshape(gradient.shape)


def probabilities(found: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """P(state) of all states but the first: (row, state)."""
    scores = inputs @ found.T
    return softmax(np.concatenate([np.zeros((len(scores), 1)), scores], axis=1))[:, 1:]


def objective(
    found: np.ndarray, inputs: np.ndarray, codes: np.ndarray, weights: np.ndarray, penalty: np.ndarray
) -> float:
    scores = np.concatenate([np.zeros((len(inputs), 1)), inputs @ found.T], axis=1)
    fit = scores[np.arange(len(codes)), codes] - log_sum_exp(scores, axis=1)
    return float(weights @ fit - 0.5 * np.sum(penalty * found**2))


def prior_precision(wishes: Wishes, name: str) -> float:
    """One over the variance of a Gaussian prior for the weights of this child; 0 when it has none."""
    prior: Any = wishes.prior.get(name) if hasattr(wishes.prior, "get") else None
    if prior is None:
        return 0.0
    if not hasattr(prior, "variance"):
        raise InvalidData(f"the prior of the logistic weights of {name!r} is a jt.Gaussian with mean 0; got {prior!r}")
    return float(1.0 / prior.variance)
