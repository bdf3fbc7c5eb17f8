"""`NetworkStatistics`: what a network's conditionals need to know of the data, one part per family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juncture.errors import InvalidData, UnknownVariable
from juncture.values import Value


class NetworkStatistics(Value):
    """The statistics of every family, by the name of its child; `a + b` are those of both data sets."""

    _fields = ("parts", "weight")
    parts: dict[str, Any]
    weight: float  # of all rows

    def __init__(self, parts: Mapping[str, Any], weight: float) -> None:
        self._set(parts=dict(parts), weight=float(weight))

    def __getitem__(self, child: str) -> Any:
        if child not in self.parts:
            raise UnknownVariable.among(child, self.parts, where="the statistics")
        return self.parts[child]

    def __add__(self, other: object) -> NetworkStatistics:
        if not isinstance(other, NetworkStatistics):
            return NotImplemented
        if self.parts.keys() != other.parts.keys():
            only = sorted(self.parts.keys() ^ other.parts.keys())
            raise InvalidData(f"statistics add when they are of the same families; only one side has {only[0]!r}")
        parts = {name: part + other.parts[name] for name, part in self.parts.items()}
        return NetworkStatistics(parts, self.weight + other.weight)

    def __radd__(self, other: object) -> NetworkStatistics:
        return self if other == 0 else NotImplemented  # sum([...]) starts from 0

    def scaled(self, factor: float) -> NetworkStatistics:
        """The statistics of the same rows with every weight multiplied by `factor`."""
        return NetworkStatistics({name: part.scaled(factor) for name, part in self.parts.items()}, self.weight * factor)

    def __repr__(self) -> str:
        return f"NetworkStatistics({len(self.parts)} families, weight {self.weight:g})"
