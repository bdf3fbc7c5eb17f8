"""Rows sent from the root of a tree to its leaves; a row with a hole may reach several, in fractions."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.sorting import find_key


@kernel
def find_leaves(table, split, threshold, first_child, num_children, branch, share, leaf_rows, leaves, fractions):
    """Fill the entries (row, leaf, fraction) in the order of rows, as far as the arrays go; returns their number.

    `table` is (row, column): numbers, codes of categories, NaN for holes. A row whose value in the column of a node is
    missing goes to every child in the proportion of its `share`, the others to one child; a category without a child
    ends at the node. The threshold of a node that tests a category is NaN, which no value is up to or above.
    """
    stack = np.empty(len(split), np.int64)
    rest = np.empty(len(split))
    number = 0
    for row in range(len(table)):
        node, fraction, height = 0, 1.0, 0
        while True:
            column, first = split[node], first_child[node]
            value = 0.0 if column < 0 else table[row, column]
            if column >= 0 and value <= threshold[node]:
                node = first
                continue
            if column >= 0 and value > threshold[node]:
                node = first + 1
                continue
            if np.isnan(value):
                for child in range(first, first + num_children[node]):
                    if share[child] > 0.0:
                        stack[height], rest[height] = child, fraction * share[child]
                        height += 1
            else:
                child = -1 if column < 0 else find_category(value, branch, first, first + num_children[node])
                if child >= 0:
                    node = child
                    continue
                if number < len(leaves):
                    leaf_rows[number], leaves[number], fractions[number] = row, node, fraction
                number += 1
            if height == 0:
                break
            height -= 1
            node, fraction = stack[height], rest[height]
    return number


@kernel
def find_category(value, branch, first, last):
    """The child for the code of a category; -1 for a category without a child."""
    place = first + find_key(branch[first:last], last - first, value)
    return place if place < last and branch[place] == value else -1
