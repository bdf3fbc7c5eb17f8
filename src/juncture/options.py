"""Choices that users make, turned into objects: "auto", a name or an engine; a seed or a generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from juncture.errors import InvalidData, Unsupported, hint


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


def as_generator(rng: Any) -> np.random.Generator:
    """A generator from a seed, or the generator itself."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"rng is a seed or a numpy.random.Generator; got {rng!r}") from error


def as_sizes(size: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape of so many draws: (10,) for 10, () without a size."""
    sizes = () if size is None else tuple(np.atleast_1d(np.asarray(size, dtype=int)).tolist())
    if any(length < 0 for length in sizes):
        raise InvalidData(f"the number of draws must be at least 0; got {size}")
    return sizes
