"""`Independence`: the statement a ⫫ b | given; all statements about some names; I-maps.

An oracle answers whether a ⫫ b | given. It may be a function of three sets of names, a graph, or a joint table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from math import comb
from typing import Any

from juncture.base.checks import check_count
from juncture.base.values import Value
from juncture.errors import InvalidModel, TooLarge
from juncture.graphs.edges import as_nodes
from juncture.graphs.text import quote_name

Oracle = Callable[..., bool]
MAX_STATEMENTS = 2**20


class Independence(Value):
    """The statement a ⫫ b | given: `a` and `b` are independent given `given`; equal to b ⫫ a | given.

    Parameters
    ----------
    a, b
        The name of a variable, or several names.
    given
        The names of the variables to condition on.

    Examples
    --------
    >>> a, b, given = Independence("rain", ["bus", "train"], ["season"])
    >>> print(Independence(a, b, given))
    rain ⫫ bus, train | season
    """

    _fields = ("a", "b", "given")
    a: tuple[str, ...]
    b: tuple[str, ...]
    given: tuple[str, ...]

    def __init__(self, a: str | Iterable[str], b: str | Iterable[str], given: str | Iterable[str] = ()) -> None:
        self._set(a=as_distinct_names(a), b=as_distinct_names(b), given=as_distinct_names(given))
        check_disjoint(set(self.a), set(self.b), set(self.given))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter((self.a, self.b, self.given))

    def _key(self) -> Hashable:
        return frozenset((frozenset(self.a), frozenset(self.b))), frozenset(self.given)

    def __str__(self) -> str:
        a, b, given = (", ".join(map(quote_name, names)) for names in self)
        return f"{a} ⫫ {b}" + (f" | {given}" if given else "")

    def __repr__(self) -> str:
        return f"Independence('{self}')"


def as_distinct_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Distinct names; text is one name, not its letters."""
    return as_nodes([names] if isinstance(names, str) else names)


def check_disjoint(a: set[str], b: set[str], given: set[str]) -> None:
    """No name is in two of the three sets."""
    for one, other, where in ((a, b, "on both sides"), (a | b, given, "on a side and among what is given")):
        if one & other:
            raise InvalidModel(f"{min(one & other)!r} is {where}; the sets of an independence must be disjoint")


def pair_statements(names: Sequence[str], max_given: int | None = None) -> Iterator[Independence]:
    """Every a ⫫ b | given for two single names, with few given names first; refused where there are too many."""
    for size in given_sizes(len(names), max_given):
        for given in combinations(names, size):
            others = [name for name in names if name not in given]
            yield from (Independence(a, b, given) for a, b in combinations(others, 2))


def given_sizes(num_names: int, max_given: int | None) -> range:
    """How many names may be given, if there are not too many ways to choose them."""
    last = max(num_names - 2, 0)
    if max_given is not None:
        last = min(check_count(max_given, "max_given"), last)
    number = sum(comb(num_names, size) * comb(num_names - size, 2) for size in range(last + 1))
    if number > MAX_STATEMENTS:
        raise TooLarge(
            f"there are {number:,} statements about two of {num_names} names given others; "
            f"the limit is {MAX_STATEMENTS:,}: set max_given, the number of names that may be given"
        )
    return range(last + 1)


def as_oracle(source: Any) -> Oracle:
    """The function that answers: the source itself, its `is_separated` or its `is_independent`."""
    for name in ("is_separated", "is_independent"):
        if hasattr(source, name):
            found: Oracle = getattr(source, name)
            return found
    if callable(source) and not isinstance(source, type):
        oracle: Oracle = source
        return oracle
    raise InvalidModel(
        f"independencies are asked of a graph, of a joint table or of a function of a, b and given; got {source!r}"
    )


def all_hold(statements: Iterable[Independence], oracle: Oracle) -> bool:
    return all(oracle(set(a), set(b), set(given)) for a, b, given in statements)


def pairs_match(graph: Any, oracle: Oracle) -> bool:
    """Whether graph and oracle agree on every pair of names, given any others."""
    return all(
        graph.is_separated(a, b, given) == oracle(set(a), set(b), set(given))
        for a, b, given in pair_statements(graph.nodes)
    )


def minimal_parents(node: str, before: Sequence[str], oracle: Oracle) -> tuple[str, ...]:
    """As few of the names before a node as make it independent of the rest of them.

    A set that does so still does with more names in it, so that names can be spared one by one, the earliest first.
    """
    kept = dict.fromkeys(before)
    for name in before:
        fewer = set(kept) - {name}
        if oracle({node}, set(before) - fewer, fewer):
            del kept[name]
    return tuple(kept)
