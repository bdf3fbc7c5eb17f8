"""log x/scale for a positive scale, in which log 0 = -inf is an ordinary answer."""

from __future__ import annotations

import numpy as np

from juncture.numerics.stable import log


def log_ratio(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """log x/scale: of the quotient, which is exact near the scale; where that leaves the range, log x - log scale."""
    with np.errstate(over="ignore"):
        found = log(x / scale)
    outside = np.isinf(found)
    return np.where(outside, log(x) - np.log(scale), found) if outside.any() else found
