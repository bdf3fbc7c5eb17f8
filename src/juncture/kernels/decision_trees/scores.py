"""Scores of a split from the statistics of its children, (child, statistic).

The statistics of a node are the weight of each class; for regression the weight, the sum and the sum of squares of the
target. The gain of a split is the impurity of the node less the mean impurity of its children.
"""

from __future__ import annotations

import math

from juncture.kernels.compiler import kernel

ENTROPY, GAIN_RATIO, GINI, VARIANCE = 0, 1, 2, 3
MODE, CLASS_MODE, FRACTIONS = 0, 1, 2


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
def weighted_log(weight, logs):
    """w log₂ w; `logs` has it for the first whole numbers, which most weights are."""
    if 0.0 <= weight < len(logs):
        whole = int(weight)
        if whole == weight:
            return logs[whole]
    return weight * math.log2(weight) if weight > 0.0 else 0.0


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
def split_entropy(table, num_children, total, criterion, logs):
    """The entropy in bits of the child that a row is sent to."""
    whole = weight_of(total, criterion)
    rest = weighted_log(whole, logs)
    for child in range(num_children):
        rest -= weighted_log(weight_of(table[child], criterion), logs)
    return rest / whole


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
