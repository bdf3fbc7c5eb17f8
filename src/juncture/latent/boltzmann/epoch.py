"""One epoch of contrastive divergence: gradient steps over batches, on buffers that are made once.

The biases are the last row and the last column of one matrix, joined to a 1 at the end of u and of h: a product gives
log odds with their biases, and the product of the statistics is the gradient by weights and biases at once. The rows
and the chains are stacked, so that one product serves both phases. Units with states are computed in single precision
(their statistics are exact, and the probabilities of draws have 24 bits); parameters are added up in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.parameters import BoltzmannParameters
from juncture.latent.boltzmann.units import VisibleUnits


def join_biases(model: BoltzmannParameters) -> np.ndarray:
    """(entry + 1, hidden + 1): the weights, with the visible biases as last column and the hidden ones as last row."""
    matrix = np.zeros((len(model.matrix) + 1, model.num_hidden + 1))
    matrix[:-1, :-1], matrix[:-1, -1], matrix[-1, :-1] = model.matrix, model.visible_bias.ravel(), model.hidden_bias
    return matrix


def split_biases(matrix: np.ndarray, model: RestrictedBoltzmannMachine) -> RestrictedBoltzmannMachine:
    """A machine like `model` with the parameters of a joined matrix."""
    weights, bias = matrix[:-1, :-1].reshape(model.weights.shape), matrix[:-1, -1].reshape(model.visible_bias.shape)
    return RestrictedBoltzmannMachine(weights.copy(), bias.copy(), matrix[-1, :-1].copy(), model.visible)


def working_type(units: VisibleUnits) -> type[np.floating]:
    """Single precision for units with states, whose statistics are 0 or 1; double for real units."""
    return np.float32 if units.num_states else np.float64


@dataclass(frozen=True, eq=False)
class BatchSteps:
    """Gradient steps from batches and chains of fixed numbers; the arrays are changed in place."""

    units: VisibleUnits
    matrix: np.ndarray  # (entry + 1, hidden + 1), double
    working: np.ndarray  # the same in the working type
    both: np.ndarray  # (batch + chain, entry + 1): u of rows, then of chains, with a 1 at the end
    expected: np.ndarray  # (batch + chain, hidden + 1): E[h | u] times signed weights
    chains: np.ndarray  # (chain, hidden + 1): h of the chains, with a 1 at the end
    rng: np.random.Generator

    @classmethod
    def begin(
        cls, matrix: np.ndarray, units: VisibleUnits, batch: int, chains: np.ndarray, rng: np.random.Generator
    ) -> BatchSteps:
        kind, (entries, hidden) = working_type(units), matrix.shape
        total = batch + len(chains)
        joined = np.ones((len(chains), hidden), kind)
        joined[:, :-1] = chains
        both, expected = np.ones((total, entries), kind), np.ones((total, hidden), kind)
        return cls(units, matrix, matrix.astype(kind), both, expected, joined, rng)

    def ascend(self, u: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float) -> None:
        """One step from statistics of rows and their weights, which sum to 1; the chains go on."""
        self.both[: len(u), :-1] = u
        self.move(len(u), weights, np.full(len(self.chains), 1 / len(self.chains)), steps, rate, decay)

    def diverge(self, u: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float) -> None:
        """One step with chains that start at the rows."""
        self.both[: len(u), :-1] = u
        with np.errstate(over="ignore", invalid="ignore"):
            self.draw_hidden(self.raise_odds(0, len(u))[:, :-1], len(u))
        self.move(len(u), weights, weights, steps, rate, decay)

    def move(
        self, rows: int, weights: np.ndarray, chain_weights: np.ndarray, steps: int, rate: float, decay: float
    ) -> None:
        chains, total = len(chain_weights), rows + len(chain_weights)
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(steps):
                theta = self.chains[:chains] @ self.working[:-1].T
                self.both[rows:total, :-1] = self.units.draw(theta, self.rng)
                if step + 1 < steps:
                    self.draw_hidden(self.raise_odds(rows, total)[:, :-1], chains)
            raised = self.raise_odds(0, total)
            self.draw_hidden(raised[rows:, :-1], chains)
        raised[:, -1] = 1
        signs = np.concatenate([weights, -chain_weights]).astype(raised.dtype)
        np.divide(signs[:, None], raised, out=raised)
        gradient = self.both[:total].T @ raised
        if decay:
            gradient[:-1, :-1] -= decay * self.working[:-1, :-1]
        gradient *= raised.dtype.type(rate)
        np.add(self.matrix, gradient, out=self.matrix)
        self.working[:] = self.matrix

    def raise_odds(self, first: int, end: int) -> np.ndarray:
        """1 + exp(-log odds) of the hidden units, the inverse of their probabilities; infinite where these are 0."""
        raised = np.matmul(self.both[first:end], self.working, out=self.expected[first:end])
        np.negative(raised, out=raised)
        np.exp(raised, out=raised)
        raised += 1
        return raised

    def draw_hidden(self, raised: np.ndarray, count: int) -> None:
        """The hidden states of the first chains."""
        uniforms = self.rng.random(raised.shape, dtype=raised.dtype.type)
        uniforms *= raised
        np.less(uniforms, 1, out=self.chains[:count, :-1])
