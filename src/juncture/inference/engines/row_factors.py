"""`RowFactors`: a table for each row of evidence or each step of a sequence; marginals as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import number_of
from juncture.errors import InvalidModel
from juncture.factors.factor import Factor
from juncture.factors.scope_tables import import_pandas, state_codes
from juncture.variables import Scope, State

if TYPE_CHECKING:
    import pandas as pd

    from juncture.drawing.shares import ShareDiagram


@dataclass(frozen=True, eq=False, repr=False)
class RowFactors:
    """A table per row: `values` has the row first, then one axis per variable; NaN where a row was impossible.

    Of a sequence, the steps are the rows; `unit` says which.
    """

    scope: Scope
    values: np.ndarray
    unit: str = "row"

    def __getitem__(self, states: object) -> np.ndarray:
        """The entry at these states, one number a row."""
        index: tuple[Any, ...] = (slice(None), *state_codes(self.scope, states))
        return self.values[index]

    def __len__(self) -> int:
        return len(self.values)

    def to_dict(self) -> dict[State, Any]:
        """State → one number a row, for a single variable."""
        if len(self.scope) != 1:
            raise InvalidModel(f"to_dict is for one variable; these tables are over ({', '.join(self.scope.names)})")
        (variable,) = self.scope
        return dict(zip(variable.labels, self.values.T, strict=True))

    def __repr__(self) -> str:
        return f"RowFactors({', '.join(self.scope.names)}; {number_of(len(self), self.unit)})"

    def to_diagram(self) -> ShareDiagram:
        """The distributions of all steps, or of the first rows."""
        from juncture.inference.engines.display import rows_diagram, steps_diagram, table_shares

        shares = table_shares(self.scope, self.values)
        return steps_diagram(shares) if self.unit == "step" else rows_diagram([shares], len(self))

    def _repr_html_(self) -> str:
        from juncture.factors.printed_tables import MAX_HTML_COLUMNS

        states = islice(product(*(variable.labels for variable in self.scope)), MAX_HTML_COLUMNS)
        labels = [", ".join(map(str, labels)) for labels in states]
        from juncture.inference.engines.display import steps_html

        return steps_html(repr(self), labels, self.values.reshape(len(self), self.scope.size), self.unit)


def wide_frame(marginals: Mapping[str, Any], index: Any = None) -> pd.DataFrame:
    """A frame with a line per row and a column "variable=state" for each state of each marginal."""
    pandas = import_pandas()
    names, parts = list[str](), list[np.ndarray]()
    for name, marginal in marginals.items():
        if isinstance(marginal, Factor | RowFactors):
            names += [f"{name}={label}" for label in marginal.scope[0].labels]
            parts.append(np.atleast_2d(marginal.values))
        else:
            names += [f"mean of {name}", f"variance of {name}"]
            parts.append(np.stack([np.atleast_1d(marginal.mean), np.atleast_1d(marginal.variance)], axis=1))
    return pandas.DataFrame(np.concatenate(parts, axis=1) if parts else None, index=index, columns=names)


def moments_frame(marginals: Mapping[str, Mapping[Any, Any]], unit: str | None) -> pd.DataFrame:
    """A frame of variable, mean and variance; with a `unit` a column that numbers the rows first."""
    pandas = import_pandas()
    records = [
        (index, name, float(mean), float(variance))
        for name, moments in marginals.items()
        for index, (mean, variance) in enumerate(zip(*map(np.atleast_1d, moments.values()), strict=True))
    ]
    frame = pandas.DataFrame(records, columns=[unit or "row", "variable", "mean", "variance"])
    return frame.drop(columns="row") if unit is None else frame


def join_frames(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One frame below the other, with the columns of both."""
    joined: pd.DataFrame = import_pandas().concat(frames, ignore_index=True)
    return joined


def marginals_frame(marginals: Mapping[str, Mapping[State, Any]], unit: str | None) -> pd.DataFrame:
    """A frame of variable, state and probability; with a `unit`, "row" or "step", a column that numbers them first."""
    pandas = import_pandas()
    records = [
        (index, name, str(label), float(probability))
        for name, marginal in marginals.items()
        for label, column in marginal.items()
        for index, probability in enumerate(np.atleast_1d(column))
    ]
    frame = pandas.DataFrame(records, columns=[unit or "row", "variable", "state", "probability"])
    return frame.drop(columns="row") if unit is None else frame
