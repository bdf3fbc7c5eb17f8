"""The best joint states of some nodes of a junction tree, for one row of evidence or many."""

from __future__ import annotations

import numpy as np

from juncture import numerics
from juncture.inference.exact.best_states import TIE, Allowed, Solver
from juncture.inference.exact.junction_tree.coded_findings import CodedFinding, CodedFindings
from juncture.inference.exact.junction_tree.marginal_map import best_targets, rank_targets
from juncture.inference.exact.junction_tree.packed_tree import PackedTree
from juncture.inference.exact.junction_tree.ranked_assignments import rank_assignments
from juncture.inference.exact.junction_tree.tied_states import first_assignment


def best_of_marginal(marginal: np.ndarray, log_evidence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(codes (row, 1, 1), logs of the product (row, 1)): the best state of one target; of equal ones the first."""
    possible = log_evidence > -np.inf
    logs = numerics.log(np.where(possible[:, np.newaxis], marginal, 1.0))
    top = logs.max(axis=1)
    values = log_evidence + top
    slack = TIE * np.maximum(1.0, np.abs(np.where(possible, values, 0.0)))
    codes = (logs >= (top - slack)[:, np.newaxis]).argmax(axis=1)
    return codes[:, np.newaxis, np.newaxis], values[:, np.newaxis]


def best_assignments(
    tree: PackedTree, rows: CodedFindings, targets: tuple[int, ...], count: int, memory_limit: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """(codes (row, rank, target), logs of the product (row, rank)); -inf where there is no further assignment."""
    if count > 1:
        return best_row_by_row(tree, rows, targets, count, memory_limit)
    codes, values = np.zeros((rows.num_rows, 1, len(targets)), np.int64), np.full((rows.num_rows, 1), -np.inf)
    for observed, indices in rows.patterns():
        some = rows.take(indices)
        if covers(tree, targets, observed):
            codes[indices], values[indices] = best_of_all(tree, some, targets, memory_limit)
        else:
            codes[indices, 0], values[indices, 0] = best_targets(tree, some, targets, memory_limit)
    return codes, values


def covers(tree: PackedTree, targets: tuple[int, ...], observed: np.ndarray) -> bool:
    """Whether every node is a target or observed, so that nothing has to be summed out."""
    return len({*targets, *observed.tolist()}) == len(tree.plan.num_states)


def best_of_all(
    tree: PackedTree, rows: CodedFindings, targets: tuple[int, ...], memory_limit: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """As `best_assignments`, where every node is a target or observed; rows with ties are searched one by one."""
    if rows.num_rows == 1:
        return best_row_by_row(tree, rows, targets, 1, memory_limit)
    chosen, values, is_tied = tree.choose_rows(rows, TIE)
    codes, values = chosen[:, np.newaxis, list(targets)], values[:, np.newaxis]
    tied = np.flatnonzero(is_tied)
    if len(tied):
        codes[tied], values[tied] = best_row_by_row(tree, rows.take(tied), targets, 1, memory_limit)
    return codes, values


def best_row_by_row(
    tree: PackedTree, rows: CodedFindings, targets: tuple[int, ...], count: int, memory_limit: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """As `best_assignments`, by a search for each row."""
    found = []
    for number in range(rows.num_rows):
        row = rows.row(number)
        if covers(tree, targets, row.observed):
            found.append(rank_assignments(tree, row, targets, max_product_solver(tree, row), count))
        else:
            found.append(rank_targets(tree, rows.take(np.array([number])), targets, count, memory_limit))
    ranks = max([1, *(len(values) for _, values in found)])
    codes, values = np.zeros((len(found), ranks, len(targets)), np.int64), np.full((len(found), ranks), -np.inf)
    for number, (row_codes, row_values) in enumerate(found):
        codes[number, : len(row_values)], values[number, : len(row_values)] = row_codes, row_values
    return codes, values


def max_product_solver(tree: PackedTree, evidence: CodedFinding) -> Solver:
    """All nodes at once, read off the max-marginals; ties go to the earlier state, in node order."""
    num_states = tree.plan.num_states
    all_nodes, starts = np.arange(len(num_states)), np.cumsum(num_states) - num_states
    seen, seen_logs = evidence.as_logs(num_states)

    def solve(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        nodes = np.concatenate([seen, np.array(list(allowed), dtype=np.int64)])
        logs, work = np.concatenate([seen_logs, *allowed.values()]), np.empty(tree.plan.num_cells)
        marginals, top = tree.run_logs(nodes, logs, all_nodes, maximize=True, work=work)
        if top == -np.inf:
            return None
        tops = np.repeat(np.maximum.reduceat(marginals, starts), num_states)
        winners = np.flatnonzero(marginals >= tops - TIE * np.maximum(1.0, np.abs(tops)))
        is_tied = len(winners) > len(num_states)
        codes = first_assignment(tree.plan, work) if is_tied else (winners - starts).tolist()
        return dict(enumerate(codes)), top + evidence.log_scale

    return solve
