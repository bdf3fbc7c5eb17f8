"""`RowFactors`: one table per row of evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import InvalidModel
from juncture.factors.factor import state_codes
from juncture.variables import Scope, State


@dataclass(frozen=True, eq=False, repr=False)
class RowFactors:
    """A table per row: `values` has the row first, then one axis per variable; NaN where a row was impossible."""

    scope: Scope
    values: np.ndarray

    def __getitem__(self, states: object) -> np.ndarray:
        """The entry at these states, one number a row."""
        index: tuple[Any, ...] = (slice(None), *state_codes(self.scope, states))
        return np.asarray(self.values[index])

    def __len__(self) -> int:
        return len(self.values)

    def to_dict(self) -> dict[State, Any]:
        """State → one number a row, for a single variable."""
        if len(self.scope) != 1:
            raise InvalidModel(f"to_dict is for one variable; these tables are over ({', '.join(self.scope.names)})")
        (variable,) = self.scope
        return dict(zip(variable.labels, self.values.T, strict=True))

    def __repr__(self) -> str:
        return f"RowFactors({', '.join(self.scope.names)}; {len(self)} rows)"
