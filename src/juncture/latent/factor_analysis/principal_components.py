"""Principal components, the directions of the largest variance, which are those of the closest subspace; their number.

Three ways to the same answer (S0-254 to S0-256): eigenvectors of the covariance, singular vectors of the rows, and
deflation, which finds one direction at a time and projects the rows on what is orthogonal to it. `choose_dimension`
finds how many components rows have, by the evidence of probabilistic PCA (Minka 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import gammaln

from juncture.base.checks import check_choice, check_count, check_flag
from juncture.base.values import Value, number_of, read_only
from juncture.data.feature_names import NamedFeatures, Names
from juncture.data.rows import Rows, check_complete
from juncture.errors import InvalidData
from juncture.numerics.stable import LOG_TWO_PI, log_sum_exp

INSTEAD = ("principal components", "fit a ProbabilisticPCA")
SMALLEST = 1e-300


def principal_components(
    data: Any, num_components: int | None = None, *, center: bool = True, weights: Any = None, method: str = "eigen"
) -> PrincipalComponents:
    """The leading principal components of complete rows.

    Parameters
    ----------
    data
        A table of numbers, (row, column), without holes; with holes, `fit` a `ProbabilisticPCA`.
    num_components
        The number of components; by default the smaller one of the numbers of rows and columns.
    center
        Whether the mean of the rows is the origin. Without, directions of the largest mean square are found.
    weights
        The weight of each row.
    method
        "eigen" for eigenvectors of the covariance, "svd" for singular vectors of the rows, which are as precise for
        columns that almost depend on each other, or "deflation" for one component after the other.

    Returns
    -------
    PrincipalComponents

    Examples
    --------
    >>> import juncture as jt
    >>> found = jt.clusters.principal_components([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0], [3.0, 5.0]], 1)
    >>> found.project([[1.5, 2.75]]).round(6).tolist()
    [[0.0]]
    >>> round(found.error, 4)
    0.0762
    """
    search = METHODS[check_choice(method, METHODS, "method")]
    read = Rows.of(data, weights=weights)
    table, heavy = read.many()
    check_complete(table, *INSTEAD)
    if not heavy.sum() > 0 or not table.shape[1]:
        raise InvalidData("principal components need rows that weigh something, and columns")
    most = min(table.shape)
    number = most if num_components is None else check_count(num_components, "num_components", least=1)
    if number > most:
        raise InvalidData(f"{table.shape[0]} rows of {table.shape[1]} numbers have at most {most} components")
    origin = heavy @ table / heavy.sum() if check_flag(center, "center") else np.zeros(table.shape[1])
    scaled = (table - origin) * np.sqrt(heavy / heavy.sum())[:, None]
    variances, components = search(scaled, number)
    largest = np.abs(components).argmax(axis=1)
    signs = np.where(components[np.arange(number), largest] < 0, -1.0, 1.0)
    found = PrincipalComponents(origin, components * signs[:, None], variances, (scaled**2).sum(), heavy.sum())
    return found._named(read.names)


class PrincipalComponents(NamedFeatures):
    """The leading principal components of rows.

    Attributes
    ----------
    center
        (column,): the mean of the rows, or 0 where they were not centered.
    components
        (component, column): orthonormal directions, that of the largest variance first. The largest entry of each is
        positive.
    variances
        (component,): the mean square of the rows, less the center, along each; the divisor is the number of rows.
    total_variance
        That of all directions.
    weight
        The number of rows, or the sum of their weights.
    """

    center: np.ndarray
    components: np.ndarray
    variances: np.ndarray
    total_variance: float
    weight: float

    def __init__(self, center: Any, components: Any, variances: Any, total_variance: float, weight: float) -> None:
        arrays = {"center": center, "components": components, "variances": variances}
        parts = {name: read_only(array, np.float64) for name, array in arrays.items()}
        self._set(**parts, total_variance=float(total_variance), weight=float(weight))

    @property
    def num_components(self) -> int:
        return len(self.components)

    @property
    def num_columns(self) -> int:
        """The number of columns."""
        return int(self.components.shape[1])

    @property
    def shares(self) -> np.ndarray:
        """The share of the total variance that each component explains, (component,)."""
        return self.variances / self.total_variance if self.total_variance > 0 else np.zeros(self.num_components)

    @property
    def error(self) -> float:
        """Σ ‖row - its reconstruction‖²: the number of rows times the variance that is left out."""
        return max(self.total_variance - float(self.variances.sum()), 0.0) * self.weight

    def project(self, rows: Any) -> np.ndarray:
        """The coordinates of rows along the components: (component,) of one row, (row, component) of many."""
        table, is_single = complete_rows(rows, self.num_columns, self.feature_names)
        scores = (table - self.center) @ self.components.T
        return np.asarray(scores[0] if is_single else scores)

    def synthesize(self, scores: Any) -> np.ndarray:
        """The rows of given coordinates: center + Σ score · component."""
        table, is_single = complete_rows(scores, self.num_components)
        rows = table @ self.components + self.center
        return np.asarray(rows[0] if is_single else rows)

    def reconstruct(self, rows: Any) -> np.ndarray:
        """The points of the subspace that are closest to rows."""
        return self.synthesize(self.project(rows))

    def __repr__(self) -> str:
        number = number_of(self.num_components, "component")
        return f"PrincipalComponents({number}, {100 * self.shares.sum():.4g} % of the variance)"


def complete_rows(rows: Any, num_columns: int, names: Names | None = None) -> tuple[np.ndarray, bool]:
    read = Rows.of(rows, names)
    table = read.numbers((num_columns,))
    check_complete(table, *INSTEAD)
    return table, read.is_single((num_columns,))


def by_eigenvectors(scaled: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors of the symmetric covariance: real, whatever rounding does."""
    return leading_eigenvectors(scaled.T @ scaled, number)


def leading_eigenvectors(matrix: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of a covariance, the largest first, and their eigenvectors as rows."""
    from scipy.linalg import eigh

    values, vectors = eigh(matrix, subset_by_index=[len(matrix) - number, len(matrix) - 1])
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1].T


def by_singular_vectors(scaled: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    _, values, vectors = np.linalg.svd(scaled, full_matrices=False)
    return values[:number] ** 2, vectors[:number]


def by_deflation(scaled: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The direction of the largest variance, then the same of the rows without it, and so on.

    Directions that were found have a negative value from then on, so that they are not found again where nothing is
    left.
    """
    rest, variances, found = scaled, [], np.zeros((0, scaled.shape[1]))
    for _ in range(number):
        covariance = rest.T @ rest
        value, direction = leading_eigenvectors(covariance - (np.trace(covariance) + 1.0) * found.T @ found, 1)
        variances.append(value[0])
        found = np.vstack([found, direction])
        rest = rest - (rest @ direction.T) @ direction
    return np.array(variances), found


def choose_dimension(data: Any, *, weights: Any = None) -> DimensionChoice:
    """The number of factors of complete rows, by the evidence of probabilistic PCA.

    The integrals over loadings and noise are approximated by Laplace's method, so that the evidence is approximate; it
    is asymptotically right as rows become many.

    Parameters
    ----------
    data
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
    >>> jt.clusters.choose_dimension(rows).best
    2
    """
    found = principal_components(data, weights=weights)
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


class DimensionChoice(Value):
    """The evidence for each number of factors of probabilistic PCA, by Laplace's method.

    Attributes
    ----------
    dimensions
        (choice,): 1, 2, … up to one less than there are columns.
    log_evidence
        (choice,): up to a constant, which all share.
    """

    dimensions: np.ndarray
    log_evidence: np.ndarray

    def __init__(self, dimensions: Any, log_evidence: Any) -> None:
        self._set(dimensions=read_only(dimensions, np.int64), log_evidence=read_only(log_evidence, np.float64))

    @property
    def best(self) -> int:
        """The number of factors with the largest evidence; where several have it, the smallest of them."""
        return int(self.dimensions[self.log_evidence.argmax()])

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The posterior of the number of factors, where all numbers are equally probable before."""
        return read_only(np.exp(self.log_evidence - log_sum_exp(self.log_evidence)))

    def __repr__(self) -> str:
        share = self.probabilities.max()
        return f"DimensionChoice(best={self.best} of {len(self.dimensions)}, with probability {share:.4g})"


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


METHODS: dict[str, Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]] = {
    "eigen": by_eigenvectors,
    "svd": by_singular_vectors,
    "deflation": by_deflation,
}
