"""Class labels as codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_iterable, shown
from juncture.base.values import number_of
from juncture.data.sequence_steps import unwrap_frame
from juncture.data.tables.labels import label_array, sorting_key
from juncture.data.tables.table import as_column
from juncture.errors import InvalidData


def read_classes(labels: Any, num_rows: int, classes: Any = None) -> tuple[tuple[Any, ...], np.ndarray]:
    """The classes, sorted unless they are given, and the code of each row; no label may be missing."""
    plain = unwrap_frame(labels)
    column = as_column(plain if isinstance(plain, np.ndarray) else check_iterable(plain, "targets"), "targets")
    levels = column.levels
    codes = np.asarray(levels.codes)
    if codes.shape != (num_rows,):
        raise InvalidData(
            f"targets are one label a row, {number_of(num_rows, 'label')} here; got an array of the shape {codes.shape}"
        )
    if (codes < 0).any():
        raise InvalidData(f"row {int(np.argmax(codes < 0))} of the targets has no class: leave the row out")
    found: list[Any] = list(levels.labels)
    order = sorted(found, key=sorting_key) if classes is None else check_classes(classes)
    places = {label: place for place, label in enumerate(order)}
    unknown = [label for label in found if label not in places]
    if unknown:
        raise InvalidData(f"the targets have the class {unknown[0]!r}, which is not among the classes given")
    if len(order) < 2:
        raise InvalidData(f"a classifier needs at least 2 classes; the targets have {number_of(len(order), 'class')}")
    return tuple(order), np.array([places[label] for label in found], dtype=np.int64)[codes]


def check_classes(classes: Any) -> list[Any]:
    """Labels that are text, numbers or truth values, each once."""
    listed = check_iterable(classes, "classes")
    wrong = [label for label in listed if not isinstance(label, str | int | float | np.generic)]
    if wrong or len(set(listed)) < len(listed):
        raise InvalidData(f"classes are different labels, each a text, a number or a truth value; got {shown(classes)}")
    return listed


def decode_classes(classes: tuple[Any, ...], codes: np.ndarray) -> np.ndarray:
    """The label of each code."""
    return np.asarray(label_array(classes)[codes])
