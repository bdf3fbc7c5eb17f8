"""Every public function says what its parameters are and what it returns, and shows an example that runs."""

from __future__ import annotations

import inspect

import pytest

import juncture as jt

FUNCTIONS = [name for name in jt.__all__ if inspect.isroutine(getattr(jt, name))]


def test_there_are_functions():
    assert {"infer", "fit", "read", "draw"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_docstring_has_parameters_and_an_example(name):
    function = inspect.unwrap(getattr(jt, name))
    text = inspect.getdoc(function) or ""
    parts = ["Examples\n--------\n>>> "]
    if inspect.signature(function).parameters:
        parts.append("Parameters\n----------\n")
    if inspect.signature(function).return_annotation not in (None, "None"):
        parts.append("Returns\n-------\n")
    assert [part for part in parts if part not in text] == []
