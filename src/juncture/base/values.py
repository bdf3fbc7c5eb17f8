"""The base class of values: frozen fields, read-only arrays, equality by content, safe pickling."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from functools import partial
from inspect import get_annotations
from typing import Any, ClassVar, NoReturn, get_origin

import numpy as np

from juncture.base.shown import Shown


class Value(Shown):
    """A frozen object made of named fields; equal to another of its class when all fields are.

    The fields of a subclass are the names that it annotates without a value, after those of its bases; names with a
    leading underscore and class variables are none. A subclass with other fields lists them in `_fields`. It sets them
    once with `_set`, and may override `_key` when equality means something else than "the same fields". Whatever else
    it caches in itself is neither compared nor pickled.
    """

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_fields" not in cls.__dict__:
            inherited = [name for base in cls.__bases__ if issubclass(base, Value) for name in base._fields]
            cls._fields = tuple(dict.fromkeys([*inherited, *declared_fields(cls)]))

    def _set(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def _key(self) -> Hashable:
        return tuple(content_key(self.__dict__[name]) for name in self._fields)

    @property
    def derived(self) -> dict[str, Any]:
        """A cache for results computed from this value: never compared, pickled or copied."""
        found: dict[str, Any] = self.__dict__.setdefault("_derived", {})
        return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return self._key() == other._key() if type(self) is type(other) and isinstance(other, Value) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign {name!r}: a {type(self).__name__} does not change; build a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete {name!r}: a {type(self).__name__} does not change")

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**{name: freeze_arrays(value) for name, value in state.items()})


def declared_fields(cls: type) -> list[str]:
    """The names that a class itself annotates as fields: no class variables, no defaults, nothing private."""
    annotations = {name: kind for name, kind in get_annotations(cls).items() if not name.startswith("_")}
    return [name for name, kind in annotations.items() if name not in cls.__dict__ and not is_class_variable(kind)]


def is_class_variable(annotation: Any) -> bool:
    if isinstance(annotation, str):
        return annotation.startswith(("ClassVar", "typing.ClassVar"))
    return annotation is ClassVar or get_origin(annotation) is ClassVar


class SameContent(Shown):
    """Equality by content for a frozen dataclass with arrays in it: all fields have the same types, shapes and bits.

    The dataclass has `eq=False`. Fields that are not compared, and what else is cached in an object, do not count.
    """

    def __eq__(self, other: object) -> bool:
        return has_same_fields(self, other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        plain = [getattr(self, field.name) for field in fields(self) if field.compare]  # type: ignore[arg-type]
        return hash((type(self), *(value for value in plain if isinstance(value, str | int | None))))


def has_same_content(one: Any, other: Any) -> bool:
    """Whether two objects are equal, looking into containers, arrays, generators and dataclasses; NaN equals NaN."""
    if one is other or type(one) is not type(other):
        return one is other
    if isinstance(one, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    mine, theirs = insides(one), insides(other)
    if mine is None or theirs is None:
        return bool(one == other)
    return mine.keys() == theirs.keys() and all(has_same_content(part, theirs[name]) for name, part in mine.items())


def has_same_fields(one: Any, other: Any) -> bool:
    """Whether all fields of two dataclasses that are compared have the same content."""
    names = [field.name for field in fields(one) if field.compare]
    return one is other or all(has_same_content(getattr(one, name), getattr(other, name)) for name in names)


def insides(value: Any) -> Mapping[Any, Any] | None:
    """What a container holds, by name or place; None for what compares itself."""
    found: Mapping[Any, Any] | None = None
    if isinstance(value, np.ndarray):
        found = {"bits": content_key(value)}
    elif isinstance(value, np.random.Generator):
        found = value.bit_generator.state
    elif isinstance(value, dict):
        found = value
    elif isinstance(value, tuple | list):
        found = dict(enumerate(value))
    elif isinstance(value, partial):
        found = {"function": value.func, "arguments": value.args, "options": value.keywords}
    elif is_dataclass(value) and type(value).__eq__ in (object.__eq__, Mapping.__eq__):
        found = {field.name: getattr(value, field.name) for field in fields(value) if field.compare}
    return found


def read_only(array: Any, dtype: Any = None) -> np.ndarray:
    """A private, C-contiguous, unwritable copy."""
    copy = np.array(array, dtype=dtype, order="C")
    copy.setflags(write=False)
    return copy


def freeze_arrays(value: Any) -> Any:
    """Unpickled arrays come back writable; make them, and those inside tuples and dicts, read-only again."""
    if isinstance(value, np.ndarray):
        value.setflags(write=False)
    elif isinstance(value, tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            freeze_arrays(item)
    return value


def number_of(count: float, what: str) -> str:
    """So many things, in words.

    >>> number_of(1, "step"), number_of(1200, "step")
    ('1 step', '1,200 steps')
    """
    return f"{count:,.12g} {what}{'' if count == 1 else 's'}"


def format_count(count: int) -> str:
    """A whole number of any size, as short text.

    >>> format_count(1200), format_count(10**20), format_count(2**5000)
    ('1,200', '1e+20', '2^5000')
    """
    if count.bit_length() > 1000:  # beyond what a float holds
        return f"2^{count.bit_length() - 1}"
    return f"{count:,}" if count < 10**15 else f"{count:.3g}"


def content_key(value: Any) -> Hashable:
    """Something hashable that is equal exactly when types, shapes and bits are."""
    if isinstance(value, np.ndarray):
        is_listed = value.dtype.kind == "O"  # whose bytes are addresses
        return (value.dtype.str, value.shape, content_key(value.ravel().tolist()) if is_listed else value.tobytes())
    if isinstance(value, dict):
        return frozenset((name, content_key(item)) for name, item in value.items())
    if isinstance(value, tuple | list):
        return (isinstance(value, list), *(content_key(item) for item in value))
    return (type(value), value)


def few(texts: Iterable[str], separator: str = ", ", most: int = 12) -> str:
    """The texts in one, or the first of them and how many there are.

    >>> few(map(str, range(3))), few(map(str, range(50)), most=2)
    ('0, 1, 2', '0, 1, … (50)')
    """
    listed = list(texts)
    return separator.join(listed if len(listed) <= most else [*listed[:most], f"… ({len(listed):,})"])


def finding_text(name: str, value: object) -> str:
    """`xray=yes`, for messages; names and labels that might be read as something else stand in quotes.

    >>> finding_text("xray", "yes"), finding_text("rain", "no, or little")
    ('xray=yes', "rain='no, or little'")
    """
    return f"{quote_odd(name)}={quote_odd(value) if isinstance(value, str) else value}"


def quote_odd(text: str) -> str:
    is_plain = text.isprintable() and not any(mark in text for mark in "=,;'\"")
    return text if is_plain else repr(text)


def short(text: str, most: int = 80) -> str:
    """The text, cut after so many letters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
