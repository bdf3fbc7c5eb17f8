"""Refusal by size: a table that memory does not hold is refused before it is made."""

from __future__ import annotations

from math import prod

from juncture.errors import TooLarge
from juncture.memory import default_memory_limit, told_bytes

SURELY_FITS = 2**27  # bytes: below this nobody looks how much memory there is
NUMBER = 8  # bytes
COPIES = 3  # of a table: as it is made, as it is checked, as it is kept
STEP = 4096  # bytes: a variable of its own for a step of a network, with its labels and its conditional


def check_table_fits(shape: tuple[int, ...], what: str, remedy: str, *, copies: int = COPIES) -> None:
    """Raise `TooLarge` where a table of numbers of this shape, with its copies, is beyond the memory limit."""
    check_bytes_fit(copies * NUMBER * prod(map(int, shape)), what, remedy)


def check_steps_fit(length: int, table: tuple[int, ...], what: str) -> None:
    """Raise `TooLarge` where a network with a table of this shape for each step is beyond the memory limit."""
    check_bytes_fit(length * (STEP + NUMBER * prod(map(int, table))), what, "ask for fewer steps, or ask the chain")


def check_bytes_fit(needed: int, what: str, remedy: str) -> None:
    if needed > SURELY_FITS and needed > (limit := default_memory_limit()):
        raise TooLarge(f"{what} needs {told_bytes(needed)}; the memory limit is {told_bytes(limit)}: {remedy}")
