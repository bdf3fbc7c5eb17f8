"""What each step of a walk along a chain does, whatever its numbers are."""

from __future__ import annotations

from juncture.kernels.compiler import kernel, summing_kernel

KEEP, MEET = 1, 2  # what a walk does with the lattice
AT_ONCE = 4  # outer products that are added together
FEW = 8  # states: below this, target by target is faster


@kernel
def plain(number):
    """A number that stands for itself, or nothing for a logarithm."""
    return max(0.0, number)


@summing_kernel
def move(message, matrix, moved):
    """`message @ matrix`, four sources at a time; logarithms (below zero) count as nothing."""
    num_states = len(message)
    if num_states < FEW:
        for target in range(num_states):
            total = 0.0
            for source in range(num_states):
                total += plain(message[source]) * matrix[source, target]
            moved[target] = total
        return
    for target in range(num_states):
        moved[target] = 0.0
    source = 0
    while source + 4 <= num_states:
        a, b = plain(message[source]), plain(message[source + 1])
        c, d = plain(message[source + 2]), plain(message[source + 3])
        for target in range(num_states):
            moved[target] += (a * matrix[source, target] + b * matrix[source + 1, target]) + (
                c * matrix[source + 2, target] + d * matrix[source + 3, target]
            )
        source += 4
    while source < num_states:
        a = plain(message[source])
        for target in range(num_states):
            moved[target] += a * matrix[source, target]
        source += 1


@summing_kernel
def move_eight(message, cells, moved):
    """The same of eight states, whose matrix is given row after row."""
    a, b, c, d = plain(message[0]), plain(message[1]), plain(message[2]), plain(message[3])
    e, f, g, h = plain(message[4]), plain(message[5]), plain(message[6]), plain(message[7])
    for target in range(len(moved)):
        first = (a * cells[target] + b * cells[target + 8]) + (c * cells[target + 16] + d * cells[target + 24])
        second = (e * cells[target + 32] + f * cells[target + 40]) + (g * cells[target + 48] + h * cells[target + 56])
        moved[target] = first + second


@summing_kernel
def add_pairs(left, right, num_waiting, pairs):
    """Add leftᵀ @ right to pairs once enough rows wait, or `left` has no more of them; how many still wait."""
    if num_waiting < len(left) or num_waiting == 0:
        return num_waiting
    if num_waiting < AT_ONCE:
        for row in range(num_waiting):
            for source in range(len(pairs)):
                for target in range(len(pairs)):
                    pairs[source, target] += left[row, source] * right[row, target]
        return 0
    for source in range(len(pairs)):
        a, b, c, d = left[0, source], left[1, source], left[2, source], left[3, source]
        for target in range(len(pairs)):
            pairs[source, target] += (a * right[0, target] + b * right[1, target]) + (
                c * right[2, target] + d * right[3, target]
            )
    return 0
