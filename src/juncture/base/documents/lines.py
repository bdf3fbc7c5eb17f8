"""The line of a node of a JSON document, from its path."""

from __future__ import annotations

import re
from typing import TypeAlias

from juncture.base.documents.json_text import DECODER

Path: TypeAlias = tuple[str | int, ...]
SPACE = re.compile(r"[ \t\r\n,:]*")


def line_of(text: str, path: Path) -> int:
    """The line on which the value at `path` begins, in a document that was parsed."""
    at = skip_space(text, 0)
    for step in path:
        at = start_of_child(text, at, step)
    return text.count("\n", 0, at) + 1


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


def skip_space(text: str, at: int) -> int:
    """Where the next value begins, past space, commas and colons."""
    found = SPACE.match(text, at)
    return found.end() if found else at
