"""A live bar of Markov chains: R-hat, and the current interval of the first variable that is asked for."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from juncture.errors import escape_controls

MAX_DRAWS = 100_000  # of each chain, where a budget of time decides
HALF_WIDTH = 1.645  # standard errors from the middle of an interval of 90 % to its end


@contextmanager
def watched_engine(model: Any, targets: list[str] | None, method: Any, budget: float | None) -> Iterator[Any]:
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
