"""EM for linear-Gaussian factors: rows with holes, and a quicker step where all rows are complete.

`FactorData` is what EM reads of the rows: the sums of complete ones, and those with holes, kept or read again.

With holes, the E-step gives the moments of the factors of each row. The M-step is a regression of each column on the
factors, over the rows in which the column is seen (Bishop 12.2.4). Complete rows enter by their moments alone.

Where all rows are complete, the likelihood is maximised over the loadings given the noise, by the leading eigenvectors
of the scaled covariance, and then over the noise by EM (ECME; Liu and Rubin 1994). It never lowers the likelihood
either, and takes far fewer steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from juncture.base.values import Value, number_of, read_only
from juncture.data.rows import RowParts, SourceRows
from juncture.data.sources.contract import Origin
from juncture.errors import InvalidData
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.families.statistics.statistics import Moments
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.latent.factor_analysis.beliefs import BLOCK, Patterns, posterior_of
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.learning.em.contract import EMState, Expected
from juncture.numerics.stable import LOG_TWO_PI

Start = Literal["data", "given", "random"]
ROUNDING = 1e-7  # a fall by this share of the objective is rounding, where noise is at its floor


@dataclass(frozen=True, eq=False)
class FactorProblem:
    """Factors to learn by EM: the data, the prior of the noise, and where to start."""

    template: LinearFactors
    data: FactorData
    prior: InverseGamma | None
    kind: Start
    rng: np.random.Generator
    models: ClassVar[str] = "linear factors"

    def start(self) -> LinearFactors:
        if self.kind == "given":
            return self.template
        return self.another_start() if self.kind == "random" else start_from(self.template, self.data)

    def another_start(self) -> LinearFactors:
        """Random loadings that explain half of each variance."""
        variances = np.maximum(np.diagonal(self.data.covariance), self.data.floor)
        loadings = self.rng.normal(size=self.template.loadings.shape)
        loadings *= np.sqrt(0.5 * variances / self.template.num_factors)[:, None]
        ones = np.ones(len(variances))
        return type(self.template)(loadings, self.data.center, type(self.template)._pool(0.5 * variances, ones))

    def log_prior(self, model: LinearFactors) -> float:
        return 0.0 if self.prior is None else float(np.sum(self.prior.log_prob(model.noise)))

    def recover(self, state: EMState[Any, Any], fall: float) -> LinearFactors | None:
        """Where noise is almost 0, a step may lower the objective by rounding: the model stays."""
        return state.model if fall <= ROUNDING * max(1.0, abs(state.objective)) else None

    @cached_property
    def deviations(self) -> np.ndarray:
        """(column,): the units of a vector of parameters, so that a step along it is the same in all units of data."""
        return np.asarray(np.sqrt(np.maximum(np.diagonal(self.data.covariance), self.data.floor)))

    def to_vector(self, model: LinearFactors) -> np.ndarray:
        units = self.deviations
        loadings, mean = model.loadings / units[:, None], (model.mean - self.data.center) / units
        noise = np.log(np.atleast_1d(model.noise)) - 2 * np.log(units if np.ndim(model.noise) else units[:1])
        return np.concatenate([loadings.ravel(), mean, noise])

    def from_vector(self, vector: np.ndarray, state: EMState[Any, Any]) -> LinearFactors | None:
        columns, factors = state.model.loadings.shape
        loadings, mean, log_noise = np.split(vector, [columns * factors, columns * (factors + 1)])
        if not np.isfinite(vector).all() or np.abs(log_noise).max() > 500:
            return None
        units = self.deviations
        squares = np.exp(log_noise) * (units**2 if np.ndim(state.model.noise) else units[:1] ** 2)
        noise = self.above_floor(squares if np.ndim(state.model.noise) else float(squares[0]))
        found = loadings.reshape(columns, factors) * units[:, None]
        return type(state.model)(found, self.data.center + mean * units, noise)

    def noise_from(self, squares: np.ndarray, weights: np.ndarray) -> Any:
        """The noise of sums of squared residuals (column,), with the mode of its posterior if there is a prior."""
        kind = type(self.template)
        shared = len(squares) / np.size(self.template.noise)  # the number of columns that share a variance
        if self.prior is not None:
            squares = squares + 2 * float(self.prior.scale) / shared
            weights = weights + 2 * (float(self.prior.shape) + 1) / shared
        return self.above_floor(kind._pool(squares, weights))

    def above_floor(self, noise: Any) -> Any:
        return np.maximum(noise, self.data.floor if np.ndim(noise) else self.data.shared_floor)


@dataclass(frozen=True, eq=False)
class CompleteFactors(FactorProblem):
    """Complete rows: their moments say all, so that a step costs the same for any number of rows."""

    def blocks(self) -> Iterable[Moments]:
        return [self.data.complete]

    def expect(self, model: LinearFactors, block: Moments) -> Expected[Any]:
        return Expected(block, log_likelihood(model, block))

    def expected_log_joint(self, statistics: Moments, model: LinearFactors) -> float:
        """log p(x): the step knows the posterior of the factors under any model, so that nothing is left to expect."""
        return log_likelihood(model, statistics)

    def maximize(self, statistics: Moments, model: LinearFactors) -> LinearFactors:
        weight = float(statistics.weight)
        covariance = statistics.scatter / weight
        loadings = best_loadings(covariance, model.variances, model.num_factors)
        squares = np.maximum(np.diagonal(covariance) - (loadings**2).sum(axis=1), 0.0) * weight
        noise = self.noise_from(squares, np.full(len(squares), weight))
        return type(model)(loadings, statistics.center + statistics.residual, noise)


@dataclass(frozen=True, eq=False)
class IncompleteFactors(FactorProblem):
    """Rows with holes, and the moments of those without."""

    def blocks(self) -> Iterable[Moments | HoleBlock]:
        yield self.data.complete
        yield from self.data.holes()

    def expect(self, model: LinearFactors, block: Moments | HoleBlock) -> Expected[LoadingStatistics]:
        center = self.data.center
        if isinstance(block, HoleBlock):
            return expect_rows(model, block, center)
        return Expected(moment_statistics(model, block, center), log_likelihood(model, block))

    def expect_blocks(self, model: LinearFactors) -> Iterator[Expected[LoadingStatistics]]:
        """The E-step of each block, in order: that of a source on threads, or where its rows are."""
        if self.data.source is None:
            yield from (self.expect(model, block) for block in self.blocks())
            return
        yield self.expect(model, self.data.complete)
        for part in self.data.source.map(partial(expect_holes, model, self.data.center)):
            if part is not None:
                yield part

    def expected_log_joint(self, statistics: LoadingStatistics, model: LinearFactors) -> float:
        """E log p(seen | factors): the prior of the factors has no parameters, and is left out."""
        slopes = np.hstack([model.loadings, (model.mean - self.data.center)[:, None]])
        squares = statistics.squares - 2 * (slopes * statistics.cross).sum(axis=1)
        squares += np.einsum("cf,cfg,cg->c", slopes, statistics.outer, slopes)
        return -0.5 * float(
            np.sum(statistics.weight * (np.log(model.variances) + LOG_TWO_PI) + squares / model.variances)
        )

    def maximize(self, statistics: LoadingStatistics, model: LinearFactors) -> LinearFactors:
        slopes = np.linalg.solve(statistics.outer, statistics.cross[:, :, None])[:, :, 0]  # (column, factor + 1)
        squares = np.maximum(statistics.squares - (slopes * statistics.cross).sum(axis=1), 0.0)
        noise = self.noise_from(squares, statistics.weight)
        return type(model)(slopes[:, :-1], self.data.center + slopes[:, -1], noise)


class LoadingStatistics(Value):
    """Expected sums over the rows in which a column is seen, of its values less the center, and of (factors, 1)."""

    weight: np.ndarray  # (column,)
    squares: np.ndarray  # (column,)
    cross: np.ndarray  # (column, factor + 1)
    outer: np.ndarray  # (column, factor + 1, factor + 1)

    def __init__(self, weight: Any, squares: Any, cross: Any, outer: Any) -> None:
        parts = {"weight": weight, "squares": squares, "cross": cross, "outer": outer}
        self._set(**{name: read_only(part, np.float64) for name, part in parts.items()})

    def __add__(self, other: object) -> LoadingStatistics:
        if not isinstance(other, LoadingStatistics):
            return NotImplemented
        return LoadingStatistics(*(getattr(self, name) + getattr(other, name) for name in self._fields))

    def __repr__(self) -> str:
        columns, factors = self.cross.shape
        return f"LoadingStatistics({number_of(columns, 'column')}, {number_of(factors - 1, 'factor')})"


def start_from(template: LinearFactors, data: FactorData) -> LinearFactors:
    """The principal components of the columns: of standardised ones where each has a variance of its own."""
    kind, factors = type(template), template.num_factors
    variances = np.maximum(np.diagonal(data.covariance), data.floor)
    scales = np.sqrt(variances) if np.ndim(template.noise) else np.full(len(variances), np.sqrt(variances.mean()))
    values = np.linalg.eigvalsh(data.covariance / (scales * scales[:, None]))[::-1]
    rest = min(max(float(values[factors:].mean()) if factors < len(values) else 0.0, 0.01), 1.0)
    noise = np.maximum(rest * scales**2, data.floor)
    loadings = best_loadings(data.covariance, noise, factors)
    return kind(loadings, data.center, kind._pool(noise, np.ones(len(noise))))


def best_loadings(covariance: np.ndarray, variances: np.ndarray, num_factors: int) -> np.ndarray:
    """The likeliest loadings given the noise: scaled eigenvectors of the covariance in units of the noise."""
    from scipy.linalg import eigh

    scales = np.sqrt(variances)
    size = len(scales)
    values, vectors = eigh(covariance / (scales * scales[:, None]), subset_by_index=[size - num_factors, size - 1])
    return np.asarray(scales[:, None] * vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1] - 1.0, 0.0)))


def log_likelihood(model: LinearFactors, moments: Moments) -> float:
    """Of complete rows: tr(C⁻¹ S) as the squares of residuals and of factors, a sum that cancels nothing."""
    gain, covariance = gain_of(model)
    scatter = moments.scatter_about(model.mean)
    residual = np.eye(len(scatter)) - model.loadings @ gain
    squares = ((residual @ scatter) * residual).sum(axis=1) @ (1 / model.variances) + ((gain @ scatter) * gain).sum()
    log_size = np.log(model.variances).sum() - np.linalg.slogdet(covariance)[1] + model.num_columns * LOG_TWO_PI
    return -0.5 * float(moments.weight * log_size + squares)


def gain_of(model: LinearFactors) -> tuple[np.ndarray, np.ndarray]:
    """The matrix that maps a complete row, less its mean, to the mean of its factors; and their covariance."""
    scaled = model.loadings / model.variances[:, None]
    covariance = np.linalg.inv(model.loadings.T @ scaled + np.eye(model.num_factors))
    return covariance @ scaled.T, covariance


def moment_statistics(model: LinearFactors, moments: Moments, center: np.ndarray) -> LoadingStatistics:
    """The E-step on complete rows, of which only the moments are needed."""
    columns, factors = model.loadings.shape
    weight = float(moments.weight)
    gain, covariance = gain_of(model)
    off = (
        moments.center - center
    ) + moments.residual  # the mean of the rows less the center, and less that of the model
    shift = (moments.center - model.mean) + moments.residual
    outer = np.empty((factors + 1, factors + 1))
    outer[:-1, :-1] = weight * covariance + gain @ moments.scatter_about(model.mean) @ gain.T
    outer[-1, :-1] = outer[:-1, -1] = weight * (gain @ shift)
    outer[-1, -1] = weight
    cross = (moments.scatter + weight * off[:, None] * shift) @ gain.T
    return LoadingStatistics(
        np.full(columns, weight),
        np.diagonal(moments.scatter) + weight * off**2,
        np.hstack([cross, weight * off[:, None]]),
        np.broadcast_to(outer, (columns, *outer.shape)),
    )


def expect_rows(model: LinearFactors, block: HoleBlock, center: np.ndarray) -> Expected[LoadingStatistics]:
    """The E-step on rows with holes."""
    data, weights = block
    found = posterior_of(model, data)
    size = model.num_factors + 1
    means = np.hstack([found.mean, np.ones((len(weights), 1))]) * np.sqrt(weights)[:, None]
    seen = data.seen[data.codes]
    values = (data.rows - center) * seen * np.sqrt(weights)[:, None]
    outer = (seen.T @ (means[:, :, None] * means[:, None, :]).reshape(len(means), -1)).reshape(-1, size, size)
    pattern_weights = np.bincount(data.codes, weights, minlength=len(data.seen))
    flat = found.covariances.reshape(len(data.seen), -1) * pattern_weights[:, None]
    outer[:, :-1, :-1] += (data.seen.T @ flat).reshape(-1, size - 1, size - 1)
    statistics = LoadingStatistics(weights @ seen, (values**2).sum(axis=0), values.T @ means, outer)
    return Expected(statistics, float(weights @ found.log_evidence))


def expect_holes(
    model: LinearFactors, center: np.ndarray, rows: np.ndarray, weights: np.ndarray, origin: Origin
) -> Expected[LoadingStatistics] | None:
    """The E-step on the rows of a part that have holes; None where no row has any."""
    parts = [expect_rows(model, block, center) for block in holes_in(rows, weights)]
    return reduce(add, parts) if parts else None


class HoleBlock(NamedTuple):
    """Rows with holes, and the weight of each."""

    patterns: Patterns
    weights: np.ndarray  # (row,)


@dataclass(frozen=True, eq=False)
class FactorData:
    """The moments of complete rows, the rows with holes, and the moments of each column."""

    complete: Moments
    holes: Callable[[], Iterable[HoleBlock]]
    has_holes: bool
    weight: np.ndarray  # (column,): of the rows in which it is seen
    center: np.ndarray  # (column,)
    covariance: np.ndarray  # (column, column): of what is seen, holes filled with the center
    source: SourceRows | None = None  # where rows with holes are read again

    @classmethod
    def of(cls, parts: RowParts, num_columns: int, *, keep: bool) -> FactorData:
        """Sum up the complete rows of all parts; with `keep`, the rows with holes stay in memory."""
        weight, center = column_means(parts, num_columns)
        complete = moments_of(np.zeros((0, num_columns)), np.zeros(0))
        scatter, has_holes = np.zeros((num_columns, num_columns)), False
        for rows, weights in counted_rows(parts):
            is_whole = ~np.isnan(rows).any(axis=1)
            complete = complete + moments_of(rows[is_whole], weights[is_whole])
            partly = np.nan_to_num(rows[~is_whole] - center)
            scatter += (partly * weights[~is_whole, None]).T @ partly
            has_holes = has_holes or not is_whole.all()
        scatter += complete.scatter_about(center)
        blocks = list(hole_blocks(parts)) if keep else None
        holes = (lambda: hole_blocks(parts)) if blocks is None else (lambda: blocks)
        source = parts if isinstance(parts, SourceRows) else None
        return cls(complete, holes, has_holes, weight, center, scatter / np.sqrt(weight * weight[:, None]), source)

    @property
    def floor(self) -> np.ndarray:
        """The least variance of noise of each column, in its own units: rounding hides what is smaller."""
        variances = np.diagonal(self.covariance)
        is_constant = variances <= 1e-24 * self.center**2
        return 1e-8 * np.where(is_constant, variances.min(where=~is_constant, initial=variances.max()), variances)

    @property
    def shared_floor(self) -> float:
        """The least variance of noise that all columns share."""
        variances = np.diagonal(self.covariance)
        return 1e-8 * float(variances.min(where=variances > 1e-12 * variances.mean(), initial=variances.mean()))


def counted_rows(parts: RowParts) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows of which something is seen and that weigh something."""
    for rows, weights in parts():
        counted = (weights > 0) & ~np.isnan(rows).all(axis=1)
        yield (rows, weights) if counted.all() else (rows[counted], weights[counted])


def hole_blocks(parts: RowParts) -> Iterator[HoleBlock]:
    for rows, weights in parts():
        yield from holes_in(rows, weights)


def holes_in(rows: np.ndarray, weights: np.ndarray) -> Iterator[HoleBlock]:
    """The rows with some holes that weigh something, a few at a time."""
    seen = ~np.isnan(rows)
    places = np.flatnonzero((weights > 0) & seen.any(axis=1) & ~seen.all(axis=1))
    for start in range(0, len(places), BLOCK):
        some = places[start : start + BLOCK]
        yield HoleBlock(Patterns.of(rows[some]), weights[some])


def column_means(parts: RowParts, num_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The weight of the rows in which each column is seen, and its mean there."""
    weight, total, first = np.zeros(num_columns), np.zeros(num_columns), None
    for rows, weights in counted_rows(parts):
        if first is None and len(rows):
            first = np.nan_to_num(rows[0])  # near the data, so that sums keep their digits
        if first is not None:
            total += weights @ np.nan_to_num(rows - first)
            weight += weights @ ~np.isnan(rows)
    if first is None:
        raise InvalidData("there is nothing to learn from: no row that weighs something holds a number")
    if not (weight > 0).all():
        raise InvalidData(f"column {int(np.argmin(weight))} holds no number in any row that weighs something; drop it")
    return weight, first + total / weight


def moments_of(rows: np.ndarray, weights: np.ndarray) -> Moments:
    return MultivariateGaussian._summarise(rows, weights, {})
