"""Which independencies a graph and an oracle share: I-maps, minimal ones, perfect ones.

An oracle answers whether a ⫫ b | given. It may be a function of three sets of names, a graph, or a joint table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from juncture.errors import InvalidModel
from juncture.graphs.independence import Independence, pair_statements

Oracle = Callable[..., bool]


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
