"""What a column looks like: text that says numbers or dates, whole numbers of any type, identifiers of rows.

**Text** may look like something else: numbers with a marker of missing cells, decimal commas, dates; or like states
that look alike, as é and e with an accent do. Nothing is decided here: a finding says what a column looks like, and
which option reads it so.

**Whole numbers** are whole whatever type holds them: integers, the floats of pandas and of encoders, the cells of a
file. A column of integers has them as states. Where numbers are to be cut into intervals, `are_states` is the one
rule: whole numbers of at most as many different values as there may be intervals are states as they are, all others
are cut.

**Identifiers** have another value in nearly every row, from which nothing can be learned.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from juncture.base.intervals import as_number, is_number_text
from juncture.base.values import few
from juncture.data.tables.columns import HOLE, HOLE_TEXTS, Column, DescribeRow, Levels, NumericColumn
from juncture.errors import IdentifierWarning, InvalidData, TextColumnWarning, warn_user

if TYPE_CHECKING:
    from juncture.data.dataset import Dataset

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


LARGEST = 2.0**53  # up to which doubles hold every whole number
FEW = 1000  # rows up to which Python is as quick as an array


def is_whole(values: np.ndarray) -> bool:
    """Whether there are numbers, one a row, and all of them are whole; NaN is a missing value."""
    known = values[~np.isnan(values)]
    return values.ndim == 1 and bool(known.size) and bool(((known == np.floor(known)) & (abs(known) <= LARGEST)).all())


def are_states(values: np.ndarray, most: int) -> bool:
    """Whether a column of numbers (NaN for a missing value) is one of states: whole, and of at most so many values."""
    return is_whole(values) and len(np.unique(values[~np.isnan(values)])) <= most


def integers_in_floats(values: np.ndarray) -> Levels | None:
    """The integers that pandas holds as floats because some are missing; None where some number is not whole."""
    if not np.isnan(values).any() or not is_whole(values):
        return None
    if np.signbit(values[values == 0]).any():  # which no integer is
        return None
    if len(values) <= FEW:
        labels = sorted(set(values[~np.isnan(values)].tolist()))
        positions = {label: position for position, label in enumerate(labels)}
        return Levels(np.array([positions.get(value, HOLE) for value in values.tolist()], np.int32), map(int, labels))
    levels = NumericColumn(values).levels
    return Levels(levels.codes, [int(as_number(label)) for label in levels.labels])


def as_integers(column: Column, name: str, describe: DescribeRow) -> Levels:
    """The column with integers for numbers of any type, all of which must be whole."""
    levels = column.levels
    return Levels(levels.codes, [as_integer(levels, code, name, describe) for code in range(len(levels.labels))])


def as_integer(levels: Levels, code: int, name: str, describe: DescribeRow) -> int:
    label = levels.labels[code]
    try:
        number = as_number(label)
    except (TypeError, ValueError, OverflowError):
        number = np.inf
    if not (number == np.floor(number) and abs(number) <= LARGEST):
        where = describe(int(np.argmax(levels.codes == code)))
        raise InvalidData(f"column {name!r} held whole numbers only when its states were found; {where} has {label!r}")
    return int(number)


FEW_ROWS, NEARLY_ALL = 20, 0.9  # a column of more rows, with more different values than this share, is an identifier


class Identifier(NamedTuple):
    """A column that looks like an identifier: how many different values it has, in how many rows."""

    name: str
    num_values: int
    num_rows: int

    def describe(self) -> str:
        found = f"the column {self.name!r} has {self.num_values:,} different values in {self.num_rows:,} rows"
        return f"{found}, as an identifier has, and nothing can be learned from it"


def find_identifiers(data: Dataset) -> Iterator[Identifier]:
    for variable in data.variables:
        if variable.is_real or variable.num_states <= NEARLY_ALL * FEW_ROWS:
            continue
        known = data.columns[variable.name] >= 0
        num_rows = int(known.sum() if data.weights is None else max(known.sum(), data.weights[known].sum()))
        if num_rows > FEW_ROWS and variable.num_states > NEARLY_ALL * num_rows:
            num_values = len(np.unique(data.columns[variable.name][known]))
            is_told = variable.name in data.states_from_data and find_look(variable.labels) is not None
            if num_values > NEARLY_ALL * num_rows and not is_told:  # a look at the texts said something more exact
                yield Identifier(variable.name, num_values, num_rows)


def is_measured(data: Dataset, name: str) -> bool:
    """Whether a column of different whole numbers has gaps between them, so that they may be measurements."""
    variable = data.variable(name)
    if variable.is_real or any(isinstance(label, str | bool) for label in variable.labels):
        return variable.is_real
    numbers = np.array(variable.labels, float)
    return bool(np.ptp(numbers) + 1 > len(numbers))


def holds_dates(data: Dataset, name: str) -> bool:
    """Whether the texts of a column are dates."""
    variable = data.variable(name)
    look = None if variable.is_real else find_look(variable.labels)
    return look is not None and look.kind == "date"


def warn_identifiers(data: Dataset, declared: Container[str]) -> None:
    """One warning that names them; columns whose states are declared are meant as they are."""
    found = [identifier for identifier in find_identifiers(data) if identifier.name not in declared]
    if found:
        more = f" ({len(found) - 1} other columns look like identifiers too)" if len(found) > 1 else ""
        advice = f"leave it out, as rows.drop(columns=[{found[0].name!r}]) of pandas does, or declare its states"
        message = f"{found[0].describe()}{more}: {advice} in variables=[…]"
        warn_user(message, IdentifierWarning, about=[identifier.name for identifier in found])
