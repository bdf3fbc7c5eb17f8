"""`IndependentComponents` and `IndependentFactors`: rows are a linear map of independent sources that are not Gaussian.

    z_j ~ p_j independently,    x = loadings z + mean (+ noise).

Without noise there are as many sources as columns, and log p(x) = Σ_j log p_j(z_j) - log |det loadings| at the one z
that explains the row: independent component analysis (Bishop 12.4). With Gaussian noise the sources are factors: a
density with heavy tails, such as a Laplace or a Student-t, says that most are near 0 in each row (sparse factors).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_array, check_count
from juncture.base.values import number_of, read_only
from juncture.data.feature_names import NamedFeatures
from juncture.data.rows import default_names, free_name
from juncture.errors import InvalidModel
from juncture.families.continuous.laplace import Laplace
from juncture.latent.factor_analysis.model import FactorAnalysis
from juncture.latent.independent_components.sources import (
    as_sources,
    count_combinations,
    is_learned,
    mirrored,
    parts_of,
    standard_mixture,
)
from juncture.variables import Scope, Variable

MOST_COMBINATIONS = 200_000  # of the Gaussian parts of all factors: more of them are not summed over


class IndependentSources(NamedFeatures):
    """What both kinds share: loadings (column, source), a mean, and the density of each source."""

    kind: ClassVar[str] = "independent sources"
    loadings: np.ndarray  # (column, source)
    mean: np.ndarray  # (column,)
    sources: tuple[Any, ...]  # a density each

    @property
    def num_columns(self) -> int:
        return len(self.loadings)

    @property
    def num_sources(self) -> int:
        """The number of sources."""
        return int(self.loadings.shape[1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.num_columns,)

    @cached_property
    def variables(self) -> Scope:
        """The columns of a row, and the vector of the sources after them."""
        names = self.feature_names or default_names(self.num_columns)
        sources = Variable(free_name("sources", names), dimension=self.num_sources)
        return Scope([*map(Variable, names), sources])

    @property
    def num_parameters(self) -> int:
        """Free numbers: loadings, the mean, the noise, and the densities that are learned, of mean 0 and variance 1."""
        learned = sum(3 * (len(parts_of(source).weights) - 1) for source in self.sources if is_learned(source))
        return self.loadings.size + self.num_columns + int(np.count_nonzero(self.variances)) + learned

    @property
    def variances(self) -> np.ndarray:
        """The variance of the noise of each column, (column,)."""
        raise NotImplementedError

    def _with_sources(self, loadings: np.ndarray, sources: list[Any]) -> Self:
        raise NotImplementedError

    def canonical(self) -> Self:
        """The same distribution of rows, the source with the largest loadings first.

        The largest loading of each source is positive.
        """
        order = np.argsort(-(self.loadings**2).sum(axis=0), kind="stable")
        loadings = self.loadings[:, order]
        is_negative = loadings[np.abs(loadings).argmax(axis=0), np.arange(len(order))] < 0
        listed = [self.sources[at] for at in order]
        sources = [mirrored(each) if turned else each for each, turned in zip(listed, is_negative, strict=True)]
        return self._with_sources(loadings * np.where(is_negative, -1.0, 1.0), sources)._named(self.feature_names)

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(type(source).__name__ for source in self.sources))
        columns, sources = number_of(self.num_columns, "column"), number_of(self.num_sources, "source")
        return f"{type(self).__name__}({columns}, {sources}: {kinds})"


class IndependentComponents(IndependentSources):
    """Independent component analysis: x = loadings z + mean, with independent z and as many of them as columns.

    The sources of a row are unmixing @ (row - mean). Loadings are known up to the order, the signs and the scales of
    the sources, if at most one of them is Gaussian.

    Parameters
    ----------
    loadings
        The mixing matrix, (column, source), square and invertible.
    mean
        (column,); 0 by default.
    sources
        The density of each source: a `Gaussian`, a `Laplace`, a `StudentT` or a `Mixture` of Gaussians, one for all or
        a list. `fit` learns a mixture, so that it bends to what the source is, and leaves the others as they are. By
        default mixtures of three Gaussians.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.IndependentComponents([[2.0, 1.0], [0.0, 1.0]], sources=jt.Laplace(0.0, 1.0))
    >>> jt.infer(model, [3.0, 1.0])["sources"].mean
    array([1., 1.])
    >>> round(jt.log_prob(model, [3.0, 1.0]), 6)  # -2 - 2 log 2 - log |det|
    -4.079442
    """

    kind: ClassVar[str] = "independent components"

    def __init__(self, loadings: Any, mean: Any = None, sources: Any = None) -> None:
        table = check_array(loadings, "the loadings", ndim=2, error=InvalidModel)
        if 0 in table.shape or table.shape[0] != table.shape[1]:
            raise InvalidModel(
                f"independent components have as many sources as columns; got loadings of the shape {table.shape}: take"
                " principal components first, or IndependentFactors, which have noise"
            )
        center = check_array(np.zeros(len(table)) if mean is None else mean, "the mean", ndim=1, error=InvalidModel)
        if center.shape != table.shape[:1]:
            raise InvalidModel(f"the mean must have {number_of(len(table), 'number')}, one a column; got {len(center)}")
        if not (np.isfinite(table).all() and np.isfinite(center).all()):
            raise InvalidModel("loadings and mean must be finite numbers")
        if not np.linalg.cond(table / np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-300)) < 1e14:
            raise InvalidModel("the loadings have no inverse: the columns of a row would depend on each other linearly")
        given = standard_mixture() if sources is None else sources
        self._set(
            loadings=read_only(table, np.float64),
            mean=read_only(center, np.float64),
            sources=as_sources(given, len(table)),
        )

    @classmethod
    def standard(cls, num_columns: int, sources: Any = None) -> Self:
        """Each column is a source: where only the sizes matter, as for `fit`.

        Parameters
        ----------
        num_columns
            The number of columns of a row, and of sources.
        sources
            Their densities, as in the constructor.
        """
        return cls(np.eye(check_count(num_columns, "num_columns", least=1, error=InvalidModel)), None, sources)

    @cached_property
    def unmixing(self) -> np.ndarray:
        """The inverse of the loadings, (source, column): sources = unmixing @ (row - mean)."""
        return read_only(np.linalg.inv(self.loadings))

    @property
    def variances(self) -> np.ndarray:
        """The variance of the noise of each column, (column,): 0."""
        return np.zeros(self.num_columns)

    def _with_sources(self, loadings: np.ndarray, sources: list[Any]) -> Self:
        return type(self)(loadings, self.mean, sources)


class IndependentFactors(IndependentSources):
    """Independent factor analysis: x = loadings z + mean + noise, with independent z, sparse ones for example.

    With `sources=jt.Gaussian(0.0, 1.0)` it is `FactorAnalysis`. Other factors are summed over the Gaussian parts of all
    of them, those of a `Laplace` or a `StudentT` (about 30) by quadrature of their scale, so that there may be at
    most three of these.

    Parameters
    ----------
    loadings
        (column, factor).
    mean
        (column,).
    noise
        The variance of the noise of each column, (column,); a number stands for one that all have.
    sources
        The density of each factor, as in `IndependentComponents`; by default `Laplace` with variance 1.

    Examples
    --------
    >>> import juncture as jt
    >>> dense = jt.FactorAnalysis([[2.0], [1.0]], [0.0, 0.0], [1.0, 1.0])
    >>> sparse = jt.IndependentFactors([[2.0], [1.0]], [0.0, 0.0], [1.0, 1.0])
    >>> for model in (dense, sparse):  # a small value is nothing, a large one is kept
    ...     print([round(float(jt.infer(model, [2 * z, z]).mean[0]), 3) for z in (0.5, 5.0)])
    [0.417, 4.167]
    [0.327, 4.717]
    """

    kind: ClassVar[str] = "independent factors"
    noise: np.ndarray

    def __init__(self, loadings: Any, mean: Any, noise: Any, sources: Any = None) -> None:
        gaussian = FactorAnalysis(loadings, mean, noise)
        given = Laplace(0.0, np.sqrt(0.5)) if sources is None else sources
        densities = as_sources(given, gaussian.num_factors)
        number = count_combinations(densities)
        if number > MOST_COMBINATIONS:
            raise InvalidModel(
                f"the factors have {number:,} combinations of Gaussian parts, more than the {MOST_COMBINATIONS:,} that"
                " are summed over: take fewer factors, or mixtures of few Gaussians as sources"
            )
        parts = {name: getattr(gaussian, name) for name in ("loadings", "mean", "noise")}
        self._set(**parts, sources=densities)

    @classmethod
    def standard(cls, num_columns: int, num_factors: int, sources: Any = None) -> Self:
        """The first factors are the first columns, with mean 0 and noise 1: where only the sizes matter, as for `fit`.

        Parameters
        ----------
        num_columns
            The number of columns of a row.
        num_factors
            The number of factors, at most that of columns.
        sources
            Their densities, as in the constructor.
        """
        gaussian = FactorAnalysis.standard(num_columns, num_factors)
        return cls(gaussian.loadings, gaussian.mean, gaussian.noise, sources)

    @property
    def variances(self) -> np.ndarray:
        """The variance of the noise of each column, (column,)."""
        return self.noise

    @cached_property
    def gaussian(self) -> FactorAnalysis:
        """The same map and noise with Gaussian factors."""
        return FactorAnalysis(self.loadings, self.mean, self.noise)

    def _with_sources(self, loadings: np.ndarray, sources: list[Any]) -> Self:
        return type(self)(loadings, self.mean, self.noise, sources)
