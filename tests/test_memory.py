"""The memory that a container has left."""

from __future__ import annotations

import pytest

from juncture import memory

GIB = 2**30


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A control group of 4 GiB, of which 3 are used, on a machine with plenty."""
    pair = (tmp_path / "memory.max", tmp_path / "memory.current")
    for path, number in zip(pair, (4 * GIB, 3 * GIB), strict=True):
        path.write_text(f"{number}\n")
    monkeypatch.setattr(memory, "CGROUP_PAIRS", (tuple(map(str, pair)),))
    monkeypatch.setattr(memory, "free_machine_memory", lambda: 64 * GIB)
    return tmp_path


@pytest.mark.parametrize(
    ("stat", "free"),
    [
        (None, 1),
        ("anon 5\nfile 7\n", 1),
        (f"anon 5\ninactive_file {2 * GIB}\n", 3),
        (f"inactive_file 5\ntotal_inactive_file {2 * GIB}\n", 3),
        (f"inactive_file {9 * GIB}\n", 4),
    ],
)
def test_files_that_are_held_in_memory_count_as_free(group, stat, free):
    if stat is not None:
        (group / "memory.stat").write_text(stat)
    assert memory.default_memory_limit() == free * GIB // 2


@pytest.mark.parametrize("limit", ["max", "", "what"])
def test_no_limit(group, limit):
    (group / "memory.max").write_text(f"{limit}\n")
    assert memory.default_memory_limit() == 32 * GIB
