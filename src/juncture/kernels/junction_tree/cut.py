"""Sum-product on the cells that agree with what is observed: the tables of a clique tree without the observed axes.

The layout is that of the whole tables with one state for every observed node, so the same kernels run on it. What is
left out are cells that evidence makes zero; sums keep their order and scales are powers of two. So the answers are
those of `propagate`, to the last bit. The one exception, probabilities at the edge of the doubles, is told (FAINT_RUN).

For many rows the cells are kept that agree with what all of them observe, while codes differ from row to row. The steps
are those of `propagation_of_rows`, and so are the bits.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.layout import (
    MESSAGE,
    NODE_CLIQUE,
    OFFSET,
    PARENT,
    SEPARATOR,
    SIZE,
    count_up,
)
from juncture.kernels.junction_tree.propagation import (
    DONE,
    TINY,
    collect,
    distribute,
    enter_evidence,
    part,
    read_marginals,
    share_buffer,
)
from juncture.kernels.junction_tree.propagation_of_rows import finish_rows

FAINT_RUN = 3  # a status: the whole tables have to be run

# columns of the table of cuts, one line a clique: where its cells and messages start in the whole tree, where its list
# of kept runs of cells starts, how many and how long they are, where its list of kept entries starts, and whether
# evidence changes it
WHOLE_OFFSET, WHOLE_MESSAGE, PICK, NUM_PICKS, REACH, ENTRY_PICK, IS_TOUCHED = range(7)

# columns of the list of observed axes: the clique, the position of the node among the observed ones, the distance of
# its states in the table and in the message
CLIQUE, SLOT, STRIDE, ENTRY_STRIDE = range(4)

# columns of the list of observed nodes: where their marginals start, their numbers of states, and their positions
START, NUM_STATES, SEEN_SLOT = range(3)


@kernel
def count_kept(starts, nodes, kept_states):
    """How many cells of all tables are kept."""
    total = 0.0
    for clique in range(len(starts) - 1):
        cells = 1.0
        for index in range(starts[clique], starts[clique + 1]):
            cells *= kept_states[nodes[index]]
        total += cells
    return total


@kernel
def plan_cuts(whole, table, starts, nodes, shared, num_states, slots, node_table, observed):
    """The table of cuts, the list of observed axes, and the number of picks; `slots` is -1 for what is not observed."""
    cuts = np.zeros((len(table), 7), np.int64)
    axes = np.empty((len(nodes), 4), np.int64)
    num_axes = 0
    num_picks = 0
    for clique in range(len(table)):
        stride = 1
        reach = 1
        is_open = True
        for index in range(starts[clique + 1] - 1, starts[clique] - 1, -1):
            node = nodes[index]
            if slots[node] >= 0:
                is_open = False
                axes[num_axes, CLIQUE] = clique
                axes[num_axes, SLOT] = slots[node]
                axes[num_axes, STRIDE] = stride
                axes[num_axes, ENTRY_STRIDE] = find_entry_stride(index, clique, starts, nodes, shared, num_states)
                num_axes += 1
            elif is_open:
                reach *= num_states[node]
            stride *= num_states[node]
        cuts[clique, WHOLE_OFFSET] = whole[clique, OFFSET]
        cuts[clique, WHOLE_MESSAGE] = whole[clique, MESSAGE]
        cuts[clique, REACH] = reach
        cuts[clique, PICK] = num_picks
        cuts[clique, NUM_PICKS] = table[clique, SIZE] // reach
        num_picks += cuts[clique, NUM_PICKS]
        cuts[clique, ENTRY_PICK] = num_picks
        num_picks += table[clique, SEPARATOR]
    for position in range(len(observed)):
        mark_path(table, node_table[observed[position], NODE_CLIQUE], cuts[:, IS_TOUCHED])
    return cuts, axes[:num_axes].copy(), num_picks


@kernel
def find_entry_stride(index, clique, starts, nodes, shared, num_states):
    """The distance of a node's states in the message of a clique, 0 for a node of the residual."""
    if index >= starts[clique] + shared[clique]:
        return 0
    stride = 1
    for inner in range(index + 1, starts[clique] + shared[clique]):
        stride *= num_states[nodes[inner]]
    return stride


@kernel
def mark_path(table, clique, marks):
    """Mark a clique and those above it."""
    while clique >= 0 and not marks[clique]:
        marks[clique] = True
        clique = table[clique, PARENT]


@kernel
def fill_picks(table, starts, nodes, shared, num_states, kept_states, cuts, picks):
    """Fill in the positions of the kept runs of cells, and of the kept entries of messages, for codes of zero."""
    sizes = np.zeros(64, np.int64)
    strides = np.zeros(64, np.int64)
    for clique in range(len(table)):
        for is_message in range(2):
            last = starts[clique] + shared[clique] if is_message else starts[clique + 1]
            reach = 1 if is_message else cuts[clique, REACH]
            axes = np.int64(0)
            stride = 1
            for index in range(last - 1, starts[clique] - 1, -1):
                node = nodes[index]
                if stride >= reach and kept_states[node] > 1:
                    sizes[axes] = kept_states[node]
                    strides[axes] = stride
                    axes += 1
                stride *= num_states[node]
            at = cuts[clique, ENTRY_PICK] if is_message else cuts[clique, PICK]
            count = table[clique, SEPARATOR] if is_message else cuts[clique, NUM_PICKS]
            count_up(sizes[:axes], strides[:axes], picks[at : at + count])


@kernel
def propagate_cut(
    table, nodes, indices, node_table, cuts, picks, axes, seen, base, prior, smallest, codes, soft, likelihoods,
    targets, buffer, touched, marginals,
):  # fmt: skip
    """`propagate` on the cells that are kept; the marginals of observed nodes are one for the code and zero else."""
    work, messages, ratios, bounds, kept_prior = share_buffer(table, buffer)
    for clique in range(len(table)):
        touched[clique] = cuts[clique, IS_TOUCHED]
        bounds[clique] = smallest[clique]
    for position in range(len(soft)):
        mark_path(table, node_table[soft[position], NODE_CLIQUE], touched)
    take_all(table, cuts, picks, axes, codes, base, prior, touched, len(targets) > 0, work, kept_prior)
    nothing = np.empty(0, np.int64)
    if not enter_evidence(table, node_table, nothing, nothing, soft, likelihoods, work, bounds):
        return TINY, 0.0
    status, log_total = collect(
        table, nodes, indices, node_table, kept_prior, nothing, nothing, touched, work, messages, ratios, bounds
    )
    if status != DONE or not len(targets):
        return status, log_total
    for clique in range(len(table)):
        if not touched[clique]:
            for entry in range(table[clique, MESSAGE], table[clique, MESSAGE] + table[clique, SEPARATOR]):
                messages[entry] = kept_prior[entry]
    touched[:] = True
    if distribute(table, indices, kept_prior, touched, base, work, messages, ratios):
        return FAINT_RUN, 0.0
    read_marginals(table, node_table, targets, work, marginals)
    for slot in range(len(seen)):
        one_hot = part(marginals, seen[slot, START], seen[slot, NUM_STATES])
        for state in range(len(one_hot)):
            one_hot[state] = 1.0 if state == codes[slot] else 0.0
    return status, log_total


@kernel
def take_all(table, cuts, picks, axes, codes, base, prior, touched, is_whole, work, kept_prior):
    """Copy the kept cells and messages of every clique, or of the touched ones only, for these codes."""
    shifts = np.zeros((len(table), 2), np.int64)
    for line in range(len(axes)):
        shifts[axes[line, CLIQUE], 0] += codes[axes[line, SLOT]] * axes[line, STRIDE]
        shifts[axes[line, CLIQUE], 1] += codes[axes[line, SLOT]] * axes[line, ENTRY_STRIDE]
    for clique in range(len(table)):
        if not touched[clique] and not is_whole:
            continue
        at = cuts[clique, WHOLE_OFFSET] + shifts[clique, 0]
        positions = part(picks, cuts[clique, PICK], cuts[clique, NUM_PICKS])
        kept = part(work, table[clique, OFFSET], table[clique, SIZE])
        take_kept(base[at:], positions, cuts[clique, REACH], kept)
        at = cuts[clique, WHOLE_MESSAGE] + shifts[clique, 1]
        positions = part(picks, cuts[clique, ENTRY_PICK], table[clique, SEPARATOR])
        take_kept(prior[at:], positions, np.int64(1), part(kept_prior, table[clique, MESSAGE], len(positions)))


@kernel
def take_kept(whole, positions, reach, kept):
    """Copy the runs of cells at these positions, one after the other."""
    if reach == 1:
        for index in range(len(positions)):
            kept[index] = whole[positions[index]]
        return
    for index in range(len(positions)):
        source = whole[positions[index] : positions[index] + reach]
        target = kept[index * reach : (index + 1) * reach]
        for position in range(reach):
            target[position] = source[position]


@kernel
def propagate_cut_rows(
    table, nodes, indices, node_table, cuts, picks, axes, seen, base, prior, smallest, cut_codes,
    observed, codes, soft, likelihoods, targets, buffer, touched, marginals, log_evidence, status,
):  # fmt: skip
    """`propagate_rows` on the cells that are kept; False if its bits are not sure.

    `cut_codes` are of the nodes that all rows observe, `codes` of the others; `seen` lists the targets among the first.
    """
    work, messages, ratios, bounds, rest = share_buffer(table, buffer)
    prior_rows = rest[: len(messages)]
    for clique in range(len(table)):
        touched[clique] = cuts[clique, IS_TOUCHED]
        bounds[clique, :] = smallest[clique]
    for position in range(len(observed)):
        mark_path(table, node_table[observed[position], NODE_CLIQUE], touched)
    for position in range(len(soft)):
        mark_path(table, node_table[soft[position], NODE_CLIQUE], touched)
    take_all_rows(table, cuts, picks, axes, cut_codes, base, prior, touched, len(targets) > 0, work, prior_rows)
    status[:] = DONE
    is_faint = finish_rows(
        table, nodes, indices, node_table, base, prior, prior_rows, observed, codes, soft, likelihoods, targets,
        work, messages, ratios, bounds, touched, marginals, log_evidence, status,
    )  # fmt: skip
    for line in range(len(seen)):
        for row in range(len(status)):
            one_hot = marginals[row, seen[line, START] : seen[line, START] + seen[line, NUM_STATES]]
            one_hot[:] = 0.0
            one_hot[cut_codes[seen[line, SEEN_SLOT], row]] = 1.0
    return not is_faint


@kernel
def take_all_rows(table, cuts, picks, axes, codes, base, prior, touched, is_whole, work, prior_rows):
    """`take_all`, row by row."""
    num_rows = work.shape[1]
    shifts = np.zeros((len(table), num_rows), np.int64)
    entry_shifts = np.zeros((len(table), num_rows), np.int64)
    for line in range(len(axes)):
        clique, code = axes[line, CLIQUE], codes[axes[line, SLOT]]
        for row in range(num_rows):
            shifts[clique, row] += code[row] * axes[line, STRIDE]
            entry_shifts[clique, row] += code[row] * axes[line, ENTRY_STRIDE]
    for clique in range(len(table)):
        if not touched[clique] and not is_whole:
            continue
        positions = part(picks, cuts[clique, PICK], cuts[clique, NUM_PICKS])
        kept = part(work, table[clique, OFFSET], table[clique, SIZE])
        take_rows(base[cuts[clique, WHOLE_OFFSET] :], positions, cuts[clique, REACH], shifts[clique], kept)
        positions = part(picks, cuts[clique, ENTRY_PICK], table[clique, SEPARATOR])
        kept = part(prior_rows, table[clique, MESSAGE], table[clique, SEPARATOR])
        take_rows(prior[cuts[clique, WHOLE_MESSAGE] :], positions, np.int64(1), entry_shifts[clique], kept)


@kernel
def take_rows(whole, positions, reach, shifts, kept):
    """Copy the runs of cells at these positions, shifted for every row, one after the other: (cell, row)."""
    is_shifted = False
    for row in range(len(shifts)):
        is_shifted |= shifts[row] != 0
    for index in range(len(positions)):
        for step in range(reach):
            at = positions[index] + step
            cell = kept[index * reach + step]
            if is_shifted:
                for row in range(len(shifts)):
                    cell[row] = whole[at + shifts[row]]
            else:
                cell[:] = whole[at]
