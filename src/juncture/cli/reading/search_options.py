"""The options of `juncture learn` for its search: unknown names and numbers out of range are wrong usage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

import typer

from juncture.errors import hint
from juncture.learning.structure.independence.tests import TESTS
from juncture.learning.structure.learn import SEARCHES
from juncture.learning.structure.scores.scores import SCORES


def check_choices(method: str, score: str | None, test: str | None, level: float | None) -> None:
    """Check that the method, the score and the test are known, and that the level lies between 0 and 1."""
    named: list[tuple[str, str | None, Iterable[str]]] = [
        ("--method", method, ("auto", *SEARCHES)),
        ("--score", score, SCORES),
        ("--test", test, TESTS),
    ]
    for option, choice, known in named:
        if choice is not None and choice not in known:
            raise typer.BadParameter(f"there is no {choice!r}; {hint(choice, known)}", param_hint=option)
    if level is not None and not 0 < level < 1:
        raise typer.BadParameter(f"the level of a test lies between 0 and 1; got {level}", param_hint="--level")


def check_options(method: str, options: Mapping[str, Any]) -> None:
    """Check that the method takes every given option, and that every option it needs is given."""
    for name in options:
        if name not in options_of(method):
            takers = ", ".join(other for other in SEARCHES if name in options_of(other))
            raise typer.BadParameter(
                f"--method {method} does not take this option; these methods do: {takers}", param_hint=f"--{name}"
            )
    if "target" in options_of(method) and "target" not in options:
        raise typer.BadParameter(
            f"--method {method} needs the class variable: give the name of its column", param_hint="--target"
        )


def options_of(method: str) -> set[str]:
    kind: Any = SEARCHES[method]
    return {field.name for field in fields(kind)}
