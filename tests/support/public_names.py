"""Every public name and what it stands for, read from the table of names."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, NamedTuple

from juncture.names import NAMES, names_in


class Public(NamedTuple):
    """A public name, its namespace, and what it stands for."""

    namespace: str
    name: str
    thing: Any

    @property
    def path(self) -> str:
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


def face_of(namespace: str) -> Any:
    return importlib.import_module(f"juncture.{namespace}" if namespace else "juncture")


@cache
def public_names() -> tuple[Public, ...]:
    """All of them; an error that `jt` holds too stands under `jt.errors` once more."""
    return tuple(
        Public(namespace, name, getattr(face_of(namespace), name))
        for namespace in NAMES
        for name in names_in(namespace)
    )


def public_things() -> list[Public]:
    """Each thing once, without the classes of scikit-learn."""
    found = {public.name: public for public in public_names() if public.namespace != "estimators"}
    return list(found.values())
