"""Scopes that the engine of a source counts together: one query groups the rows by the variables of several scopes.

The counts of a scope are sums of those of a larger one. Fewer queries read the rows fewer times, and each has few
groups as long as the joint number of states is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from juncture.variables import Scope

MANY_STATES = 2**12  # joint states of scopes that are counted by one query
MOST_GROUPS = 2**20  # groups that a query may have: scopes with more joint states are counted block by block


class ScopeGroup(NamedTuple):
    """The variables of some scopes, and the positions of these scopes."""

    scope: Scope
    positions: tuple[int, ...]


def group_scopes(scopes: Sequence[Scope], most: int = MANY_STATES) -> list[ScopeGroup]:
    """Groups of scopes with at most so many joint states; scopes that no query counts are in none of them.

    Each scope, the largest first, joins the group that grows least; one that has more states by itself starts a group.

    >>> from juncture.variables import Variable
    >>> a, b, c = (Variable(name, 2) for name in "abc")
    >>> [group.positions for group in group_scopes([Scope([a, b]), Scope([b]), Scope([b, c])], most=4)]
    [(0, 1), (2,)]
    """
    groups: list[ScopeGroup] = []
    for position in sorted(
        filter(lambda at: is_countable(scopes[at]), range(len(scopes))), key=lambda at: -scopes[at].size
    ):
        joined = [ScopeGroup(group.scope.union(scopes[position]), (*group.positions, position)) for group in groups]
        fitting = [at for at, new in enumerate(joined) if new.scope.size <= max(most, groups[at].scope.size)]
        if not fitting:
            groups.append(ScopeGroup(scopes[position], (position,)))
            continue
        best = min(fitting, key=lambda at: joined[at].scope.size / groups[at].scope.size)
        groups[best] = joined[best]
    return groups


def is_countable(scope: Scope) -> bool:
    return not any(variable.is_real for variable in scope) and scope.size <= MOST_GROUPS
