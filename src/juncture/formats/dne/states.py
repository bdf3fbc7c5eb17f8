"""The states of a DNE node: by names, by titles, by levels (values or bounds of intervals), or by their number."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from juncture.formats.blocks.families import is_number
from juncture.formats.blocks.source import Source
from juncture.formats.dne.fields import Field, read_list

STATES_FIELD = "JUNCTURE_states"
INFINITE = {"INFINITY": math.inf, "+INFINITY": math.inf, "-INFINITY": -math.inf}


class States(NamedTuple):
    """The labels of a node's states; their codes by name, and by value, or the bounds of their intervals in order."""

    labels: list[str]
    codes: dict[str, int]
    values: dict[float, int]
    bounds: list[float]
    is_descending: bool

    def find(self, word: str) -> int | None:
        """The code of the state that a word of a table means: `#2`, a name, or a number among the levels."""
        if word.startswith("#"):
            code = int(word[1:]) if word[1:].isascii() and word[1:].isdigit() and len(word) < 10 else len(self.labels)
            return code if code < len(self.labels) else None
        if word in self.codes or not is_level(word):
            return self.codes.get(word)
        return self._find_interval(to_number(word)) if self.bounds else self.values.get(to_number(word))

    def _find_interval(self, number: float) -> int | None:
        """The interval from its lower bound on; the greatest bound belongs to the highest."""
        if not self.bounds[0] <= number <= self.bounds[-1]:
            return None
        last = len(self.labels) - 1
        place = min(bisect_right(self.bounds, number) - 1, last)
        return last - place if self.is_descending else place


def read_states(source: Source, name: str, fields: Mapping[str, Field], offset: int) -> States:
    """Names come before titles, titles before levels, levels before a number."""
    names = read_list(source, fields["states"]) if "states" in fields else []
    is_interval = "discrete" in fields and fields["discrete"].value == "FALSE"
    words = read_levels(source, name, fields["levels"], is_interval=is_interval) if "levels" in fields else []
    from_levels = interval_labels(words) if is_interval else words
    titles = read_list(source, fields["statetitles"]) if "statetitles" in fields else []
    number = read_number(source, name, fields)
    names = names or (titles if titles and all(titles) else from_levels) or list(map(str, range(number or 0)))
    if not names or "" in names:
        what = "a state without a name" if names else "no states"
        raise source.error(f"the node {name!r} has {what}; give 'states = (…, …);'", offset)
    if number is not None and number != len(names):
        found = f"{name!r} has {len(names)} states, and numstates = {number}"
        raise source.error(f"{found}; the two must agree", fields["numstates"].offset)
    if words and len(from_levels) != len(names):
        rule = "a value for each state, or, of a continuous node, the bounds of each interval"
        raise source.error(f"the levels of {name!r} must be {rule}; found {len(words)}", fields["levels"].offset)
    labels = read_list(source, fields[STATES_FIELD]) if STATES_FIELD in fields else names
    if len(labels) != len(names):
        raise source.error(f"{STATES_FIELD} of {name!r} needs {len(names)} labels", fields[STATES_FIELD].offset)
    levels, codes = [to_number(word) for word in words], {word: code for code, word in enumerate(names)}
    if is_interval:
        return States(labels, codes, {}, sorted(levels), is_descending=levels != sorted(levels))
    return States(labels, codes, {level: code for code, level in enumerate(levels)}, [], is_descending=False)


def read_number(source: Source, name: str, fields: Mapping[str, Field]) -> int | None:
    """The declared number of states, if there is one."""
    if "numstates" not in fields:
        return None
    word, offset = fields["numstates"].value, fields["numstates"].offset
    if not (word.isascii() and word.isdigit() and len(word) < 10 and 0 < int(word) <= len(source.text)):
        rule = "must be a whole number, and not more than its table can hold"
        raise source.error(f"the number of states of {name!r} {rule}; found {source.excerpt(word)}", offset)
    return int(word)


def read_levels(source: Source, name: str, field: Field, *, is_interval: bool) -> list[str]:
    """The numbers as the file writes them; bounds of intervals go up or down."""
    words = read_list(source, field)
    wrong = next((word for word in words if not is_level(word)), None)
    if wrong is not None:
        raise source.error(f"the levels of {name!r} must be numbers; found {source.excerpt(wrong)}", field.offset)
    steps = {low < high for low, high in pairwise(map(to_number, words))}
    if is_interval and (len(steps) > 1 or len({to_number(word) for word in words}) < len(words)):
        rule = "must all go up, or all go down"
        raise source.error(f"the levels of {name!r} {rule}; found {source.excerpt(field.value)}", field.offset)
    return words


def is_level(word: str) -> bool:
    return word in INFINITE or (is_number(word) and math.isfinite(float(word)))


def to_number(word: str) -> float:
    return INFINITE[word] if word in INFINITE else float(word)


def interval_labels(words: list[str]) -> list[str]:
    """The intervals between levels.

    >>> interval_labels(["-INFINITY", "10", "20", "INFINITY"])
    ['< 10', '10 – 20', '≥ 20']
    """
    return [interval_label(low, high) for low, high in pairwise(words)]


def interval_label(low: str, high: str) -> str:
    low, high = (low, high) if to_number(low) < to_number(high) else (high, low)
    if low in INFINITE:
        return "any" if high in INFINITE else f"< {high}"
    return f"≥ {low}" if high in INFINITE else f"{low} – {high}"
