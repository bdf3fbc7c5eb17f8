"""`GaussianEmissions`: vectors with a Gaussian distribution in each state, of one of four structures of covariance.

Missing entries of a vector are summed out. Rows with the same pattern of holes are handled together: the observed block
of the covariance is factorised once for each pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, reduce
from typing import Any, Literal, Self

import numpy as np

from juncture.base.checks import shown
from juncture.base.notes import NO_NOTES, Notes
from juncture.base.values import number_of, read_only
from juncture.components.contract import Emissions, EmissionStatistics, in_one_line, is_seen
from juncture.components.densities import column_moments, diagonal_log_prob, diagonal_moments, whole_log_prob
from juncture.components.gaussian_estimate import best_fit, log_prior, posterior_mode
from juncture.data.missingness import group_by_pattern
from juncture.errors import InvalidModel, hint
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.statistics.statistics import Moments
from juncture.families.vectors.block_matrices import block
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.whitening import Whitening

Structure = Literal["full", "diagonal", "spherical", "tied"]
STRUCTURES = ("full", "diagonal", "spherical", "tied")


class GaussianEmissions(Emissions):
    """Gaussian emissions: p(x | state) = N(mean[state], Σ[state]).

    Missing entries are summed out, also within a vector.

    Estimates without a prior keep each variance, in every direction, at 1e-8 of the data's variance or above: a state
    that shrinks to a point stops there, and a RegularizedWarning says so. A column that is constant counts as if its
    variance were the square of its mean, or 1.

    Parameters
    ----------
    mean
        (state, d) for vectors, (state,) for single numbers.
    covariance
        The covariances Σ, in the form that `structure` names.
    structure
        "full": `covariance` is (state, d, d). "diagonal": variances, (state, d), or (state,) for single numbers.
        "spherical": one variance for each state. "tied": one (d, d) matrix for all states. By default "diagonal" if
        `covariance` has the shape of `mean`, else "full".

    Examples
    --------
    >>> GaussianEmissions([0.0, 5.0], [1.0, 4.0])[1]
    Gaussian(mean=5.0, variance=4.0)
    """

    mean: np.ndarray  # (state, *event)
    covariance: np.ndarray
    structure: Structure

    def __init__(self, mean: Any, covariance: Any, structure: Structure | None = None) -> None:
        means = as_finite(mean, "the means")
        if means.ndim not in {1, 2} or 0 in means.shape:
            raise InvalidModel(f"the means of Gaussian emissions are (state, d) or (state,); got {means.shape}")
        covariances = as_finite(covariance, "the covariance")
        if structure is not None and not isinstance(structure, str):
            raise InvalidModel(
                f"a structure of covariances is a word; got {shown(structure)}; {hint('full', STRUCTURES)}"
            )
        kind = structure or ("diagonal" if covariances.shape == means.shape else "full")
        if kind not in STRUCTURES:
            raise InvalidModel(f"there is no structure {structure!r} of covariances; {hint(structure, STRUCTURES)}")
        kind = "diagonal" if means.ndim == 1 and kind in {"full", "spherical"} else kind  # the same for numbers
        wanted = shape_of(kind, means.shape)
        if covariances.shape != wanted:
            raise InvalidModel(f'a "{kind}" covariance has the shape {wanted} here; got {covariances.shape}')
        self._set(mean=means, covariance=covariances, structure=kind)
        if self.is_diagonal:
            if not (covariances > 0).all():
                raise InvalidModel(f"variances of Gaussian emissions are positive; got {covariances.min():g}")
        else:
            _ = self.full  # checks that the covariances are positive definite

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.mean)

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.mean.shape[1:]

    @property
    def dimension(self) -> int:
        return int(np.prod(self.event_shape))

    @property
    def is_diagonal(self) -> bool:
        """Whether coordinates are independent within each state."""
        return self.structure in {"diagonal", "spherical"}

    @property
    def num_parameters(self) -> int:
        size, states = self.dimension, self.num_states
        square = size * (size + 1) // 2
        counts = {"full": states * square, "diagonal": states * size, "spherical": states, "tied": square}
        return states * size + counts[self.structure]

    @property
    def means(self) -> np.ndarray:
        """The means as (state, d), also for single numbers."""
        return self.mean.reshape(self.num_states, -1)

    @cached_property
    def variances(self) -> np.ndarray:
        """(state, d): the variance of each coordinate."""
        if not self.is_diagonal:
            return np.diagonal(self.full.covariance, axis1=-2, axis2=-1)
        own = self.covariance[:, None] if self.structure == "spherical" else self.covariance
        return np.broadcast_to(own.reshape(self.num_states, -1), self.means.shape)

    @cached_property
    def full(self) -> MultivariateGaussian:
        """The distributions of the states with covariances in full, as a batch."""
        size = self.dimension
        if self.is_diagonal:
            return MultivariateGaussian(self.means, self.variances[:, :, None] * np.eye(size))
        own = self.covariance.reshape(-1, size, size)
        return MultivariateGaussian(self.means, np.broadcast_to(own, (self.num_states, size, size)))

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        vectors = self._vectors(rows)
        if self.is_diagonal:
            return diagonal_log_prob(vectors, self.means, self.variances)
        return full_log_prob(vectors, self.full)

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        noise = rng.standard_normal((len(states), self.dimension))
        if self.is_diagonal:
            draws = self.means[states] + np.sqrt(self.variances)[states] * noise
            return draws.reshape(len(states), *self.event_shape)
        draws, factors = np.empty_like(noise), self.full._whitening.factor
        for state in np.unique(states):
            positions = states == state
            draws[positions] = self.means[state] + noise[positions] @ factors[state].T
        return draws.reshape(len(states), *self.event_shape)

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        vectors, seen = self._vectors(rows), is_seen(rows)
        if self.is_diagonal:
            parts = [diagonal_moments(vectors, weights)]
        else:
            columns = column_moments(vectors, weights.sum(axis=1))
            parts = [expected_moments(vectors, weights, self.full), columns]
        return EmissionStatistics(np.einsum("tk,t->k", weights, seen.astype(np.float64)), parts)

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        notes = NO_NOTES
        if prior is None:
            means, covariance, notes = best_fit(self, *statistics.parts)
        else:
            means, covariance = posterior_mode(self, statistics.parts[0], prior)
        shape = shape_of(self.structure, self.mean.shape)
        return type(self)(means.reshape(self.mean.shape), covariance.reshape(shape), self.structure), notes

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        moments = statistics.parts[0]
        own = Gaussian(self.means, self.variances) if self.is_diagonal else self.full
        return float(np.sum(np.asarray(own.log_likelihood(moments))))

    def log_prior(self, prior: Any) -> float:
        return 0.0 if prior is None else log_prior(self, prior)

    def _vectors(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(rows, np.float64).reshape(len(rows), self.dimension)

    def take(self, states: Any) -> Self:
        states = self._positions(states)
        covariance = self.covariance if self.structure == "tied" else self.covariance[states]
        return type(self)(self.mean[states], covariance, self.structure)

    @property
    def summary(self) -> str:
        if not self.event_shape:
            return "Gaussian" if self.structure == "diagonal" else "Gaussian, one variance"
        return f"{self.structure} Gaussian of {number_of(self.dimension, 'coordinate')}"

    def __getitem__(self, state: int) -> Any:
        state = self._position(state)
        if not self.event_shape:
            return Gaussian(self.means[state, 0], self.variances[state, 0])
        return self.full[state]

    def __repr__(self) -> str:
        parts = f"mean={in_one_line(self.mean)}, covariance={in_one_line(self.covariance)}"
        return f"GaussianEmissions({parts}, structure={self.structure!r})"


def shape_of(structure: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of the covariance that goes with means of this shape."""
    event = shape[1:]
    shapes = {"full": (shape[0], *event, *event), "diagonal": shape, "spherical": shape[:1], "tied": (*event, *event)}
    return shapes[structure]


def as_finite(values: Any, name: str) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidModel(f"{name} of Gaussian emissions must be numbers; got {values!r}") from error
    if not np.isfinite(array).all():
        raise InvalidModel(f"{name} of Gaussian emissions must be finite numbers; got {array[~np.isfinite(array)][0]}")
    return read_only(array + 0.0)  # + 0.0 turns -0.0 into 0.0


def full_log_prob(rows: np.ndarray, distributions: MultivariateGaussian) -> np.ndarray:
    """log p of what is observed in each row, under each distribution: (row, state)."""
    means, covariances = distributions.mean, distributions.covariance
    if not np.isnan(rows).any():
        return whole_log_prob(rows, means, distributions._whitening)
    log_prob = np.zeros((len(rows), len(means)))
    for positions, seen in patterns(rows):
        if len(seen):
            whitening = Whitening.of(block(covariances, seen, seen), name="a covariance")
            log_prob[positions] = whole_log_prob(rows[np.ix_(positions, seen)], means[:, seen], whitening)
    return log_prob


def expected_moments(rows: np.ndarray, weights: np.ndarray, distributions: MultivariateGaussian) -> Moments:
    """The moments of the rows for each column of weights (row, state), expected where something is missing.

    E[x | seen] has the scatter of its own, and what is missing adds its conditional covariance, weight by weight.
    """
    if not np.isnan(rows).any():
        return MultivariateGaussian._summarise(rows, weights, {})
    parts = [MultivariateGaussian._summarise(rows[:0], weights[:0], {})]
    for positions, seen in patterns(rows):
        if len(seen):
            found = MultivariateGaussian._summarise(rows[np.ix_(positions, seen)], weights[positions], {})
            parts.append(complete_moments(found, seen, distributions))
    return reduce(Moments.__add__, parts)


def complete_moments(found: Moments, seen: np.ndarray, distributions: MultivariateGaussian) -> Moments:
    """The expected moments of whole rows, from those of what is seen of them: E[x | seen] is linear in it."""
    size = distributions.dimension
    missing = np.setdiff1d(np.arange(size), seen)
    mean, covariance = distributions.mean, distributions.covariance
    gain = np.linalg.solve(block(covariance, seen, seen), block(covariance, seen, missing))  # (state, seen, missing)
    left = block(covariance, missing, missing) - block(covariance, missing, seen) @ gain
    whole = np.zeros((len(mean), len(seen), size))  # (state, seen, d): the row that is expected, less its mean
    whole[:, np.arange(len(seen)), seen] = 1.0
    whole[:, :, missing] = gain
    center, residual = np.empty(mean.shape), np.zeros(mean.shape)
    shift = (found.center - mean[:, seen])[:, None] @ gain
    center[:, seen], center[:, missing] = found.center, mean[:, missing] + shift[:, 0]
    residual[:, seen] = found.residual
    scatter = np.swapaxes(whole, 1, 2) @ found.scatter @ whole
    scatter[:, missing[:, None], missing] += found.weight[:, None, None] * left
    return found._with(center=center, residual=residual, scatter=scatter)


def patterns(rows: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(the indices of the rows with one pattern of missing coordinates, the coordinates observed), for each pattern."""
    for holes, indices in group_by_pattern(np.isnan(rows)[:, ::-1]):
        yield indices, np.flatnonzero(~holes[::-1])
