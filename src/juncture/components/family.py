"""`FamilyEmissions`: a batch of distributions of one family, one per state; `StudentEmissions`: Student t vectors.

Student t vectors are the predictive distributions of Gaussian classes. Then follow members of batches: of
distributions, and of their statistics.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Self, TypeVar

import numpy as np

from juncture.base.notes import NO_NOTES, Note, Notes
from juncture.components.contract import (
    Emissions,
    EmissionStatistics,
    by_columns,
    draw_by_state,
    is_seen,
    is_whole,
    raise_wrong_prior,
)
from juncture.components.densities import weight_of_codes
from juncture.data.missingness import group_by_pattern
from juncture.errors import InvalidData, InvalidModel, RegularizedWarning, Unsupported
from juncture.families.conjugacy import find_pair
from juncture.families.constraints import POSITIVE_DEFINITE, SIMPLEX
from juncture.families.family import Family, Prior
from juncture.families.statistics.sample_statistics import Sample
from juncture.families.statistics.statistics import Known, Statistics, known_of_members
from juncture.families.supports import LARGEST_WHOLE
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT

TOO_NARROW = (InvalidModel, FloatingPointError)  # what comes of data that no member is narrow enough for
NARROWEST = 1e-12  # of the mean: rounding hides what is narrower
LEAST = 1e-100  # of deviations near 0: densities and their products are ordinary numbers
AnyFamily = TypeVar("AnyFamily", bound=Family)


class FamilyEmissions(Emissions):
    """p(observation | state) of one family, of which each state has its own member.

    >>> from juncture.families.discrete.poisson import Poisson
    >>> FamilyEmissions(Poisson([2.0, 9.0]))[1]
    Poisson(rate=9.0)
    """

    family: Family

    def __init__(self, family: Family) -> None:
        if not isinstance(family, Family) or len(family.batch_shape) != 1:
            raise InvalidModel(f"emissions are a batch of distributions, one per state; got {family!r}")
        self._set(family=family)

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.family)

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return self.family.event_shape

    @property
    def num_parameters(self) -> int:
        free = (name for name in self.family.parameters if name not in self.family.required)
        return self.num_states * sum(num_free(self.family, name) for name in free)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        whole = self._whole(rows)
        if whole.all():
            return self._log_prob_whole(rows)
        log_prob = np.zeros((len(rows), self.num_states))
        log_prob[whole] = self._log_prob_whole(rows[whole])
        return log_prob

    def _log_prob_whole(self, rows: np.ndarray) -> np.ndarray:
        values, codes = self._distinct(rows)
        found = np.asarray(self.family.log_prob(values[:, None]))
        return found if codes is None else found.take(codes, axis=0)

    def _distinct(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """(values, the index of each row among them), where rows are whole numbers that repeat; else (rows, None)."""
        if self.event_shape or not self.family.support.is_discrete or not len(rows):
            return rows, None
        low, high = rows.min(), rows.max()
        is_narrow = low > -LARGEST_WHOLE and high < LARGEST_WHOLE and high - low < len(rows)
        if not is_narrow or not (rows == np.floor(rows)).all():
            return rows, None
        return np.arange(low, high + 1), (rows - low).astype(np.int64)

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return draw_by_state(self, states, rng)

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        whole = self._whole(rows)
        rows, weights = (rows, weights) if whole.all() else (rows[whole], weights[whole])
        values, codes = self._distinct(rows)
        if codes is not None:
            rows, weights = values, weight_of_codes(codes, weights, len(values))
        total = weights.sum(axis=0)
        heavy = by_columns(np.logical_or, weights > 0)  # what weighs nothing may lie outside the support
        rows, weights = (rows, weights) if heavy.all() else (rows[heavy], weights[heavy])
        if not len(rows):  # a row that weighs nothing, so that the batch is there
            rows = np.asarray(self.family.support.inside(), float)[None]
            weights = np.zeros((1, self.num_states))
        known = {name: self.family._given[name] for name in self.family.required}
        if any(array.ndim for array in known.values()):  # what is known differs from state to state
            rows = self._rows_of_states(rows, weights)
        return EmissionStatistics(total, [type(self.family).statistics(rows, weights, **known)])

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        alive = np.ones(self.num_states, bool)
        if prior is None:
            alive[statistics.dead_states] = False
        else:
            self._check_prior(prior)
        if not alive.any():
            return self, NO_NOTES
        positions = np.flatnonzero(alive)
        try:
            members = self._estimate_members(statistics.parts[0], positions, prior)
            return type(self)(with_members(self.family, positions, members)), NO_NOTES
        except (InvalidData, *TOO_NARROW):
            return self._estimate_one_by_one(statistics.parts[0], positions, prior)

    @np.errstate(divide="raise", over="raise", invalid="raise")
    def _estimate_members(self, statistics: Statistics, positions: np.ndarray, prior: Any) -> Family:
        if prior is None:
            found = type(self.family).estimate(members_of(statistics, positions))
            check_not_points(found)
            return found
        if isinstance(statistics, Sample):  # the prior is of one parameter; the other, which is fixed, stays
            statistics = self.family.statistics(statistics.values, statistics.weights)
        own = prior[positions] if prior.batch_shape else prior
        return type(self.family).estimate(members_of(statistics, positions), own)

    def _estimate_one_by_one(self, statistics: Statistics, positions: np.ndarray, prior: Any) -> tuple[Self, Notes]:
        """Where the data of some state determine no member, it keeps its own, and a note says why."""
        family, kept = self.family, {}
        for position in positions:
            one = np.array([position])
            try:
                family = with_members(family, one, self._estimate_members(statistics, one, prior))
            except InvalidData as error:
                kept[int(position)] = f" keeps its {type(family).__name__}: {error}"
            except TOO_NARROW as error:
                kept[int(position)] = f" keeps its distribution: its data shrank to a point or an edge: {error}"
        notes = (Note(RegularizedWarning, "", position, reason) for position, reason in kept.items())
        return type(self)(family), Notes(tuple(notes))

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        family: Any = self.family
        return float(np.sum(np.asarray(family.log_likelihood(statistics.parts[0]))))

    def log_prior(self, prior: Any) -> float:
        if prior is None:
            return 0.0
        self._check_prior(prior)
        return float(np.sum(log_prior_of(prior, self.family)))

    def _check_prior(self, prior: Any) -> None:
        if not isinstance(prior, Prior):
            raise_wrong_prior(prior, self, "a conjugate one, such as Gamma(2, 1) for Poisson")

    def _rows_of_states(self, rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """(row, state, *event): what weighs nothing in a state is a value that it can have."""
        wide = (...,) + (None,) * len(self.event_shape)
        return np.where((weights > 0)[wide], rows[:, None], self.family.support.inside())

    def _whole(self, rows: np.ndarray) -> np.ndarray:
        """The rows that are observed; one that is so in part is refused."""
        whole = is_whole(rows)
        if self.event_shape and not whole.all() and (is_seen(rows) & ~whole).any():
            step = int(np.argmax(is_seen(rows) & ~whole))
            raise Unsupported(
                f"row {step} is missing in part, which {type(self.family).__name__} cannot sum out; "
                "make it missing as a whole, or use Gaussian or independent columns"
            )
        return whole

    def take(self, states: Any) -> Self:
        return type(self)(take_members(self.family, self._positions(states)))

    @property
    def summary(self) -> str:
        return type(self.family).__name__

    def __getitem__(self, state: int) -> Family:
        return self.family[state]

    def __repr__(self) -> str:
        return f"FamilyEmissions({self.family!r})"


class StudentEmissions(FamilyEmissions):
    """Student t vectors, one per class; missing entries are summed out, as marginals are Student t too."""

    family: MultivariateStudentT

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        if not np.isnan(rows).any():
            return self._log_prob_whole(rows)
        found = np.zeros((len(rows), self.num_states))
        for pattern, positions in group_by_pattern(~np.isnan(rows)):
            seen = np.flatnonzero(pattern)
            if len(seen):
                part = self.family.marginal(seen)
                found[positions] = part.log_prob(rows[np.ix_(positions, seen)][:, None])
        return found


def log_prior_of(prior: Any, family: Family) -> np.ndarray:
    """log p(parameters) of each member of the batch under the conjugate prior."""
    pair = find_pair(type(prior), type(family), family._known())
    names = [name.strip() for name in pair.parameter.split(" and ")]
    values = [value_of(family, name) for name in names]
    return np.asarray(prior.log_prob(values[0] if len(values) == 1 else tuple(values)))


def value_of(family: Family, name: str) -> Any:
    return 1 / np.asarray(family.variance) if name == "precision" else getattr(family, name)


def num_free(family: Family, name: str) -> int:
    """How many numbers of one parameter may be chosen freely."""
    rule, array = family.parameters[name], family._given[name]
    shape = array.shape[array.ndim - rule.axes :]
    if rule is POSITIVE_DEFINITE:
        return shape[0] * (shape[0] + 1) // 2
    return int(np.prod(shape)) - (rule is SIMPLEX)


def check_not_points(family: Family) -> None:
    """Raise where a density is all but a point."""
    if family.support.is_discrete:
        return
    try:
        deviation, center = np.sqrt(np.asarray(family.variance)), np.abs(family.mean)
    except Unsupported:  # tails without a variance are wide
        return
    narrow = np.isfinite(deviation) & (deviation <= np.maximum(NARROWEST * center, LEAST))  # infinite is wide
    if narrow.any():
        raise InvalidModel(f"a {type(family).__name__} with the deviation {deviation[narrow].min():.3g} is a point")


def suggest_remedy(emissions: Emissions, row: np.ndarray) -> str:
    """The end of a sentence about an impossible row; if the family never takes its value, the values it takes."""
    family = emissions.family if isinstance(emissions, FamilyEmissions) else None
    if family is None or family.support.contains(row).any():
        return ': give distributions that allow it, or start="random"'
    return f", as {type(family).__name__} takes {family.support}: correct the data, or take other distributions"


def full_members(family: Family) -> dict[str, np.ndarray]:
    """The parameters of a batch, each with an entry for every member."""
    parts = {}
    for name, array in family._given.items():
        event = array.shape[array.ndim - family.parameters[name].axes :]
        parts[name] = np.broadcast_to(array, family.batch_shape + event)
    return parts


def with_members(family: AnyFamily, positions: np.ndarray, members: Family) -> AnyFamily:
    """The batch with its members at these positions replaced."""
    parts = {name: array.copy() for name, array in full_members(family).items()}
    for name, array in parts.items():
        array[positions] = members._given[name]
    return type(family)(**parts | shared_known(family))


def take_members(family: AnyFamily, positions: Any) -> AnyFamily:
    """The batch of the members at these positions."""
    parts = {name: array[positions] for name, array in full_members(family).items()}
    return type(family)(**parts | shared_known(family))


def shared_known(family: Family) -> dict[str, np.ndarray]:
    """What must be known of the family and is the same for all members."""
    return {
        name: family._given[name] for name in family.required if name in family._given and not family._given[name].ndim
    }


def stack_members(families: list[Any]) -> Any:
    """One batch of single distributions of one class; what must be known and is the same in all stays one number."""
    first = families[0]
    parts = {name: np.stack([each._given[name] for each in families]) for name in first._given}
    same = {name for name in first.required if name in parts and (parts[name] == parts[name][0]).all()}
    return type(first)(**parts | {name: first._given[name] for name in same})


@singledispatch
def members_of(statistics: Statistics, positions: np.ndarray) -> Any:
    """The statistics of these members of a batch."""
    arrays = {
        name: getattr(statistics, name)[positions] for name in statistics._fields if name not in {"family", "known"}
    }
    return statistics._with(**arrays, known=known_at(statistics, positions))


def known_at(statistics: Statistics, positions: np.ndarray) -> Known:
    """What is known of these members; what all share stays as it is."""
    return known_of_members(statistics.family, statistics.known, statistics.batch_shape, positions)


@members_of.register
def _(statistics: Sample, positions: np.ndarray) -> Sample:
    return statistics._with(
        values=statistics.values[:, positions],
        weights=statistics.weights[:, positions],
        known=known_at(statistics, positions),
    )
