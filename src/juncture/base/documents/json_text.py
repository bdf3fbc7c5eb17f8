"""JSON text to plain values; any text is safe to parse.

Nesting is bounded before the text is parsed, an integer before it is converted. Values that JSON does not have (NaN, a
key that occurs twice in one object) become values of a class of their own, which is refused when the value is used.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, NamedTuple, NoReturn

import numpy as np

from juncture.errors import FormatError, InvalidData

MAX_DEPTH = 80  # a table has at most 64 axes, and lies in a list of objects
MAX_DIGITS = 640  # of an integer: what every setting of Python's own limit converts

STRING = re.compile(
    rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL
)  # also an unfinished one, so that no text is seen twice
BRACKET_OR_STRING = re.compile(rb"[][{}]|" + STRING.pattern, re.DOTALL)
NO_BRACKETS = bytes(sorted(set(range(256)) - set(b"[]{}")))


class RepeatedKey(NamedTuple):
    """Stands for an object in which a key stands twice."""

    key: str


class InvalidToken(str):
    """A token that is not JSON, or too long to be a number."""

    __slots__ = ()


def parse_text(data: bytes) -> tuple[Any, str]:
    """The value of a JSON document, and its text."""
    text = decode(data)
    check_depth(data)
    try:
        return DECODER.decode(text), text
    except json.JSONDecodeError as error:
        raise FormatError(f"this is not JSON: {error.msg}, at column {error.colno}", line=error.lineno) from error


def decode(data: bytes) -> str:
    """UTF-8 text, with or without a byte order mark; anything else is refused with the line."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError("the file is not UTF-8 text; save it in that encoding", line=line) from error


def check_depth(data: bytes) -> None:
    """Refuse deep nesting before any recursion."""
    if exceeds_depth(data):
        message = f"the document is nested more than {MAX_DEPTH} levels deep; no model needs so many"
        raise FormatError(message, line=data.count(b"\n", 0, first_too_deep(data)) + 1)


def exceeds_depth(data: bytes) -> bool:
    """Whether the nesting is too deep, by one look at the brackets outside strings."""
    brackets = np.frombuffer(STRING.sub(b"", data).translate(None, NO_BRACKETS), dtype=np.uint8)
    opens = (brackets == ord("[")) | (brackets == ord("{"))
    return bool(np.where(opens, 1, -1).cumsum().max(initial=0) > MAX_DEPTH)


def first_too_deep(data: bytes) -> int:
    """The offset of the bracket that goes too deep."""
    depth = 0
    for match in BRACKET_OR_STRING.finditer(data):
        depth += (match[0] in b"[{") - (match[0] in b"]}")
        if depth > MAX_DEPTH:
            return match.start()
    return 0


def as_object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | RepeatedKey:
    record = dict(pairs)
    if len(record) == len(pairs):
        return record
    return RepeatedKey(next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1))


def as_integer(digits: str) -> int | InvalidToken:
    return (
        int(digits)
        if len(digits.removeprefix("-")) <= MAX_DIGITS
        else InvalidToken(f"an integer of {len(digits):,} digits")
    )


DECODER = json.JSONDecoder(object_pairs_hook=as_object, parse_constant=InvalidToken, parse_int=as_integer)


def parse_strictly(text: object, what: str) -> Any:
    """The value of a JSON text in which nothing but JSON is allowed; `what` says whose text it is."""
    if not isinstance(text, str):
        raise InvalidData(f"{what} are read from JSON text, one JSON object; got {type(text).__name__}")
    try:
        data = text.encode("utf-8")
        check_depth(data)
        return STRICT_DECODER.decode(text)
    except json.JSONDecodeError as error:
        where = f"{error.msg}, at column {error.colno}"
        raise FormatError(f"{what} are one JSON object; this is not JSON: {where}", line=error.lineno) from error
    except UnicodeEncodeError as error:
        raise FormatError(f"{what} are one JSON object; this is not text in Unicode: {error.reason}") from error


def strict_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = as_object(pairs)
    if isinstance(record, RepeatedKey):
        raise FormatError(f"an object has the key {record.key!r} twice")
    return record


def strict_integer(digits: str) -> int:
    number = as_integer(digits)
    return number if isinstance(number, int) else reject_number(number)


def reject_number(token: str) -> NoReturn:
    raise FormatError(f"{token} is not a number in JSON")


STRICT_DECODER = json.JSONDecoder(
    object_pairs_hook=strict_object, parse_constant=reject_number, parse_int=strict_integer
)
