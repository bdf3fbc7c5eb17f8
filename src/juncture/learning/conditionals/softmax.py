"""The likelihood of a softmax in scores that are linear in inputs, and its maximum by Newton's method.

Rows are read in blocks that fit the cache of a core, each of which gives its part of value, gradient and Hessian.
Inputs are centered and scaled block by block, so that no second table is made.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from juncture.newton import DampedNewton, Expansion, Minimum
from juncture.numerics import log_sum_exp
from juncture.parallel import block_rows, map_blocks, one_thread

FLAT = 1e-11  # a curvature this small, relative to the largest, is none
MANY_ROWS, FEW_ROWS = 200_000, 20_000  # from so many rows, Newton's method starts at the maximum of a few of them


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


class Standardization(NamedTuple):
    """What is subtracted from each input, and by what it is divided then."""

    center: np.ndarray  # (input,)
    deviation: np.ndarray  # (input,)

    def of_rows(self, rows: np.ndarray, has_constant: bool) -> np.ndarray:
        """(row, feature): a constant, if there is one, and the standardised inputs."""
        first = int(has_constant)
        design = np.empty((len(rows), first + rows.shape[1]))
        design[:, :first] = 1.0
        np.subtract(rows, self.center, out=design[:, first:])
        design[:, first:] /= self.deviation
        return design

    def change(self, has_constant: bool) -> np.ndarray:
        """A, for which the weights of the inputs as given are A times those of the standardised ones."""
        first = int(has_constant)
        change = np.diag(np.append(np.ones(first), 1 / self.deviation))
        if has_constant:
            change[0, 1:] = -self.center / self.deviation
        return change


def standardization(inputs: np.ndarray, weights: np.ndarray, *, is_centered: bool = True) -> Standardization:
    """The weighted mean of each column, and its standard deviation, or 1 where that is 0."""
    total, size = weights.sum(), inputs.shape[1]
    if not total > 0:
        return Standardization(np.zeros(size), np.ones(size))
    rows = block_rows((size,))
    center = np.zeros(size)
    if is_centered:
        center = np.sum(map_blocks(lambda part: weights[part] @ inputs[part], len(inputs), rows), axis=0) / total
    squares = map_blocks(lambda part: weights[part] @ (inputs[part] - center) ** 2, len(inputs), rows)
    deviation = np.sqrt(np.sum(squares, axis=0) / total)
    return Standardization(center, np.where(deviation > 1e-14 * np.abs(center), deviation, 1.0))


@dataclass(frozen=True, eq=False)
class SoftmaxLikelihood:
    """Minus the penalised log-likelihood of weights (state but the first, feature), and its derivatives.

    The penalty is ½ Σ penalty[feature] · weights[:, feature]ᵀ coupling weights[:, feature].
    """

    inputs: np.ndarray  # (row, input)
    codes: np.ndarray  # (row,)
    weights: np.ndarray  # (row,)
    num_free: int  # states but the first
    standard: Standardization
    penalty: np.ndarray  # (feature,)
    coupling: np.ndarray  # (state but the first, state but the first)
    has_constant: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        return self.num_free, len(self.penalty)

    def expand(self, flat: np.ndarray) -> Expansion:
        """Minus the log-likelihood and its derivatives, flat: (state and feature,)."""
        found = flat.reshape(self.shape)
        size = block_rows((len(self.penalty) * max(2, self.num_free),))
        with one_thread(len(self.inputs) > size):
            parts = map_blocks(lambda block: self._expand_block(found, block), len(self.inputs), size)
        value, gradient, hessian = (sum(part[place] for part in parts) for place in range(3))
        pulled = self.coupling @ found * self.penalty
        curvature = np.kron(self.coupling, np.diag(self.penalty))
        whole = np.asarray(hessian).reshape(flat.size, flat.size) + curvature
        return Expansion(
            float(value) + 0.5 * float(np.sum(pulled * found)), (np.asarray(gradient) + pulled).reshape(-1), whole
        )

    def _expand_block(self, found: np.ndarray, block: slice) -> tuple[float, np.ndarray, np.ndarray]:
        """The parts of one block of rows: value, (state, feature) and (state, feature, state, feature)."""
        design = self.standard.of_rows(self.inputs[block], self.has_constant)
        weights, codes = self.weights[block], self.codes[block]
        scores = design @ found.T
        if self.num_free == 1:
            value, p = binary_value(scores[:, 0], codes, weights)
        else:
            value, p = softmax_value(scores, codes, weights)
        seen = codes[:, None] == np.arange(1, self.num_free + 1)
        gradient = (weights[:, None] * (p - seen)).T @ design
        hessian = np.empty((*found.shape, *found.shape))
        for one in range(self.num_free):
            for other in range(one + 1):
                bend = weights * p[:, one] * (float(one == other) - p[:, other])
                hessian[one, :, other] = (design * bend[:, None]).T @ design
                hessian[other, :, one] = hessian[one, :, other]
        return value, gradient, hessian

    def minimize(self) -> tuple[Minimum, bool]:
        """The minimum, and whether there is one: else weights grow without end, as where states are separable."""
        start = np.zeros(self.num_free * len(self.penalty))
        before = self.expand(start).hessian
        found = NEWTON.minimize(self.expand, self._near_start(start))
        return found, found.converged and rank(found.here.hessian, before) == rank(before, before)

    def _near_start(self, start: np.ndarray) -> np.ndarray:
        """Of many rows, the maximum for a few that are spread over them; 0 where that has none."""
        if len(self.inputs) < MANY_ROWS:
            return start
        some = slice(None, None, len(self.inputs) // FEW_ROWS)
        share = float(self.weights.sum() / max(self.weights[some].sum(), np.finfo(float).tiny))
        few = replace(
            self, inputs=self.inputs[some], codes=self.codes[some], weights=self.weights[some],
            penalty=self.penalty / share,
        )  # fmt: skip
        found, is_minimum = few.minimize()
        return found.point if is_minimum else start


def binary_value(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """Σ w (log(1 + exp(score)) - code · score), and P(second state) as (row, 1)."""
    small = np.exp(-np.abs(scores))
    is_positive = scores >= 0
    p = np.where(is_positive, 1.0, small) / (1.0 + small)
    losses = np.log1p(small) + np.where(is_positive, scores, 0.0) - codes * scores
    return float(weights @ losses), p[:, None]


def softmax_value(scores: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
    """-Σ w log p(code), and the probabilities of all states but the first, whose score is 0."""
    every = np.concatenate([np.zeros((len(scores), 1)), scores], axis=1)
    logs = log_sum_exp(every, axis=1)
    losses = logs - every[np.arange(len(codes)), codes]
    return float(weights @ losses), np.exp(scores - logs[:, None])


def rank(curvature: np.ndarray, before: np.ndarray) -> int:
    """In how many directions there is any: a direction that has lost its curvature leads to infinity.

    Each direction is measured by what it had before: a prior may bend one far more than the rows bend the others.
    """
    size = np.sqrt(np.maximum(np.diag(before), np.finfo(float).tiny))
    relative = curvature / np.outer(size, size)
    return int(np.linalg.matrix_rank(relative, tol=FLAT * np.abs(relative).max(initial=0.0), hermitian=True))
