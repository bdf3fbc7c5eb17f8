"""The best joint states of some targets after all other nodes were summed out (marginal MAP), for many rows at once.

Rows in which the same nodes are observed share one elimination: their codes are looked up in the factors, which gives
factors over the nodes that are left and over the rows, an axis that is kept to the end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from juncture.inference.exact.best_states import TIE, best_states, first_of_ties
from juncture.inference.exact.clique_search import BYTES_PER_CELL
from juncture.inference.exact.elimination import Bucket, Elimination, marginal_map_solver, plan_elimination
from juncture.inference.exact.junction_tree.coded_findings import CodedFindings
from juncture.inference.exact.junction_tree.cuts import CELLS_AT_ONCE
from juncture.inference.exact.junction_tree.packed_tree import PackedTree
from juncture.inference.exact.junction_tree.plan import check_cost
from juncture.inference.exact.log_tables import ROWS, LogFactor
from juncture.numerics import stable
from juncture.runtime.parallel import blocks_of


def best_targets(
    tree: PackedTree, rows: CodedFindings, targets: Sequence[int], memory_limit: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """(codes (row, target), logs of the product (row,)) for rows in which the same nodes are observed.

    Of equally good assignments the one with the earliest state of the first target, then of the next.
    """
    free, elimination = plan_of_tree(tree, rows.codes_by_node(), targets, memory_limit)
    codes, values = np.empty((rows.num_rows, len(targets)), np.int64), np.empty(rows.num_rows)
    at_once = CELLS_AT_ONCE if memory_limit is None else min(CELLS_AT_ONCE, memory_limit // BYTES_PER_CELL)
    for block in blocks_of(rows.num_rows, max(1, at_once // elimination.cells)):
        some = rows.take(np.arange(block.start, block.stop))
        found = some.codes_by_node()
        best, values[block] = best_of_rows(elimination, row_factors(tree, some, found), free, some.num_rows)
        for column, node in enumerate(targets):
            codes[block, column] = best[node] if node in best else found[node]
        values[block] += tree.log_scale + some.log_scale
    return codes, values


def rank_targets(
    tree: PackedTree, row: CodedFindings, targets: Sequence[int], count: int, memory_limit: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """(codes (rank, target), logs of the product (rank,)): the `count` best of a single row."""
    found = row.codes_by_node()
    free, elimination = plan_of_tree(tree, found, targets, memory_limit)
    summing, maximizing = elimination.split()
    left, _ = summing.reduce(row_factors(tree, row, found))
    alone = [of_first_row(factor) for factor in left]
    solve = marginal_map_solver(maximizing, alone, tree.log_scale + float(row.log_scale[0]))
    sizes = {node: int(tree.plan.num_states[node]) for node in free}
    codes, values = best_states(first_of_ties(solve, sizes), sizes, count)
    columns = {**found, **dict(zip(free, codes.T, strict=True))}
    ranked = [np.broadcast_to(columns[node], values.shape) for node in targets]
    return np.array(ranked, np.int64).reshape(len(targets), len(values)).T, values


def plan_of_tree(
    tree: PackedTree, observed: Collection[int], targets: Sequence[int], memory_limit: int | None
) -> tuple[list[int], Elimination]:
    """The targets that are not observed, and how to maximise over them; TooLarge beyond the limit of bytes."""
    free = [node for node in targets if node not in observed]
    elimination = plan_targets(factor_scopes(tree), tree.plan.num_states, frozenset(observed), frozenset(free))
    check_cost(elimination.cost, memory_limit)
    return free, elimination


def plan_targets(
    scopes: Sequence[Sequence[int]],
    num_states: Sequence[int] | np.ndarray,
    observed: frozenset[int],
    targets: frozenset[int],
) -> Elimination:
    """How to maximise over the targets after summing out all others, of factors reduced by what was observed."""
    left = [[node for node in scope if node not in observed] for scope in scopes]
    return plan_elimination(left, num_states, keep=observed, maximized=targets)


def factor_scopes(tree: PackedTree) -> list[list[int]]:
    """The nodes of each factor that has any: a factor without is in the tree's log scale."""
    plan = tree.plan
    pairs = zip(plan.scope_starts, plan.scope_starts[1:], strict=False)
    return [plan.scope_nodes[start:stop].tolist() for start, stop in pairs if stop > start]


def log_factors(tree: PackedTree) -> list[LogFactor]:
    """The factors of a tree, but for those without nodes."""
    tables = (logs for logs in tree.log_factors if logs.ndim)
    return [LogFactor(tuple(scope), logs) for scope, logs in zip(factor_scopes(tree), tables, strict=True)]


def row_factors(tree: PackedTree, rows: CodedFindings, codes: Mapping[int, np.ndarray]) -> list[LogFactor]:
    """The factors and the likelihoods of the rows, at the codes of what was observed, (row,) by node."""
    logs = stable.log(rows.likelihoods) if rows.log_likelihoods is None else rows.log_likelihoods
    parts = np.split(logs.T, np.cumsum(tree.plan.num_states[rows.soft])[:-1], axis=1) if len(rows.soft) else []
    soft = [LogFactor((ROWS, node), part) for node, part in zip(rows.soft.tolist(), parts, strict=True)]
    return [look_up(factor, codes) for factor in (*log_factors(tree), *soft)]


def look_up(factor: LogFactor, codes: Mapping[int, np.ndarray]) -> LogFactor:
    """The factor at each row's codes, over the rows and the other nodes."""
    known = [axis for axis, node in enumerate(factor.nodes) if node in codes]
    if not known:
        return factor
    rest = [axis for axis, node in enumerate(factor.nodes) if node not in codes and node != ROWS]
    rows = [axis for axis, node in enumerate(factor.nodes) if node == ROWS]
    index = [codes[factor.nodes[axis]] for axis in known]
    index += [np.arange(len(index[0])) for _ in rows]
    return LogFactor(
        (ROWS, *(factor.nodes[axis] for axis in rest)), factor.logs.transpose([*known, *rows, *rest])[tuple(index)]
    )


def of_first_row(factor: LogFactor) -> LogFactor:
    """The factor without the axis of the rows, if it has one."""
    if ROWS not in factor.nodes:
        return factor
    return LogFactor(tuple(n for n in factor.nodes if n != ROWS), factor.logs.take(0, axis=factor.nodes.index(ROWS)))


def best_of_rows(
    elimination: Elimination, factors: Sequence[LogFactor], targets: Sequence[int], num_rows: int
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """(codes (row,) by target, logs of the product (row,)): all others are summed out once, then ties are broken.

    In the order of the targets it asks again with the later states of a target forbidden, as long as that is as good.
    """
    summing, maximizing = elimination.split()
    left, _ = summing.reduce(factors)
    every_row = LogFactor((ROWS,), np.zeros(num_rows))
    codes, values = maximize_rows(maximizing, [*left, every_row])
    least = values - TIE * np.maximum(1.0, np.abs(np.where(np.isneginf(values), 0.0, values)))
    fixed: list[LogFactor] = []
    sizes = {step.node: step.shape[-1] for step in maximizing.steps}
    for node in targets:
        states = np.arange(sizes[node])
        is_better = codes[node] > 0
        while is_better.any():
            below = LogFactor((ROWS, node), np.where(states < codes[node][:, np.newaxis], 0.0, -np.inf))
            others, other_values = maximize_rows(maximizing, [*left, every_row, *fixed, below])
            is_better = (other_values >= least) & (values > -np.inf)
            codes = {other: np.where(is_better, others[other], codes[other]) for other in codes}
            is_better &= codes[node] > 0
        fixed.append(LogFactor((ROWS, node), np.where(states == codes[node][:, np.newaxis], 0.0, -np.inf)))
    return codes, values


def maximize_rows(maximizing: Elimination, factors: Sequence[LogFactor]) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """The best codes (row,) by node, and the logs of their products (row,)."""
    (_, values), buckets = maximizing.run(factors)
    codes: dict[int, np.ndarray] = {ROWS: np.arange(len(values))}
    for bucket in buckets:
        codes[bucket.node] = best_given(bucket, codes)
    return {node: column for node, column in codes.items() if node != ROWS}, values


def best_given(bucket: Bucket, codes: Mapping[int, np.ndarray]) -> np.ndarray:
    """The best state of a bucket's node in each row, given the nodes that were eliminated after it."""
    found = bucket.logs[tuple(codes[node] for node in bucket.nodes)].argmax(axis=-1)
    return np.broadcast_to(found, codes[ROWS].shape)
