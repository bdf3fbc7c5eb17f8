"""Observed steps as rows of features: arrays of numbers, or for each step the names of what holds there.

A step is a vector of numbers; a mapping from names to numbers, truth values or texts; or a list of names, each of which
counts 1. A text value makes a feature of its own, "name=text". Names that a model does not know count nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_iterable, is_iterable, shown
from juncture.data.sequences import UNKNOWN, Sequence, Sequences, as_offsets, check_step_weights
from juncture.errors import InvalidData
from juncture.variables import Variable, is_missing


@dataclass(frozen=True, eq=False)
class GivenSequence:
    """The steps of a sequence as users give them, with labels where there are any."""

    steps: Any
    labels: Any = None
    weight: float = 1.0


def split_given(data: Any) -> tuple[list[GivenSequence], bool]:
    """Each sequence, and whether there is only one: a pair is steps with labels, a list of steps is one sequence."""
    if is_one(data):
        return [as_given(data)], True
    if isinstance(data, str | bytes) or not is_iterable(data):
        raise InvalidData(f"a conditional random field takes a sequence of steps, or a list of them; got {shown(data)}")
    return [as_given(one) for one in data], False


def is_one(data: Any) -> bool:
    """Whether this is one sequence: with labels, an array of vectors, or a list of steps."""
    if isinstance(data, Sequence | GivenSequence) or is_pair(data) or hasattr(data, "columns"):
        return True
    if isinstance(data, np.ndarray) and data.dtype != object:
        return data.ndim == 2
    return isinstance(data, list) and bool(data) and is_step(data[0])


def is_pair(data: Any) -> bool:
    return isinstance(data, tuple) and len(data) == 2


def is_step(item: Any) -> bool:
    """Whether this is what is observed of one step: a mapping, a vector, or a list of names or of numbers."""
    if isinstance(item, Mapping):
        return True
    if isinstance(item, np.ndarray):
        return item.ndim == 1 and item.dtype != object
    return isinstance(item, list | set | frozenset) and all(isinstance(one, str | int | float) for one in item)


def as_given(one: Any) -> GivenSequence:
    if isinstance(one, GivenSequence):
        return one
    if isinstance(one, Sequence):
        return GivenSequence(one.observations, one.states, one.weight)
    steps, labels = one if is_pair(one) else (one, None)
    if isinstance(steps, str | bytes | Mapping) or not is_iterable(steps):
        raise InvalidData(f"the steps of a sequence are a list or an array; got {shown(steps)}")
    return GivenSequence(steps, labels)


def find_features(given: Iterable[GivenSequence]) -> tuple[str, ...]:
    """The names of all features of the data, in order of first appearance; columns of arrays are x0, x1, …."""
    names: dict[str, None] = {}
    for one in given:
        if is_numeric(one.steps):
            names.update(dict.fromkeys(f"x{place}" for place in range(np.shape(one.steps)[-1])))
        else:
            names.update(dict.fromkeys(name for step in one.steps for name, _ in named_values(step)))
    return tuple(names)


def is_numeric(steps: Any) -> bool:
    """Whether the steps are vectors of numbers."""
    if isinstance(steps, list) and any(isinstance(step, Mapping | set | frozenset) for step in steps):
        return False
    try:
        return np.asarray(steps, dtype=float).ndim == 2
    except (TypeError, ValueError):
        return False


def named_values(step: Any) -> Iterator[tuple[str, float]]:
    """The features of a step that are not zero."""
    if isinstance(step, Mapping):
        for name, value in step.items():
            yield (f"{name}={value}", 1.0) if isinstance(value, str) else (str(name), as_value(name, value))
    elif isinstance(step, Iterable) and not isinstance(step, str | bytes):
        for name in step:
            if not isinstance(name, str):
                raise InvalidData(f"a step that is a list holds names of features; got {shown(name)}")
            yield name, 1.0
    else:
        raise InvalidData(f"a step is a mapping, a list of names or a vector of numbers; got {shown(step)}")


def as_value(name: object, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise InvalidData(f"the feature {name!r} has a finite number, a truth value or a text; got {shown(value)}")
    return number


def as_feature_sequences(
    given: list[GivenSequence], is_single: bool, features: tuple[str, ...], variable: Variable, lengths: Any = None
) -> Sequences:
    """All steps as rows of features: dense if all are vectors of numbers, else sparse; `lengths` cuts one sequence."""
    from scipy.sparse import csr_matrix, vstack

    known = {name: place for place, name in enumerate(features)}
    parts = [
        dense_rows(one.steps, features) if is_numeric(one.steps) else sparse_rows(one.steps, known) for one in given
    ]
    sizes = [part.shape[0] for part in parts]
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    states = encode_labels(given, sizes, variable)
    weights = np.array([float(one.weight) for one in given])
    if all(isinstance(part, np.ndarray) for part in parts):
        matrix = np.concatenate([np.empty((0, len(features))), *parts])
    else:
        matrix = csr_matrix(vstack(parts))
    if lengths is not None:
        offsets, is_single = as_offsets(lengths, int(offsets[-1]), is_single), False
        weights = np.full(len(offsets) - 1, weights[0])
    return check_step_weights(Sequences(matrix, offsets, weights, states, is_single=is_single))


def dense_rows(steps: Any, features: tuple[str, ...]) -> np.ndarray:
    rows = np.asarray(steps, dtype=float)
    if rows.shape[1] != len(features):
        raise InvalidData(f"the model has {len(features)} features, but the steps are vectors of {rows.shape[1]}")
    return check_features(rows)


def check_features(rows: Any) -> Any:
    """Rows of features, which have no holes."""
    if not np.isfinite(rows if isinstance(rows, np.ndarray) else rows.data).all():
        raise InvalidData("the features of a conditional random field are finite numbers; fill holes first")
    return rows


def sparse_rows(steps: Any, known: dict[str, int]) -> Any:
    from scipy.sparse import csr_matrix

    pairs = [[(known[n], v) for n, v in named_values(step) if n in known] for step in steps]
    starts = np.cumsum([0, *map(len, pairs)])
    columns = np.array([place for row in pairs for place, _ in row], dtype=np.int64)
    values = np.array([value for row in pairs for _, value in row], dtype=float)
    return csr_matrix((values, columns, starts), shape=(len(pairs), len(known)))


def encode_labels(given: list[GivenSequence], sizes: list[int], variable: Variable) -> np.ndarray | None:
    """The codes of the labels of all steps, unknown in sequences without labels; None if no sequence has any."""
    if all(one.labels is None for one in given):
        return None
    codes = [np.full(size, UNKNOWN) for size in sizes]
    for place, (one, own) in enumerate(zip(given, codes, strict=True)):
        if one.labels is None:
            continue
        labels = check_iterable(one.labels, "the labels of a sequence")
        if len(labels) != len(own):
            raise InvalidData(f"sequence {place} has {len(own)} steps, but {len(labels)} labels")
        own[:] = [UNKNOWN if is_missing(label) else variable.code(label) for label in labels]
    return np.concatenate(codes).astype(np.int64)


def labels_of(sequences: Sequences) -> np.ndarray:
    """The codes of the labels of all steps; every step has one."""
    codes = np.full(sequences.num_steps, UNKNOWN) if sequences.states is None else sequences.states
    unknown = np.flatnonzero(codes == UNKNOWN)
    if unknown.size:
        place = int(np.searchsorted(sequences.offsets, unknown[0], side="right")) - 1
        is_bare = (codes[sequences.steps(place)] == UNKNOWN).all()
        what = (
            f"{sequences.describe(place)} has no labels"
            if is_bare
            else (f"{sequences.describe_step(int(unknown[0]))} has no label")
        )
        raise InvalidData(f"{what}: give pairs of steps and labels, or jt.Sequence(…, states)")
    return codes
