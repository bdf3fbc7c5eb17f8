"""`choose_dimension`: how many factors rows have, by the evidence of probabilistic PCA (Minka 2000)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from juncture.base.values import Value, read_only
from juncture.errors import InvalidData
from juncture.latent.factor_analysis.principal_components import principal_components
from juncture.numerics.stable import LOG_TWO_PI, log_sum_exp

SMALLEST = 1e-300


class DimensionChoice(Value):
    """The evidence for each number of factors of probabilistic PCA, by Laplace's method.

    Attributes
    ----------
    dimensions
        (choice,): 1, 2, … up to one less than there are columns.
    log_evidence
        (choice,): up to a constant, which all share.
    """

    _fields = ("dimensions", "log_evidence")
    dimensions: np.ndarray
    log_evidence: np.ndarray

    def __init__(self, dimensions: Any, log_evidence: Any) -> None:
        self._set(dimensions=read_only(dimensions, np.int64), log_evidence=read_only(log_evidence, np.float64))

    @property
    def best(self) -> int:
        """The number of factors with the largest evidence; the smaller of equal ones."""
        return int(self.dimensions[self.log_evidence.argmax()])

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The posterior of the number of factors, where all numbers are equally probable before."""
        return read_only(np.exp(self.log_evidence - log_sum_exp(self.log_evidence)))

    def __repr__(self) -> str:
        share = self.probabilities.max()
        return f"DimensionChoice(best={self.best} of {len(self.dimensions)}, with probability {share:.4g})"


def choose_dimension(rows: Any, *, weights: Any = None) -> DimensionChoice:
    """The number of factors of complete rows, by the evidence of probabilistic PCA.

    The integrals over loadings and noise are approximated by Laplace's method, so that the evidence is approximate; it
    is asymptotically right as rows become many.

    Parameters
    ----------
    rows
        A table of numbers without holes, with at least two columns and more rows than columns.
    weights
        The weight of each row.

    Returns
    -------
    DimensionChoice

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(200, 6))
    >>> jt.choose_dimension(rows).best
    2
    """
    found = principal_components(rows, weights=weights)
    columns = len(found.center)
    if columns < 2 or found.num_components < columns or found.weight <= columns:
        raise InvalidData(
            f"the evidence for a dimension needs at least 2 columns and more rows than columns; got {found.weight:.12g}"
            f" rows of {columns}"
        )
    if not found.total_variance > 0:
        raise InvalidData("all rows are equal, so that there is no factor to choose")
    dimensions = np.arange(1, columns)
    return DimensionChoice(dimensions, [log_evidence(found.variances, int(k), found.weight) for k in dimensions])


def log_evidence(spectrum: np.ndarray, rank: int, weight: float) -> float:
    """Laplace's approximation for `rank` factors, from the eigenvalues of the covariance, the largest first.

    The terms are the uniform prior over directions, the likelihood at the maximum, and the curvature there; with
    λ' = λ for the first `rank` eigenvalues and the noise v for the others, the curvature has the factors
    (1/λ'_j - 1/λ'_i) (λ_i - λ_j) N for all i up to `rank` and j > i.
    """
    size, small = len(spectrum), max(SMALLEST, 1e-15 * float(spectrum[0]))
    values = np.maximum(spectrum, small)
    noise = float(values[rank:].mean())
    places = 0.5 * (size - np.arange(rank))
    prior = -rank * np.log(2.0) + float(np.sum(gammaln(places) - np.log(np.pi) * places))
    fit = -0.5 * weight * (float(np.log(values[:rank]).sum()) + (size - rank) * np.log(noise))
    free = size * rank - rank * (rank + 1) // 2
    shrunk = np.r_[values[:rank], np.full(size - rank, noise)]
    i, j = np.triu_indices(size, 1)
    i, j = i[i < rank], j[i < rank]
    factors = (1 / shrunk[j] - 1 / shrunk[i]) * (values[i] - values[j])
    curvature = float(np.log(np.maximum(factors, SMALLEST)).sum()) + len(i) * np.log(weight)
    return prior + fit + 0.5 * LOG_TWO_PI * (free + rank) - 0.5 * curvature - 0.5 * rank * np.log(weight)
