"""The parameters of a family as one vector of free numbers, for optimisers that know no constraints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import Unsupported
from juncture.families.constraints import (
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    REAL,
    SIMPLEX,
    Constraint,
)
from juncture.families.family import Family
from juncture.numerics import stable

FURTHEST = 30.0  # a parameter on the edge of its range starts this far out

Map = Callable[[np.ndarray], np.ndarray]


def same(values: np.ndarray) -> np.ndarray:
    return values


def log_odds(values: np.ndarray) -> np.ndarray:
    return np.asarray(stable.log(values) - stable.log1p(-values))


TO_FREE: dict[Constraint, Map] = {
    REAL: same, POSITIVE: stable.log, NON_NEGATIVE: stable.log,
    PROBABILITY: log_odds, POSITIVE_PROBABILITY: log_odds, SIMPLEX: stable.log,
}  # fmt: skip
FROM_FREE: dict[Constraint, Map] = {
    REAL: same, POSITIVE: np.exp, NON_NEGATIVE: np.exp,
    PROBABILITY: stable.sigmoid, POSITIVE_PROBABILITY: stable.sigmoid, SIMPLEX: stable.softmax,
}  # fmt: skip


@dataclass(frozen=True)
class Coordinates:
    """The free coordinates of members of one family, those of its parameters left out that are known."""

    family: type[Family]
    known: dict[str, Any]
    sizes: dict[str, tuple[int, ...]]  # parameter → the shape of its value

    @classmethod
    def around(cls, member: Family, known: dict[str, Any]) -> Coordinates:
        """The coordinates in which members like this one vary."""
        fixed = {name: getattr(member, name) for name in {**member.required, **known} if name in member.parameters}
        sizes = {name: np.shape(getattr(member, name)) for name in member.parameters if name not in fixed}
        for name in sizes:
            if member.parameters[name] not in TO_FREE:
                raise Unsupported(f"the {name} of {type(member).__name__} has no free coordinates for a search")
        return cls(type(member), fixed, sizes)

    def free(self, member: Family) -> np.ndarray:
        rules = self.family.parameters
        parts = [np.ravel(TO_FREE[rules[name]](np.asarray(getattr(member, name), float))) for name in self.sizes]
        values = np.concatenate(parts) if parts else np.zeros(0)
        return np.where(np.isinf(values), np.sign(values) * FURTHEST, values)

    def member(self, free: np.ndarray) -> Family:
        parts, start = {}, 0
        for name, shape in self.sizes.items():
            stop = start + int(np.prod(shape, dtype=int))
            parts[name] = FROM_FREE[self.family.parameters[name]](free[start:stop].reshape(shape))
            start = stop
        return self.family(**parts, **self.known)
