"""The kinds of value that a document can hold: for each its class and how it is written and read.

A kind registers itself in the file `document.py` of its folder (`base/kinds.py`), which is imported when a value or a
document of that kind comes; what is not in the table of kinds may be a family. Networks, whose rows of probabilities
may be repaired, are in `formats/json.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from juncture.base.documents.node import Node
from juncture.base.kinds import kinds_with, role_module

HEAD = ("format", "version", "model")  # the keys that every document has

FAMILIES = "juncture.families.document"


class Kind(NamedTuple):
    """A class, its values as plain data without the head of the document, and a value from a document."""

    model: type
    encode: Callable[[Any], dict[str, Any]]
    read: Callable[[Node], Any]


KINDS: dict[str, Kind] = {}


def register_kind(model: type, encode: Callable[[Any], dict[str, Any]], read: Callable[[Node], Any]) -> None:
    """Let files hold values of this class, under its name.

    `encode(value)` gives a mapping of plain data; `read(document)` gives an equal value and refuses anything else with
    a `FormatError` or another error of Juncture.
    """
    KINDS[model.__name__] = Kind(model, encode, read)


def load_kind(name: str) -> Kind:
    """The kind of this name, imported if necessary."""
    if name not in KINDS:
        import_module(role_module(name, "document") or FAMILIES)
    return KINDS[name]


def kind_names() -> list[str]:
    """The names of all kinds, models first."""
    import_module(FAMILIES)
    return list(dict.fromkeys([*kinds_with("document"), *KINDS]))
