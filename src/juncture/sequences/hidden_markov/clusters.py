"""Clusters of observations, from which the first emissions of the states are estimated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.data.sequences import Sequences
from juncture.errors import InvalidData, MissingExtra, Unsupported
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

MAX_STEPS = 50_000  # clusters are sought among these; further steps only join them


@dataclass(frozen=True, eq=False)
class Clusters:
    """k-means of the standardised observations: holes count as average."""

    mean: np.ndarray  # (column,)
    scale: np.ndarray  # (column,)
    centers: Any  # the k-means
    state_of: np.ndarray  # (cluster,)

    @classmethod
    def of(cls, model: HiddenMarkovModel, sequences: Sequences, rng: np.random.Generator) -> Clusters:
        check_clusterable(model, sequences)
        rows = columns_of(sequences.observations)[:: -(-sequences.num_steps // MAX_STEPS)]
        mean, deviation = column_moments(rows)
        scale = np.where(deviation > 0, deviation, 1.0)
        centers = k_means(standardise(rows, mean, scale), model.num_states, int(rng.integers(2**31)))
        found = cls(mean, scale, centers, np.arange(model.num_states))
        return cls(
            mean, scale, centers, assign_states(found.numbers(sequences.observations), sequences, model.num_states)
        )

    def numbers(self, observations: np.ndarray) -> np.ndarray:
        """The cluster that each step is nearest to, as its state: (step,)."""
        rows = standardise(columns_of(observations), self.mean, self.scale)
        return np.asarray(self.state_of[self.centers.predict(rows)])


def columns_of(observations: np.ndarray) -> np.ndarray:
    return observations.reshape(len(observations), int(np.prod(observations.shape[1:]))).astype(np.float64)


def column_moments(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of what is there in each column; 0 where nothing is, or where all is the same."""
    if not len(rows):
        return np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    seen = ~np.isnan(rows)
    number = np.maximum(seen.sum(axis=0), 1)
    first = np.where(seen.any(axis=0), rows[np.argmax(seen, axis=0), np.arange(rows.shape[1])], 0.0)
    shift = np.where(seen, rows - first, 0.0)  # exactly 0 in a column that is constant
    mean = shift.sum(axis=0) / number
    return first + mean, np.sqrt(np.where(seen, (shift - mean) ** 2, 0.0).sum(axis=0) / number)


def standardise(rows: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(rows), 0.0, (rows - mean) / scale)


def k_means(rows: np.ndarray, number: int, seed: int) -> Any:
    try:
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtra.named("scikit-learn", "sklearn") from None
    with warnings.catch_warnings(), threadpool_limits(1):  # or the order in which threads add would show in the sums
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters: some stay empty
        return KMeans(number, n_init=3, random_state=seed).fit(rows)


def assign_states(numbers: np.ndarray, sequences: Sequences, num_states: int) -> np.ndarray:
    """The state for each cluster: the most frequent label of its steps, else in the order in which sequences pass."""
    from scipy.optimize import linear_sum_assignment

    passed = fraction_passed(sequences, slice(0, sequences.num_steps))
    sizes = np.maximum(np.bincount(numbers, minlength=num_states), 1)
    average = np.bincount(numbers, passed, minlength=num_states) / sizes  # (cluster,)
    together = np.zeros((num_states, num_states))  # (cluster, state)
    if sequences.states is not None:
        known = sequences.states >= 0
        np.add.at(together, (numbers[known], sequences.states[known]), 1.0)
    gaps = np.abs(np.argsort(np.argsort(average))[:, None] - np.arange(num_states)) / num_states**2
    return np.asarray(linear_sum_assignment(gaps - together)[1])


def fraction_passed(sequences: Sequences, steps: slice) -> np.ndarray:
    """How much of its sequence lies before each step, from 0 up to 1."""
    own = np.arange(*steps.indices(sequences.num_steps))
    position = np.searchsorted(sequences.offsets, own, side="right") - 1
    return (own - sequences.offsets[position]) / sequences.lengths[position]


def check_clusterable(model: HiddenMarkovModel, sequences: Sequences) -> None:
    if model.emissions.is_table or model.emissions.takes_minus_infinity:
        raise Unsupported(
            f"k-means clusters observed numbers, which {type(model.emissions).__name__} have not: start at random"
        )
    if sequences.num_steps < model.num_states:
        raise InvalidData(
            f"k-means needs a step for each of the {model.num_states} states; there are {sequences.num_steps}"
        )
