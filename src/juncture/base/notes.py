"""`Notes`: what an estimate had to hold or to choose, returned with it. The public verb, and nothing else, warns of it.

The steps of EM estimate hundreds of times and drop the notes; a verb estimates once and says them. An estimate of many
distributions knows these by their numbers only; the model around them knows their places and names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from juncture.errors import warn_user

Name = Callable[[int], str]


def number_state(position: int) -> str:
    """What a warning calls the distribution at an index, where no model names it."""
    return f"state {position}"


@dataclass(frozen=True)
class Note:
    """One sentence about a distribution: `before`, what the distribution is called, `after`."""

    category: type[Warning]
    before: str
    about: int | str  # the index of the distribution, or what it is called
    after: str
    part: str = ""  # of the distribution at the index, such as "column 2 of "

    def message(self, name: Name) -> str:
        called = self.about if isinstance(self.about, str) else f"{self.part}{name(self.about)}"
        return f"{self.before}{called}{self.after}"


@dataclass(frozen=True)
class Notes:
    """What an estimate has to say, in order; `a + b` are the notes of two estimates.

    >>> held = Notes((Note(UserWarning, "", 1, " keeps its variance"),))
    >>> [note.message(number_state) for note in held.moved(lambda column: (0, f"column {column} of ")).notes]
    ['column 1 of state 0 keeps its variance']
    """

    notes: tuple[Note, ...] = ()

    def __add__(self, other: Notes) -> Notes:
        return Notes(self.notes + other.notes)

    @classmethod
    def joined(cls, parts: Iterable[Notes]) -> Notes:
        return cls(tuple(chain.from_iterable(part.notes for part in parts)))

    def moved(self, place: Callable[[int], tuple[int, str]]) -> Notes:
        """The notes of parts of a whole: `place(index)` is the index of its whole, and which part of that it is."""
        return Notes(tuple(move(note, place) for note in self.notes))

    def warn(self, name: Name = number_state) -> None:
        """Give the user each of them once; `name(index)` is what a distribution is called."""
        for message, category in dict.fromkeys((note.message(name), note.category) for note in self.notes):
            warn_user(message, category)


def move(note: Note, place: Callable[[int], tuple[int, str]]) -> Note:
    if isinstance(note.about, str):
        return note
    index, part = place(note.about)
    return replace(note, about=index, part=note.part + part)


NO_NOTES = Notes()
