"""What is kept with a model, so that it is made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Entry = TypeVar("Entry")


def recall(model: Any, memo: str, key: Hashable, make: Callable[[], Entry], size: int) -> Entry:
    """The entry of this key, made if it is missing; beyond `size` entries the least recently used is dropped.

    A memo is kept with its model and is never changed: a new entry goes into a copy that replaces the memo. So threads
    never read a dictionary that changes, and no lock is held across a fork. Two threads may both make the same entry;
    an entry depends on its key alone, so either will do.
    """
    known: dict[Hashable, Entry] = model.derived.get(memo, {})
    entry = known[key] if key in known else make()
    if not known or next(reversed(known)) != key:
        known = model.derived.get(memo, {})  # other threads may have added entries meanwhile
        others = [item for item in known.items() if item[0] != key]
        model.derived[memo] = dict([*others[max(0, len(others) - size + 1) :], (key, entry)])
    return entry
