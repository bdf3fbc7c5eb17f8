"""Shared settings: the profiles of Hypothesis, floating-point trouble as errors, and the public networks.

Random examples are few in `make test`, which gives a seed, and many and fresh in `make fuzz`. A
failure prints its example and a decorator that repeats it; `--hypothesis-seed=N` repeats a whole run.
"""

from __future__ import annotations

import ast
import gc
import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest
from _pytest.assertion import rewrite
from _pytest.doctest import DoctestModule
from _pytest.runner import runtestprotocol
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

SECOND_WORKER = "gw1"

gc.disable()  # until the tests are collected: modules and tests stay, and looking through them takes seconds


def nodes_below(node: ast.AST) -> Iterator[ast.AST]:
    """A node and those below it, as pytest has them where it compiles asserts, in a fifth of the time."""
    nodes = [node]
    for each in nodes:
        yield each
        for child in each.__dict__.values():
            if isinstance(child, list):
                nodes += [part for part in child if isinstance(part, ast.AST) and part.__dict__]
            elif isinstance(child, ast.AST) and child.__dict__:  # `Load` and operators have no place in the source
                nodes.append(child)


rewrite.traverse_node = nodes_below


class FilesWithExamples:
    """Doctests are looked for where there are some: not in tests, and in a quarter of the modules."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
        found = yield
        return [each for each in found if not isinstance(each, DoctestModule) or b">>> " in file_path.read_bytes()]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--extras", action="store_true", help="run only tests that need optional packages; fail where one is missing"
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--extras`, only files that name an optional package are collected."""
    if config.getoption("extras") and collection_path.suffix == ".py" and collection_path.name != "conftest.py":
        return True if not packages_named_in(collection_path) else None
    return None


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


def pytest_configure(config: pytest.Config) -> None:
    """The second worker collects the folders in reverse: each of two compiles half of the files, for the other too."""
    config.pluginmanager.register(FilesWithExamples())
    if os.environ.get("PYTEST_XDIST_WORKER") == SECOND_WORKER and config.args_source is config.ArgsSource.TESTPATHS:
        config.args[:] = [*sorted(map(str, (ROOT / "tests").glob("[a-z]*")), reverse=True), str(ROOT / "src")]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the tests into one order, whatever that of the collection was; examples of docstrings come last."""
    items.sort(key=lambda item: (isinstance(item, pytest.DoctestItem), str(item.path)))


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, not among the tests, and not as often as Python does."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """A worker reports each test once, not also what was set up and torn down well: messages cost as much as a test."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return None
    for report in runtestprotocol(item, nextitem=nextitem, log=False):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


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
