"""Tables over a scope: cells by label, sizes, titles for messages, logarithms that no double holds, pandas series."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import format_count
from juncture.errors import InvalidModel, MissingExtra, TooLarge
from juncture.numerics import stable
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd


MAX_TABLE_CELLS = 2**26


def state_codes(scope: Scope, states: object) -> tuple[int, ...]:
    """The index of a cell, from labels in scope order; one variable's label may stand alone."""
    labels = states if isinstance(states, tuple) else (states,)
    if len(labels) != len(scope):
        raise InvalidModel(f"give one state for each of ({', '.join(scope.names)}); got {len(labels)}")
    return tuple(variable.code(label) for variable, label in zip(scope, labels, strict=True))


def by_position(values: Any, scope: Scope, name: str) -> Any:
    """A table as it is; one that is given by labels as an array with an axis for each variable."""
    if isinstance(values, np.ndarray | list | tuple | float):
        return values
    from juncture.factors.labelled_tables import items_of, read_labelled

    return values if items_of(values) is None else read_labelled(values, check_table_size(scope, name), name)


def check_table_size(scope: Scope, what: str = "the product") -> Scope:
    """The scope, unless a table over it would not fit."""
    if scope.size > MAX_TABLE_CELLS:
        raise TooLarge(
            f"{what} written out would have {format_count(scope.size)} entries; the limit is {MAX_TABLE_CELLS:,}"
        )
    return scope


def broadcast_to_scope(vector: np.ndarray, scope: Scope, name: str) -> np.ndarray:
    """A vector over one variable's states, shaped to broadcast over the whole scope."""
    return vector.reshape([-1 if other == name else 1 for other in scope.names])


def check_distinct_labels(variable: Variable) -> tuple[State, ...]:
    """The labels, unless Python takes two of them for one key, as it does 1 and True."""
    if len(set(variable.labels)) < variable.num_states:
        raise InvalidModel(f"{variable!r} has states that are equal as keys, as 1 and True are; use `values` instead")
    return variable.labels


def table_keys(scope: Scope) -> list[Any]:
    """A key for each entry of a table: the label of one variable, the tuple of the labels of several."""
    keys = product(*map(check_distinct_labels, scope))
    return [label for (label,) in keys] if len(scope) == 1 else list(keys)


def to_series(scope: Scope, values: np.ndarray) -> pd.Series:
    return import_pandas().Series(values.reshape(-1), index=table_index(scope), name="value")


def table_index(scope: Scope) -> pd.Index:
    """The joint states of a scope as an index of pandas: one level per variable."""
    pandas = import_pandas()
    levels = [check_distinct_labels(variable) for variable in scope]
    return pandas.MultiIndex.from_product(levels, names=scope.names) if levels else pandas.RangeIndex(1)


def import_pandas() -> Any:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra.named("pandas", "pandas") from None
    return pd


def title_of(scope: Scope) -> str:
    return f"the factor over ({', '.join(scope.names)})"


def exp_table(logs: np.ndarray, scope: Scope) -> np.ndarray:
    """exp of logarithms, 0 below all doubles; refused above them."""
    if np.max(logs, initial=-np.inf) > stable.LOG_LARGEST:
        raise InvalidModel(
            f"{title_of(scope)} has an entry of the size exp({np.max(logs):.6g}), which no double holds; "
            "read its `log_values`, or `normalize` it first"
        )
    return np.asarray(np.exp(logs))
