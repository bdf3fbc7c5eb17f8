"""Every public function says what its parameters are and what it returns, and shows an example that runs."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from support.loops import loop_over
from support.public_names import public_names

ROOT = Path(__file__).parents[2]
LISTED = re.compile(r"\.\. autoclass:: (\S+)\n {3}:members: (.+(?:\n {6}\S.*)*)")

FUNCTIONS = {public.path: public.thing for public in public_names() if inspect.isroutine(public.thing)}


def test_there_are_functions():
    assert {"infer", "fit", "read", "draw", "information.entropy", "plots.density"} <= set(FUNCTIONS)


@loop_over("name", {"every function": FUNCTIONS})
def test_the_docstring_has_parameters_and_an_example(name):
    function = inspect.unwrap(FUNCTIONS[name])
    text = inspect.getdoc(function) or ""
    parts = ["Examples\n--------\n>>> "]
    if inspect.signature(function).parameters:
        parts.append("Parameters\n----------\n")
    if inspect.signature(function).return_annotation not in (None, "None"):
        parts.append("Returns\n-------\n")
    assert [part for part in parts if part not in text] == []


def test_the_members_that_the_reference_lists_exist():
    """Sphinx refuses others, but is not installed where the tests run."""
    missing = []
    for page in sorted((ROOT / "docs" / "reference").glob("*.md")):
        for path, members in LISTED.findall(page.read_text(encoding="utf-8")):
            kind = import_object(path)
            names = [name.strip() for name in members.split(",") if name.strip()]
            known = {*dir(kind), *fields_of(kind)}
            missing += [f"{page.name}: {path}.{name}" for name in names if name not in known]
    assert missing == []


def import_object(path: str) -> Any:
    """What a dotted path of the reference stands for."""
    parts = path.split(".")
    for cut in range(len(parts) - 1, 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        return functools.reduce(getattr, parts[cut:], module)
    raise AssertionError(path)


def fields_of(kind: type) -> set[str]:
    """Names that only instances have."""
    return {name for base in kind.__mro__ for name in vars(base).get("__annotations__", {})}
