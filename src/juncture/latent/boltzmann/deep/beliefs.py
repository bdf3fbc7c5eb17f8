"""`DeepBeliefs`: what a factorised posterior says of each hidden unit, with its bound of log p(row)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import number_of
from juncture.errors import UnknownVariable
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Diagnosed, Diagnostics
from juncture.inference.engines.row_factors import RowFactors, marginals_frame
from juncture.latent.boltzmann.deep.layers import DeepParameters
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class DeepBeliefs(Diagnosed):
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
        Never exact: q has no dependence between units.
    """

    model: DeepParameters
    layer_means: tuple[np.ndarray, ...]
    bounds: np.ndarray
    errors: np.ndarray
    is_single: bool
    method: str
    diagnostics: Diagnostics
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
    def _places(self) -> dict[str, tuple[int, int, Variable]]:
        hidden = enumerate(self.model.variables[1:])
        return {unit.name: (layer, at, unit) for layer, units in hidden for at, unit in enumerate(units)}

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._places

    def __len__(self) -> int:
        return len(self.bounds)

    def __getitem__(self, name: str) -> Any:
        """q(unit | row) of one hidden unit: a `Factor`, or one row of it per row."""
        if name not in self:
            raise UnknownVariable.among(name, list(self))
        layer, unit, variable = self._places[name]
        on = self.layer_means[layer][:, unit]
        values, scope = np.stack([1 - on, on], axis=1), Scope([variable])
        return Factor(scope, values[0]) if self.is_single else RowFactors(scope, values)

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → state → probability (one number, or one a row)."""
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, state and probability, with the row first when there are many."""
        return marginals_frame(self.to_dict(), None if self.is_single else "row")

    def __repr__(self) -> str:
        units = number_of(sum(self.model.sizes[1:]), "hidden unit")
        return f"DeepBeliefs({units}; {number_of(len(self), 'row')}; approximate, by {self.method})"

    def _repr_html_(self) -> str:
        return f"<p><code>{escape(repr(self))}</code></p>"
