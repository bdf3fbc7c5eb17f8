"""Local scores of variables with states, from counts of coded rows, complete or observed in a family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log, prod, sqrt
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.tables.columns import code_type
from juncture.data.tables.distinct import distinct_rows
from juncture.errors import InvalidData, TooLarge
from juncture.learning.conditionals.table import check_pseudo_count
from juncture.learning.structure.data import check_complete
from juncture.learning.structure.scores.local_scores import NOTHING, score_subsets_one_by_one
from juncture.learning.structure.scores.state_counts import MAX_CELLS as COUNTED_CELLS
from juncture.learning.structure.scores.state_counts import MAX_STATES, StateCounts, cells_in_order, state_counts
from juncture.learning.structure.sets import Positions, members, set_of
from juncture.learning.structure.streamed.streamed_rows import StreamedRows

KINDS = ("likelihood", "cell", "even", "seen")  # by the numbers they have in the kernel
MAX_CELLS = 2**27  # of a table of counts, a gigabyte; the kernels number its cells with 32 bits
SHOWN = 3  # columns that a refusal names
MANY = 8  # candidates that are asked about at once, and
MANY_ROWS = 4096  # different rows, from which counting the states of all variables in few passes pays
CODES = np.int32  # one type, so that kernels are compiled once
MAX_OBSERVED = 2**28  # bytes of rows that are kept, of those observed in some columns
MIN_LAYERS = 4096  # combinations of states that are all counted, however few rows there are


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Different rows as codes (variable, row), how many rows are like each, and each variable's number of states."""

    names: tuple[str, ...]
    codes: np.ndarray
    weights: np.ndarray
    sizes: np.ndarray

    @classmethod
    def of(cls, data: Dataset) -> CodedRows:
        check_complete(data)
        return cls.with_holes(data)

    @classmethod
    def with_holes(cls, data: Dataset) -> CodedRows:
        """Where the codes of holes, -1, stay."""
        names = tuple(variable.name for variable in data.variables)
        sizes = np.array([variable.num_states for variable in data.variables], dtype=np.int64)
        codes = np.array(data.arrays, dtype=code_type(sizes.max(initial=0))).reshape(len(sizes), len(data))
        numbers, firsts = distinct_rows(codes.T)
        weights = np.bincount(numbers, weights=data.weights, minlength=len(firsts))
        return cls(names, codes[:, firsts].astype(CODES, order="C"), weights.astype(np.float64), sizes)

    @property
    def num_rows(self) -> int:
        return len(self.weights)

    @cached_property
    def state_counts(self) -> StateCounts | None:
        """Counts of the states of all variables at once; None where they cannot be counted so.

        Once asked for, scores are taken from them.
        """
        return state_counts(self.codes, self.weights, self.sizes)

    @cached_property
    def _max_layers(self) -> int:
        return max(MIN_LAYERS, 2 * self.num_rows)

    @cached_property
    def has_small_tables(self) -> bool:
        """Whether the table of no two columns is too large, given any others."""
        return int(self.sizes.max(initial=0)) ** 2 * self._max_layers <= MAX_CELLS

    def check_table(self, own: Sequence[int], given: Sequence[int]) -> None:
        """Refuse to count the states of some columns given others where the table would be too large.

        The combinations of states of the given columns that are counted are at most about as many as the rows.
        """
        if self.has_small_tables:
            return
        layers = min(prod(self.sizes[list(given)].tolist()), self._max_layers)
        cells = layers * prod(self.sizes[list(own)].tolist())
        if cells > MAX_CELLS:
            columns = sorted({*own, *given}, key=lambda index: -self.sizes[index])[:SHOWN]
            shown = ", ".join(f"{self.names[index]!r} ({self.sizes[index]:,} states)" for index in columns)
            raise TooLarge(
                f"a table of counts over {shown} would have {cells:,} cells; the limit is {MAX_CELLS:,}:"
                " leave out columns with so many states, or group their values, for numbers with jt.Discretizer"
            )


@dataclass(frozen=True, eq=False)
class OverCodedRows:
    """Answers from coded rows, with the names of their variables."""

    rows: CodedRows

    @property
    def names(self) -> tuple[str, ...]:
        return self.rows.names

    @property
    def num_rows(self) -> int:
        return self.rows.num_rows


@dataclass(frozen=True, eq=False)
class DiscreteScores(OverCodedRows):
    """Each family's table is counted, and its score added up, in compiled code."""

    kind: int
    amount: float

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        from juncture.kernels.structure.local_scores import score_extensions

        if not self.rows.has_small_tables:
            for candidate in candidates:
                self.rows.check_table([child], [*parents, candidate] if candidate != NOTHING else parents)
        others, scores = np.array(candidates, dtype=np.int64), np.empty(len(candidates))
        is_counted = self._score_counted(child, parents, others, scores)
        if not is_counted.all():
            rows = (self.rows.codes, self.rows.weights, self.rows.sizes)
            left = np.empty(len(others) - int(is_counted.sum()))
            family = (child, np.array(parents, dtype=np.int64), others[~is_counted])
            score_extensions(*rows, *family, self.kind, self.amount, left)
            scores[~is_counted] = left
        return scores

    def _score_counted(self, child: int, parents: Sequence[int], others: np.ndarray, scores: np.ndarray) -> np.ndarray:
        """Fill in the scores of the candidates whose states are counted at once; which these are.

        That pays where many candidates are asked about, and from then on. Tables of which only the layers that occur
        are counted are not among them.
        """
        from juncture.kernels.structure.local_scores import score_counted

        is_worth_it = len(others) >= MANY and self.rows.num_rows >= MANY_ROWS
        counter = self.rows.state_counts if is_worth_it or "state_counts" in vars(self.rows) else None
        family = [*parents, child]
        if counter is None or len(set(family)) < len(family):
            return np.zeros(len(others), dtype=np.bool_)
        base, sizes = sorted(family), counter.sizes[others]  # where nothing is added, all rows have one state
        base_sizes = counter.sizes[base].tolist()
        num_cells, size = prod(base_sizes), base_sizes[base.index(child)]
        is_counted = (sizes <= MAX_STATES) & (num_cells // size * sizes <= self.rows._max_layers)
        is_counted &= num_cells <= COUNTED_CELLS
        wanted = others[is_counted]
        if len(wanted):
            counts = counter.count(tuple(base), wanted)
            cells = cells_in_order(base_sizes, [base.index(one) for one in family])
            found = np.empty(len(wanted))
            layout = (counts, cells, size, counter.starts[wanted], counter.sizes[wanted])
            score_counted(*layout, self.kind, self.amount, found)
            scores[is_counted] = found
        return is_counted

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        from juncture.kernels.structure.subsets import score_subsets

        has_cost = self.kind == KINDS.index("likelihood") and self.amount > 0.0  # then large tables are not counted
        largest = sorted(free, key=lambda one: -self.rows.sizes[one])[: 0 if has_cost else most]
        self.rows.check_table([child], [*needed, *largest])
        scores = np.full(1 << len(free), -np.inf)
        rows = (self.rows.codes, self.rows.weights, self.rows.sizes)
        family = (child, np.array(needed, dtype=np.int64), np.array(free, dtype=np.int64), most)
        score_subsets(*rows, *family, self.kind, self.amount, scores)
        return scores


def discrete_scores(data: Dataset, kind: str, amount: float) -> DiscreteScores:
    return DiscreteScores(CodedRows.of(data), KINDS.index(kind), float(amount))


@dataclass(frozen=True)
class NodeAverage:
    """The log-likelihood of the rows in which a family is observed, on average, times all rows (Balov 2013).

    Each free parameter costs `cost`, by default ½ log n + √(h n log n) for n rows and a share h of holes. Families are
    compared on different rows, and BIC's cost alone would take the difference for gains: a row's share of the cost must
    fall more slowly than 1 / √n (Balov 2013, Bodewes and Scutari 2021), as this cost does. The score is quick, and
    right for many rows, where cells are missing completely at random. For few rows the cost is large, 27 a parameter
    for 1,500 rows with 5 % holes where BIC has 4, and weak edges are left out: structural EM finds them, and is right
    where missingness depends on observed values, too.
    """

    cost: float | None = None

    def __post_init__(self) -> None:
        if self.cost is not None:
            check_pseudo_count(self.cost, "the cost of a parameter")


@dataclass(frozen=True, eq=False)
class ObservedScores(OverCodedRows):
    """Each family by its observed rows, which are counted, and weighed up to all rows.

    Families that lack values in the same columns have the same observed rows, which are found once.
    """

    cost: float
    kept: dict[Positions, ObservedRows] = field(default_factory=dict)
    lock: Any = field(default_factory=Lock)

    def score_extensions(self, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        scores = np.empty(len(candidates))
        lacking = [
            self._incomplete & set_of([child, *parents, *([one] if one != NOTHING else [])]) for one in candidates
        ]
        for columns in dict.fromkeys(lacking):
            own = [index for index, other in enumerate(lacking) if other == columns]
            scores[own] = self._score(columns, child, parents, [candidates[index] for index in own])
        return scores

    def score_subsets(self, child: int, needed: Sequence[int], free: Sequence[int], most: int) -> np.ndarray:
        return score_subsets_one_by_one(self, child, needed, free, most)

    def gain(self, child: int, parents: Sequence[int], candidate: int) -> float:
        """What one more parent adds to the log-likelihood of the rows in which all are observed."""
        observed = self._observe(self._incomplete & set_of([child, *parents, candidate]))
        place = observed.places
        family = place[child], [place[one] for one in parents]
        without, together = observed.scores.score_extensions(*family, [NOTHING, place[candidate]])
        return float(together - without)

    def _score(self, columns: Positions, child: int, parents: Sequence[int], candidates: Sequence[int]) -> np.ndarray:
        """N / n · log-likelihood of the n rows in which these columns are observed, less the cost of the parameters."""
        observed = self._observe(columns)
        if observed.weight == 0.0:
            return np.full(len(candidates), -np.inf)
        place = observed.places
        given, others = (
            [place[one] for one in parents],
            [place[one] if one != NOTHING else NOTHING for one in candidates],
        )
        log_likelihoods = observed.scores.score_extensions(place[child], given, others)
        sizes = np.append(self.rows.sizes, 1).astype(float)  # the last is that of no candidate
        num_parameters = sizes[list(candidates)] * np.prod(sizes[list(parents)]) * (sizes[child] - 1)
        return np.asarray(self._total / observed.weight * log_likelihoods - self.cost * num_parameters)

    def _observe(self, columns: Positions) -> ObservedRows:
        """The rows in which these columns are observed, of these and the complete columns."""
        with self.lock:  # threads that score at once share them
            found = self.kept.pop(columns, None)
        found = found or self._select(columns)
        with self.lock:
            while self.kept and sum(one.num_bytes for one in self.kept.values()) + found.num_bytes > MAX_OBSERVED:
                del self.kept[next(iter(self.kept))]  # that was asked for longest ago
            self.kept[columns] = found
        return found

    def _select(self, columns: Positions) -> ObservedRows:
        own = members(columns)
        is_whole = (self.rows.codes[own] >= 0).all(axis=0)
        all_of = sorted([*own, *np.flatnonzero(self._is_complete).tolist()])
        codes = np.ascontiguousarray(self.rows.codes[all_of][:, is_whole])
        names = tuple(self.names[one] for one in all_of)
        rows = CodedRows(names, codes, self.rows.weights[is_whole], self.rows.sizes[all_of])
        places = {one: place for place, one in enumerate(all_of)}
        return ObservedRows(DiscreteScores(rows, 0, 0.0), places, float(rows.weights.sum()))

    @cached_property
    def _is_complete(self) -> np.ndarray:
        return np.asarray((self.rows.codes >= 0).all(axis=1))

    @cached_property
    def _incomplete(self) -> Positions:
        return set_of(np.flatnonzero(~self._is_complete).tolist())

    @cached_property
    def _total(self) -> float:
        return float(self.rows.weights.sum())


class ObservedRows(NamedTuple):
    """The rows in which some columns are observed: scores of families of them, the place of each column, the weight."""

    scores: DiscreteScores
    places: dict[int, int]
    weight: float

    @property
    def num_bytes(self) -> int:
        return self.scores.rows.codes.nbytes


def check_some_observed(data: Dataset | StreamedRows) -> None:
    if isinstance(data, StreamedRows):
        is_observed = data.holes < data.weight
    else:
        is_observed = np.array([(column >= 0).any() for column in data.arrays])
    if not is_observed.all():
        name = data.variables[int(np.argmin(is_observed))].name
        raise InvalidData(f"the column {name!r} has no value in any row: leave it out")


def observed_scores(score: NodeAverage, data: Dataset) -> ObservedScores:
    check_some_observed(data)
    rows = CodedRows.with_holes(data)
    total, holes = float(rows.weights.sum()), (rows.codes < 0) @ rows.weights
    return ObservedScores(rows, default_cost(total, holes) if score.cost is None else score.cost)


def default_cost(weight: float, holes: np.ndarray) -> float:
    """The cost of a parameter, of the weight of all rows and of those in which each column is missing."""
    total = max(weight, 1.0)
    return 0.5 * log(total) + sqrt(float(holes.mean() / total) * total * log(total))
