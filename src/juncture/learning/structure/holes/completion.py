"""Rows completed by their posterior: in all ways where these are few, each with its probability, else by draws.

The posterior of the missing cells depends on the families that hold them, so that the other tables of a network are not
needed, and rows that agree on the variables of these families are asked about once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.tables.distinct import distinct_rows
from juncture.factors.conditional import Conditional
from juncture.learning.structure.holes.observed_fit import ObservedFits, codes_of
from juncture.learning.structure.holes.ways import Ways, has_few_ways
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.verbs import infer


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """Rows that were complete, and the others completed, with weights."""

    whole: Dataset
    completed: Dataset
    is_exact: bool  # whether nothing was drawn

    @property
    def together(self) -> Dataset:
        return join_rows(self.whole, self.completed)


def complete(fits: ObservedFits, model: BayesianNetwork, times: int, rng: np.random.Generator) -> CompletedRows:
    """All rows of a fit, completed by the network of the families that holes concern.

    A row with too many ways to take them all is drawn `times` for each of its copies.
    """
    rows = fits.rows
    is_whole = ~np.logical_or.reduce([has_hole(column) for column in rows.arrays])
    whole, open_rows, copies = rows.take(is_whole), rows.take(~is_whole), times * fits.copies[~is_whole]
    is_few = np.zeros(len(open_rows), np.bool_)
    if all(isinstance(part, Conditional) for part in model.conditionals) and not has_numbers(rows):
        is_few = has_few_ways(*codes_of(open_rows), copies)
    few = weigh_ways(model, open_rows.take(is_few)) if is_few.any() else open_rows.take([])
    many, copies = open_rows.take(~is_few), copies[~is_few]
    if len(many):
        few = join_rows(few, draw_rows(model, many, copies, rng))
    return CompletedRows(whole, few, not len(many))


def has_numbers(data: Dataset) -> bool:
    return any(variable.is_real for variable in data.variables)


def join_rows(one: Dataset, other: Dataset) -> Dataset:
    columns = {name: np.concatenate([column, other.columns[name]]) for name, column in one.columns.items()}
    weights = [np.ones(len(part)) if part.weights is None else part.weights for part in (one, other)]
    return Dataset.from_codes(one.variables, columns, np.concatenate(weights))


def weigh_ways(model: BayesianNetwork, rows: Dataset) -> Dataset:
    """Every way to complete each row, with the weight of the row times its posterior probability."""
    codes, sizes = codes_of(rows)
    ways = Ways.of(codes, sizes)
    places = {variable.name: place for place, variable in enumerate(rows.variables)}
    tables = [part for part in model.conditionals if isinstance(part, Conditional)]
    families = [(part, ways.cells([places[name] for name in part.scope.names], sizes)) for part in tables]
    posteriors, _ = ways.posteriors(families)
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    columns = {name: ways.codes[place] for name, place in places.items()}
    found = Dataset.from_codes(rows.variables, columns, posteriors * weights[ways.rows])
    return found.take(np.asarray(found.weights) > 0)


def complete_rows(model: BayesianNetwork, data: Dataset, times: int, rng: np.random.Generator) -> Dataset:
    """Copies of each row with missing cells drawn from their posterior; the copies share the weight of the row."""
    return draw_rows(model, data, np.full(len(data), times), rng)


def draw_rows(model: BayesianNetwork, data: Dataset, copies: np.ndarray, rng: np.random.Generator) -> Dataset:
    """So many copies of each row, as above."""
    indices = np.repeat(np.arange(len(data)), copies)
    columns = {name: np.array(column[indices]) for name, column in data.columns.items()}
    for name in data.columns:
        draw_missing(model, data, columns, name, rng)
    weights = np.ones(len(data)) if data.weights is None else data.weights
    return Dataset.from_codes(data.variables, columns, (weights / copies)[indices])


def draw_missing(
    model: BayesianNetwork, data: Dataset, columns: Mapping[str, np.ndarray], name: str, rng: np.random.Generator
) -> None:
    """Draw the missing cells of one column given the observed and the previously drawn cells of their rows."""
    holes = np.flatnonzero(has_hole(columns[name]))
    if not len(holes):
        return
    asked = [variable for variable in data.variables if variable.name in model.variables.names]
    cells = {variable.name: columns[variable.name][holes] for variable in asked}
    if model.variable(name).is_real:
        posterior = infer(model, Dataset.from_codes(asked, cells), targets=[name])[name]
        columns[name][holes] = np.reshape(posterior.sample(1, rng=rng), -1)
        return
    group, firsts = distinct_rows(np.stack(list(cells.values()), axis=1))
    rows = Dataset.from_codes(asked, {other: column[firsts] for other, column in cells.items()})
    posterior = infer(model, rows, targets=[name])[name]
    probabilities = posterior.values[group]
    uniforms = rng.random((len(holes), 1)) * probabilities.sum(axis=1, keepdims=True)
    drawn = (np.cumsum(probabilities, axis=1) <= uniforms).sum(axis=1)
    columns[name][holes] = np.minimum(drawn, probabilities.shape[1] - 1)
