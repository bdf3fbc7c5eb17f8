"""Posteriors of real-valued variables that depend on variables with states: exact mixtures of Gaussians.

`RealMarginal` is the posterior of one real-valued variable, a mixture of Gaussians and of single points; `MixedJoint`
the posterior of real-valued variables and variables with states together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from juncture.base.checks import central_levels, check_array, check_mapping
from juncture.base.options import as_generator, as_sizes
from juncture.base.shown import Shown
from juncture.base.values import Value, finding_text, number_of
from juncture.components.gaussian import GaussianEmissions
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.data.findings import is_hole
from juncture.errors import ImpossibleEvidence, InvalidData, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.row_factors import RowFactors
from juncture.inference.engines.verb_options import BYTES_PER_CELL, check_num_rows
from juncture.numerics import stable
from juncture.numerics.stable import LOG_TWO_PI, plain
from juncture.variables import Scope, State

NEGLIGIBLE = 1e-15  # components of less weight are left out of `mixture`
TOLERANCE = 1e-9  # relative: how near a number must be to a point that has a probability of its own
NUMBERS_AT_ONCE = 2**20
MAX_HALVINGS = 200


class RealMarginal(Value):
    """p(variable | evidence) of a real-valued variable: Σ weight · N(mean, variance) over the configurations of states.

    `beliefs["x"]` gives one. For many rows of evidence every answer has one entry a row. A component of variance 0 is a
    point that has a probability of its own.

    Parameters
    ----------
    name
        The variable.
    weights, means, variances
        (component,), or (row, component) for many rows.

    Examples
    --------
    >>> marginal = RealMarginal("x", [0.25, 0.75], [0.0, 4.0], [1.0, 1.0])
    >>> marginal.mean, marginal.variance
    (3.0, 4.0)
    >>> round(marginal.quantile(0.5), 6)
    3.569437
    """

    name: str
    weights: np.ndarray
    means: np.ndarray
    variances: np.ndarray

    def __init__(self, name: str, weights: Any, means: Any, variances: Any) -> None:
        arrays = [check_array(each, "what a RealMarginal is made of") for each in (weights, means, variances)]
        shapes = {each.shape for each in arrays}
        if len(shapes) > 1 or arrays[0].ndim not in {1, 2} or not arrays[0].shape[-1]:
            raise InvalidData(
                "the weights, means and variances of a RealMarginal are each (component,) or (row, component); got"
                f" {', '.join(map(str, shapes))}"
            )
        if (arrays[0] < 0).any() or (arrays[2] < 0).any():
            raise InvalidData(f"the weights and variances of {name!r} must not be negative")
        copies = [np.array(each, order="C") for each in arrays]
        for array in copies:
            array.setflags(write=False)
        self._set(name=name, weights=copies[0], means=copies[1], variances=copies[2])

    @property
    def is_single(self) -> bool:
        """Whether this is the marginal of one row of evidence."""
        return self.weights.ndim == 1

    @property
    def num_components(self) -> int:
        return int(self.weights.shape[-1])

    def __len__(self) -> int:
        """The number of rows of evidence."""
        return 1 if self.is_single else len(self.weights)

    @cached_property
    def mean(self) -> Any:
        """Σ weight · mean: a number, or one a row."""
        return plain((self.weights * self.means).sum(axis=-1))

    @cached_property
    def variance(self) -> Any:
        """Σ weight · (variance + (mean of the component − mean)²)."""
        centred = self.means - np.asarray(self.mean)[..., None]
        return plain((self.weights * (self.variances + centred**2)).sum(axis=-1))

    @property
    def standard_deviation(self) -> Any:
        """The square root of the variance."""
        return plain(np.sqrt(self.variance))

    def log_prob(self, x: Any) -> Any:
        """The log-density of the mixture at numbers; inf at a point that has a probability of its own.

        For many rows of evidence x is one number for all of them, or one entry (number or array) a row.
        """
        return self._each(x, self._log_density)

    def cdf(self, x: Any) -> Any:
        """P(variable ≤ x), with x as in `log_prob`."""
        return self._each(x, self._cumulative)

    def quantile(self, probability: Any) -> Any:
        """The smallest number x with P(variable ≤ x) ≥ probability.

        For many rows of evidence the answer is (row,) for a single probability, (row, *probabilities) for several.
        """
        wanted = check_array(probability, "probabilities").astype(float)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise InvalidData(f"a probability is a number from 0 to 1; got {probability!r}")
        levels = np.broadcast_to(wanted.reshape(1, -1), (len(self), wanted.size))
        blocks = [self._invert(rows, levels[rows]) for rows in self._blocks(wanted.size)]
        found = np.concatenate([np.empty((0, wanted.size)), *blocks])
        return plain(found.reshape(wanted.shape if self.is_single else (len(self), *wanted.shape)))

    def interval(self, confidence: float = 0.9) -> tuple[Any, Any]:
        """Both ends of the central interval, with as much probability below it as above it.

        Parameters
        ----------
        confidence
            How probable it is that the interval holds the value, between 0 and 1.

        Returns
        -------
        low, high
            Two quantiles: numbers, or arrays with an entry for each row of evidence.

        Examples
        --------
        >>> marginal = RealMarginal("x", [0.5, 0.5], [-3.0, 3.0], [1.0, 1.0])
        >>> low, high = marginal.interval(0.9)
        >>> round(low, 2), round(high, 2)
        (-4.28, 4.28)
        """
        below, up_to = central_levels(confidence)
        return self.quantile(below), self.quantile(up_to)

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Any = None) -> Any:
        """Draws of the mixture, as `size`; for many rows (row, *size)."""
        shape, generator = as_sizes(size), as_generator(rng)
        count = int(np.prod(shape))
        cumulative = np.cumsum(self._rows(self.weights), axis=1)
        uniforms = generator.random((len(self), count)) * cumulative[:, -1:]
        chosen = np.stack(
            [np.searchsorted(sums, u, side="right") for sums, u in zip(cumulative, uniforms, strict=True)]
        )
        chosen = np.minimum(chosen, self.num_components - 1)
        mean, variance = (np.take_along_axis(self._rows(each), chosen, axis=1) for each in (self.means, self.variances))
        drawn = mean + np.sqrt(variance) * generator.standard_normal((len(self), count))
        return plain(drawn.reshape(shape if self.is_single else (len(self), *shape)))

    def mixture(self) -> Mixture:
        """The marginal as a `Mixture` of Gaussians.

        Components of the same mean and variance are one, and components that weigh less than 1e-15 are left out:
        the density changes by no more than 1e-15 for each of them.
        """
        if not self.is_single:
            raise Unsupported(f"the marginal of {self.name!r} is of {len(self)} rows; ask for the mixture of one row")
        kept = self.weights >= NEGLIGIBLE
        if (self.variances[kept] == 0).any():
            at = np.flatnonzero(kept & (self.variances == 0))[0]
            raise Unsupported(
                f"{self.name!r} is {self.means[at]:g} with the probability {self.weights[at]:.6g}: a point is no"
                f" Gaussian; use beliefs[{self.name!r}], whose cdf, quantile and sample know such points"
            )
        both, which = np.unique(np.stack([self.means[kept], self.variances[kept]]), axis=1, return_inverse=True)
        weights = np.bincount(which.reshape(-1), self.weights[kept])
        return Mixture(weights / weights.sum(), GaussianEmissions(both[0], both[1]))

    def _repr_html_(self) -> str:
        """The text, and for a single row the density."""
        from juncture.drawing.marks import curve_svg
        from juncture.drawing.palette import style_sheet
        from juncture.networks.picture import density_heights

        heights = density_heights(self) if self.is_single else ()
        return f"<p><code>{escape(repr(self))}</code></p>" + (style_sheet() + curve_svg(heights) if heights else "")

    def __repr__(self) -> str:
        size = number_of(self.num_components, "component")
        if not self.is_single:
            return f"RealMarginal({self.name}; {number_of(len(self), 'row')}, {size})"
        return (
            f"RealMarginal({self.name}: mean {self.mean:.6g}, standard deviation {self.standard_deviation:.6g}, {size})"
        )

    # --- numbers ---------------------------------------------------------------------------------------------------

    def _rows(self, values: np.ndarray) -> np.ndarray:
        """(row, component), also of a single row."""
        return values.reshape(-1, self.num_components)

    def _blocks(self, count: int) -> Iterator[slice]:
        """Rows of evidence that take no more memory than a few megabytes."""
        step = max(1, NUMBERS_AT_ONCE // max(1, count * self.num_components))
        return (slice(start, min(start + step, len(self))) for start in range(0, len(self), step))

    def _each(self, x: Any, evaluate: Any) -> Any:
        """A function of rows and numbers (row, number), in the shape of x."""
        numbers = check_array(x, "numbers").astype(float)
        if not self.is_single and numbers.ndim and len(numbers) != len(self):
            raise InvalidData(
                f"x is one number, or has one entry for each of the {len(self)} rows; got {numbers.shape}"
            )
        shape = numbers.shape if self.is_single or numbers.ndim else (len(self),)
        table = np.broadcast_to(numbers, shape).reshape(len(self), -1)
        found = np.empty(table.shape)
        step = max(1, NUMBERS_AT_ONCE // self.num_components)
        for rows in self._blocks(min(step, max(table.shape[1], 1))):
            for start in range(0, table.shape[1], step):
                part = rows, slice(start, start + step)
                found[part] = evaluate(rows, table[part])
        return plain(found.reshape(shape))

    def _parts(self, rows: slice, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Weights, variances, which are 0, and distances from x: (row, number, component)."""
        weights, means, variances = (
            self._rows(each)[rows, None] for each in (self.weights, self.means, self.variances)
        )
        return weights, variances, variances == 0, x[..., None] - means

    def _log_density(self, rows: slice, x: np.ndarray) -> np.ndarray:
        weights, variances, is_point, distance = self._parts(rows, x)
        noise = np.where(is_point, 1.0, variances)
        logs = -0.5 * (distance**2 / noise + np.log(noise) + LOG_TWO_PI)
        here = np.abs(distance) <= TOLERANCE * np.abs(x[..., None])
        logs = np.where(is_point, np.where(here & (weights > 0), np.inf, -np.inf), logs)
        density = stable.log_sum_exp(np.where(np.isposinf(logs), -np.inf, logs) + stable.log(weights), axis=-1)
        return np.where(np.isposinf(logs).any(axis=-1), np.inf, density)

    def _cumulative(self, rows: slice, x: np.ndarray) -> np.ndarray:
        weights, variances, is_point, distance = self._parts(rows, x)
        below = ndtr(distance / np.sqrt(np.where(is_point, 1.0, variances)))
        return np.asarray((weights * np.where(is_point, distance >= 0, below)).sum(axis=-1))

    def _invert(self, rows: slice, levels: np.ndarray) -> np.ndarray:
        """Between the smallest and the largest quantile of a component, the interval is halved until it is a point."""
        weights, variances, is_point, minus_mean = self._parts(rows, np.zeros(levels.shape))
        deviations = np.where(is_point, 1.0, np.sqrt(variances))
        ends = -minus_mean + np.where(is_point, 0.0, deviations * ndtri(levels)[..., None])
        low = np.where(weights > 0, ends, np.inf).min(axis=-1)
        high = np.where(weights > 0, ends, -np.inf).max(axis=-1)
        high = np.where(np.isneginf(low) | (np.isfinite(low) & (self._at(rows, low) >= levels)), low, high)
        for _ in range(MAX_HALVINGS):
            finite = np.isfinite(low) & np.isfinite(high)
            middle = np.where(finite, 0.5 * np.where(finite, low, 0.0) + 0.5 * np.where(finite, high, 0.0), high)
            moving = (middle > low) & (middle < high)
            if not moving.any():
                break
            is_high = self._at(rows, middle) >= levels
            high = np.where(moving & is_high, middle, high)
            low = np.where(moving & ~is_high, middle, low)
        return np.where(np.isnan(weights).any(axis=-1), np.nan, high)

    def _at(self, rows: slice, x: np.ndarray) -> np.ndarray:
        """The cdf where x is finite."""
        return self._cumulative(rows, np.where(np.isfinite(x), x, 0.0))


def as_mixture(marginal: Any, name: str) -> Mixture:
    """The marginal of a real-valued variable of any network as a mixture of Gaussians."""
    if isinstance(marginal, RealMarginal):
        return marginal.mixture()
    numbers = np.broadcast_arrays(marginal.mean, marginal.variance)
    if numbers[0].ndim:
        return RealMarginal(name, np.ones((len(numbers[0]), 1)), *(each[:, None] for each in numbers)).mixture()
    return RealMarginal(name, np.ones(1), *(each[None] for each in numbers)).mixture()


@dataclass(frozen=True, eq=False)
class Components:
    """Gaussians over some numbers, each with a weight and the states that go with it; of many rows."""

    weights: np.ndarray  # (row, component)
    codes: np.ndarray  # (row, component, variable with states)
    means: np.ndarray  # (row, component, number)
    covariances: np.ndarray  # (row, component, number, number)

    @classmethod
    def join(cls, parts: Iterable[tuple[np.ndarray, Components]], num_rows: int) -> Components:
        """The components of groups of rows; a row of fewer components than another gets some of weight 0."""
        listed = list(parts)
        if len(listed) == 1 and len(listed[0][0]) == num_rows:
            return listed[0][1]
        most = max([1, *(part.weights.shape[1] for _, part in listed)])
        joined = []
        for name in ("weights", "codes", "means", "covariances"):
            arrays = [(rows, getattr(part, name)) for rows, part in listed]
            shape = (num_rows, most, *arrays[0][1].shape[2:]) if arrays else (0, 1)
            whole = np.zeros(shape, arrays[0][1].dtype if arrays else float)
            for rows, array in arrays:
                whole[rows, : array.shape[1]] = array
            joined.append(whole)
        return cls(*joined)


@dataclass(frozen=True, eq=False, repr=False)
class MixedJoint(Shown):
    """p(variables | evidence) of real-valued variables and of variables with states: Gaussians for all configurations.

    `beliefs.joint("height", "sex")` gives one. For many rows of evidence every answer has a row axis in front.

    Attributes
    ----------
    scope
        The variables, in the order in which they were named.
    components
        The weight, the states, the means and the covariances of every configuration.
    is_single
        Whether the evidence is one row.
    """

    scope: Scope
    components: Components
    is_single: bool

    @cached_property
    def real(self) -> tuple[str, ...]:
        """The names of the real-valued variables: the coordinates of `mean` and `covariance`."""
        return tuple(variable.name for variable in self.scope if variable.is_real)

    @cached_property
    def discrete(self) -> Scope:
        """The variables with states."""
        return Scope(variable for variable in self.scope if not variable.is_real)

    @cached_property
    def table(self) -> Any:
        """p(variables with states | evidence): a `Factor`, or one for each row."""
        shape, weights = self.discrete.shape, self.components.weights
        flat = np.zeros((len(weights), self.discrete.size))
        cells = np.ravel_multi_index(tuple(np.moveaxis(self.components.codes, -1, 0)), shape) if shape else 0
        np.add.at(flat, (np.arange(len(weights))[:, None], np.broadcast_to(cells, weights.shape)), weights)
        values = flat.reshape(len(weights), *shape)
        return Factor(self.discrete, values[0]) if self.is_single else RowFactors(self.discrete, values)

    @cached_property
    def mean(self) -> np.ndarray:
        """The means of the real-valued variables, (number,)."""
        return self._one((self.components.weights[..., None] * self.components.means).sum(axis=1))

    @cached_property
    def covariance(self) -> np.ndarray:
        """The covariances of the real-valued variables, (number, number)."""
        parts = self.components
        centre = (parts.weights[..., None] * parts.means).sum(axis=1, keepdims=True)
        centred = parts.means - centre
        spread = parts.covariances + centred[..., :, None] * centred[..., None, :]
        return self._one((parts.weights[..., None, None] * spread).sum(axis=1))

    def given(self, states: Mapping[str, State]) -> MixedJoint:
        """The joint of the others, given states of some of the variables with states."""
        codes = {
            name: self.discrete.variable(name).code(state) for name, state in check_mapping(states, "states").items()
        }
        parts, left = self.components, self.discrete.without(codes)
        fits = np.ones(parts.weights.shape, bool)
        for name, code in codes.items():
            fits &= parts.codes[..., self.discrete.axis(name)] == code
        weights = np.where(fits, parts.weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        if self.is_single and not total[0, 0] > 0:
            raise ImpossibleEvidence(f"{', '.join(finding_text(*each) for each in states.items())} cannot occur")
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = weights / total
        kept = [self.discrete.axis(name) for name in left.names]
        scope = self.scope.without(codes)
        return MixedJoint(
            scope, Components(weights, parts.codes[..., kept], parts.means, parts.covariances), self.is_single
        )

    def log_prob(self, values: Mapping[str, Any]) -> float:
        """The log-density at numbers and states of all variables, for one row of evidence."""
        self._check_single("log_prob")
        columns = Dataset([dict(check_mapping(values, "values"))], self.scope).columns
        for name in self.scope.names:
            if name not in columns or is_hole(columns[name]).any():
                raise InvalidData(f"the density needs a value of every variable; {name!r} has none")
        parts = self.components
        fits = parts.weights[0] > 0
        for at, name in enumerate(self.discrete.names):
            fits = fits & (parts.codes[0, :, at] == columns[name][0])
        if not fits.any():
            return -np.inf
        x = np.array([columns[name][0] for name in self.real])
        logs = gaussian_logs(x - parts.means[0, fits], parts.covariances[0, fits], self.real)
        return float(stable.log_sum_exp(logs + np.log(parts.weights[0, fits]), axis=0))

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` rows of the variables, for one row of evidence."""
        self._check_single("sample")
        generator, parts = as_generator(rng), self.components
        count = check_num_rows(n, BYTES_PER_CELL * len(self.scope))
        chosen = generator.choice(parts.weights.shape[1], count, p=parts.weights[0] / parts.weights[0].sum())
        values, vectors = np.linalg.eigh(parts.covariances[0])
        roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        noise = generator.standard_normal((count, len(self.real)))
        drawn = parts.means[0, chosen] + np.einsum("nij,nj->ni", roots[chosen], noise)
        columns: dict[str, np.ndarray] = dict(zip(self.real, drawn.T, strict=True))
        columns |= {name: parts.codes[0, chosen, at] for at, name in enumerate(self.discrete.names)}
        return Dataset.from_codes(self.scope, columns)

    def _one(self, values: np.ndarray) -> np.ndarray:
        found: np.ndarray = values[0] if self.is_single else values
        return found

    def _check_single(self, what: str) -> None:
        if not self.is_single:
            raise Unsupported(f"{what} is for the joint of one row of evidence; infer each row alone")

    def __repr__(self) -> str:
        names, rows = ", ".join(self.scope.names), len(self.components.weights)
        size = number_of(self.components.weights.shape[1], "component")
        return f"MixedJoint({names}; {'' if self.is_single else number_of(rows, 'row') + ', '}{size})"


def gaussian_logs(error: np.ndarray, covariance: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """log N(error; 0, covariance) of each component, by Cholesky factors of the correlations."""
    deviations = np.sqrt(np.einsum("cii->ci", covariance))
    if not (deviations > 0).all():
        raise Unsupported(f"the joint of {', '.join(names)} has no density: one of them is known exactly")
    try:
        root = np.linalg.cholesky(covariance / (deviations[:, :, None] * deviations[:, None, :]))
    except np.linalg.LinAlgError as error_:
        raise Unsupported(
            f"the joint of {', '.join(names)} has no density: one is a function of the others"
        ) from error_
    white = np.linalg.solve(root, (error / deviations)[..., None])[..., 0]
    logs = np.log(np.einsum("cii->ci", root)).sum(axis=1) + np.log(deviations).sum(axis=1)
    return np.asarray(-0.5 * ((white**2).sum(axis=1) + len(names) * LOG_TWO_PI) - logs)
