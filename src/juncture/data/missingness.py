"""`missingness`: where a table has holes: by variable, and which holes come together."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.values import Value

SHOWN = 8


class Missingness(Value):
    """How much of each variable is missing, and the patterns of holes with the weight of the rows that have them.

    >>> missingness({"a": [1, None, None], "b": [0, 1, None]})
    Missingness(3 rows, 1 complete, 3 patterns: a 67 %, b 33 %)
    """

    _fields = ("weight", "shares", "patterns")
    weight: float  # of all rows
    shares: dict[str, float]  # variable → the share of its weight that is missing
    patterns: dict[tuple[str, ...], float]  # the variables that are missing together → weight, the most frequent first

    def __init__(self, weight: float, shares: dict[str, float], patterns: dict[tuple[str, ...], float]) -> None:
        self._set(weight=weight, shares=dict(shares), patterns=dict(patterns))

    @property
    def never_observed(self) -> tuple[str, ...]:
        return tuple(name for name, share in self.shares.items() if share == 1.0)

    def __repr__(self) -> str:
        holes = sorted(((share, name) for name, share in self.shares.items() if share), reverse=True)
        told = ", ".join(f"{name} {share:.0%}".replace("%", " %") for share, name in holes[:SHOWN])
        more = ", …" if len(holes) > SHOWN else ""
        complete = self.patterns.get((), 0.0)
        body = f": {told}{more}" if told else ""
        return f"Missingness({self.weight:g} rows, {complete:g} complete, {len(self.patterns)} patterns{body})"


def missingness(data: Any) -> Missingness:
    """The holes of a table: the share of each variable, and how often which are missing together."""
    dataset = data if isinstance(data, Dataset) else Dataset(data)
    weights = np.ones(len(dataset)) if dataset.weights is None else dataset.weights
    total = float(weights.sum())
    holes = {name: is_missing(column) for name, column in dataset.columns.items()}
    shares = {name: float(weights @ mask) / total if total else 0.0 for name, mask in holes.items()}
    names = list(holes)
    masks = np.stack(list(holes.values()), axis=1) if names else np.zeros((len(dataset), 0), bool)
    kinds, place = np.unique(masks, axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), weights, minlength=len(kinds))
    order = np.argsort(-counts, kind="stable")
    patterns = {tuple(np.array(names)[kinds[kind]].tolist()) if names else (): float(counts[kind]) for kind in order}
    return Missingness(total, shares, patterns)


def is_missing(column: np.ndarray) -> np.ndarray:
    holes = np.isnan(column) if column.dtype.kind == "f" else column < 0
    return holes if holes.ndim == 1 else np.asarray(holes.any(axis=1))
