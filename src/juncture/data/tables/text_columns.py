"""Columns of text that look like something else: numbers with a marker of missing cells, decimal commas, dates.

Or whose states look alike, as é and e with an accent do.

Nothing is decided here: a finding says what a column looks like, and which option reads it so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from juncture.base.intervals import as_number, is_number_text
from juncture.base.values import few
from juncture.data.tables.columns import HOLE_TEXTS, Column, Levels, NumericColumn
from juncture.errors import TextColumnWarning, warn_user

Kind: TypeAlias = Literal["number", "state", "decimal", "date", "form"]

MARKERS = frozenset(
    {"NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "NULL", "Null", "null", "?"}
)  # no one means a state by them, as one may by "none", "missing" and "-"
MANY = 12  # different values: no one means so many numbers or dates as states
COMMA = re.compile(r"[+-]?\d+(,\d+)?(e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+|\d+")
DAY = r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2}))"
TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?"
DATE = re.compile(f"{DAY}([T ]{TIME})?")


class Look(NamedTuple):
    """What a column of text looks like, and a text of it: the marker, or one of the numbers or dates."""

    kind: Kind
    text: str


class Finding(NamedTuple):
    """The columns that look alike."""

    look: Look
    names: tuple[str, ...]

    def describe(self) -> str:
        is_one = len(self.names) == 1
        names = f"the column{'' if is_one else 's'} {few(map(repr, self.names))}"
        verb, text = ("holds" if is_one else "hold"), repr(self.look.text)
        if self.look.kind == "number":
            return f"{names} {verb} numbers and the text {text}, so that each different cell is a state"
        if self.look.kind == "state":
            return f"{names} {'has' if is_one else 'have'} the state {text}, by which files mark a missing value"
        if self.look.kind == "form":
            return f"{names} {'has' if is_one else 'have'} states that differ only in Unicode form, {self.look.text}"
        what = "numbers with a decimal comma" if self.look.kind == "decimal" else "dates"
        return f"{names} {verb} {what}, such as {text}, so that each different cell is a state"

    def advise(self) -> str:
        """What a program does about it."""
        name = self.names[0]
        if self.look.kind == "date":
            return (
                f"leave it out, as rows.drop(columns=[{name!r}]) of pandas does, or make a number of it, such as the"
                " year or the days since a date"
            )
        if self.look.kind == "form":
            return f"make them one in all rows, as rows[{name!r}].str.normalize('NFC') of pandas does"
        option = 'decimal=","' if self.look.kind == "decimal" else f"missing={self.look.text!r}".replace("'", '"')
        reads = "reads them as numbers" if self.look.kind == "decimal" else "reads it as a missing value"
        frames = (
            f" (a column of a frame also needs pd.to_numeric(rows[{name!r}], errors='coerce'), or its like)"
            if self.look.kind == "number"
            else ""
        )
        return f"jt.Dataset(…, {option}) {reads}{frames}"


def find_look(labels: Sequence[object], *, is_of_file: bool = False) -> Look | None:
    """What the different texts of a column look like; None for plain text, and for what is no text.

    Only in a file does a state such as NA look like a missing value: frames have values of their own for these.
    """
    if len(labels) < 2 or not all(isinstance(label, str) for label in labels):
        return None
    texts = list(map(str, labels))
    if len(texts) > MANY and all(DATE.fullmatch(text) or is_hole_text(text) for text in texts):
        return Look("date", next(text for text in texts if DATE.fullmatch(text)))
    if has_decimal_commas(texts):
        return Look("decimal", next(text for text in texts if "," in text))
    others = list(islice((text for text in texts if not is_number_text(text)), 2))
    if len(others) == 1 and len(texts) > 2 and is_marker(others[0], len(texts)):
        return Look("number", others[0])
    marker = next((text for text in texts if text in MARKERS), None) if is_of_file else None
    return find_forms(texts) if marker is None else Look("state", marker)


def find_forms(texts: Sequence[str]) -> Look | None:
    """Texts that differ only in their Unicode form, if there are some."""
    found: dict[str, str] = {}
    for text in texts:
        if not text.isascii():
            other_form = found.setdefault(unicodedata.normalize("NFC", text), text)
            if other_form != text:
                return Look("form", f"{other_form!a} and {text!a}")
    return None


def is_marker(text: str, num_texts: int) -> bool:
    """Whether the one text among numbers marks missing cells: among many, any text without digits does."""
    return is_hole_text(text) or (num_texts > MANY and not any(map(str.isdigit, text)))


def is_hole_text(text: str) -> bool:
    return text.strip().lower() in HOLE_TEXTS


def has_decimal_commas(texts: Sequence[str]) -> bool:
    """Whether the texts are numbers, some with a comma before their decimals; commas may not all part thousands."""
    if not all(COMMA.fullmatch(text) or is_hole_text(text) for text in texts):
        return False
    numbers = [text for text in texts if COMMA.fullmatch(text)]
    return any("," in text for text in numbers) and not all(THOUSANDS.fullmatch(text) for text in numbers)


def read_decimal_commas(column: Column) -> Column:
    """The column with numbers for texts such as "12,5", where all of its texts are such."""
    if isinstance(column, NumericColumn):
        return column
    levels = column.levels
    texts = [label for label in levels.labels if isinstance(label, str)]
    if len(texts) < len(levels.labels) or not all(COMMA.fullmatch(text) or is_hole_text(text) for text in texts):
        return column
    if not any("," in text for text in texts):
        return column
    dotted = [text.replace(",", ".") for text in texts]
    if levels.is_of_file:
        return type(levels)(levels.codes, dotted)
    return Levels(levels.codes, [as_number(text) if is_number_text(text) else text for text in dotted])


def group_looks(looks: Iterable[tuple[str, Look | None]]) -> Iterator[Finding]:
    """The columns by what they look like; those with the same marker, and all with dates, are named together."""
    found: dict[tuple[Kind, str], tuple[Look, list[str]]] = {}
    for name, look in looks:
        if look is not None:
            marker = look.text if look.kind in {"number", "state"} else ""
            found.setdefault((look.kind, marker), (look, []))[1].append(name)
    for look, names in found.values():
        yield Finding(look, tuple(names))


def warn_text_columns(looks: Iterable[tuple[str, Look | None]]) -> None:
    for finding in group_looks(looks):
        message = f"{finding.describe()}: {finding.advise()}; variables=[…] declares states"
        warn_user(message, TextColumnWarning, about=[finding.describe()])
