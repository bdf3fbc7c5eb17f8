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
    """The labels of a node's states, their codes by name, and their values or the bounds of their intervals."""

    labels: list[str]
    codes: dict[str, int]
    levels: list[float]

    def find(self, word: str) -> int | None:
        """The code of the state that a word of a table means: `#2`, a name, or a number among the levels."""
        if word.startswith("#"):
            code = int(word[1:]) if word[1:].isascii() and word[1:].isdigit() and len(word) < 10 else len(self.labels)
            return code if code < len(self.labels) else None
        if word in self.codes or not is_level(word):
            return self.codes.get(word)
        return self._find_number(to_number(word))

    def _find_number(self, number: float) -> int | None:
        """The state of this value, or the interval that it lies in; the last bound belongs to the last interval."""
        place = bisect_right(self.levels, number) - 1
        if len(self.levels) == len(self.labels):
            return place if place >= 0 and self.levels[place] == number else None
        last = len(self.levels) - 2
        return min(place, last) if 0 <= place <= last or (self.levels and number == self.levels[-1]) else None


def read_states(source: Source, name: str, fields: Mapping[str, Field], offset: int) -> States:
    """Names come before titles, titles before levels, levels before a number."""
    names = read_list(source, fields["states"]) if "states" in fields else []
    words = read_levels(source, name, fields["levels"]) if "levels" in fields else []
    is_interval = "discrete" in fields and fields["discrete"].value == "FALSE"
    from_levels = interval_labels(words) if is_interval else words
    titles = read_list(source, fields["statetitles"]) if "statetitles" in fields else []
    names = names or (titles if titles and all(titles) else from_levels) or count_states(source, name, fields)
    if not names or "" in names:
        what = "a state without a name" if names else "no states"
        raise source.error(f"the node {name!r} has {what}; give 'states = (…, …);'", offset)
    if words and len(from_levels) != len(names):
        rule = "a value for each state, or, of a continuous node, the bounds of each interval"
        raise source.error(f"the levels of {name!r} must be {rule}; found {len(words)}", fields["levels"].offset)
    labels = read_list(source, fields[STATES_FIELD]) if STATES_FIELD in fields else names
    if len(labels) != len(names):
        raise source.error(f"{STATES_FIELD} of {name!r} needs {len(names)} labels", fields[STATES_FIELD].offset)
    return States(labels, {word: code for code, word in enumerate(names)}, [to_number(word) for word in words])


def count_states(source: Source, name: str, fields: Mapping[str, Field]) -> list[str]:
    if "numstates" not in fields:
        return []
    word, offset = fields["numstates"].value, fields["numstates"].offset
    if not (word.isascii() and word.isdigit() and len(word) < 10 and 0 < int(word) <= len(source.text)):
        rule = "must be a whole number, and not more than its table can hold"
        raise source.error(f"the number of states of {name!r} {rule}; found {source.excerpt(word)}", offset)
    return [str(code) for code in range(int(word))]


def read_levels(source: Source, name: str, field: Field) -> list[str]:
    """The numbers as the file writes them."""
    words = read_list(source, field)
    wrong = next((word for word in words if not is_level(word)), None)
    if wrong is not None:
        raise source.error(f"the levels of {name!r} must be numbers; found {source.excerpt(wrong)}", field.offset)
    numbers = [to_number(word) for word in words]
    if any(not low < high for low, high in pairwise(numbers)):
        raise source.error(f"the levels of {name!r} must increase; found {source.excerpt(field.value)}", field.offset)
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
    if low in INFINITE:
        return "any" if high in INFINITE else f"< {high}"
    return f"≥ {low}" if high in INFINITE else f"{low} – {high}"
