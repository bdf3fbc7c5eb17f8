"""`shell_of`: a scikit-learn class whose parameters are the options of a kind of model and of its learner.

The names, the defaults and the descriptions are those of the options' fields; scikit-learn's own words stand for some.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from inspect import get_annotations
from typing import Any, TypeVar, dataclass_transform

from juncture.base.options import Options

Shell = TypeVar("Shell", bound=type)
Chosen = TypeVar("Chosen", bound=Options)

WORDS = {
    "tolerance": "tol",
    "max_steps": "max_iter",
    "rng": "random_state",
    "restarts": "n_init",
    "num_trees": "n_estimators",
}
"""The name of an option → scikit-learn's."""
MARK = "{options}"  # in the docstring of a class, where the parameters of the options go


@dataclass_transform(eq_default=False)
def shell_of(
    *options: type[Options],
    without: tuple[str, ...] = (),
    defaults: Mapping[str, Any] | None = None,
    first: tuple[str, ...] | None = None,
) -> Callable[[Shell], Shell]:
    """Make a dataclass of a class of scikit-learn whose first fields are those of the options.

    Parameters
    ----------
    options
        The options, the learner's after those of the kind.
    without
        Options that the class decides by itself.
    defaults
        Defaults that differ on purpose; the docstring of the class says why.
    first
        The parameters that are given by position too, where all others are given by name only.
    """

    def decorate(cls: Shell) -> Shell:
        annotations, texts = {}, {}
        for kind in options:
            for field in fields(kind):  # type: ignore[arg-type]
                if field.name not in without:
                    name = WORDS.get(field.name, field.name)
                    annotations[name] = field.type
                    setattr(cls, name, (defaults or {}).get(field.name, field.default))
                    texts[name] = kind.descriptions()[field.name]
        annotations |= get_annotations(cls)
        placed = {} if first is None else {**{name: annotations[name] for name in first}, "_": KW_ONLY}
        cls.__annotations__ = {**placed, **annotations}
        reads = tuple((kind, without, dict(defaults or {})) for kind in options)
        setattr(cls, "_reads", reads)  # noqa: B010 (which type checkers do not find in the class)
        lines = [f"{name}\n        {text}" for name, text in texts.items()]
        cls.__doc__ = (cls.__doc__ or "").replace(MARK, "\n    ".join(lines))
        made: Shell = dataclass(eq=False, repr=False)(cls)  # type: ignore[assignment]
        return made

    return decorate


def options_of(estimator: Any, kind: type[Chosen], **others: Any) -> Chosen:
    """The options as the parameters of an estimator say them, and others beside them."""
    names = {name: WORDS.get(name, name) for name in kind.names()}
    given = {name: getattr(estimator, word) for name, word in names.items() if hasattr(estimator, word)}
    return kind(**{**given, **others})
