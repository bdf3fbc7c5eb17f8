"""Variables that are functions of others in the rows, of which tests of independence can tell little.

Given what determines it, a variable is independent of all others, whoever its neighbours are. So this separates it from
another only where those that determine it could take its place: where they are joined to the other themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from juncture.errors import DeterminedWarning
from juncture.learning.structure.independence.tests import Tester

SHOWN = 3  # functions that the warning names
MOST = 3  # parents of a function that is looked for
ENOUGH = 10.0  # rows for each combination of states, before chance is no explanation


def tell_functions(tester: Tester, joined: np.ndarray) -> None:
    """Warn of variables that are functions of those they are joined to."""
    found = list(functions(tester, joined))
    if found:
        names = tester.names
        told = [f"{names[child]!r} of {', '.join(repr(names[one]) for one in given)}" for child, given in found[:SHOWN]]
        warnings.warn(
            f"in these rows some variables are functions of others: {'; '.join(told)}{'; …' if found[SHOWN:] else ''};"
            " tests cannot tell whose edges are whose there, so that some may be missing or superfluous:"
            " a score can (method='ges' or 'hill-climbing')",
            DeterminedWarning,
            stacklevel=4,
        )


def determined(tester: Tester, children: Sequence[int], given: Sequence[int]) -> list[int]:
    """The children that are functions of the given: a test of them given these says nothing."""
    return [one for one in children if given and tester.rows_for_function(given, one) >= ENOUGH]


def functions(tester: Tester, joined: np.ndarray) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(child, given): the first of the smallest sets, among those it is joined to, that leave the child no choice."""
    for child, around in enumerate(joined):
        near = np.flatnonzero(around).tolist()
        if near and tester.rows_for_function(near, child):  # else it is a function of no part of them either
            sets = (given for size in range(1, MOST + 1) for given in combinations(near, size))
            found = next((given for given in sets if tester.rows_for_function(given, child) >= ENOUGH), None)
            if found is not None:
                yield child, found
