"""Options that users give as names, seeds or sizes, turned into objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from juncture.base.checks import check_iterable, check_kind, shown
from juncture.errors import InvalidData, Unsupported, hint

MAX_DRAWS = 2**62  # the largest size of an array


def resolve(choice: Any, known: Mapping[str, Callable[[], Any]], *, what: str) -> Any:
    """The object that a choice stands for: a name is looked up, a class is called, any other object is returned.

    >>> resolve("plain", {"plain": dict}, what="method")
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


class ImportedTable(Mapping[str, Any]):
    """A table from names to classes or functions, which are imported when they are looked up.

    A place is a module of this package and a name in it.

    >>> ImportedTable({"plain": "base.options:as_names"})["plain"].__name__
    'as_names'
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.places = dict(places)

    def __getitem__(self, name: str) -> Any:
        module, _, attribute = self.places[name].partition(":")
        return getattr(import_module(f"juncture.{module}"), attribute)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    def __iter__(self) -> Iterator[str]:
        return iter(self.places)

    def __len__(self) -> int:
        return len(self.places)

    def __or__(self, other: ImportedTable) -> ImportedTable:
        return ImportedTable({**self.places, **other.places})


def as_names(names: Iterable[str], what: str) -> list[str]:
    """The names of an option that takes several; a text alone would be read letter by letter."""
    if isinstance(names, str):
        raise InvalidData(f"{what} is a list of names; write {what}=[{names!r}]")
    return check_iterable(names, what)


def as_variable_names(names: Iterable[str], what: str) -> list[str]:
    """The names of variables; what is no text is refused."""
    listed = as_names(names, what)
    return listed if all(type(name) is str for name in listed) else check_names(listed, what)


def as_generator(rng: Any) -> np.random.Generator:
    """A generator from a seed, or the generator itself."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"rng is a seed or a numpy.random.Generator; got {rng!r}") from error


def as_sizes(size: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The shape of so many draws: (10,) for 10, () without a size."""
    try:
        lengths = np.atleast_1d(np.asarray(() if size is None else size))
    except ValueError:  # a ragged list
        lengths = np.empty((0, 0))
    is_numbers = lengths.ndim == 1 and lengths.dtype.kind in "iuf" and bool((np.abs(lengths) <= MAX_DRAWS).all())
    if not is_numbers or not ((lengths >= 0) & (lengths == np.floor(lengths))).all():
        raise InvalidData(f"the number of draws must be a whole number of at least 0; got {shown(size)}")
    return tuple(lengths.astype(int).tolist())


def check_names(names: Iterable[str], what: str) -> list[str]:
    """The names of an option that takes several, each a str."""
    return [check_kind(name, str, f"a name in {what}") for name in as_names(names, what)]
