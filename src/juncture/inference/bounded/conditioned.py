"""A lower bound of log Z: some nodes are fixed, so that exact elimination of the others needs small tables only.

Z is a sum over the states of the fixed nodes, and no term is negative, so each term is a lower bound (conditioning on
a cutset: Pearl 1988, Dechter 1990). The states are the most probable ones by approximate beliefs, one node after the
other; states that zeros rule out are skipped. Unlike a bound by Hölder's inequality it stands zeros.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from juncture.inference.bounded.reduced_factors import ReducedFactors, possible_states
from juncture.inference.exact.elimination import plan_elimination, plan_steps, reduce_factor


def conditioned_bound(
    reduced: ReducedFactors, order: Sequence[int], bound: int, beliefs: Sequence[np.ndarray]
) -> float:
    """The log of the sum over all nodes but a cutset, which is fixed; -inf where no possible states were found."""
    cutset = find_cutset(reduced.scopes, reduced.num_states, order, bound)
    codes = fix_states(reduced, cutset, beliefs)
    if codes is None:
        return -np.inf
    factors = [reduce_factor(factor, codes) for factor in reduced.factors]
    free = [node for node in order if node not in codes]
    scopes = [factor.nodes for factor in factors]
    elimination = plan_elimination(scopes, reduced.num_states, keep=frozenset(codes), order=free)
    left, _ = elimination.run(factors)
    return reduced.log_scale + float(left.logs)


def find_cutset(scopes: Sequence[Sequence[int]], num_states: np.ndarray, order: Sequence[int], bound: int) -> list[int]:
    """Nodes without which no step of an elimination has more than bound + 1 nodes, unless a single factor has.

    While a step has more, the nodes of the largest one that occur in most of those too large are taken out.
    """
    cutset: set[int] = set()
    while True:
        inside = [[node for node in scope if node not in cutset] for scope in scopes]
        steps, _ = plan_steps(inside, num_states, [node for node in order if node not in cutset])
        large = [(*step.nodes, step.node) for step in steps if len(step.nodes) > bound]
        if not large:
            return [node for node in order if node in cutset]
        counts = Counter(node for nodes in large for node in nodes)
        largest = max(large, key=len)
        frequent = sorted(largest, key=lambda node: (-counts[node], node))
        cutset.update(frequent[: len(largest) - bound - 1])


def fix_states(reduced: ReducedFactors, cutset: Sequence[int], beliefs: Sequence[np.ndarray]) -> dict[int, int] | None:
    """For each node of the cutset its most probable state that is possible, the most certain nodes first."""
    with_zeros = [factor for factor in reduced.factors if np.isneginf(factor.logs).any()]
    masks = [np.ones(count, dtype=bool) for count in reduced.num_states]
    codes: dict[int, int] = {}
    for node in sorted(cutset, key=lambda node: -float(beliefs[node].max())):
        if not masks[node].any():
            return None
        codes[node] = int(np.where(masks[node], beliefs[node], -1.0).argmax())
        masks[node] = np.arange(len(masks[node])) == codes[node]
        masks = possible_states(with_zeros, masks, [node])
    return codes
