"""Factors from energies, ψ = exp(-E), and from features with parameters, ψ = exp(θ · f)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from juncture.errors import InvalidModel
from juncture.factors.factor import Factor
from juncture.variables import Scope


def boltzmann(scope: Scope, energy: Any) -> Factor:
    """exp(-E), where E = +inf gives exactly 0 and nothing else does."""
    what = f"the energy over ({', '.join(scope.names)})"
    try:
        table = np.asarray(energy, dtype=float)
    except (TypeError, ValueError) as error:
        raise InvalidModel(f"{what} must be a table of numbers of shape {scope.shape}: {error}") from error
    if np.isnan(table).any():
        raise InvalidModel(f"{what} has an entry that is not a number; an infinite energy forbids a combination")
    if np.isneginf(table).any():
        raise InvalidModel(f"{what} has an entry -inf; energies are numbers, and +inf forbids a combination")
    return Factor.from_logs(scope, -table)


def log_linear_factor(scope: Scope, feature: Callable[..., float] | Any, weight: float) -> Factor:
    if callable(feature):
        states = product(*(variable.labels for variable in scope))
        feature = np.array([feature(*labels) for labels in states], dtype=float).reshape(scope.shape)
    return boltzmann(scope, -float(weight) * np.asarray(feature, dtype=float))
