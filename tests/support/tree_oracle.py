"""A slow reference of decision trees: every split of every node is tried, with lists of weighted rows."""

from __future__ import annotations

from itertools import pairwise
from math import log2, nan

import numpy as np

TIE = 1e-12


def impurity(counts, criterion):
    """The impurity of {class: weight}, or of a list of (number, weight) for the variance."""
    if criterion == "variance":
        whole = sum(weight for _, weight in counts)
        mean = sum(number * weight for number, weight in counts) / whole
        return sum(weight * (number - mean) ** 2 for number, weight in counts) / whole
    whole = sum(counts.values())
    shares = [count / whole for count in counts.values() if count > 0]
    return 1 - sum(share**2 for share in shares) if criterion == "gini" else -sum(p * log2(p) for p in shares)


def summary(rows, y, criterion):
    if criterion == "variance":
        return [(y[row], weight) for row, weight in rows]
    counts = {}
    for row, weight in rows:
        counts[y[row]] = counts.get(y[row], 0.0) + weight
    return counts


def weight_of(rows):
    return sum(weight for _, weight in rows)


def children_of(rows, column, y, missing, test):
    """{branch: rows} after the rows with a hole have been sent on."""
    known = {}
    for row, weight in rows:
        if column[row] is not None:
            known.setdefault(test(column[row]), []).append((row, weight))
    known = dict(sorted(known.items()))
    holes = [(row, weight) for row, weight in rows if column[row] is None]
    heaviest = max(known, key=lambda branch: weight_of(known[branch]), default=None)
    sizes = {branch: weight_of(part) for branch, part in known.items()}
    of_class = {
        label: {branch: weight_of([each for each in part if y[each[0]] == label]) for branch, part in known.items()}
        for label in set(y)
    }
    children = {branch: list(part) for branch, part in known.items()}
    for row, weight in holes if known else ():
        if missing == "fractions":
            for branch, part in children.items():
                part.append((row, weight * sizes[branch] / sum(sizes.values())))
            continue
        mine = of_class[y[row]] if missing == "class_mode" else {}
        best = max(mine, key=mine.get) if any(mine.values()) else heaviest
        children[best].append((row, weight))
    return children


def score(rows, children, y, criterion):
    kind = "gain" if criterion == "gain_ratio" else criterion
    whole = weight_of(rows)
    shares = [weight_of(part) / whole for part in children.values()]
    gain = impurity(summary(rows, y, kind), kind) - sum(
        share * impurity(summary(part, y, kind), kind) for share, part in zip(shares, children.values(), strict=True)
    )
    return max(gain, 0.0) / (-sum(p * log2(p) for p in shares) if criterion == "gain_ratio" else 1.0)


def all_splits(rows, columns, y, missing):
    """(column, threshold or NaN, children) of every split, at every middle of two successive numbers."""
    for position, column in enumerate(columns):
        values = sorted({column[row] for row, _ in rows if column[row] is not None})
        if len(values) < 2:
            continue
        if isinstance(values[0], str):
            yield position, nan, children_of(rows, column, y, missing, lambda value: value)
            continue
        for lower, upper in pairwise(values):
            middle = (lower + upper) / 2
            yield position, middle, children_of(rows, column, y, missing, lambda value, t=middle: int(value > t))


def is_between_classes(rows, column, y, threshold):
    """Whether the rows with the values next to a threshold are of more than one class."""
    values = sorted({column[row] for row, _ in rows if column[row] is not None})
    lower, upper = max(v for v in values if v <= threshold), min(v for v in values if v > threshold)
    return len({y[row] for row, _ in rows if column[row] in (lower, upper)}) > 1


def best_ratio(rows, columns, y, missing, total):
    """The best gain ratio of columns with at least the average gain, each at its best cut by gain, as C4.5 has it."""
    found = {}
    for position in range(len(columns)):
        alone = [column if place == position else [None] * len(y) for place, column in enumerate(columns)]
        split, gain = best_split(rows, alone, y, "gain", missing)
        if split is not None:
            found[position] = (gain, score(rows, split[2], y, "gain_ratio"), split)
    many = {
        place for place in found
        if any(isinstance(cell, str) for cell in columns[place])
        and len({cell for cell in columns[place] if cell is not None}) >= 0.3 * total
    }  # fmt: skip
    counted = [gain for place, (gain, _, _) in found.items() if place not in many or many == set(found)]
    if not counted:
        return None, -1.0
    best, chosen = -1.0, None
    for gain, ratio, split in found.values():
        if gain >= sum(counted) / len(counted) - TIE and ratio > best + TIE:
            best, chosen = ratio, split
    return chosen, best


def best_split(rows, columns, y, criterion, missing, total=None):
    """The best split, or None; where rows have holes, thresholds are candidates between classes only."""
    if criterion == "gain_ratio":
        return best_ratio(rows, columns, y, missing, total)
    best, found = -1.0, None
    for position, threshold, children in all_splits(rows, columns, y, missing):
        has_hole = any(columns[position][row] is None for row, _ in rows)
        is_limited = has_hole and criterion != "variance" and not np.isnan(threshold)
        if is_limited and not is_between_classes(rows, columns[position], y, threshold):
            continue
        value = score(rows, children, y, criterion)
        if value > best + TIE:
            best, found = value, (position, threshold, children)
    return found, best


def grow(columns, y, weights, criterion, missing):
    """The nodes level by level: (column, threshold, weight, impurity, score of the split)."""
    nodes, level = [], [[(row, weight) for row, weight in enumerate(weights) if weight > 0]]
    kind = "gain" if criterion == "gain_ratio" else criterion
    while level:
        below = []
        for rows in level:
            is_pure = len({y[row] for row, _ in rows}) == 1
            found, value = (None, -1.0) if is_pure else best_split(rows, columns, y, criterion, missing, sum(weights))
            nodes.append((rows, found, weight_of(rows), impurity(summary(rows, y, kind), kind), value))
            below += [] if found is None else list(found[2].values())
        level = below
    return nodes
