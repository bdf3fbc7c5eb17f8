"""Names in NET files: strings with escapes, and identifiers for names that are none."""

from __future__ import annotations

import re
from collections.abc import Iterable

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
ESCAPED = re.compile(r"\\([0-7]{3}|.)")
NEEDS_ESCAPE = re.compile(r'["\\\n\r\t\0]')
KEYWORDS = {
    "class",
    "continuous",
    "decision",
    "discrete",
    "function",
    "instance",
    "net",
    "node",
    "potential",
    "utility",
}
LETTERS = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
ESCAPES = {character: f"\\{letter}" for letter, character in LETTERS.items()} | {"\0": "\\000"}


def quote(text: str) -> str:
    r"""The text between quotes.

    >>> quote('5" \\ 6')
    '"5\\" \\\\ 6"'
    """
    return f'"{NEEDS_ESCAPE.sub(lambda match: ESCAPES[match[0]], text)}"'


def unescape(text: str) -> str:
    """What was between quotes, as text; a backslash that escapes nothing known stays."""
    return ESCAPED.sub(lambda match: escape_value(match[1], match[0]), text) if "\\" in text else text


def escape_value(code: str, whole: str) -> str:
    return chr(int(code, 8)) if len(code) == 3 else LETTERS.get(code, whole)


def make_identifiers(names: Iterable[str]) -> dict[str, str]:
    """A distinct identifier for each name: itself where it is one.

    >>> make_identifiers(["a b", "a_b", "node"])
    {'a b': 'a_b_2', 'a_b': 'a_b', 'node': 'node_2'}
    """
    names = list(names)
    taken = {name for name in names if is_identifier(name)} | KEYWORDS
    counts: dict[str, int] = {}
    result: dict[str, str] = {}
    for name in names:
        result[name] = name if is_identifier(name) else free_identifier(name, taken, counts)
    return result


def is_identifier(name: str) -> bool:
    return IDENTIFIER.fullmatch(name) is not None and name not in KEYWORDS


def free_identifier(name: str, taken: set[str], counts: dict[str, int]) -> str:
    """The name with underscores for what is not allowed, and a number if that is taken."""
    stem = re.sub("[^A-Za-z0-9_]", "_", name)
    stem = stem if IDENTIFIER.fullmatch(stem) else f"_{stem}"
    free = stem
    while free in taken:
        counts[stem] = counts.get(stem, 1) + 1
        free = f"{stem}_{counts[stem]}"
    taken.add(free)
    return free
