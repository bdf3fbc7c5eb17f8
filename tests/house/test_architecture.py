"""ARCHITECTURE.md is one page, and every path that it names exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ROLES = {
    *("model.py", "infer.py", "beliefs.py", "most_probable.py", "sample.py", "fit.py", "statistics.py", "document.py"),
}


def named_paths() -> set[str]:
    """What stands in backquotes, or at the head of a line of the tree, and looks like a file or a folder."""
    quoted = re.findall(r"`([\w/.]+(?:\.pyi?|\.md|/))`", PAGE)
    tree = PAGE.split("src/juncture/\n")[1].split("```")[0]
    heads = [word for line in tree.splitlines() for word in re.split(r" {2,}", line.strip())[0].split()]
    return {path for path in (*quoted, *heads) if path not in ROLES}


def test_every_path_exists():
    missing = [
        path for path in named_paths() if not any((top / path).exists() for top in (ROOT / "src/juncture", ROOT))
    ]
    assert not missing


def test_every_path_named_to_contributors_exists():
    quoted = re.findall(r"`([\w/.]+(?:\.pyi?|\.md|/))`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert quoted
    assert not [path for path in quoted if not any((top / path).exists() for top in (ROOT / "src/juncture", ROOT))]


def test_the_map_of_support_is_whole():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## A map of `tests/support/`")[1]
    named = re.findall(r"^  (\w+(?:\.py|/)) ", text, re.MULTILINE)
    here = [path for path in (ROOT / "tests/support").iterdir() if not path.name.startswith("__")]
    assert sorted(named) == sorted(path.name + "/" * path.is_dir() for path in here)


def test_it_names_the_layers():
    layers = {path.name for path in (ROOT / "src/juncture").iterdir() if path.suffix == ".py" or path.is_dir()}
    named = {path.split("/")[0] for path in named_paths()}
    assert layers - named <= {"__pycache__", "__main__.py"}


def test_it_fits_on_a_page():
    assert len(PAGE.splitlines()) <= 120
