"""How many threads work at once: a setting, the environment, the machine, the container."""

from __future__ import annotations

import threading

import pytest

import juncture as jt
from juncture.runtime import control_groups, parallel


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A folder in place of that of the control groups, and no settings."""
    monkeypatch.setattr(control_groups, "TOP", str(tmp_path))
    monkeypatch.setattr(control_groups, "GROUPS", str(tmp_path / "own"))
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)), raising=False)
    monkeypatch.delenv("JUNCTURE_NUM_THREADS", raising=False)
    parallel.cpu_quota.cache_clear()
    yield tmp_path
    parallel.cpu_quota.cache_clear()
    jt.set_num_threads(None)


@pytest.mark.parametrize(
    ("quota", "threads"),
    [
        ("max 100000", 8),
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("10000 100000", 1),
        ("9900000 100000", 8),
        ("", 8),
        ("0 0", 8),
        ("what", 8),
    ],
)
def test_the_quota_of_a_container_counts(groups, quota, threads):
    (groups / "cpu.max").write_text(f"{quota}\n")
    assert parallel.num_threads() == threads


@pytest.mark.parametrize(("quota", "threads"), [("-1", 8), ("300000", 3), ("50000", 1)])
def test_the_quota_of_old_control_groups_counts(groups, quota, threads):
    (groups / "cpu").mkdir()
    (groups / "cpu" / "cpu.cfs_quota_us").write_text(f"{quota}\n")
    (groups / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert parallel.num_threads() == threads


@pytest.mark.parametrize(("own", "threads"), [("/service/worker", 3), ("/service", 4), ("/", 8), ("/../..", 8)])
def test_the_least_quota_of_the_groups_around_the_process_counts(groups, own, threads):
    (groups / "service" / "worker").mkdir(parents=True)
    (groups / "service" / "cpu.max").write_text("400000 100000\n")
    (groups / "service" / "worker" / "cpu.max").write_text("300000 100000\n")
    (groups / "own").write_text(f"12:cpuset:/elsewhere\n0::{own}\n")
    assert parallel.num_threads() == threads


@pytest.mark.parametrize("controllers", ["cpu", "cpu,cpuacct"])
def test_the_quota_of_an_old_group_that_is_not_the_top_counts(groups, controllers):
    folder = groups / controllers / "service"
    folder.mkdir(parents=True)
    (folder / "cpu.cfs_quota_us").write_text("200000\n")
    (folder / "cpu.cfs_period_us").write_text("100000\n")
    (groups / "own").write_text(f"3:cpuset:/elsewhere\n1:{controllers}:/service\n0::/\n")
    assert parallel.num_threads() == 2


def test_the_setting_goes_before_the_environment_and_that_before_the_machine(groups, monkeypatch):
    assert parallel.num_threads() == 8
    monkeypatch.setenv("JUNCTURE_NUM_THREADS", "3")
    assert parallel.num_threads() == 3
    jt.set_num_threads(2)
    assert parallel.num_threads() == 2
    jt.set_num_threads(None)
    assert parallel.num_threads() == 3


@pytest.mark.parametrize("number", [0, -1, 1.5, "2"])
def test_no_number_of_threads(groups, monkeypatch, number):
    with pytest.raises(jt.errors.InvalidData, match="the number of threads must be a whole number of at least 1"):
        jt.set_num_threads(number)
    assert parallel.num_threads() == 8
    if number != "2":
        monkeypatch.setenv("JUNCTURE_NUM_THREADS", str(number))
        with pytest.raises(jt.errors.InvalidData, match="JUNCTURE_NUM_THREADS is a whole number of threads"):
            parallel.num_threads()


@pytest.mark.parametrize("number", [1, 2, 5])
def test_no_more_threads_work_than_were_set(groups, number):
    jt.set_num_threads(number)
    meeting = threading.Barrier(number)

    def work(part):
        meeting.wait(timeout=60)  # passes only if `number` threads work at once
        return threading.get_ident()

    assert len(set(parallel.map(work, range(4 * number)))) == number
