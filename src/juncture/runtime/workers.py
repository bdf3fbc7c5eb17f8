"""Work in other processes: what goes there and comes back, and `on_workers`, which sends restarts and replicates there.

A function is pickled once, with the versions that it needs. What comes back has the results, the warnings, which are
given in the process of the user, and the error that ended the work, as the one sentence that it is.
"""

from __future__ import annotations

import pickle
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

import numpy as np

import juncture
from juncture.base.checks import shown
from juncture.base.compilation import PATH, Path, on_path
from juncture.errors import HeldWarning, InvalidData, JunctureError, MissingExtra, Unsupported, hold_warnings, warn_user
from juncture.runtime.parallel import within_one_thread

Part = TypeVar("Part")
Result = TypeVar("Result")
WORKERS: ContextVar[Any] = ContextVar("WORKERS", default=None)


@contextmanager
def on_workers(workers: Any) -> Iterator[None]:
    """Send whole runs to other processes: restarts of EM, bootstrap samples and chains of Markov chain Monte Carlo.

    The numbers are the same as without workers. Rows in memory travel to the workers with the runs; rows that lie on a
    cluster already are worked on there anyhow. While EM runs from several starts, `progress` is called once a start.

    Parameters
    ----------
    workers
        A `dask.distributed.Client`, or an executor of `concurrent.futures`, such as a `ProcessPoolExecutor`. They have
        the same versions of juncture, NumPy and Python.

    Examples
    --------
    >>> import juncture as jt
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> rows = jt.sample(jt.example("student"), 500, rng=0)
    >>> with ThreadPoolExecutor(2) as pool, on_workers(pool):
    ...     strengths = jt.structure.strengths(rows, draws=4, rng=0)
    >>> strengths == jt.structure.strengths(rows, draws=4, rng=0)
    True
    """
    if not isinstance(workers, Executor) and not is_client(workers):
        raise InvalidData(f"workers are a Dask client or an executor of concurrent.futures; got {shown(workers)}")
    token = WORKERS.set(workers)
    try:
        yield
    finally:
        WORKERS.reset(token)


def has_workers() -> bool:
    """Whether whole runs go to other processes now."""
    return WORKERS.get() is not None


def map_runs(function: Callable[[Part], Result], parts: Sequence[Part]) -> Iterator[Result]:
    """`function` of each part, in order: on the workers if there are some, else here, one after the other."""
    if not has_workers() or len(parts) < 2:
        for part in parts:
            yield function(part)
        return
    futures = submit(Remote.of(partial(once, function)), parts)
    try:
        while futures:
            yield from futures.pop(0).result().give()
    finally:
        for future in futures:
            future.cancel()


def submit(work: Remote, parts: Iterable[Any]) -> list[Any]:
    """A future for each part; a client of Dask sends the work to each worker once."""
    workers = WORKERS.get()
    if not is_client(workers):
        return [workers.submit(work, part) for part in parts]
    sent = workers.submit(same, work, pure=False)
    return [workers.submit(call, sent, part, pure=False) for part in parts]


def is_client(workers: Any) -> bool:
    """Whether this is a client of Dask; who has one has imported the package."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(workers, distributed.Client)


def once(function: Callable[[Part], Result], part: Part) -> Iterator[Result]:
    yield function(part)


def call(work: Remote, part: Any) -> Found:
    return work(part)


def same(given: Part) -> Part:
    return given


class Versions(NamedTuple):
    """What must be the same here and on the workers for pickled functions, and the last bit of results, to be."""

    juncture: str
    numpy: str
    python: str

    @classmethod
    def of_this_process(cls) -> Versions:
        return cls(juncture.__version__, np.__version__, ".".join(platform.python_version_tuple()[:2]))

    def check(self) -> None:
        for name, wanted, found in zip(self._fields, self, Versions.of_this_process(), strict=True):
            if wanted != found:
                raise Unsupported(
                    f"the workers have {name} {found} and this process has {name} {wanted}: install the same version"
                    " on both sides"
                )


class Found(NamedTuple):
    """What comes back: the results, the warnings, and the error that ended the work."""

    results: list[Any]
    warnings: list[HeldWarning]
    error: JunctureError | None

    def give(self) -> Iterator[Any]:
        for warning in dict.fromkeys(self.warnings):
            warn_user(*warning)
        yield from self.results
        if self.error is not None:
            raise self.error


@dataclass(frozen=True)
class Remote:
    """A pickled function for another process, and the versions that both processes must have."""

    versions: Versions
    content: bytes
    path: Path | None  # of the public call that sends it: interpreted or compiled

    @classmethod
    def of(cls, function: Callable[..., Iterator[Any]], pickler: str = "cloudpickle") -> Remote:
        """`pickler` is the package that pickles functions by their content, here and on the workers."""
        try:
            return cls(Versions.of_this_process(), import_module(pickler).dumps(function), PATH.get())
        except ModuleNotFoundError as error:
            raise MissingExtra.named(pickler, "dask") from error

    def __call__(self, *arguments: Any) -> Found:
        results: list[Any] = []
        with hold_warnings() as held, within_one_thread(), on_path(self.path):
            try:
                self.versions.check()
                for result in load(self.content)(*arguments):
                    results.append(result)  # noqa: PERF402 (those before an error are kept)
            except JunctureError as error:
                return Found(results, held, error)
        return Found(results, held, None)


@lru_cache(maxsize=4)
def load(content: bytes) -> Any:
    """What was pickled: once in each process, so that plans that a model keeps serve all of its work."""
    return pickle.loads(content)  # noqa: S301 (made by the process that gave this one its work)
