"""States that share a row of the transition or an emission: learned together, from the sum of what each saw."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.components.shared import SharedEmissions
from juncture.components.traits import lasting_traits
from juncture.errors import InvalidData, hint
from juncture.options import check_names
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

SHARED = ("transition", "emissions")


@dataclass(frozen=True, eq=False)
class Groups:
    """Which states share: the group of each state, and the first state of each group."""

    of_state: np.ndarray  # (state,)
    first: np.ndarray  # (group,)

    @classmethod
    def numbered(cls, labels: Any) -> Groups:
        """Groups in the order in which their labels come up."""
        places: dict[Any, int] = {}
        of_state = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
        return cls(of_state, np.unique(of_state, return_index=True)[1])

    @property
    def are_single(self) -> bool:
        return len(self.first) == len(self.of_state)

    def pooled(self, counts: np.ndarray) -> np.ndarray:
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
    the same is refused: other zeros, other kinds of laws, and all that differs in a part that is fixed.
    """
    rows, laws = (Groups.numbered(labels) for labels in labels_of(tied, model.num_states))
    for first, state in rows.pairs():
        refuse_unlike_rows(model, first, state, "transition" in fixed)
    for first, state in laws.pairs():
        refuse_unlike_laws(model, first, state, "emissions" in fixed)
    transition, emissions = model.transition, model.emissions
    if not rows.are_single:
        transition = transition[rows.first[rows.of_state]]
    if not laws.are_single:
        emissions = SharedEmissions(emissions.take(laws.first), laws.of_state)
    return HiddenMarkovModel(model.initial, transition, emissions, states=model.states), rows


def refuse_unlike_rows(model: HiddenMarkovModel, first: int, state: int, is_fixed: bool) -> None:
    one, other = model.transition[[first, state]]
    names = f"the states {model.states[first]!r} and {model.states[state]!r}"
    if is_fixed and not np.array_equal(one, other):
        raise InvalidData(
            f"transition is both tied and fixed, but the rows of {names} differ: give them one row, or drop one wish"
        )
    if not np.array_equal(one > 0, other > 0):
        raise InvalidData(
            f"{names} share a row of transition, but have zeros at different places: zeros stay zeros, so give them"
            " rows with the same zeros"
        )


def refuse_unlike_laws(model: HiddenMarkovModel, first: int, state: int, is_fixed: bool) -> None:
    one, other = model.emissions.take([first]), model.emissions.take([state])
    names = f"the states {model.states[first]!r} and {model.states[state]!r}"
    if is_fixed and one != other:
        raise InvalidData(
            f"emissions are both tied and fixed, but the laws of {names} differ: give them one law, or drop one wish"
        )
    if lasting_traits(one) != lasting_traits(other):
        raise InvalidData(
            f"{names} share a law, but have {one[0]!r} and {other[0]!r}: give them laws of one kind, with the same"
            " zeros and the same known parameters"
        )


def labels_of(tied: Any, num_states: int) -> list[list[Any]]:
    """A group label for each state: of its row, and of its emission."""
    told = dict(tied) if isinstance(tied, Mapping) else {name: [0] * num_states for name in check_names(tied, "tied")}
    for name, labels in told.items():
        if name not in SHARED:
            raise InvalidData(f"states may share transition or emissions, not {name!r}; {hint(name, SHARED)}")
        if isinstance(labels, str) or not hasattr(labels, "__len__") or len(labels) != num_states:
            raise InvalidData(f"tied[{name!r}] has {num_states} group labels, one for each state; got {labels!r}")
    return [list(told.get(name, range(num_states))) for name in SHARED]
