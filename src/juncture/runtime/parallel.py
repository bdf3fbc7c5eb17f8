"""Work on all cores: the parts do not depend on the number of cores, so that results do not depend on it either.

How many threads work at once: `set_num_threads`, else `JUNCTURE_NUM_THREADS`, else the cores of this process, or the
CPU quota of its container if that is less.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import copy_context
from functools import cache, lru_cache
from itertools import chain, islice
from math import ceil, prod
from pathlib import Path
from threading import Condition, Lock, Semaphore, Thread, local
from typing import Any, Generic, TypeVar

from juncture.base.checks import check_count, shown
from juncture.errors import InvalidData
from juncture.runtime.control_groups import group_folders, least, old_group_folders, read_lines

BLOCK = 65_536  # numbers: those of a block fit a core's cache
MANY_BLOCKS = 3  # below this, threads cost more than they save
MOST_AHEAD = 8  # parts of a stream that are worked on at once: each is in memory
THREADS_SETTING = "JUNCTURE_NUM_THREADS"

Part = TypeVar("Part")
Result = TypeVar("Result")


def map(  # noqa: A001 (used as parallel.map)
    function: Callable[[Part], Result], parts: Sequence[Part], *, is_worth_threads: bool = True
) -> list[Result]:
    """`function` of each part, in order; of several errors, that of the first part."""
    if len(parts) < 2 or not is_worth_threads or is_one_of_many():
        return [function(part) for part in parts]
    waiting, results, errors = deque(enumerate(parts)), dict[int, Result](), dict[int, BaseException]()

    def work() -> None:
        while waiting and not errors:
            try:
                index, part = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                results[index] = function(part)
            except BaseException as error:  # noqa: BLE001
                errors[index] = error  # raised below, in the caller's thread

    # Threads of our own, not a pool: cheaper than a task per part, and nothing is left over for a fork to lose.
    threads = [Thread(target=copy_context().run, args=(work,)) for _ in range(min(num_threads(), len(parts)) - 1)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[min(errors)]
    return [results[index] for index in range(len(parts))]


WORKER = local()  # the stream of a thread that works on one


def is_one_of_many() -> bool:
    """Whether this thread works on one part beside others: it starts no further threads."""
    if getattr(WORKER, "is_alone", False):
        return True
    stream = getattr(WORKER, "stream", None)
    return stream is not None and not (stream.has_ended and stream.num_taken < 2)


@contextmanager
def within_one_thread() -> Iterator[None]:
    """Work that starts no threads, as other parts of it run beside this one, in other threads or processes."""
    before, WORKER.is_alone = getattr(WORKER, "is_alone", False), True
    try:
        yield
    finally:
        WORKER.is_alone = before


def map_stream(function: Callable[[Part], Result], parts: Iterable[Part]) -> Iterator[Result]:
    """`function` of each part, in order; while some threads work, one of them takes the next part.

    At most as many parts are in memory as threads work, and one more; of several errors, that of the first part is
    raised. This thread takes the first part: connections of some databases serve only the thread that made them.
    """
    if num_threads() < 2 or is_one_of_many():
        for part in parts:  # not a generator expression: an error leaves the parts, which end their pass
            yield function(part)
        return
    taken = iter(parts)
    stream = Stream(function, chain(list(islice(taken, 1)), taken))
    try:
        yield from stream.results()
    finally:
        stream.stop()


class Stream(Generic[Part, Result]):
    """Threads that take parts from one iterator, and their results by the number of the part."""

    def __init__(self, function: Callable[[Part], Result], parts: Iterator[Part]) -> None:
        self.function, self.parts = function, parts
        self.results_of, self.errors = dict[int, Result](), dict[int, BaseException]()
        self.num_taken, self.has_ended = 0, False
        size = min(num_threads(), MOST_AHEAD)
        self.taking, self.changed, self.room = Lock(), Condition(), Semaphore(size + 1)
        self.threads = [Thread(target=copy_context().run, args=(self.work,), daemon=True) for _ in range(size)]
        for thread in self.threads:
            thread.start()

    def work(self) -> None:
        WORKER.stream = self
        while self.room.acquire() and (taken := self.take()):
            index, part = taken
            try:
                result = self.function(part)
            except BaseException as error:  # noqa: BLE001
                self.fail(index, error)
                return
            del part, taken
            with self.changed:
                self.results_of[index] = result
                self.changed.notify_all()

    def take(self) -> tuple[int, Part] | None:
        """The number of the next part and the part; None where there is none, or work has ended."""
        with self.taking:
            if self.has_ended:
                return None
            try:
                part = next(self.parts)
            except StopIteration:
                self.end()
                return None
            except BaseException as error:  # noqa: BLE001
                self.fail(self.num_taken, error)
                return None
            self.num_taken += 1
            return self.num_taken - 1, part

    def fail(self, index: int, error: BaseException) -> None:
        with self.changed:
            self.errors[index] = error  # raised in the thread that asks for the results
        self.end()

    def end(self) -> None:
        """No further part is taken; threads that wait for room see it."""
        with self.changed:
            self.has_ended = True
            self.changed.notify_all()
        for _ in self.threads:
            self.room.release()

    def results(self) -> Iterator[Result]:
        index = 0
        while True:
            with self.changed:
                while index not in self.results_of and index not in self.errors and not self.is_past(index):
                    self.changed.wait()
                if index in self.errors:
                    raise self.errors[index]
                if index not in self.results_of:
                    return
                result = self.results_of.pop(index)
            yield result
            self.room.release()
            index += 1

    def is_past(self, index: int) -> bool:
        return self.has_ended and index >= self.num_taken

    def stop(self) -> None:
        self.end()
        for thread in self.threads:
            thread.join()
        close = getattr(self.parts, "close", None)
        if close is not None:
            close()


def map_blocks(function: Callable[[slice], Result], num_rows: int, size: int = BLOCK) -> list[Result]:
    """`function` of each block of rows, in order."""
    blocks = blocks_of(num_rows, size)
    return map(function, blocks, is_worth_threads=len(blocks) >= MANY_BLOCKS)


def blocks_of(num_rows: int, size: int) -> list[slice]:
    """All rows, `size` of them at a time."""
    return [slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size)]


def block_rows(*shapes: tuple[int, ...], numbers: int = BLOCK) -> int:
    """How many rows make a block, where rows have these shapes."""
    return max(256, int(numbers // max(1, *(prod(shape) for shape in shapes))))


def set_num_threads(number: int | None) -> None:
    """Let at most `number` threads work at once; None returns to the setting of the environment or the machine.

    Answers do not depend on the number of threads.

    Parameters
    ----------
    number
        At least 1, or None.

    Examples
    --------
    >>> set_num_threads(2)
    >>> num_threads()
    2
    >>> set_num_threads(None)
    """
    global _chosen  # noqa: PLW0603 (a setting of the process)
    _chosen = None if number is None else check_count(number, "the number of threads", least=1)


_chosen: int | None = None


def num_threads() -> int:
    """How many threads may work at once."""
    if _chosen is not None:
        return _chosen
    setting = os.environ.get(THREADS_SETTING, "").strip()
    if not setting:
        return num_cores()
    if not (setting.isdecimal() and int(setting) > 0):
        raise InvalidData(f"{THREADS_SETTING} is a whole number of threads, at least 1; got {shown(setting)}")
    return int(setting)


def num_cores() -> int:
    """How many cores this process may use: those it may run on, or the CPU quota of its container if that is less."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = cpu_quota()
    return cores if quota is None else min(cores, max(1, ceil(quota)))


@cache
def cpu_quota() -> float | None:
    """The cores' worth of time that the control groups of this process may take; None without a limit."""
    new = [read_quota(folder) for folder in group_folders()]
    return least(new + [read_old_quota(folder) for folder in old_group_folders("cpu")])


def read_quota(folder: Path) -> float | None:
    """The quota in `cpu.max`: microseconds, or max, in a period of microseconds."""
    return parse_quota(" ".join(read_lines(folder / "cpu.max")).split())


def read_old_quota(folder: Path) -> float | None:
    """The quota of control groups of version 1; -1 is no limit."""
    return parse_quota([*read_lines(folder / "cpu.cfs_quota_us"), *read_lines(folder / "cpu.cfs_period_us")])


def parse_quota(numbers: list[str]) -> float | None:
    """Quota over period; None where one of them is missing or no positive number."""
    if len(numbers) != 2 or not all(number.isdecimal() and int(number) > 0 for number in numbers):
        return None
    return int(numbers[0]) / int(numbers[1])


def one_thread(is_needed: bool = True) -> AbstractContextManager[Any]:
    """Linear algebra on one thread, where that can be said: in products this small, threads wait for each other."""
    if not is_needed:
        return nullcontext()
    try:
        limits: AbstractContextManager[Any] = find_libraries(len(sys.modules)).limit(limits=1)
    except ImportError:
        return nullcontext()
    return limits


@lru_cache(maxsize=1)
def find_libraries(num_modules: int) -> Any:
    """The libraries of linear algebra in this process, which is some milliseconds' work; a module may bring others."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
