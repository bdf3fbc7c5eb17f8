"""The names that `method=` takes, by kind of model and verb; and `MethodList`, the overview of all that verbs take.

A kind registers the names for each of its verbs and what each stands for: an algorithm of its own, an engine, or a
learner. Options of learning that have a field `method` say the names themselves (`base/options.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any

from juncture.base.checks import shown
from juncture.base.options import Options
from juncture.errors import Unsupported, hint

# (kind of model, verb) → the names that method= takes, each with the algorithm that runs
METHODS: dict[tuple[str, str], Mapping[str, Any]] = {}


def register_methods(kind: type, verb: str, *algorithms: str) -> None:
    """Name the exact algorithms of a verb for a kind of model; "auto" and "exact" stand for the first."""
    names = {"auto": algorithms[0], "exact": algorithms[0], **dict(zip(algorithms, algorithms, strict=True))}
    register_names(kind, verb, names)


def register_names(kind: type, verb: str, names: Mapping[str, Any]) -> None:
    """The names that `method=` takes for a kind of model, and what each stands for."""
    METHODS[kind.__name__, verb] = names


def resolve_method(model: object, verb: str, method: Any) -> str:
    """The algorithm that a name stands for, for this kind of model."""
    names = METHODS.get((type(model).__name__, verb)) or inherited_methods(type(model), verb)
    if isinstance(method, str) and method in names:
        return names[method]
    kind_name = type(model).__name__
    if isinstance(method, str):
        raise Unsupported(f"{verb} of a {kind_name} has no method {method!r}; {hint(method, names)}")
    raise Unsupported(
        f"the method of {verb} of a {kind_name} is a name; got {shown(method)}; known are {', '.join(map(repr, names))}"
    )


def inherited_methods(kind: type, verb: str) -> Mapping[str, str]:
    """The methods of the nearest class that has some; nothing where none has."""
    names: Mapping[str, str] = {}
    for base in reversed(kind.__mro__):
        names = METHODS.get((base.__name__, verb), names)
    return names


def methods_of(kind: type, verb: str) -> Mapping[str, Any]:
    """The names that `method=` of a verb takes for a kind of model; nothing where it has one way."""
    return METHODS.get((kind.__name__, verb)) or inherited_methods(kind, verb)


@dataclass(frozen=True, repr=False)
class MethodList:
    """What the verbs take for a kind of model.

    Attributes
    ----------
    kind
        The name of the class of the model.
    names
        Verb → the names that `method=` takes.
    options
        Verb → name of an option → its default.
    descriptions
        Verb → name of an option → what it does, where the options say so.
    """

    kind: str
    names: Mapping[str, tuple[str, ...]]
    options: Mapping[str, Mapping[str, Any]]
    descriptions: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, kind: type, implementations: Mapping[str, Callable[..., Any]]) -> MethodList:
        """The overview of the functions that do what the verbs say for this kind of model."""
        names, options, descriptions = {}, {}, {}
        for verb, implementation in implementations.items():
            own: type[Options] | None = getattr(implementation, "options", None)
            found = methods_of(kind, verb) or ({"auto": None, **own.methods} if own is not None and own.methods else {})
            names[verb] = tuple(found)
            parameters = [
                part for part in signature(implementation).parameters.values() if part.kind is Parameter.KEYWORD_ONLY
            ]
            options[verb] = {part.name: part.default for part in parameters}
            descriptions[verb] = {} if own is None else described(own)
        return cls(kind.__name__, names, options, descriptions)

    def __repr__(self) -> str:
        lines = [self.kind]
        for verb, options in self.options.items():
            known = f"method: {', '.join(self.names[verb])}" if self.names[verb] else ""
            others = ", ".join(
                name if default is None else f"{name}={default!r}"
                for name, default in options.items()
                if name != "method"
            )
            lines += [f"  {verb}({others})", *([f"      {known}"] if known else [])]
        return "\n".join(lines)


def described(options: type[Options]) -> dict[str, str]:
    """Option → what it does, of a kind's options and of its learners."""
    found: dict[str, str] = {}
    for learner in options.methods.values():
        found |= learner.descriptions()
    return found | options.descriptions()
