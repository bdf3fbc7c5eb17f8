"""One run of a part: densities of the groups and tables of the factors, summed over the variables with states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from juncture.base.values import few, number_of
from juncture.data.findings import Findings
from juncture.data.tables.distinct import MANY, distinct_rows
from juncture.factors.conditional import AnyConditional
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import recall
from juncture.inference.engines.lowering import HIDDEN, Lowered
from juncture.inference.exact.hybrid.clique_tables import Sums, Table
from juncture.inference.exact.hybrid.equations import SolvedGroup
from juncture.inference.exact.hybrid.plan import BYTES_PER_COEFFICIENT, Group, Part, table_scope
from juncture.inference.exact.junction_tree.answers import TreeAnswers
from juncture.inference.exact.junction_tree.choice import choose_dense
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.numerics import stable
from juncture.runtime.memory import advise_fewer, check_memory
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import BayesianNetwork

CELLS_AT_ONCE = 2**18  # rows times cells of all cliques: what a core's cache holds
KEPT_CELLS = 2**23
MAX_SOLVED, MAX_NUMBERS = 64, 2**20  # solved groups that are kept with a model, and the size of one


@dataclass(frozen=True, eq=False)
class AlikeRows:
    """Findings of rows with the same variables observed; a variable of one state counts as observed."""

    findings: Findings
    observed: frozenset[str]
    codes: Mapping[str, np.ndarray]  # (row,)
    reals: Mapping[str, np.ndarray]  # (row,)

    @classmethod
    def of(cls, model: BayesianNetwork, findings: Findings) -> AlikeRows:
        hard = {name: array.astype(np.int64) for name, array in findings.codes.items() if (array >= 0).all()}
        lone = [each.name for each in model.variables if not each.is_real and each.num_states == 1]
        codes = {**{name: np.zeros(findings.num_rows, np.int64) for name in lone}, **hard}
        reals = {name: array for name, array in findings.reals.items() if not np.isnan(array).any()}
        return cls(findings, frozenset({*codes, *reals}), codes, reals)

    @property
    def num_rows(self) -> int:
        return self.findings.num_rows

    def take(self, rows: slice) -> AlikeRows:
        if rows.stop - rows.start == self.num_rows:
            return self
        parts = [
            {name: array[rows] for name, array in part.items()}
            for part in (self.findings.codes, self.findings.reals, self.findings.likelihoods)
        ]
        findings = Findings(self.findings.variables, *parts, num_rows=rows.stop - rows.start)
        codes = {name: array[rows] for name, array in self.codes.items()}
        return AlikeRows(findings, self.observed, codes, {name: array[rows] for name, array in self.reals.items()})


@dataclass(frozen=True, eq=False)
class Run:
    """A part with the findings of rows that all observe the same variables."""

    model: BayesianNetwork
    part: Part
    rows: AlikeRows
    tolerance: float

    @cached_property
    def solved(self) -> tuple[tuple[SolvedGroup, np.ndarray], ...]:
        """Each group with its regressions, and the number of the case (states of observed parents) of each row."""
        return tuple(self._solve(group) for group in self.part.groups)

    def _solve(self, group: Group) -> tuple[SolvedGroup, np.ndarray]:
        cases = np.zeros((1, 0), np.int64)
        case = np.zeros(self.rows.num_rows, np.int64)
        if group.given:
            table = np.stack([self.rows.codes[name] for name in group.given], axis=1)
            cases, case = (table, case) if len(table) == 1 else number_cases(table)
        numbers = len(cases) * self.part.tree.size(group.states) * group.num_coefficients
        what = (
            f"the regressions of {few(group.hidden or group.observed)} for {number_of(len(cases), 'case')} of parents"
        )
        check_memory(BYTES_PER_COEFFICIENT * numbers, what, advise_fewer(self.rows.num_rows))
        codes = dict(zip(group.given, cases.T, strict=True))
        key = (group[1:], tuple(part.child.name for part in group.families), cases.tobytes())
        known = self.model.derived.get("solved groups", {}).get(key)
        solved = SolvedGroup.of(group, codes, self.part.tree.states) if known is None else known
        if solved.size <= MAX_NUMBERS:
            recall(self.model, "solved groups", key, lambda: solved, MAX_SOLVED)
        return solved, case.reshape(-1)

    def solved_of(self, name: str) -> tuple[SolvedGroup, np.ndarray]:
        """The group that a hidden real-valued variable is in, with the case of each row."""
        group = self.part.group_of[name]
        return next(each for each in self.solved if each[0].group.hidden == group.hidden)

    @cached_property
    def log_total(self) -> np.ndarray:
        """log p(findings of this part), one number a row."""
        return np.concatenate([np.empty(0), *(sums.log_total for sums in self.sums())])

    def weights(self, names: tuple[str, ...]) -> np.ndarray:
        """p(names | findings) as (row, *states), for names that are in one clique."""
        shape = [self.part.tree.states[name] for name in names]
        return np.concatenate([np.empty((0, *shape)), *(sums.marginal(names) for sums in self.sums())])

    def sums(self) -> Iterator[Sums]:
        """Yield for each block of rows what is known of every clique, and log p(findings)."""
        return iter(self._kept) if self._num_cells * self.rows.num_rows <= KEPT_CELLS else self._blocks()

    @cached_property
    def _kept(self) -> list[Sums]:
        return list(self._blocks())

    @cached_property
    def _num_cells(self) -> float:
        tree = self.part.tree
        return sum(tree.sizes) + sum(tree.size(group.states) for group in self.part.groups) + 1

    def blocks(self) -> Iterator[slice]:
        """Rows that are summed together."""
        step = int(max(1, CELLS_AT_ONCE // self._num_cells))
        for start in range(0, self.rows.num_rows, step):
            yield slice(start, min(start + step, self.rows.num_rows))

    def _blocks(self) -> Iterator[Sums]:
        for rows in self.blocks():
            yield self.part.tree.sum(self.tables(rows), rows.stop - rows.start)

    def tables(self, rows: slice, *, with_peaks: bool = False) -> list[Table]:
        """All log-tables of some rows; those of the groups come last.

        An exact relation that holds is infinitely denser than noise, so that densities are compared by their number of
        exact relations first and by their logarithms second: of all configurations that can occur, only those with the
        most relations are kept.
        """
        some, num_rows = self.rows.take(rows), rows.stop - rows.start
        tables = [self.factor_table(factor, some) for factor in self.part.factors]
        tables += [row_table(part, some) for part in self.part.row_families]
        tables += [table for name in some.findings.likelihoods if (table := self.likelihood(name, some)) is not None]
        found = [solved.density(some.reals, case[rows], self.tolerance) for solved, case in self.solved]
        scopes = [solved.group.states for solved, _ in self.solved]
        groups = [(names, density.logs) for names, density in zip(scopes, found, strict=True)]
        counts = [(names, density.num_exact) for names, density in zip(scopes, found, strict=True)]
        varying = [(names, count) for names, count in counts if count is not None and varies(count)]
        most = self.part.tree.keep_most(varying, [*tables, *groups], num_rows) if varying else []
        if with_peaks:
            peaks = [solved.log_peak(case[rows]) for solved, case in self.solved]
            groups = [(names, add_peaks(logs, peak)) for (names, logs), peak in zip(groups, peaks, strict=True)]
        return [*tables, *most, *groups]

    def factor_table(self, factor: Factor, rows: AlikeRows) -> Table:
        """A factor with its observed variables fixed: (row, *states), or (1, *states) if none of them is observed."""
        names = factor.scope.names
        seen = [at for at, name in enumerate(names) if name in rows.observed]
        free = [at for at in range(len(names)) if at not in seen]
        logs = factor.log_values.transpose(*seen, *free)
        index = tuple(rows.codes[names[at]] for at in seen)
        return tuple(names[at] for at in free), logs[index] if seen else logs[np.newaxis]

    def likelihood(self, name: str, rows: AlikeRows) -> Table | None:
        """The likelihood of a variable of this part, with one axis, or none where its state is observed."""
        logs = stable.log(rows.findings.likelihoods[name])
        if name in rows.codes:
            return (), np.take_along_axis(logs, rows.codes[name][:, None], axis=1)[:, 0]
        return ((name,), logs) if name in self.part.tree.states else None


def row_table(part: AnyConditional, rows: AlikeRows) -> Table:
    """log p(child | parents) for all unobserved states of a family whose numbers are observed, (row, *states)."""
    free = [variable for variable in table_scope(part) if variable.name not in rows.observed]
    shape = [variable.num_states for variable in free]
    codes = np.indices(shape).reshape(len(free), -1)
    size = codes.shape[1]
    columns = {name: np.repeat(column, size, axis=0) for name, column in {**rows.codes, **rows.reals}.items()}
    columns |= {variable.name: np.tile(codes[at], rows.num_rows) for at, variable in enumerate(free)}
    return tuple(variable.name for variable in free), part.log_prob(columns).reshape(rows.num_rows, *shape)


def add_peaks(logs: np.ndarray, peaks: np.ndarray) -> np.ndarray:
    """The densities at the mode; a configuration that cannot occur stays impossible, however sharp its peak."""
    none = np.full(np.broadcast_shapes(logs.shape, peaks.shape), -np.inf)
    return np.add(logs, peaks, out=none, where=logs > -np.inf)


def number_cases(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of (row, code), and the number of each row among them."""
    if len(table) < MANY:
        return np.unique(table, axis=0, return_inverse=True)
    case, firsts = distinct_rows(table)
    return table[firsts], case


def varies(count: np.ndarray) -> bool:
    """Whether the configurations of some row differ in (row, *configuration)."""
    flat = count.reshape(len(count), -1)
    return bool((flat != flat[:, :1]).any())


def tree_of_row(run: Run, tables: Sequence[Table], row: int, memory_limit: int | None) -> TreeAnswers:
    """The answers about the unobserved variables with states of a part; tables without variables count too."""
    scopes = (*(factor.scope for factor in run.part.factors), *map(table_scope, run.part.row_families))
    found = {variable.name: variable for scope in scopes for variable in scope}
    free: dict[str, Variable] = {name: found[name] for name in run.part.tree.states}
    shown = Scope(variable for name, variable in free.items() if not name.startswith(HIDDEN))
    hidden = tuple(variable for name, variable in free.items() if name.startswith(HIDDEN))
    factors = tuple(
        Factor.from_logs(scope, np.broadcast_to(logs[row if len(logs) > 1 else 0], scope.shape))
        for names, logs in tables
        if (scope := Scope(free[name] for name in names))
    )
    lowered = Lowered(shown, hidden, factors)
    packed = JunctionTree(memory_limit).pack(choose_dense(run.model, lowered), lowered)
    return TreeAnswers.of(packed, Findings(tuple(shown)), shown.names, memory_limit)


def draw_rows(run: Run, num_rows: int, rng: np.random.Generator, memory_limit: int | None) -> dict[str, np.ndarray]:
    """Columns of all variables given a single row of findings; those that no finding depends on are drawn forward."""
    columns: dict[str, np.ndarray] = {
        name: np.repeat(array, num_rows) for name, array in (*run.rows.codes.items(), *run.rows.reals.items())
    }
    if run.part.tree.states:
        columns |= tree_of_row(run, run.tables(slice(0, 1)), 0, memory_limit).sample(num_rows, rng)
    for solved, case in run.solved:
        states = [columns[name] for name in solved.group.states]
        solved.fill(columns, np.repeat(case, num_rows), states, rng)
    for name in run.model.graph.topological_order():
        if name not in columns:
            columns[name] = run.model[name].sample(columns, num_rows, rng)
    return {name: columns[name] for name in run.model.variables.names}
