"""Where compiled kernels lie: read-only folders, several processes at once, and what the log says."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from juncture.kernels import compiler, machine_code
from support.kernel_package import copy_makers
from support.kernel_processes import KernelProcesses

KERNELS = """
from juncture.kernels.compiler import kernel


@kernel
def inner(x):
    return x + 1


@kernel
def outer(x):
    return 2 * inner(x)
"""
READ_ONLY = """
import errno, os, sys
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
def refuse_writing(event, arguments):
    writes = event in ("os.mkdir", "os.rename", "os.remove") or (event == "open" and arguments[2] & WRITES)
    if writes and any(str(arguments[0]).startswith(folder) for folder in {folders!r}):
        raise OSError(errno.EROFS, "Read-only file system", str(arguments[0]))
sys.addaudithook(refuse_writing)
"""
ASK = """
import logging, logging.handlers
records = logging.handlers.BufferingHandler(1000)
logging.getLogger("juncture").addHandler(records)
logging.getLogger("juncture").setLevel("DEBUG")
from juncture.kernels.small import outer
print(*(outer(x) for x in {values!r}))
print(sum("compiled the kernel" in record.getMessage() for record in records.buffer))
print(*(record.getMessage() for record in records.buffer if record.levelname == "WARNING"), sep="\\n")
"""


class Package:
    """A package with two small kernels, and processes that ask the outer one."""

    def __init__(self, folder: Path, processes: KernelProcesses) -> None:
        self.folder, self.processes = folder, processes
        (copy_makers(folder / "image") / "small.py").write_text(KERNELS)

    def ask(self, values: list[float], read_only: tuple[str, ...] = ()) -> tuple[str, int, str]:
        """What the outer kernel gives for these values, how many kernels were compiled, and the warnings in the log."""
        return self.ask_at_once(1, values, read_only)[0]

    def ask_at_once(
        self, number: int, values: list[float], read_only: tuple[str, ...] = ()
    ) -> list[tuple[str, int, str]]:
        """The same, in so many processes."""
        folders = [str(self.folder / name) for name in read_only]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA")}
        environment |= {"PYTHONPATH": str(self.folder / "image"), "XDG_CACHE_HOME": str(self.folder / "home")}
        script = READ_ONLY.format(folders=folders) + ASK.format(values=values)
        return [told(ended) for ended in self.processes.run_at_once([script] * number, environment)]


@pytest.fixture
def package(tmp_path, processes) -> Package:
    return Package(tmp_path, processes)


def told(ended: CompletedProcess[str]) -> tuple[str, int, str]:
    assert (ended.returncode, ended.stderr) == (0, "")
    answers, compiled, warned = ended.stdout.split("\n", 2)
    return answers, int(compiled), warned.strip()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_warm_cache_that_is_read_only_is_used(package):
    answers, compiled, warned = package.ask([1])
    assert (answers, compiled) == ("4", 1)
    assert "juncture warmup" in warned
    assert package.ask([1], read_only=("",)) == ("4", 0, "")
    shutil.move(package.folder / "image", package.folder / "elsewhere")
    shutil.copytree(package.folder / "elsewhere", package.folder / "image")  # new times, another user's files
    assert package.ask([1], read_only=("",)) == ("4", 0, "")


def test_what_a_read_only_cache_lacks_is_kept_in_the_folder_of_the_user(package):
    package.ask([1])
    image = files(package.folder / "image")
    assert package.ask([0.5], read_only=("image",))[:2] == ("3.0", 1)
    assert package.ask([1, 0.5], read_only=("image",)) == ("4 3.0", 0, "")
    assert files(package.folder / "image") == image
    assert len([name for name in files(package.folder / "home") if name.endswith(".kernel")]) == 1


def test_code_for_further_types_of_arguments_is_kept_too(package):
    """Numba compiles for types that it meets later without asking; the next process finds the code of all of them."""
    assert package.ask([1, 0.5])[0] == "4 3.0"
    assert package.ask([0.5, 1]) == ("3.0 4", 0, "")
    assert len(files(package.folder / "image")) == len(files(package.folder / "image" / "juncture")), (
        "nothing beside it"
    )


def test_machine_code_of_older_sources_is_removed_when_all_is_compiled(tmp_path, monkeypatch):
    """Not before: another process may run the older sources."""
    monkeypatch.setattr(machine_code, "SOURCES", tmp_path)
    monkeypatch.setattr(machine_code, "sources_digest", lambda: "new")
    machine_code.find_folders.cache_clear()
    tag = f"juncture-{sys.implementation.cache_tag}"
    names = [f"{tag}-old", f"{tag}-new", "juncture-of-another-python", "module.pyc"]
    for name in names:
        (tmp_path / "__pycache__" / name).mkdir(parents=True)
    machine_code.remove_old_folders()
    machine_code.find_folders.cache_clear()
    assert sorted(path.name for path in (tmp_path / "__pycache__").iterdir()) == sorted(names[1:])


def test_where_nothing_can_be_written_kernels_are_compiled_and_one_line_says_so(package):
    answers, compiled, warned = package.ask([1], read_only=("",))
    assert (answers, compiled) == ("4", 1)
    assert "set NUMBA_CACHE_DIR to a writable folder" in warned
    assert "\n" not in warned


@pytest.mark.skipif(machine_code.fcntl is None, reason="no locks of files")
def test_of_many_processes_on_an_empty_cache_one_compiles(package):
    runs = package.ask_at_once(4, [1])
    assert [answers for answers, _, _ in runs] == ["4"] * 4
    assert sum(compiled for _, compiled, _ in runs) == 1
    assert not [name for name in files(package.folder / "image") if name.endswith(".lock")]


@pytest.mark.parametrize("error", [BlockingIOError(11, "busy"), OSError(37, "No locks available")])
def test_a_lock_that_is_not_to_be_had_is_not_waited_for(tmp_path, monkeypatch, error):
    def refuse(*arguments):
        raise error

    monkeypatch.setattr(machine_code, "LOCK_SECONDS", 0.0)
    monkeypatch.setattr(machine_code, "POLL_SECONDS", 0.0)
    monkeypatch.setattr("juncture.kernels.machine_code.fcntl.lockf", refuse)
    entered = False
    with machine_code.hold_lock(tmp_path / "lock"):
        entered = True
    assert entered


def test_a_lock_that_was_removed_while_it_was_waited_for_is_taken_anew(tmp_path, monkeypatch):
    path, waited = tmp_path / "lock", []

    def remove_first(file, deadline):
        waited.append(file.fileno())
        if len(waited) == 1:
            path.unlink()
        return True

    monkeypatch.setattr(machine_code, "wait_for_lock", remove_first)
    with machine_code.hold_lock(path):
        assert path.exists()
    assert not path.exists()
    assert len(waited) == 2


def test_a_lock_that_cannot_be_removed_stays(tmp_path, monkeypatch):
    def refuse(*arguments):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    with machine_code.hold_lock(tmp_path / "lock"):
        pass
    assert (tmp_path / "lock").exists() == (machine_code.fcntl is not None)


def test_every_compilation_is_logged_with_its_name_and_time(caplog):
    callee = compiler.kernel(lambda x: x + 1)
    caller = compiler.kernel(lambda x: 2 * callee(x))
    with caplog.at_level(logging.DEBUG, logger="juncture"):
        assert caller(1) == 4
        assert caller(1) == 4
    told = [(record.levelname, record.getMessage()) for record in caplog.records if record.levelname != "WARNING"]
    assert [level for level, _ in told] == ["INFO"]
    assert re.fullmatch(r"compiled the kernel \S*test_kernel_cache\.\S+ in \d+\.\d s", told[0][1])


def test_a_change_of_the_cache_itself_compiles_nothing_anew(package):
    """But another option of the compiler does."""
    package.ask([1])
    path = package.folder / "image" / "juncture" / "kernels" / "machine_code.py"
    text = path.read_text()
    path.write_text(text + "# a comment\n")
    assert package.ask([1]) == ("4", 0, "")
    path.write_text(text.replace('"error_model": "numpy"', '"error_model": "python"'))
    assert package.ask([1])[:2] == ("4", 1)
