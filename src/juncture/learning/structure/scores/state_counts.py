"""`StateCounts`: how often each state of other variables occurs in each cell of a base.

A base is a family without the candidate that is asked about; the same counts serve every child in it. Few cells are
counted by the bits of rows, many in a pass over groups of variables. What was counted is kept: a larger base is then
counted but for one state of one of its members, which has what the others leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from threading import Lock
from typing import NamedTuple

import numpy as np

WORD = 64  # bits
MAX_CELLS = 4096  # of a base
MAX_STATES = 16  # of a candidate, so that at least two are in a group
QUICK_PRODUCT = 200  # cells times states that are counted by bits as quickly as a group in a pass over the rows
MAX_BITS = 2**31  # of all states and rows
MAX_KEPT = 2**27  # bytes of counts


class BaseCounts(NamedTuple):
    """Counts (cell, state) of a base, the last column for all rows of a cell, and which variables were counted."""

    counts: np.ndarray
    is_known: np.ndarray


class StateCounts:
    """Counts of rows as codes (variable, row) with whole weights, whose sum 32 bits hold."""

    def __init__(self, codes: np.ndarray, weights: np.ndarray, sizes: np.ndarray) -> None:
        self.codes, self.whole_weights = codes, weights.astype(np.int32)
        self.sizes = np.append(sizes, 1)  # the last is the one state that all rows have
        self.starts = np.cumsum(self.sizes) - self.sizes
        self._kept: dict[tuple[int, ...], BaseCounts] = {}
        self._num_bytes, self._lock = 0, Lock()

    @cached_property
    def bits(self) -> tuple[np.ndarray, np.ndarray]:
        """The words (state, word) of all rows, and the tiles of words (see `kernels.structure.state_counts`)."""
        from juncture.kernels.structure.state_counts import TILE, fill_bits

        whole = self.whole_weights
        digits = range(int(whole.max(initial=0)).bit_length())
        parts = [np.flatnonzero(whole >> digit & 1) for digit in digits]
        ends = np.cumsum([-(-len(rows) // WORD) for rows in parts], dtype=np.int64).tolist()
        words = np.zeros((int(self.sizes.sum()), ends[-1] if ends else 0), np.uint64)
        tiles = []
        for digit, rows, begin, end in zip(digits, parts, [0, *ends[:-1]], ends, strict=True):
            fill_bits(self.codes, self.starts[:-1], rows, begin, words)
            tiles += [(first, min(first + TILE, end), 1 << digit) for first in range(begin, end, TILE)]
        return words, np.array(tiles, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The combinations of states (group, row), the group of each variable, and the stride of its states there."""
        from juncture.kernels.structure.state_counts import SPAN, fill_groups

        group_of, strides = np.full(len(self.sizes), -1), np.ones(len(self.sizes), dtype=np.int64)
        members: list[int] = []
        num_groups = span = 1
        for variable, size in enumerate(self.sizes[:-1].tolist()):
            if size > MAX_STATES:
                continue
            if span * size > SPAN:
                num_groups, span, members = num_groups + 1, 1, []
            strides[members] *= size
            group_of[variable], span, members = num_groups - 1, span * size, [*members, variable]
        groups = np.zeros((num_groups, self.codes.shape[1]), np.uint8)
        fill_groups(self.codes, self.sizes, group_of, groups)
        return groups, group_of, strides

    def count(self, base: tuple[int, ...], others: np.ndarray) -> np.ndarray:
        """(cell, state): those of the base, whose members rise, and of other variables; further columns are anything.

        The cells are the combinations of states of the members, the last fastest.
        """
        known = self._kept.get(base)
        if known is None or not known.is_known[others].all():
            known = self._keep(base, self._count(base, others))
        return known.counts

    def _count(self, base: tuple[int, ...], others: np.ndarray) -> BaseCounts:
        from juncture.kernels.structure.state_counts import add_last_state, count_in_cells

        members = np.array(base, dtype=np.int64)
        sizes, found = self.sizes[members], self._find_smaller(base, others)
        counted = sizes.copy()
        if found is not None:
            counted[found[0]] -= 1
        num_states = int((self.sizes[others] - 1).sum())
        with self._lock:  # threads that count at once share them
            (words, tiles), (_, group_of, _) = self.bits, self.groups
        wanted = np.unique(group_of[others[others >= 0]])
        if prod(counted.tolist()) * num_states > QUICK_PRODUCT * len(wanted):
            return self._as_known(self._count_groups(members, others, wanted), others)
        counts = np.zeros((prod(counted.tolist()), len(words)), np.int32)
        if len(counts):  # none where the member has one state: all rows have it
            layout = (self.starts[members], counted, self.starts[others], self.sizes[others])
            count_in_cells(words, tiles, *layout, counts)
        if found is not None:
            position, without = found
            after, all_but_last = prod(sizes[position + 1 :].tolist()), counts
            counts = np.empty((prod(sizes.tolist()), len(words)), np.int32)
            add_last_state(without, all_but_last, after, counts)
        return self._as_known(counts, others)

    def _count_groups(self, members: np.ndarray, others: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The same in a pass over these groups, which hold the other variables."""
        from juncture.kernels.structure.state_counts import SPAN, count_groups, spread_groups

        groups, group_of, strides = self.groups
        sizes, inside = self.sizes[members], others[others >= 0]
        even = np.append(wanted, wanted[: len(wanted) % 2])
        grouped = np.zeros((len(even), prod(sizes.tolist()) * SPAN), np.int32)
        count_groups(self.codes, self.whole_weights, groups, members, sizes, even, grouped)
        counts = np.empty((prod(sizes.tolist()), int(self.sizes.sum())), np.int32)
        lines = np.searchsorted(wanted, group_of[inside])
        spread_groups(grouped, lines, strides[inside], self.starts[inside], self.sizes[inside], counts)
        return counts

    def _as_known(self, counts: np.ndarray, others: np.ndarray) -> BaseCounts:
        is_known = np.zeros(len(self.sizes), dtype=np.bool_)
        is_known[others] = is_known[-1] = True
        return BaseCounts(counts, is_known)

    def _find_smaller(self, base: tuple[int, ...], others: np.ndarray) -> tuple[int, np.ndarray] | None:
        """The position of a member, with few states, and the counts of the base without it, where they are known."""
        for position in np.argsort(self.sizes[list(base)], kind="stable").tolist():
            known = self._kept.get(base[:position] + base[position + 1 :])
            if known is not None and known.is_known[others].all():
                return position, known.counts
        return None

    def _keep(self, base: tuple[int, ...], new: BaseCounts) -> BaseCounts:
        """The counts with those of the same base that were known; what threads count at once is the same."""
        with self._lock:
            old = self._kept.get(base)
            if old is not None and not (old.is_known <= new.is_known).all():
                is_new = np.repeat(new.is_known, self.sizes)
                new = BaseCounts(np.where(is_new, new.counts, old.counts), old.is_known | new.is_known)
            if self._num_bytes > MAX_KEPT:
                self._kept, self._num_bytes = {}, 0
            self._num_bytes += new.counts.nbytes
            self._kept[base] = new
            return new


def state_counts(codes: np.ndarray, weights: np.ndarray, sizes: np.ndarray) -> StateCounts | None:
    """None where weights are not whole, or too large in sum, or where the bits would be too many."""
    num_bits = int(sizes.sum()) * len(weights)
    is_whole = float(weights.sum()) < 2**31 and bool((weights == np.rint(weights)).all())
    return StateCounts(codes, weights, sizes) if is_whole and num_bits <= MAX_BITS else None


def cells_in_order(sizes: Sequence[int], order: Sequence[int]) -> np.ndarray:
    """The numbers of the cells of members of these sizes where the members come in another order."""
    return np.arange(prod(sizes), dtype=np.int64).reshape(sizes).transpose(order).ravel()
