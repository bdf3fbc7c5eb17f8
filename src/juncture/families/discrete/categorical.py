"""Categorical: one of several states, numbered from 0; and labels as indicator vectors (`one_hot`), and back."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_count
from juncture.data.observations import as_values, check_inside
from juncture.errors import InvalidData
from juncture.families.constraints import COUNT, SIMPLEX
from juncture.families.discrete.whole_numbers import falls_short
from juncture.families.exponential_family import ExponentialFamily, sum_in_order
from juncture.families.family import Real, plain
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.statistics.sums import weighted_sum
from juncture.families.supports import Integers
from juncture.numerics import stable
from juncture.runtime.memory import check_table_fits
from juncture.runtime.parallel import map_blocks


class Categorical(ExponentialFamily):
    """p(x) = π_x for a label x = 0..K-1: u = one-hot x, η = log π (over-complete), A = log Σ e^η.

    Observations are labels, or rows that count states (one-hot rows are counts of one observation): for a single
    distribution and for statistics, an array of two or more axes is always rows, with the states along its last axis.

    >>> Categorical.estimate(Categorical.statistics([0, 2, 2, 1], num_states=3))
    Categorical(probabilities=[0.25, 0.25, 0.5])
    >>> Categorical.statistics([[1, 0, 0], [0, 1, 2]]) == Categorical.statistics([0, 2, 2, 1], num_states=3)
    True
    """

    parameters: ClassVar = {"probabilities": SIMPLEX}
    required: ClassVar = {"num_states": COUNT}
    probabilities: np.ndarray

    def __init__(self, probabilities: Any) -> None:
        self._declare(probabilities=probabilities)

    @property
    def num_states(self) -> int:
        return int(self._given["probabilities"].shape[-1])

    @classmethod
    def _support_given(cls, known: Known) -> Integers:
        return Integers(0, known["num_states"] - 1)

    def _known(self) -> dict[str, np.ndarray]:
        return {"num_states": np.asarray(float(self.num_states))}

    @classmethod
    def _check_known(cls, known: dict[str, Any]) -> Known:
        return super()._check_known(known) if known else {}  # the parameters fix the number of states

    # -- the exponential family

    def _natural(self) -> np.ndarray:
        return stable.log(self._given["probabilities"])

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        return cls(stable.softmax(natural))

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return stable.softmax(natural)

    def _mean(self) -> np.ndarray:
        return self._given["probabilities"]

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        return cls(mean)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return stable.log_sum_exp(natural, axis=-1)

    @classmethod
    def _sufficient(cls, x: np.ndarray, known: Known) -> np.ndarray:
        return one_hot(x, int(known["num_states"])).astype(float)

    def _minimal_map(self) -> tuple[np.ndarray, np.ndarray]:
        """The indicator of state 0 is 1 minus the others."""
        return without_first(self.num_states), np.eye(self.num_states)[0]

    def sufficient_statistics(self, x: Any) -> np.ndarray:
        """u(x), along a new last axis; rows of counts are their own."""
        values = as_values(x, (), name="Categorical")
        return self._rows(values).astype(float) if self._are_rows(values) else super().sufficient_statistics(values)

    # -- densities and draws

    def log_prob(self, x: Any) -> Real:
        """log π_x of each label; of a row of counts, the sum over its observations. -inf for other labels."""
        values = as_values(x, (), name="Categorical")
        if not self._are_rows(values):
            return super().log_prob(values)
        natural = self._natural()
        seen = np.isfinite(natural)
        found = self._rows(values)[..., seen] @ natural[seen]
        return np.where((values[..., ~seen] > 0).any(axis=-1), -np.inf, found)

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        return pick_entries(self._natural(), x)

    def _are_rows(self, values: np.ndarray) -> bool:
        return not self.batch_shape and values.ndim >= 2

    def _rows(self, values: np.ndarray) -> np.ndarray:
        """Rows of counts, checked."""
        rows = as_values(values, (self.num_states,), name="Categorical")
        check_rows(rows)
        return rows

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        chances, sums = rng.random(shape), self._cumulative()
        if not self.batch_shape:
            return np.asarray(np.searchsorted(sums, chances, side="right"))
        return np.asarray((chances[..., None] >= sums).sum(axis=-1))

    def _cumulative(self) -> np.ndarray:
        """P(X ≤ k), the last of them exactly 1."""
        sums = np.cumsum(self._given["probabilities"], axis=-1)
        return sums / sums[..., -1:]

    # -- moments of the labels

    @property
    def mean(self) -> Real:
        return plain(self._given["probabilities"] @ np.arange(self.num_states))

    @property
    def variance(self) -> Real:
        from_mean = np.arange(self.num_states) - np.asarray(self.mean)[..., None]
        return plain((self._given["probabilities"] * from_mean**2).sum(axis=-1))

    @property
    def mode(self) -> Real:
        return plain(self._given["probabilities"].argmax(axis=-1))

    def _cdf(self, x: np.ndarray) -> np.ndarray:
        label = np.floor(np.clip(x, 0, self.num_states - 1))
        return np.where(x < 0, 0.0, pick_entries(self._cumulative(), label))

    def _sf(self, x: np.ndarray) -> np.ndarray:
        label = np.floor(np.clip(x, 0, self.num_states - 1))
        return np.where(x < 0, 1.0, pick_entries(self._remaining(), label))

    def _remaining(self) -> np.ndarray:
        """P(X > k), added up from the last state."""
        sums = np.cumsum(self._given["probabilities"][..., ::-1], axis=-1)[..., ::-1]
        left = np.concatenate([sums[..., 1:], np.zeros_like(sums[..., :1])], axis=-1)
        return left / sums[..., :1]

    def _quantile(self, probability: np.ndarray) -> np.ndarray:
        return np.asarray(falls_short(self._cumulative(), self._remaining(), probability[..., None]).sum(axis=-1))

    # -- learning

    @classmethod
    def _known_from(cls, x: Any, known: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        shape = as_values(x, (), name="Categorical").shape
        if "num_states" not in known and len(shape) >= 2:
            return known | {"num_states": np.asarray(float(shape[-1]))}
        if "num_states" in known and known["num_states"].ndim:
            raise InvalidData("num_states is one number for all statistics of a Categorical")
        if "num_states" in known:
            count = int(known["num_states"])
            check_table_fits(
                (count,), f"the counts of {count:,} states", "group the states, or number those that occur"
            )
        return known

    @classmethod
    def _event_shape_given(cls, x: Any, known: Known) -> tuple[int, ...]:
        return (int(known["num_states"]),) if as_values(x, (), name="Categorical").ndim >= 2 else ()

    @classmethod
    def _summarise(cls, rows: np.ndarray, weights: np.ndarray | None, known: Known) -> Statistics:
        def count_states(block: slice) -> np.ndarray:
            part, weight = rows[block], None if weights is None else weights[block]
            if rows.ndim > 1:
                check_rows(part, block.start)
                return weighted_sum(part, weight, axes=1)
            cls._check_rows(part, known, block.start)
            return label_counts(part, weight, int(known["num_states"]))

        total = sum_in_order(map_blocks(count_states, len(rows)) or [count_states(slice(0, 0))])
        return Statistics(cls, weight=total.sum(axis=-1), total=total, log_base=np.zeros(total.shape[:-1]), known=known)


def label_counts(labels: np.ndarray, weights: np.ndarray | None, num_states: int) -> np.ndarray:
    """How often, or with what weight, each state occurs: (*batch, state) for labels and weights (row, *batch)."""
    codes = labels.astype(np.intp, copy=False)
    if weights is None and labels.ndim == 1:
        return np.bincount(codes, minlength=num_states)
    batch = np.broadcast_shapes(labels.shape[1:], () if weights is None else weights.shape[1:])
    counts = np.empty((*batch, num_states))
    for index in np.ndindex(batch):
        column = codes[:, *index] if labels.ndim > 1 else codes
        weight = weights[:, *index] if weights is not None and weights.ndim > 1 else weights
        counts[index] = np.bincount(column, weight, minlength=num_states)
    return counts


def check_rows(rows: np.ndarray, first_row: int = 0) -> None:
    """Raise for the first row that holds something else than counts."""
    inside = np.asarray(Integers().contains(rows).all(axis=-1))
    check_inside(rows, inside, name="Categorical", support="counts of at least 0, one per state", first_row=first_row)


def pick_entries(tables: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """tables[..., code], with one table per member of the batch, against which the codes broadcast."""
    codes = codes.astype(np.intp, copy=False)
    if tables.ndim == 1:
        return np.asarray(tables.take(codes))
    size = tables.shape[-1]
    first = np.arange(0, tables.size, size).reshape(tables.shape[:-1])
    return tables.reshape(-1).take(first + codes)


def without_first(num_states: int) -> np.ndarray:
    """C with u = C t + b, where t are all the counts but the first: (state, state - 1)."""
    return np.vstack([-np.ones((1, num_states - 1)), np.eye(num_states - 1)])


def one_hot(labels: Any, num_states: int) -> np.ndarray:
    """One-hot vectors: 1 at the index of each label and 0 elsewhere, along a new last axis.

    Parameters
    ----------
    labels
        Whole numbers from 0 to num_states - 1, in an array of any shape.
    num_states
        The length of each vector.

    Returns
    -------
    numpy.ndarray
        Of the shape (*labels.shape, num_states).

    Examples
    --------
    >>> one_hot([3, 0], num_states=5)
    array([[0, 0, 0, 1, 0],
           [1, 0, 0, 0, 0]])
    """
    num_states = check_count(num_states, "num_states", least=1)
    values = as_values(labels, (), name="one_hot")
    labels = values[None] if values.ndim == 0 else values
    check_inside(labels, Integers(0, num_states - 1).contains(labels), name="one_hot", support=states(num_states))
    return np.asarray(values[..., None] == np.arange(num_states), dtype=np.int64)


def from_one_hot(rows: Any) -> np.ndarray:
    """The index of the 1 along the last axis.

    Parameters
    ----------
    rows
        Arrays with one 1 and otherwise zeros along the last axis.

    Returns
    -------
    numpy.ndarray
        The positions.

    Examples
    --------
    >>> from_one_hot([[0, 0, 0, 1, 0], [1, 0, 0, 0, 0]])
    array([3, 0])
    """
    values = as_values(rows, (), name="from_one_hot")
    if values.ndim == 0 or values.shape[-1] == 0:
        raise InvalidData(f"one-hot rows have a last axis with one entry per state; got an array of {values.shape}")
    inside = ((values == 0) | (values == 1)).all(axis=-1) & (values.sum(axis=-1) == 1)
    wide, inside = (values[None], inside[None]) if values.ndim == 1 else (values, inside)
    check_inside(wide, inside, name="from_one_hot", support="zeros and a single 1")
    return np.asarray(values.argmax(axis=-1))


def states(num_states: int) -> str:
    return f"a label from 0 to {num_states - 1}"
