"""The gains of edges from rows with holes, for trees: each gain from the rows in which its family is observed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.options import resolve
from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.errors import TooLarge
from juncture.learning.structure.data import Rows, advise, total_weight
from juncture.learning.structure.scores.discrete import (
    KINDS,
    CodedRows,
    DiscreteScores,
    OverCodedRows,
    check_some_observed,
)
from juncture.learning.structure.scores.local_scores import NOTHING, ScoreCache, edge_cost, rounding
from juncture.learning.structure.scores.scores import SCORES, EdgePrior, as_local_scores, counting_rule
from juncture.learning.structure.scores.streamed import score_cells
from juncture.learning.structure.sets import set_of
from juncture.learning.structure.streamed.rows import StreamedRows
from juncture.learning.structure.streamed.sums import SummedRows


@dataclass(frozen=True, eq=False)
class AvailableGains(OverCodedRows):
    """What one more parent adds to the score of a child: with and without it, the same rows are scored.

    The gain in n of N rows is multiplied by N / n: with the log-likelihood it is N times the mutual information. It
    depends on no other edge, which is enough for trees; other searches compare families over different rows. An edge
    that adds more free parameters than n, as one of an identifier does, is left out: n rows cannot tell them.
    """

    rule: Callable[[float], tuple[str, float]]  # how a table is scored, given the number of rows
    edge_cost: float = 0.0

    def gains(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        return np.array([self._gain([child, *parents, candidate]) for candidate in candidates], dtype=float)

    def _gain(self, members: list[int]) -> float:
        codes, sizes = self.rows.codes[members], self.rows.sizes[members]
        is_whole = (codes >= 0).all(axis=0)
        weights = self.rows.weights[is_whole]
        total = float(weights.sum())
        added = (sizes[0] - 1) * (sizes[-1] - 1) * float(np.prod(sizes[1:-1], dtype=float))  # free parameters
        if total == 0.0 or added > max(total, len(weights)):  # weights may sum to 1
            return -np.inf
        names = tuple(self.names[one] for one in members)
        observed = CodedRows(names, np.ascontiguousarray(codes[:, is_whole]), weights, sizes)
        kind, amount = self.rule(total)
        *parents, last = range(1, len(members))
        scores = DiscreteScores(observed, KINDS.index(kind), amount).score_extensions(0, parents, [NOTHING, last])
        gain = scores[1] - scores[0]
        gain = 0.0 if abs(gain) < rounding(scores[0]) else gain
        return float(self.rows.weights.sum() / total * gain - self.edge_cost)


@dataclass(frozen=True, eq=False)
class AvailableMixedGains:
    """As `AvailableGains`, where some columns are real."""

    data: Dataset
    score: Any
    edge_cost: float = 0.0

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.data.columns)

    @property
    def num_rows(self) -> int:
        return self.data.num_rows

    def gains(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        return np.array([self._gain([child, *parents, candidate]) for candidate in candidates], dtype=float)

    def _gain(self, members: list[int]) -> float:
        part = self.data.only(self.names[one] for one in members)
        is_whole = ~np.any([has_hole(column) for column in part.columns.values()], axis=0)
        whole, total = part.take(is_whole), total_weight(part)
        seen = total_weight(whole)
        if not seen:
            return -np.inf
        scores = ScoreCache(as_local_scores(self.score, whole))
        last = 1 << (len(members) - 1)
        without = scores.family(0, last - 2)  # the parents are at the positions from 1 on
        gain = scores.family(0, last - 2 | last) - without if np.isfinite(without) else -np.inf
        gain = 0.0 if abs(gain) < rounding(without) else gain
        return float(total / seen * gain - self.edge_cost)


class StreamedGains:
    """As `AvailableGains`: the gain of an edge, from the rows in which its family is observed."""

    def __init__(self, rows: StreamedRows, sample: AvailableGains) -> None:
        self.rows, self.sample = rows, sample
        self.names, self.num_rows = rows.names, sample.num_rows

    def gains(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        found = [self._gain(child, parents, one) for one in candidates]
        unknown = [one for one, gain in zip(candidates, found, strict=True) if gain is None]
        estimates = iter(self.sample.gains(child, parents, unknown) if unknown else ())
        return np.array([float(next(estimates)) if gain is None else gain for gain in found], dtype=float)

    def _gain(self, child: int, parents: Sequence[int], candidate: int) -> float | None:
        table = self.rows.table(set_of([child, *parents, candidate]))
        if table is None:
            return None
        sizes = self.rows.sizes
        total = float((table if isinstance(table, np.ndarray) else table.weights).sum())
        added = (sizes[child] - 1) * (sizes[candidate] - 1) * float(np.prod(sizes[list(parents)], dtype=float))
        if total == 0.0 or added > total:
            return -np.inf
        kind, amount = self.sample.rule(total)
        everyone, rule = set_of([child, *parents, candidate]), (KINDS.index(kind), amount)
        without = score_cells(self.rows, table, everyone, (*parents, child), *rule)
        gain = score_cells(self.rows, table, everyone, (candidate, *parents, child), *rule) - without
        gain = 0.0 if abs(gain) < rounding(without) else gain
        return float(self.rows.weight / total * gain - self.sample.edge_cost)


def available_gains(score: Any, data: Rows) -> AvailableGains | AvailableMixedGains | StreamedGains:
    """The gains under a score, of columns with states or real ones."""
    wanted, cost = resolve(score, SCORES, what="score"), 0.0
    while isinstance(wanted, EdgePrior):
        cost += edge_cost(len(data.variables), wanted.expected_parents)
        wanted = resolve(wanted.score, SCORES, what="score")
    if isinstance(data, SummedRows):
        raise TooLarge(f"gains of edges between numbers with holes need rows in memory; past it, {advise(data)}")
    if isinstance(data, Dataset) and any(variable.is_real for variable in data.variables):
        return AvailableMixedGains(data, wanted, cost)
    counting_rule(wanted, 1.0)  # refuses a score of real numbers
    check_some_observed(data)
    rows = data.sample if isinstance(data, StreamedRows) else data
    gains = AvailableGains(CodedRows.with_holes(rows), lambda total: counting_rule(wanted, total), cost)
    return StreamedGains(data, gains) if isinstance(data, StreamedRows) else gains
