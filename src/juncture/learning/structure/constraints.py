"""Constraints on a learned graph: required and forbidden edges, tiers, and the largest number of parents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from numbers import Real
from typing import Any

import numpy as np

from juncture.base.checks import check_count, check_iterable, check_kind
from juncture.errors import InvalidData, InvalidModel, UnknownVariable
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.graph import Edge, as_edges
from juncture.learning.structure.sets import Positions, set_of


@dataclass(frozen=True, eq=False)
class EdgeConstraints:
    """Constraints on the edges between variables, as matrices (parent, child)."""

    names: tuple[str, ...]
    allowed: np.ndarray
    required: np.ndarray
    max_parents: int

    @property
    def is_free(self) -> bool:
        """Whether every acyclic graph satisfies the constraints."""
        size = len(self.names)
        return self.max_parents >= size - 1 and not self.required.any() and self.allowed.sum() == size * (size - 1)

    @cached_property
    def candidates(self) -> list[Positions]:
        """The possible parents of each variable."""
        return [set_of(np.flatnonzero(column).tolist()) for column in self.allowed.T]

    @cached_property
    def needed(self) -> list[Positions]:
        """The required parents of each variable."""
        return [set_of(np.flatnonzero(column).tolist()) for column in self.required.T]

    def within(self, pairs: np.ndarray) -> EdgeConstraints:
        """The same, with edges only between these pairs (a symmetric matrix) and where they are required."""
        return EdgeConstraints(self.names, self.allowed & (pairs | self.required), self.required, self.max_parents)


@dataclass(frozen=True, kw_only=True)
class Constrained:
    """Options of every search: required edges, forbidden edges, tiers, and the largest number of parents.

    `tiers` is a list of lists of names: no edge leads from a later tier to an earlier one. A variable in none of
    them is free.
    """

    required: Iterable[Edge] = ()
    forbidden: Iterable[Edge] = ()
    tiers: Iterable[Iterable[str]] = ()
    max_parents: int | None = None

    def __post_init__(self) -> None:
        for field in ("required", "forbidden"):
            object.__setattr__(self, field, as_edges(getattr(self, field), "->"))
        tiers = check_iterable(self.tiers, "tiers")
        object.__setattr__(self, "tiers", tuple(as_tier(tier) for tier in tiers))
        if self.max_parents is not None:
            check_whole(self.max_parents, "max_parents")

    def bounds(self, names: Sequence[str], impossible: np.ndarray | None = None) -> EdgeConstraints:
        """The constraints over these variables, checked to leave at least one graph without impossible edges."""
        indices = {name: index for index, name in enumerate(names)}
        required, forbidden = edge_matrix(self.required, indices), edge_matrix(self.forbidden, indices)
        allowed = ~(forbidden | against_tiers(self.tiers, indices) | np.eye(len(names), dtype=np.bool_))
        if impossible is not None:
            check_possible(names, required, impossible)
            allowed &= ~impossible
        most = len(names) if self.max_parents is None else int(self.max_parents)
        check_consistent(names, allowed, required, most)
        return EdgeConstraints(tuple(names), allowed, required, most)


def check_whole(value: Any, what: str, least: int = 0) -> None:
    check_count(None if isinstance(value, bool) else value, what, least=least)


def check_positive(value: Any, what: str) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < inf:
        raise InvalidData(f"{what} must be a finite number of more than 0; got {value!r}")


def check_level(level: Any) -> None:
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise InvalidData(f"the level of a test lies between 0 and 1; got {level!r}")


def as_tier(tier: Any) -> tuple[str, ...]:
    if isinstance(tier, str):
        raise InvalidData(f"tiers is a list of lists of names; write [{tier!r}] for a tier of one")
    return tuple(check_kind(name, str, "a name in the tiers") for name in check_iterable(tier, "a tier"))


def edge_matrix(edges: Iterable[Edge], indices: dict[str, int]) -> np.ndarray:
    matrix = np.zeros((len(indices), len(indices)), dtype=np.bool_)
    for edge in edges:
        matrix[tuple(index_of(name, indices) for name in edge)] = True
    return matrix


def against_tiers(tiers: Iterable[Iterable[str]], indices: dict[str, int]) -> np.ndarray:
    """The edges from a later tier to an earlier one."""
    rank = np.full(len(indices), -1)
    for number, tier in enumerate(tiers):
        for name in tier:
            index = index_of(name, indices)
            if rank[index] >= 0:
                raise InvalidData(f"{name!r} stands twice in the tiers; give each variable one tier")
            rank[index] = number
    return (rank[:, np.newaxis] > rank) & (rank >= 0)


def index_of(name: str, indices: dict[str, int]) -> int:
    if not isinstance(name, str) or name not in indices:
        raise UnknownVariable.among(name, indices, where="the data")
    return indices[name]


def check_possible(names: Sequence[str], required: np.ndarray, impossible: np.ndarray) -> None:
    for parent, child in np.argwhere(required & impossible).tolist():
        raise InvalidData(
            f"the edge {names[parent]!r} -> {names[child]!r} is required, but {names[parent]!r} is a number and"
            f" {names[child]!r} has states: among learned edges none leads from numbers to states; turn it round, or"
            f" put {names[parent]!r} into bins with jt.Discretizer"
        )


def check_consistent(names: Sequence[str], allowed: np.ndarray, required: np.ndarray, most: int) -> None:
    for parent, child in np.argwhere(required & ~allowed).tolist():
        raise InvalidData(
            f"the edge {names[parent]!r} -> {names[child]!r} is required, but forbidden too (by name or by the tiers)"
        )
    for child in np.flatnonzero(required.sum(axis=0) > most).tolist():
        raise InvalidData(f"{names[child]!r} has more required parents than max_parents={most}")
    try:
        DirectedGraph((names[parent], names[child]) for parent, child in np.argwhere(required).tolist())
    except InvalidModel as error:
        raise InvalidData(f"the required edges form a cycle: {error}") from None
