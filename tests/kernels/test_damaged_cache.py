"""Compiled kernels on disk that are damaged, out of date or impossible to write: the answer is right all the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from juncture.kernels import compiler, machine_code
from juncture.kernels.machine_code import seal, unseal
from support.kernel_package import copy_makers

CALLER = """
from juncture.kernels.compiler import kernel
from juncture.kernels.deep.callee import inner


@kernel
def outer(x):
    return 2 * inner(x)
"""
CALLEE = """
from juncture.kernels.compiler import kernel


@kernel
def inner(x):
    return x + {step}
"""
RUN = """
import logging.handlers
from juncture.kernels.caller import outer
records = logging.handlers.BufferingHandler(100)
logging.getLogger("juncture").addHandler(records)
answer = outer(1)
texts = [text for record in records.buffer if "warmup" not in (text := record.getMessage())]
print(answer, int(not outer.compiled.was_compiled), texts)
"""


@pytest.fixture
def package(tmp_path):
    """A package with two small kernels, one compiled into the other, and a cache of its own."""
    kernels = copy_makers(tmp_path)
    (kernels / "deep").mkdir()
    (kernels / "deep" / "__init__.py").write_text("")
    (kernels / "caller.py").write_text(CALLER)
    (kernels / "deep" / "callee.py").write_text(CALLEE.format(step=1))
    return tmp_path


@pytest.fixture
def run(package, processes) -> Callable[[], tuple[str, str, str]]:
    """The answer, how often the cache had it, and the warnings; in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(package / "cache")}

    def run_once() -> tuple[str, str, str]:
        done = processes.run(RUN, environment)
        assert (done.returncode, done.stderr) == (0, "")
        answer, hits, warned = done.stdout.strip().split(" ", 2)
        return answer, hits, warned

    return run_once


def test_a_change_in_a_folder_of_the_folder_is_seen(package, run):
    assert run() == ("4", "0", "[]")
    assert run() == ("4", "1", "[]")
    (package / "juncture" / "kernels" / "deep" / "callee.py").write_text(CALLEE.format(step=2))
    assert run() == ("6", "0", "[]")


def flip(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :]


DAMAGES = {
    "truncated to nothing": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "a byte flipped": lambda content: flip(content, len(content) * 3 // 4),
    "the last byte flipped": lambda content: flip(content, len(content) - 1),
    "the mark flipped": lambda content: flip(content, 3),
    "other content": lambda content: os.urandom(1000),
}
SILENT = {"the mark flipped", "other content"}  # nobody knows whose file it was


def test_damage_is_told_once_and_mended(package, run):
    run()
    for damage in ("truncated", "a byte flipped"):
        (file,) = (package / "cache").rglob("caller*.kernel")
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
        answer, hits, warned = run()
        assert (answer, hits) == ("4", "0"), damage
        assert warned.count("is damaged") == 1, damage
    assert run() == ("4", "1", "[]")


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_to_a_file_is_seen(tmp_path, damage, caplog):
    content = {"types": b"", "index": bytes(100), "code": b"3" * 1000}
    path = tmp_path / "one.kernel"
    seal(path, "purpose", content)
    assert unseal(path, "purpose") == content
    assert [each.name for each in tmp_path.iterdir()] == ["one.kernel"]
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    machine_code.warn_of_damaged_cache.cache_clear()
    assert unseal(path, "purpose") is None
    assert [text.count("is damaged") for text in caplog.messages] == [1] * (damage not in SILENT)
    machine_code.warn_of_damaged_cache.cache_clear()


def test_any_flipped_bit_is_seen(tmp_path):
    path = tmp_path / "one.kernel"
    seal(path, "purpose", {"code": bytes(50)})
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(flip(whole, place))
        assert unseal(path, "purpose") is None
    assert unseal(tmp_path / "another.kernel", "purpose") is None


def test_code_of_another_version_or_another_kernel_is_not_run(tmp_path, caplog):
    """As after files were renamed: what lies there was made for something else."""
    path = tmp_path / "one.kernel"
    seal(path, "old", {"code": b"old"})
    assert unseal(path, "new") is None
    seal(path, "new", {"code": b"new"})
    assert (unseal(path, "new"), unseal(path, "old")) == ({"code": b"new"}, None)
    assert not caplog.records


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
@pytest.mark.parametrize("place", ["seal", "unpack", "pack", "tempfile.TemporaryDirectory"])
def test_a_full_disk_is_told_once(monkeypatch, tmp_path, caplog, error, place):
    """The folder of the cache, or that of temporary files."""

    def refuse(*arguments, **options):
        raise error

    monkeypatch.setattr(machine_code, "find_folders", lambda chosen: ((tmp_path,), True))
    monkeypatch.setattr(machine_code, "SOURCES", Path(__file__).parent)  # so that kernels of this test are kept
    double, triple = compiler.kernel(lambda x: 2 * x), compiler.kernel(lambda x: 3 * x)
    if place == "unpack":
        double(3)
        assert double.compiled.was_compiled
        double = compiler.kernel(double.function)
    monkeypatch.setattr(f"juncture.kernels.machine_code.{place}", refuse)
    machine_code.warn_of_missing_cache.cache_clear()
    machine_code.warn_of_compiling()
    caplog.clear()
    assert (double(3), triple(3) if place != "unpack" else 9) == (6, 9)
    assert ["cannot be kept on disk" in text for text in caplog.messages] == [True]
    assert len(list(tmp_path.rglob("*"))) == (place == "unpack")
    machine_code.warn_of_missing_cache.cache_clear()
