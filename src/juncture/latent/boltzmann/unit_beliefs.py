"""`UnitBeliefs`: the probability of each hidden unit given a row, which beliefs of machines and deep networks share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.drawing.shares import ShareDiagram
from juncture.errors import UnknownVariable, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Diagnosed
from juncture.inference.engines.display import rows_diagram, steps_html, table_shares
from juncture.inference.engines.row_factors import RowFactors, marginals_frame
from juncture.inference.engines.verb_options import check_num_rows
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd


class UnitBeliefs(Diagnosed):
    """The posterior of hidden units with the states 0 and 1: `beliefs["h0"]` is p(h0 | row)."""

    is_single: bool
    method: str

    @property
    def hidden_units(self) -> Sequence[Variable]:
        """The hidden units, layer by layer."""
        raise NotImplementedError

    @property
    def unit_means(self) -> np.ndarray:
        """(row, unit): the probability of a 1 of each hidden unit."""
        raise NotImplementedError

    def _draw(self, count: int, rng: np.random.Generator) -> Dataset:
        """Draws of the posterior given the one row."""
        raise NotImplementedError

    @property
    def _names(self) -> list[str]:
        return [unit.name for unit in self.hidden_units]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def __len__(self) -> int:
        return len(self.unit_means)

    def _values(self, unit: int) -> np.ndarray:
        """(row, state): the probabilities of both states of a unit."""
        on = self.unit_means[:, unit]
        return np.stack([1 - on, on], axis=1)

    def __getitem__(self, name: str) -> Any:
        """p(unit | row) of one hidden unit: a `Factor`, or one row of it per row."""
        if name not in self:
            raise UnknownVariable.among(name, list(self))
        unit = self._names.index(name)
        values, scope = self._values(unit), Scope([self.hidden_units[unit]])
        return Factor(scope, values[0]) if self.is_single else RowFactors(scope, values)

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → state → probability (one number, or one a row)."""
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, state and probability, with the row first when there are many."""
        return marginals_frame(self.to_dict(), None if self.is_single else "row")

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` draws of the hidden units given one row, and of its holes."""
        if not self.is_single:
            raise Unsupported("units are drawn given one row; infer and sample once for each row")
        return self._draw(check_num_rows(n, 8 * len(self.hidden_units)), as_generator(rng))

    def to_diagram(self) -> ShareDiagram:
        """The probability of each state of the first units, for the first rows."""
        units = enumerate(self.hidden_units)
        parts = (table_shares(Scope([unit]), self._values(at)) for at, unit in units)
        return rows_diagram(parts, len(self), None, len(self.hidden_units))

    def _repr_html_(self) -> str:
        return steps_html(repr(self), self._names, self.unit_means, "row")

    def __repr__(self) -> str:
        how = "exact" if self.exact else "approximate"
        units, rows = number_of(len(self.hidden_units), "hidden unit"), number_of(len(self), "row")
        return f"{type(self).__name__}({units}; {rows}; {how}, by {self.method})"
