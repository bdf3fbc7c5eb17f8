"""`plate`: a part of a model repeated, with the repetition remembered for drawing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from juncture.base.checks import check_function, check_iterable, check_kind, check_tuples, is_count, is_iterable, shown
from juncture.base.values import few
from juncture.errors import InvalidModel

Plates: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
"""For each plate its label and the positions of its parts in the model's list."""


@dataclass(frozen=True)
class Plate:
    """The repeated parts in one list, the plate's label, and the plates inside it by position."""

    parts: tuple[Any, ...]
    label: str
    inner: Plates

    def __iter__(self) -> Iterator[Any]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


def plate(name: str, n: int, build: Callable[[int], Any]) -> Plate:
    """A part of a model repeated n times: `build(0)`, …, `build(n - 1)` in one list.

    Parameters
    ----------
    name
        The label of the plate in drawings.
    n
        The number of repetitions.
    build
        A function of the repetition's number that returns a conditional or factor, or a list of them.

    Returns
    -------
    Plate
        One entry of the list that a model is made of.

    Examples
    --------
    >>> from juncture.variables import Variable
    >>> from juncture.factors.factor import Factor
    >>> list(plate("coin", 2, lambda i: Factor([Variable(f"x{i}", 2)], [0.5, 0.5])))
    [Factor(x0; 2), Factor(x1; 2)]
    """
    check_kind(name, str, "the name of a plate", error=InvalidModel)
    if not is_count(n):
        raise InvalidModel(f"the plate {name!r} must be repeated at least 0 times; got {shown(n)}")
    check_function(build, "what builds a plate's parts")
    built = [build(index) for index in range(n)]
    parts, inner = flatten(part if isinstance(part, Sequence) else [part] for part in built)
    return Plate(tuple(parts), f"{name} × {n}", inner)


def flatten(groups: Iterable[Iterable[Any]]) -> tuple[list[Any], Plates]:
    """The parts of all groups in one list, and the plates among them by position."""
    parts: list[Any] = []
    plates: list[tuple[str, tuple[int, ...]]] = []
    for group in groups:
        if not is_iterable(group):
            raise InvalidModel(f"a model is made of a list of parts; write [{group!r}] for one")
        for item in [group] if isinstance(group, Plate) else group:
            if isinstance(item, Plate):
                start = len(parts)
                parts.extend(item.parts)
                plates.append((item.label, tuple(range(start, len(parts)))))
                plates.extend((label, tuple(start + index for index in indices)) for label, indices in item.inner)
            else:
                parts.append(item)
    return parts, tuple(plates)


def check_plates(plates: Any) -> list[tuple[str, tuple[Any, ...]]]:
    """Labels, each with what its plate repeats."""
    pairs = check_tuples(plates, 2, "plates", error=InvalidModel)
    return [
        (label, tuple(check_iterable(members, "what a plate repeats", error=InvalidModel))) for label, members in pairs
    ]


def check_groups(tied: Any) -> tuple[tuple[str, ...], ...]:
    """Lists of names."""
    groups = check_iterable(tied, "tied", error=InvalidModel)
    names = [group for group in groups if isinstance(group, str)]
    if names:
        listed = few(map(repr, names))
        raise InvalidModel(
            f"tied must be a list of groups, each a list of names: write tied=[[{listed}]] for one group"
        )
    return tuple(tuple(check_iterable(group, "a group of tied names", error=InvalidModel)) for group in groups)
