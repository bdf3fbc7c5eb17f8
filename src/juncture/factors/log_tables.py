"""Tables of logarithms, for entries that no double holds."""

from __future__ import annotations

import numpy as np

from juncture import numerics
from juncture.errors import InvalidModel
from juncture.variables import Scope


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
