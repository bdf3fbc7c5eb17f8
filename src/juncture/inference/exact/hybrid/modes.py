"""The most probable states and numbers: the best configuration by its weight and the density at its mode."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.errors import Unsupported
from juncture.inference.exact.hybrid.clique_tables import Table
from juncture.inference.exact.hybrid.run import SINGULAR, Run
from juncture.inference.exact.hybrid.tree_of_row import tree_of_row
from juncture.values import few

if TYPE_CHECKING:
    from juncture.inference.exact.hybrid.answers import Pattern


def best_states(
    patterns: Iterable[Pattern], targets: tuple[str, ...], count: int, num_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and numbers (row, rank, target), and log p(them, evidence) (row, rank); -inf where there are no more."""
    found = [(pattern.indices, best_of_pattern(pattern, targets, count)) for pattern in patterns]
    most = max([1, *(values.shape[1] for _, (_, values) in found)])
    codes, logs = np.zeros((num_rows, most, len(targets))), np.full((num_rows, most), -np.inf)
    for rows, (states, values) in found:
        codes[rows, : values.shape[1]], logs[rows, : values.shape[1]] = states, values
    return codes, logs


def best_of_pattern(pattern: Pattern, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
    model, observed = pattern.model, pattern.rows.observed
    asked = [name for name in targets if name not in observed]
    with_numbers = any(model.variable(name).is_real for name in asked)
    if with_numbers:
        check_all_asked(model, asked, observed)
    run = pattern.run(tuple(targets), whole=True)
    tables, lacking = run.tables(slice(0, run.rows.num_rows), with_peaks=with_numbers)
    if with_numbers:
        check_bounded(run, tables)
    states = tuple(name for name in run.part.tree.states if name in asked)
    ranked = [
        best_of_row(run, tables, lacking, states, row, count, pattern.memory_limit)
        for row in range(len(pattern.indices))
    ]
    most = max(len(values) for _, values in ranked)
    codes, logs = np.zeros((len(ranked), most, len(targets))), np.full((len(ranked), most), -np.inf)
    for row, (chosen, values) in enumerate(ranked):
        columns = complete(run, states, chosen, row)
        logs[row, : len(values)] = values
        for at, name in enumerate(targets):
            codes[row, : len(values), at] = columns[name]
    return codes, logs


def check_all_asked(model: Any, asked: Sequence[str], observed: frozenset[str]) -> None:
    """Raise `Unsupported` where real-valued variables are asked for and others are to be summed out."""
    left = [name for name in model.variables.names if name not in observed and name not in asked]
    if left:
        real = next(name for name in asked if model.variable(name).is_real)
        raise Unsupported(
            f"the mode of {real!r} with {few(left)} summed out is that of a mixture, which has no closed form: ask for"
            " all unobserved variables, or only for variables with states"
        )


def check_bounded(run: Run, tables: Sequence[Table]) -> None:
    """Raise `Unsupported` where a configuration that can occur fixes a real-valued variable exactly."""
    start = len(tables) - len(run.solved)
    for number, (solved, _) in enumerate(run.solved):
        names, logs = tables[start + number]
        without_bound = np.isposinf(logs)
        if without_bound.any():
            weights = run.weights(names)
            if (np.broadcast_to(without_bound, weights.shape) & (weights > 0)).any():
                raise Unsupported(
                    f"the joint density of {few(solved.group.hidden)} has no bound: one of them has the variance 0"
                    " given the others; observe it, or ask for the targets with states"
                )
            tables[start + number] = names, np.where(without_bound, -np.inf, logs)  # type: ignore[index]


def best_of_row(
    run: Run,
    tables: Sequence[Table],
    lacking: Sequence[Table],
    states: tuple[str, ...],
    row: int,
    count: int,
    memory_limit: int | None,
) -> tuple[np.ndarray, np.ndarray]:
    """(codes (rank, variable with states), logs (rank,))."""
    constant = sum(float(logs[row if len(logs) > 1 else 0]) for names, logs in tables if not names)
    if np.isneginf(run.log_total[row]) or not run.part.tree.states:
        value = -np.inf if np.isneginf(run.log_total[row]) else constant
        return np.zeros((1, len(states)), np.int64), np.array([value])
    answers = tree_of_row(run, tables, row, memory_limit)
    if not states:
        return np.zeros((1, 0), np.int64), answers.log_evidence + constant
    codes, values = answers.best(states, count)
    left = [sum_lacking(states, chosen, lacking, row) for chosen in codes[0]]
    return codes[0], values[0] + constant + SINGULAR * np.array(left)


def sum_lacking(states: tuple[str, ...], codes: np.ndarray, lacking: Sequence[Table], row: int) -> float:
    """How many exact relations the configuration lacks; only where all of its states are known."""
    known = dict(zip(states, codes.tolist(), strict=True))
    return sum(
        float(fewer[(row, *(known[name] for name in names))]) for names, fewer in lacking if known.keys() >= set(names)
    )


def complete(run: Run, states: tuple[str, ...], codes: np.ndarray, row: int) -> dict[str, np.ndarray]:
    """All variables of one row for every rank: observed, found, or at the mean of its Gaussian."""
    given = {**run.rows.codes, **run.rows.reals}
    columns = {name: np.repeat(array[row], len(codes)) for name, array in given.items()}
    columns |= {name: codes[:, at] for at, name in enumerate(states)}
    for solved, case in run.solved:
        if all(name in columns for name in solved.group.states):
            configuration = [columns[name] for name in solved.group.states]
            solved.fill(columns, np.repeat(case[row], len(codes)), configuration)
    return columns
