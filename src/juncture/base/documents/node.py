"""A JSON document as nodes: every error gives the path inside the document, and its line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias, TypeVar

import numpy as np

from juncture.base.documents.json_text import DECODER, InvalidToken, RepeatedKey, parse_text
from juncture.errors import FormatError, JunctureError, hint

SHOWN = 60
SPARE = 2**16  # of a size that a document declares, whatever its length
NUMBER_TYPES = frozenset({int, float})
Choice = TypeVar("Choice", str, int)
SURROGATE = re.compile("[\ud800-\udfff]")
Path: TypeAlias = tuple[str | int, ...]
SPACE = re.compile(r"[ \t\r\n,:]*")


@dataclass(frozen=True)
class Node:
    """A value of the document, with the path that leads to it."""

    value: Any
    path: Path
    text: str

    @classmethod
    def parse(cls, data: bytes) -> Node:
        value, text = parse_text(data)
        return cls(value, (), text)

    # --- refusing --------------------------------------------------------------------------------------------------

    def error(self, message: str, *, at: Path = ()) -> FormatError:
        path = (*self.path, *at)
        return FormatError(f"{format_path(path)}: {message}", line=line_of(self.text, path))

    def kind_error(self, what: str) -> FormatError:
        return self.error(f"must be {what}; got {describe(self.value)}")

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Errors inside the block get the path and line of this node, unless they have a line already."""
        try:
            yield
        except JunctureError as error:
            placed = isinstance(error, FormatError) and error.line is not None
            raise error if placed else self.error(str(error)) from error

    # --- asking ----------------------------------------------------------------------------------------------------

    def child(self, step: str | int) -> Node:
        return Node(self.value[step], (*self.path, step), self.text)

    def fields(self, required: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Node]:
        """The values of an object that has all the required keys, and no others than the optional ones."""
        self._check_object()
        required = list(required)
        known = [*required, *optional]
        for key in self.value:
            if key not in known:
                raise self.error(f"has the unknown key {clip(key)!r}; {hint(clip(key), known)}")
        for key in required:
            if key not in self.value:
                raise self.error(f"lacks the key {key!r}")
        return {key: self.child(key) for key in self.value}

    def choice(self, key: str, choices: Iterable[Choice]) -> Choice:
        """The value of an object's key, which must be one of the choices."""
        self._check_object()
        if key not in self.value:
            raise self.error(f"lacks the key {key!r}")
        return self.child(key).one_of(choices)

    def one_of(self, choices: Iterable[Choice]) -> Choice:
        """The value, which must be one of the choices."""
        known = list(choices)
        for choice in known:
            if type(choice) is type(self.value) and choice == self.value:
                return choice
        raise self.error(f"is {describe(self.value)}; {hint(describe(self.value), known)}")

    def _check_object(self) -> None:
        if isinstance(self.value, RepeatedKey):
            raise self.error(f"has the key {clip(self.value.key)!r} twice")
        if not isinstance(self.value, dict):
            raise self.kind_error("an object")

    def items(self) -> list[Node]:
        if not isinstance(self.value, list):
            raise self.kind_error("a list")
        return [self.child(index) for index in range(len(self.value))]

    def string(self) -> str:
        if type(self.value) is not str:
            raise self.kind_error("text")
        if SURROGATE.search(self.value):
            raise self.error("holds half of a surrogate pair, which is not text")
        return self.value

    def integer(self) -> int:
        if type(self.value) is not int:
            raise self.kind_error("a whole number")
        return self.value

    def check_size(self, size: int, what: str, spare: int = SPARE) -> int:
        """A size that is declared and not spelt out: at most the length of the document, or `spare` if that is more."""
        if size > max(spare, len(self.text)):
            raise self.error(
                f"declares {size:,} {what}, more than a document of {len(self.text):,} letters may; spell them out"
            )
        return size

    def flag(self) -> bool:
        if type(self.value) is not bool:
            raise self.kind_error("true or false")
        return self.value

    def number(self) -> float:
        if type(self.value) not in NUMBER_TYPES:
            raise self.kind_error("a number")
        return float(self.table())

    # --- tables ----------------------------------------------------------------------------------------------------

    def table(self) -> np.ndarray:
        """Nested lists of finite numbers as an array with one axis per level."""
        return self._array(*self._cells())

    def log_table(self) -> np.ndarray:
        """Nested lists of logarithms as an array, where null stands for the logarithm of 0."""
        cells, shape = self._cells(NUMBER_TYPES | {type(None)})
        logs = self._array([0.0 if cell is None else cell for cell in cells], shape)
        return np.where(np.reshape([cell is None for cell in cells], shape), -np.inf, logs)

    def _array(self, cells: list[Any], shape: tuple[int, ...]) -> np.ndarray:
        """The numbers as doubles."""
        try:
            values = np.array(cells, dtype=np.float64).reshape(shape)
        except (OverflowError, ValueError) as error:
            raise self.error(f"cannot be a table of doubles: {error}") from error
        if not np.isfinite(values).all():
            raise self.error("is larger than any double", at=cell_path(int(np.argmin(np.isfinite(values))), shape))
        return values

    def codes(self) -> np.ndarray:
        """Nested lists of whole numbers as an array."""
        values = self.table()
        if (values != np.floor(values)).any() or np.abs(values).max(initial=0) >= 2**31:
            raise self.error("must hold positions of states: whole numbers")
        return values.astype(np.int64)

    def _cells(self, types: frozenset[type] = NUMBER_TYPES) -> tuple[list[Any], tuple[int, ...]]:
        """The numbers in order, and the shape: all lists of one level have one length."""
        level: list[Any] = [self.value]
        shape: tuple[int, ...] = ()
        while level and type(level[0]) is list:
            size = len(level[0])
            for index, item in enumerate(level):
                if type(item) is not list or len(item) != size:
                    raise self._cell_error(index, shape, f"must be a list of length {size}, like the first", item)
            shape = (*shape, size)
            level = list(chain.from_iterable(level))
        if not set(map(type, level)) <= types:
            index = next(index for index, cell in enumerate(level) if type(cell) not in types)
            raise self._cell_error(index, shape, "must be a number", level[index])
        return level, shape

    def _cell_error(self, index: int, shape: tuple[int, ...], rule: str, value: object) -> FormatError:
        return self.error(f"{rule}; got {describe(value)}", at=cell_path(index, shape))


def format_path(path: Path) -> str:
    """`conditionals[3].values`; the document itself has no path."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return steps.removeprefix(".") or "the document"


def line_of(text: str, path: Path) -> int:
    """The line on which the value at `path` begins, in a document that was parsed."""
    at = skip_space(text, 0)
    for step in path:
        at = start_of_child(text, at, step)
    return text.count("\n", 0, at) + 1


def skip_space(text: str, at: int) -> int:
    """Where the next value begins, past space, commas and colons."""
    found = SPACE.match(text, at)
    return found.end() if found else at


def start_of_child(text: str, at: int, step: str | int) -> int:
    """Where the child `step` of the list or object at `at` begins; those before it are skipped at parsing speed."""
    in_object, index = text[at] == "{", 0
    at = skip_space(text, at + 1)
    while True:
        key: str | int = index
        if in_object:
            key, at = DECODER.raw_decode(text, at)
            at = skip_space(text, at)
        if key == step:
            return at
        at = skip_space(text, DECODER.raw_decode(text, at)[1])
        index += 1


def describe(value: object) -> str:
    """`an object`, `a list of length 3`, or the value itself."""
    if isinstance(value, dict | RepeatedKey):
        return "an object"
    if isinstance(value, list):
        return f"a list of length {len(value)}"
    return clip(value if isinstance(value, InvalidToken) else json.dumps(value))


def clip(text: str) -> str:
    """The beginning of a text, for messages."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def cell_path(flat_index: int, shape: tuple[int, ...]) -> Path:
    """The steps to the cell at a flat_index of the flat table."""
    return tuple(int(index) for index in np.unravel_index(flat_index, shape)) if shape else ()
