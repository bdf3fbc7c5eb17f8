"""Rows that are read block by block, prepared for learning: the template, and the source coded by its variables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource, check_weights_name
from juncture.data.sources.entries import as_lazy_source
from juncture.data.tables.columns import code_type
from juncture.learning.networks.templates import prepare
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope, Variable


def prepare_rows(
    structure: Any,
    data: Any,
    variables: Iterable[Variable] | None = None,
    latent: Iterable[str] = (),
    weights: Any = None,
) -> tuple[BayesianNetwork, Any]:
    """What `prepare` gives; the rows of a source stay where they are."""
    declared = None if variables is None else Scope(variables)
    source = as_lazy_source(data, declared)
    if source is None:
        return prepare(structure, data, declared, latent, weights)
    check_weights_name(weights, source.names)
    template, used = prepare(structure, empty_rows(structure, source, declared, weights), declared, latent)
    return template, source.coded(used.variables, weights)


def empty_rows(structure: Any, source: RowSource, declared: Scope | None, weights: str | None) -> Dataset:
    """No rows of the columns of a source; only where a graph declares no states does a pass over the rows find them."""
    names = [name for name in source.names if name != weights]
    known = {variable.name: variable for variable in (*getattr(structure, "variables", ()), *(declared or ()))}
    nodes = set(getattr(structure, "nodes", ()))
    found = source.only(name for name in names if name in nodes and name not in known).variables
    known |= {variable.name: variable for variable in found}
    columns = [known.get(name, Variable(name)) for name in names]  # others serve only as hints for misspelt names
    return Dataset.from_codes(columns, {column.name: no_cells(column) for column in columns})


def no_cells(variable: Variable) -> np.ndarray:
    if not variable.is_real:
        return np.empty(0, code_type(variable.num_states))
    return np.empty(0 if variable.dimension == 1 else (0, variable.dimension))
