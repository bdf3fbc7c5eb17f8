"""`DeepBeliefs`: what a factorised posterior says of each hidden unit, with its bound of log p(row)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from juncture.data.dataset import Dataset
from juncture.inference.engines.contract import Diagnostics
from juncture.latent.boltzmann.unit_beliefs import UnitBeliefs
from juncture.variables import Variable


class LayeredModel(Protocol):
    """A model with layers of hidden units, whose approximate posterior can be drawn from."""

    @property
    def hidden_layers(self) -> list[list[Variable]]: ...

    def _draw_hidden(self, row: np.ndarray, means: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray: ...


@dataclass(frozen=True, eq=False, repr=False)
class DeepBeliefs(UnitBeliefs):
    """An approximate posterior of the hidden units of each row: `beliefs["h1_0"]` is q(h1_0 | row).

    Attributes
    ----------
    model
        The deep model.
    layer_means
        q(h = 1 | row) of each hidden layer, (row, unit).
    bounds
        Lower bounds of log p(row), (row,), up to the error of an estimated log Z; `log_evidence` is the same.
    errors
        The standard errors of the bounds, (row,): 0 where nothing was drawn.
    is_single
        Whether there is one row.
    method
        The name of the algorithm.
    diagnostics
        Never exact: q has no dependence between units of a layer.
    rows
        (row, visible): what was seen.
    seed
        The seed of what was drawn: `rng=beliefs.seed` repeats it. None where nothing was drawn at random.
    """

    model: LayeredModel
    layer_means: tuple[np.ndarray, ...]
    bounds: np.ndarray
    errors: np.ndarray
    is_single: bool
    method: str
    diagnostics: Diagnostics
    rows: np.ndarray
    seed: int | None = None
    impossible: tuple[int, ...] = ()

    @property
    def layers(self) -> tuple[np.ndarray, ...]:
        """q(h = 1 | row) of each hidden layer: (unit,) of one row, (row, unit) of many."""
        return tuple(layer[0] for layer in self.layer_means) if self.is_single else self.layer_means

    @property
    def log_evidence(self) -> Any:
        """A lower bound of log p(row): a float of one row, (row,) of many."""
        return float(self.bounds[0]) if self.is_single else self.bounds

    @property
    def hidden_units(self) -> list[Variable]:
        return [unit for layer in self.model.hidden_layers for unit in layer]

    @property
    def unit_means(self) -> np.ndarray:
        return np.concatenate(self.layer_means, axis=1)

    def _draw(self, count: int, rng: np.random.Generator) -> Dataset:
        states = self.model._draw_hidden(self.rows, self.unit_means[0], count, rng)
        units = self.hidden_units
        return Dataset.from_codes(units, {unit.name: part for unit, part in zip(units, states.T, strict=True)})
