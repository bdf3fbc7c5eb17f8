"""The best split of each node of a level: multiway by the categories of a column, or in two at a threshold.

The entries of a node, `rows[starts[node]:starts[node + 1]]` with their weights, are the rows that reach it. A choice is
(column or -1, lower, upper, number of children, number of holes); the threshold of a real column lies between the
values with the codes `lower` and `upper`.
"""

from __future__ import annotations

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.decision_trees.groups import add_row, group_rows, set_zero
from juncture.kernels.decision_trees.scores import (
    ENTROPY,
    GAIN_RATIO,
    VARIANCE,
    add_missing,
    chi_squared,
    impurity,
    split_entropy,
    weight_of,
)

TIE = 1e-12  # scores that differ by less are equal: the first column and the lowest threshold win


@kernel
def find_splits(
    codes, num_values, is_real, target, rows, weights, starts, order, options, limits, critical, logs, totals, choices
):
    """Fill the statistics (node, statistic) and the choices (node, 5) of all nodes.

    `order` lists for each node the columns in which the search goes through them, or has one row for all nodes.
    `options` are the criterion, the rule for holes and the number of columns to look at; the search goes on until one
    of them can be split. `limits` are the least weight of a node that is split and of two of its children, the least
    gain, and the number of categories that are many. `critical` has the least χ² for each number of degrees of freedom,
    or is empty; `logs` has w log₂ w of the first whole numbers w.

    By gain ratio a column has the threshold of the largest gain, and only columns whose gain is at least the average
    are candidates: a cut that splits off few rows has a large ratio, and tells nothing.
    """
    num_columns, largest = codes.shape[0], 1
    for column in range(num_columns):
        largest = max(largest, min(num_values[column], 2 * len(target) + 16))
    table = np.empty((largest, totals.shape[1]))
    found = np.empty(largest, np.int64)
    missing = np.empty(totals.shape[1])
    pair = np.empty((2, totals.shape[1]))
    gains = np.empty(num_columns)
    scores = np.empty(num_columns)
    splits = np.empty((num_columns, 4), np.int64)
    labels = np.empty(len(rows))
    by_gain = options.copy()
    if options[0] == GAIN_RATIO:
        by_gain[0] = ENTROPY
    for node in range(len(totals)):
        mine, heavy, total = (
            rows[starts[node] : starts[node + 1]],
            weights[starts[node] : starts[node + 1]],
            totals[node],
        )
        for entry in range(len(mine)):
            labels[entry] = target[mine[entry]]
        is_pure = add_rows(labels, heavy, options[0], total)
        choices[node, 0] = -1
        if is_pure or weight_of(total, options[0]) < limits[0]:
            continue
        looked, is_possible, whole = 0, False, impurity(total, by_gain[0], logs)
        for position in range(num_columns if options[2] > 0 else 0):
            if position >= options[2] and is_possible:
                break
            looked = position + 1
            column = order[node % len(order), position]
            number, holes = group_rows(
                codes[column], num_values[column], labels, mine, heavy, options[0], table, found, missing
            )
            gains[position] = -1.0
            if number < 2:
                continue
            entropy = 1.0
            if is_real[column]:
                gain, at = best_threshold(
                    table, number, total, whole, missing, holes, by_gain, limits, critical, logs, pair
                )
                if options[0] == GAIN_RATIO:
                    fill_pair(table, number, at, missing, holes, by_gain, pair)
                    entropy = split_entropy(pair, 2, total, options[0], logs)
                lower, upper, children = found[at], found[min(at + 1, number - 1)], 2
            else:
                add_holes(table, number, missing, holes, options)
                gain = score_split(table, number, total, whole, by_gain, limits, critical, logs)
                if options[0] == GAIN_RATIO:
                    entropy = split_entropy(table, number, total, options[0], logs)
                lower, upper, children = np.int64(0), np.int64(0), number
            gains[position], scores[position] = gain, gain / entropy
            splits[position, 0], splits[position, 1] = lower, upper
            splits[position, 2], splits[position, 3] = children, holes
            is_possible = is_possible or gain >= 0.0
        least = 0.0
        if options[0] == GAIN_RATIO:
            least = average_gain(gains, order[node % len(order)], looked, num_values, is_real, limits[3])
        best = -1.0
        for position in range(looked):
            if gains[position] >= max(least - TIE, 0.0) and scores[position] > best + TIE:
                best = scores[position]
                choices[node, 0] = order[node % len(order), position]
                for part in range(4):
                    choices[node, part + 1] = splits[position, part]


@kernel
def average_gain(gains, order, looked, num_values, is_real, many):
    """The mean gain of the columns that can be split, without columns of many categories.

    Where there are no others, these count too (Quinlan's C4.5).
    """
    for is_strict in (True, False):
        total, number = 0.0, 0
        for position in range(looked):
            column = order[position]
            is_few = is_real[column] or num_values[column] < many
            if gains[position] >= 0.0 and (is_few or not is_strict):
                total += gains[position]
                number += 1
        if number > 0:
            return total / number
    return 0.0


@kernel
def add_rows(labels, weights, criterion, total):
    """Add up the statistics of a node; whether all targets are equal."""
    set_zero(total)
    is_pure = True
    for entry in range(len(weights)):
        add_row(total, labels[entry], weights[entry], criterion)
        if labels[entry] != labels[0]:
            is_pure = False
    return is_pure


@kernel
def add_holes(table, number, missing, holes, options):
    """Send the rows with a hole to the children, if there are any."""
    if holes > 0:
        add_missing(table, number, missing, options[0], options[1])


@kernel
def score_split(table, number, total, whole, options, limits, critical, logs):
    """The gain of a split of a node of impurity `whole`; -1 where a limit forbids it."""
    large = 0
    for child in range(number):
        if weight_of(table[child], options[0]) >= limits[1]:
            large += 1
    if large < 2:
        return -1.0
    rest = whole
    for child in range(number):
        rest -= impurity(table[child], options[0], logs)
    gain = max(rest / weight_of(total, options[0]), 0.0)
    if gain < limits[2] - TIE:
        return -1.0
    if len(critical) > 0:
        statistic, freedom = chi_squared(table, number, total)
        if statistic < critical[freedom]:
            return -1.0
    return gain


@kernel
def best_threshold(table, number, total, whole, missing, holes, options, limits, critical, logs, pair):
    """(the best score of a cut after one of the values, the position of that value), -1 where no cut is allowed.

    Only cuts between values of different classes are scored: two neighbouring values whose rows are all of one and the
    same class are never parted.
    """
    left = np.zeros(table.shape[1])
    known = np.zeros(table.shape[1])
    for value in range(number):
        for entry in range(table.shape[1]):
            known[entry] += table[value, entry]
    best, at = -1.0, np.int64(0)
    for value in range(number - 1):
        for entry in range(table.shape[1]):
            left[entry] += table[value, entry]
        if options[0] != VARIANCE and is_one_class(table, value):
            continue
        for entry in range(table.shape[1]):
            pair[0, entry], pair[1, entry] = left[entry], known[entry] - left[entry]
        add_holes(pair, 2, missing, holes, options)
        score = score_split(pair, 2, total, whole, options, limits, critical, logs)
        if score > best + TIE:
            best, at = score, np.int64(value)
    return best, at


@kernel
def fill_pair(table, number, at, missing, holes, options, pair):
    """Fill the statistics of the two children of a cut after the value at this position."""
    for entry in range(table.shape[1]):
        pair[0, entry], pair[1, entry] = 0.0, 0.0
        for value in range(number):
            pair[0 if value <= at else 1, entry] += table[value, entry]
    add_holes(pair, 2, missing, holes, options)


@kernel
def is_one_class(table, value):
    """Whether the rows of a value and of the next one are all of one class."""
    classes = 0
    for label in range(table.shape[1]):
        if table[value, label] > 0.0 or table[value + 1, label] > 0.0:
            classes += 1
    return classes == 1
