"""`loop_over`: one test case for a group of examples, which loops over them; a failure names its example."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest


def loop_over(
    argument: str, groups: Mapping[str, Iterable[Any]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrise a test by group; each case calls the test for every example of its group.

    All examples of a group run, also after a failure. Examples may skip; a case is skipped when all its examples are.
    Other parameters and fixtures of the test are handed on, and are shared by the examples.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(group_of_examples: Iterable[Any], **others: Any) -> None:
            run_all(test, argument, group_of_examples, others)

        functools.update_wrapper(run, test, updated=())
        run.__signature__ = signature_of(test, argument)  # type: ignore[attr-defined]
        run.pytestmark = list(getattr(test, "pytestmark", []))  # type: ignore[attr-defined]
        filled = {name: list(examples) for name, examples in groups.items() if examples}
        return pytest.mark.parametrize("group_of_examples", list(filled.values()), ids=list(filled))(run)

    return decorate


def signature_of(test: Callable[..., None], argument: str) -> inspect.Signature:
    """The parameters of the test, with the group in place of the example."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    others = [name for name in inspect.signature(test).parameters if name != argument]
    return inspect.Signature([inspect.Parameter(name, kind) for name in ("group_of_examples", *others)])


def run_all(test: Callable[..., None], argument: str, examples: Iterable[Any], others: dict[str, Any]) -> None:
    failures: list[BaseException] = []
    skipped: list[str] = []
    number = 0
    for number, example in enumerate(examples, start=1):  # noqa: B007
        try:
            test(**{argument: example}, **others)
        except pytest.skip.Exception as skip:
            skipped.append(str(skip))
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001
            failure.add_note(f"{argument} = {example!r}")
            failures.append(failure)
    if len(failures) > 1:
        raise BaseExceptionGroup(f"{len(failures)} of {number} examples fail", failures)
    if failures:
        raise failures[0]
    if len(skipped) == number:
        pytest.skip(skipped[0])


def by_type(examples: Iterable[Any]) -> dict[str, list[Any]]:
    """Examples under the names of their types."""
    groups: dict[str, list[Any]] = {}
    for example in examples:
        groups.setdefault(type(example).__name__, []).append(example)
    return groups
