"""Independent: rows whose columns have a family each, and their statistics, one entry for each column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_iterable
from juncture.base.values import few
from juncture.data.observations import as_values
from juncture.errors import InvalidData, InvalidModel
from juncture.families.family import Family, Real, plain
from juncture.families.statistics.statistics import Statistics
from juncture.families.statistics.statistics_method import StatisticsMethod
from juncture.families.vectors.block_matrices import side_by_side
from juncture.families.vectors.vector_family import check_nothing_known


class ColumnStatisticsMethod(StatisticsMethod):
    """`family.statistics(x, weights=None)`: the statistics of each column, by the family that the instance names."""

    def __get__(self, instance: Any, owner: type[Family]) -> Any:
        def statistics(x: Any, weights: Any = None, **known: Any) -> PartStatistics:
            check_nothing_known(owner, known)
            if instance is None:
                raise InvalidData("only an Independent knows its columns: ask Independent([...]).statistics(x)")
            parts = zip(instance.families, instance._columns(x), strict=True)
            return PartStatistics(owner, parts=[family.statistics(part, weights) for family, part in parts])

        statistics.__doc__ = self.__doc__
        return statistics


class Independent(Family):
    """p(x) = Π p_k(x_k): the columns of a row have these families; one of vectors takes as many columns as it has.

    Members of a batch have columns that are batches of one shape, or single distributions that all members share.

    >>> from juncture.families.continuous.gaussian import Gaussian
    >>> from juncture.families.discrete.bernoulli import Bernoulli
    >>> Independent([Gaussian(0.0, 1.0), Bernoulli(0.25)]).mean
    array([0.  , 0.25])
    """

    _fields = ("families",)
    families: tuple[Family, ...]
    statistics = ColumnStatisticsMethod()

    def __init__(self, families: Iterable[Family]) -> None:
        held = tuple(check_iterable(families, "families", error=InvalidModel))
        if not held or not all(isinstance(family, Family) for family in held):
            raise InvalidModel(f"Independent takes a list of families, one per column; got {held!r}")
        shapes = {family.batch_shape for family in held} - {()}
        if len(shapes) > 1:
            raise InvalidModel(f"the columns of Independent have batches of one shape; got {sorted(shapes)}")
        self._set(_given={}, families=held, batch_shape=next(iter(shapes), ()))

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (sum(map(width, self.families)),)

    @property
    def support(self) -> Columns:
        return Columns(self.families)

    def __getitem__(self, index: Any) -> Self:
        if not self.batch_shape:
            raise InvalidData("this Independent is a single distribution; `families` are its columns")
        return type(self)(family[index] if family.batch_shape else family for family in self.families)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["families"])  # type: ignore[misc]

    # -- densities and draws

    def log_prob(self, x: Any) -> Real:
        """Σ log p_k(x_k)."""
        parts = zip(self.families, self._columns(x), strict=True)
        terms = np.broadcast_arrays(*(np.asarray(family.log_prob(part)) for family, part in parts))
        impossible = np.logical_or.reduce([term == -np.inf for term in terms])
        total = sum(np.where(impossible, 0.0, term) for term in terms)
        found = np.where(impossible, -np.inf, total)
        return plain(np.broadcast_to(found, np.broadcast_shapes(found.shape, self.batch_shape)))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return concatenate_columns(self.families, [family._draw_inside(shape, rng) for family in self.families])

    @property
    def mean(self) -> np.ndarray:
        return self._concatenate(lambda family: family.mean)

    @property
    def variance(self) -> np.ndarray:
        return self._concatenate(lambda family: family.variance)

    @property
    def mode(self) -> np.ndarray:
        return self._concatenate(lambda family: family.mode)

    # -- information

    def entropy(self) -> Real:
        """Σ of the columns' entropies."""
        return plain(np.broadcast_to(sum(np.asarray(family.entropy()) for family in self.families), self.batch_shape))

    def cross_entropy(self, other: Any) -> Real:
        """Σ of the columns' cross-entropies."""
        return plain(sum(np.asarray(mine.cross_entropy(theirs)) for mine, theirs in self._beside(other)))

    def kl_divergence(self, other: Any) -> Real:
        """Σ of the columns' divergences."""
        return plain(sum(np.asarray(mine.kl_divergence(theirs)) for mine, theirs in self._beside(other)))

    # -- learning

    def log_likelihood(self, statistics: Iterable[Statistics]) -> Real:
        """Σ of the columns' log-likelihoods."""
        columns = check_iterable(statistics, "statistics")
        if len(columns) != len(self.families):
            raise InvalidData(f"there are {len(self.families)} columns, and statistics of {len(columns)}")
        parts: Any = zip(self.families, columns, strict=True)
        return plain(sum(np.asarray(family.log_likelihood(part)) for family, part in parts))

    @classmethod
    def estimate(cls, statistics: Any, prior: Sequence[Any] | None = None) -> Self:
        """Each column's estimate; `prior` holds one prior per column, or None for a column without."""
        if not isinstance(statistics, PartStatistics):
            raise InvalidData(f"Independent.estimate takes Independent([...]).statistics(data); got {statistics!r}")
        priors = [None] * len(statistics) if prior is None else check_iterable(prior, "the priors")
        if len(priors) != len(statistics):
            raise InvalidData(f"there are {len(statistics)} columns; got {len(priors)} priors")
        return cls(part.family.estimate(part, one) for part, one in zip(statistics, priors, strict=True))

    def _columns(self, x: Any) -> list[np.ndarray]:
        return columns_of(self.families, as_values(x, self.event_shape, name=type(self).__name__))

    def _concatenate(self, quantity: Callable[[Any], Any]) -> np.ndarray:
        return concatenate_columns(self.families, [np.asarray(quantity(family)) for family in self.families])

    def _beside(self, other: Any) -> list[tuple[Family, Family]]:
        if not isinstance(other, Independent) or len(other.families) != len(self.families):
            raise InvalidData(f"an Independent is compared with one of as many columns; got {other!r}")
        return list(zip(self.families, other.families, strict=True))

    def __repr__(self) -> str:
        return f"Independent([{few(map(repr, self.families))}])"


@dataclass(frozen=True)
class Columns:
    """Rows whose columns have a support each."""

    families: tuple[Family, ...]

    axes = 1

    @property
    def is_discrete(self) -> bool:
        return all(family.support.is_discrete for family in self.families)

    def contains(self, x: np.ndarray) -> np.ndarray:
        parts = zip(self.families, columns_of(self.families, x), strict=True)
        return np.asarray(np.logical_and.reduce([family.support.contains(part) for family, part in parts]))

    def inside(self) -> np.ndarray:
        return concatenate_columns(self.families, [family.support.inside() for family in self.families])

    def __str__(self) -> str:
        return f"rows of {', '.join(str(family.support) for family in self.families)}"


def width(family: Family) -> int:
    """How many columns its values take."""
    return int(np.prod(family.event_shape))


def columns_of(families: Sequence[Family], x: np.ndarray) -> list[np.ndarray]:
    """The values of each family: (*rows, *event)."""
    ends = accumulate(map(width, families), initial=0)
    pieces = zip(families, pairwise(ends), strict=True)
    return [x[..., start:end].reshape(x.shape[:-1] + family.event_shape) for family, (start, end) in pieces]


def concatenate_columns(families: Sequence[Family], parts: Sequence[np.ndarray]) -> np.ndarray:
    """One row from the families' values: what `columns_of` took apart."""
    pairs = zip(families, map(np.asarray, parts), strict=True)
    flat = [part.reshape(*part.shape[: part.ndim - len(family.event_shape)], width(family)) for family, part in pairs]
    return side_by_side(*flat)


class PartStatistics(Statistics):
    """A tuple of statistics of the same rows, one per column of a row."""

    _fields: ClassVar[Any] = ("family", "parts")
    parts: tuple[Statistics, ...]

    def __init__(self, family: type[Family], *, parts: Iterable[Statistics]) -> None:
        held = tuple(parts)
        if not held or len({part.batch_shape for part in held}) > 1:
            raise InvalidData("statistics of columns are of one batch, and of at least one column")
        self._set(family=family, parts=held, known={}, weight=held[0].weight)

    @property
    def log_base(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(sum(part.log_base for part in self.parts))

    @property
    def total(self) -> np.ndarray:  # type: ignore[override]
        """The parts' totals, one after another."""
        return np.concatenate([part.total for part in self.parts], axis=-1)

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[Statistics]:
        return iter(self.parts)

    def __getitem__(self, index: int) -> Statistics:
        return self.parts[index]

    def _merge(self, other: Any) -> Self:
        if len(self) != len(other):
            raise InvalidData(f"statistics of {len(self)} and of {len(other)} columns do not add")
        return self._with(parts=tuple(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def _scale(self, factor: np.ndarray) -> Self:
        return self._with(parts=tuple(part.scaled(factor) for part in self))

    def to_dict(self) -> dict[str, Any]:
        parts = [part.to_dict() for part in self]
        return {"kind": type(self).__name__, "family": self.family.__name__, "parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["family"], parts=state["parts"])  # type: ignore[misc]
