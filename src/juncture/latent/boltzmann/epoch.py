"""One epoch of contrastive divergence: gradient steps over batches, on buffers that are made once.

The biases are the last row and the last column of one matrix, joined to a 1 at the end of u and of h: a product gives
log odds with their biases, and the product of the statistics is the gradient by weights and biases at once. The rows
and the chains are stacked, so that one product serves both phases. Units with states are computed in single precision
(their statistics are exact, and the probabilities of draws have 24 bits); parameters are added up in double precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.latent.boltzmann.parameters import BoltzmannParameters
from juncture.latent.boltzmann.units import BernoulliUnits, VisibleUnits

NOISE = 2**17  # random numbers at a time


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
    minus: np.ndarray  # minus the matrix, in the working type
    both: np.ndarray  # (batch + chain, entry + 1): u of rows, then of chains, with a 1 at the end
    expected: np.ndarray  # (batch + chain, hidden + 1): E[h | u] times signed weights
    signs: np.ndarray  # (batch + chain, 1): those weights, times the rate
    chains: np.ndarray  # (chain, hidden + 1): h of the chains, with a 1 at the end
    noise: Iterator[np.ndarray]  # (draw, chain, unit), visible units before hidden ones
    rng: np.random.Generator

    @classmethod
    def begin(
        cls,
        matrix: np.ndarray,
        units: VisibleUnits,
        batch: int,
        chains: np.ndarray,
        num_draws: int,
        rng: np.random.Generator,
    ) -> BatchSteps:
        """With so many draws of the units of all chains in each step."""
        kind, (entries, hidden) = working_type(units), matrix.shape
        total = batch + len(chains)
        joined = np.ones((len(chains), hidden), kind)
        joined[:, :-1] = chains
        both, expected, signs = (np.ones((total, width), kind) for width in (entries, hidden, 1))
        noise = logistic_noise((num_draws, len(chains), entries + hidden - 2), kind, rng)
        return cls(units, matrix, -matrix.astype(kind), both, expected, signs, joined, noise, rng)

    def ascend(self, u: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float) -> None:
        """One step from statistics of rows and their weights, which sum to 1; the chains go on."""
        self.both[: len(u), :-1] = u
        self.signs[len(u) : len(u) + len(self.chains)] = -rate / len(self.chains)
        self.move(len(u), len(self.chains), next(self.noise), weights, steps, rate, decay)

    def diverge(self, u: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float) -> None:
        """One step with chains that start at the rows."""
        rows, noise = len(u), next(self.noise)
        self.both[:rows, :-1] = u
        self.draw_hidden(self.minus_odds(0, rows), noise[steps], rows)
        np.multiply(weights, -rate, out=self.signs[rows : 2 * rows, 0], casting="same_kind")
        self.move(rows, rows, noise, weights, steps, rate, decay)

    def move(
        self, rows: int, chains: int, noise: np.ndarray, weights: np.ndarray, steps: int, rate: float, decay: float
    ) -> None:
        total = rows + chains
        for step in range(steps):
            self.draw_visible(noise[step], rows, chains)
            if step + 1 < steps:
                self.draw_hidden(self.minus_odds(rows, total), noise[step], chains)
        raised = self.minus_odds(0, total)
        self.draw_hidden(raised[rows:], noise[steps - 1], chains)
        np.exp(raised, out=raised)
        raised += 1  # the inverse of the probability of a 1, infinite where that is 0
        raised[:, -1] = 1
        np.multiply(weights, rate, out=self.signs[:rows, 0], casting="same_kind")
        np.divide(self.signs[:total], raised, out=raised)
        if decay:
            self.matrix[:-1, :-1] *= 1 - rate * decay
        np.add(self.matrix, self.both[:total].T @ raised, out=self.matrix)
        np.negative(self.matrix, out=self.minus, casting="same_kind")

    def minus_odds(self, first: int, end: int) -> np.ndarray:
        """Minus the log odds of the hidden units given some rows of `both`, and a column that means nothing."""
        return np.matmul(self.both[first:end], self.minus, out=self.expected[first:end])

    def draw_visible(self, noise: np.ndarray, rows: int, chains: int) -> None:
        """The visible states of the first chains, given their hidden ones."""
        minus_theta = self.chains[:chains] @ self.minus[:-1].T
        drawn = self.both[rows : rows + chains, :-1]
        if isinstance(self.units, BernoulliUnits):
            np.less(minus_theta, noise[:chains, : drawn.shape[1]], out=drawn)
        else:
            drawn[:] = self.units.draw(-minus_theta, self.rng)

    def draw_hidden(self, minus_odds: np.ndarray, noise: np.ndarray, chains: int) -> None:
        """The hidden states of the first chains."""
        hidden = self.chains.shape[1] - 1
        np.less(minus_odds[:, :-1], noise[:chains, -hidden:], out=self.chains[:chains, :-1])


def logistic_noise(shape: tuple[int, ...], kind: Any, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Numbers log (1 - u) / u of uniform u, many arrays at a time: a unit of log odds o is 1 where -o is below one."""
    number = max(1, NOISE // max(1, prod(shape)))
    while True:
        noise = rng.random((number, *shape), dtype=kind)
        with np.errstate(divide="ignore"):  # of u = 0 it is infinite, and every unit is 1
            np.divide(1 - noise, noise, out=noise)
        yield from np.log(noise, out=noise)
