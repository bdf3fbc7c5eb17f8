"""Free memory, and checks that a result fits before it is allocated."""

from __future__ import annotations

import os
import sys
from collections.abc import Sized
from math import prod
from pathlib import Path
from typing import Any

from juncture.base.checks import as_float, shown
from juncture.errors import InvalidData, TooLarge
from juncture.runtime.control_groups import group_folders, least, old_group_folders, read_lines

SURELY_FREE = 2**26  # bytes: a smaller result is allocated without looking at the free memory
NUMBER = 8  # bytes
COPIES = 3  # of a table while it is made, checked and stored
MANY_STATES, STATE_BYTES = 10**6, 200  # from so many on memory is looked at; a state, and what finds it by its label
STEP = 4096  # bytes of a variable with its labels and its conditional
NEW_FILES = "memory.max", "memory.current"  # of control groups: the limit, and what is taken
OLD_FILES = "memory.limit_in_bytes", "memory.usage_in_bytes"  # of version 1
NO_LIMIT = 2**62  # bytes: version 1 writes no limit as the largest whole number of pages


def default_memory_limit() -> int:
    """Half of the free memory of the machine, or of the container if that is less."""
    new = [free_group_memory(folder, *NEW_FILES) for folder in group_folders()]
    free = least(new + [free_group_memory(folder, *OLD_FILES) for folder in old_group_folders("memory")])
    machine = free_machine_memory()
    return (machine if free is None else min(machine, int(free))) // 2


def check_memory(needed: float, what: str, remedy: str, limit: float | None = None) -> None:
    """Raise `TooLarge` if a result needs more bytes than the limit, which is half of the free memory by default."""
    if limit is None and needed <= SURELY_FREE:
        return
    limit = default_memory_limit() if limit is None else limit
    if needed > limit:
        raise TooLarge(f"{what} would need {format_bytes(needed)}; the limit is {format_bytes(limit)}: {remedy}")


def advise_fewer(num_rows: int) -> str:
    """The advice where the answers for some rows do not fit in memory; for a single row another one."""
    return "ask about fewer rows at a time" if num_rows > 1 else "raise memory_limit"


def check_table_fits(shape: tuple[int, ...], what: str, remedy: str, *, copies: int = COPIES) -> None:
    """Raise `TooLarge` where a table of numbers of this shape, with its copies, is beyond the memory limit."""
    check_memory(copies * NUMBER * prod(map(int, shape)), what, remedy)


def check_steps_fit(length: int, table: tuple[int, ...], what: str) -> None:
    """Raise `TooLarge` where a network with a table of this shape for each step is beyond the memory limit."""
    check_memory(
        length * (STEP + NUMBER * prod(map(int, table))), what, "use fewer steps, or infer with the chain itself"
    )


def format_bytes(count: float) -> str:
    """`960 bytes`, `23.9 KiB`, `1.5 GiB`; a whole number that no float can hold as a power of two."""
    if isinstance(count, int) and count.bit_length() > 1000:
        return f"2^{count.bit_length() - 1} bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:,.3g} TiB"


def free_machine_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 4 * 2**30


def free_group_memory(folder: Path, limit: str, used: str) -> int | None:
    """The memory that a control group has left; None where there is no group or no limit."""
    top = read_lines(folder / limit)
    if len(top) != 1 or not top[0].isdecimal() or int(top[0]) >= NO_LIMIT:
        return None  # before the files are read that the kernel sums up for whoever opens them
    taken = read_lines(folder / used)
    if len(taken) != 1 or not taken[0].isdecimal():
        return None
    return max(int(top[0]) - max(int(taken[0]) - group_file_cache(folder), 0), 0)


def group_file_cache(folder: Path) -> int:
    """The bytes of files that a control group holds in memory and would give up first: they count as used there."""
    lines = read_lines(folder / "memory.stat")
    counts = dict(line.split(maxsplit=1) for line in lines if " " in line)
    return int(counts.get("total_inactive_file", counts.get("inactive_file", 0)))


def check_memory_limit(memory_limit: Any) -> float:
    """The memory limit, in bytes, that a user gave."""
    limit = as_float(memory_limit)
    if not limit > 0:
        raise InvalidData(f"memory_limit is a positive number of bytes; got {shown(memory_limit)}")
    return limit


def known_length(items: object) -> int:
    """How many there are: 0 where that is not known, and at most the greatest number that `len` can say."""
    try:
        return len(items) if isinstance(items, Sized) else 0
    except OverflowError:
        return sys.maxsize


def check_num_states(count: int, name: str) -> None:
    """Refuse more states than memory holds, before they are made."""
    if count > MANY_STATES and count * STATE_BYTES > (limit := default_memory_limit()):
        raise TooLarge(
            f"variable {name!r} would have {count:,} states, which take {format_bytes(count * STATE_BYTES)}; the"
            f" memory limit is {format_bytes(limit)}: leave the states out for a real-valued variable, or discretize it"
        )
