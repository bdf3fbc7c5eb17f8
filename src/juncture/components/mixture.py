"""`Mixture`: one of several distributions, chosen at random; `MixtureEmissions`: one mixture for each state.

`MixtureSummaries`, the base class of `Mixture`, has its moments, cumulative probabilities, quantiles and mode.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import central_levels, check_array, check_count, check_kind
from juncture.base.notes import Name, Notes
from juncture.base.options import as_generator, as_sizes
from juncture.base.values import few
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import (
    ColumnStates,
    Emissions,
    EmissionStatistics,
    distributions_html,
    in_one_line,
    is_seen,
    name_of_row,
    raise_wrong_prior,
)
from juncture.components.convert import LIST_CONVERTERS, as_components, check_members, concatenate_components
from juncture.data.feature_names import NamedFeatures
from juncture.data.observations import as_values
from juncture.data.rows import Rows, column_names, free_name
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.family import Family, plain
from juncture.families.statistics.long_data import as_buffer
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics import stable
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.variables import Scope, Variable

ROWS_AT_ONCE = 2**20  # numbers, of rows times states times components
HALVINGS = 200  # of an interval: more than enough for two neighbours among the numbers
GRID = 512  # points among which the search for the mode starts
TAIL = 1e-6  # of probability beyond the ends of that grid, in each component
SHIFTS = 1000  # steps of the mean-shift


class MixtureSummaries(NamedFeatures):
    """What is said of a mixture in a few numbers; those that need an order are of mixtures of numbers."""

    weights: np.ndarray
    components: Any

    @property
    def mean(self) -> Any:
        """Σ weights[c] mean of component c."""
        return plain(np.tensordot(self.weights, self._of_components("mean"), axes=1))

    @property
    def variance(self) -> Any:
        """Of each coordinate: Σ weights[c] (variance of c + (mean of c - mean)²)."""
        shift = self._of_components("mean") - np.asarray(self.mean)
        return plain(np.tensordot(self.weights, self._of_components("variance") + shift**2, axes=1))

    @property
    def standard_deviation(self) -> Any:
        """The square root of the variance."""
        return plain(np.sqrt(np.asarray(self.variance)))

    def cdf(self, x: Any) -> Any:
        """p(X ≤ x) = Σ weights[c] p(X ≤ x | c), of a mixture of numbers."""
        self._check_numbers("cumulative probabilities")
        values = check_array(x, "x")
        return plain(sum(weight * np.asarray(part.cdf(values)) for weight, part in self._held()))

    def quantile(self, probability: Any) -> Any:
        """The least x with p(X ≤ x) ≥ probability, of a mixture of numbers."""
        self._check_numbers("quantiles")
        asked = check_array(probability, "the probability")
        if not ((asked >= 0) & (asked <= 1)).all():
            raise InvalidData(f"a quantile is asked for a probability from 0 to 1; got {probability!r}")
        ends = np.array([np.asarray(part.quantile(asked), float) for _, part in self._held()])
        return plain(self._bisect(asked, ends.min(axis=0), ends.max(axis=0)))

    def interval(self, confidence: float = 0.9) -> tuple[Any, Any]:
        """Both ends of the central interval, with as much probability below it as above it.

        Parameters
        ----------
        confidence
            How probable it is that the interval holds the value, between 0 and 1.

        Returns
        -------
        low, high
            Two quantiles: numbers, or arrays with an entry for each of several columns.
        """
        below, up_to = central_levels(confidence)
        return self.quantile(below), self.quantile(up_to)

    def _bisect(self, asked: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Between the least and the largest quantile of the components, where the cumulative probability passes."""
        is_discrete = self._is_discrete
        for _ in range(HALVINGS):
            with np.errstate(invalid="ignore"):
                middle = np.floor((low + high) / 2) if is_discrete else low + (high - low) / 2
            is_open = (low < high) & np.isfinite(middle) & (is_discrete | ((low < middle) & (middle < high)))
            if not is_open.any():
                break
            enough = np.asarray(self.cdf(middle)) >= asked
            high = np.where(is_open & enough, middle, high)
            low = np.where(is_open & ~enough, middle + (1 if is_discrete else 0), low)
        return high

    @property
    def median(self) -> Any:
        """The least x with p(X ≤ x) ≥ ½: the estimate of the least absolute error."""
        return self.quantile(0.5)

    @property
    def mode(self) -> Any:
        """The likeliest value: of numbers by search on a grid and refinement, of Gaussian vectors by mean-shift."""
        if not self.event_shape:
            return plain(np.asarray(self._mode_of_numbers()))
        parts = [part for _, part in self._held()]
        if not all(isinstance(part, MultivariateGaussian) for part in parts):
            raise Unsupported("the mode of a mixture is found for numbers and for Gaussian vectors")
        found = [self._shift_mean(np.asarray(part.mean)) for part in parts]
        return max(found, key=lambda point: float(self.log_prob(point)))

    def _shift_mean(self, point: np.ndarray) -> np.ndarray:
        """Each step is EM for a mixture that is moved as a whole: the density never falls (Carreira-Perpiñán 2000)."""
        weights, parts = zip(*self._held(), strict=True)
        precisions = np.stack([np.asarray(part.precision) for part in parts])
        means = np.stack([np.asarray(part.mean) for part in parts])
        pulls = (precisions @ means[..., None])[..., 0]
        for _ in range(SHIFTS):
            logs = np.array([part.log_prob(point) for part in parts]) + np.log(weights)
            shares = np.exp(logs - logs.max())
            moved = np.linalg.solve(np.tensordot(shares, precisions, 1), np.tensordot(shares, pulls, 1))
            if np.allclose(moved, point, rtol=1e-14, atol=1e-14):
                break
            point = moved
        return point

    def _mode_of_numbers(self) -> float:
        from scipy.optimize import minimize_scalar

        ends = np.array([[part.quantile(TAIL), part.quantile(1 - TAIL)] for _, part in self._held()], float)
        low, high = ends[:, 0].min(), ends[:, 1].max()
        modes = [float(np.asarray(part.mode)) for _, part in self._held()]
        if self._is_discrete:
            points = np.arange(low, high + 1)
            return float(points[np.argmax(self.log_prob(points))])
        points = np.unique(np.concatenate([np.linspace(low, high, GRID), modes]))
        logs = np.asarray(self.log_prob(points))
        best = int(np.argmax(logs))
        around = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
        found = minimize_scalar(
            lambda x: -float(self.log_prob(x)), bounds=around, method="bounded", options={"xatol": 1e-12}
        )
        return float(found.x if -found.fun > logs[best] else points[best])

    @property
    def _is_discrete(self) -> bool:
        return all(part.support.is_discrete for _, part in self._held())

    def _held(self) -> Iterable[tuple[float, Any]]:
        """The components that weigh something, with their weights."""
        return [(weight, part) for weight, part in zip(self.weights, self.components, strict=True) if weight > 0]

    def _of_components(self, name: str) -> np.ndarray:
        return np.stack([np.asarray(getattr(part, name)) for part in self.components])

    def _check_numbers(self, what: str) -> None:
        if self.event_shape:
            raise Unsupported(
                f"{what} are of mixtures of numbers; this one has vectors of the shape {self.event_shape}"
            )

    @property
    def event_shape(self) -> tuple[int, ...]:
        raise NotImplementedError

    def log_prob(self, x: Any) -> Any:
        raise NotImplementedError


class Mixture(MixtureSummaries):
    """A mixture distribution: p(x) = Σ weights[c] p(x | component c). Missing entries of x are summed out.

    Parameters
    ----------
    weights
        The probability of each component; they sum to 1.
    components
        A list of families, of one class or of several; a batch of one family; or emissions, such as `GaussianEmissions`
        with tied covariances.

    Examples
    --------
    >>> from juncture.families.continuous.gaussian import Gaussian
    >>> Mixture([0.25, 0.75], [Gaussian(0.0, 1.0), Gaussian(4.0, 1.0)]).mean
    3.0
    """

    kind: ClassVar[str] = "mixture"
    weights: np.ndarray  # (component,)
    components: Emissions

    def __init__(self, weights: Any, components: Any) -> None:
        given = check_array(weights, "the weights of a mixture, one number per component,", error=InvalidModel)
        size = len(given) if given.ndim == 1 else 0
        if not size:
            raise InvalidModel(f"the weights of a mixture are one number per component; got {weights!r}")
        held = stable.as_probabilities(weights, (size,), name="the list of weights of a mixture")
        self._set(weights=held, components=as_components(components, size))

    @property
    def num_components(self) -> int:
        return len(self.weights)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one value: () for a number, (d,) for a vector."""
        return self.components.event_shape

    @property
    def num_columns(self) -> int:
        """The number of columns of a row."""
        return int(np.prod(self.event_shape))

    @cached_property
    def variables(self) -> Scope:
        """The columns of a row, and the component after them."""
        names = self.feature_names or column_names(self.event_shape)
        columns = map(Variable, names, self.components.column_states)
        return Scope([*columns, Variable(free_name("component", names), self.num_components)])

    @property
    def num_parameters(self) -> int:
        """The number of free parameters."""
        return self.num_components - 1 + self.components.num_parameters

    def component_log_prob(self, x: Any) -> np.ndarray:
        """log p(x | component): (*rows, component)."""
        values = as_values(Rows.of(x, self.feature_names).values, self.event_shape, name="Mixture")
        shape = values.shape[: values.ndim - len(self.event_shape)]
        rows = self.components.check(values.reshape(-1, *self.event_shape))
        return self.components.log_prob(rows).reshape(*shape, self.num_components)

    def log_prob(self, x: Any) -> Any:
        """log p(x), density or mass; -inf where no component can be."""
        return plain(stable.log_sum_exp(self.component_log_prob(x) + stable.log(self.weights), axis=-1))

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Any = None) -> Any:
        """Draws, as (*size, *event); without a size, one."""
        shape, generator = as_sizes(size), as_generator(rng)
        chosen = generator.choice(self.num_components, int(np.prod(shape)), p=self.weights / self.weights.sum())
        return plain(self.components.sample(chosen, generator).reshape(shape + self.event_shape))

    def __len__(self) -> int:
        return self.num_components

    def __iter__(self) -> Iterator[Any]:
        return iter(self.components)

    def __getitem__(self, component: int) -> Any:
        """The distribution of one component."""
        return self.components[check_count(component, "a component", least=-self.num_components)]

    def _repr_html_(self) -> str:
        return distributions_html(
            (f"{weight:.4g}" for weight in self.weights), self.components, ("weight", "component")
        )

    def __repr__(self) -> str:
        parts = (f"{weight:.6g} · {part!r}" for weight, part in zip(self.weights, self.components, strict=True))
        return f"Mixture({few(parts, ' + ')})"


@dataclass(frozen=True)
class MixturePrior:
    """The prior of mixtures: one for the weights, and one for the components.

    Parameters
    ----------
    weights
        A pseudo-count for each weight, or a `Dirichlet`; None for maximum likelihood.
    components
        A conjugate prior of the components; None for maximum likelihood.
    """

    weights: Any = None
    components: Any = None


class MixtureEmissions(Emissions):
    """Emissions from a mixture in each state: p(x | state) = Σ weights[state, c] p(x | state, c).

    Parameters
    ----------
    weights
        (state, component); each row sums to 1.
    components
        Emissions for all pairs of state and component, those of the first state first.

    Examples
    --------
    >>> from juncture.components.gaussian import GaussianEmissions
    >>> parts = GaussianEmissions([0.0, 1.0, 5.0, 6.0], [1.0, 1.0, 1.0, 1.0])
    >>> MixtureEmissions([[0.5, 0.5], [0.25, 0.75]], parts)[1].mean
    5.75
    """

    weights: np.ndarray  # (state, component)
    components: Emissions

    def __init__(self, weights: Any, components: Emissions) -> None:
        shape = check_array(weights, "the weights of mixtures", error=InvalidModel).shape
        if len(shape) != 2 or 0 in shape:
            raise InvalidModel(f"the weights of mixtures are (state, component); got an array of the shape {shape}")
        table = stable.as_probabilities(weights, shape, name="the table of mixture weights")
        check_kind(components, Emissions, "what has components", error=InvalidModel)
        if components.num_states != table.size:
            raise InvalidModel(
                f"{shape[0]} states with {shape[1]} components each need {table.size} distributions;"
                f" got {components.num_states}"
            )
        self._set(weights=table, components=components)

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.weights)

    @property
    def num_components(self) -> int:
        return int(self.weights.shape[1])

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.components.event_shape

    @property
    def column_states(self) -> ColumnStates:
        """Those of the components."""
        return self.components.column_states

    @property
    def num_parameters(self) -> int:
        return self._mixing.num_parameters + self.components.num_parameters

    @cached_property
    def _mixing(self) -> CategoricalEmissions:
        """The hidden component as a symbol that each state emits."""
        return CategoricalEmissions(self.weights)

    def check(self, rows: np.ndarray, name_row: Name = name_of_row) -> np.ndarray:
        return self.components.check(rows, name_row)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        found = np.empty((len(rows), self.num_states))
        for block in self._blocks(len(rows)):
            found[block] = self._summed(rows[block])[0]
        found[~is_seen(rows)] = 0.0  # to the last digit
        return found

    def _summed(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log p(row | state), and the share that each component has in it: (row, state and component)."""
        from juncture.kernels.densities.mixtures import add_components

        log_parts, log_weights = as_buffer(self.components.log_prob(rows)), stable.log(self.weights)
        log_prob = np.empty((len(rows), self.num_states))
        map_blocks(
            lambda block: add_components(log_parts[block], log_weights, log_prob[block]),
            len(rows),
            block_rows((self.weights.size,)),
        )
        return log_prob, log_parts

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        chosen = self._mixing.sample(states, rng)
        return self.components.sample(states * self.num_components + chosen, rng)

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        seen = is_seen(rows)
        rows, weights = (rows, weights) if seen.all() else (rows[seen], weights[seen])
        blocks = self._blocks(len(rows)) or [slice(0, 0)]
        parts = [self._statistics(rows[block], weights[block]) for block in blocks]
        return sum(parts[1:], start=parts[0])

    def _statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        """Each component has the share of its state's weight that it is responsible for."""
        from juncture.kernels.densities.mixtures import weight_shares

        shares = self._summed(rows)[1]
        weight_shares(shares, as_buffer(weights), self.num_components)
        counts = shares.sum(axis=0).reshape(self.weights.shape)
        return EmissionStatistics(weights.sum(axis=0), [counts, self.components.statistics(rows, shares)])

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        own = self._prior(prior)
        counts, found = statistics.parts
        mixing = self._mixing.estimate(EmissionStatistics(counts.sum(axis=1), [counts]), own.weights)
        components, notes = self.components.estimate_with_notes(found, own.components)
        of_states = notes.moved(
            lambda position: (position // self.num_components, f"component {position % self.num_components} of ")
        )
        return type(self)(mixing.probabilities, components), of_states

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        """Σ weight · E log p(row, component | state): the component is missing too."""
        counts, found = statistics.parts
        mixing = self._mixing.log_likelihood(EmissionStatistics(counts.sum(axis=1), [counts]))
        return mixing + self.components.log_likelihood(found)

    def log_prior(self, prior: Any) -> float:
        own = self._prior(prior)
        return self._mixing.log_prior(own.weights) + self.components.log_prior(own.components)

    def _prior(self, prior: Any) -> MixturePrior:
        if prior is None:
            return MixturePrior()
        if not isinstance(prior, MixturePrior):
            raise_wrong_prior(prior, self, "a MixturePrior(weights=…, components=…)")
        found: MixturePrior = prior
        return found

    def _blocks(self, num_rows: int) -> list[slice]:
        size = max(1, ROWS_AT_ONCE // self.weights.size)
        return [slice(start, start + size) for start in range(0, num_rows, size)]

    @property
    def summary(self) -> str:
        return f"mixtures of {self.num_components}, {self.components.summary}"

    def take(self, states: Any) -> Self:
        states = self._positions(states) % self.num_states
        positions = states[:, None] * self.num_components + np.arange(self.num_components)
        return type(self)(self.weights[states], self.components.take(positions.reshape(-1)))

    def __getitem__(self, state: int) -> Mixture:
        state = self._position(state) % self.num_states
        first = state * self.num_components
        held = [position for position in range(self.num_components) if self.weights[state, position] > 0]
        return Mixture(self.weights[state, held], [self.components[first + position] for position in held])

    def __repr__(self) -> str:
        return f"MixtureEmissions({in_one_line(self.weights)}, {self.components!r})"


def of_mixtures(given: list[Any]) -> Emissions:
    """A state whose mixture has fewer components than another's gets more of its last one, which weigh nothing."""
    check_members(given, Family, Mixture)
    mixtures = [each if isinstance(each, Mixture) else Mixture([1.0], [each]) for each in given]
    most = max(mixture.num_components for mixture in mixtures)
    weights = np.zeros((len(mixtures), most))
    positions = []
    for state, mixture in enumerate(mixtures):
        weights[state, : mixture.num_components] = mixture.weights
        positions.append([min(position, mixture.num_components - 1) for position in range(most)])
    return MixtureEmissions(weights, concatenate_components([mixture.components for mixture in mixtures], positions))


LIST_CONVERTERS[Mixture] = of_mixtures
