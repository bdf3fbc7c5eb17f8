"""The best graph of all, by dynamic programming over sets of variables (Silander and Myllymäki 2006).

Every family is scored; then the best last variable of every set, given the best graph of the rest. Choose it for up to
some 20 variables: time and memory double with each, and `max_parents` limits the families to be scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.errors import TooLarge
from juncture.graphs.directed import DirectedGraph
from juncture.learning.structure.constraints import Constrained, EdgeConstraints
from juncture.learning.structure.data import Cases
from juncture.learning.structure.scores.local_scores import WORTH_THREADS, LocalScores, map_tasks
from juncture.learning.structure.scores.scores import scores_and_bounds
from juncture.learning.structure.sets import Positions, graph_of, members
from juncture.numerics.iteration import ProgressCallback
from juncture.runtime.memory import default_memory_limit, format_bytes

BYTES_PER_SET = 12  # a score and a set of parents, for each variable and each set of others
MAX_VARIABLES = 30  # sets are 32-bit numbers


@dataclass(frozen=True, kw_only=True)
class ExactSearch(Constrained):
    """A graph with the globally best score under the constraints, by dynamic programming over sets of variables.

    Memory doubles with every variable, up to 30 variables.

    Parameters
    ----------
    required, forbidden, tiers, max_parents, score
        As in `HillClimbing`.
    """

    score: Any = "bic"

    def run(self, data: Cases, *, rng: np.random.Generator, progress: ProgressCallback | None = None) -> DirectedGraph:
        check_size(len(data.variables))
        scores, bounds = scores_and_bounds(self, self.score, data)
        return graph_of(scores.names, best_graph(scores.scores, bounds, progress))


def best_graph(
    local: LocalScores, bounds: EdgeConstraints, progress: ProgressCallback | None = None
) -> list[Positions]:
    """The parents of each in a graph of the largest score."""
    from juncture.kernels.structure.subsets import best_orders, best_within

    size = len(bounds.names)
    scores = np.empty((size, 1 << max(size - 1, 0)))
    choices = np.empty(scores.shape, dtype=np.int32)

    def fill(child: int) -> None:
        scores[child] = score_parent_sets(local, bounds, child)
        best_within(scores[child], choices[child])
        if progress is not None:
            progress(child + 1, float(scores[child].max()))

    map_tasks(fill, range(size), WORTH_THREADS)
    last = best_orders(scores)
    parents, left = [0] * size, (1 << size) - 1
    while left:
        child = int(last[left])
        left ^= 1 << child
        parents[child] = insert_bit(int(choices[child, remove_bit(left, child)]), child)
    return parents


def score_parent_sets(local: LocalScores, bounds: EdgeConstraints, child: int) -> np.ndarray:
    """The score of every set of parents, numbered without the child's own bit; -inf for those that may not be."""
    needed = bounds.needed[child]
    free = members(bounds.candidates[child] & ~needed)
    found = local.score_subsets(child, members(needed), free, bounds.max_parents - needed.bit_count())
    numbers = np.full(1, remove_bit(needed, child))
    for parent in free:  # the number of each set of the free, in the order of their own numbers
        numbers = np.concatenate([numbers, numbers | remove_bit(1 << parent, child)])
    scores = np.full(1 << max(len(bounds.names) - 1, 0), -np.inf)
    scores[numbers] = found
    return scores


def remove_bit(positions: Positions, child: int) -> int:
    """The set without the child's bit, those above it moved down."""
    below = (1 << child) - 1
    return positions & below | positions >> 1 & ~below


def insert_bit(positions: int, child: int) -> Positions:
    below = (1 << child) - 1
    return positions & below | (positions & ~below) << 1


def check_size(size: int) -> None:
    needed, limit = size * BYTES_PER_SET << max(size - 1, 0), default_memory_limit()
    if size > MAX_VARIABLES or needed > limit:
        raise TooLarge(
            f"the exact search over {size} variables takes {format_bytes(needed)}; there are {format_bytes(limit)}:"
            " take method='hill-climbing', or fewer variables"
        )
