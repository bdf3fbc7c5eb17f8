"""Output of the commands: tables for people, JSON for programs."""

from __future__ import annotations

import codecs
import io
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from juncture.errors import CONTROLS, FormatError, InvalidData, escape_controls
from juncture.runtime.files import check_writable

if TYPE_CHECKING:
    from juncture.data.dataset import Dataset
    from juncture.families.family import Family
    from juncture.variables import Model

BAR_CELLS = 20
EIGHTHS = ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")
MARKS = {**dict.fromkeys(("█", *EIGHTHS[1:]), "#"), "…": "...", "–": "-", "±": "+/-"}
ROWS = (".csv", ".tsv", ".txt", ".parquet", ".pq")
CONTROLS_OF_DATA = re.compile(f"(?![\n\t]){CONTROLS.pattern}")
ESCAPED_IN_JSON = re.compile(f"{CONTROLS_OF_DATA.pattern}|[\ud800-\udfff]")


class WrongUsage(InvalidData):
    """An argument that is not written as the command asks; the command exits with 2."""


def print_note(text: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"juncture: {escape_controls(text)}\n")


class DataStream(io.StringIO):
    """Standard output for data: UTF-8 whatever the locale, as in files, so that no letter is lost or replaced.

    Only a terminal gets no control characters.
    """

    def __init__(self) -> None:
        super().__init__()
        sys.stdout.flush()  # what was printed before comes before
        self.target: BinaryIO | None = getattr(sys.stdout, "buffer", None)  # a stream of a notebook has none
        self.is_terminal = sys.stdout.isatty()

    def write(self, text: str) -> int:
        shown = CONTROLS_OF_DATA.sub(lambda found: repr(found[0])[1:-1], text) if self.is_terminal else text
        if self.target is None:
            return sys.stdout.write(shown)
        return self.target.write(shown.encode("utf-8", "backslashreplace"))


def replace_for_the_eye(error: UnicodeError) -> tuple[str, int]:
    r"""Letters that a terminal's encoding lacks are shown as `\xe9`, so that different ones differ; bars as ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    shown = (MARKS.get(letter) or letter.encode("ascii", "backslashreplace").decode() for letter in letters)
    return "".join(shown), error.end


codecs.register_error(FOR_THE_EYE := "juncture.for-the-eye", replace_for_the_eye)


def as_shown(text: str) -> str:
    """The text as standard output can show it, so that columns of a table have their widths."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return escape_controls(text).encode(encoding, FOR_THE_EYE).decode(encoding)


def console(stream: TextIO | None = None) -> Any:
    """Standard output, or another stream; no colour and no cut lines when piped."""
    from rich.console import Console

    class Printer(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            if len(objects) == 1 and hasattr(objects[0], "fitted_to"):  # a table, in parts that have room
                for part in objects[0].fitted_to(self.width):
                    self.print(part)
                return
            shown = [escape_controls(item) if isinstance(item, str) else item for item in objects]
            if file.isatty():
                super().print(*shown, **options)
                return
            with self.capture() as captured:
                super().print(*shown, **options)
            file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would exit with 1

    file = stream or sys.stdout
    width = None if file.isatty() else 10_000
    return Printer(file=file, width=width, highlight=False, markup=False, emoji=False)


def bar(probability: float) -> str:
    """A bar of eighths of a cell."""
    eighths = round(probability * BAR_CELLS * 8)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8]


def format_evidence(findings: dict[str, Any]) -> str:
    """`given xray=yes, smoke=no`, or nothing."""
    return f" given {', '.join(f'{name}={value}' for name, value in findings.items())}" if findings else ""


def print_json(document: Any) -> None:
    write_json_text(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_json_text(text: str) -> None:
    r"""JSON on standard output, in UTF-8; control characters and lone surrogates in texts are written as `\u009b`."""
    DataStream().write(ESCAPED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def save(model: Model | Family, target: str) -> None:
    """Write a model to a file, or as JSON to standard output."""
    if target != "-":
        from juncture.formats.files import write

        write(model, target)
        return
    from juncture.formats.json import write_json

    write_json_text(write_json(model))


def save_rows(rows: Dataset, target: str) -> None:
    """Write rows as CSV or, by the suffix, as Parquet; `-` is CSV on standard output."""
    from juncture.data.files.table_files import is_parquet

    if target == "-":
        rows.to_csv(DataStream())
    elif is_parquet(target):
        rows.to_parquet(target)
    else:
        rows.to_csv(target)


def is_table(name: str) -> bool:
    """Whether a name is that of a file of rows."""
    return name.lower().removesuffix(".gz").endswith(ROWS)


def check_target(target: str, suffixes: tuple[str, ...] = ()) -> None:
    """Check, before the work begins, that a file can be written; without `suffixes`, the file holds a model."""
    if target != "-":
        check_suffix(target, suffixes)
        try_target(target)


def try_target(target: str) -> None:
    """Find out, before the work begins, that the file is a folder, its place read-only, or the disk full."""
    from juncture.base.checks import check_path

    check_path(target)
    folder = Path(target).parent
    if not folder.is_dir():
        raise FormatError(f"there is no folder {str(folder)!r} to write to", file=target)
    check_writable(target)


def check_suffix(target: str, suffixes: tuple[str, ...]) -> None:
    from juncture.base.checks import check_path  # here, so that the shell completes names without NumPy

    check_path(target)
    if not suffixes:
        from juncture.formats.files import format_of

        format_of(Path(target))
    elif not target.lower().removesuffix(".gz").endswith(suffixes):
        raise FormatError(
            "rows are written as CSV or Parquet; give --out a name that ends in .csv, .csv.gz, .tsv or .parquet",
            file=target,
        )
