"""∫ f of a signed function: Gauss-Legendre panels that are halved until halving changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juncture.numerics.quadrature.nodes import WEIGHTS, panel_points

TOLERANCE, RELATIVE_TOLERANCE = 1e-14, 1e-12  # of the change by halving a panel, absolutely and relative to ∫ |f|
MAX_ROUNDS = 80
NARROWEST = 1e-14  # the width of a panel, relative to its ends
LOG_EDGES = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 200.0])  # e^200 to a third power is a number
SLOWEST = 1e-9  # the power by which a function must fall faster than 1/z

Function = Callable[[np.ndarray], np.ndarray]


def integrate(function: Function, edges: np.ndarray) -> float:
    """The integral from the first edge to the last; panels end at each edge. ±inf where the function is infinite."""
    low, high = edges[:-1], edges[1:]
    whole, size = _integrate_panels(function, low, high)
    total, settled_size = 0.0, 0.0
    for _ in range(MAX_ROUNDS):
        middle = low + (high - low) / 2
        (left, left_size), (right, right_size) = (
            _integrate_panels(function, *ends) for ends in ((low, middle), (middle, high))
        )
        size = left_size + right_size
        if not np.isfinite(size).all():
            return float(np.where(np.isfinite(left + right), 0.0, left + right).sum())
        allowed = TOLERANCE + RELATIVE_TOLERANCE * (settled_size + size.sum())
        is_wide = high - low > NARROWEST * np.maximum(np.abs(low), np.abs(high))
        rough = (np.abs(left + right - whole) > allowed) & is_wide
        total += float((left + right)[~rough].sum())
        settled_size += float(size[~rough].sum())
        if not rough.any():
            return total
        low, middle, high = low[rough], middle[rough], high[rough]
        whole = np.concatenate([left[rough], right[rough]])
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
    return total + float(whole.sum())


def integrate_to_infinity(function: Function) -> float:
    """The integral from 0 to infinity of a function that falls like a power or faster: from 1 on, along s = log z.

    There a power falls off exponentially. Beyond the last point, where it is no more than a power, it is continued.
    """

    def along_log(s: np.ndarray) -> np.ndarray:
        z = np.exp(s)
        return function(z) * z

    near, far = integrate(function, np.array([0.0, 1.0])), integrate(along_log, LOG_EDGES)
    before, last = along_log(LOG_EDGES[-1] - np.array([1.0, 0.0]))
    if last == 0 or not np.isfinite(far):
        return near + far
    rate = np.log(np.abs(before / last))
    return near + far + float(last / rate) if rate > SLOWEST else float(np.copysign(np.inf, last))


def _integrate_panels(function: Function, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """∫ f and ∫ |f| over each panel."""
    points = panel_points(low, high)
    values = function(points.ravel()).reshape(points.shape)
    half = (high - low) / 2
    return half * (values @ WEIGHTS), half * (np.abs(values) @ WEIGHTS)
