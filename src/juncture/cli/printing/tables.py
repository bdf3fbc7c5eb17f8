"""Tables for the eye, as wide as the terminal: headings are broken at blanks, then columns left out, then cells broken.

What is left out is told below the table. In a pipe a table is as wide as it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from juncture.cli.printing.output import as_shown

PADDING = 3  # of a column, with the line between it and the next
EDGE = 1  # of the whole table
LONGEST_WORD = 20  # cells: a longer word of a text may be broken
GAP = None  # in place of a row: a line without cells


class Column(NamedTuple):
    """A column: its heading, and whether its cells are numbers, which are never broken."""

    head: str
    is_numeric: bool


@dataclass(frozen=True)
class TextTable:
    """A table whose columns fit a width.

    Attributes
    ----------
    title
        Its first line.
    columns
        Its columns.
    spare
        The headings of columns that may be left out where the terminal is narrow, the first of them first.
    rows
        The cells of each row; `GAP` is a line between rows.
    """

    title: str
    columns: tuple[Column, ...]
    spare: tuple[str, ...] = ()
    rows: list[tuple[str, ...] | None] = field(default_factory=list)

    def add_row(self, *cells: str) -> None:
        """Add a row: a text for each column."""
        self.rows.append(tuple(map(as_shown, cells)))

    def add_section(self) -> None:
        """Leave a line empty."""
        self.rows.append(GAP)

    def fitted_to(self, width: int) -> Iterator[Any]:
        """What to print at this width: the title, tables of rich below each other, a sentence on what is left out."""
        kept, left_out = list(range(len(self.columns))), []
        for head in self.spare:
            if self._is_room(kept, width):
                break
            place = next(place for place in reversed(kept) if self.columns[place].head == head)
            kept.remove(place)
            left_out.append(place)
        if self.title:
            yield as_title(self.title)
        for part in self._split(kept, width):
            yield self._only(part).render(width)
        named = [self.columns[place].head for place in sorted(left_out) if self.columns[place].head]
        if named:
            from juncture.base.values import number_of  # here, so that the shell completes names without NumPy

            room = number_of(self._least_width(range(len(self.columns))), "column")
            which = "it" if len(named) == 1 else "them"
            yield (f"left out: {', '.join(named)}; a terminal {room} wide shows {which}, as do --json and a pipe")

    def _is_room(self, places: Sequence[int], width: int) -> bool:
        return self._least_width(places) <= width

    def _least_width(self, places: Sequence[int]) -> int:
        """The width with headings broken at blanks, and cells whole."""
        return EDGE + sum(PADDING + self._unbroken(place) for place in places)

    def _split(self, places: list[int], width: int) -> list[list[int]]:
        """The columns of each table: further ones stand in a table below, beside the first column again."""
        if EDGE + sum(PADDING + self._shortest(place) for place in places) <= width:
            return [places]
        first, *others = places
        parts: list[list[int]] = []
        for place in others:
            room = EDGE + sum(PADDING + self._shortest(each) for each in (*(parts[-1] if parts else []), place))
            if parts and room <= width:
                parts[-1].append(place)
            else:
                parts.append([first, place])
        return parts or [places]

    def _only(self, places: Sequence[int]) -> TextTable:
        rows = [None if row is None else tuple(row[place] for place in places) for row in self.rows]
        return replace(self, columns=tuple(self.columns[place] for place in places), rows=rows)

    def render(self, width: int) -> Any:
        """The table of rich, its columns no wider together than this, where they can be."""
        from rich import box
        from rich.table import Table

        found = Table(box=box.SIMPLE, show_header=any(column.head for column in self.columns))
        for column, room in zip(self.columns, self._widths(width), strict=True):
            side: Any = "right" if column.is_numeric else "left"
            found.add_column(as_shown(column.head), justify=side, overflow="fold", width=room)
        for row in self.rows:
            if row is GAP:
                found.add_section()
            else:
                found.add_row(*row)
        return found

    def _widths(self, width: int) -> list[int]:
        """The width of each column: the widest give way to the others, down to their longest word."""
        places = range(len(self.columns))
        wanted, least = [list(map(of, places)) for of in (self._natural, self._shortest)]
        if sum(wanted) + PADDING * len(wanted) + EDGE > width:  # headings first
            wanted = list(map(self._unbroken, places))
        excess = sum(wanted) + PADDING * len(wanted) + EDGE - width
        while excess > 0 and any(one > low for one, low in zip(wanted, least, strict=True)):
            widest = max((place for place in places if wanted[place] > least[place]), key=lambda place: wanted[place])
            wanted[widest] -= 1
            excess -= 1
        return wanted

    def _natural(self, place: int) -> int:
        return max(length(self._head(place)), *self._lengths(place))

    def _unbroken(self, place: int) -> int:
        """With the words of the heading below each other."""
        return max(*map(length, self._head(place).split(" ")), *self._lengths(place))

    def _shortest(self, place: int) -> int:
        """The width that breaks no number, and no word that is not long."""
        if self.columns[place].is_numeric:
            return self._unbroken(place)
        words = [word for row in self.rows if row is not GAP for word in row[place].split(" ")]
        return max(0, *(min(length(word), LONGEST_WORD) for word in (*words, *self._head(place).split(" "))))

    def _head(self, place: int) -> str:
        return as_shown(self.columns[place].head)

    def _lengths(self, place: int) -> list[int]:
        return [0, *(length(row[place]) for row in self.rows if row is not GAP)]


def table(title: str, *columns: str, numeric: Sequence[str] = (), spare: Sequence[str] = ()) -> TextTable:
    """An empty table; columns of numbers are flush right, and `spare` ones are left out first where it is narrow."""
    return TextTable(title, tuple(Column(head, head in numeric) for head in columns), tuple(spare))


def as_title(text: str) -> Any:
    from rich.text import Text

    return Text(as_shown(text), style="bold")


def length(text: str) -> int:
    """The cells that a text takes; letters of some scripts take two."""
    from rich.cells import cell_len

    return cell_len(text)
