"""The states of many variables counted within the cells of a base, some other variables, by the bits of rows.

`words` (state, word) holds one bit for each state of each variable and each row: whether the row has the state; the
last line has a bit for every row. The rows of a cell are those that have all of its states, and how many of them have
one state more is the number of bits that both share. A row of weight 5 = 4 + 1 stands among the rows that count 4, and
among those that count 1: `tiles` (tile, 3) holds the first word, the word after the last, and what each row counts.

Where a base has many cells, a pass over the rows is quicker: it takes several variables at a time, whose combinations
of states are numbered, and adds each row to its cell and combination.

Many bases are counted in one pass over rows that are read once: each row is a mask of the states of all variables. The
masks of a tile of rows stay in the cache while the cells of every base are counted. A base leaves out the rows in which
one of its members is missing; a missing cell of another variable has no state.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel

TILE = 128  # words at a time, which stay in the cache for all cells and states
ROWS = 2**15  # rows at a time, whose cells stay in the cache for all groups
SPAN = 32  # combinations of states of a group of variables, at most
ODD_BITS, PAIRS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
NIBBLES, ONES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)
ONE, TWO, FOUR, TOP_BYTE, IN_WORD = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56), np.uint64(63)
MASK_TILE = 1024  # rows


@kernel
def fill_bits(codes, starts, rows, begin, words):
    """Set the bits of some rows, from the word `begin` on, for the states of all variables and for the last line."""
    for variable in range(len(codes)):
        column = codes[variable]
        for position in range(len(rows)):
            bit = ONE << (np.uint64(position) & IN_WORD)
            words[starts[variable] + column[rows[position]], begin + position // 64] |= bit
    for position in range(len(rows)):
        words[len(words) - 1, begin + position // 64] |= ONE << (np.uint64(position) & IN_WORD)


@kernel
def split_cells(words, begin, end, starts, sizes, cells):
    """Fill the first lines of `cells` with the rows of each combination of states of the base, the last fastest."""
    for index in range(end - begin):
        cells[0, index] = words[len(words) - 1, begin + index]
    count = np.int64(1)
    for member in range(len(sizes)):
        for cell in range(count - 1, -1, -1):
            for state in range(sizes[member] - 1, -1, -1):
                own, line = words[starts[member] + state], cell * sizes[member] + state
                for index in range(end - begin):
                    cells[line, index] = cells[cell, index] & own[begin + index]
        count *= sizes[member]


@kernel(work=("words", "counts"))
def count_in_cells(words, tiles, base_starts, base_sizes, starts, sizes, counts):
    """Add to counts (cell, state) the weight of the rows in each cell with each state of some variables.

    The last state of a variable has what the others leave of the cell, whose weight is in the last column.
    """
    whole = len(words) - 1
    cells = np.empty((len(counts), TILE), np.uint64)
    for tile in range(len(tiles)):
        begin, end, weight = tiles[tile, 0], tiles[tile, 1], tiles[tile, 2]
        split_cells(words, begin, end, base_starts, base_sizes, cells)
        for variable in range(len(sizes)):
            for state in range(starts[variable], starts[variable] + sizes[variable] - 1):
                own = words[state, begin:end]
                for cell in range(len(counts)):
                    counts[cell, state] += weight * num_common(cells[cell, : end - begin], own)
        for cell in range(len(counts)):
            counts[cell, whole] += weight * num_common(cells[cell, : end - begin], words[whole, begin:end])
    for cell in range(len(counts)):
        for variable in range(len(sizes)):
            last = starts[variable] + sizes[variable] - 1
            left = counts[cell, whole]
            for state in range(starts[variable], last):
                left -= counts[cell, state]
            counts[cell, last] = left


@kernel
def num_common(one, other):
    """The number of bits that two lines of words share; the compiler knows these steps as one instruction."""
    total = np.uint64(0)
    for index in range(len(one)):
        bits = one[index] & other[index]
        bits = bits - ((bits >> ONE) & ODD_BITS)
        bits = (bits & PAIRS) + ((bits >> TWO) & PAIRS)
        bits = (bits + (bits >> FOUR)) & NIBBLES
        total += (bits * ONES) >> TOP_BYTE
    return np.int64(total)


@kernel
def add_last_state(without, all_but_last, after, counts):
    """Fill counts (cell, state) where the last state of one member of the base was not counted.

    It has what the others leave of the counts `without` the member; `after` is the number of combinations of states of
    the members after it.
    """
    size = len(counts) // len(without)
    for cell in range(len(without)):
        first = cell // after * size * after + cell % after
        source = cell // after * (size - 1) * after + cell % after
        last = first + (size - 1) * after
        for state in range(counts.shape[1]):
            left = without[cell, state]
            for turn in range(size - 1):
                number = all_but_last[source + turn * after, state]
                counts[first + turn * after, state] = number
                left -= number
            counts[last, state] = left


@kernel
def fill_groups(codes, sizes, group_of, groups):
    """Number the combinations of states in groups (group, row), all 0 before; the last variable of a group fastest."""
    for variable in range(len(codes)):
        if group_of[variable] >= 0:
            column, numbers = codes[variable], groups[group_of[variable]]
            for row in range(len(column)):
                numbers[row] = numbers[row] * sizes[variable] + column[row]


@kernel(work=("wanted", "weights", 2))
def count_groups(codes, weights, groups, members, sizes, wanted, counts):
    """Add to counts (position, cell and combination) the weight of the rows, for an even number of wanted groups.

    Two groups are counted in turn, so that equal cells need not wait for each other.
    """
    for begin in range(0, codes.shape[1], ROWS):
        length = min(ROWS, codes.shape[1] - begin)
        cells = np.empty(length, np.uint32)
        number_cells(codes, members, sizes, begin, cells)
        own = weights[begin : begin + length]
        for turn in range(0, len(wanted), 2):
            one, two = groups[wanted[turn], begin : begin + length], groups[wanted[turn + 1], begin : begin + length]
            ones, twos = counts[turn], counts[turn + 1]
            for row in range(length):
                ones[cells[row] + np.uint32(one[row])] += own[row]
                twos[cells[row] + np.uint32(two[row])] += own[row]


@kernel
def number_cells(codes, members, sizes, begin, cells):
    """The first combination of each row's cell: those of a cell are `SPAN` numbers."""
    cells[:] = 0
    for member in range(len(members)):
        column, size = codes[members[member]], np.uint32(sizes[member])
        for row in range(len(cells)):
            cells[row] = cells[row] * size + np.uint32(column[begin + row])
    for row in range(len(cells)):
        cells[row] *= np.uint32(SPAN)


@kernel
def spread_groups(grouped, lines, strides, starts, sizes, counts):
    """Fill counts (cell, state) of variables from those of their groups, and the last column with each cell's weight.

    `lines` are the positions of the groups, and `strides` the distances between the states of a variable in them.
    """
    whole = counts.shape[1] - 1
    for variable in range(len(lines)):
        line, stride, size = grouped[lines[variable]], strides[variable], sizes[variable]
        for cell in range(len(counts)):
            for state in range(size):
                total = np.int32(0)
                for first in range(state * stride, SPAN - (size - 1 - state) * stride - stride + 1, size * stride):
                    for number in range(first, first + stride):
                        total += line[cell * SPAN + number]
                counts[cell, starts[variable] + state] = total
    for cell in range(len(counts)):
        counts[cell, whole] = 0
        for number in range(SPAN):
            counts[cell, whole] += grouped[0, cell * SPAN + number]


@kernel
def take_table(counts, cells, start, num_states):
    """The counts of one variable as a table: its states one after the other, with these cells of the base in each."""
    table = np.empty(len(cells) * num_states)
    for state in range(num_states):
        for index in range(len(cells)):
            table[state * len(cells) + index] = counts[cells[index], start + state]
    return table


@kernel
def count_bases(codes, weights, sizes, starts, width, ends, members, first, spans, offsets, counts):
    """Add to `counts` the weight of each cell of each base with each state.

    The members of base i end before `ends[i]`; its counts begin at `offsets[i]`, with `spans[i]` states, from
    `first[i]` on, for each cell. Unsigned numbers spare the compiler the check for negative indices.
    """
    num_rows = codes.shape[1]
    for begin in range(0, num_rows, MASK_TILE):
        length = min(MASK_TILE, num_rows - begin)
        masks = np.empty((length, width), np.int8)
        cells = np.empty(length, np.int64)
        whole = np.empty(length, np.int32)
        mask_tile(codes, starts, begin, masks)
        flat = masks.reshape(-1)
        opening = 0
        for base in range(len(ends)):
            find_cells(codes, weights, sizes, members[opening : ends[base]], begin, cells, whole)
            opening = ends[base]
            span = np.uint64(spans[base])
            for row in range(length):
                weight = whole[row]
                own = np.uint64(row) * np.uint64(width) + np.uint64(first[base])
                cell = np.uint64(offsets[base]) + np.uint64(cells[row]) * span
                for state in range(span):
                    counts[cell + np.uint64(state)] += weight & np.int32(flat[own + np.uint64(state)])


@kernel
def mask_tile(codes, starts, begin, masks):
    """Fill masks (row, state) of the rows from `begin` on: -1 for the states of a row, 0 for others.

    Variables with a negative start have no states in the masks.
    """
    masks[:] = 0
    for variable in range(len(codes)):
        if starts[variable] >= 0:
            for row in range(len(masks)):
                code = codes[variable, begin + row]
                if code >= 0:
                    masks[row, starts[variable] + code] = -1


@kernel
def find_cells(codes, weights, sizes, members, begin, cells, whole):
    """The cell of each row among those of the members, and its weight: 0 where a member is missing."""
    for row in range(len(cells)):
        cell = np.int64(0)
        whole[row] = weights[begin + row]
        for member in members:
            code = codes[member, begin + row]
            if code < 0:
                whole[row] = 0
                cell = np.int64(0)
                break
            cell = cell * sizes[member] + code
        cells[row] = cell
