"""What was worked out for a model, kept with the model by key: bounded, and safe under threads and after a fork.

A memo is a dictionary that nobody changes: a new entry goes into a copy that takes its place. Threads never see a
dictionary change while they read it, and no lock can be left held. Two threads that need the same entry at the same
time may both work it out; entries depend on their key alone, so that either will do.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

Entry = TypeVar("Entry")


def recall(model: Any, memo: str, key: Hashable, make: Callable[[], Entry], size: int) -> Entry:
    """The entry of this key, made if it is not there; beyond `size` entries the least recently used is forgotten."""
    known: dict[Hashable, Entry] = model.derived.get(memo, {})
    entry = known[key] if key in known else make()
    if not known or next(reversed(known)) != key:
        known = model.derived.get(memo, {})  # other threads may have added entries meanwhile
        others = [item for item in known.items() if item[0] != key]
        model.derived[memo] = dict([*others[max(0, len(others) - size + 1) :], (key, entry)])
    return entry
