"""Whether a variable that never changed in any chain is certain, or whether the chains are stuck in one of two modes.

A chain that never saw another state of a variable cannot tell: its conditional may favour the present state because
the other is rare, or because all its neighbours would have to change with it. So the other state is tried: the variable
is held there for some sweeps, in which the others follow. The mean of log p over the sweeps, held and free, compares
the two modes; where the held one is about as probable, so that it should have been met, the chains are stuck.
"""

from __future__ import annotations

import numpy as np

from juncture.errors import ImpossibleEvidence
from juncture.inference.sampling.markov_chains.block_transition import BlockTransition
from juncture.inference.sampling.markov_chains.chains import Chain, Spread
from juncture.inference.sampling.markov_chains.start_states import is_refuted
from juncture.inference.sampling.markov_chains.support import connecting_blocks
from juncture.inference.sampling.markov_chains.targets import Target

SWEEPS = 60  # of which the last half is looked at
MOST_TRIED = 8  # variables of a row, evenly spread among those that never changed
MOST_NODES = 256  # of a model whose states are held
ALLOWED = 3.0  # times the least probability that effective draws are sure to meet


def stuck_nodes(
    target: Target, unchanged: np.ndarray, codes: np.ndarray, size: float, rng: np.random.Generator
) -> list[int]:
    """Those of the nodes that never changed which have another state that is too probable to have been missed.

    `codes` (chain, node) is where the chains are, `size` their effective sample size.
    """
    if not len(unchanged) or target.arrays.num_nodes >= MOST_NODES:
        return []
    tried = unchanged[np.linspace(0, len(unchanged) - 1, min(MOST_TRIED, len(unchanged))).astype(int)]
    least = mean_log_joint(target, target, codes, rng) + np.log(ALLOWED / size)
    return [int(node) for node in tried if best_elsewhere(target, int(node), codes, rng) > least]


def best_elsewhere(target: Target, node: int, codes: np.ndarray, rng: np.random.Generator) -> float:
    """The largest mean of log p where a node is held at a state in which no chain is; -inf if none is possible."""
    found = -np.inf
    for state in set(target.states(node).tolist()) - set(codes[:, node].tolist()):
        held = hold(target, node, state)
        moved = codes.copy()
        moved[:, node] = state
        found = max(found, mean_log_joint(target, held, moved, rng))
    return found


def hold(target: Target, node: int, state: int) -> Target:
    """The same target where a node has one state left."""
    field, start = target.field.copy(), target.arrays.state_starts[node]
    others = np.arange(start, target.arrays.state_starts[node + 1]) != start + state
    field[start : target.arrays.state_starts[node + 1]][others] = -np.inf
    return Target(target.arrays, field)


def mean_log_joint(target: Target, held: Target, codes: np.ndarray, rng: np.random.Generator) -> float:
    """The mean of log p over sweeps of the held target from the codes of each chain; -inf where it is impossible."""
    if is_refuted(held):
        return -np.inf
    move = BlockTransition(held, connecting_blocks(held).blocks, np.arange(held.arrays.num_nodes))
    totals = []
    for start, child in zip(codes, rng.spawn(len(codes)), strict=True):
        first, kept = start.astype(np.int64), np.empty((SWEEPS, held.arrays.num_nodes), np.int64)
        try:
            if held.log_joint(first) == -np.inf:
                first = move.start(child, Spread.of(child))
        except ImpossibleEvidence:
            return -np.inf
        move.advance(Chain(first, child, np.zeros(2, np.uint64)), SWEEPS, kept)
        totals.append(target.log_joints(kept[SWEEPS // 2 :]).mean())
    return float(np.mean(totals))
