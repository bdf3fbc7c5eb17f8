"""Tables over a scope: titles for messages, logarithms that no double holds, pandas series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from juncture import numerics
from juncture.errors import InvalidModel, MissingExtra
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd


def distinct_keys(variable: Variable) -> tuple[State, ...]:
    """The labels, unless Python takes two of them for one key, as it does 1 and True."""
    if len(set(variable.labels)) < variable.num_states:
        raise InvalidModel(f"{variable!r} has states that are equal as keys, as 1 and True are; use `values` instead")
    return variable.labels


def labelled_series(scope: Scope, values: np.ndarray) -> pd.Series:
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtra.named("pandas", "pandas") from None
    levels = [distinct_keys(variable) for variable in scope]
    index = pd.MultiIndex.from_product(levels, names=scope.names) if levels else pd.RangeIndex(1)
    return pd.Series(values.reshape(-1), index=index, name="value")


def title_of(scope: Scope) -> str:
    return f"the factor over ({', '.join(scope.names)})"


def exponential(logs: np.ndarray, scope: Scope) -> np.ndarray:
    """exp of logarithms, 0 below all doubles; refused above them."""
    if np.max(logs, initial=-np.inf) > numerics.LOG_LARGEST:
        raise InvalidModel(
            f"{title_of(scope)} has an entry of the size exp({np.max(logs):.6g}), which no double holds; "
            "read its `log_values`, or `normalize` it first"
        )
    return np.asarray(np.exp(logs))
