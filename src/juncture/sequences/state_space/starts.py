"""Random starting points for learning a state-space model."""

from __future__ import annotations

import numpy as np

from juncture.sequences.state_space.model import LinearGaussianStateSpace

RADIUS = 0.95  # of the transition's largest eigenvalue: slow, and stable
DRAWN = ("transition", "observation", "input_to_state", "input_to_observation")


def random_start(
    model: LinearGaussianStateSpace, fixed: frozenset[str], rng: np.random.Generator
) -> LinearGaussianStateSpace:
    """The model with other matrices, of the size they have, but for those that are fixed; noises and offsets stay."""
    drawn = {}
    for name, part in model.parts.items():
        if name not in DRAWN or name in fixed:
            continue
        matrix = rng.standard_normal(part.shape)
        wanted = RADIUS if name == "transition" else float(np.linalg.norm(part)) or 1.0
        size = np.abs(np.linalg.eigvals(matrix)).max() if name == "transition" else np.linalg.norm(matrix)
        drawn[name] = matrix * (wanted / size)
    return model.with_parts(**drawn)
