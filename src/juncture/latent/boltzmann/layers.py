"""The two layers of a restricted Boltzmann machine: its weights and biases, and the kinds of its visible units.

Visible units are exponential families: p(x | h) ∝ base(x) exp(θ · u(x)), where θ = b + W h, one θ for each unit. Arrays
of statistics u and of parameters θ are (row, entry): one entry a unit, or one for each state of a softmax unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np

from juncture.base.checks import check_array, check_choice
from juncture.base.values import read_only
from juncture.data.feature_names import NamedFeatures
from juncture.errors import InvalidData, InvalidModel
from juncture.numerics.stable import log_sum_exp, sigmoid, softmax, softplus
from juncture.variables import Variable

LOG_TWO_PI = float(np.log(2 * np.pi))
KINDS = ("bernoulli", "gaussian", "softmax")


class BoltzmannParameters(NamedFeatures):
    """W, a and b with the kind of the visible units."""

    weights: np.ndarray
    visible_bias: np.ndarray
    hidden_bias: np.ndarray
    visible: str

    def __init__(self, weights: Any, visible_bias: Any, hidden_bias: Any, visible: str = "bernoulli") -> None:
        check_choice(visible, KINDS, "visible", error=InvalidModel)
        arrays = {"weights": weights, "visible_bias": visible_bias, "hidden_bias": hidden_bias}
        found = {name: check_array(values, name, error=InvalidModel) for name, values in arrays.items()}
        check_shapes(*found.values(), is_softmax=visible == "softmax")
        self._set(**{name: read_only(array) for name, array in found.items()}, visible=visible)

    @property
    def num_visible(self) -> int:
        return len(self.visible_bias)

    @property
    def num_columns(self) -> int:
        """The number of columns of a row."""
        return self.num_visible

    @property
    def num_hidden(self) -> int:
        return len(self.hidden_bias)

    @property
    def units(self) -> VisibleUnits:
        """The visible units."""
        if self.visible == "softmax":
            return SoftmaxUnits(*self.visible_bias.shape)
        return BernoulliUnits(self.num_visible) if self.visible == "bernoulli" else GaussianUnits(self.num_visible)

    @property
    def hidden_variables(self) -> list[Variable]:
        """The hidden units h0, h1, …, with the states 0 and 1."""
        return [Variable(f"h{unit}", 2) for unit in range(self.num_hidden)]

    @property
    def matrix(self) -> np.ndarray:
        """W with one line for each entry of u(x): (entry, hidden)."""
        return self.weights.reshape(-1, self.num_hidden)

    def hidden_input(self, u: np.ndarray) -> np.ndarray:
        """a + Wᵀu, (row, hidden): the log odds of the hidden units given statistics of visible ones."""
        return np.asarray(u @ self.matrix + self.hidden_bias)

    def visible_input(self, h: np.ndarray) -> np.ndarray:
        """b + W h, (row, entry): the natural parameters of the visible units given hidden ones."""
        return np.asarray(h @ self.matrix.T + self.visible_bias.ravel())

    def log_weight(self, u: np.ndarray) -> np.ndarray:
        """log Σ_h exp(-E(x, h)) of statistics of rows, (row,): the free energy with its sign changed."""
        visible = u @ self.visible_bias.ravel() + self.units.log_base(u)
        return np.asarray(visible + softplus(self.hidden_input(u)).sum(axis=1))


def check_shapes(weights: np.ndarray, visible_bias: np.ndarray, hidden_bias: np.ndarray, *, is_softmax: bool) -> None:
    """Check that the arrays belong together and are finite."""
    if weights.ndim != 2 + is_softmax or not weights.size:
        axes = "(visible, state, hidden)" if is_softmax else "(visible, hidden)"
        raise InvalidModel(f"the weights are an array {axes}; got one of the shape {weights.shape}")
    for name, bias, shape in (
        ("visible_bias", visible_bias, weights.shape[:-1]),
        ("hidden_bias", hidden_bias, weights.shape[-1:]),
    ):
        if bias.shape != shape:
            raise InvalidModel(f"{name} must have the shape {shape}, as the weights have; got {bias.shape}")
    if not all(np.isfinite(array).all() for array in (weights, visible_bias, hidden_bias)):
        raise InvalidModel("the weights and biases of a machine must be finite numbers")


class VisibleUnits(Protocol):
    """What a kind of visible units supplies; `num_states` is 0 for real numbers."""

    @property
    def num_units(self) -> int: ...
    @property
    def num_states(self) -> int: ...

    def check(self, rows: np.ndarray) -> None: ...  # raise what no unit can be; NaN is a hole
    def encode(self, rows: np.ndarray) -> np.ndarray: ...  # (row, unit) → u, 0 at holes
    def decode(self, u: np.ndarray) -> np.ndarray: ...  # u → (row, unit)
    def log_base(self, u: np.ndarray) -> np.ndarray: ...  # (row,)
    def log_partition(self, theta: np.ndarray) -> np.ndarray: ...  # (row, unit): log Σ_x base(x) exp(θ · u(x))
    def mean(self, theta: np.ndarray) -> np.ndarray: ...  # E[u]
    def mode(self, theta: np.ndarray) -> np.ndarray: ...  # u of the best states
    def peak(self, theta: np.ndarray) -> np.ndarray: ...  # (row, unit): log of base(x) exp(θ · u(x)) there
    def draw(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray: ...  # u


@dataclass(frozen=True)
class BernoulliUnits:
    """Units that are 0 or 1, with u(x) = x."""

    num_units: int
    num_states: int = 2

    def check(self, rows: np.ndarray) -> None:
        check_states(rows, 2)

    def encode(self, rows: np.ndarray) -> np.ndarray:
        return np.nan_to_num(rows)

    def decode(self, u: np.ndarray) -> np.ndarray:
        return u

    def log_base(self, u: np.ndarray) -> np.ndarray:
        return np.zeros(len(u))

    def log_partition(self, theta: np.ndarray) -> np.ndarray:
        return softplus(theta)

    def mean(self, theta: np.ndarray) -> np.ndarray:
        return sigmoid(theta)

    def mode(self, theta: np.ndarray) -> np.ndarray:
        return (theta > 0).astype(float)

    def peak(self, theta: np.ndarray) -> np.ndarray:
        return np.maximum(theta, 0)

    def draw(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        uniforms = rng.random(theta.shape, dtype=theta.dtype.type)
        with np.errstate(over="ignore", invalid="ignore"):  # 0 · ∞ where the probability is 0
            uniforms *= 1 + np.exp(-theta)
        return (uniforms < 1).astype(theta.dtype)


@dataclass(frozen=True)
class GaussianUnits:
    """Real units of variance 1, with u(x) = x and the base exp(-x²/2): the mean of a unit is its θ."""

    num_units: int
    num_states: int = 0

    def check(self, rows: np.ndarray) -> None:
        if np.isinf(rows).any():
            raise InvalidData("a Gaussian visible unit is a finite number, or NaN for a hole")

    def encode(self, rows: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(rows), 0.0, rows)

    def decode(self, u: np.ndarray) -> np.ndarray:
        return u

    def log_base(self, u: np.ndarray) -> np.ndarray:
        return np.asarray(-0.5 * (u**2).sum(axis=1))

    def log_partition(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 * (theta**2 + LOG_TWO_PI))

    def mean(self, theta: np.ndarray) -> np.ndarray:
        return theta

    def mode(self, theta: np.ndarray) -> np.ndarray:
        return theta

    def peak(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 * theta**2)

    def draw(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return theta + rng.standard_normal(theta.shape)


@dataclass(frozen=True)
class SoftmaxUnits:
    """Units with the states 0, …, num_states - 1; u(x) has a 1 at the state of each unit."""

    num_units: int
    num_states: int

    def check(self, rows: np.ndarray) -> None:
        check_states(rows, self.num_states)

    def encode(self, rows: np.ndarray) -> np.ndarray:
        return (rows[:, :, None] == np.arange(self.num_states)).astype(float).reshape(len(rows), -1)

    def decode(self, u: np.ndarray) -> np.ndarray:
        return self._by_unit(u).argmax(axis=2).astype(float)

    def log_base(self, u: np.ndarray) -> np.ndarray:
        return np.zeros(len(u))

    def log_partition(self, theta: np.ndarray) -> np.ndarray:
        return log_sum_exp(self._by_unit(theta), axis=2)

    def mean(self, theta: np.ndarray) -> np.ndarray:
        return softmax(self._by_unit(theta)).reshape(theta.shape)

    def mode(self, theta: np.ndarray) -> np.ndarray:
        return self.encode(self._by_unit(theta).argmax(axis=2).astype(float))

    def peak(self, theta: np.ndarray) -> np.ndarray:
        return self._by_unit(theta).max(axis=2)

    def draw(self, theta: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        noisy = self._by_unit(theta + rng.gumbel(size=theta.shape))
        return self.encode(noisy.argmax(axis=2).astype(float))

    def _by_unit(self, entries: np.ndarray) -> np.ndarray:
        return entries.reshape(len(entries), self.num_units, self.num_states)


def check_states(rows: np.ndarray, num_states: int) -> None:
    """Check that all entries are states or holes."""
    known = rows[~np.isnan(rows)]
    if not np.isin(known, np.arange(num_states)).all():
        states = "0 or 1" if num_states == 2 else f"a whole number from 0 to {num_states - 1}"
        raise InvalidData(
            f"a visible unit of this machine is {states}, or NaN for a hole; some rows have other numbers"
        )


def all_states(units: VisibleUnits) -> np.ndarray:
    """(joint state, unit): every joint state of units that have states."""
    return np.array(list(product(range(units.num_states), repeat=units.num_units)), dtype=float)


def visible_variables(units: VisibleUnits, feature_names: Sequence[str] | None = None) -> list[Variable]:
    """The variables v0, v1, …, or of these names, with their states."""
    names = feature_names or [f"v{unit}" for unit in range(units.num_units)]
    return [Variable(name, units.num_states) if units.num_states else Variable(name) for name in names]
