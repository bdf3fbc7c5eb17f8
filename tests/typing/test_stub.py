"""What type checkers are told of the verbs is what the verbs do."""

from __future__ import annotations

import ast
import importlib
import inspect
import runpy
from pathlib import Path

import pytest

from juncture import verbs
from juncture.base.dispatch import what_it_does
from juncture.base.kinds import KINDS, LAID_OUT_BY_LAYER, verb_modules

STUB = Path(verbs.__file__).with_suffix(".pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
FUNCTIONS = [node for node in TREE.body if isinstance(node, ast.FunctionDef)]
VERBS = list(dict.fromkeys(node.name for node in FUNCTIONS if node.decorator_list))


def parameters_of(overload: ast.FunctionDef) -> list[str]:
    """The names of all parameters but the model and the options of the kind."""
    return [part.arg for part in [*overload.args.args[1:], *overload.args.kwonlyargs]]


def test_every_verb_has_overloads():
    assert sorted(VERBS) == sorted(verbs.VERBS)
    assert {node.name for node in FUNCTIONS} - set(VERBS) == {"methods"}


@pytest.mark.parametrize("verb", VERBS)
def test_overloads_have_parameters_of_the_verb(verb):
    """All begin with the model; what they name beside the options of kinds is a parameter of some kind."""
    found = inspect.signature(getattr(verbs, verb)).parameters
    own = [name for name, part in found.items() if part.kind is not part.VAR_KEYWORD]
    known = {*own[1:]}
    for kind in (*LAID_OUT_BY_LAYER, *KINDS):
        for module in verb_modules(kind):
            importlib.import_module(module)
    for kind in getattr(verbs, verb).dispatcher.registry:
        implementation = what_it_does(getattr(verbs, verb), kind)
        known |= set() if implementation is None else set(inspect.signature(implementation).parameters)
    overloads = [node for node in FUNCTIONS if node.name == verb]
    assert {node.args.args[0].arg for node in overloads} == {own[0]} == {"model"}
    for node in overloads:
        assert set(parameters_of(node)) <= known, ast.unparse(node)
    if verb != "online_filter":
        longest = max(overloads, key=lambda node: len(parameters_of(node)))
        assert {"statistics": ["data"]}.get(verb, own[1:]) == parameters_of(longest)


def test_the_program_of_a_user_runs():
    runpy.run_path(str(Path(__file__).with_name("user_code.py")))
