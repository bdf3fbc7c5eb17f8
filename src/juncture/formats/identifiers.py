"""Names in NET, DSC and DNE files: strings with escapes, and identifiers for names that are none."""

from __future__ import annotations

import re
import sys
from collections.abc import Container, Iterable

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


def make_identifiers(
    names: Iterable[str], keywords: Container[str] = KEYWORDS, *, prefix: str = "_", longest: int = sys.maxsize
) -> dict[str, str]:
    """A distinct identifier for each name: itself where it is one.

    >>> make_identifiers(["a b", "a_b", "node"])
    {'a b': 'a_b_2', 'a_b': 'a_b', 'node': 'node_2'}
    """
    names = list(names)
    kept = {name for name in names if is_identifier(name, keywords, prefix, longest)}
    taken, counts = set(kept), dict[str, int]()
    result: dict[str, str] = {}
    for name in names:
        result[name] = name if name in kept else free_identifier(name, keywords, taken, counts, prefix, longest)
        taken.add(result[name])
    return result


def is_identifier(
    name: str, keywords: Container[str] = KEYWORDS, prefix: str = "_", longest: int = sys.maxsize
) -> bool:
    fits = len(name) <= longest and not (name.startswith("_") and prefix != "_")
    return fits and IDENTIFIER.fullmatch(name) is not None and name not in keywords


def free_identifier(
    name: str, keywords: Container[str], taken: Container[str], counts: dict[str, int], prefix: str, longest: int
) -> str:
    """The name with underscores for what is not allowed, and a number if that is taken."""
    stem = re.sub("[^A-Za-z0-9_]", "_", name)
    stem = stem if re.match("[A-Za-z]", stem) or (prefix == "_" and stem.startswith("_")) else f"{prefix}{stem}"
    stem = free = stem[:longest]
    while free in taken or free in keywords:
        counts[stem] = counts.get(stem, 1) + 1
        ending = f"_{counts[stem]}"
        free = stem[: longest - len(ending)] + ending
    return free
