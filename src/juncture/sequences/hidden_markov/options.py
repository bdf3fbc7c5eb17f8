"""What is asked of the learning of a hidden Markov model: its prior, what stays as it is, and what is shared."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juncture.errors import InvalidData, hint
from juncture.learning.conditionals.table import weighted_logs
from juncture.options import check_names
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.prior import added_counts, as_prior
from juncture.sequences.hidden_markov.tied_states import Groups

PARTS = ("initial", "transition", "emissions")


@dataclass(frozen=True, eq=False)
class Wishes:
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
    def of(cls, model: HiddenMarkovModel, rows: Groups, prior: Any, fixed: Iterable[str]) -> Wishes:
        told = as_prior(prior, has_tables=model.emissions.is_table)
        may_begin, may_follow = model.initial > 0, model.transition > 0
        return cls(
            fixed=fixed_parts(fixed),
            rows=rows,
            may_begin=may_begin,
            may_follow=may_follow,
            initial_counts=added_counts(told.initial, may_begin, "initial"),
            transition_counts=added_counts(told.transition, may_follow, "transition")[rows.first],
            emissions_prior=told.emissions,
        )

    def learns(self, part: str) -> bool:
        return part not in self.fixed

    def keeping(self, part: str) -> Wishes:
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
