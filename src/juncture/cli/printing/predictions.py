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

    @abstractmethod
    def __add__(self, other: Self) -> Self: ...

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """How good predictions are where the value is known, which it is in some row."""

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
    losses: float  # the sum of -log p(true state)

    @classmethod
    def of(cls, variable: Variable, predicted: Dataset, data: Dataset) -> StateTally:
        codes, size = predicted.columns[variable.name], variable.num_states
        truth = data.columns.get(variable.name, np.full(len(codes), -1))
        is_known = (truth >= 0) & (codes >= 0)
        shares = np.stack([predicted.columns[each.name] for each in state_columns(predicted, variable)], axis=1)
        with np.errstate(divide="ignore"):
            losses = -np.log(shares[is_known, truth[is_known]])
        return cls(
            variable,
            int(np.sum(codes >= 0)),
            int(is_known.sum()),
            np.bincount(codes[codes >= 0], minlength=size),
            np.nansum(shares, axis=0),
            np.bincount(truth[is_known], minlength=size),
            int(np.sum((truth == codes) & is_known)),
            float(losses.sum()),
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
            losses=self.losses + other.losses,
        )

    @property
    def base_log_loss(self) -> float:
        """The log loss of the shares of the states among the known values."""
        shares = self.known[self.known > 0] / self.num_known
        return float(-(shares * np.log(shares)).sum())

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.num_known,
            "accuracy": self.num_right / self.num_known,
            "base_rate": int(self.known.max()) / self.num_known,
            "log_loss": finite_or_none(self.losses / self.num_known),
            "base_log_loss": self.base_log_loss,
        }

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
            out.print(
                f"log loss: {self.losses / self.num_known:.4f}; the shares of the states alone have"
                f" {self.base_log_loss:.4f}"
            )


@dataclass(frozen=True, eq=False)
class NumberTally(Tally):
    """Predictions of numbers."""

    smallest: float
    largest: float
    total: float
    deviations: float  # the sum of the standard deviations
    squares: float  # of the errors
    num_inside: int  # true numbers within the interval
    true_mean: float
    true_squares: float  # of the distances of the true numbers from their mean

    @classmethod
    def of(cls, variable: Variable, predicted: Dataset, data: Dataset) -> NumberTally:
        means, deviations, low, high = (predicted.columns[each.name] for each in predicted.variables)
        truth = data.columns.get(variable.name, np.full(len(means), np.nan))
        seen, is_known = means[~np.isnan(means)], ~np.isnan(truth) & ~np.isnan(means)
        true_mean = float(truth[is_known].mean()) if is_known.any() else 0.0
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
            true_mean,
            float(np.sum((truth[is_known] - true_mean) ** 2)),
        )

    def __add__(self, other: NumberTally) -> NumberTally:
        num_known = self.num_known + other.num_known
        weight = other.num_known / max(num_known, 1)
        step = other.true_mean - self.true_mean
        return NumberTally(
            self.variable,
            self.num_rows + other.num_rows,
            num_known,
            min(self.smallest, other.smallest),
            max(self.largest, other.largest),
            self.total + other.total,
            self.deviations + other.deviations,
            self.squares + other.squares,
            self.num_inside + other.num_inside,
            self.true_mean + weight * step,
            self.true_squares + other.true_squares + step**2 * weight * self.num_known,
        )

    @property
    def error(self) -> float:
        return math.sqrt(self.squares / self.num_known)

    @property
    def base_error(self) -> float:
        """The error of predicting the mean of the known numbers in each row."""
        return math.sqrt(self.true_squares / self.num_known)

    def to_dict(self) -> dict[str, Any]:
        return {
            "rows": self.num_known,
            "rmse": self.error,
            "base_rmse": self.base_error,
            "coverage": self.num_inside / self.num_known,
        }

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
            known = f"{self.num_known:,} rows with a known {self.variable.name}"
            out.print(f"root mean squared error: {self.error:.6g} in {known}")
            out.print(f"base: {self.base_error:.6g}, where their mean, {self.true_mean:.6g}, is predicted in each")
            out.print(f"coverage: {self.num_inside / self.num_known:.1%} of them lie between 5 % and 95 %")


def state_columns(predicted: Dataset, variable: Variable) -> tuple[Variable, ...]:
    """The columns of the probabilities of the states."""
    return predicted.variables[1 : 1 + variable.num_states]


def finite_or_none(number: float) -> float | None:
    """The number; None where it is infinite, which JSON does not have."""
    return number if math.isfinite(number) else None


def note_impossible(number: int, num_rows: int, named: Sequence[str], why: str) -> None:
    """Tell of rows that have probability zero, of which `named` are the first."""
    listed = [*named[:SHOWN], *([f"… ({number:,})"] if number > SHOWN else [])]
    print_note(
        f"warning: {number:,} of {num_rows:,} rows have probability zero and get no prediction:"
        f" {', '.join(listed)}; in the first of them, {why}"
    )


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
