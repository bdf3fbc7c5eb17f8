"""Columns by name: a model that was learned from named columns takes the columns of later tables by these names.

Arrays have no names, and neither have frames whose columns are numbered: their columns are taken as they come.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self, TypeVar

from juncture.base.checks import check_iterable, shown
from juncture.base.values import Value, few, number_of
from juncture.data.tables.foreign import repeated
from juncture.errors import InvalidData, InvalidModel

Names = tuple[str, ...]
Found = TypeVar("Found")


class NamedFeatures(Value):
    """A value that takes rows of columns, and may know the names of the columns.

    `feature_names` are the names in the order of the model's columns, or None where it was made or learned without.
    """

    feature_names: Names | None = None
    kept_names: ClassVar[tuple[str, ...]] = ("feature_names",)  # what is kept beside the fields

    @property
    def num_columns(self) -> int | None:
        """The number of columns of a row; None where the model takes any number."""
        return None

    def with_feature_names(self, names: Iterable[str] | None) -> Self:
        """The same model with names of its columns, by which it takes tables; None leaves the columns without."""
        return self._named(None if names is None else check_names(names, self.num_columns))

    def _named(self, names: Names | None) -> Self:
        if names == self.feature_names:
            return self
        named = object.__new__(type(self))
        named._set(**{name: self.__dict__[name] for name in self._fields})
        if names is not None:
            named._set(feature_names=names)
        return named

    def _key(self) -> Any:
        return super()._key() if self.feature_names is None else (super()._key(), self.feature_names)

    def __getstate__(self) -> dict[str, Any]:
        names = {} if self.feature_names is None else {"feature_names": self.feature_names}
        return {**super().__getstate__(), **names}


def check_names(names: Any, number: int | None) -> Names:
    """Different names of columns, as many as there are columns."""
    listed = tuple(check_iterable(names, "feature_names", error=InvalidModel))
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in listed):
        raise InvalidModel(f"feature_names are a list of texts, one for each column; got {shown(names)}")
    if number is not None and len(listed) != number:
        raise InvalidModel(
            f"feature_names are as many as the columns, {number} here; got {number_of(len(listed), 'name')}"
        )
    if len(set(listed)) < len(listed):
        raise InvalidModel(f"feature_names differ from each other; {repeated(listed)}")
    return listed


def name_model(fit: Found, names: Names | None) -> Found:
    """The result of learning with a model whose columns have these names."""
    found: Any = fit
    named: Any = object.__new__(type(fit))
    named._set(**{name: getattr(found, name) for name in found._fields})
    named._set(model=found.model._named(names))
    return named


def agree(names: Names | None, others: Names | None, what: str) -> Names | None:
    """The names of both; those of one where the other has none."""
    if names is not None and others is not None and names != others:
        raise InvalidData(
            f"the {what} are of the columns {few(map(repr, others), most=6)}, and those here are"
            f" {few(map(repr, names), most=6)}: take the same columns in the same order"
        )
    return names if others is None else others
