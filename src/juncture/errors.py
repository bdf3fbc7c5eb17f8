"""The exceptions and warnings of Juncture.

JunctureError
├── UnknownVariable     (KeyError)      a name the model, graph or table does not have
├── UnknownState        (KeyError)      a value that is not a state of the variable
├── ImpossibleEvidence  (ValueError)    P(evidence) = 0
├── InvalidModel        (ValueError)    a variable, factor, graph or network that breaks a rule
├── InvalidData         (ValueError)    rows, columns or evidence that break a rule
├── FormatError         (ValueError)    a file that cannot be read or written; knows file and line
├── Unsupported         (TypeError)     an engine or format that cannot take this kind of model
├── TooLarge            (MemoryError)   the result would not fit into memory
├── ObjectiveDecreased  (ArithmeticError) an objective that must rise has fallen
└── MissingExtra        (ImportError)   an optional package is not installed

Warnings, all UserWarning: ImpossibleEvidenceWarning, RenormalizedWarning, RegularizedWarning, UnseenParentsWarning,
UnseenStatesWarning, UnvisitedStatesWarning, NotConvergedWarning, NotDirectedWarning, DeterministicRelationWarning,
NotIdentifiedWarning, IdentifierWarning, ColumnKindWarning, TextColumnWarning, LongSearchWarning.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from juncture.names import face

MAX_HINT_LETTERS, MAX_HINT_NAMES = 60, 2000  # looking for a near match is quadratic in both
LEAST_START = 2  # letters of a name that may stand for all of it
NOT_OF_USERS = (f"{Path(__file__).parent}{os.sep}", functools.__file__)  # `functools` calls what verbs dispatch to
MAX_MESSAGE = 600  # letters: names and values may have any length
ONCE = {"default", "module", "once"}  # actions of filters that show a repeated warning once
SHOWN: set[tuple[type[Warning], str, int, str]] = set()  # which warnings, from which file and line, about which columns
# characters that move the cursor of a terminal, set its title, break a line or change the writing direction
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
LONG_WORD = re.compile(r"(\S{40})\S{41,}(\S{20})")  # in a message that is too long


class JunctureError(Exception):
    """The base class of all errors of Juncture. A message is one line; a long one is shortened in the middle."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(tidy_message(arg) if isinstance(arg, str) else arg for arg in args))

    __str__ = Exception.__str__  # KeyError would print the message in quotes


class UnknownVariable(JunctureError, KeyError):
    """A name that the model, graph or table does not have."""

    @classmethod
    def among(cls, name: object, known: Iterable[str], *, where: str = "the model") -> UnknownVariable:
        return cls(f"{where} has no variable {name!r}; {hint(name, known)}")


class UnknownState(JunctureError, KeyError):
    """A value that is not a state of its variable."""

    @classmethod
    def of(cls, variable: str, value: object, states: Iterable[object], *, where: str = "") -> UnknownState:
        return cls(f"variable {variable!r} has no state {value!r}{where}; {hint(value, states)}")


class ImpossibleEvidence(JunctureError, ValueError):
    """The model gives the evidence probability zero."""


class InvalidModel(JunctureError, ValueError):
    """A variable, factor, graph or network that breaks a rule."""


class InvalidData(JunctureError, ValueError):
    """Rows, columns or evidence that break a rule."""


class FormatError(JunctureError, ValueError):
    """A file that cannot be read or written; `file` and `line` say where, as far as they are known."""

    def __init__(self, message: str, *, file: str | None = None, line: int | None = None) -> None:
        self.message, self.file, self.line = tidy_message(message), file, line
        location = escape_controls(":".join(str(part) for part in (file, line) if part is not None))
        Exception.__init__(
            self, f"{location}: {self.message}" if location else self.message
        )  # a path is never shortened

    def in_file(self, file: str) -> FormatError:
        return FormatError(self.message, file=file, line=self.line)

    def __reduce__(self) -> tuple[Any, ...]:
        return _format_error, (self.message, self.file, self.line)


class Unsupported(JunctureError, TypeError):
    """An engine, operation or format that cannot take this kind of model."""


class TooLarge(JunctureError, MemoryError):
    """The result would not fit into memory; the message says how large it would be."""


class ObjectiveDecreased(JunctureError, ArithmeticError):
    """A step of an algorithm that must not lower its objective has lowered it beyond rounding."""


class MissingExtra(JunctureError, ImportError):
    """An optional package is not installed."""

    @classmethod
    def named(cls, package: str, extra: str) -> MissingExtra:
        return cls(f"this needs {package}, which is not installed; run: pip install 'juncture[{extra}]'")


class ImpossibleEvidenceWarning(UserWarning):
    """Some rows of evidence have probability zero; their answers are NaN and their indices are given."""


class RenormalizedWarning(UserWarning):
    """Rows of a file summed to 1 only roughly and were divided by their sum."""


class UnseenParentsWarning(UserWarning):
    """No row has some configurations of the parents, so that the data say nothing about the child there."""


class UnseenStatesWarning(UserWarning):
    """Some values are not states of their variable and were treated as missing, as `unseen="missing"` asks."""


class UnvisitedStatesWarning(UserWarning):
    """No sequence visits some hidden states any more, so that their parameters are not learned."""


class NotConvergedWarning(UserWarning):
    """An algorithm stopped before it converged."""


class ApproximationWarning(UserWarning):
    """An exact answer was too large; the answer is an approximation, and the message says by which engine."""


class NotDirectedWarning(UserWarning):
    """The result of an operation on a Bayesian network is a Markov network, since its directions are not determined."""


class DeterministicRelationWarning(UserWarning):
    """Some variables are functions of others in the data: tests cannot decide on their edges, lines have no noise."""


class IdentifierWarning(UserWarning):
    """A column has another value in nearly every row, as an identifier has, so that nothing can be learned from it."""


class LongSearchWarning(UserWarning):
    """A search for a graph will take long; the message says about how long, and what is quicker."""


class ColumnKindWarning(UserWarning):
    """A column was read as another kind than its cells show, or left out; the message says how to decide otherwise."""


class TextColumnWarning(UserWarning):
    """A column of text looks like numbers, dates or missing values, or has states that look alike."""


class NotIdentifiedWarning(UserWarning):
    """Other parameters give the data the same likelihood: these parameters have no finite standard error."""


class RegularizedWarning(UserWarning):
    """The data do not determine an estimate, which was regularised; the message says by how much."""


class HeldWarning(NamedTuple):
    """A warning that is given later, elsewhere."""

    message: str
    category: type[Warning]
    about: tuple[str, ...] = ()


HELD: ContextVar[list[HeldWarning] | None] = ContextVar("HELD", default=None)


@contextmanager
def hold_warnings() -> Iterator[list[HeldWarning]]:
    """Collect the warnings of `warn_user` in a list, so that another process can give them to the user."""
    held: list[HeldWarning] = []
    token = HELD.set(held)
    try:
        yield held
    finally:
        HELD.reset(token)


def warn_user(message: str, category: type[Warning], about: Iterable[str] = ()) -> None:
    """Warn with the location of the first caller outside of this package.

    A warning about columns is shown once for each column and location, as Python's default filter means to: Python
    forgets what it has shown whenever any library changes the filters for a moment, as in every fold of a
    cross-validation. Filters that show all warnings, or make them errors, get all.
    """
    message, frame, held = tidy_message(message), inspect.currentframe(), HELD.get()
    if held is not None:
        held.append(HeldWarning(message, category, tuple(about)))
        return
    while frame is not None and frame.f_back is not None and frame.f_code.co_filename.startswith(NOT_OF_USERS):
        frame = frame.f_back
    if frame is None:  # an interpreter without access to its stack
        warnings.warn(message, category, stacklevel=2)
        return
    shown = {(category, frame.f_code.co_filename, frame.f_lineno, name) for name in about}
    if shown and shown <= SHOWN and find_action(message, category, frame.f_globals.get("__name__", "")) in ONCE:
        return
    SHOWN.update(shown)
    warnings.warn_explicit(
        message,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=frame.f_globals.get("__name__"),
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def find_action(message: str, category: type[Warning], module: str) -> str:
    """What the filters of `warnings` do with a warning."""
    for action, text, kind, where, _ in warnings.filters:
        wanted = ((text, message), (where, module))
        if issubclass(category, kind) and all(one is None or re.match(one, given) for one, given in wanted):
            return str(action)
    return "default"


def escape_controls(text: str) -> str:
    r"""The text with `\x1b` in place of an escape character, and so on for all control characters.

    >>> print(escape_controls("one\nline"))
    one\nline
    """
    return CONTROLS.sub(lambda found: repr(found[0])[1:-1], text)


def tidy_message(message: str) -> str:
    """One line of at most 600 letters: long words lose their middles first, then the message does.

    Names and labels come from files, which must not write lines of a log.

    >>> tidy_message("the name " + "a" * 1000 + " is known already; rename one of them")
    'the name aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…aaaaaaaaaaaaaaaaaaaa is known already; rename one of them'
    """
    message = escape_controls(message)
    if len(message) <= MAX_MESSAGE:
        return message
    message = LONG_WORD.sub(r"\1…\2", message)
    if len(message) <= MAX_MESSAGE:
        return message
    end = MAX_MESSAGE // 3
    return f"{message[: MAX_MESSAGE - end - 3]} … {message[-end:]}"


def hint(value: object, known: Iterable[object], limit: int = 8) -> str:
    """The end of a sentence that refuses `value`: the nearest known thing, or a few of them."""
    items = list(islice(known, MAX_HINT_NAMES))
    other_form = find_other_form(value, items)
    if other_form is not None:
        return f"known is {other_form!r}, which looks the same: {describe_forms(str(value), other_form)}"
    close = find_close(value, items)
    if close is not None:
        return f"did you mean {close!r}?"
    texts = {str(item)[:MAX_HINT_LETTERS]: item for item in items}
    shown = ", ".join(repr(item) for item in list(texts.values())[:limit])
    return f"known are {shown}{', …' if len(texts) > limit else ''}" if texts else "there are none"


def find_other_form(value: object, known: Iterable[object]) -> str | None:
    """The text among the known things that differs from a text in its Unicode form only, as é and e with an accent."""
    if not isinstance(value, str) or value.isascii():
        return None
    form = unicodedata.normalize("NFC", value)
    texts = (item for item in islice(known, MAX_HINT_NAMES) if isinstance(item, str) and item != value)
    return next((text for text in texts if unicodedata.normalize("NFC", text) == form), None)


def describe_forms(one: str, other: str) -> str:
    """In what two texts differ that look alike, and what to do."""
    forms = f"{one!a} and {other!a}"
    return f"they differ only in Unicode form ({forms}); unicodedata.normalize('NFC', …) makes them one"


def find_close(value: object, known: Iterable[object]) -> Any:
    """The nearest of the known things, in any case of letters, or the only one that begins so; None if there is none.

    >>> find_close("Incme", ["income", "age"])
    'income'
    >>> find_close("hill", ["hill-climbing", "pc"])
    'hill-climbing'
    """
    by_lower = {str(item)[:MAX_HINT_LETTERS].lower(): item for item in islice(known, MAX_HINT_NAMES)}
    text = str(value)[:MAX_HINT_LETTERS].lower()
    close = difflib.get_close_matches(text, by_lower, n=1)
    longer = [name for name in by_lower if name.startswith(text)] if len(text) >= LEAST_START else []
    found = close or (longer if len(longer) == 1 else [])
    return by_lower[found[0]] if found else None


def _format_error(message: str, file: str | None, line: int | None) -> FormatError:
    return FormatError(message, file=file, line=line)


face(__name__)  # `jt.errors`
