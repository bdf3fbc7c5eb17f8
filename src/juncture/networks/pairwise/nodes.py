"""The variables of a model with very many nodes: names and variables that are made when they are asked for.

A tuple of a million names, and of a million variables, would take a second and half a gigabyte. `GridNames` and
`NodeScope` are tuples to all who ask, and hold nothing until somebody takes them one by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cached_property
from itertools import product
from typing import Any, SupportsIndex

from juncture.base.values import few
from juncture.errors import UnknownVariable
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
