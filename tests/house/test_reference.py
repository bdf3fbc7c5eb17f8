"""Every public function says what its parameters are and what it returns, and shows an example that runs."""

from __future__ import annotations

import inspect

import juncture as jt
from support.loops import loop_over

FUNCTIONS = {name: thing for name in jt.__all__ if inspect.isroutine(thing := getattr(jt, name))}
FUNCTIONS |= {
    f"{folder}.{name}": thing
    for folder in ("supervised", "evaluation")
    for name in getattr(jt, folder).__all__
    if inspect.isroutine(thing := getattr(getattr(jt, folder), name))
}


def test_there_are_functions():
    assert {"infer", "fit", "read", "draw"} <= set(FUNCTIONS)


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
