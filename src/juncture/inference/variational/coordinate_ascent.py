"""Coordinate ascent of mean field: the sweeps, where they start, and the factors as the sweeps read them.

Rows of evidence are swept together, each from its start to its end. `Layout` has the factors of a model node by node.

A product of distributions has a finite lower bound only if p allows every assignment that the product allows, so the
ascent starts where no zero of a table has positive probability. The sweeps themselves look for such a product: they
leave each node the states that meet zeros least often. Where they get stuck, the junction tree gives an assignment that
p allows, or says that there is none.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.checks import shown
from juncture.errors import InvalidData, NotConvergedWarning, TooLarge, Unsupported, warn_user
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Query, Question
from juncture.inference.engines.factor_arrays import FactorArrays, offsets
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.kernels.coordinate_ascent import NodeFactors, sweep_binary_rows, sweep_rows
from juncture.networks.factor_product import MarkovNetwork
from juncture.numerics.iteration import check_no_decrease, iterate
from juncture.numerics.stable import as_probabilities
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

LESS = 1.0 - 1e-9  # of the probability of meeting zeros: sweeps that lower it by less are stuck
SEARCH_SECONDS = 10.0  # for an exact search of one assignment
MODE = frozenset({Question.MODE})


@dataclass(frozen=True, eq=False)
class CoordinateAscent:
    """Sweeps over all nodes: a `FixedPoint` whose lower bound must not fall.

    A row is at its end when no probability changes by more than the tolerance; it then stays as it is, so that its
    answer does not depend on the other rows.
    """

    layout: Layout
    fields: np.ndarray  # (row, state of all nodes): the logarithms of evidence and of factors of one node
    start: np.ndarray  # (row, state of all nodes)
    is_possible: np.ndarray  # (row,)
    tolerance: float
    deadline: float | None = None

    def init(self) -> Course:
        changes = np.where(self.is_possible, np.inf, 0.0)
        return Course(self.start.copy(), np.full(len(self.start), -np.inf), changes)

    def step(self, course: Course) -> Course:
        if self.deadline is not None and course.steps and time.perf_counter() > self.deadline:
            return course._replace(is_cut=True)
        is_active = course.changes > self.tolerance
        bounds, changes = course.bounds.copy(), course.changes.copy()
        sweep(self.layout, self.fields, course.beliefs, is_active, bounds, np.zeros(len(bounds)), changes)
        for row in np.flatnonzero(is_active & ~(bounds >= course.bounds)):
            check_no_decrease(course.bounds[row], bounds[row], course.steps + 1)
        return Course(course.beliefs, bounds, changes, course.steps + 1)

    def change(self, before: Course, after: Course) -> float:
        return 0.0 if after.is_cut else float(after.changes.max(initial=0.0))

    def run(self, max_steps: int) -> Course:
        """The course after the last sweep, with the constant of the model in its bounds."""
        course, _ = iterate(self, tolerance=self.tolerance, max_steps=max_steps)
        return course._replace(bounds=course.bounds + self.layout.constant)


class Course(NamedTuple):
    """Where coordinate ascent is: the distributions, and for each row its lower bound and its last change."""

    beliefs: np.ndarray  # (row, state of all nodes)
    bounds: np.ndarray  # (row,)
    changes: np.ndarray  # (row,): the largest change of a probability in the last sweep; 0 of an impossible row
    steps: int = 0
    is_cut: bool = False  # whether time ran out


def sweep(
    layout: Layout, fields: np.ndarray, beliefs: np.ndarray, is_active: np.ndarray,
    bounds: np.ndarray, excesses: np.ndarray, changes: np.ndarray,
) -> None:  # fmt: skip
    """One sweep of the active rows, in place: lower bounds, how often zeros are met, the largest changes."""

    def sweep_block(rows: slice) -> None:
        parts = beliefs[rows], fields[rows], is_active[rows], bounds[rows]
        if layout.is_binary:
            pairs = layout.pair_starts, layout.neighbors, layout.pair_tables, layout.pair_values
            sweep_binary_rows(*parts, changes[rows], *pairs)
        else:
            given = excesses[rows], changes[rows], layout.operations, layout.factors
            sweep_rows(*parts, *given, *layout.work_arrays())

    map_blocks(sweep_block, len(beliefs), block_rows(beliefs.shape[1:]))


def warn_of_early_end(is_cut: bool) -> None:
    """Warn of an answer that is not yet an optimum."""
    why = "its budget ended" if is_cut else "max_steps are spent"
    warn_user(
        f"mean field has not converged when {why}; its lower bound holds, and the answers are those of its last sweep:"
        " more steps may help",
        NotConvergedWarning,
    )


def normalize_nodes(arrays: FactorArrays, values: np.ndarray) -> np.ndarray:
    """(row, state of all nodes) with a sum of 1 over the states of each node."""
    if not arrays.num_nodes:
        return values
    sums = np.add.reduceat(values, arrays.state_starts[:-1], axis=1)
    return values / np.repeat(sums, arrays.num_states, axis=1)


def start_of(arrays: FactorArrays, model: Network, start: Any) -> np.ndarray:
    """(state of all nodes,): the start as users give it; uniform for what they do not name."""
    values = np.repeat(1.0 / arrays.num_states, arrays.num_states)
    if start is None:
        return values
    if not isinstance(start, Mapping):
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


@dataclass(frozen=True, eq=False)
class Layout:
    """The factors of each node: those with another node, sorted by that node, and those with several others.

    A table of two nodes is there in both directions, its own node's states next to each other. Logarithms of zeros are
    0 in `values` and `pair_values`; in a model with zeros each is followed by as many numbers that are 1 for zeros.
    """

    arrays: FactorArrays
    constant: float  # the sum of the logarithms of factors without nodes
    unary: np.ndarray  # (state of all nodes,): the sum of the logarithms of factors of one node
    pair_starts: np.ndarray  # (node + 1,)
    neighbors: np.ndarray  # the other node of each pair
    pair_tables: np.ndarray  # where the table (other, own) starts
    pair_values: np.ndarray
    large_starts: np.ndarray  # (node + 1,)
    large_factors: np.ndarray  # those first whose other nodes all come before the node
    large_axes: np.ndarray  # the axis of the node in each factor
    num_last: np.ndarray  # (node,): how many these are
    values: np.ndarray
    has_zeros: bool

    @cached_property
    def is_binary(self) -> bool:
        """Whether every node has two states, no factor more than two nodes, and no table of two a zero."""
        return not self.has_zeros and not self.large_factors.size and bool((self.arrays.num_states == 2).all())

    def work_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What a sweep works on: a table of three nodes or more, and twice the states of a node."""
        most = int(self.arrays.num_states.max(initial=1))
        table = int(self.arrays.table_sizes[self.large_factors].max(initial=1))
        return np.empty(table), np.empty(2 * most), np.empty(most)

    @cached_property
    def operations(self) -> int:
        """Of a sweep: a pass over every table for each of its nodes."""
        sizes = np.diff(self.arrays.scope_starts)
        return int((self.arrays.table_sizes * sizes).sum()) + self.arrays.total_states

    @cached_property
    def factors(self) -> NodeFactors:
        """What the kernel of a sweep reads."""
        arrays = self.arrays
        return NodeFactors(
            arrays.state_starts, self.pair_starts, self.neighbors, self.pair_tables, self.pair_values,
            self.large_starts, self.large_factors, self.large_axes, self.num_last, arrays.scope_starts, arrays.scopes,
            arrays.table_starts, self.values, 2 if self.has_zeros else 1,
        )  # fmt: skip


def lay_out(arrays: FactorArrays) -> Layout:
    """The factors of each node of a model."""
    sizes = np.diff(arrays.scope_starts)
    pairs, large = np.flatnonzero(sizes == 2), np.flatnonzero(sizes > 2)
    has_zeros = find_zeros(arrays, np.flatnonzero(sizes > 1))
    return Layout(
        arrays,
        float(arrays.log_values[arrays.table_starts[sizes == 0]].sum()),
        arrays.single_logs,
        **pair_arrays(arrays, pairs, has_zeros),
        **large_arrays(arrays, large),
        values=split_zeros(arrays.log_values, has_zeros),
        has_zeros=has_zeros,
    )


def find_zeros(arrays: FactorArrays, factors: np.ndarray) -> bool:
    """Whether the table of one of these factors has an entry 0."""
    counts = np.concatenate([[0], np.cumsum(np.isneginf(arrays.log_values))])
    starts = arrays.table_starts[factors]
    return bool((counts[starts + arrays.table_sizes[factors]] > counts[starts]).any())


def split_zeros(log_values: np.ndarray, has_zeros: bool) -> np.ndarray:
    """The logarithms with 0 for -inf; for a model with zeros followed by numbers that are 1 where -inf was."""
    is_zero = np.isneginf(log_values)
    return np.concatenate([np.where(is_zero, 0.0, log_values), is_zero]) if has_zeros else log_values


def ranges(starts: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """start, start + 1, …, of each start so many, one after the other; and the counts."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + counts, counts), counts


def pair_arrays(arrays: FactorArrays, factors: np.ndarray, has_zeros: bool) -> dict[str, np.ndarray]:
    """The neighbours of each node by factors of two nodes, and their tables in both directions."""
    first = arrays.scopes[arrays.scope_starts[factors]]
    second = arrays.scopes[arrays.scope_starts[factors] + 1]
    forward, backward, values = two_directions(arrays, factors, first, second)
    nodes, neighbors = np.concatenate([second, first]), np.concatenate([first, second])
    tables = np.concatenate([forward, backward])
    by_neighbor, _ = sort_integers(neighbors, arrays.num_nodes)
    by_node, starts = sort_integers(nodes[by_neighbor], arrays.num_nodes)
    order = by_neighbor[by_node]
    return {
        "pair_starts": starts,
        "neighbors": neighbors[order],
        "pair_tables": tables[order],
        "pair_values": split_zeros(values, has_zeros),
    }


def two_directions(
    arrays: FactorArrays, factors: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the table (first, second) and where (second, first) of each factor starts, and all entries.

    Tables that factors share are shared here too, where their nodes have as many states.
    """
    most = int(arrays.num_states.max(initial=0)) + 1
    shapes = arrays.num_states[first] * most + arrays.num_states[second]
    kinds, kind = np.unique(arrays.table_starts[factors] * most**2 + shapes, return_inverse=True)
    tables = [arrays.log_values[start : start + a * b].reshape(a, b) for start, a, b in split_kinds(kinds, most)]
    starts = offsets([table.size for table in tables])[:-1]
    values = np.concatenate([np.empty(0), *map(np.ravel, tables), *(np.ravel(table.T) for table in tables)])
    return starts[kind], starts[kind] + len(values) // 2, values


def split_kinds(kinds: np.ndarray, most: int) -> Iterator[tuple[int, int, int]]:
    """(start, states of the first node, states of the second) of each kind of table."""
    starts, shapes = np.divmod(kinds, most**2)
    yield from zip(starts.tolist(), (shapes // most).tolist(), (shapes % most).tolist(), strict=True)


def sort_integers(keys: np.ndarray, num_keys: int) -> tuple[np.ndarray, np.ndarray]:
    """The order that sorts some integers, equal ones in their order, in linear time; and where each of them starts."""
    from scipy.sparse import csc_array

    marks = np.ones(len(keys), dtype=np.int8)
    by_key = csc_array((marks, keys, np.arange(len(keys) + 1)), shape=(num_keys, len(keys))).tocsr()
    return by_key.indices.astype(np.int64), by_key.indptr.astype(np.int64)


def large_arrays(arrays: FactorArrays, factors: np.ndarray) -> dict[str, np.ndarray]:
    """The factors of three nodes or more of each node, those first of which the node is the last."""
    counts = np.diff(arrays.scope_starts)[factors]
    cells, _ = ranges(arrays.scope_starts[factors], counts)
    nodes, owners = arrays.scopes[cells], np.repeat(factors, counts)
    axes = cells - arrays.scope_starts[owners]
    last = np.maximum.reduceat(nodes, offsets(counts)[:-1]) if len(factors) else nodes
    is_last = nodes == np.repeat(last, counts)
    order = np.lexsort((owners, ~is_last, nodes))
    return {
        "large_starts": offsets(np.bincount(nodes, minlength=arrays.num_nodes)),
        "large_factors": owners[order],
        "large_axes": axes[order],
        "num_last": np.bincount(nodes[is_last], minlength=arrays.num_nodes).astype(np.int64),
    }
