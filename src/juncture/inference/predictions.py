"""Predictions as columns of rows: a state and the probabilities of all, or the mean of a number and its spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_choice
from juncture.base.options import as_variable_names
from juncture.base.values import few
from juncture.data.dataset import Dataset, Unseen
from juncture.data.sources.entries import as_partitions
from juncture.data.sources.partitions import Partitions, add_columns
from juncture.data.tables.columns import no_cells
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, Unsupported
from juncture.inference.infer import engine_for, infer_factors
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.variables import Variable

LEVELS = {"5 %": 0.05, "95 %": 0.95}  # the ends of an interval that holds 90 % of the probability


def predict_columns(variable: Variable, marginal: Any) -> Dataset:
    """A state and a probability for each, or a number and its spread; empty where a row is impossible."""
    cells = summarize_numbers(marginal) if variable.is_real else summarize_states(marginal.values)
    columns = predicted_variables(variable)
    return Dataset.from_codes(columns, dict(zip((column.name for column in columns), cells, strict=True)))


def summarize_numbers(marginal: Any) -> list[np.ndarray]:
    """Means, standard deviations and the ends of an interval."""
    ends = [np.asarray(marginal.quantile(share)) for share in LEVELS.values()]
    return [np.asarray(marginal.mean), np.sqrt(marginal.variance), *ends]


def summarize_states(values: np.ndarray) -> list[np.ndarray]:
    """The codes of the most probable states, -1 where a row is impossible, and the probabilities of each state."""
    return [np.where(np.isnan(values[:, 0]), -1, values.argmax(axis=1)), *values.T]


def predicted_variables(variable: Variable) -> list[Variable]:
    """The variables of the columns of a prediction."""
    name = variable.name
    if not variable.is_real:
        return [variable, *(Variable(f"P({name}={label})") for label in variable.labels)]
    return [*map(Variable, (name, f"standard deviation of {name}", *(f"{level} of {name}" for level in LEVELS)))]


def add_predictions(
    model: Network, frame: Any, targets: Sequence[str], *, method: Any = "auto", unseen: Unseen = "error"
) -> Any:
    """A frame on a cluster with predictions as further columns: rows and answers stay where they are.

    Parameters
    ----------
    model
        A Bayesian network, a Markov network or a factor graph.
    frame
        A Spark DataFrame or a Dask frame. Its columns that are variables of the model, but for the targets, are the
        evidence, where empty cells are not observed. Other columns are kept, such as the key of a row.
    targets
        The variables to predict, each from the evidence.
    method
        The engine, as of `infer`.
    unseen
        "error" or "missing": what happens to a cell that is no state of its variable.

    Returns
    -------
    DataFrame
        A frame of the same kind, which is computed when it is asked for or written. For each target, as in `juncture
        predict`: the most probable state and a column `P(name=state)` for each state; of a number, the mean, the
        standard deviation and the ends of an interval that holds 90 % of the probability. They are empty where a row
        has probability zero. The first is named `predicted name` where the frame has a column of the name.

    Examples
    --------
    >>> add_predictions(model, rows, ["lung"]).write.parquet("predicted")  # doctest: +SKIP
    """
    if not isinstance(model, BayesianNetwork | FactorProduct):
        raise Unsupported(f"predictions are added by networks and factor graphs; got {type(model).__name__}")
    check_choice(unseen, ("error", "missing"), "unseen")
    engine_for(method, model=model)
    partitions = as_partitions(frame)
    names = as_variable_names(targets, "targets")
    if not names:
        raise InvalidData("targets names the variables to predict, at least one; got an empty list")
    added = name_columns([model.variable(name) for name in names], partitions)
    evidence = find_evidence(model, names, partitions)
    work = Prediction(model, tuple(names), tuple(evidence), tuple(added), method, unseen)
    empty = Dataset.from_codes(added, {column.name: no_cells(column) for column in added})
    return add_columns(partitions, work, evidence, empty.to_arrow().schema)


def find_evidence(model: Network, targets: Sequence[str], partitions: Partitions) -> list[str]:
    """The columns that are variables of the model and no targets, of which there must be one."""
    found = [name for name in partitions.names if name in model.variables.names and name not in targets]
    if not found:
        raise InvalidData(
            f"no column of {partitions.name} is evidence, a variable of the model that is no target; its columns are"
            f" {few(map(repr, partitions.names))}"
        )
    return found


def name_columns(targets: Sequence[Variable], partitions: Partitions) -> list[Variable]:
    """The variables of the further columns, under names that the frame does not have."""
    columns = [column for target in targets for column in predicted_variables(target)]
    named = [rename(column) if column in targets and column.name in partitions.names else column for column in columns]
    for column in named:
        if column.name in partitions.names:
            raise InvalidData(f"{partitions.name} has a column {column.name!r}, as the prediction has: rename it there")
    return named


def rename(target: Variable) -> Variable:
    name = f"predicted {target.name}"
    return Variable(name) if target.is_real else Variable(name, target.labels)


@dataclass(frozen=True)
class Prediction:
    """A function of tables: the predictions of their rows, under the names of the added columns."""

    model: Network
    targets: tuple[str, ...]
    evidence: tuple[str, ...]
    added: tuple[Variable, ...]
    method: Any
    unseen: Unseen

    def __call__(self, table: Table) -> Dataset:
        scope = [self.model.variable(name) for name in self.evidence]
        rows = Dataset(table, scope, unseen=self.unseen)
        beliefs = infer_factors(self.model, rows, targets=self.targets, method=self.method)
        parts = [predict_columns(self.model.variable(name), beliefs[name]) for name in self.targets]
        columns = [values for part in parts for values in part.columns.values()]
        return Dataset.from_codes(self.added, dict(zip((column.name for column in self.added), columns, strict=True)))
