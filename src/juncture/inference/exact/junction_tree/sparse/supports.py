"""Which states and which entries of the factors can be part of a joint state that no factor forbids.

Factors are cut down to the nodes for which several states are left: a node with one is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from juncture.factors.factor import Factor
from juncture.kernels.sparse_tree.supports import drop_unsupported, find_restrictive


@dataclass(frozen=True, eq=False)
class Supports:
    """The possible states, and the entries of the factors over the nodes that have several."""

    num_states: np.ndarray  # (node,)
    state_starts: np.ndarray  # (node + 1,)
    possible: np.ndarray  # (all states,)
    counts: np.ndarray  # (node,): how many states are possible
    scopes: list[list[int]]  # (factor,)
    slices: list[tuple[int | slice, ...]]  # (factor,): where the entries lie in a table of the factor's whole scope
    value_starts: np.ndarray  # (factor + 1,)
    supported: np.ndarray  # (all entries,)
    positive: np.ndarray  # (all entries of the factors' whole scopes,)

    def cover(self, factors: Sequence[Factor]) -> bool:
        """Whether other factors of the same scopes are zero wherever these are."""
        return not (flat_masks([are_positive(factor) for factor in factors]) & ~self.positive).any()

    def take(self, tables: Sequence[np.ndarray]) -> np.ndarray:
        """The entries of tables over the whole scopes, one table after the other."""
        pairs = zip(tables, self.slices, strict=True)
        return np.concatenate([np.empty(0), *(table[index].reshape(-1) for table, index in pairs)])

    @cached_property
    def restrictive(self) -> np.ndarray:
        """(factor,): whether it forbids a joint state of states that are possible alone."""
        found = np.empty(len(self.scopes), np.bool_)
        find_restrictive(
            self.state_starts, *flatten(self.scopes), self.value_starts, self.supported, self.possible, found
        )
        return found


def find_supports(factors: Sequence[Factor], scopes: Sequence[Sequence[int]], shape: Sequence[int]) -> Supports:
    num_states = np.array(shape, dtype=np.int64)
    state_starts = np.concatenate([[0], np.cumsum(num_states)])
    masks = [are_positive(factor) for factor in factors]
    positive = flat_masks(masks)
    supported = positive.copy()
    ends = np.cumsum([0, *(mask.size for mask in masks)])
    possible = np.ones(state_starts[-1], np.bool_)
    drop_unsupported(num_states, state_starts, *flatten(scopes), ends, supported, possible)
    counts = np.add.reduceat(possible, state_starts[:-1], dtype=np.int64) if len(num_states) else num_states
    only = [int(possible[a:b].argmax()) for a, b in pairwise(state_starts)]
    slices = [slice_of(scope, counts, only) for scope in scopes]
    pairs = zip(scopes, slices, strict=True)
    left = [[node for node, part in zip(scope, index, strict=True) if part == slice(None)] for scope, index in pairs]
    parts = zip(masks, ends, ends[1:], slices, strict=False)
    kept = [supported[start:stop].reshape(mask.shape)[index].reshape(-1) for mask, start, stop, index in parts]
    return Supports(
        num_states, state_starts, possible, counts, left, slices, np.cumsum([0, *map(len, kept)]),
        flat_masks(kept), positive,
    )  # fmt: skip


def are_positive(factor: Factor) -> np.ndarray:
    return np.asarray(factor.log_values > -np.inf if factor.holds_logs else factor.values > 0.0)


def flat_masks(masks: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, np.bool_), *(mask.reshape(-1) for mask in masks)])


def slice_of(scope: Sequence[int], counts: np.ndarray, only: Sequence[int]) -> tuple[int | slice, ...]:
    """Where a factor's entries lie that have the known states; the first node of a scope that is all known stays."""
    index = [only[node] if counts[node] == 1 else slice(None) for node in scope]
    return tuple([slice(None), *index[1:]] if scope and slice(None) not in index else index)


def has_zeros(factors: Sequence[Factor], least: float) -> bool:
    """Whether at least this part of all entries is zero."""
    masks = [are_positive(factor) for factor in factors]
    total = sum(mask.size for mask in masks)
    return sum(int(mask.size) - int(np.count_nonzero(mask)) for mask in masks) > least * total


def flatten(lists: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """(starts, members): list i is members[starts[i]:starts[i + 1]]."""
    starts = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    return starts, np.array([member for members in lists for member in members], dtype=np.int64)
