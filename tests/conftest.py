"""Shared settings: the profiles of Hypothesis, floating-point trouble as errors, and the public networks.

Random examples are few in `make test`, which gives a seed, and many and fresh in `make fuzz`. A
failure prints its example and a decorator that repeats it; `--hypothesis-seed=N` repeats a whole run.
"""

from __future__ import annotations

import gc
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings

from support.optional_packages import closing_line, curable, packages_named_in

settings.register_profile(
    "test",
    max_examples=15,
    deadline=None,
    derandomize=False,
    print_blob=True,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # a failure is repeated by its blob, not made smaller
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fuzz", settings.get_profile("test"), max_examples=500, phases=tuple(Phase))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "test"))

os.environ.setdefault("JUNCTURE_COMPILATION", "always")  # "never" tests the same kernels interpreted

ROOT = Path(__file__).resolve().parents[1]
IN_MEMORY = Path("/dev/shm")  # noqa: S108  where thousands of small files cost a third less than on a disk

if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > 2**31:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))  # of `tmp_path`, also of xdist's workers

gc.disable()  # until the tests are collected: modules and tests stay, and looking through them takes seconds


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--extras", action="store_true", help="run only tests that need optional packages; fail where one is missing"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Of what are no tests, modules that have examples; with `--extras`, what names an optional package."""
    if collection_path.suffix != ".py" or collection_path.name == "conftest.py":
        return None
    has_tests = collection_path.name.startswith("test_") or b">>> " in collection_path.read_bytes()
    is_wanted = has_tests and (not config.getoption("extras") or bool(packages_named_in(collection_path)))
    return None if is_wanted else True


def skip_reasons(reporter: pytest.TerminalReporter) -> list[str]:
    return [report.longrepr[2] for report in reporter.stats.get("skipped", [])]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """With `--extras`, a test that was skipped for want of a package is a failure."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("extras") and reporter is not None and curable(skip_reasons(reporter)):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """One line: how many tests ran, how many were skipped, and each reason."""
    reasons = skip_reasons(terminalreporter)
    run = sum(len(terminalreporter.stats.get(key, [])) for key in ("passed", "failed", "xfailed", "xpassed"))
    terminalreporter.write_line(closing_line(run, reasons))
    if config.getoption("extras") and curable(reasons):
        terminalreporter.write_line("skipped for want of a package that can be installed: this run fails", red=True)


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, not among the tests, and not as often as Python does."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


@pytest.fixture(autouse=True)
def _floating_point_trouble_is_an_error():
    with np.errstate(all="raise", under="ignore"):
        yield


@pytest.fixture(scope="session", autouse=True)
def _disks_are_not_waited_for():
    """Thousands of files are written and read again; that they are synced first is a test of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def networks_folder() -> Path:
    """The public Bayesian networks, where they are at hand."""
    folder = ROOT.parent / "shared" / "networks"
    if not folder.is_dir():
        pytest.skip("the public networks are not here")
    return folder
