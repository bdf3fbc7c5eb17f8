"""Data files that are broken or meant to do harm: every reader answers with one sentence, in little memory."""

from __future__ import annotations

import gzip
import os
import re
import socket
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import juncture as jt
from juncture.data.files import csv_text, parquet
from juncture.errors import MAX_MESSAGE, FormatError, JunctureError
from juncture.runtime import files
from juncture.runtime.files import MAX_RATIO, MAX_UNPACKED
from support.bounded import MEGABYTE, bounded
from support.csv_files import read_csv
from support.data_readers import READERS, check_reader, parquet_bytes
from support.hostile_files import JUNK, NUMBERS, PIECES

HANG = 60.0  # seconds of processor time, of which no case takes one: a guard, not a measure
PACKAGE = Path(jt.__file__).parent
every_reader = pytest.mark.parametrize("name", READERS)
every_path_reader = pytest.mark.parametrize("name", [name for name in READERS if not READERS[name].is_text])


def refusal(
    name: str, data: bytes, folder: Path, *, seconds: float = HANG, megabytes: float = 300.0
) -> JunctureError | None:
    """What a reader says of a file of these bytes; or nothing, if it can read them and what it read is usable."""
    reader = READERS[name]
    path = folder / f"hostile{reader.suffix}"
    path.write_bytes(data)
    with bounded(seconds, megabytes):
        error = check_reader(reader, path)
    if error is not None:
        message = error.message if isinstance(error, FormatError) else str(error)
        assert 10 < len(message) <= MAX_MESSAGE
        assert "\n" not in message
        if isinstance(error, FormatError) and not reader.is_text:
            assert error.file == str(path)
    return error


# --- small files -----------------------------------------------------------------------------------------------------


@every_reader
def test_every_truncation_is_read_or_refused(name, tmp_path):
    for whole in READERS[name].seeds[:2]:
        for length in range(0, len(whole), max(1, len(whole) // 150)):
            refusal(name, whole[:length], tmp_path)


@every_reader
def test_junk_is_read_or_refused(name, tmp_path):
    for data in JUNK.values():
        refusal(name, data, tmp_path)
    assert isinstance(refusal(name, JUNK["nothing"], tmp_path), FormatError)
    assert isinstance(refusal(name, JUNK["zeros"], tmp_path), JunctureError)


@every_reader
def test_bytes_that_are_not_utf8_are_refused_wherever_they_stand(name, tmp_path):
    """Latin-1, overlong forms, surrogates, code points beyond Unicode; compressed files and Parquet are no text."""
    whole = READERS[name].seeds[0]
    is_plain = READERS[name].suffix not in {".csv.gz", ".parquet"}
    for junk in (b"\xe9", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
        for place in range(0, len(whole), max(1, len(whole) // 40)):
            error = refusal(name, whole[:place] + junk + whole[place:], tmp_path)
            assert error is not None or not is_plain


@every_reader
def test_any_number_anywhere_is_read_or_refused(name, tmp_path):
    whole = READERS[name].seeds[0]
    for found in list(re.finditer(rb"[0-9][0-9.e+-]*", whole))[:4]:
        for number in NUMBERS:
            refusal(name, whole[: found.start()] + number.encode() + whole[found.end() :], tmp_path)


# --- large files, and small files that stand for large things --------------------------------------------------------


@every_reader
def test_a_lot_of_one_thing_is_read_or_refused(name, tmp_path):
    for piece in PIECES:
        refusal(name, piece.encode() * (MEGABYTE // 32 // len(piece.encode())), tmp_path, seconds=HANG / 16)


@every_reader
def test_deep_nesting_is_refused(name, tmp_path):
    for piece in (b"[", b'{"a":', b'{"cuts":', b"(", b'"'):
        assert isinstance(refusal(name, piece * 10**5, tmp_path), JunctureError)


@every_path_reader
def test_what_need_not_end_is_refused(name, tmp_path):
    reader = READERS[name]
    for number, device in enumerate(("/dev/zero", "/dev/urandom", "/dev/full")):
        link = tmp_path / f"link{number}{reader.suffix}"
        link.symlink_to(device)
        with bounded(HANG, 100), pytest.raises(FormatError, match="is a device") as caught:
            reader.read(link)
        assert caught.value.file == str(link)
        link.unlink()


@every_path_reader
def test_folders_sockets_and_missing_files_say_so(name, tmp_path):
    reader = READERS[name]
    folder = tmp_path / f"folder0{reader.suffix}"
    folder.mkdir()
    takes_folders = name.endswith("in blocks")
    error = (jt.errors.InvalidData, "holds no CSV and no Parquet file") if takes_folders else (IsADirectoryError, None)
    with bounded(HANG, 100), pytest.raises(error[0], match=error[1]):
        reader.read(folder)
    if name != "pattern":
        with pytest.raises(FileNotFoundError):
            reader.read(tmp_path / f"missing{reader.suffix}")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / f"socket0{reader.suffix}"))
        with bounded(HANG, 100), pytest.raises((OSError, FormatError)):
            reader.read(tmp_path / f"socket0{reader.suffix}")


@every_path_reader
def test_a_file_of_holes_is_refused_before_it_is_read(name, tmp_path):
    """A terabyte of zeros that takes no room on the disk."""
    path = tmp_path / f"sparse0{READERS[name].suffix}"
    path.touch()
    os.truncate(path, 2**40)
    with bounded(HANG, 400), pytest.raises(FormatError):
        READERS[name].read(path)


@pytest.mark.parametrize("name", ["csv", "csv by arrow", "pattern", "evidence", "result"])
def test_a_pipe_is_read(name, tmp_path):
    reader = READERS[name]
    path = tmp_path / f"pipe0{reader.suffix}"
    os.mkfifo(path)
    expected = tmp_path / f"plain0{reader.suffix}"
    expected.write_bytes(reader.seeds[0])
    with subprocess.Popen(["cp", expected, path]):
        found = READERS["csv" if "csv" in name else name].read(path)
    assert found == reader.read(expected)


# --- compressed files ------------------------------------------------------------------------------------------------

BOMBS = {
    "one cell": (b"", b"a"),
    "one header": (b"", b"abc,"),
    "names of one letter": (b"", b"a,"),
    "empty cells": (b"a,b\n", b","),
    "quotes": (b"a,b\n", b'"'),
    "quoted lines": (b'a,b\n"', b"\n"),
    "zeros": (b"", b"\0"),
    "empty lines": (b"a,b\n", b"\n"),
    "rows": (b"a,b\n", b"1,2\n"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_of_rows_is_refused(kind, tmp_path, monkeypatch):
    """Limits and bomb a 32nd of what they might be: 4 KB that unpack to 4 MB, of which 2 may be read."""
    monkeypatch.setattr(files, "MAX_UNPACKED", MAX_UNPACKED // 32)
    monkeypatch.setattr(csv_text, "MAX_ROW", csv_text.MAX_ROW // 32)
    head, piece = BOMBS[kind]
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(head + piece * (4 * MEGABYTE // len(piece)), 9, mtime=0))
    assert path.stat().st_size < MAX_UNPACKED // 32 // MAX_RATIO
    with bounded(HANG, 100), pytest.raises(FormatError) as caught:
        jt.Dataset(path)
    assert caught.value.file == str(path)


@pytest.mark.parametrize("name", ["evidence", "result"])
def test_a_bomb_of_numbers_is_refused(name, tmp_path):
    path = tmp_path / f"bomb{READERS[name].suffix}.gz"
    path.write_bytes(gzip.compress(b"1 " * (MAX_UNPACKED // 2 + 1), mtime=0))
    with bounded(HANG, 400), pytest.raises(FormatError, match="decompresses to more than"):
        READERS[name].read(path)


def test_a_small_file_that_packs_well_is_read(tmp_path):
    """Ten thousand equal rows, 400 times smaller when packed: below 64 MiB the ratio does not matter."""
    path = tmp_path / "rows.csv.gz"
    rows = b"a,b,c,d,e,f\n" + b"1,2,3,4,5,6\n" * 10_000
    path.write_bytes(gzip.compress(rows, mtime=0))
    assert len(rows) > MAX_RATIO * path.stat().st_size
    assert len(jt.Dataset(path)) == 10_000


@every_reader
def test_every_damage_to_a_packed_file_is_refused(name, tmp_path):
    if READERS[name].is_text or READERS[name].suffix in {".parquet", ".csv.gz"}:
        return
    path = tmp_path / f"packed0{READERS[name].suffix}.gz"
    whole = gzip.compress(READERS[name].seeds[0], mtime=0)
    for data in [whole[: len(whole) // 2], whole[:-1], whole + b"more", b"", READERS[name].seeds[0]]:
        path.write_bytes(data)
        with pytest.raises(FormatError):
            READERS[name].read(path)


# --- tables ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["csv", "csv by arrow", "parquet"])
def test_a_repeated_name_among_very_many_is_found(name, tmp_path):
    """Two hundred thousand names, whose pairs nobody can look at one by one."""
    names = [f"x{place}" for place in range(200_000)]
    names[-1] = "x100000"
    data = (",".join(names) + "\n").encode()
    if name == "parquet":
        names = [*names[:2000], "x1"]
        data = parquet_bytes(pa.Table.from_arrays([pa.array([1])] * len(names), names=names))
    error = refusal(name, data, tmp_path, megabytes=500)
    assert isinstance(error, FormatError)
    assert "twice" in error.message or "two columns named" in error.message


def test_a_table_has_so_many_columns(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_text, "MAX_COLUMNS", 100)
    header = ",".join(f"x{place}" for place in range(101))
    assert "101 columns; a table has at most 100" in str(refusal("csv", header.encode(), tmp_path))
    data = parquet_bytes(pa.table({name: [1] for name in header.split(",")}))
    assert "101 columns; a table has at most 100" in str(refusal("parquet", data, tmp_path))


def test_a_row_has_so_many_characters(tmp_path, monkeypatch):
    """Of one line or of many; the rows of a file together may have any number."""
    monkeypatch.setattr(csv_text, "MAX_ROW", 1000)
    assert refusal("csv", b"a,b\n" + b"1,2\n" * 1000, tmp_path) is None
    cell = b'"x\n' + b"y" * 400 + b'"'
    for row in (b"z" * 500 + b"," + b"z" * 500, b",".join([cell] * 3), b'"' + b"\n" * 2000 + b'",1'):
        for before in (b"", b"a,b\n", b"a,b\n1,2\n"):
            assert "a row has 1,000 characters or more" in str(refusal("csv", before + row, tmp_path))


def test_rows_that_do_not_fit_in_memory_are_refused_with_the_line(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_text, "default_memory_limit", lambda: 10**6)
    rows = "a,b\n" + "".join(f"{number},{number % 2}\n" for number in range(20_000))
    error = refusal("csv", rows.encode(), tmp_path)
    assert isinstance(error, FormatError)
    assert "memory" in error.message
    assert 4000 < error.line < 9000
    few = "a,b\n" + "".join(f"{number % 9},{number % 2}\n" for number in range(20_000))
    assert refusal("csv", few.encode(), tmp_path) is None


def test_wide_tables_are_read_in_few_rows_at_a_time(monkeypatch, tmp_path):
    monkeypatch.setattr(csv_text, "CHUNK_CELLS", 7)
    for width in (1, 2, 5, 20):
        table = {f"x{column}": [str(row * column % 3) for row in range(11)] for column in range(width)}
        path = tmp_path / f"{width}.csv"
        jt.Dataset(table).to_csv(path)
        assert jt.Dataset(path).to_dict() == {name: [int(cell) for cell in cells] for name, cells in table.items()}


def test_columns_of_many_texts_keep_their_codes(tmp_path):
    """Codes widen as texts are found: 8, 16 and 32 bits, also with holes."""
    for count in (126, 127, 128, 32_767):
        texts = [f"t{place}" for place in range(count)]
        path = tmp_path / "rows.csv"
        path.write_text('x,"y"\n' + "".join(f"{text},\n" for text in texts) + ",1\n" + f"{texts[0]},1\n")
        found = read_csv(path, [jt.Variable("x", texts), jt.Variable("y", [1])])
        assert found.columns["x"].tolist() == [*range(count), -1, 0]


def test_parquet_files_that_declare_too_many_rows_are_refused(tmp_path, monkeypatch):
    data = parquet_bytes(pa.table({"x": np.zeros(10_000)}))
    monkeypatch.setattr(parquet, "default_memory_limit", lambda: 1000)
    assert "declares 10,000 rows" in str(refusal("parquet", data, tmp_path))


def test_parquet_columns_that_unpack_to_more_than_memory_are_refused(tmp_path, monkeypatch):
    data = parquet_bytes(pa.table({"x": ["y" * 10**6] * 100}), use_dictionary=False, compression="zstd")
    assert len(data) < MEGABYTE
    monkeypatch.setattr(parquet, "default_memory_limit", lambda: 10**7)
    assert "decompresses to more than" in str(refusal("parquet", data, tmp_path))


# --- the list of readers ---------------------------------------------------------------------------------------------


def test_every_module_that_reads_is_in_the_list():
    """Whoever reads files or JSON text goes through `juncture.runtime.files`, and is a member here or a format."""
    known = {reader.module for reader in READERS.values()} | {
        "formats.files",
        "base.documents.node",
        "cli.reading.arguments",
    }
    found = set()
    for path in PACKAGE.rglob("*.py"):
        text = "\n".join(
            line
            for line in path.read_text(encoding="utf-8").split("\n")
            if not line.lstrip(" ").startswith((">>>", "..."))
        )  # no examples
        module = str(path.relative_to(PACKAGE).with_suffix("")).replace(os.sep, ".")
        if module.startswith(("runtime.files", "base.documents.json_text")):
            continue
        if re.search(r"\b(open_file|open_decompressed|read_bytes|read_at_most|parse_strictly|parse_text)\(", text):
            found.add(module)
        own = re.search(r"json\.loads?\(|\bopen\(|\.open\(|gzip\.|\.read_text\(|\bpickle\b.*load|np\.load\(", text)
        others = {
            "runtime.control_groups",
            "runtime.memory",
            "runtime.parallel",
            "runtime.workers",  # what the process that gave the work has pickled
            "data.sources.spark",  # and what its workers have pickled
            "kernels.machine_code",
            "cli.commands",
            "cli.reading.completion",
        }
        assert own is None or module in others, (module, own)
    assert found - known - {"kernels.machine_code", "formats.bundled", "cli.reading.completion"} == set()
    assert known <= found
