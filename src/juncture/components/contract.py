"""`Emissions`: one distribution of the observation per hidden state, and the statistics from which it is learned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import islice
from math import prod
from typing import Any, ClassVar, NoReturn, Self, TypeAlias

import numpy as np

from juncture.base.checks import check_count, check_positions
from juncture.base.notes import Name, Notes
from juncture.base.values import Value, read_only
from juncture.drawing.notebook import html_table
from juncture.errors import InvalidData, Unsupported
from juncture.factors.printed_tables import MAX_HTML_ROWS
from juncture.numerics.stable import SHORT
from juncture.variables import State, Variable

DEAD = 1e-10  # rows: a state with less weight than this has seen nothing


def distributions_html(labels: Iterable[Any], distributions: Iterable[Any], heads: tuple[str, str]) -> str:
    """A table of labels and distributions, cut short where it is long."""
    pairs = list(islice(zip(labels, distributions, strict=False), MAX_HTML_ROWS + 1))
    rows = ((label, repr(distribution)) for label, distribution in pairs[:MAX_HTML_ROWS])
    return html_table(heads, rows, f"… the first {MAX_HTML_ROWS}" if len(pairs) > MAX_HTML_ROWS else "", num_labels=1)


def name_of_row(index: int) -> str:
    """What a message calls a row, unless it is a step of a sequence."""
    return f"row {index}"


class EmissionStatistics(Value):
    """What estimating emissions needs of weighted rows; `a + b` are the statistics of both.

    `weight` is how much weight each state has on rows where something was observed. What the `parts` are is the
    business of the emissions that made them: arrays, statistics of families, or statistics of other emissions.
    """

    weight: np.ndarray  # (state,)
    parts: tuple[Any, ...]

    def __init__(self, weight: Any, parts: Any = ()) -> None:
        held = tuple(read_only(part) if isinstance(part, np.ndarray) else part for part in parts)
        self._set(weight=read_only(weight, np.float64), parts=held)

    def __add__(self, other: object) -> EmissionStatistics:
        if not isinstance(other, EmissionStatistics):
            return NotImplemented
        if len(self.parts) != len(other.parts) or self.weight.shape != other.weight.shape:
            raise InvalidData("statistics of different emissions do not add")
        parts = (mine + theirs for mine, theirs in zip(self.parts, other.parts, strict=True))
        return EmissionStatistics(self.weight + other.weight, parts)

    def __radd__(self, other: object) -> EmissionStatistics:
        return self if other == 0 else NotImplemented  # sum([...]) starts from 0

    @property
    def dead_states(self) -> np.ndarray:
        """The states on which no weight fell: without a prior their distributions stay as they are."""
        return np.flatnonzero(self.weight <= DEAD)

    def __repr__(self) -> str:
        return f"EmissionStatistics(weight={np.array2string(self.weight, precision=6, threshold=8, separator=', ')})"


ColumnStates: TypeAlias = tuple[
    tuple[State, ...] | int | None, ...
]  # of each column, or their number; None for numbers


class Emissions(Value):
    """p(observation | state) for each state.

    Rows are (row, *event), NaN where nothing was observed: what is missing is summed out, so that a row that is
    wholly missing has the likelihood 1 in each state. A model of sequences hands over the steps of all of them.
    """

    _fields: ClassVar[tuple[str, ...]] = ()  # sizes follow from the fields of the kinds
    is_table: ClassVar[bool] = False  # whether a number can be its prior: a pseudo-count
    takes_minus_infinity: ClassVar[bool] = False  # whether -inf is an observation
    symbols: tuple[State, ...] | None = None  # labels of the observations, where they are codes
    num_states: int
    event_shape: tuple[int, ...]

    @property
    def column_states(self) -> ColumnStates:
        """The states of each column of a row, or their number; None for real numbers."""
        return (None,) * prod(self.event_shape)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        """log p(row | state) as (row, state); -inf where it is impossible."""
        raise NotImplementedError

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One observation for each of these states: (row, *event)."""
        raise NotImplementedError

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        """The expected statistics of rows; the weight of each state in each row is (row, state)."""
        raise NotImplementedError

    def estimate(self, statistics: EmissionStatistics, prior: Any = None) -> Self:
        """The emissions that fit the statistics best; with a prior, at the mode of the posterior.

        A state without weight keeps its distribution, unless a prior has one for it: see `statistics.dead_states`.
        A warning names each state whose data do not determine its distribution.
        """
        found, notes = self.estimate_with_notes(statistics, prior)
        notes.warn()
        return found

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        """The estimate without warnings, and what it had to hold: notes about states by their numbers."""
        raise NotImplementedError

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        """Σ weight · log p(row | state) of the rows that the statistics sum up, expected where cells are missing."""
        raise NotImplementedError

    def log_prior(self, prior: Any) -> float:
        """log of the prior density at these parameters, up to a constant."""
        raise NotImplementedError

    @property
    def variables(self) -> tuple[Variable, ...]:
        """What is observed: "symbol" where there are symbols, else "x", or "x0", "x1", … of a vector."""
        if self.symbols is not None:
            return (Variable("symbol", self.symbols),)
        if self.event_shape == ():
            return (Variable("x"),)
        return tuple(Variable(f"x{place}") for place in range(prod(self.event_shape)))

    @property
    def num_parameters(self) -> int:
        """The number of free parameters."""
        raise NotImplementedError

    @property
    def summary(self) -> str:
        """What kind of emissions these are, in a few words."""
        raise NotImplementedError

    def __getitem__(self, state: int) -> Any:
        """The distribution of one state."""
        raise NotImplementedError

    def take(self, states: Any) -> Emissions:
        """The distributions of these states, in this order, as emissions."""
        raise NotImplementedError

    def _position(self, state: Any) -> int:
        """The number of a state, checked."""
        return int(check_positions(check_count(state, "a state", least=-self.num_states), self.num_states, "a state"))

    def _positions(self, states: Any) -> np.ndarray:
        """The numbers of states, checked."""
        return np.atleast_1d(check_positions(states, self.num_states, "a state"))

    def check(self, rows: np.ndarray, name_row: Name = name_of_row) -> np.ndarray:
        """The rows in the form that these emissions take; a wrong row is refused, and called `name_row(index)`."""
        return rows.astype(np.float64, copy=False)

    def _repr_html_(self) -> str:
        return distributions_html(range(self.num_states), self, ("state", "emits"))

    def __len__(self) -> int:
        return self.num_states

    def __iter__(self) -> Iterator[Any]:
        return (self[state] for state in range(self.num_states))


def is_whole(rows: np.ndarray) -> np.ndarray:
    """Which rows have no hole."""
    holes = holes_in(rows)
    return np.ones(len(rows), bool) if holes is None else ~by_columns(np.logical_or, holes)


def is_seen(rows: np.ndarray) -> np.ndarray:
    """Which rows have something observed."""
    holes = holes_in(rows)
    return np.ones(len(rows), bool) if holes is None else ~by_columns(np.logical_and, holes)


def holes_in(rows: np.ndarray) -> np.ndarray | None:
    """(row, value): where nothing was observed; None if there are no holes."""
    holes = np.isnan(rows) if rows.dtype.kind == "f" else None
    return holes.reshape(len(rows), prod(rows.shape[1:])) if holes is not None and holes.any() else None


def by_columns(combine: np.ufunc, holes: np.ndarray) -> np.ndarray:
    """One truth value a row; column by column when there are few, as reducing many short rows is slow."""
    short = 0 < holes.shape[1] <= SHORT
    return np.asarray(reduce(combine, holes.T) if short else combine.reduce(holes, axis=1))


def draw_by_state(emissions: Emissions, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """One observation for each state of a path, state by state."""
    found: np.ndarray | None = None
    for state in np.unique(states):
        positions = np.flatnonzero(states == state)
        draws = np.asarray(emissions[int(state)].sample(len(positions), rng=rng))
        if found is None:
            found = np.empty((len(states), *emissions.event_shape), draws.dtype)
        found[positions] = draws
    return np.empty((0, *emissions.event_shape)) if found is None else found


def in_one_line(array: np.ndarray) -> str:
    """Numbers as a `repr` shows them."""
    return " ".join(np.array2string(array, precision=6, threshold=24, edgeitems=2, separator=", ").split())


def raise_wrong_prior(prior: Any, emissions: Emissions, wanted: str) -> NoReturn:
    """Raise for a prior of the wrong kind."""
    raise Unsupported(f"the prior of {type(emissions).__name__} is {wanted}; got {prior!r}")
