"""`MaxFlow`: the most probable assignment of an attractive binary pairwise model, as a minimum cut.

A model is attractive if every edge prefers equal states: log ψ(0,0) + log ψ(1,1) ≥ log ψ(0,1) + log ψ(1,0). Its energy
is then a constant plus the weight of a cut that parts the nodes of state 0, on the side of the source, from those of
state 1, and the maximum flow finds the smallest cut (Greig, Porteous and Seheult, 1989). SciPy's flow takes integers:
capacities are scaled and rounded down, so that the flow stays a flow of the true capacities, which bounds the energy
of all assignments from below; the energy of the cut is computed in floats. Cost: seconds for a million nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.errors import Unsupported
from juncture.inference.engines.contract import Cost, Diagnostics, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import BestCodes, check_no_hidden
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, log_likelihoods, node_scope
from juncture.numerics.iteration import ROUNDING
from juncture.runtime.memory import check_memory
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

MODE = frozenset({Question.MODE})
LARGEST = 2**30 - 1  # of the scaled capacities: with the flow in the other direction it stays below 2^31
MAX_FLOWS = 4  # each finds what the rounding of the one before left
SLACK = 1e-12  # an edge that prefers unequal states by less, relative to its table, is rounding
BYTES_PER_EDGE = 150


@dataclass(frozen=True)
class MaxFlow(Engine):
    """The exact mode of an attractive binary pairwise model by a minimum cut, for `most_probable(method="max-flow")`.

    `best.bound` is a proven upper bound of `best.log_joint` over all assignments, from the flow; the answer is `exact`
    if both agree within 1e-9 of their size.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ising((2, 3), coupling=1.0, field=[[0.5, -3.0, 0.5], [0.5, -1.5, 0.5]])
    >>> best = jt.most_probable(model, method="max-flow")
    >>> best.array.tolist(), best.exact, round(best.log_joint, 3), round(best.bound, 3)
    ([[-1, -1, -1], [-1, -1, -1]], True, 9.5, 9.5)
    """

    memory_limit: int | None = None
    name: ClassVar[str] = "max-flow"
    answers: ClassVar[frozenset[Question]] = MODE

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> MaxFlowPlan:
        arrays = factor_arrays(model)
        check_no_hidden(model, arrays, self.name)
        size = float(arrays.num_factors + arrays.num_nodes)
        cost = Cost(1, 4.0, BYTES_PER_EDGE * size, 100.0 * size)
        check_memory(cost.bytes, "a maximum flow", "take a smaller model", self.memory_limit)
        return MaxFlowPlan(cost)


@dataclass(frozen=True, eq=False)
class MaxFlowPlan(EnginePlan):
    """A cut for each row."""

    cost: Cost

    def run(self, model: Network, query: Query) -> BestCodes:
        findings = query.findings
        arrays, scope = factor_arrays(model), node_scope(model)
        pairs = pair_energies(arrays, scope)
        rows = log_likelihoods(arrays, findings)
        codes = np.zeros((len(rows), arrays.num_nodes), dtype=np.int64)
        logs, upper = np.empty(len(rows)), np.empty(len(rows))
        for at, row in enumerate(rows):
            codes[at], upper[at] = minimize(pairs, (arrays.single_logs + row).reshape(-1, 2))
            logs[at] = log_joint(arrays, row, codes[at])
        upper = np.maximum(upper, logs)
        is_close = logs >= upper - ROUNDING * np.maximum(1.0, np.abs(upper))
        bound = float(upper[0]) if findings.is_single else upper
        diagnostics = Diagnostics(exact=bool(is_close.all()), upper=bound)
        return BestCodes(scope, findings, codes, logs, diagnostics, MaxFlow.name)


def log_joint(arrays: FactorArrays, log_unary: np.ndarray, codes: np.ndarray) -> float:
    """The log of the product of the factors and the likelihoods at the codes of all nodes."""
    return float(arrays.log_values[arrays.cells(codes)].sum() + log_unary[arrays.state_starts[:-1] + codes].sum())


# --- the energy as a cut -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairEnergies:
    """constant + Σ_i linear_i x_i + Σ_ij capacity_ij [x_i ≠ x_j], the energy of all factors of two nodes in {0, 1}.

    `slack` is the sum of the negative capacities that were taken as 0.
    """

    constant: float
    linear: np.ndarray  # (node,)
    edges: np.ndarray  # (edge, 2)
    capacity: np.ndarray  # (edge,)
    slack: float

    @property
    def around(self) -> np.ndarray:
        """(node,): the sum of the capacities of each node's edges."""
        return sum_at_ends(self.edges, self.capacity, self.capacity, len(self.linear))


def pair_energies(arrays: FactorArrays, scope: Scope) -> PairEnergies:
    """The factors of two nodes; raises for a model that is not binary, pairwise and attractive."""
    check_sizes(arrays, scope)
    pairs = np.flatnonzero(np.diff(arrays.scope_starts) == 2)
    empty = np.flatnonzero(np.diff(arrays.scope_starts) == 0)
    edges = arrays.scopes[arrays.scope_starts[pairs][:, np.newaxis] + np.arange(2)]
    tables = -arrays.log_values[arrays.table_starts[pairs][:, np.newaxis] + np.arange(4)]
    both_0, only_second, only_first, both_1 = tables.T
    with np.errstate(invalid="ignore"):  # zeros are refused
        capacity = (only_second + only_first - both_0 - both_1) / 2
    check_attractive(tables, capacity, edges, scope)
    first, second = (only_first + both_1 - both_0 - only_second) / 2, (only_second + both_1 - both_0 - only_first) / 2
    return PairEnergies(
        constant=float(both_0.sum() - arrays.log_values[arrays.table_starts[empty]].sum()),
        linear=sum_at_ends(edges, first, second, arrays.num_nodes),
        edges=edges,
        capacity=np.maximum(capacity, 0.0),
        slack=float(np.maximum(-capacity, 0.0).sum()),
    )


def sum_at_ends(edges: np.ndarray, first: np.ndarray, second: np.ndarray, num_nodes: int) -> np.ndarray:
    """(node,): the sums of numbers of the first and of the second ends of all edges."""
    ends = zip(edges.T, (first, second), strict=True)
    return sum((np.bincount(nodes, part, num_nodes) for nodes, part in ends), np.zeros(num_nodes))


def check_sizes(arrays: FactorArrays, scope: Scope) -> None:
    """Raise `Unsupported` unless all nodes have two states and all factors at most two nodes."""
    strange = np.flatnonzero(arrays.num_states != 2)
    if len(strange):
        name = scope.names[int(strange[0])]
        raise Unsupported(f"max-flow takes variables of two states; {name!r} has {arrays.num_states[strange[0]]}")
    large = np.flatnonzero(np.diff(arrays.scope_starts) > 2)
    if len(large):
        names = ", ".join(repr(scope.names[node]) for node in arrays.scope(int(large[0])).tolist())
        raise Unsupported(f"max-flow takes factors of one or two variables; one has {names}: choose another method")


def check_attractive(tables: np.ndarray, capacity: np.ndarray, edges: np.ndarray, scope: Scope) -> None:
    """Raise `Unsupported` for an edge that prefers unequal states or has a zero, with its name."""
    with np.errstate(invalid="ignore"):
        is_fine = np.isfinite(tables).all(axis=1) & (capacity >= -SLACK * np.abs(tables).max(axis=1, initial=0.0))
    if not is_fine.all():
        edge = int(np.flatnonzero(~is_fine)[0])
        names = " and ".join(repr(scope.names[node]) for node in edges[edge].tolist())
        rule = "prefer unequal states" if np.isfinite(tables[edge]).all() else "have a table with a zero"
        raise Unsupported(
            f"max-flow takes attractive models, in which neighbours prefer equal states; {names} {rule}: choose"
            " method='icm', which is not exact, or an exact engine for a small model"
        )


# --- the smallest cut ----------------------------------------------------------------------------------------------


def minimize(pairs: PairEnergies, node_logs: np.ndarray) -> tuple[np.ndarray, float]:
    """The codes (node,) of the lowest energy, and an upper bound of the log of the product over all codes.

    `node_logs` are (node, state). Beyond the sum of its edges the preference of a node changes nothing: it ends there,
    also that of a node with an impossible state.
    """
    low, high = node_logs.T
    if (np.isneginf(low) & np.isneginf(high)).any():
        return np.zeros(len(low), dtype=np.int64), -np.inf
    limit = pairs.around + (pairs.capacity.max(initial=0.0) or 1.0)
    linear = pairs.linear + (low - high)
    cut = np.clip(linear, -limit, limit)
    codes, least = smallest_cut(cut, pairs.edges, pairs.capacity)
    with np.errstate(invalid="ignore"):
        beyond = np.where(np.isneginf(low), pairs.linear - high, np.minimum(linear + limit, 0.0) - limit - low)
    constant = pairs.constant + float((beyond + limit).sum())
    return codes, pairs.slack - constant - least


def smallest_cut(linear: np.ndarray, edges: np.ndarray, capacity: np.ndarray) -> tuple[np.ndarray, float]:
    """The codes that minimise Σ linear_i x_i + Σ capacity_ij [x_i ≠ x_j], and a lower bound of the minimum.

    Where several codes are equally good, x is 0 where it can be. Further flows in what rounding left of the capacities
    close the gap between the minimum and its bound.
    """
    from scipy.sparse.csgraph import maximum_flow

    size, network = len(linear), flow_network(linear, edges, capacity)
    bound, gap = float(np.minimum(linear, 0.0).sum()), np.inf
    codes = np.zeros(size, dtype=np.int64)
    for _ in range(MAX_FLOWS):
        scale = scale_to_integers(network.data)
        scaled = network.astype(np.int32, copy=True)
        scaled.data[:] = np.floor(network.data * scale)
        flow = maximum_flow(scaled, size, size + 1, method="dinic")
        codes = sink_side(scaled - flow.flow, size)
        bound += float(flow.flow_value) / scale
        least = float(linear @ codes + capacity[codes[edges[:, 0]] != codes[edges[:, 1]]].sum())
        gap = least - bound
        if gap <= ROUNDING * max(1.0, abs(least)) / 10:
            break
        network = network - flow.flow / scale
        np.clip(network.data, 0.0, 2 * gap, out=network.data)  # no smallest cut has more
    return codes, bound


def scale_to_integers(values: np.ndarray) -> float:
    """A power of 2 that makes the largest value an integer of SciPy's flows; many numbers then stay exact."""
    largest = float(values.max(initial=0.0))
    return 2.0 ** np.floor(np.log2(LARGEST / largest)) if largest > 0 else 1.0


def sink_side(residual: Any, size: int) -> np.ndarray:
    """(node,): 1 where the sink can still be reached through capacities that are left, 0 elsewhere."""
    from scipy.sparse.csgraph import breadth_first_order

    residual.eliminate_zeros()
    codes = np.zeros(size + 2, dtype=np.int64)
    codes[breadth_first_order(residual.T.tocsr(), size + 1, return_predecessors=False)] = 1
    return codes[:size]


def flow_network(linear: np.ndarray, edges: np.ndarray, capacity: np.ndarray) -> Any:
    """Arcs from the source to nodes that prefer 0, from nodes that prefer 1 to the sink, and along edges both ways."""
    from scipy.sparse import csr_array

    size, (first, second) = len(linear), edges.T
    prefer_0, prefer_1 = np.flatnonzero(linear > 0), np.flatnonzero(linear < 0)
    tails = np.concatenate([first, second, np.full(len(prefer_0), size), prefer_1]).astype(np.int32)
    heads = np.concatenate([second, first, prefer_0, np.full(len(prefer_1), size + 1)]).astype(np.int32)
    values = np.concatenate([capacity, capacity, linear[prefer_0], -linear[prefer_1]])
    return csr_array((values, (tails, heads)), shape=(size + 2, size + 2))
