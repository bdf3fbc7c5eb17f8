"""Where coordinate ascent starts: at distributions under which no zero of a table has positive probability.

A product of distributions has a finite lower bound only if p allows every assignment that the product allows. The
sweeps themselves look for such a product: they leave each node the states that meet zeros least often. Where they get
stuck, the junction tree gives an assignment that p allows, or says that there is none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import shown
from juncture.errors import InvalidData, TooLarge, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Query, Question
from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.variational.ascent import normalize_nodes, sweep
from juncture.inference.variational.layout import Layout
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.stable import as_probabilities
from juncture.variables import Variable

LESS = 1.0 - 1e-9  # of the probability of meeting zeros: sweeps that lower it by less are stuck
SEARCH_SECONDS = 10.0  # for an exact search of one assignment
MODE = frozenset({Question.MODE})


def start_of(arrays: FactorArrays, model: Any, start: Any) -> np.ndarray:
    """(state of all nodes,): the start as users give it; uniform for what they do not name."""
    values = np.repeat(1.0 / arrays.num_states, arrays.num_states)
    if start is None:
        return values
    if not hasattr(start, "items"):
        return flat_start(arrays, start)
    for name, given in start.items():
        variable, node = model.variable(name), model.variables.axis(name)
        shares = as_probabilities(given, (variable.num_states,), name=f"the start of {name!r}")
        values[arrays.state_starts[node] : arrays.state_starts[node + 1]] = shares
    return values


def flat_start(arrays: FactorArrays, start: Any) -> np.ndarray:
    """The distributions of all variables one after the other, in an array of any shape."""
    values = np.asarray(start, dtype=float).reshape(-1)
    if values.shape != (arrays.total_states,) or not (values >= 0).all():
        raise InvalidData(
            "a start is a mapping from names to distributions, or an array of the distributions of all variables,"
            f" {arrays.total_states:,} numbers; got {shown(start)}"
        )
    return normalize_nodes(arrays, values[np.newaxis])[0]


def random_start(layout: Layout, rng: np.random.Generator, index: int) -> np.ndarray:
    """(state of all nodes,): a distribution of each node, uniformly among all.

    Where tables have zeros, every other start is an assignment: sweeps from there end at more different points.
    """
    arrays = layout.arrays
    shares = rng.standard_exponential(arrays.total_states)
    if layout.has_zeros and index % 2:
        tops = np.maximum.reduceat(shares, arrays.state_starts[:-1])
        shares = (shares == np.repeat(tops, arrays.num_states)).astype(float)
    return normalize_nodes(arrays, shares[np.newaxis])[0]


def possible_rows(arrays: FactorArrays, fields: np.ndarray) -> np.ndarray:
    """(row,): whether the evidence leaves every node a state."""
    if not arrays.num_nodes:
        return np.ones(len(fields), np.bool_)
    tops = np.maximum.reduceat(fields, arrays.state_starts[:-1], axis=1)
    return np.asarray((tops > -np.inf).all(axis=1))


def feasible_start(
    layout: Layout, fields: np.ndarray, start: np.ndarray, is_possible: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(row, state of all nodes): the start, moved in each row to where no zero is met; and which rows are possible."""
    beliefs = within_evidence(layout.arrays, fields, start)
    if not layout.has_zeros:
        return beliefs, is_possible
    is_possible, is_active = is_possible.copy(), is_possible.copy()
    bounds, changes = np.empty(len(fields)), np.empty(len(fields))
    excesses, before = np.zeros(len(fields)), np.full(len(fields), np.inf)
    while is_active.any():
        sweep(layout, fields, beliefs, is_active, bounds, excesses, changes)
        is_stuck = is_active & (excesses > 0) & (excesses > before * LESS)
        for row in np.flatnonzero(is_stuck):
            codes = find_assignment(layout.arrays, fields[row], int(row))
            is_possible[row] = codes is not None
            beliefs[row] = 0.0
            if codes is not None:
                beliefs[row, layout.arrays.state_starts[:-1] + codes] = 1.0
        is_active &= (excesses > 0) & ~is_stuck
        before = excesses.copy()
    return beliefs, is_possible


def within_evidence(arrays: FactorArrays, fields: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The start without the states that the evidence excludes; uniform among the others where it excludes all."""
    is_allowed = fields > -np.inf
    shares = np.where(is_allowed, start, 0.0)
    if arrays.num_nodes:
        sums = np.add.reduceat(shares, arrays.state_starts[:-1], axis=1)
        is_empty = np.repeat(sums == 0, arrays.num_states, axis=1)
        shares[is_empty & is_allowed] = 1.0
    with np.errstate(invalid="ignore"):  # rows that are impossible
        return normalize_nodes(arrays, shares)


def find_assignment(arrays: FactorArrays, field: np.ndarray, row: int) -> np.ndarray | None:
    """(node,): the most probable states, by the junction tree; None if there is no possible assignment."""
    nodes = [Variable(f"x{node}", int(size)) for node, size in enumerate(arrays.num_states)]
    tables = [
        Factor.from_logs([nodes[node] for node in arrays.scope(factor)], arrays.log_table(factor))
        for factor in range(arrays.num_factors)
    ]
    starts = arrays.state_starts
    own = [Factor.from_logs([one], field[starts[node] : starts[node + 1]]) for node, one in enumerate(nodes)]
    model = MarkovNetwork([*tables, *own], nodes)
    try:
        from juncture.evidence import as_findings

        plan = JunctionTree().compile(model, (), ())
        answers = plan.run(model, Query(as_findings(None, model.variables), questions=MODE, budget=SEARCH_SECONDS))
    except TooLarge as error:
        raise Unsupported(
            f"mean field found no start for row {row}: factors have zeros, and no product of distributions that avoids"
            " all of them was met; give more starts= or a start= that is possible, or infer by another method"
        ) from error
    codes, log_joint = answers.best(model.variables.names, 1)
    return None if log_joint[0, 0] == -np.inf else codes[0, 0].astype(np.int64)
