"""Which blocks let a chain reach every state: the support of the target, where it is small enough to be listed.

A Gibbs sampler of single nodes stays for ever where every change of one node meets a zero. Blocks help: two states
that differ in a block only are reached from each other. A component of nodes that share factors with zeros is checked
by itself: its possible joint states are listed, and those that agree outside a block are joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from juncture.inference.sampling.markov_chains.blocks import MAX_CELLS, MAX_STATES, joint_states
from juncture.inference.sampling.markov_chains.targets import Target

MAX_FACTOR_STATES = 2**11  # possible states of a block that is the scope of a factor


@dataclass(frozen=True)
class Cover:
    """Blocks that hold every free node, and whether a chain that draws them reaches every state: None if unknown."""

    blocks: tuple[tuple[int, ...], ...]
    is_irreducible: bool | None


def single_blocks(target: Target) -> Cover:
    """Each free node is a block."""
    blocks = tuple((int(node),) for node in target.free)
    return Cover(blocks, check_blocks(target, blocks))


def connecting_blocks(target: Target) -> Cover:
    """Single nodes where they suffice; else the scopes of factors with zeros, or a whole component."""
    joined: dict[tuple[int, ...], None] = {}
    verdicts: list[bool | None] = [True]
    for component in target.components:
        nodes = component_nodes(target, component)
        singles = [(node,) for node in nodes]
        verdict = is_connected(target, component, singles)
        if verdict is not True:
            scopes = [scope for scope in map(tuple, scopes_of(target, component)) if is_small(target, scope)]
            verdict = is_connected(target, component, [*scopes, *singles])
            if verdict is False and prod(int(target.num_allowed[node]) for node in nodes) <= MAX_STATES:
                scopes, verdict = [tuple(nodes)], True
            joined.update(dict.fromkeys(scope for scope in maximal(scopes) if len(scope) > 1))
        verdicts.append(verdict)
    covered = {node for block in joined for node in block}
    blocks = (*joined, *((int(node),) for node in target.free if node not in covered))
    return Cover(blocks, combine(verdicts))


def check_blocks(target: Target, blocks: Sequence[tuple[int, ...]]) -> bool | None:
    """Whether blocks that hold all free nodes connect the support; None if that is too large to be listed."""
    return combine([is_connected(target, component, blocks) for component in target.components])


def combine(verdicts: Sequence[bool | None]) -> bool | None:
    """False if one is, else None if one is, else True."""
    return False if False in verdicts else None if None in verdicts else True


def is_connected(target: Target, component: Sequence[int], blocks: Sequence[tuple[int, ...]]) -> bool | None:
    """Whether changes within blocks lead from each possible state of a component to every other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes = component_nodes(target, component)
    if prod(int(target.num_allowed[node]) for node in nodes) > MAX_CELLS:
        return None
    states = support_of(target, component, nodes)
    if len(states) < 2:
        return True
    rows, columns, num_groups = [], [], 0
    for block in {tuple(nodes.index(node) for node in block if node in nodes) for block in blocks}:
        if not block:
            continue
        others = np.delete(states, block, axis=1)
        groups = np.unique(others, axis=0, return_inverse=True)[1].ravel() if others.shape[1] else np.zeros(len(states))
        rows.append(np.arange(len(states)))
        columns.append(len(states) + num_groups + groups.astype(np.int64))
        num_groups += int(groups.max()) + 1
    size = len(states) + num_groups
    pairs = (np.concatenate(rows), np.concatenate(columns))
    count, _ = connected_components(coo_array((np.ones(len(pairs[0])), pairs), shape=(size, size)), directed=False)
    return bool(count == 1)


def support_of(target: Target, component: Sequence[int], nodes: list[int]) -> np.ndarray:
    """(state, node): the joint states of a component at which none of its factors is zero."""
    states = joint_states(target, nodes)
    is_possible = np.ones(len(states), np.bool_)
    for factor in component:
        scope, strides = target.free_scope(factor)
        place = target.bases[factor] + states[:, [nodes.index(int(node)) for node in scope]] @ strides
        is_possible &= target.arrays.log_values[place] > -np.inf
    return states[is_possible]


def component_nodes(target: Target, component: Sequence[int]) -> list[int]:
    return sorted({int(node) for factor in component for node in target.free_scope(factor)[0]})


def scopes_of(target: Target, component: Sequence[int]) -> list[list[int]]:
    return [sorted(target.free_scope(factor)[0].tolist()) for factor in component]


def is_small(target: Target, scope: Sequence[int]) -> bool:
    return prod(int(target.num_allowed[node]) for node in scope) <= MAX_FACTOR_STATES


def maximal(scopes: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The scopes that are part of no other scope."""
    distinct = sorted(set(scopes), key=len, reverse=True)
    kept: list[tuple[int, ...]] = []
    for scope in distinct:
        if not any(set(scope) <= set(other) for other in kept):
            kept.append(scope)
    return kept
