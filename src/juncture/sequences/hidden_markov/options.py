"""Options of learning a hidden Markov model: its prior, the parts that stay fixed, the states that are tied."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from functools import singledispatch
from numbers import Real
from typing import Any, Literal

import numpy as np

from juncture.base.options import Options, check_names
from juncture.base.values import Value
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.family import FamilyEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.grouped import GroupedEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import MixtureEmissions
from juncture.components.posterior_point import check_point, less_one, prior_for_point
from juncture.components.shared import SharedEmissions
from juncture.data.tables.weights import check_prior_counts
from juncture.errors import InvalidData, hint
from juncture.families.constraints import NON_NEGATIVE, PROBABILITY, SIMPLEX
from juncture.families.family import Family
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.learning.conditionals.table import weighted_logs
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

SHARED = ("transition", "emissions")
PARTS = ("initial", "transition", "emissions")


class HiddenMarkovPrior(Value):
    """A prior for each part of a hidden Markov model; None for maximum likelihood.

    Probabilities that are zero in the model stay zero.

    Parameters
    ----------
    initial, transition
        A pseudo-count for every cell, an array of pseudo-counts, or a `Dirichlet`: one for all rows, or a batch with
        one for each row. Pseudo-counts and the concentrations of a `Dirichlet` are added to the counts, which gives
        the mean of the posterior. With `point="mode"` in `fit` each adds 1 less, and must be at least 1.
    emissions
        The prior that the emissions take: as above for tables, or a conjugate prior of their family, whose posterior
        mode is learned.

    Examples
    --------
    >>> HiddenMarkovPrior(transition=1.0)
    HiddenMarkovPrior(transition=1.0)
    """

    initial: Any
    transition: Any
    emissions: Any

    def __init__(self, initial: Any = None, transition: Any = None, emissions: Any = None) -> None:
        self._set(initial=initial, transition=transition, emissions=emissions)

    def __repr__(self) -> str:
        shown = (f"{name}={value!r}" for name in self._fields if (value := self.__dict__[name]) is not None)
        return f"HiddenMarkovPrior({', '.join(shown)})"


@dataclass(frozen=True)
class HiddenMarkovEstimate(Options):
    """How the parts of a hidden Markov model are estimated from counts.

    Parameters
    ----------
    fixed
        The names of parts that stay as they are: "initial", "transition", "emissions".
    point
        "mean": a number or a `Dirichlet` adds its counts to those of the data, as for networks. "mode": each adds 1
        less. Of conjugate priors of other families the mode is learned in either case.
    """

    fixed: Collection[str] = ()
    point: Literal["mean", "mode"] = "mean"

    def __post_init__(self) -> None:
        check_point(self.point)
        fixed_parts(self.fixed)


def as_prior(prior: Any, *, has_tables: bool) -> HiddenMarkovPrior:
    """The prior that is meant: a number counts in all tables, those of the emissions too if they have some."""
    if prior is None or isinstance(prior, HiddenMarkovPrior):
        return prior or HiddenMarkovPrior()
    if isinstance(prior, Real):
        return HiddenMarkovPrior(prior, prior, prior if has_tables else None)
    raise InvalidData(
        "the prior of a hidden Markov model is a pseudo-count for its tables, or"
        f" jt.HiddenMarkovPrior(initial=…, transition=…, emissions=…); got {prior!r}"
    )


def added_counts(prior: Any, allowed: np.ndarray, what: str, point: str = "mean") -> np.ndarray:
    """The prior's counts in each cell, none where the model forbids it: α for the mean, α - 1 for the mode."""
    if prior is None:
        return np.zeros(allowed.shape)
    try:
        given = np.asarray(prior.concentration if isinstance(prior, Dirichlet) else prior, dtype=np.float64)
        counts = np.broadcast_to(given, allowed.shape)
    except (TypeError, ValueError):
        raise InvalidData(
            f"the prior of {what} is a number, an array that broadcasts to the shape {allowed.shape}, or a Dirichlet;"
            f" got {prior!r}"
        ) from None
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise InvalidData(f"the prior of {what} must have finite counts of at least 0; got {prior!r}")
    check_prior_counts(counts, f"the counts of the prior of {what}")
    if point == "mode":
        counts = less_one(counts, f"the prior of {what}", prior)
    return np.where(allowed, counts, 0.0)


@dataclass(frozen=True, eq=False)
class Groups:
    """Which states share: the group of each state, and the first state of each group."""

    of_state: np.ndarray  # (state,)
    first: np.ndarray  # (group,)

    @classmethod
    def numbered(cls, labels: Any) -> Groups:
        """Groups in the order in which their labels come up."""
        positions: dict[Any, int] = {}
        of_state = np.array([positions.setdefault(label, len(positions)) for label in labels], dtype=np.int64)
        return cls(of_state, np.unique(of_state, return_index=True)[1])

    @property
    def are_single(self) -> bool:
        return len(self.first) == len(self.of_state)

    def pool(self, counts: np.ndarray) -> np.ndarray:
        """The sum over the states of each group: (group, …)."""
        if self.are_single:
            return counts
        total = np.zeros((len(self.first), *counts.shape[1:]))
        np.add.at(total, self.of_state, counts)
        return total

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Each state that shares, after the first of its group."""
        return (
            (int(self.first[group]), state) for state, group in enumerate(self.of_state) if self.first[group] != state
        )


def tied_states(model: HiddenMarkovModel, tied: Any, fixed: Collection[str] = ()) -> tuple[HiddenMarkovModel, Groups]:
    """The model in which tied states have what the first of them has, and which states share a row of transition.

    `tied` names what all states share, or maps the name to a group label for each state. What no learning could make
    the same is refused: other zeros, other kinds of distributions, and all that differs in a part that is fixed.
    """
    rows, emission_groups = (Groups.numbered(labels) for labels in group_labels(tied, model.num_states))
    for first, state in rows.pairs():
        check_tied_rows(model, first, state, "transition" in fixed)
    for first, state in emission_groups.pairs():
        check_tied_emissions(model, first, state, "emissions" in fixed)
    transition, emissions = model.transition, model.emissions
    if not rows.are_single:
        transition = transition[rows.first[rows.of_state]]
    if not emission_groups.are_single:
        emissions = SharedEmissions(emissions.take(emission_groups.first), emission_groups.of_state)
    return HiddenMarkovModel(model.initial, transition, emissions, states=model.states), rows


def check_tied_rows(model: HiddenMarkovModel, first: int, state: int, is_fixed: bool) -> None:
    one, other = model.transition[[first, state]]
    names = f"the states {model.states[first]!r} and {model.states[state]!r}"
    if is_fixed and not np.array_equal(one, other):
        raise InvalidData(
            f"transition is both tied and fixed, but the rows of {names} differ: give both the same row, or"
            " leave out tied or fixed"
        )
    if not np.array_equal(one > 0, other > 0):
        raise InvalidData(
            f"{names} share a row of transition, but have zeros at different positions: zeros stay zeros, so give them"
            " rows with the same zeros"
        )


def check_tied_emissions(model: HiddenMarkovModel, first: int, state: int, is_fixed: bool) -> None:
    one, other = model.emissions.take([first]), model.emissions.take([state])
    names = f"the states {model.states[first]!r} and {model.states[state]!r}"
    if is_fixed and one != other:
        raise InvalidData(
            f"emissions are both tied and fixed, but the distributions of {names} differ: give both the same"
            " distribution, or leave out tied or fixed"
        )
    if lasting_traits(one) != lasting_traits(other):
        raise InvalidData(
            f"{names} are tied and share a distribution, but have {one[0]!r} and {other[0]!r}: give them"
            " distributions of one kind, with the same zeros and the same known parameters, or remove the tie"
        )


def group_labels(tied: Any, num_states: int) -> list[list[Any]]:
    """A group label for each state: of its row, and of its emission."""
    groups = dict(tied) if isinstance(tied, Mapping) else {name: [0] * num_states for name in check_names(tied, "tied")}
    for name, labels in groups.items():
        if name not in SHARED:
            raise InvalidData(f"states may share transition or emissions, not {name!r}; {hint(name, SHARED)}")
        if isinstance(labels, str) or not isinstance(labels, Sized) or len(labels) != num_states:
            raise InvalidData(f"tied[{name!r}] has {num_states} group labels, one for each state; got {labels!r}")
    return [list(groups.get(name, range(num_states))) for name in SHARED]


@dataclass(frozen=True, eq=False)
class LearningOptions:
    """The prior, as counts where it is one of tables; the parts that stay; the states that share a row.

    Cells of `initial` and `transition` that the model has at zero are structure: they stay zero.
    """

    fixed: frozenset[str]
    rows: Groups
    may_begin: np.ndarray  # (state,)
    may_follow: np.ndarray  # (from, to)
    initial_counts: np.ndarray  # (state,)
    transition_counts: np.ndarray  # (group of rows, to)
    emissions_prior: Any

    @classmethod
    def of(
        cls, model: HiddenMarkovModel, rows: Groups, prior: Any, fixed: Iterable[str], point: Any = "mean"
    ) -> LearningOptions:
        parts = as_prior(prior, has_tables=model.emissions.is_table)
        may_begin, may_follow = model.initial > 0, model.transition > 0
        return cls(
            fixed=fixed_parts(fixed),
            rows=rows,
            may_begin=may_begin,
            may_follow=may_follow,
            initial_counts=added_counts(parts.initial, may_begin, "initial", point),
            transition_counts=added_counts(parts.transition, may_follow, "transition", point)[rows.first],
            emissions_prior=prior_for_point(parts.emissions, point),
        )

    def learns(self, part: str) -> bool:
        return part not in self.fixed

    def keeping(self, part: str) -> LearningOptions:
        """The same, but for a part that stays as it is."""
        return replace(self, fixed=self.fixed | {part})

    def log_prior(self, model: HiddenMarkovModel) -> float:
        """The log prior of all that is learned, up to a constant; what is shared counts once."""
        total = 0.0
        if self.learns("initial"):
            total += weighted_logs(self.initial_counts, model.initial)
        if self.learns("transition"):
            total += weighted_logs(self.transition_counts, model.transition[self.rows.first])
        if self.learns("emissions") and self.emissions_prior is not None:
            total += model.emissions.log_prior(self.emissions_prior)
        return total


def fixed_parts(fixed: Iterable[str]) -> frozenset[str]:
    """The parts that stay as they are."""
    names = check_names(fixed, "fixed")
    for name in names:
        if name not in PARTS:
            raise InvalidData(f"a hidden Markov model has no part {name!r}; {hint(name, PARTS)}")
    return frozenset(names)


WITH_EDGES = (PROBABILITY, NON_NEGATIVE, SIMPLEX)  # a distribution that is at such an edge stays there


@singledispatch
def lasting_traits(emissions: Emissions) -> Hashable:
    """Equal for emissions that can become the same by learning."""
    return type(emissions).__name__


@lasting_traits.register
def _(emissions: CategoricalEmissions) -> Hashable:
    return type(emissions), (emissions.probabilities > 0).tobytes()


@lasting_traits.register
def _(emissions: GaussianEmissions) -> Hashable:
    return type(emissions), emissions.structure


@lasting_traits.register
def _(emissions: FamilyEmissions) -> Hashable:
    family = emissions.family
    known = tuple(family._given[name].tobytes() for name in family.required)
    return type(family), known, tuple(edges(family, name) for name in family.parameters)


def edges(family: Family, name: str) -> Hashable:
    """Where a parameter is 0 or 1, if these are the ends of what it may be."""
    array = family._given[name]
    return ((array == 0).tobytes(), (array == 1).tobytes()) if family.parameters[name] in WITH_EDGES else None


@lasting_traits.register
def _(emissions: MixtureEmissions) -> Hashable:
    return type(emissions), (emissions.weights > 0).tobytes(), traits_of_states(emissions.components)


@lasting_traits.register
def _(emissions: IndependentEmissions) -> Hashable:
    return tuple(map(lasting_traits, emissions.parts))


@lasting_traits.register
def _(emissions: GroupedEmissions) -> Hashable:
    return traits_of_states(emissions)


def traits_of_states(emissions: Emissions) -> Hashable:
    return tuple(lasting_traits(emissions.take([state])) for state in range(emissions.num_states))
