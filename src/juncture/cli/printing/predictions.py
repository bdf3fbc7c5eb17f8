"""Answers in many rows and about real-valued variables, as the command line prints them.

The summary of predictions of one variable in many rows adds up over blocks. Of a real-valued variable there are the
mean, the standard deviation and an interval.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from juncture.cli.printing.output import console, print_note
from juncture.cli.printing.tables import table
from juncture.data.dataset import Dataset
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.predictions import LEVELS
from juncture.variables import Variable

SHOWN = 5  # rows that a note names


@dataclass(frozen=True, eq=False)
class Tally(ABC):
    """What predictions come to: those of two blocks add up to those of both."""

    variable: Variable
    num_rows: int  # without those that are impossible
    num_known: int  # rows whose value is known, and could be predicted

    @classmethod
    @abstractmethod
    def of(cls, variable: Variable, predicted: Dataset, data: Dataset) -> Self: ...

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def print(self, title: str, method: str) -> None:
        """The summary, how it was obtained, and how good predictions are where the value is known."""


@dataclass(frozen=True, eq=False)
class StateTally(Tally):
    """Predictions of states."""

    counts: np.ndarray  # (state,): how often each is predicted
    probabilities: np.ndarray  # (state,): sums
    known: np.ndarray  # (state,): how often each is the true one
    num_right: int

    @classmethod
    def of(cls, variable: Variable, predicted: Dataset, data: Dataset) -> StateTally:
        codes, size = predicted.columns[variable.name], variable.num_states
        truth = data.columns.get(variable.name, np.full(len(codes), -1))
        is_known = truth >= 0
        return cls(
            variable,
            int(np.sum(codes >= 0)),
            int(is_known.sum()),
            np.bincount(codes[codes >= 0], minlength=size),
            np.array([np.nansum(predicted.columns[each.name]) for each in predicted.variables[1:]]),
            np.bincount(truth[is_known], minlength=size),
            int(np.sum((truth == codes) & is_known)),
        )

    def __add__(self, other: StateTally) -> StateTally:
        return replace(
            self,
            num_rows=self.num_rows + other.num_rows,
            num_known=self.num_known + other.num_known,
            counts=self.counts + other.counts,
            probabilities=self.probabilities + other.probabilities,
            known=self.known + other.known,
            num_right=self.num_right + other.num_right,
        )

    def print(self, title: str, method: str) -> None:
        out, name, labels = console(), self.variable.name, self.variable.labels
        summary = table(title, "state", "rows", "mean probability", numeric=("rows", "mean probability"))
        for label, count, total in zip(labels, self.counts, self.probabilities, strict=True):
            summary.add_row(str(label), f"{count:,}", f"{total / self.num_rows if self.num_rows else math.nan:.6f}")
        out.print(summary)
        out.print(method)
        if self.num_known:
            most = int(self.known.argmax())
            known = f"{self.num_known:,} rows with a known {name}"
            out.print(f"accuracy: {self.num_right:,} of {known} are predicted correctly")
            out.print(f"base rate: {self.known[most]:,} of them have the most frequent state, {labels[most]}")


@dataclass(frozen=True, eq=False)
class NumberTally(Tally):
    """Predictions of numbers."""

    smallest: float
    largest: float
    total: float
    deviations: float  # the sum of the standard deviations
    squares: float  # of the errors
    num_inside: int  # true numbers within the interval

    @classmethod
    def of(cls, variable: Variable, predicted: Dataset, data: Dataset) -> NumberTally:
        means, deviations, low, high = (predicted.columns[each.name] for each in predicted.variables)
        truth = data.columns.get(variable.name, np.full(len(means), np.nan))
        seen, is_known = means[~np.isnan(means)], ~np.isnan(truth) & ~np.isnan(means)
        return cls(
            variable,
            len(seen),
            int(is_known.sum()),
            float(seen.min(initial=math.inf)),
            float(seen.max(initial=-math.inf)),
            float(seen.sum()),
            float(np.nansum(deviations)),
            float(np.sum((truth - means)[is_known] ** 2)),
            int(np.sum((truth >= low) & (truth <= high) & is_known)),
        )

    def __add__(self, other: NumberTally) -> NumberTally:
        return NumberTally(
            self.variable,
            self.num_rows + other.num_rows,
            self.num_known + other.num_known,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.total + other.total,
            self.deviations + other.deviations,
            self.squares + other.squares,
            self.num_inside + other.num_inside,
        )

    def print(self, title: str, method: str) -> None:
        out = console()
        heads = ("rows", "smallest", "mean", "largest", "mean standard deviation")
        summary = table(title, *heads, numeric=heads)
        if self.num_rows:
            numbers = (self.smallest, self.total / self.num_rows, self.largest, self.deviations / self.num_rows)
            summary.add_row(f"{self.num_rows:,}", *(f"{number:.6g}" for number in numbers))
        out.print(summary)
        out.print(method)
        if self.num_known:
            error, inside = math.sqrt(self.squares / self.num_known), self.num_inside / self.num_known
            out.print(
                f"of {self.num_known:,} rows with a known {self.variable.name}: root mean squared error {error:.6g};"
                f" {inside:.1%} lie between 5 % and 95 %"
            )


def note_impossible(number: int, num_rows: int, named: Sequence[str], why: str) -> None:
    """Tell of rows that have probability zero, of which `named` are the first."""
    listed = [*named[:SHOWN], *([f"… ({number:,})"] if number > SHOWN else [])]
    print_note(
        f"warning: {number:,} of {num_rows:,} rows have probability zero and get no prediction:"
        f" {', '.join(listed)}; in the first of them, {why}"
    )


def tally_of(variable: Variable, predicted: Dataset, data: Dataset) -> Tally:
    return (NumberTally if variable.is_real else StateTally).of(variable, predicted, data)


def numbers_of(marginal: Any) -> dict[str, float]:
    """What is printed of the marginal of one row."""
    ends = {level: float(marginal.quantile(share)) for level, share in LEVELS.items()}
    return {"mean": float(marginal.mean), "standard deviation": float(np.sqrt(marginal.variance)), **ends}


def numbers_document(predicted: Dataset, variable: Variable, beliefs: Beliefs) -> dict[str, Any]:
    """The prediction of a number in each row, None where a row is impossible."""
    columns = [[None if np.isnan(x) else x for x in column.tolist()] for column in predicted.columns.values()]
    return {
        "target": variable.name,
        "method": beliefs.method,
        "exact": beliefs.exact,
        **dict(zip(("predicted", "standard deviation", *LEVELS), columns, strict=True)),
        "impossible": list(beliefs.impossible),
    }
