"""`Target`: the distribution of the free nodes of a product of factors given one row of evidence.

Markov chains move on the free nodes; nodes that the evidence leaves one state keep it. Zeros decide what a chain can
reach: free nodes that share a factor with zeros form a component, and the support of the target is the product of
the supports of its components.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import JunctureError, Unsupported
from juncture.inference.engines.factor_arrays import FactorArrays, node_scope
from juncture.inference.variational.coordinate_ascent import find_assignment
from juncture.kernels.sampling.blocks import GIBBS, sweep_blocks

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


@dataclass(frozen=True, eq=False)
class Target:
    """p(x) ∝ Π factors · Π likelihoods, where some nodes are fixed.

    Attributes
    ----------
    arrays
        The factors.
    field
        (state of all nodes,): the log-likelihood of the evidence.
    """

    arrays: FactorArrays
    field: np.ndarray

    @cached_property
    def num_allowed(self) -> np.ndarray:
        """(node,): how many states the evidence leaves each node."""
        if not self.arrays.num_nodes:
            return np.zeros(0, np.int64)
        return np.add.reduceat((self.field > -np.inf).astype(np.int64), self.arrays.state_starts[:-1])

    @cached_property
    def fixed(self) -> np.ndarray:
        """(node,): the code of each node that has one state left; -1 for free nodes."""
        allowed = np.flatnonzero(self.field > -np.inf)
        owners = np.searchsorted(self.arrays.state_starts, allowed, side="right") - 1
        codes = np.full(self.arrays.num_nodes, -1, np.int64)
        is_only = self.num_allowed[owners] == 1
        codes[owners[is_only]] = allowed[is_only] - self.arrays.state_starts[owners[is_only]]
        return codes

    @cached_property
    def free(self) -> np.ndarray:
        """The nodes that have several states left."""
        return np.flatnonzero(self.fixed < 0)

    @cached_property
    def bases(self) -> np.ndarray:
        """(factor,): where the table of each factor starts in `log_values`, given the codes of the fixed nodes."""
        arrays = self.arrays
        steps = np.where(self.fixed < 0, 0, self.fixed)[arrays.scopes] * arrays.strides
        sums = np.concatenate([[0], np.cumsum(steps)])
        return arrays.table_starts + sums[arrays.scope_starts[1:]] - sums[arrays.scope_starts[:-1]]

    def states(self, node: int) -> np.ndarray:
        """The codes of a node that the evidence allows."""
        return np.flatnonzero(self.node_field(node) > -np.inf)

    def node_field(self, node: int) -> np.ndarray:
        """(state,): the log-likelihood of the states of a node."""
        return self.field[self.arrays.state_starts[node] : self.arrays.state_starts[node + 1]]

    def free_scope(self, factor: int) -> tuple[np.ndarray, np.ndarray]:
        """The free nodes of a factor, and their strides in its table."""
        place = slice(self.arrays.scope_starts[factor], self.arrays.scope_starts[factor + 1])
        scope, strides = self.arrays.scopes[place], self.arrays.strides[place]
        is_free = self.fixed[scope] < 0
        return scope[is_free], strides[is_free]

    def table(self, factor: int) -> np.ndarray:
        """The logs of a factor at the allowed states of its free nodes, with an axis for each."""
        nodes, strides = self.free_scope(factor)
        place = np.asarray(self.bases[factor])
        for axis, (node, stride) in enumerate(zip(nodes, strides, strict=True)):
            shape = [-1 if other == axis else 1 for other in range(len(nodes))]
            place = place + (self.states(int(node)) * stride).reshape(shape)
        return self.arrays.log_values[place]

    @cached_property
    def zero_factors(self) -> list[int]:
        """The factors that are zero for some allowed states of their free nodes."""
        arrays = self.arrays
        if not np.isneginf(arrays.log_values).any():
            return []
        ends = arrays.table_starts + arrays.table_sizes
        zeros = np.concatenate([[0], np.cumsum(np.isneginf(arrays.log_values))])
        some = np.flatnonzero(zeros[ends] > zeros[arrays.table_starts])
        return [int(factor) for factor in some if np.isneginf(self.table(int(factor))).any()]

    @cached_property
    def components(self) -> list[list[int]]:
        """The factors with zeros, by components: those of one share free nodes, directly or through others."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        scopes = [self.free_scope(factor)[0] for factor in self.zero_factors]
        lengths = [len(scope) for scope in scopes]
        if not sum(lengths):
            return [[factor] for factor in self.zero_factors]
        rows, columns = np.repeat(np.arange(len(scopes)), lengths), np.concatenate(scopes)
        size = len(scopes) + self.arrays.num_nodes
        graph = coo_array((np.ones(len(rows)), (rows, len(scopes) + columns)), shape=(size, size))
        _, labels = connected_components(graph, directed=False)
        groups: dict[int, list[int]] = {}
        for factor, label in zip(self.zero_factors, labels, strict=False):
            groups.setdefault(int(label), []).append(factor)
        return list(groups.values())

    def log_joint(self, codes: np.ndarray) -> float:
        """Log of the product of all factors and likelihoods at the codes (node,)."""
        return float(self.log_joints(codes[np.newaxis])[0])

    def log_joints(self, codes: np.ndarray, log_values: np.ndarray | None = None) -> np.ndarray:
        """(assignment,): the same at codes (assignment, node), with other logs of the tables if they are given."""
        arrays = self.arrays
        logs = arrays.log_values if log_values is None else log_values
        steps = np.zeros((len(codes), len(arrays.scopes) + 1), np.int64)
        np.cumsum(codes[:, arrays.scopes] * arrays.strides, axis=1, out=steps[:, 1:])
        cells = arrays.table_starts + steps[:, arrays.scope_starts[1:]] - steps[:, arrays.scope_starts[:-1]]
        return np.asarray(logs[cells].sum(axis=1) + self.field[arrays.state_starts[:-1] + codes].sum(axis=1))


PENALTIES = 2.0 ** np.arange(0.0, 6.5, 0.5)
SWEEPS = 10  # at each penalty
ATTEMPTS = 5
WEIGHTED_DRAWS = 500  # of importance sampling
LayoutArrays = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], np.ndarray]
ONE = np.ones(1)  # the power of the target itself


def importance_starts(model: Network, findings: Findings, count: int, rng: np.random.Generator) -> np.ndarray | None:
    """(chain, node): starts drawn from weighted draws of the posterior; None where there are none."""
    from juncture.inference.sampling.importance import ImportanceSampling

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draws = ImportanceSampling(draws=WEIGHTED_DRAWS).draw(model, findings, WEIGHTED_DRAWS, rng)
    except JunctureError:
        return None
    if draws.names != node_scope(model).names:  # conditionals with hidden variables
        return None
    picked = rng.choice(draws.weights.size, count, p=draws.weights.ravel())
    return np.stack([draws[name].reshape(-1)[picked] for name in draws.names], axis=1).astype(np.int64)


def is_refuted(target: Target) -> bool:
    """Whether the evidence leaves a node no state, or a factor of fixed nodes is zero."""
    if (target.num_allowed == 0).any():
        return True
    arrays = target.arrays
    has_free = np.concatenate([[0], np.cumsum(target.fixed[arrays.scopes] < 0)])
    is_fixed = has_free[arrays.scope_starts[1:]] == has_free[arrays.scope_starts[:-1]]
    return bool(np.isneginf(arrays.log_values[target.bases[is_fixed]]).any())


def random_codes(target: Target, uniforms: np.ndarray) -> np.ndarray:
    """(node,): one of the states that the evidence leaves each node, all alike, from uniforms (node,)."""
    allowed = np.flatnonzero(target.field > -np.inf)
    starts = np.concatenate([[0], np.cumsum(target.num_allowed)])[:-1]
    picked = starts + (uniforms * target.num_allowed).astype(np.int64)
    return (allowed[picked] - target.arrays.state_starts[:-1]).astype(np.int64)


def find_start(
    target: Target, layout_arrays: LayoutArrays, num_blocks: int, rng: np.random.Generator, uniforms: np.ndarray
) -> np.ndarray | None:
    """(node,): a state of positive probability, found from that of the uniforms (node,); None if there is none.

    `layout_arrays` are those of a `BlockLayout` without tables of conditional probabilities.
    """
    codes = random_codes(target, uniforms)
    if not target.zero_factors:
        return codes
    of_blocks, of_entries, cumulative = layout_arrays
    orders, nobody, nothing = np.arange(num_blocks)[np.newaxis], np.empty(0, np.int64), np.empty((0, 0), np.int64)
    for _ in range(ATTEMPTS):
        for penalty in PENALTIES:
            logs = np.where(np.isneginf(target.arrays.log_values), -penalty, target.arrays.log_values)
            drawn = rng.random((SWEEPS, num_blocks))
            sweep_blocks(of_blocks, of_entries, logs, cumulative, orders, ONE, drawn, codes, nobody, nothing, GIBBS)
            if target.log_joint(codes) > -np.inf:
                return codes
        codes = random_codes(target, rng.random(len(uniforms)))
    try:
        return find_assignment(target.arrays, target.field, 0)
    except Unsupported as error:
        raise Unsupported(
            "the chain found no state of positive probability to start from: factors have zeros, and the model is too"
            " large for an exact search; observe less, or infer by another method"
        ) from error
