"""The most probable states and numbers: the best configuration by its weight and the density at its mode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from juncture.base.values import few
from juncture.errors import Unsupported
from juncture.inference.exact.hybrid.clique_tables import Table
from juncture.inference.exact.hybrid.run import Run, tree_of_row

if TYPE_CHECKING:
    from juncture.inference.exact.hybrid.engine import Pattern
    from juncture.networks.bayesian_network import Network


def best_configurations(
    patterns: Iterable[Pattern], targets: tuple[str, ...], count: int, num_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and numbers (row, rank, target), and log p(them, evidence) (row, rank); -inf where there are no more."""
    found = [(pattern.indices, best_of_pattern(pattern, targets, count)) for pattern in patterns]
    most = max([1, *(values.shape[1] for _, (_, values) in found)])
    codes, logs = np.zeros((num_rows, most, len(targets))), np.full((num_rows, most), -np.inf)
    for rows, (states, values) in found:
        codes[rows, : values.shape[1]], logs[rows, : values.shape[1]] = states, values
    return codes, logs


class Ranked(NamedTuple):
    """Best states: of which row, its rank there, its codes (variable with states), and log p(it, evidence)."""

    rows: np.ndarray
    ranks: np.ndarray
    codes: np.ndarray
    logs: np.ndarray


def best_of_pattern(pattern: Pattern, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
    model, observed = pattern.model, pattern.rows.observed
    asked = [name for name in targets if name not in observed]
    with_numbers = any(model.variable(name).is_real for name in asked)
    if with_numbers:
        check_all_asked(model, asked, observed)
    run = pattern.run(tuple(targets), whole=True)
    states = tuple(name for name in run.part.tree.states if name in asked)
    search = Search(run, states, count, with_numbers, pattern.memory_limit)
    found = Ranked(*map(np.concatenate, zip(*map(search.best_of_block, run.blocks()), strict=True)))
    columns = complete(run, states, found)
    codes = np.zeros((len(pattern.indices), found.ranks.max() + 1, len(targets)))
    logs = np.full(codes.shape[:2], -np.inf)
    logs[found.rows, found.ranks] = found.logs
    for at, name in enumerate(targets):
        codes[found.rows, found.ranks, at] = columns[name]
    return codes, logs


@dataclass(frozen=True, eq=False)
class Search:
    """The best of the variables with states of a run; all others with states are summed out."""

    run: Run
    states: tuple[str, ...]
    count: int
    with_numbers: bool
    memory_limit: int | None

    def best_of_block(self, rows: slice) -> Ranked:
        """All rows at once where nothing is summed out; rows in which several are best are searched one by one."""
        tables = self.run.tables(rows, with_peaks=self.with_numbers)
        if self.with_numbers:
            check_bounded(self.run, tables, rows)
        num_rows, tree = rows.stop - rows.start, self.run.part.tree
        if self.count > 1 or num_rows == 1 or len(self.states) < len(tree.states):
            return self.best_of_each(tables, range(num_rows), rows.start)
        best = tree.maximize(tables, num_rows)
        alone = self.best_of_each(tables, np.flatnonzero(best.is_tied).tolist(), rows.start)
        kept = np.flatnonzero(~best.is_tied)
        codes = np.stack([np.zeros(num_rows, np.int64), *(best.codes[name] for name in self.states)], axis=1)[kept, 1:]
        found = rows.start + kept, 0 * kept, codes, best.log_top[kept]
        return Ranked(*map(np.concatenate, zip(alone, found, strict=True)))

    def best_of_each(self, tables: Sequence[Table], numbers: Iterable[int], start: int) -> Ranked:
        parts = [Ranked(*(np.empty(0, np.int64),) * 2, np.empty((0, len(self.states)), np.int64), np.empty(0))]
        for number in numbers:
            codes, logs = self.best_of_row(tables, number, start)
            parts.append(Ranked(np.full(len(logs), start + number), np.arange(len(logs)), codes, logs))
        return Ranked(*map(np.concatenate, zip(*parts, strict=True)))

    def best_of_row(self, tables: Sequence[Table], number: int, start: int) -> tuple[np.ndarray, np.ndarray]:
        """(codes (rank, variable with states), logs (rank,)) of one row of a block."""
        constant = sum(float(logs[number if len(logs) > 1 else 0]) for names, logs in tables if not names)
        is_impossible = bool(np.isneginf(self.run.log_total[start + number]))
        if is_impossible or not self.run.part.tree.states:
            value = -np.inf if is_impossible else constant
            return np.zeros((1, len(self.states)), np.int64), np.array([value])
        answers = tree_of_row(self.run, tables, number, self.memory_limit)
        if not self.states:
            return np.zeros((1, 0), np.int64), answers.log_evidence + constant
        codes, values = answers.best(self.states, self.count)
        return codes[0], values[0] + constant


def check_all_asked(model: Network, asked: Sequence[str], observed: frozenset[str]) -> None:
    """Raise `Unsupported` where real-valued variables are asked for and others are to be summed out."""
    left = [name for name in model.variables.names if name not in observed and name not in asked]
    if left:
        real = next(name for name in asked if model.variable(name).is_real)
        raise Unsupported(
            f"the mode of {real!r} with {few(left)} summed out is that of a mixture, which has no closed form: ask for"
            " all unobserved variables, or only for variables with states"
        )


def check_bounded(run: Run, tables: list[Table], rows: slice) -> None:
    """Raise `Unsupported` where a configuration that can occur fixes a real-valued variable exactly."""
    start = len(tables) - len(run.solved)
    for number, (solved, _) in enumerate(run.solved):
        names, logs = tables[start + number]
        without_bound = np.isposinf(logs)
        if without_bound.any():
            weights = run.weights(names)[rows]
            if (np.broadcast_to(without_bound, weights.shape) & (weights > 0)).any():
                raise Unsupported(
                    f"the joint density of {few(solved.group.hidden)} has no bound: one of them has the variance 0"
                    " given the others; observe it, or ask for the targets with states"
                )
            tables[start + number] = names, np.where(without_bound, -np.inf, logs)


def complete(run: Run, states: tuple[str, ...], found: Ranked) -> dict[str, np.ndarray]:
    """All variables of every assignment that was found: observed, chosen, or at the mean of its Gaussian."""
    columns = {name: array[found.rows] for name, array in {**run.rows.codes, **run.rows.reals}.items()}
    columns |= {name: found.codes[:, at] for at, name in enumerate(states)}
    for solved, case in run.solved:
        if all(name in columns for name in solved.group.states):
            solved.fill(columns, case[found.rows], [columns[name] for name in solved.group.states])
    return columns
