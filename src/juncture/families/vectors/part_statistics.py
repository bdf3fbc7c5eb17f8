"""`PartStatistics`: the statistics of several columns, one entry each; they add part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.family import Family
from juncture.families.statistics.statistics import Statistics


class PartStatistics(Statistics):
    """A tuple of statistics of the same rows, one per column of a row."""

    _fields: ClassVar[Any] = ("family", "parts")
    parts: tuple[Statistics, ...]

    def __init__(self, family: type[Family], *, parts: Iterable[Statistics]) -> None:
        held = tuple(parts)
        if not held or len({part.batch_shape for part in held}) > 1:
            raise InvalidData("statistics of columns are of one batch, and of at least one column")
        self._set(family=family, parts=held, known={}, weight=held[0].weight)

    @property
    def log_base(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(sum(part.log_base for part in self.parts))

    @property
    def total(self) -> np.ndarray:  # type: ignore[override]
        """The parts' totals, one after another."""
        return np.concatenate([part.total for part in self.parts], axis=-1)

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Statistics]:
        return iter(self.parts)

    def __getitem__(self, index: int) -> Statistics:
        return self.parts[index]

    def _merge(self, other: Any) -> Self:
        if len(self) != len(other):
            raise InvalidData(f"statistics of {len(self)} and of {len(other)} columns do not add")
        return self._with(parts=tuple(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def _scale(self, factor: np.ndarray) -> Self:
        return self._with(parts=tuple(part.scaled(factor) for part in self))

    def to_dict(self) -> dict[str, Any]:
        parts = [part.to_dict() for part in self]
        return {"kind": type(self).__name__, "family": self.family.__name__, "parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["family"], parts=state["parts"])  # type: ignore[misc]
