"""`statistics`: what the families of a network need to know of complete data."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.errors import InvalidData
from juncture.factors.conditional import Conditional
from juncture.learning.conditionals.contract import summarise
from juncture.learning.conditionals.table_counts import TableCounts
from juncture.learning.networks.counting import count_families
from juncture.learning.networks.network_statistics import NetworkStatistics
from juncture.learning.networks.templates import prepared
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Variable


def network_statistics(
    structure: Any, data: Any, *, variables: Iterable[Variable] | None = None, weights: Any = None
) -> NetworkStatistics:
    template, dataset = prepared(structure, data, variables, weights=weights)
    return statistics_of(template, dataset)


def statistics_of(template: BayesianNetwork, data: Dataset) -> NetworkStatistics:
    """All tables in one pass, other kinds of conditionals each by itself."""
    refuse_holes(data, template.variables.names)
    tables = [part for part in template.conditionals if isinstance(part, Conditional)]
    counts = count_families(data, [part.scope for part in tables])
    parts: dict[str, Any] = {
        part.child.name: TableCounts(part.child, part.parents, table)
        for part, table in zip(tables, counts, strict=True)
    }
    for part in template.conditionals:
        if part.child.name not in parts:
            parts[part.child.name] = summarise(part, data)
    ordered = {part.child.name: parts[part.child.name] for part in template.conditionals}
    return NetworkStatistics(ordered, total_weight(data))


def total_weight(data: Dataset) -> float:
    return float(len(data) if data.weights is None else np.sum(data.weights))


def refuse_holes(data: Dataset, names: Iterable[str]) -> None:
    for name in names:
        if name not in data.columns:
            raise InvalidData(f"the statistics of complete rows need a column {name!r}; jt.fit learns without it")
        holes = has_hole(data.columns[name])
        if holes.any():
            raise InvalidData(
                f"the statistics of complete rows were asked for, but {name!r} is missing in row {int(holes.argmax())};"
                " jt.fit learns from rows with holes"
            )
