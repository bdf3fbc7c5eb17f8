"""`fit` for independent components and independent factors: maximum likelihood by EM, from rows or a source of rows.

Independent components. Given z, each log p_j is touched from below by a quadratic function of z: the E-step of a
mixture of Gaussians, or of one over scales. What remains for the unmixing matrix B is, source by source,
N log |det B| - ½ b A bᵀ + bᵀd, with the weighted moments A and d of the rows. In one row b of B, |det B| is linear,
so that the best b given the other rows is found in closed form; sweeps over the rows never lower the likelihood
(Ablin, Gramfort, Cardoso and Bach 2019). Densities that are mixtures are learned in the same steps (Attias 1999), under
the prior exp(-κ ‖b‖² / 2v) of each part's variance v, with which no part shrinks to a point: it adds κ times the
variance of the source to the squares of the part. Like the likelihood it is the same in all units of the source.

Independent factors. The E-step gives the moments of the factors of each row, and the M-step regresses each column on
them, as in factor analysis; mixtures move to the moments of their parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, ClassVar, Literal

import numpy as np

from juncture.base.checks import check_choice
from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.base.values import Value, few, number_of, read_only
from juncture.data.rows import RowParts, Rows, check_complete, keep_names
from juncture.errors import InvalidData, NotIdentifiedWarning, warn_user
from juncture.families.continuous.gaussian import Gaussian
from juncture.latent.factor_analysis.beliefs import Patterns
from juncture.latent.factor_analysis.em import FactorData, IncompleteFactors, LoadingStatistics, counted_rows
from juncture.latent.independent_components.infer import INSTEAD, answer_patterns, products, unmix
from juncture.latent.independent_components.model import IndependentComponents, IndependentFactors
from juncture.latent.independent_components.sources import (
    combinations,
    is_learned,
    mixture_of,
    parts_of,
    pull,
    shifted,
    target_of,
)
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, check_progress

Start = Literal["data", "given", "random"]
AUTOMATIC = ExpectationMaximization(tolerance=1e-6, acceleration="squarem")
SWEEPS = 3  # over the rows of the unmixing matrix in an M-step
WIDENING = 0.1  # κ: squares, in units of the variance of the source, that the prior adds to each part of its density
NARROWEST = 1e-8  # variance of a part of a factor of variance 1: narrower ones are all the same beneath the noise
SAME = 1e-12  # the smallest eigenvalue of the correlations of columns that do not depend on each other


@dataclass(frozen=True)
class SourceOptions(Options):
    """How independent components, and independent factors, are learned.

    Parameters
    ----------
    start
        "data" for a start from the moments of the rows, "given", or "random".
    method
        "em", or an `ExpectationMaximization` with its options; "auto" is EM with "squarem" that ends when a step gains
        less than 1e-6 of the rise, since densities that are learned go on to move long after loadings have settled.
    """

    start: Start = "data"
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization}

    def __post_init__(self) -> None:
        check_choice(self.start, ("data", "given", "random"), "start")

    def with_learner(self, given: Mapping[str, Any]) -> SourceOptions:
        """The same options with a learner; "auto" is accelerated, unless options of EM are given."""
        is_auto = isinstance(self.method, str) and self.method == "auto" and not given
        return replace(self, method=AUTOMATIC) if is_auto else super().with_learner(given)


# --- independent components ------------------------------------------------------------------------------------------
class UnmixingStatistics(Value):
    """Sums over rows of y yᵀ, for each part of each source, with y the whitened row and 1; and the weight of all."""

    weight: float
    moments: tuple[np.ndarray, ...]  # of each source (part, column + 1, column + 1)

    def __init__(self, weight: float, moments: Iterable[np.ndarray]) -> None:
        self._set(weight=float(weight), moments=tuple(map(read_only, moments)))

    def __add__(self, other: object) -> UnmixingStatistics:
        if not isinstance(other, UnmixingStatistics):
            return NotImplemented
        sums = [mine + theirs for mine, theirs in zip(self.moments, other.moments, strict=True)]
        return UnmixingStatistics(self.weight + other.weight, sums)

    def __repr__(self) -> str:
        return f"UnmixingStatistics({number_of(len(self.moments), 'source')}, weight {self.weight:.12g})"


@dataclass(frozen=True, eq=False)
class UnmixingProblem:
    """Independent components to learn by EM, in whitened columns: their mean is 0 and their covariance 1."""

    template: IndependentComponents
    parts: RowParts
    kind: Start
    rng: np.random.Generator
    models: ClassVar[str] = "independent components"

    @cached_property
    def data(self) -> FactorData:
        return FactorData.of(self.complete_parts, self.template.num_columns, keep=False)

    def complete_parts(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for rows, weights in self.parts():
            check_complete(rows, *INSTEAD)
            yield rows, weights

    @cached_property
    def whitening(self) -> np.ndarray:
        """(direction, column): whitening @ (row - center) has the covariance 1."""
        variances = np.diagonal(self.data.covariance)
        scales = np.sqrt(np.where(variances > 0, variances, 1.0))
        values, vectors = np.linalg.eigh(self.data.covariance / (scales * scales[:, None]))
        if not values[0] > SAME:
            raise InvalidData(
                "the columns depend on each other linearly, or there are too few rows, so that some component would be"
                " constant: take principal components first, or IndependentFactors, which have noise"
            )
        return np.asarray((vectors / np.sqrt(values)).T / scales)

    def whiten(self, rows: np.ndarray) -> np.ndarray:
        """(row, column + 1): the whitened rows, and 1."""
        return np.hstack([(rows - self.data.center) @ self.whitening.T, np.ones((len(rows), 1))])

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return counted_rows(self.complete_parts)

    def start(self) -> IndependentComponents:
        if self.kind == "given":
            return self.template
        return self.another_start() if self.kind == "random" else self.model_of(self.fourth_moments(), self.sources)

    def another_start(self) -> IndependentComponents:
        """A random rotation of the whitened columns."""
        size = self.template.num_columns
        turn, upper = np.linalg.qr(self.rng.normal(size=(size, size)))
        return self.model_of(self.with_ones(turn * np.sign(np.diagonal(upper))), self.sources)

    @property
    def sources(self) -> list[Any]:
        return list(self.template.sources)

    def fourth_moments(self) -> np.ndarray:
        """The eigenvectors of E ‖y‖² y yᵀ, which are the sources where their kurtoses differ (Cardoso 1989)."""
        size = self.template.num_columns
        total = np.zeros((size, size))
        for rows, weights in self.blocks():
            white = self.whiten(rows)[:, :-1]
            total += (white * ((white**2).sum(axis=1) * (weights / self.data.weight[0]))[:, None]).T @ white
        return self.with_ones(np.linalg.eigh(total)[1].T)

    def with_ones(self, turn: np.ndarray) -> np.ndarray:
        """The rotation as (source, column + 1), with sources that have the means and the sizes of their densities."""
        moments = [moments_of(source) for source in self.template.sources]
        sizes, means = np.array([size for _, size in moments]), np.array([mean for mean, _ in moments])
        return np.hstack([turn * sizes[:, None], means[:, None]])

    def model_of(self, unmixing: np.ndarray, sources: list[Any]) -> IndependentComponents:
        """The model whose sources are unmixing @ (whitened row, 1)."""
        loadings = np.linalg.solve(unmixing[:, :-1] @ self.whitening, np.eye(len(unmixing)))
        return IndependentComponents(loadings, self.data.center - loadings @ unmixing[:, -1], sources)

    def unmixing_of(self, model: IndependentComponents) -> np.ndarray:
        whitened = np.linalg.solve(self.whitening.T, model.unmixing.T).T
        return np.hstack([whitened, (model.unmixing @ (self.data.center - model.mean))[:, None]])

    def expect(
        self, model: IndependentComponents, block: tuple[np.ndarray, np.ndarray]
    ) -> Expected[UnmixingStatistics]:
        rows, weights = block
        white, moments = self.whiten(rows), []
        total = -weights.sum() * np.linalg.slogdet(model.loadings)[1]
        for source, column in zip(model.sources, unmix(model, rows).T, strict=True):
            log_p, pulls = pull(source, column)
            total += weights @ log_p
            moments.append(np.stack([(white * (weights * each)[:, None]).T @ white for each in pulls.T]))
        return Expected(UnmixingStatistics(weights.sum(), moments), float(total))

    def maximize(self, statistics: UnmixingStatistics, model: IndependentComponents) -> IndependentComponents:
        unmixing = self.unmixing_of(model)
        sources = [
            learned_density(
                source, (each @ row)[:, -1], (each @ row) @ row, each[:, -1, -1], WIDENING * row[:-1] @ row[:-1]
            )
            for source, each, row in zip(model.sources, statistics.moments, unmixing, strict=True)
        ]
        unmixing = sweep(unmixing, statistics, sources)
        for at, source in enumerate(sources):  # of all equal models, the one whose learned densities have size 1
            if is_learned(source):
                mean, size = moments_of(source)
                unmixing[at, -1] -= mean
                unmixing[at] /= size
                sources[at] = shifted(source, mean, size)
        return self.model_of(unmixing, sources)

    def log_prior(self, model: IndependentComponents) -> float:
        """That of the parts of the densities that are learned."""
        sizes = (self.unmixing_of(model)[:, :-1] ** 2).sum(axis=1)
        pairs = zip(model.sources, sizes, strict=True)
        return -0.5 * WIDENING * float(sum(size * narrowness(source) for source, size in pairs))

    def to_vector(self, model: IndependentComponents) -> np.ndarray:
        return np.concatenate([self.unmixing_of(model).ravel(), *map(density_vector, model.sources)])

    def from_vector(self, vector: np.ndarray, state: EMState[Any, Any]) -> IndependentComponents | None:
        size = state.model.num_columns
        unmixing, rest = np.split(vector, [size * (size + 1)])
        sources = densities_from(rest, state.model.sources)
        table = unmixing.reshape(size, size + 1)
        if sources is None or not np.isfinite(table).all() or not np.linalg.cond(table[:, :-1]) < 1e10:
            return None
        return self.model_of(table, sources)


def sweep(unmixing: np.ndarray, statistics: UnmixingStatistics, sources: list[Any]) -> np.ndarray:
    """Maximise N log |det B| - ½ b A bᵀ + bᵀd over one row b of B after the other.

    With the column c of B⁻¹, |det B| is proportional to |b c|; at the maximum b = A⁻¹(d + N c / s) with s = b c, and
    so s² - (cᵀA⁻¹d) s - N cᵀA⁻¹c = 0.
    """
    found = unmixing.copy()
    size = len(found)
    systems = []
    for source, moments in zip(sources, statistics.moments, strict=True):
        parts = target_of(source)
        curvature = np.tensordot(1 / parts.variances, moments, axes=1)
        curvature[np.arange(size), np.arange(size)] += WIDENING * narrowness(source)
        systems.append((curvature, np.linalg.solve(curvature, (parts.means / parts.variances) @ moments[:, :, -1])))
    for _ in range(SWEEPS):
        for at, (curvature, center) in enumerate(systems):
            column = np.linalg.solve(found[:, :-1], np.eye(size)[at])
            toward = np.linalg.solve(curvature, np.append(column, 0.0))
            along, length = center[:-1] @ column, toward[:-1] @ column
            root = np.sqrt(along**2 + 4 * statistics.weight * length)
            reach = 0.5 * (along + (root if along >= 0 else -root))
            found[at] = center + (statistics.weight / reach) * toward
    return found


# --- densities that are learned --------------------------------------------------------------------------------------
def moments_of(source: Any) -> tuple[float, float]:
    """The mean of a density and its standard deviation; of heavy tails the location and the scale."""
    if is_learned(source):
        weights, means, variances = parts_of(source)
        mean = float(weights @ means)
        return mean, float(np.sqrt(weights @ (variances + (means - mean) ** 2)))
    target = target_of(source)
    return float(target.means[0]), float(np.sqrt(target.variances[0]))


def narrowness(source: Any) -> float:
    """The sum of 1/variance over the parts of a density that is learned; else 0."""
    return float((1 / parts_of(source).variances).sum()) if is_learned(source) else 0.0


def learned_density(
    source: Any, firsts: np.ndarray, seconds: np.ndarray, weights: np.ndarray, widening: float = 0.0
) -> Any:
    """The mixture with these sums of z and z² in each part, of so much weight; other densities as they are."""
    if not is_learned(source):
        return source
    kept, old = weights > 1e-12 * weights.sum(), parts_of(source)
    divisor = np.where(kept, weights, 1.0)
    means = np.where(kept, firsts / divisor, old.means)
    variances = np.maximum((seconds + widening) / divisor - means**2, NARROWEST)
    return mixture_of(weights, means, np.where(kept, variances, old.variances))


def density_vector(source: Any) -> np.ndarray:
    """The numbers of a density that is learned, free to move."""
    if not is_learned(source):
        return np.empty(0)
    parts = parts_of(source)
    return np.concatenate([np.log(np.maximum(parts.weights, 1e-300)), parts.means, np.log(parts.variances)])


def densities_from(vector: np.ndarray, sources: Iterable[Any]) -> list[Any] | None:
    """The densities with these numbers; None where there are none."""
    found = []
    for source in sources:
        if not is_learned(source):
            found.append(source)
            continue
        mine, vector = np.split(vector, [3 * source.num_components])
        weights, means, variances = mine.reshape(3, -1)
        if not (np.isfinite(mine).all() and np.abs(variances).max() < 100 and weights.max() < 100):
            return None
        found.append(mixture_of(np.exp(weights), means, np.exp(variances)))
    return found


# --- independent factors ---------------------------------------------------------------------------------------------
class SparseStatistics(Value):
    """The expected sums of factor analysis, and of each source, for each of its parts, those of 1, z and z²."""

    loadings: LoadingStatistics
    parts: tuple[np.ndarray, ...]  # of each source (3, part)

    def __init__(self, loadings: LoadingStatistics, parts: Iterable[np.ndarray]) -> None:
        self._set(loadings=loadings, parts=tuple(map(read_only, parts)))

    def __add__(self, other: object) -> SparseStatistics:
        if not isinstance(other, SparseStatistics):
            return NotImplemented
        sums = [mine + theirs for mine, theirs in zip(self.parts, other.parts, strict=True)]
        return SparseStatistics(self.loadings + other.loadings, sums)

    def __repr__(self) -> str:
        return f"SparseStatistics({number_of(len(self.parts), 'source')})"


@dataclass(frozen=True, eq=False)
class FactorsProblem:
    """Independent factors to learn by EM; what concerns loadings and noise alone is that of factor analysis."""

    template: IndependentFactors
    parts: RowParts
    kind: Start
    rng: np.random.Generator
    models: ClassVar[str] = "independent factors"

    @cached_property
    def gaussian(self) -> IncompleteFactors:
        data = FactorData.of(self.parts, self.template.num_columns, keep=False)
        return IncompleteFactors(self.template.gaussian, data, None, self.kind, self.rng)

    def with_gaussian(self, gaussian: Any, sources: Iterable[Any]) -> IndependentFactors:
        return IndependentFactors(gaussian.loadings, gaussian.mean, gaussian.noise, list(sources))

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return counted_rows(self.parts)

    def start(self) -> IndependentFactors:
        if self.kind == "given":
            return self.template
        return self.scaled(self.gaussian.start())

    def another_start(self) -> IndependentFactors:
        return self.scaled(self.gaussian.another_start())

    def scaled(self, gaussian: Any) -> IndependentFactors:
        """Factors of variance 1 in the units of the densities, about their locations."""
        means, sizes = np.transpose([moments_of(source) for source in self.template.sources])
        loadings = gaussian.loadings / sizes
        return IndependentFactors(
            loadings, gaussian.mean - loadings @ means, gaussian.noise, list(self.template.sources)
        )

    def expect(self, model: IndependentFactors, block: tuple[np.ndarray, np.ndarray]) -> Expected[SparseStatistics]:
        rows, weights = block
        return reduce(add, expected_factors(model, rows, weights, self.gaussian.data.center))

    def maximize(self, statistics: SparseStatistics, model: IndependentFactors) -> IndependentFactors:
        gaussian = self.gaussian.maximize(statistics.loadings, model.gaussian)
        sources = [
            learned_density(source, firsts, seconds, weights)
            for source, (weights, firsts, seconds) in zip(model.sources, statistics.parts, strict=True)
        ]
        loadings, mean = gaussian.loadings.copy(), gaussian.mean.copy()
        for at, source in enumerate(sources):
            if is_learned(source):
                shift, size = moments_of(source)
                mean += loadings[:, at] * shift
                loadings[:, at] *= size
                sources[at] = shifted(source, shift, size)
        return IndependentFactors(loadings, mean, gaussian.noise, sources)

    def log_prior(self, model: IndependentFactors) -> float:
        return 0.0

    def recover(self, state: EMState[Any, Any], fall: float) -> IndependentFactors | None:
        """Where noise is almost 0, a step may lower the objective by rounding: the model stays."""
        return state.model if self.gaussian.recover(state, fall) is not None else None

    def to_vector(self, model: IndependentFactors) -> np.ndarray:
        return np.concatenate([self.gaussian.to_vector(model.gaussian), *map(density_vector, model.sources)])

    def from_vector(self, vector: np.ndarray, state: EMState[Any, Any]) -> IndependentFactors | None:
        size = len(self.gaussian.to_vector(state.model.gaussian))
        gaussian = self.gaussian.from_vector(vector[:size], replace(state, model=state.model.gaussian))
        sources = densities_from(vector[size:], state.model.sources)
        return None if gaussian is None or sources is None else self.with_gaussian(gaussian, sources)


def expected_factors(
    model: IndependentFactors, rows: np.ndarray, weights: np.ndarray, center: np.ndarray
) -> Iterator[Expected[SparseStatistics]]:
    """The E-step, some rows with one pattern of holes at a time."""
    data, size = Patterns.of(rows), model.num_sources
    chosen = combinations(model.sources).chosen
    for found in answer_patterns(model, data):
        heavy, maps = weights[found.places], found.table.maps
        weighted = found.shares * heavy[:, None]
        totals = weighted.sum(axis=0)
        firsts = (maps @ (weighted.T @ found.features)[:, :, None])[:, :, 0]  # (combination, source)
        squares = (weighted.T @ products(found.features)).reshape(-1, size + 1, size + 1)
        seconds = totals[:, None, None] * found.table.covariances + maps @ squares @ np.swapaxes(maps, 1, 2)
        means = (found.shares @ maps.reshape(len(maps), -1)).reshape(-1, size, size + 1) @ found.features[:, :, None]
        means = np.hstack([means[:, :, 0], np.ones((len(heavy), 1))])
        outer = np.empty((size + 1, size + 1))
        outer[:-1, :-1] = seconds.sum(axis=0)
        outer[-1] = outer[:, -1] = heavy @ means
        seen = data.seen[data.codes[found.places[0]]]
        values = (data.rows[found.places] - center) * seen
        statistics = LoadingStatistics(
            heavy.sum() * seen, heavy @ values**2, (values * heavy[:, None]).T @ means, seen[:, None, None] * outer
        )
        parts = [
            np.stack([np.bincount(chosen[:, at], each) for each in (totals, firsts[:, at], seconds[:, at, at])])
            for at in range(size)
        ]
        yield Expected(SparseStatistics(statistics, parts), float(heavy @ found.log_evidence))


# --- the verb --------------------------------------------------------------------------------------------------------
@keep_names
def fit_components(
    model: IndependentComponents,
    data: Any,
    *,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: SourceOptions,
) -> Fit[Any]:
    """Learn loadings, mean, and the densities that are mixtures, from complete rows.

    A weak prior keeps the parts of these mixtures from shrinking to points; the objective has its logarithm.

    Parameters
    ----------
    model
        The number of columns and the densities, and with `start="given"` the model that EM starts from.
    data
        Rows as `infer` takes them, or a source that is read block by block.
    weights
        The weight of each row.
    rng, progress
        A seed or a `numpy.random.Generator` for starts; a function that is called after each step.
    options
        Where learning starts, and the learner.

    Returns
    -------
    Fit
        The model, its log-likelihood, the trace of the objective and the expected statistics.
    """
    fixed = [at for at, source in enumerate(model.sources) if isinstance(source, Gaussian)]
    if len(fixed) > 1:
        warn_user(
            f"sources {few(map(str, fixed))} are Gaussian: their loadings are one choice of all rotations of them",
            NotIdentifiedWarning,
        )
    return learn(UnmixingProblem, model, data, weights, rng, progress, options)


@keep_names
def fit_factors(
    model: IndependentFactors,
    data: Any,
    *,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: SourceOptions,
) -> Fit[Any]:
    """Learn loadings, mean, noise, and the densities that are mixtures; what is missing (NaN) is integrated out.

    The parameters, and what is returned, are those of `fit_components`.
    """
    return learn(FactorsProblem, model, data, weights, rng, progress, options)


def learn(
    kind: Any, model: Any, data: Any, weights: Any, rng: Any, progress: ProgressCallback | None, options: SourceOptions
) -> Fit[Any]:
    check_progress(progress)
    seed = as_seed(rng)
    generator = as_generator(seed)
    rows = Rows.of(data, model.feature_names, weights=weights, extra="ignore")
    problem = kind(model, rows.parts((model.num_columns,)), options.start, generator)
    found, trace = options.method.run(problem, progress)
    learned = found.model if options.start == "given" else found.model.canonical()
    return Fit(learned, found.log_likelihood, trace, found.statistics, used_seed(seed, generator))
