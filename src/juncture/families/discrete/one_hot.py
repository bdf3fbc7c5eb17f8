"""Labels as indicator vectors, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.data.observations import as_values, check_inside
from juncture.errors import InvalidData
from juncture.families.supports import Integers


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
