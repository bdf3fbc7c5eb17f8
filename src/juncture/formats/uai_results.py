"""UAI result files: what a solver answered.

The first word is the task; then comes one solution, or the number of samples of evidence and a solution for each. After
`-BEGIN-` comes a better solution, and the last one counts. A solution is

* `PR`: log10 of the partition function or of the probability of the evidence, as a float;
* `MAR` (older: `BEL`): for each variable the probabilities of its states, as a tuple of tuples;
* `MPE`: for each variable the position of its state, as a tuple.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from juncture.base.checks import check_kind, check_path
from juncture.errors import FormatError, hint
from juncture.formats.uai import INFINITE, NumberReader, blank_comments, first_word
from juncture.runtime.files import read_bytes, write_bytes

BEGIN = b"-BEGIN-"


@dataclass(frozen=True)
class Result:
    """A task (`PR`, `MAR` or `MPE`) and its solutions, one for each sample of evidence."""

    task: str
    solutions: tuple[Any, ...]


def read_result(path: str | os.PathLike[str]) -> Result:
    """The last solution in a UAI result file.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    Result
        The task, and a solution for each sample of evidence.

    Examples
    --------
    >>> import juncture as jt
    >>> from tempfile import TemporaryDirectory
    >>> from juncture.formats.uai_results import Result
    >>> with TemporaryDirectory() as folder:
    ...     jt.results.write_result(Result("PR", (-1.5,)), f"{folder}/asia.PR")
    ...     jt.results.read_result(f"{folder}/asia.PR")
    Result(task='PR', solutions=(-1.5,))
    """
    try:
        return parse_result(read_bytes(check_path(path)))
    except FormatError as error:
        raise error.in_file(os.fspath(path)) from error


def write_result(result: Result, path: str | os.PathLike[str]) -> None:
    """Write a UAI result file; every number reads back as the same double.

    Parameters
    ----------
    result
        The task and its solutions.
    path
        The file.

    Examples
    --------
    >>> import juncture as jt
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from juncture.formats.uai_results import Result
    >>> with TemporaryDirectory() as folder:
    ...     jt.results.write_result(Result("PR", (-1.5,)), Path(folder, "asia.PR"))
    ...     Path(folder, "asia.PR").read_text().split()
    ['PR', '-1.5']
    """
    try:
        write_bytes(check_path(path), result_text(result).encode())
    except FormatError as error:
        raise error.in_file(os.fspath(path)) from error


def parse_result(data: bytes) -> Result:
    data = blank_comments(data)
    word, start = first_word(data)
    if word not in (*TASKS, *OLDER_NAMES):
        raise FormatError(f"a UAI result file begins with its task, not with {word!r}; {hint(word, TASKS)}", line=1)
    name = OLDER_NAMES.get(word, word)
    last = data.rfind(BEGIN)
    numbers = NumberReader(data, start if last < 0 else last + len(BEGIN), letters=INFINITE if name == "PR" else b"")
    return Result(name, take_solutions(numbers, TASKS[name].take))


def take_solutions(numbers: NumberReader, take: Callable[[NumberReader], Any]) -> tuple[Any, ...]:
    """One solution to the end of the file; or, where that does not fit, a number of solutions and each of them."""
    try:
        return take_all(numbers, take, 1)
    except FormatError as error:
        numbers.at = 0
        try:
            return take_all(numbers, take, numbers.take_count("the number of solutions", least=1))
        except FormatError:
            raise error from None


def take_all(numbers: NumberReader, take: Callable[[NumberReader], Any], count: int) -> tuple[Any, ...]:
    solutions = tuple(take(numbers) for _ in range(count))
    numbers.finish()
    return solutions


def take_log10(numbers: NumberReader) -> float:
    value = float(numbers.take(1, "log10 of the partition function")[0])
    if value == math.inf:
        raise numbers.error("log10 of the partition function must be finite, or -inf for zero")
    return value


def take_marginals(numbers: NumberReader) -> tuple[tuple[float, ...], ...]:
    return tuple(take_marginal(numbers) for _ in range(numbers.take_count("the number of variables")))


def take_marginal(numbers: NumberReader) -> tuple[float, ...]:
    size = numbers.take_count("a variable's number of states", least=1)
    at = numbers.at
    values = numbers.take(size, "a marginal")
    if not ((values >= 0) & (values <= 1)).all():
        raise numbers.error("a probability lies between 0 and 1", at)
    return tuple(values.tolist())


def take_states(numbers: NumberReader) -> tuple[int, ...]:
    return tuple(numbers.take_whole(numbers.take_count("the number of variables"), "a state"))


def marginals_text(marginals: Sequence[Sequence[float]]) -> str:
    return " ".join(
        [str(len(marginals)), *(f"{len(part)} {' '.join(repr(float(p)) for p in part)}" for part in marginals)]
    )


def states_text(states: Sequence[int]) -> str:
    return " ".join(str(int(state)) for state in (len(states), *states))


class ResultTask(NamedTuple):
    take: Callable[[NumberReader], Any]
    text: Callable[[Any], str]


TASKS = {
    "PR": ResultTask(take_log10, lambda value: repr(float(value))),
    "MAR": ResultTask(take_marginals, marginals_text),
    "MPE": ResultTask(take_states, states_text),
}
OLDER_NAMES = {"BEL": "MAR"}


def result_text(result: Result) -> str:
    """The text of a result, refused if it could not be read back."""
    check_kind(result, Result, "a result")
    if result.task not in TASKS:
        raise FormatError(f"there is no task {result.task!r}; {hint(result.task, TASKS)}")
    solutions = [TASKS[result.task].text(solution) for solution in result.solutions]
    counts = [] if len(solutions) == 1 else [str(len(solutions))]
    text = "\n".join([result.task, *counts, *solutions]) + "\n"
    if len(parse_result(text.encode()).solutions) != len(solutions):
        raise FormatError("these solutions would not be read back as they are; a solution has at least one variable")
    return text
