"""The likelihood of a softmax in scores that are linear in inputs, and its maximum by Newton's method.

Rows are read in blocks that fit the cache of a core, each of which gives its part of value, gradient and Hessian.
Inputs are centered and scaled block by block, so that no second table is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from juncture.errors import InvalidData
from juncture.numerics.newton import (
    RANK_TOLERANCE,
    DampedNewton,
    Expansion,
    Minimum,
    inverse_root,
    is_well_conditioned,
    least_curvature,
    shortest_step,
)
from juncture.numerics.stable import log_sum_exp
from juncture.runtime.parallel import block_rows, map_blocks, one_thread

FLAT = 1e-11  # a curvature that fell to this share of its start, relative to the one that fell least, is none
MANY_ROWS, FEW_ROWS = 200_000, 20_000  # from so many rows, Newton's method starts at the maximum of a few of them


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
        """(row, feature): a constant, if there is one, and the standardised inputs; in memory as the rows are."""
        first, order = int(has_constant), "F" if rows.ndim > 1 and rows.strides[0] < rows.strides[1] else "C"
        design = np.empty((len(rows), first + rows.shape[1]), order=order)  # type: ignore[call-overload]
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
    """The weighted mean of each column, and its standard deviation, or 1 where that is 0.

    Differences to the first row are averaged, and squares are taken in units of the largest difference: a column may
    have any offset, and any unit. Every cell of a constant column is its mean to the last bit.
    """
    size, counted = inputs.shape[1], np.flatnonzero(weights > 0)
    if not len(counted):
        return Standardization(np.zeros(size), np.ones(size))
    rows, total = block_rows((size,)), float(weights.sum())
    center = np.zeros(size)
    with np.errstate(over="ignore", invalid="ignore"):
        if is_centered:
            first = inputs[counted[0]]
            sums = map_blocks(lambda part: weights[part] @ (inputs[part] - first), len(inputs), rows)
            center = first + np.sum(sums, axis=0) / total
        largest = np.max(
            map_blocks(
                lambda part: (np.abs(inputs[part] - center) * (weights[part, None] > 0)).max(axis=0), len(inputs), rows
            ),
            axis=0,
        )
        unit = np.where(largest > 0, largest, 1.0)
        squares = map_blocks(lambda part: weights[part] @ ((inputs[part] - center) / unit) ** 2, len(inputs), rows)
        deviation = unit * np.sqrt(np.sum(squares, axis=0) / total)
    if not np.isfinite(deviation).all():
        column = int(np.argmin(np.isfinite(deviation)))
        raise InvalidData(f"the numbers of feature {column} are too large for doubles: divide them by a constant")
    return Standardization(center, np.where(deviation > 0, deviation, 1.0))


def orthogonal_directions(parts: Iterable[np.ndarray]) -> np.ndarray:
    """(feature, direction): T for which blocks of rows (row, feature), together, have orthonormal columns times T.

    Features that depend on others leave fewer directions. T comes from QR decompositions of the rows, not from their
    products, which have half as many digits.
    """
    triangle = np.linalg.qr(np.concatenate([np.linalg.qr(part, mode="r") for part in parts]), mode="r")
    _, values, right = np.linalg.svd(triangle, full_matrices=False)
    keep = values > RANK_TOLERANCE * values.max(initial=0.0)
    return np.asarray(right[keep].T / values[keep])


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
    turn: np.ndarray | None = None  # (feature, direction): the weights are turn times those of directions

    @property
    def shape(self) -> tuple[int, int]:
        return self.num_free, len(self.penalty) if self.turn is None else self.turn.shape[1]

    @property
    def bend(self) -> np.ndarray:
        """(direction, direction): the penalty of the weights of one state."""
        return np.diag(self.penalty) if self.turn is None else (self.turn.T * self.penalty) @ self.turn

    def expand(self, flat: np.ndarray) -> Expansion:
        """Minus the log-likelihood and its derivatives, flat: (state and feature,)."""
        found = flat.reshape(self.shape)
        size = block_rows((len(self.penalty) * max(2, self.num_free),))
        with one_thread(len(self.inputs) > size):
            parts = map_blocks(lambda block: self._expand_block(found, block), len(self.inputs), size)
        value, gradient, hessian = (sum(part[place] for part in parts) for place in range(3))
        pulled = self.coupling @ found @ self.bend
        whole = np.asarray(hessian).reshape(flat.size, flat.size) + np.kron(self.coupling, self.bend)
        return Expansion(
            float(value) + 0.5 * float(np.sum(pulled * found)), (np.asarray(gradient) + pulled).reshape(-1), whole
        )

    def _design(self, block: slice) -> np.ndarray:
        """(row, direction) of one block of rows."""
        design = self.standard.of_rows(self.inputs[block], self.has_constant)
        return design if self.turn is None else design @ self.turn

    def _expand_block(self, found: np.ndarray, block: slice) -> tuple[float, np.ndarray, np.ndarray]:
        """The parts of one block of rows: value, (state, feature) and (state, feature, state, feature)."""
        design = self._design(block)
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

    def conditioned(self, hessian: np.ndarray) -> SoftmaxLikelihood:
        """The same likelihood in orthogonal directions, where the features or the penalty are ill-conditioned."""
        if self.turn is not None or not len(self.inputs) or is_well_conditioned(hessian):
            return self
        size = block_rows((len(self.penalty),))

        def of_block(block: slice) -> np.ndarray:
            return np.asarray(np.linalg.qr(self._design(block) * np.sqrt(self.weights[block, None]), mode="r"))

        with one_thread(len(self.inputs) > size):
            parts = map_blocks(of_block, len(self.inputs), size)
        return replace(self, turn=orthogonal_directions([*parts, np.diag(np.sqrt(self.penalty))]))

    def minimize(self, newton: DampedNewton = NEWTON) -> tuple[Minimum, bool]:
        """The minimum, and whether there is one: else weights grow without end, as where states are separable.

        Of features that depend on each other, the weights are the shortest.
        """
        before = self.expand(np.zeros(self.num_free * self.shape[1]))
        turned = self.conditioned(before.hessian)
        start = np.zeros(turned.num_free * turned.shape[1])
        if turned is not self:
            before = turned.expand(start)
        found = newton.minimize(turned.expand, turned._near_start(start))
        is_minimum = found.converged and (self.is_bounded or least_curvature(found.here.hessian, before.hessian) > FLAT)
        if turned.turn is None:
            return found, is_minimum
        point = (found.point.reshape(turned.shape) @ turned.turn.T).reshape(-1)
        return found._replace(point=point, here=self.expand(point)), is_minimum

    @property
    def is_bounded(self) -> bool:
        """Whether the penalty, of every weight but the constants, and rows of every state leave nothing to grow."""
        seen = np.bincount(self.codes, weights=self.weights, minlength=self.num_free + 1)
        return bool((self.penalty[int(self.has_constant) :] > 0).all() and (seen > 0).all())

    def covariance_root(self, point: np.ndarray) -> np.ndarray:
        """(state and feature, direction): B with BBᵀ the inverse of the Hessian at the point."""
        here = self.expand(point).hessian
        turned = self.conditioned(here)
        if turned.turn is None:
            return inverse_root(here)
        own = point.reshape(self.shape) @ (turned.turn / (turned.turn**2).sum(axis=0))
        return np.asarray(np.kron(np.eye(self.num_free), turned.turn) @ inverse_root(turned.expand(own).hessian))

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
