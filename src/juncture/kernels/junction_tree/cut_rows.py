"""Sum-product for many rows on the cells that agree with what all of them observe; codes differ from row to row.

The steps are those of `rows` on the layout of `cut`, and so are the bits.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.junction_tree.cut import (
    CLIQUE,
    ENTRY_PICK,
    ENTRY_STRIDE,
    IS_TOUCHED,
    NUM_PICKS,
    NUM_STATES,
    PICK,
    REACH,
    SEEN_SLOT,
    SLOT,
    START,
    STRIDE,
    WHOLE_MESSAGE,
    WHOLE_OFFSET,
    mark_path,
)
from juncture.kernels.junction_tree.layout import MESSAGE, NODE_CLIQUE, OFFSET, SEPARATOR, SIZE
from juncture.kernels.junction_tree.propagation import DONE, part, share_buffer
from juncture.kernels.junction_tree.rows import finish_rows


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


@kernel
def take_all_rows(table, cuts, picks, axes, codes, base, prior, touched, is_whole, work, prior_rows):
    """`take_all` of `cut`, row by row."""
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
