"""Imports point only down the layers, also those inside functions."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "juncture"

LAYERS = [
    "errors",
    "values",
    "checks",
    "memory",
    "files",
    "numerics",
    "iteration",
    "options",
    "verbs",
    "cores",
    "kernels",
    "drawing",
    "variables",
    "data",
    "evidence",
    "graphs",
    "quadrature",
    "families",
    "factors",
    "information",
    "models",
    "inference",
    "learning",
    "evaluation",
    "estimators",
    "formats",
    "plotting",
    "cli",
    "__main__",
]


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_layers(tree: ast.Module) -> set[str]:
    """The parts of the package that a module imports, wherever in it."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("juncture"):
            parts = (node.module or "").split(".")
            names |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("juncture.")}
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"imports are absolute, not {ast.unparse(node)}"
    return names


def upward_imports(layer: str, source: str) -> set[str]:
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    return imported_layers(ast.parse(source)) - set(allowed)


def test_imports_point_down():
    paths = sorted(set(PACKAGE.rglob("*.py")) - {PACKAGE / "__init__.py"})
    upward = {str(path): upward_imports(layer_of(path), path.read_text(encoding="utf-8")) for path in paths}
    assert {path: layers for path, layers in upward.items() if layers} == {}


def test_an_upward_import_is_seen():
    assert upward_imports("models", "def f():\n    from juncture.inference.infer import infer") == {"inference"}
    assert upward_imports("models", "from juncture import numerics") == set()


def test_every_folder_and_file_has_a_layer():
    found = {layer_of(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert found <= set(LAYERS)


def test_only_kernels_import_numba():
    for path in PACKAGE.rglob("*.py"):
        if layer_of(path) != "kernels":
            assert "numba" not in path.read_text(encoding="utf-8")
