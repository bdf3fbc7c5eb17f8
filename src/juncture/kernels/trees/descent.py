"""Rows sent from the root of a tree to its leaves; a row with a hole may reach several, in fractions."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.trees.sorting import find_key


@kernel
def find_leaves(table, split, threshold, first_child, num_children, branch, share, leaf_rows, leaves, fractions):
    """Fill the entries (row, leaf, fraction) in the order of rows, as far as the arrays go; returns their number.

    `table` is (row, column): numbers, codes of categories, NaN for holes. A row whose value in the column of a node is
    missing goes to every child in the proportion of its `share`, the others to one child; a category without a child
    ends at the node.
    """
    stack = np.empty(len(split), np.int64)
    rest = np.empty(len(split))
    number = 0
    for row in range(len(table)):
        stack[0], rest[0], height = 0, 1.0, 1
        while height > 0:
            height -= 1
            node, fraction = stack[height], rest[height]
            first, last = first_child[node], first_child[node] + num_children[node]
            is_leaf = split[node] < 0
            value = 0.0 if is_leaf else table[row, split[node]]
            if not is_leaf and np.isnan(value):
                for child in range(first, last):
                    if share[child] > 0.0:
                        stack[height], rest[height] = child, fraction * share[child]
                        height += 1
                continue
            if not is_leaf:
                child = find_child(value, threshold[node], branch, first, last)
                if child >= 0:
                    stack[height], rest[height] = child, fraction
                    height += 1
                    continue
            if number < len(leaves):
                leaf_rows[number], leaves[number], fractions[number] = row, node, fraction
            number += 1
    return number


@kernel
def find_child(value, threshold, branch, first, last):
    """The child for a value: by the threshold, or by the code of a category; -1 for a category without a child."""
    if not np.isnan(threshold):
        return first if value <= threshold else first + 1
    place = first + find_key(branch[first:last], last - first, value)
    return place if place < last and branch[place] == value else -1
