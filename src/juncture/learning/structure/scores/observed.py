"""Families scored from rows with holes: each from those rows in which all its members were observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.learning.conditionals.priors import checked_count
from juncture.learning.structure.scores.discrete import CodedRows, CountedFamilies
from juncture.learning.structure.scores.local_scores import NOTHING, one_by_one


@dataclass(frozen=True)
class NodeAverage:
    """The log-likelihood of the rows in which a family is observed, on average, times all rows (Balov 2013).

    Each free parameter costs `cost`, by default ½ log n + √(h n log n) for n rows and a share h of holes: families are
    compared on different rows, and BIC's cost alone would take that for gains (Bodewes and Scutari 2021). It is quick,
    and right where holes do not depend on values; where they do on observed ones, structural EM is.
    """

    cost: float | None = None

    def __post_init__(self) -> None:
        if self.cost is not None:
            checked_count(self.cost, "the cost of a parameter")


@dataclass(frozen=True, eq=False)
class ObservedFamilies:
    """Each family by itself: its observed rows are counted, and weighed up to all rows."""

    rows: CodedRows
    cost: float

    @property
    def names(self) -> tuple[str, ...]:
        return self.rows.names

    @property
    def num_rows(self) -> int:
        return self.rows.num_rows

    def extended(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        sets = ([*parents, one] if one != NOTHING else list(parents) for one in candidates)
        return np.array([self._family(child, one) for one in sets])

    def of_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        return one_by_one(self, child, needed, free, most)

    def _family(self, child: int, parents: list[int]) -> float:
        """N / n · log-likelihood of the n rows in which all are observed, less what the parameters cost."""
        members = [child, *parents]
        is_whole = (self.rows.codes[members] >= 0).all(axis=0)
        weights, sizes = self.rows.weights[is_whole], self.rows.sizes[members]
        total = float(weights.sum())
        if total == 0.0:
            return -np.inf
        observed = CodedRows(self.names, np.ascontiguousarray(self.rows.codes[members][:, is_whole]), weights, sizes)
        *common, last = range(1, len(members)) if parents else [NOTHING]
        log_likelihood = CountedFamilies(observed, 0, 0.0).extended(0, common, [last])[0]
        num_parameters = float(np.prod(sizes[1:], dtype=float)) * (sizes[0] - 1)
        return float(self.rows.weights.sum() / total * log_likelihood - self.cost * num_parameters)


def observed_families(score: NodeAverage, data: Dataset) -> ObservedFamilies:
    for name, column in data.columns.items():
        if not (column >= 0).any():
            raise InvalidData(f"the column {name!r} has no value in any row: leave it out")
    rows = CodedRows.with_holes(data)
    return ObservedFamilies(rows, default_cost(rows) if score.cost is None else score.cost)


def default_cost(rows: CodedRows) -> float:
    total = max(float(rows.weights.sum()), 1.0)
    holes = float(((rows.codes < 0) @ rows.weights).mean() / total)
    return 0.5 * log(total) + sqrt(holes * total * log(total))
