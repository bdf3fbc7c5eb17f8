"""The steps of one sequence, from lists, arrays and frames: numbers, with NaN for what is missing, or labels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sized
from numbers import Real
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from juncture.base.checks import shown
from juncture.data.tables.cells import fill_missing_vectors, unmask_items
from juncture.data.tables.foreign import unwrap_frame
from juncture.errors import InvalidData, UnknownState
from juncture.variables import as_plain, is_missing

if TYPE_CHECKING:
    from juncture.data.sequences import Sequences

Find: TypeAlias = Callable[[object], "int | None"]  # the code of a label; UnknownState or None where there is none

SCALARS = (Real, str, np.generic, NoneType)


def split_sequences(data: Any, event_shape: tuple[int, ...]) -> tuple[list[Any], bool]:
    """(the sequences, not looked at yet; whether one was given and not a list)."""
    data = unwrap_frame(data)
    is_listed = isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.dtype == object)
    if not is_listed or np.ndim(data if isinstance(data, np.ndarray) else 0) > 1 or are_scalars(data):
        return [data], True
    axes = [num_axes(item) for item in data]
    deepest = max(axes)
    is_many = deepest > len(event_shape) or any(map(is_sequence, data, axes))
    is_many |= event_shape == (1,) and deepest == 1 and not has_unit_rows(data)
    if is_many and min(axes) == 0:
        index = axes.index(0)
        raise InvalidData(
            f"a list of sequences holds sequences only; its entry {index} is {data[index]!r}: write [{data[index]!r}]"
        )
    return (list(data), False) if is_many else ([data], True)


def are_scalars(items: Any) -> bool:
    """Whether all items are single values, decided by the set of their types."""
    return all(issubclass(kind, SCALARS) for kind in set(map(type, items)))


def num_axes(item: Any) -> int:
    """0 for a scalar, 1 for a list of scalars or an empty one, …; of a `Sequence`, the axes of its observations."""
    item = getattr(item, "observations", item)
    if isinstance(item, SCALARS):
        return 0
    if hasattr(item, "ndim"):
        return 2 if hasattr(item, "columns") else int(item.ndim)
    if hasattr(item, "columns"):
        return 2
    if isinstance(item, list | tuple):
        return 1 + num_axes(next((each for each in item if each is not None), None))
    return 1 if isinstance(item, Sized) and not is_missing(item) else 0


def is_sequence(item: Any, axes: int) -> bool:
    """Whether an item can only be a sequence, whatever the shape of an observation: one of its own class, or empty."""
    return hasattr(item, "observations") or (axes > 0 and len(item) == 0)


def has_unit_rows(data: Any) -> bool:
    return all(len(item) == 1 for item in data if not is_missing(item))


def as_steps(
    given: Any,
    *,
    event_shape: tuple[int, ...] | None = None,
    find: Find | None = None,
    where: str,
    is_label: bool = False,
) -> np.ndarray:
    """(step, *event): int64 for whole numbers, float64 for others, with NaN for what is missing; labels as they are."""
    given = unwrap_frame(given)
    array = given if isinstance(given, np.ndarray) and given.ndim else as_array(given, where)
    if event_shape is not None:
        array = reshape_steps(array, event_shape, where)
    if find is not None:
        return as_symbols(array, find, where)
    if is_label or event_shape is None:
        return as_labels(array)
    if array.dtype.kind in "biu":
        return array.astype(np.int64, copy=False)
    return array.astype(np.float64, copy=False) if array.dtype.kind == "f" else as_floats(array, where)


def as_array(given: Any, where: str) -> np.ndarray:
    """A list as an array: of numbers if all are, else of objects."""
    if not isinstance(given, list | tuple):
        raise InvalidData(f"a sequence must be a list, an array or a frame with one entry per step; got {given!r}")
    given = fill_missing_vectors(unmask_items(given))
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise InvalidData(f"the steps{where} have different shapes; all have the same number of values") from error
    if array.dtype.kind in "US":  # numbers among text were turned into text
        array = np.empty(array.shape, dtype=object)
        array[:] = given
    return array


def as_labels(array: np.ndarray) -> np.ndarray:
    """Numbers as numbers where all are, or are missing; truths and text as they are; else objects."""
    if array.dtype.kind == "b":
        return array
    if array.size and {type(label) for label in array.ravel().tolist()} == {str}:
        return np.array(array.tolist())
    if array.dtype.kind in "iuf":
        return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    try:
        return as_floats(array, "")
    except InvalidData:
        return array.astype(object)


def as_floats(array: np.ndarray, where: str) -> np.ndarray:
    """Objects as float64; None and other holes as NaN, text refused."""
    flat = array.reshape(-1)
    if {int, float, NoneType} >= set(map(type, flat)):
        return array.astype(np.float64)
    found = np.empty(flat.shape)
    for index, value in enumerate(flat.tolist()):
        if is_missing(value):
            found[index] = np.nan
        elif isinstance(value, Real):
            found[index] = float(value)
        else:
            step = index // max(1, flat.size // max(1, len(array)))
            raise InvalidData(f"step {step}{where} holds {value!r}; an observation must be a number or missing")
    return found.reshape(array.shape)


def reshape_steps(array: np.ndarray, event_shape: tuple[int, ...], where: str) -> np.ndarray:
    """The steps as (step, *event), or one sentence why they are not."""
    if array.size == 0 and array.ndim <= 1 + len(event_shape):
        return np.zeros((0, *event_shape), dtype=array.dtype)
    if array.shape[1:] == event_shape:
        return array
    if event_shape == () and array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    if event_shape == (1,) and array.ndim == 1:
        return array[:, None]
    if array.ndim == 1 and all(map(is_missing, array.tolist())):
        return np.full((len(array), *event_shape), np.nan)
    rule = "is one number" if not event_shape else f"has {' × '.join(map(str, event_shape))} values"
    remedy = ""
    if array.ndim == 2 + len(event_shape) or (not event_shape and array.ndim == 2):
        remedy = "; for many sequences, one per row, write list(array)"
    raise InvalidData(f"one observation{where} {rule}; got an array of the shape {array.shape}{remedy}")


def as_symbols(array: np.ndarray, find: Find, where: str) -> np.ndarray:
    """The code of each symbol: int64, or float64 with NaN for holes."""
    codes = as_codes(array, find, where, what="symbol")
    return codes if not (codes < 0).any() else np.where(codes < 0, np.nan, codes)


def as_codes(labels: np.ndarray, find: Find | None, where: str, *, what: str = "state") -> np.ndarray:
    """The code of each label, -1 where it is missing; -1 itself is missing too, unless it is a label."""
    if labels.ndim != 1:
        raise InvalidData(f"the {what}s{where} must be one label per step; got an array of the shape {labels.shape}")
    codes: dict[object, int] = {}
    found = np.empty(len(labels), np.int64)
    if labels.dtype.kind in "iuf":
        values, inverse = np.unique(labels, return_inverse=True)
        found = np.array([code_of(value, find, labels, where, what) for value in values.tolist()], np.int64)
        return found[inverse]
    for step, label in enumerate(labels.tolist()):
        if not isinstance(label, Hashable):
            raise InvalidData(f"a {what}{where} is a label: text, a number or a boolean; got {shown(label)}")
        key = (type(label), None if is_missing(label) else label)
        if key not in codes:
            codes[key] = code_of(label, find, labels, where, what)
        found[step] = codes[key]
    return found


def code_of(label: object, find: Find | None, labels: np.ndarray, where: str, what: str) -> int:
    """The code of one label; an unknown one is refused with its first step."""
    label = as_plain(label)
    if is_missing(label):
        return -1
    code, reason = None, f"{label!r} is not one of the {what}s"
    try:
        code = as_code(label) if find is None else find(label)
    except UnknownState as error:
        reason = str(error)
    if code is None and label != -1:
        step = next(step for step, other in enumerate(labels.tolist()) if other == label)
        raise UnknownState(f"step {step}{where}: {reason}")
    return -1 if code is None else code


def as_code(label: object) -> int | None:
    is_code = isinstance(label, int | float) and label == int(label) and label >= 0
    return int(label) if is_code else None  # type: ignore[call-overload]


def check_finite(sequences: Sequences, takes_minus_infinity: bool) -> None:
    """Raise for the first observation that is infinite."""
    rows = sequences.observations
    if rows.dtype.kind != "f" or not np.isinf(rows).any():
        return
    wrong = rows == np.inf if takes_minus_infinity else np.isinf(rows)
    if wrong.any():
        step = int(np.nonzero(wrong)[0][0])
        raise InvalidData(
            f"{sequences.describe_step(step)} holds {rows[wrong][0]}; observations must be finite or missing"
        )
