"""Regressions on features of inputs: the inputs by name or position, and their features."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.data.feature_names import NamedFeatures
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.supervised.regression.bases import Basis, count_inputs
from juncture.supervised.regression.rows import Rows, read_inputs, read_rows


class FeatureModel(NamedFeatures):
    """A model of a target given features φ(x) of inputs, with a coefficient for each; `feature_names` are of x."""

    basis: Basis

    @property
    def num_coefficients(self) -> int:
        """The number of features of the basis."""
        raise NotImplementedError

    @property
    def num_columns(self) -> int | None:
        """The number of inputs; None for a constant, which takes any number."""
        return count_inputs(self.basis, self.num_coefficients)

    def plot(self, **options: Any) -> Any:
        """The prediction over one input, with its band or the probabilities of classes; `jt.plot`."""
        return plot(self, **options)

    def _features(self, inputs: Any) -> np.ndarray:
        """The features of the inputs, (row, feature); their number must be that of the coefficients."""
        features = self.basis.features(read_inputs(inputs, self.feature_names))
        if features.shape[1] != self.num_coefficients:
            raise InvalidData(
                f"the regression has {self.num_coefficients} coefficients; {self.basis!r} gives {features.shape[1]}"
                " features of these inputs"
            )
        return features

    def _rows(self, inputs: Any, targets: Any, weights: Any) -> Rows:
        """Rows to learn from, by the names of this model if it has any."""
        return read_rows(inputs, targets, weights, self.feature_names)
