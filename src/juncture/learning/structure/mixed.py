"""Columns of both kinds, which no score and no test here takes together."""

from __future__ import annotations

from juncture.data.dataset import Dataset
from juncture.errors import Unsupported


def refuse_mixed(data: Dataset) -> None:
    """All have states, or all are real."""
    real = next((variable.name for variable in data.variables if variable.is_real), None)
    coded = next((variable.name for variable in data.variables if not variable.is_real), None)
    if real is not None and coded is not None:
        raise Unsupported(
            f"structure is learned from columns that all have states or are all numbers, but {coded!r} has states and"
            f" {real!r} numbers: put the numbers into bins first, jt.Discretizer(bins=5).fit(data).transform(data) or"
            " juncture learn --bins 5"
        )
