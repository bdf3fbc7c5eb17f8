"""Warnings about laws that their data would not have: they name the state, however deep in other emissions a law is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from juncture.errors import RegularizedWarning, warn_user

Name = Callable[[int], str]
Rename = Callable[[int, Name], str]

NAME: ContextVar[Name] = ContextVar("NAME", default=lambda place: f"state {place}")


def name_of(place: int) -> str:
    """What a message calls the law at this place."""
    return NAME.get()(place)


@contextmanager
def named(name: Rename) -> Iterator[None]:
    """Within it, the law at a place is called `name(place, outer)`, where `outer` is how places are called outside."""
    outer = NAME.get()
    token = NAME.set(lambda place: name(place, outer))
    try:
        yield
    finally:
        NAME.reset(token)


def warn_regularized(message: str) -> None:
    warn_user(message, RegularizedWarning)
