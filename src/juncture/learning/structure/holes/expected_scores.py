"""Local scores of completed rows: families of complete columns have plain counts, which no completion changes.

The tables of the other families are the counts of the rows that were complete, which are kept from one completion to
the next, plus the expected counts of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from juncture.base.options import resolve
from juncture.data.dataset import Dataset
from juncture.learning.structure.data import total_weight
from juncture.learning.structure.holes.completion import CompletedRows, has_numbers
from juncture.learning.structure.holes.observed_fit import codes_of
from juncture.learning.structure.scores.discrete import KINDS, CodedRows, DiscreteScores
from juncture.learning.structure.scores.local_scores import (
    NOTHING,
    LocalScores,
    score_subsets_one_by_one,
    with_edge_prior,
)
from juncture.learning.structure.scores.scores import SCORES, EdgePrior, as_local_scores, counting_rule
from juncture.learning.structure.scores.state_counts import MAX_CELLS, MAX_STATES, StateCounts
from juncture.learning.structure.sets import Positions, set_of


class KeptCounts:
    """What completions of the same rows share: the scores of families of complete columns, and counts of whole rows."""

    def __init__(self, score: Any, data: Dataset, incomplete: Sequence[str]) -> None:
        self.score = resolve(score, SCORES, what="score")
        self.data, self.names = data, tuple(variable.name for variable in data.variables)
        self.is_complete = np.array([name not in incomplete for name in self.names])
        self._tables: CompleteFamilies | None = None
        self._counter: StateCounts | None = None

    def scores(self, rows: CompletedRows) -> LocalScores:
        """The local scores of completed rows."""
        if has_numbers(self.data):  # moments are summed up quickly
            return as_local_scores(self.score, rows.together)
        return self._scores_of(self.score, rows)

    def _scores_of(self, score: Any, rows: CompletedRows) -> LocalScores:
        if isinstance(score, EdgePrior):
            inner = resolve(score.score, SCORES, what="score")
            return with_edge_prior(self._scores_of(inner, rows), score.expected_parents)
        kind, amount = counting_rule(score, total_weight(self.data))
        if self._tables is None:
            columns = [name for name, whole in zip(self.names, self.is_complete, strict=True) if whole]
            positions = np.flatnonzero(self.is_complete).tolist()
            tables = CodedRows.of(self.data.only(columns)) if columns else None
            self._tables = CompleteFamilies(tables, positions, KINDS.index(kind), float(amount))
            whole = CodedRows.of(rows.whole)
            self._counter = whole.state_counts if whole.num_rows else None
        return ExpectedScores(self._tables, rows, self._counter)


class CompleteFamilies:
    """The scores of families of complete columns, each computed once."""

    def __init__(self, rows: CodedRows | None, positions: Sequence[int], kind: int, amount: float) -> None:
        self.kind, self.amount = kind, amount
        self.scores = None if rows is None else DiscreteScores(rows, kind, amount)
        self.place_of = {position: place for place, position in enumerate(positions)} | {NOTHING: NOTHING}
        self._known: dict[tuple[int, Positions], float] = {}

    def has(self, positions: Sequence[int]) -> bool:
        return all(position in self.place_of for position in positions)

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> list[float]:
        keys = [(child, set_of([*parents, one] if one != NOTHING else parents)) for one in candidates]
        new = [index for index, key in enumerate(keys) if key not in self._known]
        if new and self.scores is not None:
            places = [self.place_of[candidates[index]] for index in new]
            given = [self.place_of[one] for one in parents]
            found = self.scores.score_extensions(self.place_of[child], given, places)
            self._known.update({keys[index]: float(score) for index, score in zip(new, found, strict=True)})
        return [self._known[key] for key in keys]


class ExpectedScores:
    """Local scores of rows with states, completed."""

    def __init__(self, complete: CompleteFamilies, rows: CompletedRows, counter: StateCounts | None) -> None:
        self.complete, self.rows, self.counter = complete, rows, counter
        self.names = tuple(variable.name for variable in rows.completed.variables)
        codes, sizes = codes_of(rows.completed)
        self.sizes = np.append(sizes, 1)  # the last is the one state that all rows have
        self.codes = np.vstack([codes, np.zeros((1, len(rows.completed)), np.int32)])
        self.weights = np.ascontiguousarray(rows.completed.weights, dtype=np.float64)

    @cached_property
    def all_rows(self) -> DiscreteScores:
        """Of all rows together, for tables too large to be kept."""
        return DiscreteScores(CodedRows.of(self.rows.together), self.complete.kind, self.complete.amount)

    @property
    def num_rows(self) -> int:
        return len(self.weights) + (0 if self.counter is not None else len(self.rows.whole))

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        scores = np.empty(len(candidates))
        is_plain = self.complete.has([child, *parents])
        plain = [i for i, one in enumerate(candidates) if is_plain and self.complete.has([one])]
        if plain:
            scores[plain] = self.complete.score_extensions(child, parents, [candidates[i] for i in plain])
        rest = sorted(set(range(len(candidates))).difference(plain))
        counted = [i for i in rest if self._is_counted(child, parents, candidates[i])]
        if counted and self.counter is not None:
            wanted = [candidates[i] for i in counted]
            scores[counted] = self._score_counted(self.counter, child, parents, wanted)
        other = sorted(set(rest).difference(counted))
        if other:
            scores[other] = self.all_rows.score_extensions(child, parents, [candidates[i] for i in other])
        return scores

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        return score_subsets_one_by_one(self, child, needed, free, most)

    def _is_counted(self, child: int, parents: Sequence[int], candidate: int) -> bool:
        """Whether whole rows are counted at once, and the others added; else all are counted together."""
        base = prod(self.sizes[[child, *parents]].tolist())
        return self.counter is not None and base <= MAX_CELLS and int(self.sizes[candidate]) <= MAX_STATES

    def _score_counted(
        self, counter: StateCounts, child: int, parents: Sequence[int], candidates: Sequence[int]
    ) -> list[float]:
        from juncture.kernels.structure.local_scores import add_to_cells, score_table

        family, size = [*parents, child], int(self.sizes[child])
        base = sorted(family)
        others = np.array(candidates, dtype=np.int64)
        counts = counter.count(tuple(base), others)
        sizes = [int(self.sizes[one]) for one in base]
        order = np.arange(prod(sizes)).reshape(sizes).transpose([base.index(one) for one in family]).ravel()
        cells, codes = np.zeros(len(self.weights), np.uint32), self.codes.view(np.uint32)
        for one in family:
            cells *= np.uint32(self.sizes[one])
            cells += codes[one]
        found = []
        for one in candidates:
            new, start = int(self.sizes[one]), int(counter.starts[one])
            table = add_to_cells(cells, self.codes[one], np.int64(len(order)), np.int64(len(order) * new), self.weights)
            table += counts[order, start : start + new].T.ravel()
            given = len(order) // size * 1.0 * new
            found.append(float(score_table(table, size, given, self.complete.kind, self.complete.amount)))
        return found
