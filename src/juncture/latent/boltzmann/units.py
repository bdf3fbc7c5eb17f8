"""Visible units as exponential families: p(x | h) ∝ base(x) exp(θ · u(x)), where θ = b + W h, one θ for each unit.

Arrays of statistics u and of parameters θ are (row, entry): one entry a unit, or one for each state of a softmax unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from juncture.errors import InvalidData
from juncture.numerics.stable import log_sum_exp, sigmoid, softmax, softplus
from juncture.variables import Variable

LOG_TWO_PI = float(np.log(2 * np.pi))


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
