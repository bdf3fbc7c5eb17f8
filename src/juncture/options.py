"""Choices that users make: "auto", a name, or a configured object, turned into an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from juncture.errors import Unsupported, hint


def chosen(choice: Any, known: Mapping[str, Callable[[], Any]], *, what: str) -> Any:
    """The object that a choice stands for: a name is looked up, anything else is taken as it is.

    >>> chosen("plain", {"plain": dict}, what="method")
    {}
    """
    if isinstance(choice, type):
        return choice()
    if choice is None:
        raise Unsupported(f"a {what} is a name or an object; got None; {hint('auto', known)}")
    if not isinstance(choice, str):
        return choice
    if choice not in known:
        raise Unsupported(f"there is no {what} {choice!r}; {hint(choice, known)}")
    return known[choice]()
