"""Write what follows from the table of public names: the type stubs of the faces, and `docs/reference/names.md`.

`make stubs` runs it; `test_public_names.py` says whether the files are current.
"""

from __future__ import annotations

from pathlib import Path

from juncture.names import FLAT, NAMES, groups_of, names_in, namespaces

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "juncture"
WIDTH = 120


def files() -> dict[Path, str]:
    """What each file should hold; `jt.errors` is one module, which needs no stub."""
    stubs = {stub_path(namespace): stub_of(namespace) for namespace in NAMES if namespace != "errors"}
    return {**stubs, ROOT / "docs" / "reference" / "names.md": page()}


def stub_path(namespace: str) -> Path:
    folder = PACKAGE / namespace
    return folder / "__init__.pyi" if folder.is_dir() else folder.with_suffix(".pyi")


def stub_of(namespace: str) -> str:
    """Imports of every name from its module, as type checkers ask for names that are handed on."""
    homes = sorted(names_in(namespace).items(), key=lambda item: (item[1], kind_of(item[0]), item[0].lower(), item[0]))
    folders = [f"from juncture import {name} as {name}" for name in namespaces()] if namespace == FLAT else []
    lines = [import_line(f"juncture.{module}", name) for name, module in homes]
    version = ["", "__version__: str"] if namespace == FLAT else []
    return "\n".join([*folders, *lines, *version]) + "\n"


def import_line(module: str, name: str) -> str:
    line = f"from {module} import {name} as {name}"
    return line if len(line) <= WIDTH else f"from {module} import (\n    {name} as {name},\n)"


def kind_of(name: str) -> int:
    """Constants, classes and functions, in which order imports from one module are sorted."""
    return 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2


def page() -> str:
    """The list of all public names, by namespace and group."""
    parts = ["# All public names\n\nWhere each name lives, in `import juncture as jt`.\n"]
    for namespace in NAMES:
        title = f"`jt.{namespace}`" if namespace else "`jt` itself"
        parts.append(f"\n## {title}\n\n")
        parts += [f"- {group}: {', '.join(f'`{name}`' for name in names)}\n" for group, names in groups_of(namespace)]
    return "".join(parts)


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
