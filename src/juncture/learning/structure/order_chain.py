"""Markov chains over orders of the variables (Friedman and Koller 2003).

Given an order, in which parents come before their children, the children choose their parents independently:

    p(data, order) ∝ Π_i Σ_{S before i} exp score(i, S),

so that the sum over all graphs that fit an order, and the probability of every edge given the order, are sums over sets
of parents. A step exchanges two variables and is accepted by the rule of Metropolis; only the variables between the two
places see other variables before them. Cost of a step: the number of sets of parents of these variables, if they were
not seen before.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juncture.errors import InvalidData, TooLarge
from juncture.learning.structure.constraints import EdgeConstraints
from juncture.learning.structure.scores.local_scores import NOTHING, LocalScores
from juncture.learning.structure.sets import Positions, members, set_of
from juncture.runtime.memory import check_memory

MAX_VARIABLES = 62  # sets are 64-bit numbers
MAX_SETS = 2_000_000  # sets of parents of one variable
MAX_KEPT = 50_000  # sums that are kept, of children and of sets before them
BYTES_PER_SET = 24


class ParentSum(NamedTuple):
    """For a child and the variables before it: the log of the sum over its sets of parents, and its edges' shares."""

    log_sum: float
    edges: np.ndarray  # (parent,)


@dataclass(frozen=True, eq=False)
class ParentSets:
    """All sets of parents of one child that may be, as bits, and their scores."""

    sets: np.ndarray  # (set,)
    scores: np.ndarray  # (set,)
    has_parent: np.ndarray  # (set, parent)

    def fitting(self, before: Positions) -> tuple[np.ndarray, np.ndarray, float]:
        """The indices of the sets within `before`, their shares, and the log of the sum of exp(score)."""
        indices = np.flatnonzero((self.sets & ~np.int64(before)) == 0)
        scores = self.scores[indices]
        if not len(indices) or (highest := scores.max()) == -np.inf:
            return indices, np.zeros(len(indices)), -np.inf
        shares = np.exp(scores - highest)
        total = shares.sum()
        return indices, shares / total, float(highest + np.log(total))


class OrderScores:
    """The sums of all children, each computed once while they are among the last that were asked."""

    def __init__(self, local: LocalScores, bounds: EdgeConstraints) -> None:
        self.bounds, self.size = bounds, len(bounds.names)
        if self.size > MAX_VARIABLES:
            raise TooLarge(f"chains over orders take at most {MAX_VARIABLES} variables; the data have {self.size}")
        self.children = [list_parent_sets(local, bounds, child) for child in range(self.size)]
        self._kept: OrderedDict[tuple[int, Positions], ParentSum] = OrderedDict()

    def of(self, child: int, before: Positions) -> ParentSum:
        key = (child, before)
        found = self._kept.get(key)
        if found is None:
            indices, shares, log_sum = self.children[child].fitting(before)
            found = self._kept[key] = ParentSum(log_sum, shares @ self.children[child].has_parent[indices])
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return found

    def draw_parents(self, child: int, before: Positions, rng: np.random.Generator) -> Positions:
        """A set of parents of the child, given what comes before it."""
        indices, shares, _ = self.children[child].fitting(before)
        place = min(int(np.searchsorted(np.cumsum(shares), rng.random(), side="right")), len(indices) - 1)
        return int(self.children[child].sets[indices[place]])


def list_parent_sets(local: LocalScores, bounds: EdgeConstraints, child: int) -> ParentSets:
    """Every set of parents within the constraints, with its score: each set of k parents extends one of k - 1."""
    needed = bounds.needed[child]
    free = members(bounds.candidates[child] & ~needed)
    most = min(bounds.max_parents - needed.bit_count(), len(free))
    check_number_of_sets(len(free), most, bounds.names[child], len(bounds.names))
    base = members(needed)
    sets = [needed]
    scores = [float(local.score_extensions(child, base, [NOTHING])[0])]
    layer: list[tuple[int, ...]] = [()]
    for _ in range(most):
        longer = []
        for chosen in layer:
            later = [one for one in free if not chosen or one > chosen[-1]]
            if later:
                scores += local.score_extensions(child, [*base, *chosen], later).tolist()
                longer += [(*chosen, one) for one in later]
        sets += [needed | set_of(chosen) for chosen in longer]
        layer = longer
    numbers = np.array(sets, dtype=np.int64)
    has_parent = (numbers[:, np.newaxis] >> np.arange(len(bounds.names)) & 1).astype(np.float64)
    return ParentSets(numbers, np.array(scores), has_parent)


def check_number_of_sets(free: int, most: int, name: str, size: int) -> None:
    from math import comb

    count = sum(comb(free, k) for k in range(most + 1))
    if count > MAX_SETS:
        raise TooLarge(f"{name!r} has {count:,} possible sets of parents: set max_parents, of which 3 is usual")
    check_memory(count * (BYTES_PER_SET + 8 * size) * size, "the sets of parents", "set max_parents")


@dataclass(frozen=True, eq=False)
class OrderChain:
    """One chain: what comes before each variable after every kept step, and the log-score of the order."""

    scores: OrderScores
    rng: np.random.Generator

    def run(self, warmup: int, draws: int, thin: int) -> list[tuple[list[Positions], float]]:
        """(what comes before each variable, log-score) of each draw."""
        order = self.start()
        before = preceding(order)
        sums = [self.scores.of(child, before[child]).log_sum for child in range(len(order))]
        if -np.inf in sums:
            raise InvalidData("no graph within the constraints has a positive score for its families")
        kept = []
        for step in range(warmup + draws * thin):
            if len(order) > 1:
                self.move(order, before, sums)
            if step >= warmup and (step - warmup) % thin == thin - 1:
                kept.append((list(before), float(sum(sums))))
        return kept

    def start(self) -> list[int]:
        """A random order in which required parents come before their children."""
        left, order = set(range(self.scores.size)), list[int]()
        while left:
            ready = sorted(child for child in left if not self.scores.bounds.needed[child] & set_of(left))
            order.append(ready[int(self.rng.integers(len(ready)))])
            left.remove(order[-1])
        return order

    def move(self, order: list[int], before: list[Positions], sums: list[float]) -> None:
        """Exchange two places, neighbours half of the time, and accept by the ratio of the orders' scores."""
        size = len(order)
        first = int(self.rng.integers(size - 1))
        last = first + 1 if self.rng.random() < 0.5 else int(self.rng.integers(size))
        first, last = min(first, last), max(first, last)
        uniform = self.rng.random()
        if first == last:
            return
        changed = [order[last], *order[first + 1 : last], order[first]]
        seen = before[order[first]]
        new_before, new_sums = [], []
        for child in changed:
            new_before.append(seen)
            new_sums.append(self.scores.of(child, seen).log_sum)
            seen |= 1 << child
        gain = sum(new_sums) - sum(sums[child] for child in changed)
        if gain >= 0 or uniform < np.exp(gain):
            order[first : last + 1] = changed
            for child, sees, log_sum in zip(changed, new_before, new_sums, strict=True):
                before[child], sums[child] = sees, log_sum


def preceding(order: list[int]) -> list[Positions]:
    """For each variable, those that come before it."""
    found, seen = [0] * len(order), 0
    for child in order:
        found[child] = seen
        seen |= 1 << child
    return found


def count_orders(parents: tuple[Positions, ...], most: int) -> int:
    """The number of orders that fit a graph: its linear extensions, by sets that hold all their parents.

    More than `most` such sets raise `TooLarge`.
    """
    counts = {0: 1}
    for _ in parents:
        longer: dict[Positions, int] = {}
        for done, count in counts.items():
            for child, needed in enumerate(parents):
                if not done >> child & 1 and not needed & ~done:
                    longer[done | 1 << child] = longer.get(done | 1 << child, 0) + count
        if len(longer) > most:
            raise TooLarge("a drawn graph has too many orders to count; take prior='orders', or fewer variables")
        counts = longer
    return next(iter(counts.values()))
