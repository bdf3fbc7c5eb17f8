"""Deterministic relations: variables that are functions of others in the rows, where tests say little.

A variable is independent of all others given the variables that determine it, whatever its neighbours are. So such a
set separates the variable from another one only where every member of the set is adjacent to that other one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from juncture.errors import DeterministicRelationWarning, warn_user
from juncture.learning.structure.independence.tests import Tester

SHOWN = 3  # functions that the warning names
MOST = 3  # parents of a function that is looked for
ENOUGH = 10.0  # rows for each combination of states, before chance is no explanation


def warn_of_functions(tester: Tester, adjacent: np.ndarray) -> None:
    """Warn of variables that are functions of their neighbours."""
    found = list(find_functions(tester, adjacent))
    if found:
        names = tester.names
        named = [
            f"{names[child]!r} of {', '.join(repr(names[one]) for one in given)}" for child, given in found[:SHOWN]
        ]
        warn_user(
            f"in these rows some variables are functions of others: {'; '.join(named)}{'; …' if found[SHOWN:] else ''};"
            " tests cannot tell which of them an edge belongs to, so that edges may be missing or superfluous:"
            " a score can (method='ges' or 'hill-climbing')",
            DeterministicRelationWarning,
        )


def determined_by(tester: Tester, children: Sequence[int], given: Sequence[int]) -> list[int]:
    """The children that are functions of the given: a test of such a child given these says nothing."""
    return [one for one in children if given and tester.rows_for_function(given, one) >= ENOUGH]


def find_functions(tester: Tester, adjacent: np.ndarray) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(child, given): for each such child, the first of the smallest sets of neighbours that determine the child."""
    for child, around in enumerate(adjacent):
        near = np.flatnonzero(around).tolist()
        if near and tester.rows_for_function(near, child):  # else the child is no function of a subset either
            sets = (given for size in range(1, MOST + 1) for given in combinations(near, size))
            found = next((given for given in sets if tester.rows_for_function(given, child) >= ENOUGH), None)
            if found is not None:
                yield child, found
