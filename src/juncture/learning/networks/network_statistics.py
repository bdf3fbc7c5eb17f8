"""`NetworkStatistics`: what a network's conditionals need to know of the data, one part per family."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from juncture.checks import check_kind, check_number
from juncture.errors import FormatError, InvalidData, UnknownVariable
from juncture.files.json_text import parse_strictly
from juncture.learning.conditionals.table_counts import TableCounts
from juncture.learning.networks.document import as_document, read_document
from juncture.values import Value
from juncture.variables import Assignment


class ThinRow(NamedTuple):
    """A row of a table that few rows of the data tell of: the child, its parents' states, and their weight."""

    child: str
    given: Assignment
    weight: float


class NetworkStatistics(Value):
    """The statistics of every family, by the name of its child; `a + b` are those of both data sets."""

    _fields = ("parts", "weight")
    parts: dict[str, Any]
    weight: float  # of all rows

    def __init__(self, parts: Mapping[str, Any], weight: float) -> None:
        self._set(parts=dict(parts), weight=float(weight))

    def __getitem__(self, child: str) -> Any:
        if not isinstance(child, str) or child not in self.parts:
            raise UnknownVariable.among(child, self.parts, where="the statistics")
        return self.parts[child]

    def __add__(self, other: object) -> NetworkStatistics:
        if not isinstance(other, NetworkStatistics):
            return NotImplemented
        if self.parts.keys() != other.parts.keys():
            only = sorted(self.parts.keys() ^ other.parts.keys())
            raise InvalidData(f"statistics add when they are of the same families; only one side has {only[0]!r}")
        for name, part in self.parts.items():
            if type(part) is not type(other.parts[name]):
                kinds = f"{type(part).__name__} and {type(other.parts[name]).__name__}"
                raise InvalidData(f"the statistics of {name!r} are of two kinds, which do not add: {kinds}")
        parts = {name: part + other.parts[name] for name, part in self.parts.items()}
        return NetworkStatistics(parts, self.weight + other.weight)

    def __radd__(self, other: object) -> NetworkStatistics:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def scaled(self, factor: float) -> NetworkStatistics:
        """The statistics of the same rows with every weight multiplied by `factor`."""
        factor = check_number(factor, "the factor that scales statistics", least=0, finite=True)
        return NetworkStatistics({name: part.scaled(factor) for name, part in self.parts.items()}, self.weight * factor)

    def thin(self, threshold: float = 5.0) -> list[ThinRow]:
        """The combinations of parents' states that less than `threshold` rows have, the thinnest first."""
        check_number(threshold, "the threshold")
        tables = {name: part for name, part in self.parts.items() if isinstance(part, TableCounts)}
        rows = [ThinRow(name, given, weight) for name, part in tables.items() for given, weight in part.thin(threshold)]
        return sorted(rows, key=lambda row: row.weight)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, text and numbers, from which `from_dict` makes an equal value."""
        return as_document(self.parts, self.weight)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> NetworkStatistics:
        return cls(*read_document(document))

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> NetworkStatistics:
        """The statistics that `to_json` wrote; a `FormatError` says what is wrong with any other text."""
        check_kind(text, (str, bytes), "the JSON of statistics")
        document = parse_strictly(text, "saved statistics")
        try:
            return cls.from_dict(document)
        except InvalidData as error:
            raise FormatError(str(error)) from error

    def __repr__(self) -> str:
        return f"NetworkStatistics({len(self.parts)} families, weight {self.weight:g})"
