"""The marginal of a real-valued variable as a small curve, for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = 48
TAIL = 0.002  # of the probability, left out at each end
MARGIN = 0.08  # of the range, added at each end


def density_heights(marginal: Any) -> tuple[float, ...]:
    """The probability of equal steps along the line, over the largest; nothing for a variable that is known.

    Steps of probability, not values of the density: a point that has a probability of its own has a height too.
    """
    low, high = (float(marginal.quantile(level)) for level in (TAIL, 1 - TAIL))
    if not np.isfinite(high - low) or high <= low:
        return ()
    margin = MARGIN * (high - low)
    ends = np.linspace(low - margin, high + margin, STEPS + 1)
    masses = np.diff(np.asarray(marginal.cdf(ends), float))
    return tuple((masses / masses.max()).tolist())


def moments_text(marginal: Any) -> str:
    """The mean and the standard deviation; of a variable that is known its value."""
    if marginal.variance == 0:
        return f"{marginal.mean:.4g}"
    return f"{marginal.mean:.4g} ± {marginal.variance**0.5:.3g}"
