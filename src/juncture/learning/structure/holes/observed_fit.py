"""The fit of a graph to rows with holes, family by family: only families with incomplete columns need EM.

A family of complete columns has plain counts, and its estimate. The other families fall into parts: two belong together
where a row may lack a value in both. Given the complete columns, the missing cells of different parts are independent,
so that each part is learned by itself: from its own columns, in which fewer rows are distinct, with the rows that are
complete there counted once. What was fitted is kept: the next graph shares most parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from math import log
from typing import Any, TypeAlias

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.errors import NotConvergedWarning, warn_user
from juncture.factors.conditional import AnyConditional, Conditional
from juncture.graphs.directed import DirectedGraph
from juncture.inference.engines.verb_options import check_data
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    estimate_conditional,
    log_likelihood_of,
    summarise_expected,
)
from juncture.learning.em.contract import Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.networks.expectation import RowBlock, explain_impossible, merge_equal_rows
from juncture.learning.networks.problem import NetworkProblem
from juncture.learning.networks.statistics import NetworkStatistics, count_parts
from juncture.learning.networks.templates import blank_conditional
from juncture.learning.structure.holes.ways import Ways, has_few_ways
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.variables import Scope

Family: TypeAlias = tuple[str, tuple[str, ...]]
"""A child and its parents, in the order of the columns."""


@dataclass(frozen=True, eq=False)
class FittedGraph:
    """A graph, the fitted network of the families that holes concern, and the BIC of the observed cells."""

    graph: DirectedGraph
    network: BayesianNetwork  # in which each complete parent has a table of its own
    score: float


class ObservedFits:
    """Fits of graphs to the same rows with holes."""

    def __init__(self, data: Dataset, prior: Any) -> None:
        rows, weights = merge_equal_rows(data)
        self.rows = Dataset.from_codes(data.variables, rows.columns, weights)
        self.copies = merge_equal_rows(Dataset.from_codes(data.variables, data.columns))[1].astype(np.int64)
        self.options = EstimationOptions(prior)
        self.names = tuple(variable.name for variable in data.variables)
        self.incomplete = [name for name in self.names if has_hole(self.rows.columns[name]).any()]
        self.weight = float(np.sum(weights))
        self._counted: dict[Family, AnyConditional] = {}
        self._logs: dict[Family, float] = {}
        self._parts: dict[frozenset[Family], tuple[tuple[AnyConditional, ...], float]] = {}

    def fit(self, graph: DirectedGraph, completed: Dataset | None = None) -> FittedGraph:
        """The fit of a graph; parts that are new start from completed rows, if there are any."""
        families = [self._family(graph, name) for name in self.names]
        is_open = [not {child, *parents}.isdisjoint(self.incomplete) for child, parents in families]
        self._count([family for family, own in zip(families, is_open, strict=True) if not own])
        groups = list(self._split([family for family, own in zip(families, is_open, strict=True) if own]))
        for group in groups:
            if group not in self._parts:
                self._parts[group] = self._learn(group, completed)
        total = sum(self._logs[family] for family, own in zip(families, is_open, strict=True) if not own)
        total += sum(self._parts[group][1] for group in groups)
        cost = 0.5 * log(max(self.weight, 1.0)) * sum(self._num_parameters(family) for family in families)
        learned = [part for group in groups for part in self._parts[group][0]]
        return FittedGraph(graph, self._network(learned), float(total - cost))

    def _family(self, graph: DirectedGraph, name: str) -> Family:
        parents = set(graph.parents(name))
        return name, tuple(other for other in self.names if other in parents)

    def _blank(self, family: Family) -> AnyConditional:
        child, parents = family
        return blank_conditional(self.rows.variable(child), Scope(self.rows.variable(name) for name in parents))

    def _num_parameters(self, family: Family) -> int:
        return count_parameters(self._counted.get(family) or self._blank(family))

    def _count(self, families: list[Family]) -> None:
        """Estimate families of complete columns."""
        blank = [self._blank(family) for family in families if family not in self._counted]
        statistics = count_parts(blank, self.rows)
        for part in blank:
            family = part.child.name, tuple(part.parents.names)
            found, notes = estimate_conditional(part, statistics[part.child.name], self.options)
            notes.warn()
            self._counted[family] = found
            self._logs[family] = log_likelihood_of(found, statistics[part.child.name])

    def _split(self, families: list[Family]) -> Iterator[frozenset[Family]]:
        """The families by parts: those that share an incomplete column, directly or through others."""
        left = [({child, *parents}.intersection(self.incomplete), (child, parents)) for child, parents in families]
        while left:
            missing, family = left.pop(0)
            group = {family}
            while joining := [one for one in left if not missing.isdisjoint(one[0])]:
                left = [one for one in left if one not in joining]
                missing = missing.union(*(own for own, _ in joining))
                group.update(family for _, family in joining)
            yield frozenset(group)

    def _learn(self, group: frozenset[Family], completed: Dataset | None) -> tuple[tuple[AnyConditional, ...], float]:
        """The conditionals of the families of a part, and the log-likelihood that they add."""
        children = {child for child, _ in group}
        names = [name for name in self.names if any(name == child or name in parents for child, parents in group)]
        roots = [name for name in names if name not in children]
        parts = [self._blank(family) for family in [*sorted(group), *((name, ()) for name in roots)]]
        starts = completed is not None
        if completed is not None:
            counts = count_parts(parts, completed)
            parts = [estimate_conditional(part, counts[part.child.name], self.options)[0] for part in parts]
        rows = self.rows.only(names)
        problem = PartialProblem(
            BayesianNetwork(parts), rows, self.options, frozenset(), starts, np.random.default_rng(0)
        )
        learner = ExpectationMaximization()
        state, trace = learner.run_from(problem.start(), problem)
        if trace.is_interrupted:
            raise KeyboardInterrupt
        if not trace.converged:
            warn_user(f"EM of the tables of {', '.join(sorted(children))} {trace.reason}", NotConvergedWarning)
        apart = sum(log_likelihood_of(state.model[name], state.statistics[name]) for name in roots)
        return tuple(state.model[name] for name in sorted(children)), float(state.log_likelihood - apart)

    def _network(self, learned: list[AnyConditional]) -> BayesianNetwork:
        """The families that holes concern as a network: other parents are complete, and get tables of their own."""
        children = {part.child.name for part in learned}
        roots = [name for name in self.names if any(name in part.parents.names for part in learned)]
        self._count([(name, ()) for name in roots if name not in children])
        return BayesianNetwork([*(self._counted[name, ()] for name in roots if name not in children), *learned])


@dataclass(frozen=True, eq=False)
class PartialProblem(NetworkProblem):
    """The same problem, where complete rows are counted once, and rows with few missing cells completed in all ways.

    An engine answers for the other rows.
    """

    data: Dataset

    @cached_property
    def divided(self) -> DividedRows:
        return DividedRows.of(self.template, self.data)

    def expect_blocks(self, model: BayesianNetwork) -> Iterator[Expected[NetworkStatistics]]:
        rows = self.divided
        if rows.counted is not None:
            parts = [(part, rows.counted[part.child.name]) for part in model.conditionals]
            yield Expected(rows.counted, float(sum(log_likelihood_of(*one) for one in parts)))
        if rows.few is not None:
            yield rows.few.expect(model)
        if rows.many is not None:
            yield self.expectation.run(model, rows.many)


@dataclass(frozen=True, eq=False)
class DividedRows:
    """Rows by how their missing cells are summed out: those without any, with few ways to complete them, with many."""

    counted: NetworkStatistics | None
    few: CompletedBlock | None
    many: RowBlock | None

    @classmethod
    def of(cls, template: BayesianNetwork, data: Dataset) -> DividedRows:
        rows, weights = merge_equal_rows(data)
        rows = Dataset.from_codes(data.variables, rows.columns, weights)
        is_whole = ~np.logical_or.reduce([has_hole(column) for column in rows.arrays])
        is_few = np.zeros(len(rows), np.bool_)
        if all(isinstance(part, Conditional) for part in template.conditionals):
            codes, sizes = codes_of(rows)
            is_few[~is_whole] = has_few_ways(codes[:, ~is_whole], sizes)
        is_many = ~is_whole & ~is_few
        counted = count_parts(template.conditionals, rows.take(is_whole)) if is_whole.any() else None
        few = CompletedBlock.of(template, rows.take(is_few)) if is_few.any() else None
        return cls(counted, few, RowBlock.of(template, rows.take(is_many)) if is_many.any() else None)


@dataclass(frozen=True, eq=False)
class CompletedBlock:
    """Rows with few missing cells, in all ways to complete them, and the cell of each way in each table."""

    block: RowBlock
    ways: Ways
    cells: Mapping[str, np.ndarray]  # by the child

    @classmethod
    def of(cls, template: BayesianNetwork, data: Dataset) -> CompletedBlock:
        block = RowBlock.of(template, data)
        codes, sizes = codes_of(block.data)
        ways, cells = Ways.of(codes, sizes), {}
        places = {variable.name: place for place, variable in enumerate(block.data.variables)}
        for part in template.conditionals:
            family = [*part.parents.names, part.child.name]
            cells[part.child.name] = ways.cells([places[name] for name in family], sizes)
        return cls(block, ways, cells)

    def expect(self, model: BayesianNetwork) -> Expected[NetworkStatistics]:
        """The expected counts of each table: the posterior probabilities of the ways in each cell."""
        weights = self.block.weights
        families = [(part, self.cells[part.child.name]) for part in model.conditionals if isinstance(part, Conditional)]
        posteriors, logs = self.ways.posteriors(families)
        check_data(logs, weights, partial(explain_impossible, self.block))
        shares = posteriors * weights[self.ways.rows]
        parts = {}
        for part, cells in families:
            counts = np.bincount(cells, shares, minlength=part.values.size).reshape(part.values.shape)
            parts[part.child.name] = summarise_expected(part, [counts])
        log_likelihood = weights @ np.where(weights > 0, logs, 0.0)
        return Expected(NetworkStatistics(parts, float(weights.sum())), float(log_likelihood))


def codes_of(data: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """The rows as codes (variable, row), and the number of states of each variable."""
    sizes = np.array([variable.num_states for variable in data.variables], dtype=np.int64)
    return np.array(data.arrays, dtype=np.int32).reshape(len(sizes), len(data)), sizes


def count_parameters(part: Any) -> int:
    return int(part.num_parameters if part.child.is_real else part.parents.size * (part.child.num_states - 1))
