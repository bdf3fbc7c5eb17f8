"""`ReducedFactors`: the factors of a model given one row of evidence, without the states that it rules out.

A state is impossible where no entry of some factor supports it together with possible states of the other nodes; it is
dropped, until nothing changes (Mackworth 1977, arc consistency). Nodes with one state left are cut out of the factors,
and factors whose scope lies in that of another are multiplied into it; states that only these products rule out are
dropped too. What is left may be far smaller than the model: of genetic linkage problems often half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.inference.exact.elimination import LogFactor, multiply


@dataclass(frozen=True, eq=False)
class ReducedFactors:
    """Factors over the free nodes, numbered anew, and the states that each node of the model can still have."""

    states: tuple[np.ndarray, ...]  # for each node of the model its possible states
    free: np.ndarray  # the nodes of the model that have more than one of them
    factors: tuple[LogFactor, ...]  # over 0, 1, …: positions in `free`
    log_scale: float  # the log of the product of all entries without a free node; -inf where nothing is possible

    @cached_property
    def num_states(self) -> np.ndarray:
        """(free node,)."""
        return np.array([len(self.states[node]) for node in self.free], dtype=np.int64)

    @cached_property
    def position(self) -> dict[int, int]:
        """Node of the model → its position among the free nodes."""
        return {int(node): place for place, node in enumerate(self.free)}

    @property
    def scopes(self) -> list[tuple[int, ...]]:
        return [factor.nodes for factor in self.factors]

    def widen(self, nodes: Sequence[int], table: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        """A table over the free ones of some nodes of the model, with zeros for the states that are impossible."""
        whole = np.zeros(tuple(shape))
        kept = [self.states[node] for node in nodes]
        whole[np.ix_(*kept)] = table.reshape([len(states) for states in kept])
        return whole


def reduce_factors(arrays: FactorArrays, log_likelihood: np.ndarray) -> ReducedFactors:
    """The factors given one row of evidence, as log-likelihoods of all states of all nodes."""
    logs = np.split(log_likelihood, arrays.state_starts[1:-1]) if arrays.num_nodes else []
    tables = [LogFactor(tuple(arrays.scope(f).tolist()), arrays.log_table(f)) for f in range(arrays.num_factors)]
    masks = possible_states([tables[f] for f in factors_with_zeros(arrays)], [log > -np.inf for log in logs])
    states = tuple(np.flatnonzero(mask) for mask in masks)
    free = np.array([node for node, kept in enumerate(states) if len(kept) > 1], dtype=np.int64)
    if not all(len(kept) for kept in states):
        return ReducedFactors(states, free, (), -np.inf)
    position = {int(node): place for place, node in enumerate(free)}
    soft = [LogFactor((node,), logs[node]) for node in range(arrays.num_nodes) if logs[node].any()]
    reduced = [reduce_table(factor, states, position) for factor in (*tables, *soft)]
    factors = absorb([factor for factor in reduced if factor.nodes])
    products = [factor for factor in factors if np.isneginf(factor.logs).any()]
    supported = possible_states(products, [np.ones(len(states[node]), dtype=bool) for node in free])
    if not all(mask.all() for mask in supported):
        dropped = [arrays.state_starts[node] + states[node][~supported[place]] for node, place in position.items()]
        ruled_out = log_likelihood.copy()
        ruled_out[np.concatenate(dropped)] = -np.inf
        return reduce_factors(arrays, ruled_out)
    return ReducedFactors(states, free, factors, float(sum(f.logs for f in reduced if not f.nodes)))


def factors_with_zeros(arrays: FactorArrays) -> list[int]:
    """The factors that have an entry 0."""
    counts = np.concatenate([[0], np.cumsum(arrays.log_values == -np.inf)])
    starts = arrays.table_starts
    return np.flatnonzero(counts[starts + arrays.table_sizes] > counts[starts]).tolist()


def possible_states(
    factors: Sequence[LogFactor], masks: Sequence[np.ndarray], changed: Sequence[int] | None = None
) -> list[np.ndarray]:
    """For each node which states are possible: what all factors leave of the given masks.

    Where only the masks of the `changed` nodes are new, the factors of these are looked at first.
    """
    masks = list(masks)
    around: list[list[int]] = [[] for _ in masks]
    for index, factor in enumerate(factors):
        for node in factor.nodes:
            around[node].append(index)
    waiting = dict.fromkeys(
        range(len(factors)) if changed is None else [index for node in changed for index in around[node]]
    )
    while waiting:
        nodes, logs = factors[index := next(iter(waiting))]
        del waiting[index]
        inside = logs[np.ix_(*(masks[node] for node in nodes))] > -np.inf
        for axis, node in enumerate(nodes):
            kept = inside.any(axis=tuple(other for other in range(len(nodes)) if other != axis))
            if not kept.all():
                masks[node] = masks[node].copy()
                masks[node][masks[node]] = kept
                inside = np.compress(kept, inside, axis=axis)
                waiting.update(dict.fromkeys(other for other in around[node] if other != index))
    return masks


def reduce_table(factor: LogFactor, states: Sequence[np.ndarray], position: dict[int, int]) -> LogFactor:
    """The factor over the possible states of its free nodes."""
    logs = factor.logs[np.ix_(*(states[node] for node in factor.nodes))]
    nodes = tuple(position[node] for node in factor.nodes if node in position)
    return LogFactor(nodes, logs.reshape([len(states[node]) for node in factor.nodes if node in position]))


def absorb(factors: Sequence[LogFactor]) -> tuple[LogFactor, ...]:
    """The same product: each factor whose scope lies in that of a larger one is multiplied into the smallest such."""
    order = sorted(range(len(factors)), key=lambda index: (-len(factors[index].nodes), index))
    groups: list[list[LogFactor]] = []
    around: dict[int, list[int]] = {}  # node → the groups that have it
    for factor in (factors[index] for index in order):
        common = set.intersection(*(set(around.get(node, ())) for node in factor.nodes))
        if common:
            groups[min(common, key=lambda group: (groups[group][0].logs.size, group))].append(factor)
            continue
        for node in factor.nodes:
            around.setdefault(node, []).append(len(groups))
        groups.append([factor])
    return tuple(multiply(group) for group in groups)
