"""Elimination orders that users or files give: every variable once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from juncture.base.checks import check_kind
from juncture.base.options import as_names
from juncture.base.values import few
from juncture.errors import InvalidData, UnknownVariable
from juncture.variables import Scope, first_repeated


def as_order(order: Any) -> tuple[str, ...]:
    """Names in an order, none of them twice."""
    names = tuple(as_names(order, "order"))
    for name in names:
        check_kind(name, str, "a name in the elimination order")
    if len(set(names)) < len(names):
        raise InvalidData(f"the elimination order names {names[first_repeated(names)]!r} twice")
    return names


def check_elimination_order(order: Iterable[str], variables: Scope) -> tuple[str, ...]:
    """An order of all these variables; none at all is an order that is not known."""
    names = as_order(order)
    for name in names:
        if name not in variables.names:
            raise UnknownVariable.among(name, variables.names)
    missing = [name for name in variables.names if name not in set(names)] if names else []
    if missing:
        raise InvalidData(f"the elimination order leaves out {few(missing)}; it must name every variable once")
    return names
