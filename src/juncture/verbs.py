"""Verbs that learn of a kind of model when the first one comes along, as most programs use few kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar

Verb = TypeVar("Verb", bound=Any)


def taught_by(homes: Mapping[str, str]) -> Callable[[Verb], Verb]:
    """A `singledispatch` that finds in these modules what it does with models of these classes, when one comes."""

    def taught(verb: Verb) -> Verb:
        def answer_unknown(model: Any, *arguments: Any, **options: Any) -> Any:
            if is_taught(verb, model, homes):
                return verb(model, *arguments, **options)
            return verb.__wrapped__(model, *arguments)  # it says what it takes

        verb.register(object, answer_unknown)
        return verb

    return taught


def is_taught(verb: Any, model: Any, homes: Mapping[str, str]) -> bool:
    """Whether the verb has learned of this kind of model from the module that is its home."""
    for kind in type(model).__mro__:
        if kind.__name__ in homes:
            import_module(homes[kind.__name__])
            return verb.dispatch(type(model)) is not verb.dispatch(object)
    return False
