"""What type checkers are told of the verbs is what the verbs do."""

from __future__ import annotations

import ast
import importlib
import inspect
import runpy
from pathlib import Path

import pytest

from juncture import verbs
from juncture.base.kinds import KINDS, LAID_OUT_BY_LAYER, verb_modules

STUB = Path(verbs.__file__).with_suffix(".pyi")
TREE = ast.parse(STUB.read_text(encoding="utf-8"))
OVERLOADS = [node for node in TREE.body if isinstance(node, ast.FunctionDef)]
CLASSES = {node.name: node for node in TREE.body if isinstance(node, ast.ClassDef)}
ALIASES = {
    node.target.id: node.value
    for node in TREE.body
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name)
}
MODULES = {alias.name: node.module for node in TREE.body if isinstance(node, ast.ImportFrom) for alias in node.names}
VERBS = [name for name, value in vars(verbs).items() if hasattr(value, "dispatch") or hasattr(value, "registry")]


def kinds_of(annotation: ast.expr) -> list[type]:
    """The classes that an annotation of the stub stands for."""
    if isinstance(annotation, ast.BinOp):
        return kinds_of(annotation.left) + kinds_of(annotation.right)
    assert isinstance(annotation, ast.Name)
    if annotation.id in ALIASES:
        return kinds_of(ALIASES[annotation.id])
    return [getattr(importlib.import_module(MODULES[annotation.id]), annotation.id)]


def options_of(name: str) -> set[str]:
    """The fields of a class of options, with those of its bases."""
    bases = [base.id for base in CLASSES[name].bases if isinstance(base, ast.Name) and base.id in CLASSES]
    own = {node.target.id for node in CLASSES[name].body if isinstance(node, ast.AnnAssign)}
    return own.union(*map(options_of, bases))


def parameters_of(overload: ast.FunctionDef) -> set[str]:
    """The names of all parameters but the model."""
    arguments = overload.args
    names = {part.arg for part in [*arguments.args[1:], *arguments.kwonlyargs]}
    if arguments.kwarg is not None:
        kinds = arguments.kwarg.annotation
        names |= {arguments.kwarg.arg} if isinstance(kinds, ast.Name) else options_of(kinds.slice.id)
    return names


def implementation(verb: str, kind: type):
    for base in kind.__mro__:
        for module in verb_modules(base.__name__):
            importlib.import_module(module)
    return getattr(verbs, verb).dispatch(kind)


@pytest.mark.parametrize("verb", sorted({node.name for node in OVERLOADS}))
def test_overloads_have_the_parameters_of_their_implementation(verb):
    """Each has some of them, and those of one kind of model have them all: a table by key has no lengths."""
    found: dict[type, set[str]] = {}
    for overload in (node for node in OVERLOADS if node.name == verb):
        first = overload.args.args[0]
        assert first.arg == next(iter(inspect.signature(getattr(verbs, verb)).parameters))
        for kind in kinds_of(first.annotation):
            found.setdefault(kind, set()).update(parameters_of(overload))
    for kind, parameters in found.items():
        known = list(inspect.signature(implementation(verb, kind)).parameters)[1:]
        assert parameters == set(known), (verb, kind)


def test_every_verb_and_every_kind_has_overloads():
    assert {node.name for node in OVERLOADS} == set(VERBS)
    for verb in VERBS:
        told = {kind for node in OVERLOADS if node.name == verb for kind in kinds_of(node.args.args[0].annotation)}
        for name in (*LAID_OUT_BY_LAYER, *KINDS):
            for module in verb_modules(name):
                importlib.import_module(module)
        registered = set(getattr(verbs, verb).registry) - {object}
        assert {kind for kind in registered if kind.__module__.startswith("juncture.")} == told


def test_the_program_of_a_user_runs():
    runpy.run_path(str(Path(__file__).with_name("user_code.py")))
