"""`lazy_dispatch`: dispatch on the class of a model; implementations are imported when the first such model comes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import singledispatch, wraps
from importlib import import_module
from typing import Any, ParamSpec, Protocol, TypeVar

from juncture.errors import Unsupported, hint

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
Kinds = Mapping[str, tuple[str, ...]]  # class → the modules that register implementations for it


class Dispatched(Protocol[P, R_co]):
    """A verb with one implementation for each kind of model."""

    def __call__(self, *arguments: P.args, **options: P.kwargs) -> R_co: ...
    def register(self, kind: type, implementation: Callable[..., Any]) -> Any: ...


def lazy_dispatch(kinds: Kinds) -> Callable[[Callable[P, R_co]], Dispatched[P, R_co]]:
    """A `singledispatch` on the class of the first argument that imports implementations by a table of kinds.

    Options that a kind of model does not have are refused in a sentence. The first argument may be given by name.
    """

    def decorate(verb: Callable[P, R_co]) -> Dispatched[P, R_co]:
        dispatcher: Any = singledispatch(verb)
        first, required = first_and_required(verb)

        @wraps(dispatcher)
        def call(*arguments: Any, **options: Any) -> Any:
            if not arguments:
                if first not in options:
                    raise Unsupported(f"{verb.__name__} takes a {first} as its first argument")
                arguments = (options.pop(first),)
            implementation = dispatcher.dispatch(type(arguments[0]))
            if implementation is verb:
                implementation = load_implementation(dispatcher, arguments[0], kinds)
                if implementation is verb:
                    return dispatcher.__wrapped__(arguments[0], *required)  # which says what it takes
            try:
                return implementation(*arguments, **options)
            except TypeError:
                complaint = signature_mismatch(verb.__name__, implementation, arguments, options)
                if complaint is None:
                    raise
                raise Unsupported(complaint) from None

        return call  # type: ignore[return-value]

    return decorate


def register(verb: Any, kind: type, implementation: Callable[..., Any]) -> None:
    """Let a verb do this with models of this kind; type checkers see verbs as plain functions."""
    verb.register(kind, implementation)


def first_and_required(verb: Callable[..., Any]) -> tuple[str, tuple[None, ...]]:
    """The name of the first argument, and a None for each further one that has no default."""
    first, *others = inspect.signature(verb).parameters.values()
    required = [part for part in others if part.default is part.empty and part.kind is part.POSITIONAL_OR_KEYWORD]
    return first.name, (None,) * len(required)


def load_implementation(dispatcher: Any, model: Any, kinds: Kinds) -> Any:
    """What a verb does with this kind of model, imported by the table; the verb itself if there is nothing."""
    nothing = dispatcher.dispatch(object)
    for kind in type(model).__mro__:
        for module in kinds.get(kind.__name__, ()):
            import_module(module)
            if dispatcher.dispatch(type(model)) is not nothing:
                return dispatcher.dispatch(type(model))
    return nothing


def signature_mismatch(
    name: str, implementation: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]
) -> str | None:
    """One sentence if a verb cannot be called like this for this kind of model; None if the call fits."""
    signature = inspect.signature(implementation)
    try:
        signature.bind(*arguments, **options)
    except TypeError as error:
        what = f"{name} of a {type(arguments[0]).__name__}"
        known = list(signature.parameters)[1:]
        unknown = [option for option in options if option not in known]
        return f"{what} has no option {unknown[0]!r}; {hint(unknown[0], known)}" if unknown else f"{what}: {error}"
    return None


def refuse_model(verb: str, model: Any) -> Unsupported:
    """The error of a verb that does not take this object, with another way where there is one."""
    name = type(model).__name__
    if isinstance(model, type) or not (hasattr(model, "with_policy") or hasattr(model, "predict")):
        return Unsupported(f"{verb} takes a model; got {name}")
    if hasattr(model, "with_policy"):
        way = "its decisions are open: take model.with_policy(jt.optimal_policy(model)), a Bayesian network"
    else:
        way = "it predicts a target and is no joint distribution: ask it with predict"
    return Unsupported(f"{verb} does not take a {name}; {way}")
