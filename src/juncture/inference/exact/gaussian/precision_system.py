"""Gaussian Markov networks: the precision matrix and the loadings, summed over all factors, and their elimination."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from juncture.errors import InvalidModel
from juncture.inference.exact.gaussian.plan import Solution, SymbolicElimination, find_plan
from juncture.kernels.gaussian.minimum_degree import place_entries
from juncture.kernels.gaussian.precision import eliminate_precision

if TYPE_CHECKING:
    from juncture.networks.factor_product import FactorProduct


@dataclass(frozen=True, eq=False)
class PrecisionSystem:
    """exp(log_scale + ηᵀx - ½ xᵀΛx): the pairs of variables that some factor joins, with their entries of Λ."""

    names: tuple[str, ...]
    starts: np.ndarray  # (pair + 1,): a pair has one variable, or two
    nodes: np.ndarray
    first: np.ndarray  # (pair,): a variable
    second: np.ndarray  # (pair,): the same, or a later one
    entries: np.ndarray  # (pair,)
    loading: np.ndarray  # (variable,)
    log_scale: float

    @classmethod
    def of(cls, model: FactorProduct) -> PrecisionSystem:
        names = model.variables.names
        number = {name: node for node, name in enumerate(names)}
        loading = np.zeros(len(names))
        keys, values = [np.arange(len(names)) * (len(names) + 1)], [np.zeros(len(names))]
        for size in {len(part.scope) for part in model.factors} - {0}:
            parts = [part for part in model.factors if len(part.scope) == size]
            nodes = np.array([[number[name] for name in part.scope.names] for part in parts])
            np.add.at(loading, nodes, np.array([part.loading for part in parts]))
            precisions = np.array([part.precision for part in parts])
            factor, row, column = np.nonzero(nodes[:, :, None] <= nodes[:, None, :])
            keys.append(nodes[factor, row] * len(names) + nodes[factor, column])
            values.append(precisions[factor, row, column])
        log_scale = float(sum(part.log_scale for part in model.factors))
        return cls.from_entries(names, np.concatenate(keys), np.concatenate(values), loading, log_scale)

    @classmethod
    def from_entries(
        cls, names: tuple[str, ...], keys: np.ndarray, values: np.ndarray, loading: np.ndarray, log_scale: float
    ) -> PrecisionSystem:
        """From entries of Λ, those of a pair to be summed; a pair has the key first · number of variables + second."""
        pairs, inverse = np.unique(keys, return_inverse=True)
        first, second = pairs // max(len(names), 1), pairs % max(len(names), 1)
        is_two = first != second
        starts = np.concatenate([[0], np.cumsum(1 + is_two)])
        nodes = np.empty(starts[-1], np.int64)
        nodes[starts[:-1]], nodes[starts[1:] - 1] = first, second
        entries = np.bincount(inverse.reshape(-1), values, len(pairs))
        return cls(names, starts, nodes, first, second, entries, loading, log_scale)

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {name: node for node, name in enumerate(self.names)}

    @cached_property
    def means(self) -> np.ndarray:
        """Values inside are those outside: nothing is subtracted."""
        return np.zeros(len(self.names))

    @cached_property
    def scales(self) -> np.ndarray:
        return np.ones(len(self.names))

    def find_needed(self, names: np.ndarray) -> np.ndarray:
        """All variables: in an undirected model none drops out."""
        return np.ones(len(self.names), np.bool_)


@dataclass(frozen=True, eq=False)
class PrecisionPlan:
    """Where each entry of the precision matrix is used, for one set of observed variables."""

    plan: SymbolicElimination
    pairs: np.ndarray  # of free variables, in the order of their steps
    pair_starts: np.ndarray  # (step + 1,)
    places: np.ndarray  # (pair,): the place of the later variable in the front of the earlier

    @classmethod
    def of(cls, system: PrecisionSystem, kept: np.ndarray, observed: np.ndarray) -> PrecisionPlan:
        plan = find_plan(system.starts, system.nodes, kept, observed)
        steps, places = place_entries(system.starts, system.nodes, plan.positions, plan.starts, plan.separators)
        is_free = ~(observed[system.first] | observed[system.second])
        free = np.flatnonzero(is_free)
        pairs = free[np.argsort(steps[free], kind="stable")]
        pair_starts = np.searchsorted(steps[pairs], np.arange(len(plan.order) + 1))
        ends = np.maximum(places[system.starts[pairs]], places[system.starts[pairs + 1] - 1])
        return cls(plan, pairs, pair_starts, ends)

    def run(self, system: PrecisionSystem, values: np.ndarray, tolerance: float) -> Solution:
        """Eliminate all free variables, given values (observed variable, case)."""
        plan, cases = self.plan, values.shape[1]
        full = np.zeros((len(system.names), cases))
        full[plan.observed] = values
        pulled = system.loading[:, None] - apply_precision(system, full)  # η - Λ v
        log_values = system.log_scale + 0.5 * ((system.loading[:, None] + pulled) * full).sum(axis=0)
        gains, shifts = np.empty(len(plan.separators)), np.empty((len(plan.order), cases))
        deviations, loadings = np.empty(len(plan.order)), pulled[plan.order]
        failed = eliminate_precision(
            plan.work, plan.starts, plan.separators, plan.places, plan.parents, self.pair_starts, self.places,
            system.entries[self.pairs], loadings, gains, shifts, deviations, log_values,
        )  # fmt: skip
        if failed >= 0:
            name = system.names[plan.order[failed]]
            raise InvalidModel(
                f"the precision matrix of the model is not positive definite: given the variables that are left,"
                f" {name!r} has no variance; the factors have no finite integral"
            )
        none = np.zeros(cases, np.bool_)
        return Solution(plan, gains, shifts, deviations, log_values, none, np.empty((0, cases)))


def apply_precision(system: PrecisionSystem, values: np.ndarray) -> np.ndarray:
    """Λ v for (variable, case) values."""
    product = np.zeros_like(values)
    if values.any():
        np.add.at(product, system.first, system.entries[:, None] * values[system.second])
        is_two = system.first != system.second
        np.add.at(product, system.second[is_two], system.entries[is_two, None] * values[system.first[is_two]])
    return product
