"""`VectorFamily`: the base class of families of vectors and of square matrices; the data give their dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from juncture.data.observations import as_values, check_inside
from juncture.errors import InvalidData, InvalidModel
from juncture.families.family import Family
from juncture.families.statistics.statistics import Known


class VectorFamily(Family):
    """A family whose values have `value_axes` axes, all as long as its `dimension`."""

    value_axes: ClassVar[int] = 1

    @classmethod
    def _support_of(cls, dimension: int) -> Any:
        """The support in this dimension."""
        raise NotImplementedError

    def _check(self) -> None:
        check_dimensions(self)

    @property
    def dimension(self) -> int:
        """The length of a vector, or of a matrix's side."""
        return dimension_of(self)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.dimension,) * self.value_axes

    @property
    def support(self) -> Any:
        return self._support_of(self.dimension)

    @classmethod
    def _event_shape_given(cls, x: Any, known: Known) -> tuple[int, ...]:
        for value in known.values():
            return value.shape[-1:] * cls.value_axes
        return event_shape_of(x, cls.value_axes, name=cls.__name__)

    @classmethod
    def _check_rows(cls, rows: np.ndarray, known: Known, first_row: int = 0) -> None:
        support = cls._support_of(rows.shape[-1])
        check_inside(rows, support.contains(rows), name=cls.__name__, support=support, first_row=first_row)


def event_shape_of(x: Any, axes: int, *, name: str) -> tuple[int, ...]:
    """The shape of one observation, its last axes; those of a matrix are of one length."""
    shape = as_values(x, (), name=name).shape
    event = shape[len(shape) - axes :] if len(shape) >= axes else ()
    if not event or min(event) == 0 or len(set(event)) > 1:
        kind = "a vector" if axes == 1 else "a square matrix"
        raise InvalidData(f"one observation of {name} is {kind}; got an array of the shape {shape}")
    return event


def dimension_of(family: Family) -> int:
    """The length of the family's first vector or matrix."""
    rules = family.parameters
    return next(int(array.shape[-1]) for name, array in family._given.items() if rules[name].axes)


def check_dimensions(family: Family) -> None:
    """Raise unless all vectors and matrices among the parameters have one length."""
    lengths = {name: int(a.shape[-1]) for name, a in family._given.items() if family.parameters[name].axes}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise InvalidModel(f"the parameters of {type(family).__name__} must have one dimension; {found}")


def check_same_dimension(family: Any, other: Any) -> None:
    """Raise unless the two have values of one shape."""
    if family.event_shape != other.event_shape:
        name = type(family).__name__
        raise InvalidData(
            f"two of {name} are compared in one dimension; here {family.event_shape} meets {other.event_shape}"
        )


def check_nothing_known(family: type[Family], known: Mapping[str, Any]) -> None:
    """Raise if a parameter is given as known where none can be."""
    for name in known:
        raise InvalidData(f"{family.__name__}.statistics knows nothing of {name!r}; it takes no known parameters")
