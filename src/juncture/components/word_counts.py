"""Bags of words: counts of words given the class, under a multinomial, or with its probabilities integrated out.

Rows are (document, word), also a sparse matrix of SciPy. Both distributions are those of the counts given how many
words the document has, which the classes do not differ in.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from scipy.special import gammaln

from juncture.base.notes import NO_NOTES, Notes
from juncture.base.values import number_of, read_only
from juncture.components.contract import DEAD, Emissions, EmissionStatistics, in_one_line, raise_wrong_prior
from juncture.data.sequences import Sequences
from juncture.data.tables.weights import check_prior_counts
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.numerics import stable


class BagOfWords(Emissions):
    """What both distributions of counts share: their cells, the coefficient, and what they cannot do."""

    table: np.ndarray  # (class, word)

    @property
    def num_states(self) -> int:  # type: ignore[override]
        return len(self.table)

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (int(self.table.shape[1]),)

    def check(self, sequences: Sequences) -> Sequences:
        check_counts(sequences.observations)
        return replace(sequences, observations=np.asarray(sequences.observations, np.float64))

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> NoReturn:
        raise Unsupported("counts of words are drawn for documents of a known length: draw from jt.Multinomial")

    def take(self, states: Any) -> Self:
        return type(self)(self.table[self._positions(states)])  # type: ignore[call-arg]

    def __getitem__(self, state: int) -> np.ndarray:
        return self.table[self._position(state)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({in_one_line(self.table)})"


class MultinomialCounts(BagOfWords):
    """p(counts | class, length) = length! / Π counts! · Π θ[class, word]^count.

    Parameters
    ----------
    table
        θ, the probability of each word in each class: (class, word).

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(MultinomialCounts([[0.5, 0.5], [0.9, 0.1]]).log_prob(np.array([[1.0, 1.0]]))).round(3).tolist()
    [[0.5, 0.18]]
    """

    is_table: ClassVar[bool] = True

    def __init__(self, table: Any) -> None:
        shape = np.shape(table)
        if len(shape) != 2 or 0 in shape:
            raise InvalidModel(f"probabilities of words are (class, word); got an array of the shape {shape}")
        self._set(table=stable.as_probabilities(table, shape, name="the table of words"))

    @property
    def num_parameters(self) -> int:
        return int(self.table.size - len(self.table))

    @property
    def summary(self) -> str:
        return f"counts of {number_of(self.event_shape[0], 'word')}"

    @cached_property
    def log_table(self) -> np.ndarray:
        return read_only(stable.log(self.table))

    def log_prob(self, rows: Any) -> np.ndarray:
        never = np.isinf(self.log_table)
        found = np.asarray(rows @ np.where(never, 0.0, self.log_table).T) + log_coefficients(rows)[:, None]
        if never.any():
            found[np.asarray(rows @ never.T.astype(float)) > 0] = -np.inf
        return found

    def statistics(self, rows: Any, weights: np.ndarray) -> EmissionStatistics:
        """The part is the weighted count of each word in each class."""
        return EmissionStatistics(weights.sum(axis=0), [np.asarray(rows.T @ weights).T])

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        counts = statistics.parts[0] + self.added_counts(prior)
        totals = counts.sum(axis=1, keepdims=True)
        return type(self)(np.divide(counts, totals, out=self.table.copy(), where=totals > DEAD)), NO_NOTES

    def log_prior(self, prior: Any) -> float:
        added = self.added_counts(prior)
        return float((added * np.where(added > 0, self.log_table, 0.0)).sum())

    def added_counts(self, prior: Any) -> np.ndarray:
        """The counts that a prior adds: a number to each word, a Dirichlet its concentration less 1."""
        if prior is None or isinstance(prior, Real):
            added = np.asarray(float(prior or 0.0))
        elif isinstance(prior, Dirichlet):
            added = np.asarray(prior.concentration) - 1.0
        else:
            raise_wrong_prior(prior, self, "a number, added to each count, or a Dirichlet")
        if not (np.isfinite(added) & (added >= 0)).all():
            raise InvalidData(f"a prior adds counts of at least 0 to those of words; got {prior!r}")
        return check_prior_counts(np.broadcast_to(added, self.table.shape))


class DirichletCounts(BagOfWords):
    """p(counts | class, length) with the probabilities of words integrated out: a Dirichlet-multinomial.

    `table` is the concentration of the Dirichlet posterior of each class, (class, word).
    """

    def __init__(self, table: Any) -> None:
        if np.ndim(table) != 2 or not (np.asarray(table) > 0).all():
            raise InvalidModel("concentrations of words are positive numbers, (class, word)")
        self._set(table=read_only(table, np.float64))

    @property
    def num_parameters(self) -> int:
        return int(self.table.size)

    @property
    def summary(self) -> str:
        return f"counts of {number_of(self.event_shape[0], 'word')}, their probabilities integrated out"

    def log_prob(self, rows: Any) -> np.ndarray:
        total, length = self.table.sum(axis=1), np.asarray(rows.sum(axis=1), float).reshape(-1, 1)
        found = gammaln(total) - gammaln(total + length) + log_coefficients(rows)[:, None]
        index, word, count = cells_of(rows)
        for state, own in enumerate(self.table):
            grown = gammaln(own[word] + count) - gammaln(own[word])
            found[:, state] += np.bincount(index, grown, minlength=len(found))
        return np.asarray(found)


def cells_of(rows: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The document, the word and the count of each cell that is not zero."""
    if isinstance(rows, np.ndarray):
        index, word = np.nonzero(rows)
        return index, word, rows[index, word]
    found = rows.tocoo()
    return found.row, found.col, np.asarray(found.data, np.float64)


def log_coefficients(rows: Any) -> np.ndarray:
    """log of length! / Π counts! of each document."""
    index, _, count = cells_of(rows)
    length = np.asarray(rows.sum(axis=1), float).reshape(-1)
    return np.asarray(gammaln(length + 1.0) - np.bincount(index, gammaln(count + 1.0), minlength=len(length)))


def check_counts(rows: Any) -> None:
    """Refuse negative counts and holes; a count may be a fraction, as term weights are."""
    cells = rows if isinstance(rows, np.ndarray) else rows.data
    if np.isnan(cells).any():
        raise InvalidData(
            "a count of a word is missing, which a multinomial cannot sum out: 0 means that it is not there"
        )
    if (cells < 0).any():
        raise InvalidData(f"counts of words are at least 0; got {cells.min():g}")
