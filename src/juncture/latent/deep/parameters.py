"""Layers of Bernoulli units with weights between neighbouring layers: the arrays of deep models."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_array, check_count, check_number, is_iterable, shown
from juncture.base.options import as_generator
from juncture.base.values import read_only
from juncture.data.feature_names import NamedFeatures
from juncture.errors import InvalidModel
from juncture.latent.boltzmann.units import BernoulliUnits
from juncture.variables import Variable


class DeepParameters(NamedFeatures):
    """W_k between the layers k - 1 and k, and the bias of each layer; layer 0 is visible."""

    _fields: ClassVar[tuple[str, ...]] = ("weights", "biases")
    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]

    def __init__(self, weights: Any, biases: Any) -> None:
        matrices = as_arrays(weights, "weights", 2)
        vectors = as_arrays(biases, "biases", 1)
        if not matrices or len(vectors) != len(matrices) + 1:
            raise InvalidModel(
                "there are weights between any two neighbouring layers and a bias for each layer, so one bias more"
                f" than weights; got {len(matrices)} weights and {len(vectors)} biases"
            )
        for layer, matrix in enumerate(matrices):
            expected = len(vectors[layer]), len(vectors[layer + 1])
            if matrix.shape != expected or not matrix.size:
                raise InvalidModel(
                    f"weights[{layer}] joins layers of {expected[0]} and {expected[1]} units, as their biases say, and"
                    f" has the shape {matrix.shape}"
                )
        self._set(weights=matrices, biases=vectors)

    @classmethod
    def random(cls, sizes: Iterable[int], *, scale: float = 0.01, rng: Any = None) -> Self:
        """A model with small random weights and biases of 0, from which learning starts.

        Parameters
        ----------
        sizes
            The number of units of each layer, the visible one first.
        scale
            The standard deviation of the weights.
        rng
            A seed or a `numpy.random.Generator`.

        Returns
        -------
        The model.
        """
        if not is_iterable(sizes):
            raise InvalidModel(f"sizes are the numbers of units of the layers, as [6, 4, 2]; got {shown(sizes)}")
        numbers = [check_count(size, "sizes", least=1) for size in sizes]
        spread, generator = check_number(scale, "scale", least=0), as_generator(rng)
        weights = [spread * generator.standard_normal(pair) for pair in pairwise(numbers)]
        return cls(weights, [np.zeros(size) for size in numbers])

    @property
    def num_columns(self) -> int:
        """The number of columns of a row."""
        return len(self.biases[0])

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of units of each layer, the visible one first."""
        return tuple(len(bias) for bias in self.biases)

    @property
    def num_visible(self) -> int:
        return self.sizes[0]

    @property
    def units(self) -> BernoulliUnits:
        """The visible units."""
        return BernoulliUnits(self.num_visible)

    @property
    def variables(self) -> list[list[Variable]]:
        """The units of each layer: v0, v1, …, then h1_0, h1_1, … of the first hidden layer, and so on."""
        names = ["v", *(f"h{layer}_" for layer in range(1, len(self.sizes)))]
        return [
            [Variable(f"{name}{unit}", 2) for unit in range(size)] for name, size in zip(names, self.sizes, strict=True)
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' – '.join(map(str, self.sizes))} units)"


def as_arrays(values: Any, name: str, ndim: int) -> tuple[np.ndarray, ...]:
    """Finite arrays, one for each layer."""
    if not is_iterable(values):
        raise InvalidModel(f"{name} are a list of arrays, one for each layer; got {shown(values)}")
    found = [check_array(array, f"{name}[{at}]", ndim=ndim, error=InvalidModel) for at, array in enumerate(values)]
    if not all(np.isfinite(array).all() for array in found):
        raise InvalidModel(f"{name} must be finite numbers")
    return tuple(read_only(array) for array in found)
