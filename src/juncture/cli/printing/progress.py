"""Progress bars for iterative methods, passes over rows and Markov chains: on a terminal only, removed at the end.

A source that tells how many rows were read (`WatchedSource`) moves the bar of a pass. The bar of Markov chains shows
R-hat, and the current interval of the first variable that is asked for.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.data.sources.contract import Block, MakeBlock, RowSource, make_blocks
from juncture.errors import escape_controls
from juncture.numerics.iteration import ProgressCallback
from juncture.variables import Variable

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


def bar_with(text: str, *columns: Any) -> Any:
    """A bar on standard error with what is done, a text, the time so far and further columns."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    first = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn(text, markup=False))
    return Progress(*first, TimeElapsedColumn(), *columns, console=Console(stderr=True), transient=True)


@contextmanager
def show_progress(what: str, objective_name: str, num_starts: int = 1) -> Iterator[ProgressCallback | None]:
    """A callback for the number and the objective of each step; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with bar_with("{task.fields[state]}") as bar:
        task = bar.add_task(escape_controls(what), total=None, state="")  # the number of steps is not known
        state = StepText(objective_name, num_starts)
        yield lambda step, objective: bar.update(task, state=state.of(step, objective))


class StepText:
    """The text of a step, with the number of its start where there are several."""

    def __init__(self, objective_name: str, num_starts: int) -> None:
        self.objective_name, self.num_starts, self.start = objective_name, num_starts, 0

    def of(self, step: int, objective: float) -> str:
        self.start += step == 1  # each start counts its steps from 1
        which = f"start {self.start} of {self.num_starts}, " if self.num_starts > 1 else ""
        return f"{which}step {step}, {self.objective_name} {objective:,.4f}"


class PassBar(NamedTuple):
    """What moves a bar of passes over rows: a pass begins, some rows were read, a step ended."""

    begin: Callable[[], None]
    watch: Callable[[int], None]
    show: ProgressCallback


@contextmanager
def show_passes(what: str, objective_name: str, num_rows: int | None, num_starts: int = 1) -> Iterator[PassBar | None]:
    """A bar of the rows of the present pass, beside the last step; None where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    with bar_with("pass {task.fields[number]}, {task.completed:,.0f} rows{task.fields[state]}") as bar:
        task = bar.add_task(escape_controls(what), total=num_rows, state="", number=0)
        state, numbers = StepText(objective_name, num_starts), count(1)
        yield PassBar(
            lambda: bar.update(task, completed=0, number=next(numbers)),
            lambda rows: bar.advance(task, rows),
            lambda step, objective: bar.update(task, state=f"; {state.of(step, objective)}"),
        )


@contextmanager
def show_rows(what: str, num_rows: int | None) -> Iterator[Callable[[int], None]]:
    """A function that takes the number of further rows that were read; it draws on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda rows: None
        return
    from rich.progress import TimeRemainingColumn

    with bar_with("{task.completed:,.0f} rows", TimeRemainingColumn()) as bar:
        task = bar.add_task(escape_controls(what), total=num_rows)
        yield lambda rows: bar.advance(task, rows)


MAX_DRAWS = 100_000  # of each chain, where a budget of time decides
HALF_WIDTH = 1.645  # standard errors from the middle of an interval of 90 % to its end


@contextmanager
def watched_engine(model: Network, targets: list[str] | None, method: Any, budget: float | None) -> Iterator[Any]:
    """The method; of Markov chains the engine, which shows how far it is, and draws until the budget ends."""
    from juncture.inference.infer import SAMPLING_METHODS

    if method not in SAMPLING_METHODS:
        yield method
        return
    from juncture.inference.sampling.markov_chains.chain_engine import ChainEngine

    engine = SAMPLING_METHODS[method]()
    if not isinstance(engine, ChainEngine):
        yield method
        return
    if budget is not None:
        engine = replace(engine, draws=MAX_DRAWS)
    if not sys.stderr.isatty():
        yield engine
        return
    variable = model.variable(targets[0] if targets else model.variables.names[0])
    with show_chains(engine.name, variable, engine.draws, budget) as bar:
        yield replace(engine, progress=bar)


@contextmanager
def show_chains(name: str, variable: Any, draws: int, budget: float | None) -> Iterator[ChainBar]:
    """A bar on standard error that fills with the time, or with the draws where there is no budget."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[state]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=draws if budget is None else budget, state="warm-up")
        yield ChainBar(progress, task, variable, budget)


class ChainBar:
    """A callback of chains: `watch` sees the draws, the call the number of draws and R-hat."""

    def __init__(self, bar: Any, task: Any, variable: Any, budget: float | None) -> None:
        self.bar, self.task, self.variable, self.budget = bar, task, variable, budget
        self.start, self.interval = time.perf_counter(), ""

    def watch(self, draws: np.ndarray) -> None:
        """Draws as (row, chain, draw, variable)."""
        from juncture.inference.sampling.markov_chains.chain_answers import standard_errors

        codes = draws[0, :, :, 0]
        shares = np.bincount(codes.reshape(-1), minlength=self.variable.num_states) / codes.size
        state = int(shares.argmax())
        error = float(standard_errors(codes, self.variable.num_states)[state])
        low, high = (shares[state] + side * HALF_WIDTH * error for side in (-1, 1))
        label = escape_controls(f"{self.variable.name}={self.variable.states[state]}")
        self.interval = f"p({label}) {max(0.0, low):.3f} to {min(1.0, high):.3f}"

    def __call__(self, num_draws: int, r_hat: float) -> None:
        done = num_draws if self.budget is None else time.perf_counter() - self.start
        self.bar.update(self.task, completed=done, state=f"{num_draws:,} draws, R-hat {r_hat:.3f}, {self.interval}")


@dataclass(frozen=True, eq=False)
class WatchedSource:
    """The same source; `begin` is called at the start of each pass, `watch` with the number of rows of each block."""

    source: RowSource
    begin: Callable[[], None]
    watch: Callable[[int], None]

    @property
    def names(self) -> tuple[str, ...]:
        return self.source.names

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.source.variables

    @property
    def num_rows(self) -> int | None:
        return self.source.num_rows

    @property
    def weights(self) -> str | None:
        return self.source.weights

    def blocks(self) -> Iterator[Block]:
        return (make() for make in self.uncoded_blocks())

    def uncoded_blocks(self) -> Iterator[MakeBlock]:
        self.begin()
        for make in make_blocks(self.source):
            yield partial(self._count, make)

    def _count(self, make: MakeBlock) -> Block:
        block = make()
        self.watch(len(block.rows))
        return block

    def only(self, names: Iterable[str]) -> WatchedSource:
        return replace(self, source=self.source.only(names))

    def coded(self, variables: Iterable[Variable], weights: str | None = None) -> WatchedSource:
        return replace(self, source=self.source.coded(variables, weights))
