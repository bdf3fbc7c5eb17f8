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
`are_states`               Are floats so few whole numbers that they are states?          `Discretizer`, estimators
`are_whole`                Are floats whole numbers?                                      readers, `Discretizer`
`is_quantity`              Are the values numbers that measure, not truth values?         mixtures, trees
`family_of`                Which family generates the values?                             naive Bayes
`holds_numbers`            Are the values numbers or truth values?                        `juncture compare`
`are_classes`              Are the values of a target classes, or numbers?                `juncture compare`
`count_whole_numbers`      How many whole numbers were read as real ones, to be noted?    `Dataset`
`identify`                 Does text differ in nearly every row, or do numbers run?       `fit`, searches, commands
`explain`                  Why can nothing be learned from a column?                      `learn`, `cluster`, `compare`
`find_hole_texts`          Which texts mark missing values among numbers?                 readers
`names_rows`               Does a first column without a name number the rows?            readers
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
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from juncture.base.intervals import is_number_text
from juncture.base.values import few
from juncture.errors import ColumnKindWarning, IdentifierWarning, TextColumnWarning, warn_user

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

    @cached_property
    def known_labels(self) -> np.ndarray:
        """The numbers that labels are, of the rows that have one."""
        return np.array(self.labels, float)[self.known]

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


MOST_STATES = 20  # different whole numbers that are states; more of them are real numbers


def is_real(summary: Summary) -> bool:
    """Whether the values are real numbers: floats, numbers some of which are floats, more than 20 whole numbers."""
    if summary.labels is None:
        return True
    if summary.is_of_file:
        kind = text_kind([str(label) for label in summary.labels])
        return kind == "numbers" or (kind == "integers" and summary.num_labels > MOST_STATES)
    return summary.kinds <= {float, int} and (float in summary.kinds or summary.num_labels > MOST_STATES)


def count_whole_numbers(summary: Summary) -> int:
    """How many different whole numbers are read as real, of integers or of floats with holes; 0 of all else."""
    if summary.labels is None:
        is_cast = summary.values.ndim == 1 and summary.has_holes and are_whole(summary)
        return summary.num_different if is_cast and summary.num_different > MOST_STATES else 0
    labels, number = summary.labels, summary.num_labels
    if number <= MOST_STATES:
        return 0
    if summary.is_of_file:
        kind = text_kind([str(label) for label in labels])
        if kind == "integers":
            return number
        labels = [float(str(label)) for label in labels] if kind == "numbers" else [""]
    if all(type(label) is int for label in labels):
        return number
    is_number = all(type(label) in {int, float} for label in labels)
    return number if is_number and summary.has_holes and all(map(is_integral, labels)) else 0


def is_integral(number: Any) -> bool:
    return abs(number) <= LARGEST and float(number).is_integer()


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
    """Whether floats are few integers that pandas casts because some are missing; -0.0 is no integer.

    More than 20 different ones are real numbers, however they are held.
    """
    if not summary.has_holes or not are_whole(summary) or summary.num_different > MOST_STATES:
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


def holds_numbers(summary: Summary) -> bool:
    """Whether the values are numbers, or true and false."""
    return summary.has_only(int, float)


def are_classes(summary: Summary) -> bool:
    """Whether the values of a target are classes: text, or few different whole numbers."""
    return not holds_numbers(summary) or (summary.is_whole and summary.num_different <= FEW_CLASSES)


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


# -- columns from which nothing can be learned: identifiers, dates, and those with one value
FEW_ROWS, NEARLY_ALL = 20, 0.9  # text of more rows, with more different values than this share, is an identifier


class Identifier(NamedTuple):
    """A column that looks like an identifier: what its values are."""

    name: str
    values: str

    def describe(self) -> str:
        return f"the column {self.name!r} has {self.values}, as an identifier has, and nothing can be learned from it"


def identify(summary: Summary, name: str) -> Identifier | None:
    """What makes a column an identifier: text that differs in nearly every row, or numbers that run, as 1, 2, 3, ….

    None for any other column, and for text of which `find_look` says more.
    """
    if summary.num_rows <= FEW_ROWS or summary.values.ndim > 1:
        return None
    if summary.labels is None or is_quantity(summary):
        ends = None if summary.is_declared and summary.labels is not None else find_run(summary)
        return None if ends is None else Identifier(name, f"the running numbers {ends[0]:,} to {ends[1]:,}")
    least = NEARLY_ALL * summary.num_rows
    if summary.num_labels <= least or summary.num_different <= least:
        return None
    is_told = not summary.is_declared and find_look(summary) is not None
    values = f"{summary.num_different:,} different values in {summary.num_rows:,} rows"
    return None if is_told else Identifier(name, values)


def find_run(summary: Summary) -> tuple[int, int] | None:
    """The ends of whole numbers without a gap, each of them in one row; None for other numbers."""
    numbers = summary.known if summary.labels is None else summary.known_labels
    if not len(numbers) or numbers.max() - numbers.min() + 1 != summary.num_rows or not (numbers % 1 == 0).all():
        return None
    return (int(numbers.min()), int(numbers.max())) if summary.num_different == summary.num_rows else None


def find_identifiers(data: Dataset) -> Iterator[Identifier]:
    found = (identify(summary, name) for name, summary in summarize(data).items())
    return (identifier for identifier in found if identifier is not None)


def explain_left_out(data: Dataset, kept: Container[str] = ()) -> dict[str, str]:
    """The columns from which nothing can be learned, other than those to keep, each with the reason."""
    reasons = {name: explain(summary, name) for name, summary in summarize(data).items() if name not in kept}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def explain(summary: Summary, name: str) -> str | None:
    """Why nothing can be learned from a column, if nothing can."""
    if summary.values.ndim == 1 and (summary.known == summary.known[:1]).all():
        return f"the column {name!r} has {'one value only' if summary.known.size else 'no value'}"
    if holds_dates(summary):
        return f"the column {name!r} holds dates"
    identifier = identify(summary, name)
    return None if identifier is None else identifier.describe()


def warn_identifiers(data: Dataset, declared: Container[str]) -> None:
    """One warning that names them; columns whose states are declared are meant as they are."""
    found = [identifier for identifier in find_identifiers(data) if identifier.name not in declared]
    if found:
        more = f" ({len(found) - 1} other columns look like identifiers too)" if len(found) > 1 else ""
        advice = f"leave it out, as rows.drop(columns=[{found[0].name!r}]) of pandas does, or declare its states"
        message = f"{found[0].describe()}{more}: {advice} in variables=[…]"
        warn_user(message, IdentifierWarning, about=[identifier.name for identifier in found])


# -- text that looks like something else: numbers with a marker of missing cells, decimal commas, dates, equal letters
Kind: TypeAlias = Literal["number", "state", "decimal", "date", "form", "hole", "real"]
HOLE_TEXTS = frozenset({"", "?", "-", ".", "na", "n/a", "#n/a", "<na>", "nan", "none", "null", "nil", "missing"})
MARKERS = frozenset(
    {"NA", "N/A", "n/a", "na", "#N/A", "<NA>", "NaN", "nan", "NAN", "NULL", "Null", "null", "?"}
)  # no one means a state by them, as one may by "none", "missing" and "-"
MARK_LENGTH = 12  # letters that a text which marks a missing value has at most, with blanks around it
MANY = 12  # different values: no one means so many numbers or dates as states
COMMA = re.compile(r"[+-]?\d+(,\d+)?(e[+-]?\d+)?", re.IGNORECASE)
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+|\d+")
DAY = r"(\d{4}([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2}))"
TIME = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?"
DATE = re.compile(f"{DAY}([T ]{TIME})?")


class Look(NamedTuple):
    """What a column looks like, and a text of it: the marker, or one of the numbers or dates.

    Two looks say what was decided: "hole", text that is read as a missing value among numbers, and "real", more whole
    numbers than states have, whose number is the text.
    """

    kind: Kind
    text: str


class Finding(NamedTuple):
    """The columns that look alike, and what each looks like."""

    names: tuple[str, ...]
    looks: tuple[Look, ...]

    @property
    def look(self) -> Look:
        """What the first of them looks like."""
        return self.looks[0]

    def without(self, names: Container[str]) -> Finding | None:
        """What is said of the other columns; None where there is none."""
        kept = [(name, look) for name, look in zip(self.names, self.looks, strict=True) if name not in names]
        return Finding(*zip(*kept, strict=True)) if kept else None

    @property
    def is_decision(self) -> bool:
        """Whether it says how the columns were read, and not only what they look like."""
        return self.look.kind in {"hole", "real"}

    def describe(self) -> str:
        is_one = len(self.names) == 1
        names = f"the column{'' if is_one else 's'} {few(map(repr, self.names))}"
        verb, text = ("holds" if is_one else "hold"), repr(self.look.text)
        if self.look.kind == "real":
            number = f"{self.look.text} different" if is_one else f"more than {MOST_STATES} different"
            return f"{names} {'has' if is_one else 'have'} {number} whole numbers, read as real numbers"
        if self.look.kind == "hole":
            return f"{names} {verb} numbers and the text {text}, read as a missing value"
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
        if self.is_decision:
            which = "its" if len(self.names) == 1 else "their"
            return f"states={list(self.names)} takes {which} different cells as states".replace("'", '"')
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


def find_hole_texts(labels: Sequence[object], *, is_of_file: bool) -> list[str]:
    """The texts that mark missing values in a column whose other values, two at least, are numbers; else none.

    In a file nan is itself a number that is missing.
    """
    if is_of_file is False and not any(isinstance(label, str) for label in labels):
        return []
    short = [label for label in labels if isinstance(label, str) and len(label) < MARK_LENGTH and is_hole_text(label)]
    marks = [text for text in short if not (is_of_file and text.lower() == "nan")]
    if not marks or len(labels) < len(marks) + 2:
        return []
    known = set(marks)
    others = [label for label in labels if label not in known]
    if all(type(label) in {int, float} for label in others):
        return marks
    texts = list(map(str, others))
    is_text = all(isinstance(label, str) for label in others)
    return marks if is_text and text_kind(texts) in {"integers", "numbers"} else []


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
    found: dict[tuple[Kind, str], dict[str, Look]] = {}
    for name, look in looks:
        if look is not None:
            marker = look.text if look.kind in {"number", "state", "hole"} else ""
            found.setdefault((look.kind, marker), {})[name] = look
    for columns in found.values():
        yield Finding(tuple(columns), tuple(columns.values()))


def warn_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        if finding.is_decision:
            warn_user(f"{finding.describe()}; {finding.advise()}", ColumnKindWarning, about=[finding.describe()])
        else:
            message = f"{finding.describe()}: {finding.advise()}; variables=[…] declares states"
            warn_user(message, TextColumnWarning, about=[finding.describe()])


# -- a first column that only numbers or names the rows, as programs write it
UNNAMED = frozenset({"", "Unnamed: 0", "rownames", "row.names", "...1", "__index_level_0__"})


def names_rows(summary: Summary, num_rows: int) -> bool:
    """Whether a column has another whole number, or another text, in each row."""
    if summary.labels is None or summary.num_labels != num_rows:
        return False
    labels = summary.labels
    return all(type(label) is int for label in labels) or all(isinstance(label, str) for label in labels)


def warn_unnamed(name: str) -> None:
    what = f"the first column, {name!r}, only" if name else "the first column has no name and"
    message = f"{what} numbers or names the rows; it is left out: rename it to keep it"
    warn_user(message, ColumnKindWarning, about=[message])
