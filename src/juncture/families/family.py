"""`Family`: the base class of all distributions; one object may hold a batch of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import wraps
from types import FunctionType
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from juncture.base.checks import check_index
from juncture.base.options import as_generator, as_sizes
from juncture.data.observations import as_values, check_answer, check_inside, check_no_missing
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.constraints import Constraint
from juncture.families.cumulative import Cumulative
from juncture.families.expectation import expectation, expected_log_ratio, map_members
from juncture.families.statistics.long_data import Fill, fill_log_prob, table_fill
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.statistics.statistics_method import StatisticsMethod
from juncture.families.supports import Interval, all_inside
from juncture.numerics.stable import Real, plain
from juncture.runtime.parallel import block_rows

__all__ = ["Family", "Parameter", "Real", "plain"]


CHECKED = ("mean", "variance", "mode", "entropy", "cross_entropy", "kl_divergence")  # of which no answer has a NaN


def with_check(member: Any, name: str) -> Any:
    """A property or a method of a family that refuses to answer with what is no number."""
    function: Any = member.fget if isinstance(member, property) else member

    @wraps(function)
    def checked(self: Any, *arguments: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return check_answer(function(self, *arguments), self, name)

    return property(checked) if isinstance(member, property) else checked


@runtime_checkable
class HasDensity(Protocol):
    """What has a log-density: a member of a family, a mixture, or an object of a user's own."""

    def log_prob(self, x: Any, /) -> Any: ...


@runtime_checkable
class CanSample(Protocol):
    """What can be drawn from."""

    @property
    def sample(self) -> Any: ...


@runtime_checkable
class Distribution(HasDensity, CanSample, Protocol):
    """What has a log-density and can be drawn from."""


@runtime_checkable
class Prior(Protocol):
    """What has a posterior, given statistics: a conjugate prior, or an improper one."""

    def posterior(self, statistics: Statistics) -> Any: ...


class Family(Cumulative):
    """A distribution with named parameters, or a batch of them when parameters are arrays.

    A subclass declares its `parameters` with their constraints, its support, log-density and sampling. Its statistics
    need the `required` parameters, and take the `optional` and the `fixed` ones (constants of an exponential family).
    """

    parameters: ClassVar[Mapping[str, Constraint]] = {}
    required: ClassVar[Mapping[str, Constraint]] = {}
    optional: ClassVar[Mapping[str, Constraint]] = {}
    fixed: ClassVar[Mapping[str, Constraint]] = {}
    counts: ClassVar[bool] = False  # whether its values are counts, whose statistics add bit for bit
    sums_values: ClassVar[bool] = False  # whether its statistics are the sum of the values and nothing else
    _fields: ClassVar[tuple[str, ...]] = ("_given",)
    _given: dict[str, np.ndarray]
    batch_shape: tuple[int, ...]

    def __init_subclass__(cls) -> None:  # the fields of all families are the same, whatever they annotate
        for name, constraint in cls.__dict__.get("parameters", {}).items():
            setattr(cls, name, Parameter(name, constraint))
        for name in CHECKED:
            if isinstance(cls.__dict__.get(name), property | FunctionType):  # and no parameter of this name
                setattr(cls, name, with_check(cls.__dict__[name], name))

    def _declare(self, **values: Any) -> None:
        """Check the parameters against their constraints, and keep them."""
        name, rules = type(self).__name__, self.parameters
        given = {key: rules[key].check(value, name=f"the {key} of {name}") for key, value in values.items()}
        shapes = {key: array.shape[: array.ndim - rules[key].axes] for key, array in given.items()}
        try:
            batch_shape = np.broadcast_shapes(*shapes.values())
        except ValueError:
            raise InvalidModel(f"the parameters of {name} do not broadcast to one batch: {shapes}") from None
        self._set(_given=given, batch_shape=batch_shape)
        self._check()

    def _check(self) -> None:
        """What must hold between parameters."""

    # -- what is where

    @property
    def event_shape(self) -> tuple[int, ...]:
        """The shape of one value: () for a number, (d,) for a vector."""
        return ()

    @property
    def support(self) -> Any:
        """Which values are possible."""
        return self._support_given(self._known())

    def __getitem__(self, index: Any) -> Self:
        """Members of the batch."""
        if not self.batch_shape:
            raise InvalidData(f"this {type(self).__name__} is a single distribution; there is nothing to index")
        parts = {}
        for name, array in self._given.items():
            event = array.shape[array.ndim - self.parameters[name].axes :]
            parts[name] = check_index(np.broadcast_to(array, self.batch_shape + event), index, "a member of the batch")
        return type(self)(**parts)

    def __len__(self) -> int:
        if not self.batch_shape:
            raise TypeError(f"this {type(self).__name__} is a single distribution and has no length")
        return self.batch_shape[0]

    def __iter__(self) -> Iterable[Self]:
        return (self[index] for index in range(len(self)))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        rules = self.parameters
        shapes = [array.shape[: array.ndim - rules[name].axes] for name, array in self._given.items()]
        self._set(batch_shape=np.broadcast_shapes(*shapes))

    # -- densities and draws

    def log_prob(self, x: Any) -> Real:
        """log p(x), density or mass; -inf outside the support. `x` broadcasts against the batch."""
        values = as_values(x, self.event_shape, name=type(self).__name__, batch_shape=self.batch_shape)
        rows_shape = values.shape[: values.ndim - len(self.event_shape)]
        num_batch, size = len(self.batch_shape), block_rows(values.shape[1:], self.batch_shape)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if not rows_shape or rows_shape[0] <= size or (num_batch and len(rows_shape) <= num_batch):
                found = self._log_prob_inside(values)
            else:
                found = np.empty(np.broadcast_shapes(rows_shape, self.batch_shape))
                fill_log_prob(self, values, found, size)
        return plain(check_answer(found, self, "log_prob"))

    def prob(self, x: Any) -> Real:
        """p(x), density or mass."""
        return plain(np.exp(self.log_prob(x)))

    def _log_prob_inside(self, values: np.ndarray) -> np.ndarray:
        """log p of values that may lie outside the support."""
        if all_inside(self.support, values):
            return self._log_prob(values)
        inside = self.support.contains(values)
        check_no_missing(values, name=f"{type(self).__name__}.log_prob")
        axes = len(self.event_shape)
        stand_in = np.where(inside[(...,) + (None,) * axes], values, self.support.inside())
        return np.where(inside, self._log_prob(stand_in), -np.inf)

    def _compiled_log_prob(self, values: np.ndarray) -> Fill | None:
        """A faster way for blocks of these long data, if there is one."""
        return table_fill(self, values)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        """log p(x) for x inside the support."""
        raise Unsupported(f"{type(self).__name__} has no log-density of its own")

    def sample(self, size: int | tuple[int, ...] | None = None, *, rng: Any = None) -> Any:
        """Draws, as (*size, *batch, *event); without a size, one. `rng` is a NumPy generator or a seed."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            draws = self._draw_inside(as_sizes(size) + self.batch_shape, as_generator(rng))
        return plain(check_answer(draws, self, "a draw"))

    def _draw_inside(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Draws that log_prob and statistics take: one that rounding puts on an edge becomes the nearest inside."""
        draws, support = self._draw(shape, rng), self.support
        if not isinstance(support, Interval):
            return draws
        narrow = self._support_given(self._known())
        if narrow.holds_well_inside(draws) and support.holds_well_inside(draws):
            return draws  # the usual case, and quick
        return np.asarray(narrow.clip_inside(support.clip_inside(draws)))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """Draws of the given shape, whose last axes are the batch; the event's axes come after."""
        raise Unsupported(f"{type(self).__name__} cannot be sampled")

    # -- moments; distribution function and quantiles are in `Cumulative`

    @property
    def mean(self) -> Real:
        raise Unsupported(f"the mean of {type(self).__name__} has no closed form here")

    @property
    def variance(self) -> Real:
        raise Unsupported(f"the variance of {type(self).__name__} has no closed form here")

    @property
    def standard_deviation(self) -> Real:
        """The square root of the variance."""
        return plain(np.sqrt(self.variance))

    @property
    def mode(self) -> Real:
        raise Unsupported(f"the mode of {type(self).__name__} has no closed form here")

    # -- information

    def entropy(self) -> Real:
        """-E log p(X), in nats."""
        return self.cross_entropy(self)

    def cross_entropy(self, other: Family) -> Real:
        """-E log q(X) under this distribution, in nats; inf where the other has no mass."""
        return plain(map_members(lambda p, q: -expectation(p, q.log_prob), self, other))

    def kl_divergence(self, other: Family) -> Real:
        """KL(self ‖ other) = E log p(X)/q(X), in nats; inf where the other has no mass."""
        return plain(expected_log_ratio(self, other))

    # -- learning

    statistics: ClassVar[StatisticsMethod] = StatisticsMethod()

    @classmethod
    def estimate(cls, statistics: Statistics, prior: Any = None) -> Self:
        """The maximum likelihood estimate; with a prior, the maximum a posteriori estimate.

        Parameters
        ----------
        statistics
            The statistics of this family: `Family.statistics(data)`, or a sum of several.
        prior
            A conjugate prior, such as `Beta(1, 1)` for a Bernoulli.

        Returns
        -------
        Family
            A member of the family; `InvalidData` says which data are missing if there is none.
        """
        if not isinstance(statistics, Statistics) or statistics.family is not cls:
            raise InvalidData(f"{cls.__name__}.estimate takes {cls.__name__}.statistics(data); got {statistics!r}")
        if prior is not None:
            if isinstance(prior, type) or not isinstance(prior, Prior):
                raise InvalidData(f"a prior is a conjugate one, such as Beta(1, 1) for a Bernoulli; got {prior!r}")
            member: Self = prior.posterior(statistics).likelihood_at_mode()
            return member
        if not (statistics.weight > 0).all():
            raise InvalidData(f"{cls.__name__} cannot be estimated from no data; give at least one row, or a prior")
        return cls._estimate(statistics)

    @classmethod
    def _estimate(cls, statistics: Any) -> Self:
        raise Unsupported(f"{cls.__name__} cannot be estimated from statistics")

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Statistics:
        raise Unsupported(f"{cls.__name__} has no sufficient statistics")

    @classmethod
    def _single(cls, x: np.ndarray, known: Known) -> Statistics:
        """The statistics of each value alone: a batch of the values' shape."""
        raise Unsupported(f"{cls.__name__} has no sufficient statistics")

    @classmethod
    def _check_rows(cls, rows: np.ndarray, known: Known, first_row: int = 0) -> None:
        support = cls._support_given(known)
        if not all_inside(support, rows):
            check_inside(rows, support.contains(rows), name=cls.__name__, support=support, first_row=first_row)

    @classmethod
    def _support_given(cls, known: Known) -> Any:
        """The support as far as what is known fixes it."""
        raise Unsupported(f"{cls.__name__} declares no support")

    @classmethod
    def _event_shape_given(cls, x: Any, known: Known) -> tuple[int, ...]:
        """The shape of one observation in the data."""
        return ()

    @classmethod
    def _known_from(cls, x: Any, known: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What is known, with what follows from the shape of the data."""
        return known

    def _known(self) -> dict[str, np.ndarray]:
        return {name: self._given[name] for name in (*self.required, *self.fixed)}

    @property
    def natural_parameters(self) -> np.ndarray:
        raise Unsupported(f"{type(self).__name__} is not an exponential family: it has no natural parameters")

    @property
    def mean_parameters(self) -> np.ndarray:
        raise Unsupported(f"{type(self).__name__} is not an exponential family: it has no mean parameters")

    def log_partition(self) -> Real:
        raise Unsupported(f"{type(self).__name__} is not an exponential family: it has no log-partition")

    def fisher_information(self) -> np.ndarray:
        raise Unsupported(f"{type(self).__name__} is not an exponential family: it has no natural parameters to vary")

    def cumulants(self, order: int) -> np.ndarray:
        raise Unsupported(
            f"{type(self).__name__} is not an exponential family: it has no log-partition to differentiate"
        )

    def moments(self, order: int) -> np.ndarray:
        raise Unsupported(f"{type(self).__name__} is not an exponential family: it has no statistics to average")

    def __repr__(self) -> str:
        parts = (f"{name}={rule.format(self.__dict__['_given'][name])}" for name, rule in self.parameters.items())
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from juncture.families.display import as_html

        return as_html(self)


class Parameter:
    """Reads one parameter: a number for a single distribution, an array for a batch."""

    def __init__(self, name: str, constraint: Constraint) -> None:
        self.name, self.constraint = name, constraint

    def __get__(self, instance: Family | None, owner: type) -> Any:
        if instance is None:
            return self
        array = instance.__dict__["_given"][self.name]
        return int(array) if self.constraint.is_whole and not array.ndim else plain(array)
