"""Holes of rows filled from a mixture: the mean of what is missing given what is observed, and its deviation."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.gaussian_holes import patterns
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture
from juncture.errors import Unsupported
from juncture.families.vectors.block_matrices import block
from juncture.values import Value, number_of, read_only


class Imputed(Value):
    """Rows whose holes are filled.

    Attributes
    ----------
    mean
        The rows; where a cell is missing, its mean given what is observed, or of a categorical column its most probable
        code.
    deviation
        The standard deviation of each cell that was missing, or of a categorical column the probability that its code
        is another one; 0 for cells that were observed.
    """

    _fields = ("mean", "deviation")
    mean: np.ndarray
    deviation: np.ndarray

    def __init__(self, mean: Any, deviation: Any) -> None:
        self._set(mean=read_only(mean, float), deviation=read_only(deviation, float))

    def __repr__(self) -> str:
        return f"Imputed({number_of(len(self.mean), 'row')}, {number_of(int((self.deviation > 0).sum()), 'hole')})"


def impute_rows(model: Mixture, rows: np.ndarray, shares: np.ndarray) -> Imputed:
    """The rows (row, *event) with their holes filled; shares are the responsibilities (row, component)."""
    flat = np.array(rows, float).reshape(len(rows), prod(rows.shape[1:]))
    found, deviation = flat.copy(), np.zeros_like(flat)
    for positions, seen in patterns(flat):
        missing = np.setdiff1d(np.arange(flat.shape[1]), seen)
        if len(missing):
            fill = fill_gaussian if isinstance(model.components, GaussianEmissions) else fill_columns
            cells = np.ix_(positions, missing)
            found[cells], deviation[cells] = fill(model.components, flat[positions], seen, missing, shares[positions])
    return Imputed(found.reshape(rows.shape), deviation.reshape(rows.shape))


def fill_gaussian(
    components: Any, rows: np.ndarray, seen: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """E[missing | seen] is linear in what is seen, in each component (Bishop 2.81, 2.82)."""
    mean, covariance = components.means, components.full.covariance
    gain = np.linalg.solve(block(covariance, seen, seen), block(covariance, seen, missing))
    left = block(covariance, missing, missing) - block(covariance, missing, seen) @ gain
    shift = np.einsum("nks,ksm->nkm", rows[:, None, seen] - mean[:, seen], gain)
    return combine(shares, mean[:, missing] + shift, np.diagonal(left, axis1=1, axis2=2))


def combine(shares: np.ndarray, means: np.ndarray, variances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of a mixture with the means (row, component, cell) and the variances (component, cell)."""
    mean = np.einsum("nk,nkm->nm", shares, means)
    spread = np.einsum("nk,nkm->nm", shares, (means - mean[:, None]) ** 2 + variances)
    return mean, np.sqrt(spread)


def fill_columns(
    components: Any, rows: np.ndarray, seen: np.ndarray, missing: np.ndarray, shares: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Columns are independent given the component."""
    found = [fill_column(part, shares) for part in parts_of(components, missing)]
    mean, deviation = (np.stack(each, axis=1) for each in zip(*found, strict=True))
    return mean, deviation


def parts_of(components: Any, missing: np.ndarray) -> list[Any]:
    """The emissions of the missing columns."""
    parts = components.parts if isinstance(components, IndependentEmissions) else [components]
    if any(part.event_shape for part in parts):
        raise Unsupported("holes are filled in Gaussian vectors and in independent columns of numbers or codes")
    return [parts[column] for column in missing]


def fill_column(part: Any, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(part, CategoricalEmissions):
        probabilities = shares @ part.probabilities
        return probabilities.argmax(axis=1).astype(float), 1.0 - probabilities.max(axis=1)
    mean, variance = (np.array([float(getattr(each, name)) for each in part]) for name in ("mean", "variance"))
    means = np.broadcast_to(mean[:, None], (len(shares), len(mean), 1))
    found, deviation = combine(shares, means, variance[:, None])
    return found[:, 0], deviation[:, 0]
