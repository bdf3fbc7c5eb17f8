"""The arrays of a restricted Boltzmann machine, and what one layer says about the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array, check_choice
from juncture.base.values import read_only
from juncture.data.feature_names import NamedFeatures
from juncture.errors import InvalidModel
from juncture.latent.boltzmann.units import BernoulliUnits, GaussianUnits, SoftmaxUnits, VisibleUnits
from juncture.numerics.stable import softplus
from juncture.variables import Variable

KINDS = ("bernoulli", "gaussian", "softmax")


class BoltzmannParameters(NamedFeatures):
    """W, a and b with the kind of the visible units."""

    _fields = ("weights", "visible_bias", "hidden_bias", "visible")
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
