"""Sequences for a state-space model: observations and inputs, and states where some are given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from juncture.data.sequences import Sequence, Sequences, as_sequences
from juncture.errors import InvalidData


def as_real_sequences(data: Any, lengths: Any, event_shape: tuple[int, ...], num_states: int) -> Sequences:
    """Checked sequences whose `states` are vectors (step, state), NaN where no state is given; None without any."""
    if isinstance(data, Sequences):
        return data
    single = isinstance(data, Sequence)
    given = [data] if single else data
    if not isinstance(given, list | tuple) or not any(isinstance(one, Sequence) for one in given):
        return as_sequences(data, lengths, event_shape=event_shape)
    bare = [without_states(one) for one in given]
    found = as_sequences(bare[0] if single else bare, lengths, event_shape=event_shape)
    if not any(isinstance(one, Sequence) and one.states is not None for one in given):
        return found
    sizes = np.diff(found.offsets) if lengths is None else [found.num_steps]
    given_rows = [given_states(one, int(size), num_states) for one, size in zip(given, sizes, strict=True)]
    return replace(found, states=np.concatenate(given_rows))


def without_states(one: Any) -> Any:
    if not isinstance(one, Sequence) or one.states is None:
        return one
    bare = Sequence(one.observations, covariates=one.covariates, weight=one.weight)
    bare._set(index=one.index)
    return bare


def given_states(one: Any, num_steps: int, num_states: int) -> np.ndarray:
    """The states that a sequence gives, (step, state), NaN for the others."""
    if not isinstance(one, Sequence) or one.states is None:
        return np.full((num_steps, num_states), np.nan)
    given_rows = one.states[:, None] if one.states.ndim == 1 else one.states
    if given_rows.dtype.kind not in "biuf" or given_rows.shape != (num_steps, num_states):
        raise InvalidData(
            f"the states of a sequence are one row of {num_states} numbers a step, NaN where they are not known; got"
            f" an array of the shape {one.states.shape}"
        )
    if np.isinf(given_rows).any():
        raise InvalidData("the states of a sequence are finite, or NaN where they are not known")
    return given_rows.astype(np.float64)
