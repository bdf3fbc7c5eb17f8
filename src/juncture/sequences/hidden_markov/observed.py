"""Whether sequences tell anything to learn from."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juncture.data.sequences.sequences import UNKNOWN, Sequences
from juncture.errors import InvalidData


def refuse_unobserved(parts: Iterable[Sequences]) -> None:
    """Raise where there are steps that count, but nothing is observed at any of them, and no state is told."""
    num_steps = 0
    for part in parts:
        counts = np.repeat(part.weights > 0, part.lengths)
        if is_told(part.observations[counts]) or (part.states is not None and is_told(part.states[counts], UNKNOWN)):
            return
        num_steps += int(counts.sum())
    if num_steps:
        raise InvalidData(
            "nothing was observed: all values of all steps are missing, so there is nothing to learn from"
        )


def is_told(values: np.ndarray, unknown: int | None = None) -> bool:
    """Whether some value is neither NaN nor the code of what is unknown."""
    known = ~np.isnan(values) if values.dtype.kind == "f" else values != unknown
    return bool(np.any(known))
