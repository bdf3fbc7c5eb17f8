"""One observation by itself, as a filter or a forecast meets it."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.models.hidden_markov import HiddenMarkovModel


def log_likelihoods_of(model: HiddenMarkovModel, observation: Any) -> np.ndarray:
    """log p(observation | state), (state,); zeros for None, which is nothing observed."""
    if observation is not None and np.size(observation) != np.prod(model.event_shape):
        wanted = f"{model.event_shape[0]} values" if model.event_shape else "one value"
        raise InvalidData(f"one observation is {wanted}; got {observation!r}: take one step after the other")
    if model.event_shape:
        row = np.full(model.event_shape, np.nan) if observation is None else np.asarray(observation)
        sequence = model.sequences(row[None])
    else:
        sequence = model.sequences([observation])
    return np.asarray(model.emissions.log_prob(sequence.observations)[0])
