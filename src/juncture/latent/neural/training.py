"""Stochastic gradient ascent on JAX, with the Adam of optax; after each epoch the objective of rows held out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_number
from juncture.errors import InvalidData
from juncture.inference.variational.jax_families import import_jax
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress, iterate

Gains = Callable[[Any, Any, Any], Any]  # parameters, rows (row, column) and a key → the objective of each row


class HeldOutEstimate(NamedTuple):
    """The mean objective of the rows that were held out, with its standard error over the rows."""

    mean: float
    standard_error: float
    num_rows: int


class TrainingOptions(NamedTuple):
    """The options of `fit` for neural models, which each checks once."""

    held_out: float = 0.1
    batch_size: int = 50
    learning_rate: float = 0.01
    max_steps: int = 100
    progress: ProgressCallback | None = None

    def check(self) -> TrainingOptions:
        check_number(self.held_out, "held_out", above=0, below=1)
        check_count(self.batch_size, "batch_size", least=1)
        check_number(self.learning_rate, "learning_rate", above=0)
        check_count(self.max_steps, "max_steps", least=1)
        check_progress(self.progress)
        return self


@dataclass(frozen=True, eq=False)
class AdamEpochs:
    """An epoch of steps over random batches, as one step of `iterate`; the rate falls to 0 by the last epoch."""

    gains: Gains
    first: Any
    rows: np.ndarray
    held_out: np.ndarray
    options: TrainingOptions
    seed: int

    @cached_property
    def optimizer(self) -> Any:
        steps = self.options.max_steps * self.num_batches
        optax = import_jax()[1]
        return optax.adam(optax.cosine_decay_schedule(self.options.learning_rate, steps))

    @cached_property
    def num_batches(self) -> int:
        return max(1, len(self.rows) // self.options.batch_size)

    @cached_property
    def run_epoch(self) -> Any:
        jax, optax = import_jax()
        rows, size = jax.numpy.asarray(self.rows), min(self.options.batch_size, len(self.rows))

        def step(carry: Any, inputs: Any) -> Any:
            parameters, memory = carry
            chosen, key = inputs
            slope = jax.grad(lambda theta: -self.gains(theta, rows[chosen], key).mean())(parameters)
            updates, memory = self.optimizer.update(slope, memory)
            return (optax.apply_updates(parameters, updates), memory), None

        def epoch(parameters: Any, memory: Any, key: Any) -> Any:
            order, noise = jax.random.split(key)
            batches = jax.random.permutation(order, len(rows))[: self.num_batches * size].reshape(-1, size)
            return jax.lax.scan(step, (parameters, memory), (batches, jax.random.split(noise, len(batches))))[0]

        return jax.jit(epoch)

    @cached_property
    def measure(self) -> Any:
        jax, _ = import_jax()
        key = jax.random.PRNGKey(self.seed + 1)
        return jax.jit(lambda parameters: self.gains(parameters, jax.numpy.asarray(self.held_out), key))

    def init(self) -> Any:
        jax, _ = import_jax()
        parameters = jax.tree_util.tree_map(jax.numpy.asarray, self.first)
        return parameters, self.optimizer.init(parameters), 0

    def step(self, state: Any) -> Any:
        jax, _ = import_jax()
        parameters, memory, epoch = state
        key = jax.random.fold_in(jax.random.PRNGKey(self.seed), epoch)
        return *self.run_epoch(parameters, memory, key), epoch + 1

    def objective(self, state: Any) -> float:
        return float(self.measure(state[0]).mean())


def train(
    gains: Gains, first: Any, rows: np.ndarray, options: TrainingOptions, rng: np.random.Generator
) -> tuple[Any, HeldOutEstimate, Trace]:
    """The learned parameters as arrays, the objective of rows held out with its error, and its trace over epochs."""
    options.check()
    jax, _ = import_jax()
    kept = max(2, round(options.held_out * len(rows)))
    if len(rows) < kept + 2:
        raise InvalidData(f"learning holds some rows out and needs at least 4; got {len(rows)}")
    order = rng.permutation(len(rows))
    data, test = rows[order[kept:]], rows[order[:kept]]
    algorithm = AdamEpochs(gains, first, data, test, options, int(rng.integers(2**31)))
    steps: dict[str, Any] = {"max_steps": options.max_steps, "progress": options.progress}
    state, trace = iterate(algorithm, tolerance=0.0, is_monotone=False, **steps)
    values = np.asarray(algorithm.measure(state[0]), float)
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    found = jax.tree_util.tree_map(lambda leaf: np.asarray(leaf, float), state[0])
    return found, HeldOutEstimate(float(values.mean()), error, kept), trace
