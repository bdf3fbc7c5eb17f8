"""A new kind of model is three edits: its folder, a line in the table of kinds, an entry in the registry of the tests.

The folder is `support/change_point`, the other two edits are `support/new_kind.py`, a plugin of pytest. With it all
laws over kinds run on the new kind as they stand, and so do its own checks, in a process that knows it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent
LAWS = (
    "test_answers_of_all_kinds.py", "test_travelling_answers.py", "test_first_messages.py", "test_wrong_kinds.py",
    "base/test_values.py", "base/documents/test_kinds.py", "base/documents/test_refused.py", "cli/test_model_files.py",
    "kernels/test_paths.py", "learning/em/test_laws.py", "learning/em/test_bounds.py",
    "support/change_point/checks.py",
)  # fmt: skip
NEW = "(change and point) or (registered and models) or checks"


def test_all_laws_over_kinds_hold_for_it():
    """In a process of its own: the laws read the table and the registry when they are collected."""
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    options = ("-v", "-n0", "-p", "no:cacheprovider", "-p", "support.new_kind", "-k", NEW)
    files = [str(TESTS / name) for name in LAWS]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        check=False,
        env={**os.environ, "PYTHONPATH": path},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
    passed = re.findall(r"^tests/(\S+?)::.* PASSED", run.stdout, re.MULTILINE)
    assert set(passed) == set(LAWS)


def test_nothing_else_knows_it():
    """The folder, the plugin with both lines, and this test: no other file of the library or of its tests."""
    own = {TESTS / "support" / "new_kind.py", Path(__file__), *(TESTS / "support" / "change_point").glob("*.py")}
    sources = [*TESTS.rglob("*.py"), *(TESTS.parent / "src").rglob("*.py*")]
    texts = (path for path in sources if path not in own and path.suffix in (".py", ".pyi"))
    assert not [path for path in texts if b"PoissonChangePoint" in path.read_bytes()]
