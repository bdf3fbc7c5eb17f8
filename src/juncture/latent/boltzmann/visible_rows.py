"""Rows of a machine: vectors, frames or a `Dataset`, as one array with NaN for holes; and draws as a `Dataset`."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.feature_names import Names
from juncture.data.rows import Rows
from juncture.errors import InvalidData
from juncture.latent.boltzmann.layers import BoltzmannParameters, VisibleUnits, visible_variables


class VisibleLayer(Protocol):
    """A model with a layer of visible units."""

    @property
    def num_visible(self) -> int: ...
    @property
    def units(self) -> VisibleUnits: ...
    @property
    def feature_names(self) -> Names | None: ...


def visible_rows(model: VisibleLayer, given: Any, *, extra: str = "error") -> tuple[np.ndarray, bool]:
    """(row, visible), and whether one row was given and not a list.

    Tables are taken by the names of the model, or by v0, v1, … where it has none and the table has these.
    """
    rows = Rows.of(given)
    own = own_names(model, rows) if model.feature_names is None else None
    named = Rows.of(rows, own or model.feature_names, extra="ignore" if own else extra)
    values = named.values.astype(np.float64, copy=False)
    if values.ndim not in (1, 2) or values.shape[-1] != model.num_visible:
        raise InvalidData(
            f"a row of this machine has {model.num_visible} visible units; got an array of the shape {values.shape}"
        )
    model.units.check(values)
    return np.atleast_2d(values), values.ndim == 1


def complete_rows(model: VisibleLayer, given: Any) -> tuple[np.ndarray, bool]:
    """Rows without holes."""
    values, is_single = visible_rows(model, given)
    if np.isnan(values).any():
        raise InvalidData(
            "free energies, features and deep models take complete rows, and one has a hole; log_prob and infer of a"
            " RestrictedBoltzmannMachine sum it out"
        )
    return values, is_single


def own_names(model: VisibleLayer, rows: Rows) -> Names | None:
    """The names v0, v1, … where these are columns of a table, or names of one row."""
    names = tuple(variable.name for variable in visible_variables(model.units))
    return names if set(names) <= set(rows.names or ()) else None


def name_units(model: VisibleLayer, u: np.ndarray) -> Dataset:
    """Statistics of visible units as columns v0, v1, …, or with the names of the model."""
    variables = visible_variables(model.units, model.feature_names)
    columns = model.units.decode(u).T
    if model.units.num_states:
        columns = columns.astype(np.int64)
    return Dataset.from_codes(variables, {v.name: column for v, column in zip(variables, columns, strict=True)})


def units_as_dataset(model: BoltzmannParameters, h: np.ndarray, u: np.ndarray) -> Dataset:
    """Hidden units h0, h1, … and visible units v0, v1, … as columns."""
    visible, hidden = name_units(model, u), model.hidden_variables
    columns = {variable.name: states for variable, states in zip(hidden, h.T.astype(np.int64), strict=True)}
    return Dataset.from_codes([*hidden, *visible.variables], {**columns, **visible.columns})
