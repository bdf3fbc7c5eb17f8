"""The sufficient statistics of an undirected model: how often each cell of each factor occurs in the rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from juncture.base.values import Value, number_of
from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import Block, RowSource, add_up, add_up_complete
from juncture.errors import InvalidData, Unsupported
from juncture.factors.factor import Factor
from juncture.factors.gaussian_factor import GaussianFactor
from juncture.learning.networks.statistics import check_complete, count_families, total_weight
from juncture.learning.networks.templates import prepare_rows
from juncture.learning.options import DeclaredVariables
from juncture.networks.factor_product import FactorProduct


class FactorStatistics(Value):
    """The sufficient statistics of an undirected model; `a + b` are those of both data sets.

    `jt.statistics(network, rows)` makes them.

    Parameters
    ----------
    counts
        For each factor of the model, the weight of the rows in each of its cells.
    weight
        The total weight of the rows.
    """

    counts: tuple[Factor, ...]
    weight: float

    def __init__(self, counts: Iterable[Factor], weight: float) -> None:
        self._set(counts=tuple(counts), weight=float(weight))

    @property
    def cells(self) -> np.ndarray:
        """The counts of all factors, one after the other."""
        return np.concatenate([np.empty(0), *(part.values.reshape(-1) for part in self.counts)])

    def __add__(self, other: object) -> FactorStatistics:
        if not isinstance(other, FactorStatistics):
            return NotImplemented
        if [part.scope for part in self.counts] != [part.scope for part in other.counts]:
            raise InvalidData("statistics add when they are of factors over the same variables, in the same order")
        pairs = zip(self.counts, other.counts, strict=True)
        summed = [Factor(one.scope, one.values + two.values) for one, two in pairs]
        return FactorStatistics(summed, self.weight + other.weight)

    def __radd__(self, other: object) -> FactorStatistics:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def __repr__(self) -> str:
        return f"FactorStatistics({number_of(len(self.counts), 'factor')}, weight {self.weight:g})"


def factor_statistics(
    structure: FactorProduct, data: Any, *, weights: Any = None, options: DeclaredVariables
) -> FactorStatistics:
    check_tables(structure)
    template, rows = prepare_rows(structure, data, options.variables, weights=weights)
    return add_up(partial(count_checked, template), rows)


def count_checked(template: FactorProduct, block: Block) -> FactorStatistics:
    check_complete(block.rows, used_names(template), block.describe_row)
    return count_complete(template, block.rows)


def check_tables(structure: FactorProduct) -> None:
    """Raise `Unsupported` for Gaussian factors, which have no cells to count, with what learns them."""
    gaussian = next((part for part in structure.factors if isinstance(part, GaussianFactor)), None)
    if gaussian is not None:
        raise Unsupported(
            f"{gaussian!r} has no cells to count: jt.fit(model.graph, rows) learns the Gaussian Markov network of"
            " maximum likelihood on the graph of this model (covariance selection)"
        )


def count_if_complete(template: FactorProduct, data: Dataset | RowSource) -> FactorStatistics | None:
    """The counts of complete rows, in one pass; None if a cell is missing, or a column."""
    return add_up_complete(partial(count_unless_holes, template), data)


def count_unless_holes(template: FactorProduct, block: Block) -> FactorStatistics | None:
    columns = block.rows.columns
    if any(name not in columns or has_hole(columns[name]).any() for name in used_names(template)):
        return None
    return count_complete(template, block.rows)


def count_complete(template: FactorProduct, data: Dataset) -> FactorStatistics:
    """All tables in one pass over the rows."""
    weight = total_weight(data)
    tables = count_families(data, [part.scope for part in template.factors if part.scope])
    counted = iter(tables)
    parts = [Factor(part.scope, next(counted) if part.scope else weight) for part in template.factors]
    return FactorStatistics(parts, weight)


def used_names(template: FactorProduct) -> tuple[str, ...]:
    """The variables that are in some factor, in the order of the model."""
    used = {name for part in template.factors for name in part.scope.names}
    return tuple(name for name in template.variables.names if name in used)
