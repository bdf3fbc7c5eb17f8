"""Files are written whole or not at all: by threads, through interruptions, full disks, links and permissions."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import stat
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest

import juncture as jt
from juncture.data.files import writers
from juncture.data.files.writers import write_csv
from juncture.formats.uai_evidence import write_evidence
from juncture.formats.uai_results import Result, write_result
from juncture.inference.picture import draw
from juncture.runtime import files
from juncture.runtime.files import check_writable, replace_file, replace_text_file, write_bytes

ASIA = jt.example("asia")
RESULT = Result("PR", (-2.5,))
ROWS = jt.Dataset({"x": ["a", "b"] * 5000, "y": np.arange(10_000)}, states=["y"])

# Each writer of files: the name it writes to, and what writes there. A new writer adds itself.
WRITERS = {
    "model": ("asia.json", lambda path: jt.write(ASIA, path)),
    "packed model": ("asia.bif.gz", lambda path: jt.write(ASIA, path)),
    "rows": ("rows.csv", ROWS.to_csv),
    "packed rows": ("rows.csv.gz", lambda path: write_csv(ROWS, path)),
    "picture": ("asia.svg", lambda path: draw(ASIA).save(path)),
    "evidence": ("asia.evid", lambda path: write_evidence({"smoke": "yes"}, ASIA, path)),
    "result": ("asia.PR", lambda path: write_result(RESULT, path)),
}
every_writer = pytest.mark.parametrize("name", WRITERS)


def folder_of(tmp_path: Path) -> set[str]:
    return {path.name for path in tmp_path.iterdir()}


@every_writer
def test_a_new_file_is_alone_and_has_the_permissions_that_the_umask_leaves(name, tmp_path):
    file, write = WRITERS[name]
    old = os.umask(0o027)
    try:
        write(tmp_path / file)
    finally:
        os.umask(old)
    assert folder_of(tmp_path) == {file}
    assert stat.S_IMODE((tmp_path / file).stat().st_mode) == 0o640


@every_writer
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_replaced_file_keeps_its_permissions(name, mode, tmp_path):
    file, write = WRITERS[name]
    (tmp_path / file).write_bytes(b"old")
    (tmp_path / file).chmod(mode)
    write(tmp_path / file)
    assert stat.S_IMODE((tmp_path / file).stat().st_mode) == mode
    assert (tmp_path / file).read_bytes() != b"old"


@every_writer
def test_a_link_keeps_pointing_to_what_was_written(name, tmp_path):
    file, write = WRITERS[name]
    for old in (b"old", None):
        (tmp_path / "far").mkdir(exist_ok=True)
        target, link = tmp_path / "far" / f"target {old}", tmp_path / f"{old} {file}"
        if old is not None:
            target.write_bytes(old)
        link.symlink_to(target)
        write(link)
        assert link.is_symlink()
        assert target.read_bytes() not in {b"old", b""}
        assert folder_of(tmp_path / "far") >= {target.name}
    assert len(folder_of(tmp_path / "far")) == 2


@every_writer
def test_a_full_disk_leaves_the_old_file(name, tmp_path, monkeypatch):
    file, write = WRITERS[name]
    (tmp_path / file).write_bytes(b"old")

    def full(_descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write(tmp_path / file)
    assert folder_of(tmp_path) == {file}
    assert (tmp_path / file).read_bytes() == b"old"


@every_writer
def test_a_missing_folder_is_said(name, tmp_path):
    file, write = WRITERS[name]
    with pytest.raises(FileNotFoundError, match="no such folder"):
        write(tmp_path / "nowhere" / file)


@every_writer
def test_a_pipe_is_written_as_it_is(name, tmp_path):
    file, write = WRITERS[name]
    write(tmp_path / f"plain_{file}")
    os.mkfifo(tmp_path / file)
    with subprocess.Popen(["cat", tmp_path / file], stdout=subprocess.PIPE) as reader:
        write(tmp_path / file)
        received = reader.communicate()[0]
    assert received == (tmp_path / f"plain_{file}").read_bytes()
    assert stat.S_ISFIFO((tmp_path / file).stat().st_mode)


@every_writer
def test_threads_never_tear_a_file(name, tmp_path):
    """Each reading between the writings sees one whole file, and no other file is left."""
    file, write = WRITERS[name]
    write(tmp_path / file)
    whole, errors = (tmp_path / file).read_bytes(), []

    def write_often():
        try:
            for _ in range(5):
                write(tmp_path / file)
                assert (tmp_path / file).read_bytes() == whole
        except BaseException as error:  # noqa: BLE001  (a thread's own are not seen by pytest)
            errors.append(error)

    threads = [threading.Thread(target=write_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert folder_of(tmp_path) == {file}


def test_a_file_is_synced_before_it_takes_the_place_of_another(tmp_path, monkeypatch):
    path, done = tmp_path / "x.bin", []
    path.write_bytes(b"old")
    monkeypatch.setattr(files.os, "fsync", lambda descriptor: done.append((os.fstat(descriptor), path.read_bytes())))
    write_bytes(path, b"newer")
    (file, before), (folder, after) = done
    assert (file.st_size, before) == (5, b"old")
    assert (folder.st_ino, after) == (tmp_path.stat().st_ino, b"newer")


# --- the middle of writing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", ["rows.csv", "rows.csv.gz"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, ValueError, MemoryError])
def test_an_interruption_in_the_middle_of_rows_leaves_the_old_file(file, kind, tmp_path, monkeypatch):
    (tmp_path / file).write_bytes(b"old")
    cells = writers.CsvColumn.cells

    def interrupted(column, start, stop):
        if start >= 2 * writers.CHUNK:
            raise kind("in the middle")
        return cells(column, start, stop)

    monkeypatch.setattr(writers.CsvColumn, "cells", interrupted)
    with pytest.raises(kind, match="in the middle"):
        ROWS.to_csv(tmp_path / file)
    assert folder_of(tmp_path) == {file}
    assert (tmp_path / file).read_bytes() == b"old"


def test_a_write_that_fails_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    """Every place at which the operating system can say that the disk is full."""
    path = tmp_path / "x.bin"
    for place in range(4):
        path.write_bytes(b"old")
        with contextlib.suppress(OSError), replace_file(path) as stream:
            for number in range(4):
                if number == place:
                    raise OSError(errno.ENOSPC, "No space left on device")
                stream.write(b"n" * 10**6)
        assert folder_of(tmp_path) == {"x.bin"}
        assert path.read_bytes() == b"old"


def test_a_full_tmpfs_leaves_the_old_file(tmp_path):
    """A real file system of 64 KiB."""
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], check=False, capture_output=True
    ).returncode:
        pytest.skip("mounting a file system is not permitted here")
    try:
        path = tmp_path / "rows.csv"
        few = jt.Dataset({"x": ["a", "b"]})
        few.to_csv(path)
        for name, write in (("rows.csv", ROWS.to_csv), ("asia.json", lambda path: write_bytes(path, b"x" * 10**6))):
            with pytest.raises(OSError, match="No space left") as caught:
                write(tmp_path / name)
            assert caught.value.filename == str(tmp_path / name)  # not that of an unfinished file
        (tmp_path / "full").write_bytes(b"x" * 60_000)
        with pytest.raises(OSError, match="No space left") as caught:
            check_writable(tmp_path / "new.csv")
        assert caught.value.filename == str(tmp_path / "new.csv")
        (tmp_path / "full").unlink()
        assert folder_of(tmp_path) == {"rows.csv"}
        assert jt.Dataset(path) == few
    finally:
        subprocess.run(["umount", tmp_path], check=True)


# --- names that others planted ---------------------------------------------------------------------------------------


def test_a_planted_link_is_not_followed_and_stays(tmp_path, monkeypatch):
    """Not even by somebody who guesses the name of the unfinished file."""
    victim, path = tmp_path / "victim", tmp_path / "x.bin"
    victim.write_bytes(b"precious")
    guesses = iter(["guessed", "guessed", "free"])
    monkeypatch.setattr("secrets.token_hex", lambda _size: next(guesses))
    planted = tmp_path / ".x.bin.guessed.unfinished"
    planted.symlink_to(victim)
    write_bytes(path, b"new")
    assert victim.read_bytes() == b"precious"
    assert planted.is_symlink()
    assert path.read_bytes() == b"new"
    assert folder_of(tmp_path) == {"victim", "x.bin", planted.name}


def test_the_unfinished_file_of_a_private_file_is_private(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replace_file(path) as stream:
        stream.write(b"new")
        (unfinished,) = (other for other in tmp_path.iterdir() if other != path)
        assert stat.S_IMODE(unfinished.stat().st_mode) == 0o600


def test_a_read_only_file_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    monkeypatch.setattr(files.os, "access", lambda *_: False)  # root may write anything
    with pytest.raises(PermissionError, match="read-only"):
        write_bytes(path, b"new")
    assert folder_of(tmp_path) == {"x.bin"}


def test_a_long_name_has_room_for_an_unfinished_one(tmp_path):
    for letter in ("x", "é", "😀"):
        name = letter * (250 // len(letter.encode())) + ".csv"
        write_bytes(tmp_path / name, b"new")
        assert (tmp_path / name).read_bytes() == b"new"


def test_an_open_descriptor_is_written_where_it_stands(tmp_path):
    """`/dev/stdout` behind other output does not lose that."""
    with (tmp_path / "out").open("wb", buffering=0) as stream:
        stream.write(b"before\n")
        with replace_text_file(f"/dev/fd/{stream.fileno()}") as text:
            text.write("after\n")
        stream.write(b"end\n")
    assert (tmp_path / "out").read_bytes() == b"before\nafter\nend\n"


def test_packed_files_do_not_depend_on_the_clock(tmp_path):
    for name in ("a.gz", "b.gz"):
        write_bytes(tmp_path / name, b"x" * 1000)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"x" * 1000


def test_no_other_module_opens_a_file_to_write():
    """One writer for everything but the machine code of kernels, which has a format of its own."""
    package = Path(jt.__file__).parent
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if path not in (package / "runtime" / "files.py", package / "kernels" / "machine_code.py"):
            for call in (".write_text(", ".write_bytes(", '"wb"', '"wt"', '"w"', "gzip.open", "os.replace"):
                assert call not in text, (path, call)
