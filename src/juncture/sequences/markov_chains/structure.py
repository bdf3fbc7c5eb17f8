"""Reachability in a chain: communicating classes, closed classes, periods."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MOST_SQUARINGS = 1024


@dataclass(frozen=True, eq=False)
class ChainStructure:
    """The communicating classes, in the order of their first states."""

    class_of: np.ndarray  # (state,)
    is_closed: np.ndarray  # (class,): no way leads out
    periods: np.ndarray  # (class,): 0 where a state never comes back

    @classmethod
    def of(cls, transition: np.ndarray) -> ChainStructure:
        links = transition > 0
        class_of = communicating_classes(links)
        is_closed = np.ones(class_of.max() + 1, dtype=bool)
        leaves = (links & (class_of[:, None] != class_of)).any(axis=1)
        is_closed[class_of[leaves]] = False
        periods = [period_within(links[np.ix_(members, members)]) for members in members_of(class_of)]
        return cls(class_of, is_closed, np.array(periods))

    @property
    def members(self) -> list[np.ndarray]:
        """The states of each class."""
        return members_of(self.class_of)

    @property
    def closed(self) -> list[np.ndarray]:
        """The states of each closed class."""
        return [members for members, closed in zip(self.members, self.is_closed, strict=True) if closed]

    @property
    def is_recurrent(self) -> np.ndarray:
        """Whether each state is in a closed class, and so is visited again and again."""
        return self.is_closed[self.class_of]


def communicating_classes(links: np.ndarray) -> np.ndarray:
    """The class of each state: two are in one if each can be reached from the other; numbered as they first come."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, found = connected_components(csr_array(links), directed=True, connection="strong")
    _, first, class_of = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[class_of]


def members_of(class_of: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum(np.bincount(class_of))
    return np.split(np.argsort(class_of, kind="stable"), ends[:-1])


def period_within(links: np.ndarray) -> int:
    """gcd of the lengths of all ways back: of level(i) + 1 - level(j) over the links i → j, by distance from a root."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    tails, heads = np.nonzero(links)
    if len(links) == 1:
        return len(tails)
    levels = shortest_path(csr_array(links), unweighted=True, indices=0).astype(np.int64)
    return int(np.gcd.reduce(np.abs(levels[tails] + 1 - levels[heads])))


def can_reach(links: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """The states from which a way leads to one of the goals, the goals among them."""
    found, frontier = goals.copy(), goals
    while frontier.any():
        frontier = links[:, frontier].any(axis=1) & ~found
        found |= frontier
    return found


def first_power(
    matrix: np.ndarray,
    multiply: Callable[[np.ndarray, np.ndarray], np.ndarray],
    is_reached: Callable[[np.ndarray], bool],
) -> int | None:
    """The smallest number of steps whose power has reached what, once reached, stays: by squaring, then bisection.

    None if it takes more steps than any float can count.
    """
    powers = [matrix]
    while not is_reached(powers[-1]):
        if len(powers) > MOST_SQUARINGS:
            return None
        powers.append(multiply(powers[-1], powers[-1]))
    before, steps = np.eye(len(matrix)), 0
    for exponent in range(len(powers) - 2, -1, -1):
        further = multiply(before, powers[exponent])
        if not is_reached(further):
            before, steps = further, steps + 2**exponent
    return steps + 1


def first_positive_power(links: np.ndarray) -> int | None:
    """The smallest power of an irreducible aperiodic chain without a zero: at most (n - 1)² + 1 (Wielandt)."""
    return first_power(links.astype(float), lambda a, b: np.minimum(a @ b, 1.0), lambda power: bool((power > 0).all()))
