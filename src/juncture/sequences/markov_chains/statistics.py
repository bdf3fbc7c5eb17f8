"""The sufficient statistics of a Markov chain: counts of initial states and of transitions."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.errors import InvalidData
from juncture.learning.conditionals.table import TableCounts
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.windows import cells, own_steps, owners
from juncture.values import Value, number_of
from juncture.variables import Scope, State, Variable


class MarkovChainStatistics(Value):
    """The sufficient statistics of a Markov chain; `a + b` are those of both sets of sequences.

    Parameters
    ----------
    starts
        For a chain of order m, m tables: the counts of the first state, of the second state given the first, and so on.
        So sequences shorter than m count too.
    transitions
        The counts of each state given the m states before it.
    """

    _fields = ("starts", "transitions")
    starts: tuple[TableCounts, ...]
    transitions: TableCounts

    def __init__(self, starts: tuple[TableCounts, ...], transitions: TableCounts) -> None:
        self._set(starts=tuple(starts), transitions=transitions)

    @classmethod
    def of(cls, labels: tuple[State, ...], starts: list[np.ndarray], transitions: np.ndarray) -> MarkovChainStatistics:
        """From counts in tables: (first, …) and (*history, next)."""
        order = len(starts)
        early = Scope(Variable(f"state{step}", labels) for step in range(order))
        before = [Variable(f"{steps} before", labels) for steps in range(order, 0, -1)]
        parts = [TableCounts(early[step], early[:step], counts) for step, counts in enumerate(starts)]
        return cls(tuple(parts), TableCounts(Variable("next", labels), before, transitions))

    @property
    def order(self) -> int:
        return len(self.starts)

    @property
    def states(self) -> tuple[State, ...]:
        return self.transitions.child.labels

    @cached_property
    def weight(self) -> float:
        """The weight of all sequences that have a first step."""
        return self.starts[0].weight

    def __add__(self, other: object) -> MarkovChainStatistics:
        if not isinstance(other, MarkovChainStatistics):
            return NotImplemented
        if self.order != other.order:
            raise InvalidData(f"statistics of chains of the orders {self.order} and {other.order} do not add")
        starts = tuple(one + two for one, two in zip(self.starts, other.starts, strict=True))
        return MarkovChainStatistics(starts, self.transitions + other.transitions)

    def __radd__(self, other: object) -> MarkovChainStatistics:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def __repr__(self) -> str:
        steps = sum(part.weight for part in (*self.starts, self.transitions))
        order = f", order {self.order}" if self.order > 1 else ""
        seen = f"{number_of(self.weight, 'sequence')}, {number_of(steps, 'step')}"
        return f"MarkovChainStatistics({number_of(len(self.states), 'state')}{order}, {seen})"


def count_complete(model: MarkovChain, sequences: Sequences) -> MarkovChainStatistics:
    """The counts of sequences without holes."""
    own = own_steps(sequences)

    def counts(steps: np.ndarray, depth: int) -> np.ndarray:
        size = model.num_states
        positions, weights = cells(sequences, steps, depth, size), sequences.weights[owners(sequences, steps)]
        return np.bincount(positions, weights, size ** (depth + 1)).reshape((size,) * (depth + 1))

    starts = [counts(np.flatnonzero(own == step), step) for step in range(model.order)]
    transitions = counts(np.flatnonzero(own >= model.order), model.order)
    return MarkovChainStatistics.of(model.labels.plain, starts, transitions)


def first_hole(sequences: Sequences) -> str | None:
    """The first step without a state, as a message names it; None if there is none."""
    holes = np.isnan(sequences.observations.astype(np.float64))
    return sequences.describe_step(int(holes.argmax())) if holes.any() else None


def as_statistics(given: Any, model: MarkovChain) -> MarkovChainStatistics:
    if not isinstance(given, MarkovChainStatistics):
        raise InvalidData(f"estimate takes jt.statistics(chain, sequences); got {type(given).__name__}")
    if given.order != model.order:
        raise InvalidData(f"the statistics are of chains of order {given.order}; the chain has order {model.order}")
    return given
