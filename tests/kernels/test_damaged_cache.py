"""Compiled kernels on disk that are damaged, out of date or impossible to write: the answer is right all the same."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

import pytest

from juncture.kernels import cache_files, compiler, kernel_cache
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
print(answer, sum(outer.compiled.stats.cache_hits.values()), texts)
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
    for kind, damage in (("nbi", "truncated"), ("nbc", "a byte flipped")):
        (file,) = (package / "cache").rglob(f"caller*.{kind}")
        file.write_bytes(DAMAGES[damage](file.read_bytes()))
        answer, hits, warned = run()
        assert (answer, hits) == ("4", "0"), damage
        assert warned.count("is damaged") == 1, damage
    assert run() == ("4", "1", "[]")


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_to_a_file_is_seen(tmp_path, damage, caplog):
    file = cache_files.CheckedCacheFile(str(tmp_path), "f", "stamp")
    file.save("first", [1, 2])
    file.save("second", [3] * 100)
    assert (file.load("first"), file.load("second"), file.load("third")) == ([1, 2], [3] * 100, None)
    cache_files.warn_of_damaged_cache.cache_clear()
    for path in tmp_path.iterdir():
        whole = path.read_bytes()
        path.write_bytes(DAMAGES[damage](whole))
        cache_files.warn_of_damaged_cache.cache_clear()
        caplog.clear()
        assert None in (file.load("first"), file.load("second"))
        assert [text.count("is damaged") for text in caplog.messages] == [1] * (damage not in SILENT)
        path.write_bytes(whole)
    cache_files.warn_of_damaged_cache.cache_clear()


def test_any_flipped_bit_is_seen(tmp_path):
    file = cache_files.CheckedCacheFile(str(tmp_path), "f", "stamp")
    file.save("key", {"code": bytes(50)})
    (path,) = tmp_path.glob("*.nbc")
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(flip(whole, place))
        assert file.load("key") is None


def test_code_of_other_sources_or_another_signature_is_not_run(tmp_path, caplog):
    """As after a full disk: the index was written, and what it names is an old file."""
    old = cache_files.CheckedCacheFile(str(tmp_path), "f", "old")
    old.save("key", "old code")
    code = next(tmp_path.glob("*.nbc")).read_bytes()
    new = cache_files.CheckedCacheFile(str(tmp_path), "f", "new")
    assert new.load("key") is None
    new.save("key", "new code")
    assert (new.load("key"), old.load("key")) == ("new code", None)
    next(tmp_path.glob("*.nbc")).write_bytes(code)
    assert new.load("key") is None
    new.save("key", "new code")
    new.save("other", "other code")
    first, second = sorted(tmp_path.glob("*.nbc"))
    shutil.copy(second, first)
    assert (new.load("key"), new.load("other")) == (None, "other code")
    assert not caplog.records


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
def test_a_full_disk_is_told_once(monkeypatch, tmp_path, caplog, error):
    def refuse(*arguments):
        raise error

    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("numba.core.caching.os.replace", refuse)
    cache_files.warn_of_missing_cache.cache_clear()
    double, triple = compiler.kernel(lambda x: 2 * x), compiler.kernel(lambda x: 3 * x)
    kernel_cache.warn_of_compiling()
    caplog.clear()
    assert (double(3), triple(3)) == (6, 9)
    assert ["cannot be kept on disk" in text for text in caplog.messages] == [True]
    assert not list(tmp_path.rglob("*.tmp.*"))
    cache_files.warn_of_missing_cache.cache_clear()
