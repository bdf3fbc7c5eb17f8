"""Rows sent from the nodes of a level to their children, while a tree grows."""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.decision_trees.groups import add_row, group_rows, set_zero
from juncture.kernels.decision_trees.scores import CLASS_MODE, FRACTIONS, class_child, heaviest, weight_of
from juncture.kernels.sorting import find_key

EVERYWHERE = -1  # the route of a row that is sent to all children, in fractions


@kernel
def send_rows(
    codes, num_values, is_real, target, rows, weights, starts, choices, options, branches, ends, sent_rows, sent_weights
):
    """Send the entries of all nodes that are split to their children.

    Fills for each child its branch (the code of its category, or 0 below a threshold and 1 above) and the end of its
    entries, and the entries: rows and weights.
    """
    largest = 2
    for column in range(codes.shape[0]):
        largest = max(largest, min(num_values[column], 2 * len(target) + 16))
    table = np.empty((largest, options[3]))
    found = np.empty(largest, np.int64)
    missing = np.empty(options[3])
    routes, labels = np.empty(len(rows), np.int64), np.empty(len(rows))
    child, end = np.int64(0), np.int64(0)
    for node in range(len(choices)):
        column, lower = choices[node, 0], choices[node, 1]
        if column < 0:
            continue
        mine, heavy = rows[starts[node] : starts[node + 1]], weights[starts[node] : starts[node + 1]]
        for entry in range(len(mine)):
            labels[entry] = target[mine[entry]]
        if is_real[column]:
            number = part_rows(codes[column], lower, labels, mine, heavy, options[0], table, found)
        else:
            number, _ = group_rows(
                codes[column], num_values[column], labels, mine, heavy, options[0], table, found, missing
            )
        find_routes(codes[column], is_real[column], lower, labels, mine, table, found, number, options, routes)
        end = place_entries(mine, heavy, routes, table, number, options, end, ends[child:], sent_rows, sent_weights)
        for each in range(number):
            branches[child + each] = found[each]
        child += number


@kernel
def part_rows(codes, lower, labels, rows, weights, criterion, table, found):
    """Add up the rows with codes up to `lower`, and those above it: two children, with the branches 0 and 1."""
    set_zero(table[0])
    set_zero(table[1])
    for entry in range(len(rows)):
        code = codes[rows[entry]]
        if code >= 0:
            add_row(table[0 if code <= lower else 1], labels[entry], weights[entry], criterion)
    found[0], found[1] = 0, 1
    return np.int64(2)


@kernel
def find_routes(codes, is_real, lower, labels, rows, table, found, number, options, routes):
    """The child of each entry, or EVERYWHERE."""
    heavy = heaviest(table, number, options[0])
    for entry in range(len(rows)):
        code = codes[rows[entry]]
        if code >= 0:
            routes[entry] = (0 if code <= lower else 1) if is_real else find_key(found, number, code)
        elif options[1] == FRACTIONS:
            routes[entry] = EVERYWHERE
        elif options[1] == CLASS_MODE:
            routes[entry] = class_child(table, number, int(labels[entry]), heavy)
        else:
            routes[entry] = heavy


@kernel
def place_entries(rows, weights, routes, table, number, options, end, ends, sent_rows, sent_weights):
    """Write the entries child by child, from position `end` on; returns the position after the last of them."""
    places = np.zeros(number, np.int64)
    shares = np.empty(number)
    whole, everywhere = 0.0, 0
    for entry in range(len(rows)):
        if routes[entry] == EVERYWHERE:
            everywhere += 1
        else:
            places[routes[entry]] += 1
    for child in range(number):
        shares[child] = weight_of(table[child], options[0])
        whole += shares[child]
        size = places[child] + everywhere
        places[child] = end
        end += size
        ends[child] = end
    for entry in range(len(rows)):
        first, last = (0, number) if routes[entry] == EVERYWHERE else (routes[entry], routes[entry] + 1)
        for child in range(first, last):
            share = shares[child] / whole if routes[entry] == EVERYWHERE else 1.0
            sent_rows[places[child]], sent_weights[places[child]] = rows[entry], weights[entry] * share
            places[child] += 1
    return end
