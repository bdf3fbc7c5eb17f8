"""Feed-forward networks: layers as pairs of weights and biases, tanh between them, the last one linear; and training.

Training is stochastic gradient ascent on JAX, with the Adam of optax; after each epoch the objective of rows that were
held out is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_array, check_count, check_number, is_iterable, shown
from juncture.base.options import Options
from juncture.base.values import read_only
from juncture.data.feature_names import Names
from juncture.data.rows import Rows, free_name
from juncture.errors import InvalidData, InvalidModel
from juncture.inference.variational.jax_families import import_jax
from juncture.numerics.iteration import ProgressCallback, Trace, iterate
from juncture.variables import Scope, Variable

Layers = tuple[tuple[np.ndarray, np.ndarray], ...]
Gains = Callable[[Any, Any, Any], Any]  # parameters, rows (row, column) and a key → the objective of each row


def as_layers(values: Any, name: str) -> Layers:
    """Pairs of weights (input, output) and biases (output,), of which each takes what the one before gives."""
    if not is_iterable(values):
        raise InvalidModel(f"{name} is a list of pairs (weights, bias), one for each layer; got {shown(values)}")
    layers = tuple(as_layer(pair, f"{name}[{at}]") for at, pair in enumerate(values))
    if not layers:
        raise InvalidModel(f"{name} has no layers")
    for at, ((_, given), (weights, _)) in enumerate(pairwise(layers), start=1):
        if len(weights) != len(given):
            raise InvalidModel(
                f"{name}[{at}] takes {len(weights)} numbers, and {name}[{at - 1}] gives {len(given)}: make them equal"
            )
    return layers


def as_layer(pair: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    if not is_iterable(pair) or len(pair) != 2:
        raise InvalidModel(f"{name} is a pair of weights and bias; got {shown(pair)}")
    weights = check_array(pair[0], f"the weights of {name}", ndim=2, error=InvalidModel)
    bias = check_array(pair[1], f"the bias of {name}", ndim=1, error=InvalidModel)
    if weights.shape[1:] != bias.shape or not weights.size:
        raise InvalidModel(f"{name} has weights (input, output) of the shape {weights.shape} and {len(bias)} biases")
    if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
        raise InvalidModel(f"{name} must be finite numbers")
    return read_only(weights), read_only(bias)


def random_layers(sizes: Sequence[int], rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """Layers whose outputs have about the variance of their inputs."""
    return [(rng.standard_normal(pair) / np.sqrt(pair[0]), np.zeros(pair[1])) for pair in pairwise(sizes)]


def check_widths(hidden: Any) -> list[int]:
    if not is_iterable(hidden):
        raise InvalidModel(f"hidden are the widths of hidden layers, as [20, 10]; got {shown(hidden)}")
    return [check_count(width, "hidden", least=1) for width in hidden]


def apply_layers(layers: Any, values: Any, tanh: Any = np.tanh) -> Any:
    """(row, output): what the layers make of rows; `tanh` is that of NumPy or of JAX."""
    for weights, bias in layers[:-1]:
        values = tanh(values @ weights + bias)
    weights, bias = layers[-1]
    return values @ weights + bias


def count_layers(layers: Layers) -> int:
    """The number of weights and biases."""
    return sum(weights.size + bias.size for weights, bias in layers)


def columns_and_code(names: Sequence[str], code: str, size: int, states: int | None = None) -> Scope:
    """The columns of a row, with so many states or real, and the vector that stands for a row."""
    return Scope([*(Variable(name, states) for name in names), Variable(free_name(code, names), dimension=size)])


def complete_numbers(given: Any, num_columns: int, names: Names | None = None) -> tuple[np.ndarray, bool]:
    """(row, column) of finite numbers, and whether one row was given and not a list; tables by name."""
    values = Rows.of(given, names).values.astype(np.float64, copy=False)
    if values.ndim not in (1, 2) or values.shape[-1] != num_columns:
        raise InvalidData(f"a row of this model has {num_columns} columns; got an array of the shape {values.shape}")
    if not np.isfinite(values).all():
        raise InvalidData("a neural encoder takes complete rows of finite numbers, and one has a hole or an infinity")
    return np.atleast_2d(values), values.ndim == 1


def train(
    gains: Gains,
    first: Any,
    rows: np.ndarray,
    learner: Adam,
    rng: np.random.Generator,
    progress: ProgressCallback | None = None,
) -> tuple[Any, HeldOutEstimate, Trace]:
    """The learned parameters as arrays, the objective of rows held out with its error, and its trace over epochs."""
    jax, _ = import_jax()
    kept = max(2, round(learner.held_out * len(rows)))
    if len(rows) < kept + 2:
        raise InvalidData(f"learning holds some rows out and needs at least 4; got {len(rows)}")
    order = rng.permutation(len(rows))
    data, test = rows[order[kept:]], rows[order[:kept]]
    algorithm = AdamEpochs(gains, first, data, test, learner, int(rng.integers(2**31)))
    steps: dict[str, Any] = {"max_steps": learner.epochs, "progress": progress}
    state, trace = iterate(algorithm, tolerance=0.0, is_monotone=False, **steps)
    values = np.asarray(algorithm.measure(state[0]), float)
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    found = jax.tree_util.tree_map(lambda leaf: np.asarray(leaf, float), state[0])
    return found, HeldOutEstimate(float(values.mean()), error, kept), trace


@dataclass(frozen=True)
class Adam(Options):
    """Stochastic gradient ascent of a neural model by Adam (Kingma and Ba 2015), on JAX.

    Parameters
    ----------
    learning_rate
        The first length of a step, which falls to 0 by the last epoch.
    batch_size
        The number of rows of a step.
    epochs
        The number of passes over the rows.
    held_out
        The share of rows that are not learned from, on which the objective is measured after each epoch.

    Examples
    --------
    >>> import juncture as jt
    >>> jt.neural.Adam(epochs=20)
    Adam(learning_rate=0.01, batch_size=50, epochs=20, held_out=0.1)
    """

    learning_rate: float = 0.01
    batch_size: int = 50
    epochs: int = 100
    held_out: float = 0.1

    def __post_init__(self) -> None:
        check_number(self.learning_rate, "learning_rate", above=0)
        check_count(self.batch_size, "batch_size", least=1)
        check_count(self.epochs, "epochs", least=1)
        check_number(self.held_out, "held_out", above=0, below=1)


@dataclass(frozen=True)
class NeuralOptions(Options):
    """How an autoencoder, or a variational one, is learned.

    Parameters
    ----------
    method
        "adam", or a `Adam` with its options.
    """

    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"adam": Adam}


class HeldOutEstimate(NamedTuple):
    """The mean objective of the rows that were held out, with its standard error over the rows."""

    mean: float
    standard_error: float
    num_rows: int


@dataclass(frozen=True, eq=False)
class AdamEpochs:
    """An epoch of steps over random batches, as one step of `iterate`; the rate falls to 0 by the last epoch."""

    gains: Gains
    first: Any
    rows: np.ndarray
    held_out: np.ndarray
    learner: Adam
    seed: int

    @cached_property
    def optimizer(self) -> Any:
        steps = self.learner.epochs * self.num_batches
        optax = import_jax()[1]
        return optax.adam(optax.cosine_decay_schedule(self.learner.learning_rate, steps))

    @cached_property
    def num_batches(self) -> int:
        return max(1, len(self.rows) // self.learner.batch_size)

    @cached_property
    def run_epoch(self) -> Any:
        jax, optax = import_jax()
        rows, size = jax.numpy.asarray(self.rows), min(self.learner.batch_size, len(self.rows))

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
