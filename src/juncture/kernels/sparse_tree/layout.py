"""The memory layout of a clique tree whose tables keep only possible cells, and how parents read messages.

Cells of a clique lie sorted by its axes, of which its separator comes first: the cells of one separator entry are a
block. A parent's cells read a child's message in one of three ways: GATHER, one index a cell; CONSTANT, one index for
each run of cells that read the same entry; STRIP, one for each run of cells that read consecutive entries.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.copying import copy_vector
from juncture.kernels.junction_tree.layout import CONSTANT, GATHER, INDEX, MOVE, NODE_OFFSET, NUM_RUNS, RUN, STRIP

# The columns of the clique table are those of `junction_tree.layout`, but for RUN: where a child's runs start.
# The columns of the node table are those too, but for CODES: where the states of the node's cells start.
CODES = NODE_OFFSET
LEAST_RUN = 8  # cells of a run, on average, from which on runs are kept


class Tree(NamedTuple):
    """A clique tree: nodes[starts[c]:starts[c + 1]] are the axes of clique c, parents first."""

    starts: Any
    nodes: Any
    shared: Any  # (clique,): how many axes are shared with the parent; they come first
    parents: Any
    child_starts: Any
    children: Any
    factor_cliques: Any  # (factor,): the clique that holds it
    first_visit: Any  # clique d is clique c or below it just when first[c] <= first[d] <= last[c]
    last_visit: Any


class Factors(NamedTuple):
    """The scopes of factors, where their values start, and which factors each node is in."""

    num_states: Any
    state_starts: Any
    factor_starts: Any
    factor_nodes: Any
    value_starts: Any
    restrictive: Any  # (factor,): whether it forbids a joint state of states that are possible alone
    reader_starts: Any
    readers: Any


class Layout(NamedTuple):
    """What a run reads beside the numbers of a model."""

    table: Any  # (clique, column)
    blocks: Any  # (entry + 1,): where the cells of each entry of all messages start
    indices: Any
    runs: Any
    node_table: Any  # (node, column)
    codes: Any
    child_starts: Any
    children: Any


class Evidence(NamedTuple):
    """The nodes of which something is known, and a weight for each of their states."""

    observed: Any
    weight_starts: Any
    weights: Any


class Space(NamedTuple):
    """The buffers of a run."""

    messages: Any  # (entry,): to the parents
    ratios: Any  # (entry,): of these to those without evidence
    back: Any  # (entry,): from the parents
    least: Any  # (clique,): the smallest positive ratio that it has sent
    touched: Any  # (clique,): whether evidence lies in it or below
    needed: Any  # (clique,): whether a target lies in it or below
    heads: Any  # (clique,): the first of the known nodes at home there, -1 for none
    links: Any  # (known,): the next one
    targets_at: Any  # (clique,), (target,): the same for targets
    next_target: Any
    places: Any
    buffer: Any  # for a tile


@kernel
def grow(array, filled, needed):
    """The array itself if it has room for `needed` more entries, else one at least twice as long."""
    if filled + needed <= len(array):
        return array
    larger = np.empty(max(2 * len(array), filled + needed), array.dtype)
    copy_vector(array, larger[:filled])
    return larger


@kernel
def count_runs(reads, step):
    """How many runs there are in which each cell reads the entry `step` behind that of the cell before it."""
    runs = np.int64(1)
    for cell in range(1, len(reads)):
        runs += reads[cell] != reads[cell - 1] + step
    return runs


@kernel
def keep_reads(reads, table, child, indices, runs, num_indices, num_runs):
    """Keep which entries of a child's message the parent's cells read; all but the first three, moved where they grew.

    `runs` holds the first cell of every run, and behind the last of a child the number of the parent's cells.
    """
    constants = count_runs(reads, np.int64(0))
    strips = count_runs(reads, np.int64(1))
    move = CONSTANT if constants <= strips else STRIP
    count = min(constants, strips)
    if count * LEAST_RUN > len(reads):
        move = GATHER
        count = np.int64(len(reads))
    indices = grow(indices, num_indices, count)
    table[child, MOVE] = move
    table[child, INDEX] = num_indices
    table[child, NUM_RUNS] = count
    table[child, RUN] = num_runs
    if move == GATHER:
        copy_vector(reads, indices[num_indices : num_indices + count])
        return indices, runs, num_indices + count, num_runs
    runs = grow(runs, num_runs, count + 1)
    step = 1 if move == STRIP else 0
    for cell in range(len(reads)):
        if cell == 0 or reads[cell] != reads[cell - 1] + step:
            indices[num_indices] = reads[cell]
            runs[num_runs] = cell
            num_indices += 1
            num_runs += 1
    runs[num_runs] = len(reads)
    return indices, runs, num_indices, num_runs + 1
