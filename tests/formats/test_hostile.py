"""Files that are broken or meant to do harm: each format answers with one clear sentence, soon, in little memory."""

from __future__ import annotations

import gzip
import warnings

import pytest

import juncture as jt
from juncture.errors import MAX_MESSAGE, FormatError
from juncture.formats.files import FORMATS
from juncture.runtime import files
from juncture.runtime.files import MAX_RATIO, MAX_UNPACKED
from support.bounded import MEGABYTE, bounded
from support.hostile_files import BROKEN, HUGE, JUNK, NUMBERS, PIECES, SMALL
from support.loops import loop_over

HANG = 30.0  # seconds of processor time, of which no case takes one: a guard, not a measure
LOT = MEGABYTE // 32  # of one thing: read in milliseconds; steps as many as its square take longer than HANG / 16
every_format = pytest.mark.parametrize("file_format", FORMATS, ids=lambda file_format: file_format.name)


def text_of(file_format):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # UAI has no names
        return file_format.writer()(SMALL)


def refusal(data, file_format, folder, *, seconds=HANG, megabytes=100.0):
    """The error with which a file of these bytes is refused."""
    path = folder / f"hostile{file_format.suffixes[0]}"
    path.write_bytes(data)
    with bounded(seconds, megabytes), pytest.raises(FormatError) as caught:
        jt.read(path)
    error = caught.value
    assert error.file == str(path)
    assert error.line is not None, error
    assert str(error) == f"{path}:{error.line}: {error.message}"
    assert 1 <= error.line <= data.count(b"\n") + 1
    assert 10 < len(error.message) <= MAX_MESSAGE
    assert "\n" not in error.message
    return error


# --- small files -----------------------------------------------------------------------------------------------------


@every_format
def test_every_truncation_is_refused(file_format, tmp_path):
    whole = text_of(file_format).rstrip(" \n;").encode()
    in_last_number = len(whole.split()[-1]) - 1 if file_format.name == "fg" else 0  # 0.37 is a value, as 0.375 is
    for length in range(len(whole) - in_last_number):
        refusal(whole[:length], file_format, tmp_path)


@every_format
@loop_over("kind", {"each": JUNK})
def test_junk_is_refused(file_format, kind, tmp_path):
    refusal(JUNK[kind], file_format, tmp_path)


@every_format
@loop_over("encoding", {"each": ["utf-16", "utf-16-le", "utf-16-be", "utf-32"]})
def test_wide_encodings_are_refused_or_understood(file_format, encoding, tmp_path):
    """XML says its encoding itself; in the other formats nobody may guess."""
    text = text_of(file_format)
    path = tmp_path / f"wide{file_format.suffixes[0]}"
    path.write_bytes(text.replace("UTF-8", "UTF-16").encode(encoding))
    if text.startswith("<?xml") and encoding.startswith("utf-16"):
        assert jt.read(path) == SMALL
    else:
        refusal(path.read_bytes(), file_format, tmp_path)


@every_format
@loop_over("junk", {"each": [b"\xe9", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\0"]})
def test_bytes_that_are_not_utf8_are_refused_wherever_they_stand(file_format, junk, tmp_path):
    """Latin-1, overlong forms, surrogates, code points beyond Unicode, NUL."""
    whole = text_of(file_format).rstrip().encode()
    for place in range(0, len(whole), 7):
        refusal(whole[:place] + junk + whole[place:], file_format, tmp_path)


@every_format
@loop_over("number", {"each": NUMBERS})
def test_what_is_not_a_probability_is_refused(file_format, number, tmp_path):
    text = text_of(file_format)
    line = text.count("\n", 0, text.index("0.375")) + 1
    error = refusal(text.replace("0.375", number).encode(), file_format, tmp_path)

    assert line - 4 <= error.line <= line + 4  # the row, or the table or block that it belongs to


@every_format
@loop_over("kind", {"each": BROKEN["bif"]})
def test_broken_structure_is_refused(file_format, kind, tmp_path):
    old, new = BROKEN[file_format.name][kind]
    text = text_of(file_format)
    assert text.count(old) == 1
    refusal(text.replace(old, new).encode(), file_format, tmp_path)


# --- small files that stand for large things -------------------------------------------------------------------------


@every_format
def test_a_header_that_declares_a_trillion_cells_is_refused_before_they_are_made(file_format, tmp_path):
    for text in HUGE[file_format.name]:
        refusal(text.encode(), file_format, tmp_path, megabytes=50)


# --- large files -----------------------------------------------------------------------------------------------------


def large_files(text):
    """One piece over and over: alone, and at the places of the small file where names, numbers and structure stand."""
    marks = ["alpha", "0.375", "yes" if "yes" in text else "2 2", text.strip()[-1]]
    yield "", ""
    for mark in marks:
        before, _, after = text.rpartition(mark)
        yield before, after


def error_of(path):
    """The refusal, or nothing: a long name, comment or space is no mistake."""
    try:
        jt.read(path)
    except FormatError as error:
        return error
    return None


@every_format
@loop_over("piece", {"each": PIECES})
def test_a_lot_of_one_thing_is_read_or_refused_soon(file_format, piece, tmp_path):
    path = tmp_path / f"large{file_format.suffixes[0]}"
    for before, after in large_files(text_of(file_format)):
        path.write_text(before + piece * (LOT // len(piece)) + after, encoding="utf-8")
        with bounded(HANG / 16, 62):
            error = error_of(path)
        assert error is None or (error.line is not None and len(error.message) <= MAX_MESSAGE)


@every_format
@pytest.mark.parametrize("piece", ["a", "0.5 ", "["])
@pytest.mark.parametrize("size", [1, pytest.param(100, marks=pytest.mark.fuzz)])
def test_a_very_long_line_is_refused_soon(file_format, piece, size, tmp_path):
    """In memory that grows with the file: 30 bytes a byte, and some to begin with."""
    before, _, after = text_of(file_format).partition("0.375")
    data = before + piece * (size * MEGABYTE // len(piece)) + after
    refusal(data.encode(), file_format, tmp_path, seconds=HANG + size, megabytes=12 + 30 * size)


# --- compressed files ------------------------------------------------------------------------------------------------


def packed_refusal(data, folder, suffix):
    path = folder / f"packed{suffix}.gz"
    path.write_bytes(data)
    with bounded(HANG, 400), pytest.raises(FormatError) as caught:
        jt.read(path)
    assert caught.value.file == str(path)
    return caught.value


@pytest.fixture(scope="module")
def packed_blanks() -> bytes:
    return gzip.compress(b" " * (MAX_UNPACKED // 32 + 1), mtime=0)


@every_format
def test_a_gzip_bomb_is_refused(file_format, packed_blanks, tmp_path, monkeypatch):
    """Of two members, as `gzip` makes it of two files; limit and bomb a 32nd of what they might be."""
    monkeypatch.setattr(files, "MAX_UNPACKED", MAX_UNPACKED // 32)
    bomb = gzip.compress(text_of(file_format).encode(), mtime=0) + packed_blanks
    assert len(bomb) * MAX_RATIO < MAX_UNPACKED // 32
    assert "more than" in str(packed_refusal(bomb, tmp_path, file_format.suffixes[0]))


@every_format
def test_a_broken_gzip_file_is_refused_wherever_it_breaks(file_format, tmp_path):
    whole = gzip.compress(text_of(file_format).encode(), mtime=0)
    for length in range(1, len(whole)):
        packed_refusal(whole[:length], tmp_path, file_format.suffixes[0])
    for place in [0, 1, 2, *range(10, len(whole))]:  # all but flags and times in the header
        changed = bytes([*whole[:place], whole[place] ^ 0xFF, *whole[place + 1 :]])
        packed_refusal(changed, tmp_path, file_format.suffixes[0])
    packed_refusal(whole + b"more", tmp_path, file_format.suffixes[0])
    packed_refusal(b"", tmp_path, file_format.suffixes[0])
    packed_refusal(text_of(file_format).encode(), tmp_path, file_format.suffixes[0])
