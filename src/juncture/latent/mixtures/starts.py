"""Where learning of a mixture starts: a weak prior that keeps components from shrinking to points, clusters, templates.

The template for the rows of a table is Gaussian for numbers and categorical for labels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.densities import mean_and_variance
from juncture.components.gaussian import GaussianEmissions
from juncture.components.gaussian_estimate import first_variance, is_constant, reference_variance
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.data.column_kinds import Summary, is_quantity
from juncture.data.dataset import Dataset
from juncture.data.rows import dataset_column
from juncture.errors import InvalidData
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart

STRENGTH = 0.01  # rows that the prior of a mean weighs
TINY = np.finfo(float).tiny
ALPHA = 1.0  # a pseudo-count of each label


def weak_prior(model: Mixture, rows: np.ndarray, weights: np.ndarray) -> MixturePrior:
    """The prior for the components of a mixture of these rows (row, *event); None for columns that are not Gaussian."""
    flat = np.asarray(rows, float).reshape(len(rows), -1)
    mean, variance = mean_and_variance(flat, weights)
    return MixturePrior(None, prior_of(model.components, mean, reference_variance(mean, variance)))


def prior_of(components: Emissions, mean: np.ndarray, variance: np.ndarray) -> Any:
    if isinstance(components, IndependentEmissions):
        columns = zip(components.parts, components.columns(mean[None]), components.columns(variance[None]), strict=True)
        return [prior_of(part, np.ravel(own), np.ravel(spread)) for part, own, spread in columns]
    if not isinstance(components, GaussianEmissions):
        return None
    size = components.dimension
    scale, degrees = variance / components.num_states ** (2 / size), size + 2
    if not components.is_diagonal:
        return NormalInverseWishart(mean, STRENGTH, degrees, np.diag(scale))
    if components.structure == "spherical":
        return NormalInverseGamma(mean.mean(), STRENGTH, 0.5 * degrees, 0.5 * scale.mean())
    if not components.event_shape:
        return NormalInverseGamma(mean[0], STRENGTH, 0.5 * degrees, 0.5 * scale[0])
    return NormalInverseGamma(mean, STRENGTH, 0.5 * degrees, 0.5 * scale)


def cluster_rows(rows: np.ndarray, weights: np.ndarray, num_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """The cluster of each row, by k-means of the standardised columns; a hole counts as the mean of its column.

    There are as many clusters as rows where these are fewer than `num_clusters`.
    """
    from juncture.clusters.means import tightest_clusters

    table = standardized(rows.reshape(len(rows), -1).astype(np.float64), weights)
    found = tightest_clusters(table, min(num_clusters, len(table)), rng, weights)
    return np.asarray(found.labels_, np.int64)


def group_by_nearest(rows: np.ndarray, weights: np.ndarray, num_groups: int, rng: np.random.Generator) -> np.ndarray:
    """The group of each row: that of the nearest of a few rows, which are drawn by their weights."""
    table = standardized(rows.reshape(len(rows), -1).astype(np.float64), weights)
    drawn = table[rng.choice(len(table), min(num_groups, len(table)), replace=False, p=weights / weights.sum())]
    squares = (table**2).sum(axis=1)[:, None] - 2 * table @ drawn.T + (drawn**2).sum(axis=1)
    return np.asarray(squares.argmin(axis=1))


def standardized(table: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and deviation 1, and 0 for what is missing; a constant column is 0."""
    mean, variance = mean_and_variance(table, weights)
    deviations = np.where(np.isnan(table), 0.0, table - mean)
    return np.asarray(np.where(is_constant(mean, variance), 0.0, deviations / np.sqrt(np.maximum(variance, TINY))))


def distinct_rows(rows: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each distinct row once, with the sum of its weights, in an order that is theirs: holes are equal to each other.

    A start from these is the same for a row that weighs 2 and for two rows, whatever their order, and in all units.
    """
    codes = np.zeros(len(rows), np.int64)
    for column in np.asarray(rows, np.float64).reshape(len(rows), -1).T:
        _, ranks = np.unique(column, return_inverse=True)  # holes are the last
        _, codes = np.unique(codes * (ranks.max(initial=0) + 1) + ranks.ravel(), return_inverse=True)
        if len(codes) and codes.max() == len(codes) - 1:
            break
    _, first = np.unique(codes, return_index=True)
    return rows[first], np.bincount(codes.ravel(), weights)


def table_rows(data: Dataset) -> np.ndarray:
    """(row, column): numbers, and the codes of labels; NaN for holes."""
    columns = [
        dataset_column(data, name) if is_number(data, name) else as_codes(data.columns[name]) for name in data.columns
    ]
    if not columns:
        raise InvalidData("there are no columns to cluster by")
    return np.stack(columns, axis=1)


def is_number(data: Dataset, name: str) -> bool:
    return is_quantity(Summary.of(data, name))


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


def number_column(mean: np.ndarray, variance: np.ndarray, column: int) -> Emissions:
    return GaussianEmissions(mean[[column]], variance[[column]])


def label_column(data: Dataset, name: str) -> Emissions:
    size = data.variable(name).num_states
    return CategoricalEmissions(np.full((1, size), 1.0 / size))


def table_prior(template: Mixture, rows: np.ndarray, num_components: int) -> MixturePrior:
    """The weak prior of columns of numbers, and a pseudo-count of each label."""
    wide = Mixture(np.full(num_components, 1.0 / num_components), template.components.take([0] * num_components))
    found = weak_prior(wide, rows, np.ones(len(rows)))
    if not isinstance(wide.components, IndependentEmissions):
        return found
    pairs = zip(wide.components.parts, found.components, strict=True)
    return MixturePrior(None, [ALPHA if isinstance(part, CategoricalEmissions) else own for part, own in pairs])
