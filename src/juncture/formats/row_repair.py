"""Rows of probabilities in files: kept, repaired and counted, or refused; and sizes checked before allocating."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juncture.base.checks import check_flag
from juncture.base.values import finding_text
from juncture.errors import FormatError, RenormalizedWarning, warn_user
from juncture.numerics.stable import ROW_SUM_TOLERANCE
from juncture.variables import Scope, Variable

REPAIR_TOLERANCE = 1e-3
ADVICE = (
    "Where the rows are counts, percentages or rounded, jt.read(path, normalize=True) divides each by its sum"
    " (on the command line: --normalize)"
)
AGRUM = (
    "the file was written by aGrUM, in whose tables the first parent changes faster than the last, where the format has"
    " the last as the fastest; it was read as aGrUM reads it"
)
ROUNDED_ZERO = 1e-6  # a negative entry above -1e-6 is a zero that single precision has rounded


class RowRepair:
    """What happened to the rows of one file, and what else its reader must tell.

    Those within 1e-9 of 1 stay as they are, bit for bit; those within 1e-3 are divided by their sum and counted;
    others are refused, by name. With `normalize` every row is divided by its sum, and a row of zeros becomes uniform.
    """

    def __init__(self, *, normalize: bool = False) -> None:
        self.normalize = check_flag(normalize, "normalize")
        self.count = self.zero_count = self.negative_count = 0
        self.worst = 0.0
        self.worst_row = self.zero_row = ""
        self.notes: list[tuple[str, type[Warning]]] = []

    def note_agrum_order(self) -> None:
        """The tables of this file were taken in the order of aGrUM."""
        if (AGRUM, UserWarning) not in self.notes:
            self.notes.append((AGRUM, UserWarning))

    def repair(self, child: Variable, parents: Scope, values: np.ndarray, *, line: int | None = None) -> np.ndarray:
        """The table with one axis per parent, then the child, every row of which sums to 1."""
        rows = self._without_rounded_zeros(values.reshape(-1, child.num_states))
        check_entries(rows, child, parents, line)
        if self.normalize:
            rows = self._without_zero_rows(rows, child, parents)
        with np.errstate(over="ignore"):  # a sum of inf is refused below
            sums = rows.sum(axis=1)
        errors = np.abs(sums - 1)
        index = int(np.argmax(errors))
        if errors[index] > REPAIR_TOLERANCE and not (self.normalize and np.isfinite(sums).all()):
            row = describe_row(child, parents, index)
            raise FormatError(
                f"{row} sums to {sums[index]:.12g}; a row must sum to 1 within {REPAIR_TOLERANCE:g}. {ADVICE}",
                line=line,
            )
        bad = errors > ROW_SUM_TOLERANCE
        if bad.any():
            rows = np.where(bad[:, None], rows / sums[:, None], rows)
            self._note(int(bad.sum()), float(sums[index]), describe_row(child, parents, index))
        return rows.reshape((*parents.shape, child.num_states))

    def _without_rounded_zeros(self, rows: np.ndarray) -> np.ndarray:
        rounded = (rows < 0) & (rows > -ROUNDED_ZERO)
        self.negative_count += int(rounded.sum())
        return np.where(rounded, 0.0, rows) if rounded.any() else rows

    def _without_zero_rows(self, rows: np.ndarray, child: Variable, parents: Scope) -> np.ndarray:
        zero = (rows == 0).all(axis=1)
        if not zero.any():
            return rows
        self.zero_count += int(zero.sum())
        self.zero_row = self.zero_row or describe_row(child, parents, int(np.argmax(zero)))
        return np.where(zero[:, None], 1.0 / child.num_states, rows)

    def _note(self, count: int, worst: float, row: str) -> None:
        self.count += count
        if abs(worst - 1) > abs(self.worst - 1) or not self.worst_row:
            self.worst, self.worst_row = worst, row

    def warn(self, file: str) -> None:
        """One warning a file about rows that changed, and those that its reader has noted."""
        found = []
        if self.count:
            divided = f"{self.count} rows did not sum to 1 and were divided by their sum"
            found.append(f"{divided}; the worst, {self.worst_row}, summed to {self.worst:.9g}")
        if self.zero_count:
            found.append(f"{self.zero_count} rows of zeros became uniform; the first is {self.zero_row}")
        if self.negative_count:
            found.append(f"{self.negative_count} entries between -{ROUNDED_ZERO:g} and 0 were set to 0")
        if found:
            warn_user(f"{file}: {'. '.join(found)}", RenormalizedWarning)
        for note, category in self.notes:
            warn_user(f"{file}: {note}", category)


def check_entries(rows: np.ndarray, child: Variable, parents: Scope, line: int | None) -> None:
    """Every entry is a finite number that is not negative."""
    good = (rows >= 0) & (rows < np.inf)
    if not good.all():
        row, column = (int(axis[0]) for axis in np.nonzero(~good))
        described = describe_row(child, parents, row)
        raise FormatError(
            f"{described} has the entry {rows[row, column]:g}; probabilities are between 0 and 1", line=line
        )


def describe_row(child: Variable, parents: Scope, index: int) -> str:
    """`the row of 'lung' given smoke=yes`."""
    if not parents:
        return f"the row of {child.name!r}"
    codes = np.unravel_index(index, parents.shape)
    given = ", ".join(finding_text(v.name, v.labels[int(code)]) for v, code in zip(parents, codes, strict=True))
    return f"the row of {child.name!r} given {given}"


def check_size(sizes: Sequence[int], available: int, what: str, *, line: int | None = None) -> int:
    """The number of cells that `sizes` declare, refused when the file cannot hold that many numbers.

    `available` is an upper bound for how many numbers the rest of the file can contain, so that a header
    of a few bytes cannot ask for terabytes.
    """
    cells = 1
    for size in sizes:  # stops early: the whole product may be too long to compute or to print
        cells *= size
        if cells > available:
            message = f"{what} declares {cells:,} entries or more, and the file can hold {available:,}"
            raise FormatError(message, line=line)
    return cells
