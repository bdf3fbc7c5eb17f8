"""The kinds of value that a document can hold: for each its class and how it is written and read.

A kind registers itself in the file `document.py` of its folder (`base/kinds.py`), which is imported when a value or a
document of that kind comes; what is not in the table of kinds may be a family. Networks, whose rows of probabilities
may be repaired, are in `formats/json.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Protocol

from juncture.base.documents.node import Node
from juncture.base.kinds import kinds_with, role_module

HEAD = ("format", "version", "model")  # the keys that every document has

FAMILIES = "juncture.families.document"


class Kind(Protocol):
    """A class whose values files can hold; `juncture.base.documents.codec.Record` makes one from the fields."""

    @property
    def model(self) -> type: ...

    def encode(self, value: Any, /) -> dict[str, Any]:
        """A value as plain data, without the head of the document."""

    def read(self, node: Node, /, head: Iterable[str] = ()) -> Any:
        """An equal value from an object whose other keys are those of the head; errors of Juncture for all else."""


KINDS: dict[str, Kind] = {}


def register_kind(*kinds: Kind) -> None:
    """Let files hold values of the classes of these kinds, under the names of the classes."""
    KINDS.update({kind.model.__name__: kind for kind in kinds})


def load_kind(name: str) -> Kind:
    """The kind of this name, imported if necessary."""
    if name not in KINDS:
        import_module(role_module(name, "document") or FAMILIES)
    return KINDS[name]


def kind_names() -> list[str]:
    """The names of all kinds, models first."""
    import_module(FAMILIES)
    return list(dict.fromkeys([*kinds_with("document"), *KINDS]))
