"""A package with the modules that make kernels, and kernels of a test's own."""

from __future__ import annotations

import shutil
from pathlib import Path

import juncture

SOURCES = Path(juncture.__file__).parent
MAKERS = (
    "names.py", "errors.py", "base/__init__.py",
    "base/values.py", "base/shown.py", "base/checks.py", "base/compilation.py", "kernels/__init__.py",
    "kernels/compiler.py", "kernels/machine_code.py",
)  # fmt: skip


def copy_makers(folder: Path) -> Path:
    """The folder of kernels of a new package in this folder."""
    (folder / "juncture" / "kernels").mkdir(parents=True)
    (folder / "juncture" / "base").mkdir()
    (folder / "juncture" / "__init__.py").write_text("")
    for name in MAKERS:
        shutil.copy(SOURCES / name, folder / "juncture" / name)
    return folder / "juncture" / "kernels"
