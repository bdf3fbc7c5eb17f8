"""Ties among best assignments go to the earlier states."""

from __future__ import annotations

import numpy as np

from juncture.inference.exact.best_states import TIE, Allowed, Solver, only


def first_of_ties(solve: Solver, sizes: dict[int, int]) -> Solver:
    """A solver that gives, of equally good answers, the one with the earliest state of the first node, then the next.

    It asks again with later states of a node forbidden, as long as that is as good.
    """

    def solve_first(allowed: Allowed) -> tuple[dict[int, int], float] | None:
        found = solve(allowed)
        if found is None:
            return None
        codes, value = found
        fixed = dict(allowed)
        for node, size in sizes.items():
            earlier = solve_below(solve, fixed, node, codes[node])
            while earlier is not None and earlier[1] >= value - TIE * max(1.0, abs(value)):
                codes = earlier[0]
                earlier = solve_below(solve, fixed, node, codes[node])
            fixed[node] = only(codes[node], size)
        return codes, value

    def solve_below(solve: Solver, fixed: Allowed, node: int, code: int) -> tuple[dict[int, int], float] | None:
        """The best answer in which the node has a state before `code`."""
        weights = fixed.get(node, np.zeros(sizes[node])).copy()
        weights[code:] = -np.inf
        return solve({**fixed, node: weights}) if weights.max() > -np.inf else None

    return solve_first
