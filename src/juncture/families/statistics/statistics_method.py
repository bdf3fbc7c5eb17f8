"""`Family.statistics`: one method of the class and of its instances; an instance supplies its known parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from juncture.data.observations import as_rows
from juncture.data.tables.weights import as_weight_columns
from juncture.errors import InvalidData
from juncture.families.statistics.long_data import count_distinct
from juncture.families.statistics.statistics import Statistics, check_known

if TYPE_CHECKING:
    import numpy as np

    from juncture.families.family import Family


class StatisticsMethod:
    """`Family.statistics(x, weights=None, **known)`: Σ w u(x) over the rows of x. An instance supplies what it knows.

    Rows are the first axis. Weights may have further axes, and give a batch of statistics: one per column of weights.
    """

    def __get__(self, instance: Family | None, owner: type[Family]) -> Any:
        supplied = instance._known() if instance is not None else {}

        def statistics(x: Any, weights: Any = None, **known: Any) -> Statistics:
            return summarise(owner, x, weights, supplied | known)

        statistics.__doc__ = self.__doc__
        return statistics


def summarise(family: type[Family], x: Any, weights: Any, known: dict[str, Any]) -> Statistics:
    """Check what is known, the rows and the weights; then let the family sum up."""
    name, known = family.__name__, family._known_from(x, check_known(family, known))
    for key in family.required:
        if key not in known:
            raise InvalidData(f"{name}.statistics needs the {key}, which is not estimated: pass {key}=")
    event_shape = family._event_shape_given(x, known)
    rows = as_rows(x, event_shape, name=name)
    _check_known_shapes(family, known, rows.shape[: rows.ndim - len(event_shape)])
    rows, checked = count_distinct(family, rows, as_weight_columns(weights, len(rows)), known)
    return family._summarise(rows, checked, known)


def _check_known_shapes(family: type[Family], known: dict[str, np.ndarray], shape: tuple[int, ...]) -> None:
    """Raise where what must be known has an entry for each row: rows share it, and so may each column of a batch."""
    for key in family.required:
        missing = len(shape) - 1 - known[key].ndim
        if missing < 0 or any(
            ours not in (1, theirs) for ours, theirs in zip(known[key].shape, shape[1 + missing :], strict=True)
        ):
            raise InvalidData(
                f"all rows of {family.__name__}.statistics share one {key}; got {key} of the shape {known[key].shape} "
                f"for {shape[0]} rows: where it differs, update a prior with the rows of each in turn"
            )
