"""One observation by itself, as a filter or a forecast meets it."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import shown
from juncture.data.sequences.sequences import Sequence, Sequences
from juncture.data.tables.holes import without_masks
from juncture.errors import InvalidData, JunctureError
from juncture.sequences.hidden_markov.likelihoods import Form, likelihoods
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


def log_likelihoods_of(model: HiddenMarkovModel, observation: Any, state: Any = None, *, step: int = 0) -> np.ndarray:
    """log p(observation | state), (state,); zeros for None, which is nothing observed; -inf where it is not the state.

    `step` is where messages say that it was observed.
    """
    try:
        seen = one_step(model, observation, state)
    except JunctureError as error:  # it was read as a sequence of its own, whose steps count from 0
        raise type(error)(str(error).replace("step 0", f"step {step}", 1)) from error
    found = likelihoods(model.emissions, seen.observations, seen.states, Form.LOG)
    row = found.rows[0]
    return np.asarray(found.values[row] + found.tops[row])


def one_step(model: HiddenMarkovModel, observation: Any, state: Any) -> Sequences:
    """A sequence of this observation alone, which may be one with its state, as `Sequence`, already."""
    if isinstance(observation, Sequence):
        refuse_several(model, observation, observation.num_steps)
        labels = observation.states if state is None else [state]
        return model.sequences(Sequence(observation.observations, states=labels))
    if observation is not None:
        refuse_several(model, observation, np.size(as_array(observation)) / np.prod(model.event_shape))
    is_hole = observation is None and model.event_shape
    rows: Any = np.full((1, *model.event_shape), np.nan) if is_hole else [observation]
    rows = as_array(without_masks(rows)) if model.event_shape else rows
    return model.sequences(rows if state is None else Sequence(rows, states=[state]))


def refuse_several(model: HiddenMarkovModel, observation: Any, num_steps: float) -> None:
    if num_steps != 1:
        wanted = f"{model.event_shape[0]} values" if model.event_shape else "one value"
        raise InvalidData(f"one observation is {wanted}; got {observation!r}: take one step after the other")


def as_array(observation: Any) -> np.ndarray:
    try:
        return np.asarray(observation)
    except ValueError:  # a ragged list
        raise InvalidData(f"one observation has no lists of different lengths; got {shown(observation)}") from None
