"""Gibbs sampling of a grid of spins with one coupling and one field: 64 spins in a word, as on a checkerboard.

Spins of one colour have neighbours of the other colour only. The number of neighbours that are up is counted for 64
spins at once by the logic of an adder, and the spins are drawn by comparing the binary digits of a uniform number with
those of the probability: random words give one digit of all 64 numbers, until every comparison is decided.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.sampling.streams import ONE, mix, stream_start, stream_step

S63, NONE, ALL = np.uint64(63), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
NUM_DIGITS = 64


@kernel(work=("planes", "num_sweeps", 100))
def sweep_spins(planes, masks, digits, keys, first_sweep, num_sweeps):
    """Draw all spins given their neighbours, `num_sweeps` times; the rows of `planes` (colour, row, word) change.

    Bit m of a row of colour c is the spin of column 2 m + p with p = (row + c) mod 2; bits past the end are 0. `masks`
    (p, kind, word) has the bits that exist, those with a neighbour at the same place of the other colour, and those
    with a neighbour at the place next to it. `digits` (degree, digit, number of neighbours that are up) has all bits
    set where the probability of up has that binary digit. A row of a sweep has a random stream of its own.
    """
    num_rows, num_words = planes.shape[1], planes.shape[2]
    for sweep in range(first_sweep, first_sweep + num_sweeps):
        for colour in range(2):
            other = planes[1 - colour]
            for row in range(num_rows):
                index = (2 * sweep + colour) * num_rows + row
                word, step = stream_start(keys, index), stream_step(keys, index)
                parity = (row + colour) % 2
                vertical = int(row > 0) + int(row < num_rows - 1)
                for place in range(num_words):
                    up = other[row - 1, place] if row > 0 else NONE
                    down = other[row + 1, place] if row < num_rows - 1 else NONE
                    same = other[row, place]
                    if parity == 0:
                        beside = same << ONE
                        if place > 0:
                            beside |= other[row, place - 1] >> S63
                    else:
                        beside = same >> ONE
                        if place < num_words - 1:
                            beside |= other[row, place + 1] << S63
                    odd_pair, both_pair = up ^ down, up & down
                    odd_rest, both_rest = same ^ beside, same & beside
                    carry = odd_pair & odd_rest
                    ones = odd_pair ^ odd_rest
                    fours = both_pair & both_rest
                    twos = (both_pair | both_rest | carry) & ~fours
                    exist = masks[parity, 0, place]
                    has_same, has_beside = masks[parity, 1, place], masks[parity, 2, place]
                    is_drawn = NONE
                    for degree in range(vertical, vertical + 3):
                        kind = exist & (has_same & has_beside)
                        if degree == vertical:
                            kind = exist & ~(has_same | has_beside)
                        elif degree == vertical + 1:
                            kind = exist & (has_same ^ has_beside)
                        if kind == NONE:
                            continue
                        undecided = kind
                        none_up = kind & ~(ones | twos | fours)
                        one_up, two_up, three_up = ones & ~twos, twos & ~ones, ones & twos
                        table = digits[degree]
                        for digit in range(NUM_DIGITS):
                            word += step
                            random = mix(word)
                            own = (
                                (none_up & table[digit, 0])
                                | (one_up & table[digit, 1])
                                | (two_up & table[digit, 2])
                                | (three_up & table[digit, 3])
                                | (fours & table[digit, 4])
                            )
                            is_drawn |= undecided & own & ~random
                            undecided &= ~(own ^ random)
                            if undecided == NONE:
                                break
                    planes[colour, row, place] = is_drawn
