"""Layers of a neural network as pairs of weights and biases: tanh between them, the last one linear."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_count, is_iterable, shown
from juncture.base.values import read_only
from juncture.data.feature_names import Names, as_table, select_columns
from juncture.data.rows import read_columns
from juncture.data.sequence_steps import unwrap_frame
from juncture.errors import InvalidData, InvalidModel

Layers = tuple[tuple[np.ndarray, np.ndarray], ...]


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


def complete_numbers(given: Any, num_columns: int, names: Names | None = None) -> tuple[np.ndarray, bool]:
    """(row, column) of finite numbers, and whether one row was given and not a list; tables by name."""
    rows = select_columns(as_table(given), names)
    columns = read_columns(rows)
    values = check_array(unwrap_frame(rows), "rows") if columns is None else columns
    if values.ndim not in (1, 2) or values.shape[-1] != num_columns:
        raise InvalidData(f"a row of this model has {num_columns} columns; got an array of the shape {values.shape}")
    if not np.isfinite(values).all():
        raise InvalidData("a neural encoder takes complete rows of finite numbers, and one has a hole or an infinity")
    return np.atleast_2d(values), values.ndim == 1
