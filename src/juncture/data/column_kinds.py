"""Which kind a column has: every rule that decides it, as a pure function of the column's `Summary`.

Readers and programs see columns of text, integers, floats and truth values, and ask here whether the values are states,
numbers, classes, identifiers or dates; they decide nothing themselves. There are several rules, as several questions
are asked:

=========================  ============================================================  =============================
Rule                       Question                                                      Who asks
=========================  ============================================================  =============================
`text_kind`                Do the texts of a file say integers, numbers or truth values?  readers of files
`is_real`                  Are the values real numbers, or states?                        readers, surveys of sources
`holds_integers`           Are floats with holes integers that a library cast?            frames of pandas
`may_be_cut`               Are there numbers to cut into intervals?                       `Discretizer`
`are_states`               Are whole numbers so few that they are states as they are?     `Discretizer`
`are_whole`                Are floats whole numbers?                                      estimators of networks
`is_quantity`              Are the values numbers that measure, not truth values?         mixtures, trees
`family_of`                Which family generates the values?                             naive Bayes
`holds_numbers`            Are the values numbers or truth values?                        `juncture compare`
`are_classes`              Are the values of a target classes, or numbers?                `juncture compare`
`is_measured`              Have different whole numbers gaps, as measurements have?       `juncture cluster`, `compare`
`are_many_numbers`         Are states so many whole numbers that they may be real?        `juncture learn`
`identify`                 Is there another value in nearly every row?                    `fit`, searches, commands
`find_look`, `holds_dates` Does text look like numbers, dates, or missing values?         `Dataset`, commands
`name_kind`                What are the values called?                                    `juncture info`
=========================  ============================================================  =============================

A finding says what a column looks like, and which option reads it so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from juncture.base.intervals import is_number_text
from juncture.base.values import few
from juncture.errors import IdentifierWarning, TextColumnWarning, warn_user

if TYPE_CHECKING:
    from juncture.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Summary:
    """What the rules know of a column; a fact that takes a look at all rows is found when a rule asks for it."""

    labels: Sequence[object] | None  # the different values, or the texts of a file; None where cells are floats
    values: np.ndarray = field(default_factory=partial(np.empty, 0))  # a row: floats, or codes of labels (hole -1)
    weights: np.ndarray | None = None
    is_declared: bool = False  # whether someone said which states there are
    is_of_file: bool = False  # whether the labels are texts of a file

    @classmethod
    def of(cls, data: Dataset, name: str) -> Summary:
        """A column of a dataset."""
        return summarize(data.only([name]))[name]

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The types of the different values."""
        return frozenset({float} if self.labels is None else map(type, self.labels))

    def has_only(self, *kinds: type) -> bool:
        return all(issubclass(kind, kinds) for kind in self.kinds)

    @property
    def num_labels(self) -> int:
        return 0 if self.labels is None else len(self.labels)

    @cached_property
    def is_known(self) -> np.ndarray:
        """The rows that have a value."""
        return ~np.isnan(self.values) if self.labels is None else self.values >= 0

    @cached_property
    def known(self) -> np.ndarray:
        """The values without the holes."""
        return self.values[self.is_known]

    @property
    def has_holes(self) -> bool:
        return not bool(self.is_known.all())

    @cached_property
    def num_rows(self) -> int:
        """How many rows have a value; weights may count for more rows than there are."""
        number = self.is_known.sum()
        return int(number if self.weights is None else max(number, self.weights[self.is_known].sum()))

    @cached_property
    def num_different(self) -> int:
        """How many different values the rows have."""
        return len(np.unique(self.known))

    @cached_property
    def is_whole(self) -> bool:
        """Whether no value of a row has a fraction."""
        return self.labels is not None or bool((self.known == np.floor(self.known)).all())


def summarize(data: Dataset, *, is_of_file: bool = False) -> dict[str, Summary]:
    """The columns of a dataset, by name."""
    inferred = set(data.states_from_data)
    return {
        variable.name: Summary(
            None if variable.is_real else variable.labels,
            values,
            data.weights,
            is_declared=variable.name not in inferred,
            is_of_file=is_of_file,
        )
        for variable, values in zip(data.variables, data.arrays, strict=True)
    }


# -- numbers or states: what readers ask
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,999}")
REAL = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|-?inf|nan", re.IGNORECASE)
TRUTH = {"True": True, "False": False}
TextKind: TypeAlias = Literal["integers", "numbers", "truths", "texts"]


def text_kind(texts: Sequence[str]) -> TextKind:
    """What all texts of a column say; "007" is text, for 7 is not what it says."""
    if all(INTEGER.fullmatch(text) for text in texts):
        return "integers"
    if all(REAL.fullmatch(text) for text in texts):
        return "numbers"
    return "truths" if all(text in TRUTH for text in texts) else "texts"


def is_real(summary: Summary) -> bool:
    """Whether the values are real numbers: floats, or labels that are numbers and some of them floats."""
    if summary.labels is None:
        return True
    if summary.is_of_file:
        return text_kind([str(label) for label in summary.labels]) == "numbers"
    return float in summary.kinds and summary.kinds <= {float, int}


def says_number(label: object, *, is_of_file: bool) -> bool:
    """Whether one label is a number, or the text of one."""
    return bool(REAL.fullmatch(str(label))) if is_of_file else type(label) in {int, float}


LARGEST = 2.0**53  # up to which doubles hold every whole number


def are_whole(summary: Summary) -> bool:
    """Whether the values are floats, one a row, and all of them whole as far as doubles can tell."""
    if summary.labels is not None or summary.values.ndim > 1:
        return False
    return summary.known.size > 0 and summary.is_whole and bool((abs(summary.known) <= LARGEST).all())


def holds_integers(summary: Summary) -> bool:
    """Whether floats are integers that pandas casts because some are missing; -0.0 is no integer."""
    if not summary.has_holes or not are_whole(summary):
        return False
    return not np.signbit(summary.known[summary.known == 0]).any()


# -- numbers to be cut into intervals
def may_be_cut(summary: Summary) -> bool:
    """Whether there are numbers, one a row: floats, or integers whose states no one declared."""
    if summary.labels is None:
        return summary.values.ndim == 1
    return not summary.is_declared and summary.kinds <= {int}


def are_states(summary: Summary, most: int) -> bool:
    """Whether floats are states: whole numbers of at most as many different values as there may be intervals."""
    return are_whole(summary) and summary.num_different <= most


# -- what learners and the estimators ask
def is_quantity(summary: Summary) -> bool:
    """Whether the values are numbers, and not truth values."""
    return summary.has_only(int, float) and bool not in summary.kinds


GLANCE = 256  # rows that tell most columns that are not of zeros and ones


def are_ones(summary: Summary) -> bool:
    """Whether all values are 0 or 1, or truth values."""
    if summary.labels is not None:
        return set(summary.labels) <= {0, 1}

    def holds(part: np.ndarray) -> bool:
        return bool(((part == 0) | (part == 1) | np.isnan(part)).all())

    return holds(summary.values[:GLANCE]) and holds(summary.values[GLANCE:])


def family_of(summary: Summary) -> Literal["bernoulli", "gaussian", "categorical"]:
    """The family of a column of naive Bayes: text and declared states are categories."""
    if summary.labels is not None and (summary.is_declared or any(issubclass(kind, str) for kind in summary.kinds)):
        return "categorical"
    return "bernoulli" if are_ones(summary) else "gaussian"


# -- what commands ask
FEW_CLASSES = 10  # different whole numbers of a target: more of them are quantities rather than classes
MANY_NUMBERS = 20  # different whole numbers of any column: more of them are rather quantities than names


def holds_numbers(summary: Summary) -> bool:
    """Whether the values are numbers, or true and false."""
    return summary.has_only(int, float)


def are_classes(summary: Summary) -> bool:
    """Whether the values of a target are classes: text, or few different whole numbers."""
    return not holds_numbers(summary) or (summary.is_whole and summary.num_different <= FEW_CLASSES)


def are_many_numbers(summary: Summary) -> bool:
    """Whether states are so many whole numbers that they may be meant as real ones."""
    return summary.num_labels > MANY_NUMBERS and summary.has_only(int)


def is_measured(summary: Summary) -> bool:
    """Whether different whole numbers have gaps between them, so that they may be measurements."""
    if summary.labels is None or not is_quantity(summary):
        return summary.labels is None
    numbers = np.array(summary.labels, float)
    return bool(np.ptp(numbers) + 1 > len(numbers))


def holds_dates(summary: Summary) -> bool:
    """Whether the texts of a column are dates."""
    look = find_look(summary)
    return look is not None and look.kind == "date"


def name_kind(summary: Summary) -> str:
    """What a table of columns calls the different values."""
    labels = summary.labels or ()
    if not labels:
        return "empty"
    if summary.has_only(bool):
        return "true or false"
    if any(issubclass(kind, str) for kind in summary.kinds):
        return "text"
    return "whole numbers" if all(float(label).is_integer() for label in labels) else "numbers"  # type: ignore[arg-type]


# -- identifiers, which have another value in nearly every row, from which nothing can be learned
FEW_ROWS, NEARLY_ALL = 20, 0.9  # a column of more rows, with more different values than this share, is an identifier


class Identifier(NamedTuple):
    """A column that looks like an identifier: how many different values it has, in how many rows."""

    name: str
    num_values: int
    num_rows: int

    def describe(self) -> str:
        found = f"the column {self.name!r} has {self.num_values:,} different values in {self.num_rows:,} rows"
        return f"{found}, as an identifier has, and nothing can be learned from it"


def identify(summary: Summary, name: str) -> Identifier | None:
    """What makes a column an identifier; None for any other, and for text of which `find_look` says more."""
    if summary.num_labels <= NEARLY_ALL * FEW_ROWS or summary.num_rows <= FEW_ROWS:
        return None
    least = NEARLY_ALL * summary.num_rows
    if summary.num_labels <= least or summary.num_different <= least:
        return None
    is_told = not summary.is_declared and find_look(summary) is not None
    return None if is_told else Identifier(name, summary.num_different, summary.num_rows)


def find_identifiers(data: Dataset) -> Iterator[Identifier]:
    found = (identify(summary, name) for name, summary in summarize(data).items())
    return (identifier for identifier in found if identifier is not None)


def warn_identifiers(data: Dataset, declared: Container[str]) -> None:
    """One warning that names them; columns whose states are declared are meant as they are."""
    found = [identifier for identifier in find_identifiers(data) if identifier.name not in declared]
    if found:
        more = f" ({len(found) - 1} other columns look like identifiers too)" if len(found) > 1 else ""
        advice = f"leave it out, as rows.drop(columns=[{found[0].name!r}]) of pandas does, or declare its states"
        message = f"{found[0].describe()}{more}: {advice} in variables=[…]"
        warn_user(message, IdentifierWarning, about=[identifier.name for identifier in found])


# -- text that looks like something else: numbers with a marker of missing cells, decimal commas, dates, equal letters
Kind: TypeAlias = Literal["number", "state", "decimal", "date", "form"]
HOLE_TEXTS = frozenset({"", "?", "-", ".", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "nil", "missing"})
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


def find_look(summary: Summary) -> Look | None:
    """What the different texts of a column look like; None for plain text, and for what is no text.

    Only in a file does a state such as NA look like a missing value: frames have values of their own for these.
    """
    if summary.labels is None or len(summary.labels) < 2 or not summary.has_only(str):
        return None
    texts = list(map(str, summary.labels))
    if len(texts) > MANY and all(DATE.fullmatch(text) or is_hole_text(text) for text in texts):
        return Look("date", next(text for text in texts if DATE.fullmatch(text)))
    if has_decimal_commas(texts):
        return Look("decimal", next(text for text in texts if "," in text))
    others = list(islice((text for text in texts if not is_number_text(text)), 2))
    if len(others) == 1 and len(texts) > 2 and is_marker(others[0], len(texts)):
        return Look("number", others[0])
    marker = next((text for text in texts if text in MARKERS), None) if summary.is_of_file else None
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


def has_only_commas(texts: Sequence[str]) -> bool:
    """Whether decimal commas were asked for and may be read: all texts are numbers with commas, or mark holes."""
    is_all = all(COMMA.fullmatch(text) or is_hole_text(text) for text in texts)
    return is_all and any("," in text for text in texts)


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
