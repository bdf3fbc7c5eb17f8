"""What clusters are: the size of each, the means and shares of its rows by column, and what tells it from all rows.

Every row counts for its most probable component, so that the numbers can be found again in the file of labelled rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.cli.printing.tables import TextTable, table
from juncture.data.dataset import Dataset
from juncture.variables import Variable

MOST_STATES = 8  # of a column that a table shows
MOST_TOLD = 3  # columns that a sentence names
LEAST_TOLD = 0.02  # nats: a mean that is 0.2 standard deviations off, or five sixths of the spread
LONG, SHORT = 1e9, 1e-4  # numbers that are written without powers of ten
CHANCE = 10.0  # 2 · rows · nats: where columns say nothing of clusters about a χ² of few degrees of freedom


class Numbers(NamedTuple):
    """Of a column of numbers: mean and standard deviation of the cells that are known; None where none is."""

    mean: float
    standard_deviation: float

    def format(self) -> str:
        """Both with the decimals that show three digits of the standard deviation."""
        sizes = [abs(number) for number in self if number]
        if not sizes or max(sizes) >= LONG or min(sizes) < SHORT:
            return f"{self.mean:.4g} ± {self.standard_deviation:.3g}"
        decimals = max(0, 2 - math.floor(math.log10(self.standard_deviation or sizes[0])))
        return f"{self.mean:.{decimals}f} ± {self.standard_deviation:.{decimals}f}"


@dataclass(frozen=True, eq=False)
class ColumnProfile:
    """One column in all rows, and in those of each cluster; None where no cell is known."""

    variable: Variable
    of_all: Any
    of_each: tuple[Any, ...]
    num_known: tuple[int, ...]  # cells of each cluster

    def is_told(self, cluster: int) -> bool:
        """Whether the cluster differs from all rows by something, and by more than chance gives so few rows."""
        distance = self.distance(cluster)
        return distance >= LEAST_TOLD and 2 * self.num_known[cluster] * distance >= CHANCE

    def distance(self, cluster: int) -> float:
        """How far the cluster is from all rows: KL(cluster ‖ all) in nats, of numbers as if they were Gaussian."""
        own, whole = self.of_each[cluster], self.of_all
        if own is None:
            return 0.0
        if isinstance(own, Numbers):
            if whole.standard_deviation == 0:
                return 0.0
            shift = (own.mean - whole.mean) / whole.standard_deviation
            ratio = own.standard_deviation / whole.standard_deviation
            return 0.5 * (shift**2 + ratio**2 - 1.0) - math.log(ratio) if ratio > 0 else math.inf
        return float(weigh(own, whole).sum())

    def tell(self, cluster: int) -> str:
        """What the cluster has, beside what all rows have: numbers, or the share of the state that tells most."""
        own, whole, name = self.of_each[cluster], self.of_all, self.variable.name
        if isinstance(own, Numbers):
            return f"{name} {own.format()} (all {whole.format()})"
        code = int(weigh(own, whole).argmax())
        return f"{name}={self.variable.labels[code]} {own[code]:.0%} (all {whole[code]:.0%})"


def weigh(own: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """The terms of KL(own ‖ whole) of shares; a state of the cluster is one of all rows."""
    seen = own > 0
    return np.asarray(np.where(seen, own * np.log(np.where(seen, own, 1.0) / np.where(seen, whole, 1.0)), 0.0))


def profile(data: Dataset, codes: np.ndarray, num_clusters: int) -> list[ColumnProfile]:
    """The columns of the rows, in all of them and by cluster."""
    found = []
    for variable in data.variables:
        cells = data.columns[variable.name]
        parts = [known_cells(variable, cells[codes == each]) for each in range(num_clusters)]
        whole = summarize(variable, known_cells(variable, cells))
        each = tuple(summarize(variable, part) for part in parts)
        found.append(ColumnProfile(variable, whole, each, tuple(map(len, parts))))
    return found


def known_cells(variable: Variable, cells: np.ndarray) -> np.ndarray:
    return cells[~np.isnan(cells)] if variable.is_real else cells[cells >= 0]


def summarize(variable: Variable, known: np.ndarray) -> Any:
    """Mean and standard deviation, or the share of each state; None where no cell is known."""
    if not len(known):
        return None
    if variable.is_real:
        return Numbers(float(known.mean()), float(known.std()))
    return np.bincount(known, minlength=variable.num_states) / len(known)


def tell_apart(columns: list[ColumnProfile], cluster: int) -> str:
    """What distinguishes a cluster: the columns that are farthest from all rows, the farthest first."""
    told = sorted((each for each in columns if each.is_told(cluster)), key=lambda each: -each.distance(cluster))
    return ", ".join(each.tell(cluster) for each in told[:MOST_TOLD])


def profile_table(columns: list[ColumnProfile], num_clusters: int) -> TextTable:
    """A row for each column of numbers and for each state, a column for each cluster."""
    heads = ["all rows", *(f"component {cluster}" for cluster in range(num_clusters))]
    found = table("means ± standard deviations, and shares of states", "column", *heads, numeric=heads)
    for column in columns:
        for name, *cells in lines_of(column):
            found.add_row(name, *cells)
    return found


def lines_of(column: ColumnProfile) -> Iterator[list[str]]:
    name, parts = column.variable.name, (column.of_all, *column.of_each)
    if column.variable.is_real:
        yield [name, *("" if part is None else part.format() for part in parts)]
        return
    order = np.argsort(-column.of_all, kind="stable")
    shown = order if len(order) <= MOST_STATES + 1 else order[:MOST_STATES]
    for code in sorted(shown.tolist()):
        label = column.variable.labels[code]
        yield [f"{name}={label}", *("" if part is None else f"{part[code]:.1%}" for part in parts)]
    rest = order[len(shown) :]
    if len(rest):
        yield [f"{name}: {len(rest)} others", *("" if part is None else f"{part[rest].sum():.1%}" for part in parts)]


def profile_document(columns: list[ColumnProfile], cluster: int) -> dict[str, Any]:
    """Column → mean and standard deviation, or state → share; None where the cluster knows no cell."""
    return {column.variable.name: as_plain(column, column.of_each[cluster]) for column in columns}


def as_plain(column: ColumnProfile, part: Any) -> Any:
    if isinstance(part, Numbers):
        return part._asdict()
    return None if part is None else dict(zip(map(str, column.variable.labels), part.tolist(), strict=True))
