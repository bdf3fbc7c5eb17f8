"""Expected moments of the families of a Gaussian network: the E-step of learning from rows with holes.

In each row a variable has a mean given what is observed; the covariances of a family are the same in all rows in which
the same variables are observed. The scatter of a family is that of the means, and the sum of these covariances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juncture.errors import Unsupported
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.inference.engines.contract import Request
from juncture.inference.exact.gaussian.plan import EliminationPlan
from juncture.inference.exact.gaussian.solution import Solution

PRODUCTS_AT_ONCE = 2**18  # of pairs of variables times rows


@dataclass(frozen=True, eq=False)
class FamilyPairs:
    """All pairs of variables of each family, one family after the other: (pair,)."""

    first: np.ndarray
    second: np.ndarray
    sizes: tuple[int, ...]  # of the families

    @classmethod
    def of(cls, families: Sequence[np.ndarray]) -> FamilyPairs:
        """From the variables of each family, by their numbers."""
        none = np.empty(0, np.int64)
        return cls(
            np.concatenate([none, *(np.repeat(family, len(family)) for family in families)]),
            np.concatenate([none, *(np.tile(family, len(family)) for family in families)]),
            tuple(map(len, families)),
        )

    def covariances(self, solution: Solution, scales: np.ndarray) -> np.ndarray:
        """(pair,): given what is observed; 0 of an observed variable."""
        places = spread_places(solution.plan, self.first, self.second)
        found = np.where(places >= 0, solution.spread[places], 0.0) if len(solution.spread) else np.zeros(len(places))
        return np.asarray(found * scales[self.first] * scales[self.second])

    def products(self, values: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(pair,): the weighted sums of the products of (variable, row) values."""
        total = np.zeros(len(self.first))
        step = max(1, PRODUCTS_AT_ONCE // max(1, len(self.first)))
        for start in range(0, values.shape[1], step):
            some = values[:, start : start + step]
            weighed = some * weights[start : start + step]
            total += np.einsum("pr,pr->p", some[self.first], weighed[self.second])
        return total

    def split(self, numbers: np.ndarray) -> list[np.ndarray]:
        """The numbers of each family as (variable, variable)."""
        ends = np.cumsum([size**2 for size in self.sizes])[:-1]
        parts = np.split(numbers, ends) if self.sizes else []
        return [part.reshape(size, size) for part, size in zip(parts, self.sizes, strict=True)]


def spread_places(plan: EliminationPlan, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(pair,): where `Solution.spread` has the covariance of two variables of a family; -1 if one is observed.

    Variables of a family that are free are next to each other when the earlier one goes.
    """
    steps, num_steps = plan.positions[first], len(plan.order)
    others = plan.positions[second]
    early, late = np.minimum(steps, others), np.maximum(steps, others)
    keys = np.repeat(np.arange(num_steps), np.diff(plan.starts)) * num_steps + plan.separators
    places = num_steps + np.searchsorted(keys, early * num_steps + late)
    return np.where(early < 0, -1, np.where(early == late, early, places))


def family_of(request: Request) -> tuple[str, ...]:
    """The real parents of a conditional and its child, the order of its moments."""
    if not isinstance(request, LinearGaussian | Constant):
        raise Unsupported(f"expected moments are those of LinearGaussian conditionals; {request!r} is none")
    return (*request.parents.names, request.child.name)
