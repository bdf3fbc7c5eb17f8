"""The k most probable joint states of some nodes, by a partition of what is left (Lawler 1972, Nilsson 1998).

The best assignment is found by a solver. The assignments other than it fall into cells: those that agree with it on the
first i - 1 nodes and differ at the i-th. The best of each cell is found the same way, and the best of all these is
the next one, whose own cell is then split again.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

import numpy as np

TIE = 1e-12  # two logarithms this close stand for the same product
Allowed: TypeAlias = dict[int, np.ndarray]
"""Node → log-weight of each of its states, 0 where it may be and -inf where not."""
Solver: TypeAlias = Callable[[Allowed], tuple[dict[int, int], float] | None]
"""The best codes by node that are allowed, and the log of their product; None if nothing is possible."""


@dataclass(order=True)
class Cell:
    """The assignments that are allowed, with the best of them."""

    cost: float  # rounded, so that equal products tie
    in_order: tuple[int, ...]
    number: int
    value: float = field(compare=False)
    codes: dict[int, int] = field(compare=False)
    allowed: Allowed = field(compare=False)
    split_from: int = field(compare=False)


def best_states(solve: Solver, sizes: dict[int, int], how_many: int) -> tuple[np.ndarray, np.ndarray]:
    """(codes (rank, node), log of the product (rank,)) of the best joint states of the nodes in `sizes`."""
    numbers = count()
    cells = list(best_cell(solve, {}, 0, sizes, numbers))
    codes: list[list[int]] = []
    values: list[float] = []
    while cells and len(values) < how_many:
        best = heapq.heappop(cells)
        codes.append([best.codes[node] for node in sizes])
        values.append(best.value)
        if len(values) < how_many:
            for cell in split(solve, best, sizes, numbers):
                heapq.heappush(cells, cell)
    return np.array(codes, dtype=np.int64).reshape(len(values), len(sizes)), np.array(values)


def best_cell(
    solve: Solver, allowed: Allowed, split_from: int, sizes: dict[int, int], numbers: Iterator[int]
) -> Iterator[Cell]:
    """The cell of these constraints, if anything in it is possible."""
    found = solve(allowed)
    if found is not None:
        codes, value = found
        in_order = tuple(codes[node] for node in sizes)
        yield Cell(-round(value, 10), in_order, next(numbers), value, codes, allowed, split_from)


def split(solve: Solver, best: Cell, sizes: dict[int, int], numbers: Iterator[int]) -> Iterator[Cell]:
    """The cells that a cell falls into once its best assignment is taken out."""
    allowed = dict(best.allowed)
    for index, node in list(enumerate(sizes))[best.split_from :]:
        code = best.codes[node]
        others = allowed.get(node, np.zeros(sizes[node])).copy()
        others[code] = -np.inf
        if others.max() > -np.inf:
            yield from best_cell(solve, {**allowed, node: others}, index, sizes, numbers)
        allowed[node] = allow_only(code, sizes[node])


def allow_only(code: int, num_states: int) -> np.ndarray:
    """Log-weights that allow one state."""
    weights = np.full(num_states, -np.inf)
    weights[code] = 0.0
    return weights


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
            fixed[node] = allow_only(codes[node], size)
        return codes, value

    def solve_below(solve: Solver, fixed: Allowed, node: int, code: int) -> tuple[dict[int, int], float] | None:
        """The best answer in which the node has a state before `code`."""
        weights = fixed.get(node, np.zeros(sizes[node])).copy()
        weights[code:] = -np.inf
        return solve({**fixed, node: weights}) if weights.max() > -np.inf else None

    return solve_first
