"""The memory that a container has left, and what is said where it does not suffice."""

from __future__ import annotations

import pytest

import juncture as jt
from juncture.errors import TooLarge, Unsupported
from juncture.inference.infer import METHODS, REAL_METHODS
from juncture.runtime import control_groups, memory

GIB = 2**30


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A control group of 4 GiB, of which 3 are used, on a machine with plenty."""
    for name, number in (("memory.max", 4 * GIB), ("memory.current", 3 * GIB)):
        (tmp_path / name).write_text(f"{number}\n")
    monkeypatch.setattr(control_groups, "TOP", str(tmp_path))
    monkeypatch.setattr(control_groups, "GROUPS", str(tmp_path / "own"))
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


@pytest.mark.parametrize(
    ("folder", "files", "own"),
    [
        ("service", memory.NEW_FILES, "0::/service"),
        ("memory/service", memory.OLD_FILES, "4:memory:/service"),
        ("memory/service", memory.OLD_FILES, "4:memory:/service/worker"),
    ],
)
def test_the_limit_of_a_group_that_is_not_the_top_counts(group, folder, files, own):
    (group / folder).mkdir(parents=True)
    for name, number in zip(files, (2 * GIB, GIB + GIB // 2), strict=True):
        (group / folder / name).write_text(f"{number}\n")
    (group / "own").write_text(f"3:cpuset:/elsewhere\n{own}\n")
    assert memory.default_memory_limit() == GIB // 4


def refusal(model, evidence, method, limit):
    """What is said where the memory does not suffice; nothing where it does, or where the method is of other models."""
    try:
        jt.infer(model, evidence, method=method, memory_limit=limit, rng=0)
    except TooLarge as error:
        return str(error)
    except Unsupported:
        return ""
    return ""


@pytest.mark.parametrize("method", {**METHODS, **REAL_METHODS})
def test_one_row_is_not_told_to_be_fewer(method):
    x, y = jt.Variable("x"), jt.Variable("y")
    line = jt.BayesianNetwork([jt.LinearGaussian(x, [], [], 0.0, 1.0), jt.LinearGaussian(y, [x], [1.0], 0.0, 1.0)])
    for model, evidence in ((jt.example("asia"), {"xray": "yes"}), (line, {"y": 1.0})):
        for limit in (1, 40, 1000):
            assert "fewer rows" not in refusal(model, evidence, method, limit)


def test_many_rows_are_told_to_be_fewer():
    rows = jt.sample(jt.example("asia"), 50, rng=0).only(["xray"])
    with pytest.raises(TooLarge, match=r"the messages of 50 rows would need .*: ask about fewer rows at a time"):
        jt.infer(jt.example("asia"), rows, method="loopy", memory_limit=2000)
