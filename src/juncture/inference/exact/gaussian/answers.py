"""`GaussianAnswers`: means, covariances, densities and draws from the eliminations of all patterns of evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.inference.engines.contract import EXACT, Answers, Diagnostics, Request
from juncture.inference.engines.posterior_gaussians import as_gaussian, as_joint_gaussian
from juncture.inference.exact.gaussian.plan import Solution, SymbolicElimination
from juncture.numerics.stable import LOG_TWO_PI
from juncture.runtime.memory import check_memory
from juncture.runtime.parallel import blocks_of

BLOCK = 2**10  # rows that one child generator draws


@dataclass(frozen=True, eq=False)
class Group:
    """The rows in which the same variables are observed: the values, and what the elimination gives for them."""

    rows: np.ndarray  # (case,)
    values: np.ndarray  # (observed variable, case)
    solution: Solution  # of the last block of cases
    means: np.ndarray  # (step, case), or (target, case) of many rows; in the units inside
    steps: np.ndarray  # the steps that `means` has
    log_evidence: np.ndarray  # (case,)


@dataclass(frozen=True, eq=False)
class GaussianAnswers(Answers):
    """The answers for all rows of evidence."""

    names: tuple[str, ...]
    numbers: Mapping[str, int]  # of the variables
    centers: np.ndarray  # (variable,): prior means
    scales: np.ndarray  # (variable,): the units inside
    findings: Findings
    groups: tuple[Group, ...]
    diagnostics: ClassVar[Diagnostics] = EXACT

    @cached_property
    def log_evidence(self) -> np.ndarray:
        values = np.empty(self.findings.num_rows)
        for group in self.groups:
            values[group.rows] = group.log_evidence
        return values

    @cached_property
    def _marginals(self) -> dict[str, Any]:
        """The marginals of a single row that were asked for."""
        return {}

    def means(self, names: Sequence[str]) -> np.ndarray:
        """(row, name); NaN where a row is impossible."""
        nodes = np.array([self.numbers[name] for name in names], np.int64)
        means = np.empty((self.findings.num_rows, len(nodes)))
        for group in self.groups:
            positions = group.solution.plan.positions[nodes]
            is_free = positions >= 0
            found = np.empty((len(nodes), len(group.rows)))
            found[~is_free] = group.values[-1 - positions[~is_free]]
            places = np.searchsorted(group.steps, positions[is_free])
            units = self.scales[nodes[is_free], None]
            found[is_free] = self.centers[nodes[is_free], None] + units * group.means[places]
            found[:, np.isneginf(group.log_evidence)] = np.nan
            means[group.rows] = found.T
        return means

    def variances(self, name: str) -> np.ndarray:
        """(row,)."""
        node, variances = self.numbers[name], np.zeros(self.findings.num_rows)
        for group in self.groups:
            step = group.solution.plan.positions[node]
            if step >= 0:
                variances[group.rows] = group.solution.variances[step] * self.scales[node] ** 2
            variances[group.rows[np.isneginf(group.log_evidence)]] = np.nan
        return variances

    def group_covariance(self, group: Group, nodes: np.ndarray) -> np.ndarray:
        """(variable, variable), the same in all rows of a group."""
        positions = group.solution.plan.positions[nodes]
        is_free = positions >= 0
        covariance = np.zeros((len(nodes), len(nodes)))
        inner = group.solution.covariances(positions[is_free])
        units = self.scales[nodes[is_free]]
        covariance[np.ix_(is_free, is_free)] = inner * units[:, None] * units
        return covariance

    def covariances(self, names: Sequence[str]) -> np.ndarray:
        """(row, name, name)."""
        size, num_rows = len(names), self.findings.num_rows
        check_memory(
            8 * size * (size * num_rows + len(self.names)),
            f"the covariances of {size} variables",
            "ask for fewer variables",
        )
        nodes = np.array([self.numbers[name] for name in names], np.int64)
        covariances = np.empty((num_rows, size, size))
        for group in self.groups:
            covariances[group.rows] = self.group_covariance(group, nodes)
            covariances[group.rows[np.isneginf(group.log_evidence)]] = np.nan
        return covariances

    def distribution(self, names: tuple[str, ...], is_single: bool) -> Any:
        """p(names | evidence): of one name a `Gaussian`, of several a `MultivariateGaussian`, or a batch of them."""
        if is_single and len(names) == 1:
            (name,) = names
            if name not in self._marginals:
                self._marginals[name] = as_gaussian(*self.moments(name))
            return self._marginals[name]
        means, rows = self.means(names), 0 if is_single else slice(None)
        if len(names) == 1:
            return as_gaussian(means[rows, 0], self.variances(names[0])[rows])
        return as_joint_gaussian(means[rows], self.covariances(names)[rows])

    def moments(self, name: str) -> tuple[float, float]:
        """The mean and the variance of a variable in a single row."""
        (group,), node = self.groups, self.numbers[name]
        step = int(group.solution.plan.positions[node])
        if group.log_evidence[0] == -np.inf:
            return np.nan, np.nan
        if step < 0:
            return float(group.values[-1 - step, 0]), 0.0
        unit, mean = float(self.scales[node]), float(group.means[group.steps.searchsorted(step), 0])
        return float(self.centers[node]) + unit * mean, float(group.solution.variances[step]) * unit**2

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        """Only the empty joint is a table: 1 for each row."""
        if names:
            raise Unsupported(f"real variables have no table; ask for the distribution of {', '.join(names)}")
        return np.ones(self.findings.num_rows)

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the targets (row, 1, target), and log p(it, evidence): the density is highest there."""
        if count > 1:
            raise Unsupported("real variables have one most probable assignment, the mean, and no second best; omit k")
        nodes = np.array([self.numbers[name] for name in targets], np.int64)
        log_joint = np.empty(self.findings.num_rows)
        for group in self.groups:
            log_joint[group.rows] = group.log_evidence + self.log_peak(group, nodes)
        return self.means(targets)[:, None], log_joint[:, None]

    def log_peak(self, group: Group, nodes: np.ndarray) -> float:
        """The log-density of some variables at their mean, -½ log |2πΣ|; refused where it is unbounded."""
        plan = group.solution.plan
        free = nodes[plan.positions[nodes] >= 0]
        if len(free) == len(plan.order):
            deviations, order = group.solution.deviations, plan.order
            self.check_bounded(deviations, order)
            return float(-np.log(deviations * self.scales[order]).sum() - 0.5 * len(order) * LOG_TWO_PI)
        covariance = self.group_covariance(group, free) / self.scales[free][:, None] / self.scales[free]
        self.check_bounded(np.diagonal(covariance), free)
        deviations = np.sqrt(np.diagonal(covariance))
        log_determinant, kept = 0.0, covariance / deviations[:, None] / deviations
        for index, node in enumerate(free):
            self.check_bounded(np.where(kept[index, index] > SINGULAR, 1.0, [0.0]), [node])
            log_determinant += float(np.log(kept[index, index]))
            kept = kept - np.outer(kept[:, index], kept[index]) / kept[index, index]
        log_scale = np.log(deviations * self.scales[free]).sum()
        return float(-0.5 * log_determinant - log_scale - 0.5 * len(free) * LOG_TWO_PI)

    def check_bounded(self, variances: np.ndarray, nodes: Any) -> None:
        """Raise `Unsupported` where a variable is known, given the others: the joint density has no maximum."""
        zero = np.flatnonzero(variances == 0)
        if zero.size:
            raise Unsupported(
                f"the joint density has no maximum: {self.names[nodes[zero[0]]]!r} is determined by other variables or"
                " by the evidence; infer gives the means, and targets= a joint without it"
            )

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        (group,) = self.groups
        plan, drawn = group.solution.plan, np.empty((len(self.names), num_rows))
        drawn[plan.observed] = group.values
        blocks = blocks_of(num_rows, max(1, BLOCK))
        for block, child in zip(blocks, rng.spawn(len(blocks)), strict=True):
            normals = child.standard_normal((len(plan.order), block.stop - block.start))
            values = group.solution.draw(normals) * self.scales[plan.order, None]
            drawn[plan.order, block] = values + self.centers[plan.order, None]
        return dict(zip(self.names, drawn, strict=True))

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        """The weight, mean and scatter of (parents, child) of each conditional."""
        families = [np.array([self.numbers[name] for name in family_of(each)], np.int64) for each in requests]
        pairs = FamilyPairs.of(families)
        means = self.means(self.names).T  # (variable, row)
        counted = np.where(np.isneginf(self.log_evidence), 0.0, weights)
        means[:, counted == 0] = 0.0
        total = counted.sum()
        center = means @ counted / total if total > 0 else np.zeros(len(means))
        scatter = pairs.products(means - center[:, None], counted)
        for group in self.groups:
            scatter += counted[group.rows].sum() * pairs.covariances(group.solution, self.scales)
        return [
            [np.array(total), center[family], table]
            for family, table in zip(families, pairs.split(scatter), strict=True)
        ]


SINGULAR = 1e-14  # of a variance given other variables, beside the variance alone: as small as rounding errors


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


def spread_places(plan: SymbolicElimination, first: np.ndarray, second: np.ndarray) -> np.ndarray:
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
