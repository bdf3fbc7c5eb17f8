"""A mixture for the rows of a table: Gaussian for numbers, categorical for labels."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.latent.mixtures.rows import as_numbers

ALPHA = 1.0  # a pseudo-count of each label


def is_number(data: Dataset, name: str) -> bool:
    """Whether a column holds numbers: real ones, or labels that are numbers and not truth values."""
    variable = data.variable(name)
    return variable.is_real or all(isinstance(label, Real) and not isinstance(label, bool) for label in variable.labels)


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


def table_mixture(data: Dataset, rows: np.ndarray, covariance: str = "full") -> tuple[Mixture, MixturePrior]:
    """One component for these columns, and a prior that keeps labels possible.

    With numbers only, the component is a Gaussian vector; else columns are independent given the component.
    """
    seen = ~np.isnan(rows)
    mean = np.where(seen, rows, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    variance = np.square(np.where(seen, rows - mean, 0.0)).sum(axis=0) / np.maximum(seen.sum(axis=0), 1)
    variance = np.where(variance > 0, variance, 1.0)
    names = list(data.columns)
    if all(is_number(data, name) for name in names):
        matrix: Any = np.diag(variance) if covariance in {"full", "tied"} else variance
        matrix = matrix.mean() if covariance == "spherical" else matrix
        shaped = matrix if covariance == "tied" else np.asarray(matrix)[None]
        return Mixture([1.0], GaussianEmissions(mean[None], shaped, covariance)), MixturePrior()  # type: ignore[arg-type]
    parts, priors = [], list[float | None]()
    for column, name in enumerate(names):
        is_real = is_number(data, name)
        parts.append(number_column(mean, variance, column) if is_real else label_column(data, name))
        priors.append(None if is_real else ALPHA)
    return Mixture([1.0], IndependentEmissions(parts)), MixturePrior(None, priors)


def number_column(mean: np.ndarray, variance: np.ndarray, column: int) -> Emissions:
    return GaussianEmissions(mean[[column]], variance[[column]])


def label_column(data: Dataset, name: str) -> Emissions:
    size = data.variable(name).num_states
    return CategoricalEmissions(np.full((1, size), 1.0 / size))
