"""Soft evidence: likelihoods, one finite number of at least 0 per state."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, TypeAlias

import numpy as np

from juncture.base.values import read_only
from juncture.errors import ImpossibleEvidence, InvalidData
from juncture.variables import Variable

Likelihoods: TypeAlias = np.ndarray | dict[Any, float] | tuple[dict[Any, float], ...]


def is_many(value: Any) -> bool:
    """Whether a cell holds several numbers, as a likelihood or a vector does, rather than one state."""
    if isinstance(value, str | int | float | np.generic):
        return False
    return hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0


def as_scalar(value: Any) -> Any:
    """The value, also out of an array without axes."""
    return value.item() if isinstance(value, np.ndarray) else value


def as_likelihood(value: Any, variable: Variable, *, where: str = "") -> np.ndarray:
    """(1, state): the likelihood of one row, as numbers in the order of the states or by their labels."""
    if isinstance(value, Mapping):
        value = order_by_state(value, variable, where)
    likelihood = as_likelihoods(value, variable.name, where=where)
    if likelihood.ndim != 1:
        raise not_a_list(value, variable.name, where)
    return check_states(likelihood[np.newaxis], variable, where=where)


def order_by_state(likelihood: Mapping[Any, Any], variable: Variable, where: str) -> list[Any]:
    """The numbers in the order of the states; each state must have one."""
    if variable.is_real:
        raise InvalidData(f"variable {variable.name!r} is real-valued; only a variable with states has a likelihood")
    found = {variable.code(label): number for label, number in likelihood.items()}
    for code, label in enumerate(variable.labels):
        if code not in found:
            raise InvalidData(
                f"the likelihood of {variable.name!r}{where} has no number for {label!r}; each state needs one"
            )
    return [found[code] for code in range(variable.num_states)]


def copy_likelihoods(values: Any, name: str) -> Likelihoods:
    """The likelihoods of one row or many, as an array, or by label, with numbers that are checked."""
    if isinstance(values, Mapping):
        return dict(zip(values, as_likelihoods(list(values.values()), name).tolist(), strict=True))
    if isinstance(values, list | tuple) and values and all(isinstance(row, Mapping) for row in values):
        return tuple(copy_likelihoods(row, name) for row in values)  # type: ignore[misc]  # each a mapping
    return as_likelihoods(values, name)


def count_rows(likelihoods: Likelihoods) -> int | None:
    """The number of rows; None for those of one row."""
    if isinstance(likelihoods, dict):
        return None
    return None if isinstance(likelihoods, np.ndarray) and likelihoods.ndim == 1 else len(likelihoods)


def as_array(likelihoods: Likelihoods, variable: Variable) -> np.ndarray:
    """(row, state): the likelihoods of many rows, those by label in the order of the states."""
    if isinstance(likelihoods, np.ndarray):
        return likelihoods
    rows = enumerate(likelihoods)
    return np.array([order_by_state(row, variable, f" in row {number}") for number, row in rows])


def as_likelihoods(values: Any, name: str, *, where: str = "") -> np.ndarray:
    """Likelihoods as an array, (state,) or (row, state); a row of NaN becomes ones, which say nothing."""
    try:
        array = np.array(values)
        likelihoods = array.astype(np.float64)
    except (TypeError, ValueError):
        array, likelihoods = np.array("?"), np.empty(0)
    if array.dtype.kind not in "biufO" or array.ndim not in {1, 2}:
        raise not_a_list(values, name, where)
    if likelihoods.ndim == 2:
        likelihoods[np.isnan(likelihoods).all(axis=1)] = 1.0
    if not (np.isfinite(likelihoods) & (likelihoods >= 0)).all():
        raise InvalidData(f"the likelihood of {name!r}{where} has an entry that is not a finite number of at least 0")
    return read_only(likelihoods)


def check_states(likelihoods: np.ndarray, variable: Variable, *, where: str = "") -> np.ndarray:
    """(row, state): the likelihoods, after a look at whether there is one per state of `variable`."""
    if variable.is_real:
        raise InvalidData(f"variable {variable.name!r} is real-valued; only a variable with states has a likelihood")
    if likelihoods.shape[-1] != variable.num_states:
        raise InvalidData(
            f"the likelihood of {variable.name!r}{where} has length {likelihoods.shape[-1]}; it needs one number for"
            f" each of the {variable.num_states} states {variable.labels}"
        )
    return likelihoods


def check_possible(likelihoods: np.ndarray, name: str) -> None:
    """A single row that gives every state the likelihood 0 leaves nothing to infer."""
    if not likelihoods.any():
        raise ImpossibleEvidence(f"the likelihood of {name!r} is 0 everywhere: it excludes every state")


def not_a_list(values: Any, name: str, where: str) -> InvalidData:
    if isinstance(values, Set):
        return InvalidData(
            f"{name!r}{where} is given the set {values!r}: give one state, or the likelihood of each state, such as"
            f" {{{name!r}: {{state: 0.9, …}}}}"
        )
    return InvalidData(
        f"the likelihood of {name!r}{where} must be a list of numbers, one per state; got {values!r}"
        " (many rows are a frame, a Dataset or a list of mappings)"
    )
