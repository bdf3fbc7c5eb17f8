"""A mixture for the rows of a table: Gaussian for numbers, categorical for labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.gaussian_estimate import first_variance
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.data.dataset import Dataset
from juncture.data.rows import as_numbers
from juncture.errors import InvalidData
from juncture.latent.mixtures.starts import mean_and_variance, weak_prior

ALPHA = 1.0  # a pseudo-count of each label


def is_number(data: Dataset, name: str) -> bool:
    """Whether a column holds numbers: real ones, or labels that are numbers and not truth values."""
    variable = data.variable(name)
    return variable.is_real or not any(isinstance(label, str | bool) for label in variable.labels)


def table_rows(data: Dataset) -> np.ndarray:
    """(row, column): numbers, and the codes of labels; NaN for holes."""
    columns = [
        as_numbers(data, name) if is_number(data, name) else as_codes(data.columns[name]) for name in data.columns
    ]
    if not columns:
        raise InvalidData("there are no columns to cluster by")
    return np.stack(columns, axis=1)


def as_codes(codes: np.ndarray) -> np.ndarray:
    return np.where(codes < 0, np.nan, codes.astype(float))


def table_mixture(data: Dataset, rows: np.ndarray, covariance: str = "full") -> Mixture:
    """One component for these columns.

    With numbers only, the component is a Gaussian vector; else columns are independent given the component.
    """
    mean, variance = mean_and_variance(rows, np.ones(len(rows)))
    variance = first_variance(mean, variance)
    names = list(data.columns)
    if all(is_number(data, name) for name in names):
        matrix: Any = np.diag(variance) if covariance in {"full", "tied"} else variance
        matrix = matrix.mean() if covariance == "spherical" else matrix
        shaped = matrix if covariance == "tied" else np.asarray(matrix)[None]
        return Mixture([1.0], GaussianEmissions(mean[None], shaped, covariance))  # type: ignore[arg-type]
    parts = [
        number_column(mean, variance, column) if is_number(data, name) else label_column(data, name)
        for column, name in enumerate(names)
    ]
    return Mixture([1.0], IndependentEmissions(parts))


def table_prior(template: Mixture, rows: np.ndarray, num_components: int) -> MixturePrior:
    """The weak prior of columns of numbers, and a pseudo-count of each label."""
    wide = Mixture(np.full(num_components, 1.0 / num_components), template.components.take([0] * num_components))
    found = weak_prior(wide, rows, np.ones(len(rows)))
    if not isinstance(wide.components, IndependentEmissions):
        return found
    pairs = zip(wide.components.parts, found.components, strict=True)
    return MixturePrior(None, [ALPHA if isinstance(part, CategoricalEmissions) else own for part, own in pairs])


def number_column(mean: np.ndarray, variance: np.ndarray, column: int) -> Emissions:
    return GaussianEmissions(mean[[column]], variance[[column]])


def label_column(data: Dataset, name: str) -> Emissions:
    size = data.variable(name).num_states
    return CategoricalEmissions(np.full((1, size), 1.0 / size))
