"""Decision trees: the best split of each node of a level, and rows sent to children and to leaves.

The entries of a node, `rows[starts[node]:starts[node + 1]]` with their weights, are the rows that reach it. A split is
multiway by the categories of a column, or in two at a threshold. A choice is (column or -1, lower, upper, number of
children, number of holes); the threshold of a real column lies between the values with the codes `lower` and `upper`.

The statistics of a node are the weight of each class; for regression the weight, the sum and the sum of squares of the
target. The gain of a split is the impurity of the node less the mean impurity of its children. The rows of a node are
grouped by their value in a column, with the statistics of the values that occur, in order. A row with a hole may reach
several leaves, in fractions.
"""

from __future__ import annotations

import math

import numpy as np

from juncture.kernels.compiler import kernel
from juncture.kernels.sorting import find_key, sort_digits

TIE = 1e-12  # scores that differ by less are equal: the first column and the lowest threshold win
SHIFT = 32  # bits: a key holds the code of a value above the position of its row
LOWER_BITS = (1 << SHIFT) - 1
ENTROPY, GAIN_RATIO, GINI, VARIANCE = 0, 1, 2, 3
MODE, CLASS_MODE, FRACTIONS = 0, 1, 2
EVERYWHERE = -1  # the route of a row that is sent to all children, in fractions


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
def set_zero(statistics):
    for entry in range(len(statistics)):
        statistics[entry] = 0.0


@kernel
def add_row(statistics, target, weight, criterion):
    """Add a row to the statistics of a node."""
    if criterion == VARIANCE:
        statistics[0] += weight
        statistics[1] += weight * target
        statistics[2] += weight * target * target
    else:
        statistics[int(target)] += weight


@kernel
def weight_of(statistics, criterion):
    """The weight of the rows of a node."""
    if criterion == VARIANCE:
        return statistics[0]
    total = 0.0
    for each in statistics:
        total += each
    return total


@kernel
def impurity(statistics, criterion, logs):
    """The weight of a node times its entropy in bits, its Gini impurity or its variance."""
    whole = weight_of(statistics, criterion)
    if whole <= 0.0:
        return 0.0
    if criterion == VARIANCE:
        return max(statistics[2] - statistics[1] * statistics[1] / whole, 0.0)
    rest = whole if criterion == GINI else weighted_log(whole, logs)
    for each in statistics:
        rest -= each * each / whole if criterion == GINI else weighted_log(each, logs)
    return max(rest, 0.0)


@kernel
def weighted_log(weight, logs):
    """w log₂ w; `logs` has it for the first whole numbers, which most weights are."""
    if 0.0 <= weight < len(logs):
        whole = int(weight)
        if whole == weight:
            return logs[whole]
    return weight * math.log2(weight) if weight > 0.0 else 0.0


@kernel
def group_rows(codes, num_values, labels, rows, weights, criterion, table, found, missing):
    """Fill the table (value, statistic) and the codes `found` of the values that occur; (their number, that of holes).

    The rows are those of one node, with weights above 0; `labels` has their targets; a hole has the code -1.
    """
    set_zero(missing)
    if is_counted(num_values, len(rows)):
        return count_values(codes, num_values, labels, rows, weights, criterion, table, found, missing)
    return sort_values(codes, num_values, labels, rows, weights, criterion, table, found, missing)


@kernel
def is_counted(num_values, size):
    """Whether so many values of so many rows are counted in a table with a row for each value, without sorting."""
    return num_values <= 2 * size + 16


@kernel
def count_values(codes, num_values, labels, rows, weights, criterion, table, found, missing):
    """`group_rows` by a table of all values, of which the empty rows are left out at the end."""
    num_missing = 0
    for code in range(num_values):
        set_zero(table[code])
    for entry in range(len(rows)):
        code = codes[rows[entry]]
        if code < 0:
            num_missing += 1
            add_row(missing, labels[entry], weights[entry], criterion)
        else:
            add_row(table[code], labels[entry], weights[entry], criterion)
    number = 0
    for code in range(num_values):
        if weight_of(table[code], criterion) > 0.0:
            if number < code:
                copy_statistics(table[code], table[number])
            found[number] = code
            number += 1
    return number, num_missing


@kernel
def copy_statistics(source, target):
    for entry in range(len(source)):
        target[entry] = source[entry]


@kernel
def sort_values(codes, num_values, labels, rows, weights, criterion, table, found, missing):
    """`group_rows` by sorting: for columns with many more values than the node has rows."""
    keys = np.empty(len(rows), np.int64)
    known = 0
    for entry in range(len(rows)):
        code = codes[rows[entry]]
        if code < 0:
            add_row(missing, labels[entry], weights[entry], criterion)
        else:
            keys[known] = (code << SHIFT) | entry
            known += 1
    number, num_bits = -1, np.int64(0)
    while (num_values - 1) >> num_bits > 0:
        num_bits += 1
    keys = sort_digits(keys, known, np.int64(SHIFT), num_bits)
    for place in range(known):
        code, entry = keys[place] >> SHIFT, keys[place] & LOWER_BITS
        if number < 0 or found[number] != code:
            number += 1
            found[number] = code
            set_zero(table[number])
        add_row(table[number], labels[entry], weights[entry], criterion)
    return number + 1, len(rows) - known


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
def is_one_class(table, value):
    """Whether the rows of a value and of the next one are all of one class."""
    classes = 0
    for label in range(table.shape[1]):
        if table[value, label] > 0.0 or table[value + 1, label] > 0.0:
            classes += 1
    return classes == 1


@kernel
def add_holes(table, number, missing, holes, options):
    """Send the rows with a hole to the children, if there are any."""
    if holes > 0:
        add_missing(table, number, missing, options[0], options[1])


@kernel
def add_missing(table, num_children, missing, criterion, how):
    """Add the statistics of the rows whose value is missing to the children that they are sent to."""
    heavy = heaviest(table, num_children, criterion)
    if how == MODE:
        for entry in range(len(missing)):
            table[heavy, entry] += missing[entry]
    elif how == CLASS_MODE:
        for label in range(len(missing)):
            if missing[label] > 0.0:
                table[class_child(table, num_children, label, heavy), label] += missing[label]
    else:
        whole = 0.0
        for child in range(num_children):
            whole += weight_of(table[child], criterion)
        for child in range(num_children):
            share = weight_of(table[child], criterion) / whole
            for entry in range(len(missing)):
                table[child, entry] += share * missing[entry]


@kernel
def heaviest(table, num_children, criterion):
    """The child with the largest weight; of equal ones the first."""
    best, largest = 0, -1.0
    for child in range(num_children):
        weight = weight_of(table[child], criterion)
        if weight > largest:
            best, largest = child, weight
    return best


@kernel
def class_child(table, num_children, label, heavy):
    """The child that most of the known rows of a class are sent to; where no such row is known, the heaviest child."""
    best, largest = heavy, 0.0
    for child in range(num_children):
        if table[child, label] > largest:
            best, largest = child, table[child, label]
    return best


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
def chi_squared(table, num_children, total):
    """χ² of the table (child, class) against independence; a class without rows takes no degree of freedom."""
    whole = weight_of(total, ENTROPY)
    statistic = 0.0
    num_classes = 0
    for label in range(len(total)):
        if total[label] > 0.0:
            num_classes += 1
            for child in range(num_children):
                expected = weight_of(table[child], ENTROPY) * total[label] / whole
                statistic += (table[child, label] - expected) ** 2 / expected
    return statistic, (num_children - 1) * (num_classes - 1)


@kernel
def fill_pair(table, number, at, missing, holes, options, pair):
    """Fill the statistics of the two children of a cut after the value at this position."""
    for entry in range(table.shape[1]):
        pair[0, entry], pair[1, entry] = 0.0, 0.0
        for value in range(number):
            pair[0 if value <= at else 1, entry] += table[value, entry]
    add_holes(pair, 2, missing, holes, options)


@kernel
def split_entropy(table, num_children, total, criterion, logs):
    """The entropy in bits of the child that a row is sent to."""
    whole = weight_of(total, criterion)
    rest = weighted_log(whole, logs)
    for child in range(num_children):
        rest -= weighted_log(weight_of(table[child], criterion), logs)
    return rest / whole


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
    """Write the entries of each child in turn, from position `end` on; return the position after the last."""
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
