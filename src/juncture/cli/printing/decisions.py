"""`juncture predict --cost`: the decision of least expected loss in each row, and what the decisions come to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from juncture.cli.printing.output import console
from juncture.cli.printing.predictions import NumberTally, StateTally, Tally, state_columns
from juncture.cli.printing.tables import table
from juncture.data.dataset import Dataset
from juncture.evaluation.decisions.loss_matrix import LossMatrix
from juncture.variables import Variable

DECISION, EXPECTED = "decision", "expected loss"  # the columns that are added


class Costs(NamedTuple):
    """The losses of decisions, and the file that has them."""

    losses: LossMatrix
    file: str


def add_decisions(predicted: Dataset, variable: Variable, costs: Costs | None) -> Dataset:
    """The predictions with the decision of least expected loss; of several, the first. Without costs as they are."""
    if costs is None:
        return predicted
    shares = np.stack([predicted.columns[each.name] for each in state_columns(predicted, variable)], axis=1)
    is_possible = ~np.isnan(shares).any(axis=1)
    expected = costs.losses.expected(shares[is_possible])
    codes, least = np.full(len(shares), -1), np.full(len(shares), np.nan)
    codes[is_possible], least[is_possible] = expected.argmin(axis=1), expected.min(axis=1)
    variables = [*predicted.variables, Variable(DECISION, costs.losses.actions), Variable(EXPECTED)]
    return Dataset.from_codes(variables, {**predicted.columns, DECISION: codes, EXPECTED: least})


@dataclass(frozen=True, eq=False)
class DecisionTally(Tally):
    """Decisions about a state, beside the predictions of it."""

    states: StateTally
    costs: Costs
    counts: np.ndarray  # (action,): how often each is decided
    expected: np.ndarray  # (action,): sums of expected losses
    pairs: np.ndarray  # (state, action): how often each is decided where each is true

    @classmethod
    def of_costs(cls, variable: Variable, predicted: Dataset, data: Dataset, costs: Costs) -> DecisionTally:
        states, size = StateTally.of(variable, predicted, data), len(costs.losses.actions)
        codes, expected = predicted.columns[DECISION], predicted.columns[EXPECTED]
        truth = data.columns.get(variable.name, np.full(len(codes), -1))
        known = (truth >= 0) & (codes >= 0)
        decided = codes >= 0
        pairs = np.zeros((variable.num_states, size), np.int64)
        np.add.at(pairs, (truth[known], codes[known]), 1)
        counts = np.bincount(codes[decided], minlength=size)
        sums = np.bincount(codes[decided], expected[decided], size)
        return cls(variable, states.num_rows, states.num_known, states, costs, counts, sums, pairs)

    def __add__(self, other: DecisionTally) -> DecisionTally:
        return replace(
            self,
            num_rows=self.num_rows + other.num_rows,
            num_known=self.num_known + other.num_known,
            states=self.states + other.states,
            counts=self.counts + other.counts,
            expected=self.expected + other.expected,
            pairs=self.pairs + other.pairs,
        )

    @property
    def mean_loss(self) -> float:
        """What the decisions lose in a row whose state is known."""
        return float((self.pairs * self.costs.losses.values).sum() / self.num_known)

    @property
    def base(self) -> tuple[Any, float]:
        """The decision that loses least where it is taken in each of these rows, and what it loses in a row."""
        means = self.pairs.sum(axis=1) @ self.costs.losses.values / self.num_known
        best = int(means.argmin())
        return self.costs.losses.actions[best], float(means[best])

    def to_dict(self) -> dict[str, Any]:
        action, loss = self.base
        return {**self.states.to_dict(), "mean_loss": self.mean_loss, "base_decision": action, "base_loss": loss}

    def print(self, title: str, method: str) -> None:
        self.states.print(title, method)
        out, heads = console(), ("decision", "rows", "mean expected loss")
        summary = table(f"decided by the least expected loss of {self.costs.file}", *heads, numeric=heads[1:])
        for action, count, total in zip(self.costs.losses.actions, self.counts, self.expected, strict=True):
            summary.add_row(str(action), f"{count:,}", f"{total / count:.6g}" if count else "")
        out.print()
        out.print(summary)
        if self.num_known:
            action, loss = self.base
            out.print(f"mean loss: {self.mean_loss:.6g} in {self.num_known:,} rows with a known {self.variable.name}")
            out.print(f"base: {loss:.6g}, where {action} is decided in each")


def tally_of(variable: Variable, predicted: Dataset, data: Dataset, costs: Costs | None = None) -> Tally:
    """What predictions come to, and decisions where there are costs."""
    if costs is not None:
        return DecisionTally.of_costs(variable, predicted, data, costs)
    return NumberTally.of(variable, predicted, data) if variable.is_real else StateTally.of(variable, predicted, data)
