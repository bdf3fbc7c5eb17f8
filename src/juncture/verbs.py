"""Verbs that learn of a kind of model when the first one comes along, as most programs use few kinds."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

from juncture.errors import Unsupported, hint

Verb = TypeVar("Verb", bound=Any)


def taught_by(homes: Mapping[str, str]) -> Callable[[Verb], Verb]:
    """A `singledispatch` that finds in these modules what it does with models of these classes, when one comes.

    Options that it does not have for such a model are refused in its own name.
    """

    def taught(verb: Verb) -> Verb:
        def answer_unknown(model: Any, *arguments: Any, **options: Any) -> Any:
            if is_taught(verb, model, homes):
                return verb.dispatch(type(model))(model, *arguments, **options)
            return verb.__wrapped__(model, *arguments)  # it says what it takes

        @wraps(verb)
        def asked(model: Any, /, *arguments: Any, **options: Any) -> Any:
            try:
                return verb.dispatch(type(model))(model, *arguments, **options)
            except TypeError:
                complaint = misfit(verb, model, arguments, options)
                if complaint is None:
                    raise
                raise Unsupported(complaint) from None

        verb.register(object, answer_unknown)
        return asked  # type: ignore[return-value]

    return taught


def is_taught(verb: Any, model: Any, homes: Mapping[str, str]) -> bool:
    """Whether the verb has learned of this kind of model from the module that is its home."""
    for kind in type(model).__mro__:
        if kind.__name__ in homes:
            import_module(homes[kind.__name__])
            return verb.dispatch(type(model)) is not verb.dispatch(object)
    return False


def misfit(verb: Any, model: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> str | None:
    """One sentence if a verb cannot be asked like this of this kind of model; None if that is not the trouble."""
    signature = inspect.signature(verb.dispatch(type(model)))
    try:
        signature.bind(model, *arguments, **options)
    except TypeError as error:
        what = f"{verb.__name__} of a {type(model).__name__}"
        known = list(signature.parameters)[1:]
        unknown = [name for name in options if name not in known]
        return f"{what} has no option {unknown[0]!r}; {hint(unknown[0], known)}" if unknown else f"{what}: {error}"
    return None
