"""Nodes and edges of a model with very many nodes: lazy names and variables, grids, and checks of arrays.

A tuple of a million names, and of a million variables, would take a second and half a gigabyte. `GridNames` and
`NodeScope` are tuples to all who ask, and hold nothing until somebody takes them one by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import Any, SupportsIndex

import numpy as np

from juncture.base.checks import check_array, check_count, check_iterable
from juncture.base.values import few, read_only
from juncture.errors import InvalidModel, UnknownVariable
from juncture.graphs.graph import as_nodes
from juncture.numerics.stable import as_logs
from juncture.variables import Scope, State, Variable

GRID_NAME = re.compile(r"x(0|[1-9]\d*)((?:_(?:0|[1-9]\d*))*)")
SHOWN = 6  # names in a message


class GridNames(tuple[str, ...]):  # noqa: SLOT001 (the names are kept once they were asked for)
    """The names "x0_0", "x0_1", … of the nodes of a grid, the last index running fastest.

    >>> names = GridNames((2, 3))
    >>> names[4], len(names), "x1_2" in names, "x2_0" in names
    ('x1_1', 6, True, False)
    """

    shape: tuple[int, ...]

    def __new__(cls, shape: tuple[int, ...]) -> GridNames:
        names = super().__new__(cls)
        names.shape = tuple(shape)
        return names

    @cached_property
    def _all(self) -> tuple[str, ...]:
        return tuple("x" + "_".join(map(str, index)) for index in product(*map(range, self.shape)))

    def find(self, name: object) -> int | None:
        """The position of a name; None for what is no name of the grid."""
        match = GRID_NAME.fullmatch(name) if isinstance(name, str) else None
        if match is None:
            return None
        index = [int(part) for part in (name[1:]).split("_")]  # type: ignore[index]
        if len(index) != len(self.shape) or any(at >= size for at, size in zip(index, self.shape, strict=True)):
            return None
        position = 0
        for at, size in zip(index, self.shape, strict=True):
            position = position * size + at
        return position

    def __len__(self) -> int:
        return math.prod(self.shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __contains__(self, name: object) -> bool:
        return self.find(name) is not None

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            return tuple(map(self.__getitem__, range(len(self))[index]))
        position, parts = range(len(self))[index], []
        for size in reversed(self.shape):
            position, at = divmod(position, size)
            parts.append(str(at))
        return "x" + "_".join(reversed(parts))

    def index(self, name: Any, *ends: SupportsIndex) -> int:
        found = self.find(name)
        if found is None or found not in range(*slice(*ends or (None,)).indices(len(self))):
            raise ValueError(f"{name!r} is no name of the grid")
        return found

    def __eq__(self, other: object) -> bool:
        return self.shape == other.shape if isinstance(other, GridNames) else self._all == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._all)

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return self._all + tuple(other)

    def __repr__(self) -> str:
        return f"({few(map(repr, self), most=SHOWN)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return GridNames, (self.shape,)


class NodeScope(Scope):
    """One variable for each of some names, all with the same states."""

    states: tuple[State, ...]

    def __new__(cls, names: tuple[str, ...], states: tuple[State, ...]) -> NodeScope:
        scope: NodeScope = tuple.__new__(cls)
        scope.__dict__.update(names=names, states=states)
        return scope

    @cached_property
    def _all(self) -> tuple[Variable, ...]:
        return tuple(Variable(name, self.states) for name in self.names)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return (len(self.states),) * len(self.names)

    @cached_property
    def has_real(self) -> bool:
        return False

    def axis(self, name: str) -> int:
        if not isinstance(self.names, GridNames):
            return super().axis(name)
        found = self.names.find(name)
        if found is None:
            raise UnknownVariable.among(name, self.names[:SHOWN], where="the model")
        return found

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self._all)

    def __contains__(self, variable: object) -> bool:
        return isinstance(variable, Variable) and variable.states == self.states and variable.name in self.names

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            return tuple(Variable(name, self.states) for name in self.names[index])
        return Variable(self.names[index], self.states)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NodeScope):
            return self is other or (self.states == other.states and self.names == other.names)
        return self._all == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._all)

    def __add__(self, other: Any) -> tuple[Any, ...]:
        return self._all + tuple(other)

    def __repr__(self) -> str:
        return f"({few(map(repr, self), most=SHOWN)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return NodeScope, (self.names, self.states)


def grid_edges(shape: tuple[int, ...]) -> np.ndarray:
    """(edge, 2): each node of a grid and the next one along each axis, the last axis first.

    >>> grid_edges((2, 2)).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    nodes = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    parts = [np.empty((0, 2), dtype=np.int64)]
    for axis in reversed(range(len(shape))):
        moved = np.moveaxis(nodes, axis, 0)
        before, after = np.moveaxis(moved[:-1], 0, axis), np.moveaxis(moved[1:], 0, axis)
        parts.append(np.stack([before.ravel(), after.ravel()], axis=1))
    return np.concatenate(parts)


def check_shape(shape: Any, least: int = 1) -> tuple[int, ...]:
    """The sizes of a grid along its axes."""
    sizes = check_iterable(shape, "the shape of a grid", error=InvalidModel)
    return tuple(check_count(size, "the size of a grid", least=least, error=InvalidModel) for size in sizes)


def check_names(names: Iterable[str] | None, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names for all nodes; those of a grid are made when they are asked for."""
    if names is None:
        return GridNames(shape)
    listed = as_nodes(names)
    if len(listed) != int(np.prod(shape)):
        raise InvalidModel(f"there are {int(np.prod(shape))} nodes and {len(listed)} names; give each node a name")
    return listed


def check_edges(edges: Any, num_nodes: int) -> np.ndarray:
    """(edge, 2): pairs of different nodes, each pair once."""
    try:
        pairs = np.asarray(edges if isinstance(edges, np.ndarray) else check_iterable(edges, "edges"))
    except ValueError:  # a ragged list
        pairs = np.empty(0)
    pairs = pairs.reshape(0, 2) if pairs.size == 0 else pairs
    if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs.dtype.kind not in "iu" and pairs.size):
        raise InvalidModel(f"edges are pairs of positions of nodes, (edge, 2); got the shape {pairs.shape}")
    if pairs.size and not 0 <= pairs.min() <= pairs.max() < num_nodes:
        raise InvalidModel(f"edges join nodes 0 … {num_nodes - 1}; got {pairs.min()} and {pairs.max()}")
    if (pairs[:, 0] == pairs[:, 1]).any():
        raise InvalidModel(f"an edge joins two nodes; one joins {pairs[pairs[:, 0] == pairs[:, 1]][0, 0]} to itself")
    sorted_pairs = np.sort(pairs.astype(np.int64), axis=1)
    if len(np.unique(sorted_pairs[:, 0] * num_nodes + sorted_pairs[:, 1])) < len(pairs):
        raise InvalidModel("two edges join the same nodes; add their log-potentials")
    return read_only(pairs, np.int64)


def check_pairwise(log_pairwise: Any, num_edges: int, num_states: int) -> np.ndarray:
    """(1 or edge, state, state)."""
    given = check_array(log_pairwise, "log_pairwise", error=InvalidModel)
    size = (num_states, num_states)
    if given.shape == size:
        given = given[np.newaxis]
    if given.shape not in {(1, *size), (num_edges, *size)}:
        raise InvalidModel(
            f"log_pairwise must have the shape {size}, for all edges, or {(num_edges, *size)}; got {given.shape}"
        )
    return as_logs(given, given.shape, name="log_pairwise")
