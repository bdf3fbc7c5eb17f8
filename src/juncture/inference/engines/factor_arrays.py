"""`FactorArrays`: a product of table factors as flat arrays, for the kernels of approximate engines.

The nodes are the variables of the model in their order, then the hidden variables of its conditionals. Factors with
equal tables share one: a large grid with one coupling has a single table. Evidence enters beside the factors, as the
log-likelihood of each state of each node, one row after the other.

Crude bounds of log p(evidence), and of the log of the product of factors, come from the extreme entries of each table:
one pass over the tables, for every model, since no product of factors exceeds the product of their maxima. The factors
of a single node are kept as they are. The bounds are crude where factors of several nodes contradict each other, and
tell an estimate that is out of reach from one that may be right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.lowering import Lowered, check_factors, lower
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.variables import Scope


@dataclass(frozen=True, eq=False, repr=False)
class FactorArrays:
    """p(x) ∝ Π factors, as integers and the logarithms of table entries.

    Attributes
    ----------
    num_states
        (node,): the number of states of each node.
    scope_starts
        (factor + 1,): where the scope of each factor starts in `scopes`.
    scopes
        The nodes of the first factor in the order of its axes, then those of the second, and so on.
    table_starts
        (factor,): where the table of each factor starts in `log_values`.
    log_values
        The entries of all different tables, in C order; -inf is an entry 0.
    groups
        Of a Bayesian network: child → the factors that its conditional became.
    """

    num_states: np.ndarray
    scope_starts: np.ndarray
    scopes: np.ndarray
    table_starts: np.ndarray
    log_values: np.ndarray
    groups: Mapping[str, slice] = field(default_factory=dict)

    @property
    def num_nodes(self) -> int:
        return len(self.num_states)

    @property
    def num_factors(self) -> int:
        return len(self.table_starts)

    @cached_property
    def state_starts(self) -> np.ndarray:
        """(node + 1,): where the states of each node start in an array of all states."""
        return offsets(self.num_states)

    @property
    def total_states(self) -> int:
        return int(self.state_starts[-1])

    @cached_property
    def table_sizes(self) -> np.ndarray:
        """(factor,): the number of entries of each factor's table."""
        logs = np.log(self.num_states[self.scopes].astype(float))
        sums = np.concatenate([[0.0], np.cumsum(logs)])
        return np.rint(np.exp(np.diff(sums[self.scope_starts]))).astype(np.int64)

    @cached_property
    def edge_factors(self) -> np.ndarray:
        """(edge,): the factor of each edge, a pair of a factor and a node of its scope, in the order of `scopes`."""
        return np.repeat(np.arange(self.num_factors, dtype=np.int64), np.diff(self.scope_starts))

    @cached_property
    def node_starts(self) -> np.ndarray:
        """(node + 1,): where the edges of each node start in `node_edges`."""
        return offsets(np.bincount(self.scopes, minlength=self.num_nodes))

    @cached_property
    def node_edges(self) -> np.ndarray:
        """The edges of the first node in order, then those of the second, and so on."""
        return np.argsort(self.scopes, kind="stable").astype(np.int64)

    def factors_of(self, node: int) -> np.ndarray:
        """The factors whose scope has a node."""
        return self.edge_factors[self.node_edges[self.node_starts[node] : self.node_starts[node + 1]]]

    @cached_property
    def strides(self) -> np.ndarray:
        """For each entry of `scopes` how far apart in the factor's table the states of that node are."""
        strides = np.ones(len(self.scopes), dtype=np.int64)
        ends, sizes = self.scope_starts[1:], np.diff(self.scope_starts)
        for place in range(1, int(sizes.max(initial=0))):  # from the last axis on
            at = ends[sizes > place] - 1 - place
            strides[at] = strides[at + 1] * self.num_states[self.scopes[at + 1]]
        return strides

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """(factor,): the entry of `log_values` of each factor at the codes (node,) of all nodes."""
        steps = np.concatenate([[0], np.cumsum(codes[self.scopes] * self.strides)])
        return self.table_starts + steps[self.scope_starts[1:]] - steps[self.scope_starts[:-1]]

    @cached_property
    def node_entries(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The factors of each node: where they start (node + 1,), the factors, and the strides of the node in them."""
        return self.node_starts, self.edge_factors[self.node_edges], self.strides[self.node_edges]

    @cached_property
    def single_logs(self) -> np.ndarray:
        """(state of all nodes,): the sum of the log tables of the factors that have this node alone."""
        total = np.zeros(self.total_states)
        factors = np.flatnonzero(np.diff(self.scope_starts) == 1)
        nodes = self.scopes[self.scope_starts[factors]]
        for state in range(int(self.num_states[nodes].max(initial=0))):
            has_state = self.num_states[nodes] > state
            at = self.state_starts[nodes[has_state]] + state
            np.add.at(total, at, self.log_values[self.table_starts[factors[has_state]] + state])
        return total

    def scope(self, factor: int) -> np.ndarray:
        """The nodes of a factor, in the order of the axes of its table."""
        return self.scopes[self.scope_starts[factor] : self.scope_starts[factor + 1]]

    def log_table(self, factor: int) -> np.ndarray:
        """The logarithms of a factor's entries, with an axis for each node."""
        start, shape = self.table_starts[factor], self.num_states[self.scope(factor)]
        return self.log_values[start : start + int(np.prod(shape))].reshape(shape)

    def __repr__(self) -> str:
        return f"FactorArrays({self.num_nodes} nodes, {self.num_factors} factors, {self.log_values.size} entries)"


def offsets(sizes: Any) -> np.ndarray:
    """0 and the cumulative sums of some sizes, as integers."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)


@singledispatch
def factor_arrays(model: Network) -> FactorArrays:
    """The factors of a model as flat arrays, which are kept with the model."""
    check_factors(model, "inference")
    if "factor arrays" not in model.derived:
        lowered = lower(model)
        if any(variable.is_real for variable in lowered.variables):
            real = next(variable.name for variable in lowered.variables if variable.is_real)
            raise Unsupported(f"this engine takes variables with states; {real!r} is real-valued")
        model.derived["factor arrays"] = arrays_of(lowered)
    arrays: FactorArrays = model.derived["factor arrays"]
    return arrays


def arrays_of(lowered: Lowered) -> FactorArrays:
    """The arrays of factors over the variables and the hidden variables of a lowered model."""
    nodes = {name: node for node, name in enumerate(lowered.scope.names)}
    scopes = [[nodes[name] for name in factor.scope.names] for factor in lowered.factors]
    starts, log_values = join_tables(lowered.factors)
    return FactorArrays(
        num_states=np.array(lowered.scope.shape, dtype=np.int64),
        scope_starts=offsets([len(scope) for scope in scopes]),
        scopes=np.array([node for scope in scopes for node in scope], dtype=np.int64),
        table_starts=starts,
        log_values=log_values,
        groups=lowered.groups,
    )


def join_tables(factors: Sequence[Factor]) -> tuple[np.ndarray, np.ndarray]:
    """Where each factor's table starts among the different tables, and the logarithms of their entries."""
    known: dict[tuple[tuple[int, ...], bytes], int] = {}
    tables: list[np.ndarray] = []
    starts, size = np.empty(len(factors), dtype=np.int64), 0
    for index, factor in enumerate(factors):
        key = factor.log_values.shape, factor.log_values.tobytes()
        if key not in known:
            known[key] = size
            tables.append(np.ravel(factor.log_values))
            size += factor.log_values.size
        starts[index] = known[key]
    return starts, np.concatenate([np.empty(0), *tables])


@factor_arrays.register
def _(model: PairwiseNetwork) -> FactorArrays:
    if "factor arrays" not in model.derived:
        model.derived["factor arrays"] = pairwise_arrays(model)
    arrays: FactorArrays = model.derived["factor arrays"]
    return arrays


@singledispatch
def node_scope(model: Network) -> Scope:
    """The variables of all nodes: those of the model, then the hidden ones of its conditionals."""
    return lower(model).scope


@node_scope.register
def _(model: PairwiseNetwork) -> Scope:
    return model.variables


def pairwise_arrays(model: PairwiseNetwork) -> FactorArrays:
    """The arrays of a pairwise model: the factors of the nodes, unless all are constant, then those of the edges."""
    num_states, edges = model.num_states, np.arange(model.num_edges, dtype=np.int64)
    unary, singles = np.empty((0, num_states)), np.empty(0, dtype=np.int64)
    if model.has_unary:
        is_shared = bool((model.log_unary == model.log_unary[0]).all())
        unary = model.log_unary[:1] if is_shared else model.log_unary
        singles = np.arange(model.num_nodes, dtype=np.int64)
    single_starts = singles * (num_states if len(unary) > 1 else 0)
    pair_starts = unary.size + edges * (num_states**2 if len(model.log_pairwise) > 1 else 0)
    return FactorArrays(
        num_states=np.full(model.num_nodes, num_states, dtype=np.int64),
        scope_starts=np.concatenate([singles, len(singles) + 2 * np.arange(model.num_edges + 1, dtype=np.int64)]),
        scopes=np.concatenate([singles, model.edges.ravel()]),
        table_starts=np.concatenate([single_starts, pair_starts]),
        log_values=np.concatenate([unary.ravel(), model.log_pairwise.ravel()]),
    )


def log_likelihoods(arrays: FactorArrays, findings: Findings) -> np.ndarray:
    """(row, state of all nodes): log p(evidence | state), 0 where nothing is known."""
    logs = np.zeros((findings.num_rows, arrays.total_states))
    observed = set(findings.names)
    for node, variable in enumerate(findings.variables) if observed else ():
        if variable.name in observed:
            start, stop = arrays.state_starts[node : node + 2]
            logs[:, start:stop] = findings.log_likelihood(variable.name)
    return logs


def bound_log_evidence(model: Network, arrays: FactorArrays, likelihoods: np.ndarray) -> np.ndarray:
    """(row,): an upper bound of log p(evidence); `likelihoods` (row, state of all nodes) are logarithms."""
    starts = arrays.state_starts[:-1]
    sums = np.logaddexp.reduceat(likelihoods + arrays.single_logs, starts, axis=1).sum(axis=1)
    bound = sums + sum_of_maxima(arrays)
    if isinstance(model, BayesianNetwork):  # whose probabilities sum to 1
        bound = np.minimum(bound, np.maximum.reduceat(likelihoods, starts, axis=1).sum(axis=1))
    return np.asarray(bound)


def bound_log_joint(arrays: FactorArrays, likelihoods: np.ndarray) -> np.ndarray:
    """(row,): an upper bound of the log of the product of all factors and likelihoods at the best states."""
    best = np.maximum.reduceat(likelihoods + arrays.single_logs, arrays.state_starts[:-1], axis=1)
    return np.asarray(best.sum(axis=1) + sum_of_maxima(arrays))


def least_log_joint(arrays: FactorArrays, likelihoods: np.ndarray) -> np.ndarray:
    """(row,): no states that are possible have a smaller log of the product of all factors and likelihoods.

    So log p(evidence) is not smaller either, unless it is -inf.
    """
    positive = np.minimum.reduceat(without_zeros(likelihoods + arrays.single_logs), arrays.state_starts[:-1], axis=1)
    least = sum_of_tables(arrays, without_zeros(arrays.log_values), np.minimum)
    return np.asarray(positive.sum(axis=1) + least)


def without_zeros(logs: np.ndarray) -> np.ndarray:
    """Logarithms in which those of zeros are larger than any."""
    return np.where(np.isneginf(logs), np.inf, logs)


def sum_of_maxima(arrays: FactorArrays) -> float:
    """The sum of the largest logarithms of the tables of all factors, but for those of a single node."""
    return sum_of_tables(arrays, arrays.log_values, np.maximum)


def sum_of_tables(arrays: FactorArrays, log_values: np.ndarray, choose: np.ufunc) -> float:
    """The sum of the extreme logarithms of the tables of all factors, but for those of a single node."""
    starts = arrays.table_starts[np.diff(arrays.scope_starts) != 1]
    if not starts.size:
        return 0.0
    tables = np.unique(arrays.table_starts)
    return float(choose.reduceat(log_values, tables)[np.searchsorted(tables, starts)].sum())
