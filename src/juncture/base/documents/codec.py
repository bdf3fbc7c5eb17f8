"""One codec for the fields of values: each field is written as plain data and read from a node of a document.

    register_kind(Record(HelmholtzMachine))
    register_kind(Record(Mixture, components=EMISSIONS))

A `Record` takes from the annotation of a field how it is written: arrays as nested lists, numbers, flags and text as
they are. Other fields are given their codec by keyword: `list_of(…)`, `or_null(…)`, `one_of(…)`, another record, or a
`Union` of records, which the key "kind" tells apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import formatannotation, get_annotations
from typing import Any, NamedTuple, Protocol

import numpy as np

from juncture.base.documents.node import Choice, Node
from juncture.base.values import Value
from juncture.errors import FormatError


class Codec(Protocol):
    """How one field becomes plain data, and its value comes back; what is not such a value is refused by `read`."""

    def encode(self, value: Any, /) -> Any: ...

    def read(self, node: Node, /) -> Any: ...


class Pair(NamedTuple):
    """A codec of two functions."""

    encode: Callable[[Any], Any]
    read: Callable[[Node], Any]


class Given(NamedTuple):
    """A codec that reads its field by the values of the fields before it, which are mapped by their names."""

    encode: Callable[[Any], Any]
    read: Callable[[Node, Mapping[str, Any]], Any]


class Field(NamedTuple):
    """A codec with the key of the field, where that is not its name, and when a document leaves the key out."""

    codec: Codec | Given
    key: str | None = None
    is_left_out: Callable[[Any], bool] | None = None


# --- codecs --------------------------------------------------------------------------------------------------------
def unchanged(value: Any) -> Any:
    return value


def encode_table(array: Any) -> Any:
    """Nested lists of numbers, or a number."""
    return np.asarray(array).tolist()


def encode_logs(logs: np.ndarray) -> Any:
    """Nested lists of logarithms, with None for that of 0."""
    if not np.isneginf(logs).any():
        return logs.tolist()
    listed = logs.astype(object)
    listed[np.isneginf(logs)] = None
    return listed.tolist()


TABLE = Pair(encode_table, Node.table)
LOG_TABLE = Pair(encode_logs, Node.log_table)
CODES = Pair(encode_table, Node.codes)
NUMBER = Pair(unchanged, Node.number)
WHOLE = Pair(unchanged, Node.integer)
FLAG = Pair(unchanged, Node.flag)
TEXT = Pair(unchanged, Node.string)


def list_of(part: Codec) -> Pair:
    """Lists whose items are written by one codec."""
    return Pair(
        lambda values: [part.encode(value) for value in values], lambda node: [part.read(item) for item in node.items()]
    )


def is_none(value: Any) -> bool:
    return value is None


def or_null(part: Codec, null: Any = None, is_null: Callable[[Any], Any] = is_none) -> Pair:
    """What the codec writes, or null, which stands for the value `null`."""
    return Pair(
        lambda value: None if is_null(value) else part.encode(value),
        lambda node: null if node.value is None else part.read(node),
    )


def one_of(choices: Iterable[Choice]) -> Pair:
    """One of a few names."""
    return Pair(unchanged, lambda node: node.one_of(choices))


def left_out(codec: Codec | Given, when: Callable[[Any], bool] = is_none) -> Field:
    """A key that a document may lack: it is not written for such values, and the class has a default for it."""
    return Field(codec, is_left_out=when)


def under(key: str, codec: Codec) -> Field:
    """A field that stands under another key than its name."""
    return Field(codec, key)


ANNOTATED: dict[str, Codec | Field] = {
    "np.ndarray": TABLE,
    "np.ndarray | None": left_out(TABLE),
    "tuple[np.ndarray, ...]": list_of(TABLE),
    "float": NUMBER,
    "float | None": or_null(NUMBER),
    "int": WHOLE,
    "bool": FLAG,
    "str": TEXT,
}


# --- records -------------------------------------------------------------------------------------------------------
class Record:
    """Values of one class as objects with a key for each field; a kind that files can hold, and a codec inside others.

    Parameters
    ----------
    model
        A class of values, whose constructor takes the fields by their names.
    names
        Attributes and arguments of the constructor, in the order of the document; its fields unless they are given.
    codecs
        By name, where the annotation of a field does not say how it is written.
    """

    def __init__(self, model: type[Value], /, *names: str, **codecs: Codec | Given | Field) -> None:
        self.model: type = model
        found = {name: codecs.get(name) or annotated_codec(model, name) for name in names or model._fields}
        if not codecs.keys() <= found.keys():
            raise TypeError(f"{model.__name__} has no fields {codecs.keys() - found.keys()}")
        self.fields = {name: one if isinstance(one, Field) else Field(one) for name, one in found.items()}
        self.keys = {name: field.key or name for name, field in self.fields.items()}
        self.optional = [self.keys[name] for name, field in self.fields.items() if field.is_left_out is not None]
        self.required = [key for key in self.keys.values() if key not in self.optional]

    def encode(self, value: Any, /) -> dict[str, Any]:
        """The fields of a value as plain data."""
        parts = self.parts(value)
        return {
            self.keys[name]: field.codec.encode(parts[name])
            for name, field in self.fields.items()
            if field.is_left_out is None or not field.is_left_out(parts[name])
        }

    def read(self, node: Node, /, head: Iterable[str] = ()) -> Any:
        """The value in an object whose other keys are those of the head."""
        nodes = node.fields([*head, *self.required], self.optional)
        values: dict[str, Any] = {}
        for name, field in self.fields.items():
            if (key := self.keys[name]) in nodes:
                codec = field.codec
                values[name] = codec.read(nodes[key], values) if isinstance(codec, Given) else codec.read(nodes[key])
        with node.locate_errors():
            return self.make(**values)

    def parts(self, value: Any, /) -> Mapping[str, Any]:
        """The parts of a value by name; a record of a class with other attributes overrides this."""
        return {name: getattr(value, name) for name in self.fields}

    def make(self, **values: Any) -> Any:
        """The value with these parts; a record of a class with other arguments overrides this."""
        return self.model(**values)


def annotated_codec(model: type, name: str) -> Codec | Field:
    """The codec of a field that its annotation says."""
    for kind in model.__mro__:
        if name in (annotations := get_annotations(kind)):
            annotation = annotations[name]
            text = annotation if isinstance(annotation, str) else formatannotation(annotation)
            if (text := text.replace("numpy.", "np.")) in ANNOTATED:
                return ANNOTATED[text]
    raise TypeError(f"the annotation of {name!r} does not say how {model.__name__} is written; give its codec")


class Union:
    """Values of several classes: objects with a "kind", the name of the class, and the keys of its record.

    Records may be added later, since some have parts that are values of the same union. `refusal` is a sentence with
    `{kind}` and `{kinds}`, for values that are none of them.
    """

    def __init__(self, refusal: str, *records: Record) -> None:
        self.refusal, self.records = refusal, {record.model.__name__: record for record in records}

    def add(self, *records: Record) -> None:
        self.records |= {record.model.__name__: record for record in records}

    def __contains__(self, value: Any) -> bool:
        record = self.records.get(type(value).__name__)
        return record is not None and record.model is type(value)

    def encode(self, value: Any, /) -> dict[str, Any]:
        kind = type(value).__name__
        if value not in self:
            raise FormatError(self.refusal.format(kind=kind, kinds=", ".join(self.records)))
        return {"kind": kind, **self.records[kind].encode(value)}

    def read(self, node: Node, /) -> Any:
        return self.records[node.choice("kind", self.records)].read(node, ("kind",))
