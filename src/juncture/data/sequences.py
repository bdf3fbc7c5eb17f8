"""`Sequence` and `Sequences`: observations in time order, with labels, covariates and weights where there are any.

A 1-D array or a list of scalars is one sequence, a 2-D array or a frame one sequence of vectors, a list of these many.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod
from typing import Any, ClassVar

import numpy as np

from juncture.base.values import Value, content_key, number_of, read_only
from juncture.data.findings import row_index
from juncture.data.sequence_steps import (
    Find,
    as_codes,
    as_steps,
    check_finite,
    reshape_steps,
    split_sequences,
)
from juncture.data.tables.foreign import unwrap_frame
from juncture.data.tables.weights import check_total
from juncture.errors import InvalidData
from juncture.variables import is_missing

UNKNOWN = -1


class Sequence(Value):
    """Observations in time order, with labels of the hidden states, inputs and a weight where there are any.

    Parameters
    ----------
    observations
        One entry per step: a list, an array or a frame; None or NaN for a missing value.
    states
        The label of the hidden state of each step, None where the state is unknown.
    covariates
        The inputs of each step, (step, input).
    weight
        The weight of the sequence in learning.

    Examples
    --------
    >>> Sequence([1.5, None, 2.0], states=["low", None, "high"]).num_steps
    3
    """

    observations: np.ndarray  # (step, *event)
    states: np.ndarray | None  # (step,)
    covariates: np.ndarray | None  # (step, input)
    weight: float
    index: Any  # of the frame of the observations, or None; it is not compared
    seed: ClassVar[int | None] = None  # `rng=sequence.seed` draws the sequence again; not compared, not kept

    def __init__(self, observations: Any, states: Any = None, covariates: Any = None, weight: float = 1.0) -> None:
        steps = read_only(as_steps(observations, where=""))
        labels = None if states is None else read_only(as_steps(states, where="", is_label=True))
        inputs = None if covariates is None else read_only(as_inputs(covariates), np.float64)
        for name, given in (("states", labels), ("covariates", inputs)):
            if given is not None and len(given) != len(steps):
                raise InvalidData(f"a sequence of {len(steps)} steps has as many {name}; got {len(given)}")
        self._set(observations=steps, states=labels, covariates=inputs, weight=check_weight(weight))
        self._set(index=row_index(observations))

    def with_seed(self, seed: int) -> Sequence:
        """The same sequence, which was drawn with this seed."""
        sequence = type(self).__new__(type(self))
        sequence._set(**{name: self.__dict__[name] for name in self._fields}, seed=seed)
        return sequence

    def _key(self) -> Hashable:
        return tuple(content_key(self.__dict__[name]) for name in self._fields if name != "index")

    @property
    def num_steps(self) -> int:
        return len(self.observations)

    def __len__(self) -> int:
        return self.num_steps

    def __repr__(self) -> str:
        shape = self.observations.shape[1:]
        event = f" of {number_of(prod(shape), 'value')}" if shape else ""
        inputs = "" if self.covariates is None else f", {number_of(self.covariates.shape[1], 'covariate')}"
        weight = "" if self.weight == 1 else f", weight={self.weight:g}"
        return f"Sequence({number_of(self.num_steps, 'step')}{event}{self._format_states()}{inputs}{weight})"

    def _format_states(self) -> str:
        if self.states is None:
            return ""
        unknown = sum(is_missing(label) or label == UNKNOWN for label in self.states.tolist() if np.ndim(label) == 0)
        return f", states of {len(self.states) - unknown} known" if unknown else ", states known"


@dataclass(frozen=True, eq=False, repr=False)
class Sequences:
    """Checked sequences, one after the other in each array: sequence i has the steps from offsets[i] to offsets[i+1].

    Missing observations are NaN; whole numbers without holes stay int64, all else is float64.
    """

    observations: np.ndarray  # (step, *event)
    offsets: np.ndarray  # (num + 1,)
    weights: np.ndarray  # (num,)
    states: np.ndarray | None = None  # (step,), UNKNOWN where no label is given
    covariates: np.ndarray | None = None  # (step, input)
    is_single: bool = False
    indexes: tuple[Any, ...] | None = None  # of the frame of each sequence, None of what was no frame of pandas
    keys: tuple[Any, ...] | None = None  # of sequences in the rows of a table

    @property
    def num(self) -> int:
        return len(self.weights)

    @property
    def num_steps(self) -> int:
        return int(self.offsets[-1] - self.offsets[0])

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.offsets)

    def steps(self, index: int) -> slice:
        """Where the steps of one sequence are."""
        return slice(int(self.offsets[index]), int(self.offsets[index + 1]))

    def with_observations(self, rows: np.ndarray) -> Sequences:
        """The same sequences with other observations at their steps."""
        return self if rows is self.observations else replace(self, observations=rows)

    def take(self, part: slice) -> Sequences:
        """Some sequences in a row, which share their arrays with these."""
        start, stop, _ = part.indices(self.num)
        stop = max(start, stop)
        first, last = int(self.offsets[start]), int(self.offsets[stop])
        return Sequences(
            self.observations[first:last],
            self.offsets[start : stop + 1] - first,
            self.weights[start:stop],
            None if self.states is None else self.states[first:last],
            None if self.covariates is None else self.covariates[first:last],
            indexes=None if self.indexes is None else self.indexes[start:stop],
            keys=None if self.keys is None else self.keys[start:stop],
        )

    @property
    def index(self) -> Any:
        """The index of the frame that the only sequence was, such as its dates; or None."""
        return None if self.indexes is None else self.indexes[0]

    def describe(self, position: int, num_before: int = 0) -> str:
        """How a message names a sequence, before which others came in earlier parts: by its key, or by its number."""
        return f"sequence {position + num_before}" if self.keys is None else f"sequence {self.keys[position]!r}"

    def describe_step(self, step: int) -> str:
        """How a message names a step of all."""
        sequence = int(np.searchsorted(self.offsets, step, side="right")) - 1
        own = step - int(self.offsets[sequence])
        return f"step {own}" if self.is_single else f"step {own} of {self.describe(sequence)}"

    def __len__(self) -> int:
        return self.num

    def __iter__(self) -> Iterator[Sequences]:
        return (self.take(slice(index, index + 1)) for index in range(self.num))

    def __repr__(self) -> str:
        labels = "" if self.states is None else f", {int((self.states != UNKNOWN).sum()):,} labelled"
        return f"Sequences({self.num:,} of {number_of(self.num_steps, 'step')}{labels})"


def as_sequences(
    data: Any,
    lengths: Any = None,
    *,
    event_shape: tuple[int, ...] = (),
    state_code: Find | None = None,
    symbol_code: Find | None = None,
    takes_minus_infinity: bool = False,
) -> Sequences:
    """Checked sequences from whatever users have; `lengths` cuts one stacked array into many.

    `state_code` and `symbol_code` give the code of a label, as `Variable.code` does.
    """
    if isinstance(data, Sequences):
        reshape_steps(data.observations, event_shape, "")
        return data
    given, is_single = split_sequences(data, event_shape)
    parts = [part if isinstance(part, Sequence) else None for part in given]
    rows = [
        as_steps(
            item if part is None else part.observations,
            event_shape=event_shape,
            find=symbol_code,
            where="" if is_single else f" of sequence {index}",
        )
        for index, (part, item) in enumerate(zip(parts, given, strict=True))
    ]
    observations = stack_steps(rows, event_shape)
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    weights = np.array([1.0 if part is None else part.weight for part in parts])
    indexes = find_indexes([data] if is_single else given)
    if lengths is not None:
        offsets, is_single = as_offsets(lengths, len(observations), is_single), False
        weights = np.full(len(offsets) - 1, weights[0] if len(weights) else 1.0)
        indexes = cut_index(indexes, offsets)
    found = Sequences(
        observations,
        offsets,
        weights,
        encode_states(parts, rows, state_code),
        stack_covariates(parts, rows),
        is_single,
        indexes,
    )
    check_finite(found, takes_minus_infinity)
    return check_step_weights(found) if any(part is not None for part in parts) else found


def check_step_weights(sequences: Sequences) -> Sequences:
    """The sequences, whose steps weigh so much together that sums stay among the doubles."""
    with np.errstate(over="ignore"):
        check_total(float(sequences.weights @ sequences.lengths), "the weights of the steps of the sequences")
    return sequences


def with_weights(sequences: Sequences, weights: Any) -> Sequences:
    """The sequences with other weights, if some are given."""
    if weights is None:
        return sequences
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"weights are numbers, one for each sequence: {error}") from error
    if given.shape != sequences.weights.shape:
        raise InvalidData(f"there are {sequences.num} sequences, but weights of the shape {given.shape}")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise InvalidData(f"the weight of a sequence must be finite and at least 0; got {given[~(given >= 0)]}")
    return check_step_weights(replace(sequences, weights=given))


def concatenate_sequences(parts: list[Sequences]) -> Sequences:
    """The sequences of all parts; labels that only some parts have are unknown in the others."""
    filled = [part for part in parts if part.num_steps] or parts[:1]
    states = next((part.states for part in filled if part.states is not None), None)
    lengths = np.concatenate([part.lengths for part in parts])
    return Sequences(
        concatenate_steps([part.observations for part in filled]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([part.weights for part in parts]),
        None if states is None else np.concatenate([states_like(states, part) for part in filled]),
        None if filled[0].covariates is None else np.concatenate([part.covariates for part in filled]),
        indexes=concatenate_names([part.indexes for part in parts], parts),
        keys=concatenate_names([part.keys for part in parts], parts),
    )


def concatenate_steps(rows: list[Any]) -> Any:
    """The steps of all parts: an array, or a sparse matrix where a part is one."""
    if all(isinstance(part, np.ndarray) for part in rows):
        return np.concatenate(rows)
    from scipy.sparse import csr_matrix, vstack

    return csr_matrix(vstack(rows))


def states_like(states: np.ndarray, part: Sequences) -> np.ndarray:
    """The states of a part, where it has none unknown ones of the form that these have."""
    unknown = np.nan if states.dtype.kind == "f" else UNKNOWN
    return np.full((part.num_steps, *states.shape[1:]), unknown, states.dtype) if part.states is None else part.states


def concatenate_names(given: list[tuple[Any, ...] | None], parts: list[Sequences]) -> tuple[Any, ...] | None:
    """The names of the sequences of all parts, None for those of a part without; None if no part has names."""
    if all(names is None for names in given):
        return None
    return tuple(
        name
        for names, part in zip(given, parts, strict=True)
        for name in ((None,) * part.num if names is None else names)
    )


def find_indexes(given: list[Any]) -> tuple[Any, ...] | None:
    """The index of each sequence that is a frame or series of pandas, or a `Sequence` of one; None if none has any."""
    indexes = tuple(item.index if isinstance(item, Sequence) else row_index(item) for item in given)
    return None if all(index is None for index in indexes) else indexes


def cut_index(indexes: tuple[Any, ...] | None, offsets: np.ndarray) -> tuple[Any, ...] | None:
    """The index of one stacked frame, cut as its sequences are."""
    return None if indexes is None else tuple(indexes[0][first:last] for first, last in pairwise(offsets.tolist()))


def stack_steps(rows: list[np.ndarray], event_shape: tuple[int, ...]) -> np.ndarray:
    """All steps in one array."""
    kept = [row for row in rows if len(row)]
    if not kept:
        return np.zeros((0, *event_shape))
    return np.ascontiguousarray(kept[0] if len(kept) == 1 else np.concatenate(kept))


def as_offsets(lengths: Any, num_steps: int, is_single: bool) -> np.ndarray:
    """The offsets of sequences with these lengths."""
    if not is_single:
        raise InvalidData("`lengths` cuts one stacked array into sequences; a list of sequences has its own lengths")
    try:
        sizes = np.asarray(lengths)
        whole = sizes.astype(np.int64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"lengths must be whole numbers, one per sequence; got {lengths!r}") from error
    if sizes.ndim != 1 or not (whole == sizes).all() or (whole < 0).any():
        raise InvalidData(f"lengths must be whole numbers of at least 0, one per sequence; got {lengths!r}")
    if whole.sum() != num_steps:
        raise InvalidData(f"the lengths add up to {int(whole.sum())}, but there are {num_steps} steps")
    return np.concatenate([[0], np.cumsum(whole)]).astype(np.int64)


def encode_states(
    parts: list[Sequence | None], rows: list[np.ndarray], find: Callable[[object], int | None] | None
) -> np.ndarray | None:
    """The codes of the states of all steps; None when no sequence has labels."""
    if all(part is None or part.states is None for part in parts):
        return None
    labels = []
    for index, (part, row) in enumerate(zip(parts, rows, strict=True)):
        states = None if part is None else part.states
        where = "" if len(parts) == 1 else f" of sequence {index}"
        labels.append(np.full(len(row), UNKNOWN) if states is None else as_codes(states, find, where))
    return np.concatenate(labels).astype(np.int64)


def stack_covariates(parts: list[Sequence | None], rows: list[np.ndarray]) -> np.ndarray | None:
    """The covariates of all steps; all sequences have the same number of them, or none has any."""
    found = [None if part is None else part.covariates for part in parts]
    if all(each is None for each in found):
        return None
    widths = {None if each is None else each.shape[1] for each, row in zip(found, rows, strict=True) if len(row)}
    if len(widths) > 1:
        raise InvalidData("all sequences have the same number of covariates, or none has any")
    return np.concatenate([each for each in found if each is not None])


def as_inputs(covariates: Any) -> np.ndarray:
    """(step, input) of finite numbers."""
    try:
        given = np.asarray(unwrap_frame(covariates), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"covariates must be numbers, one row per step: {error}") from error
    inputs = given[:, None] if given.ndim == 1 else given
    if inputs.ndim != 2 or not np.isfinite(inputs).all():
        raise InvalidData(
            f"covariates must be finite numbers, one row per step; got an array of the shape {given.shape}"
        )
    return inputs


def check_weight(weight: Any) -> float:
    try:
        number = float(weight)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"the weight of a sequence must be a number; got {weight!r}") from error
    if not np.isfinite(number) or number < 0:
        raise InvalidData(f"the weight of a sequence must be finite and at least 0; got {weight!r}")
    return number
