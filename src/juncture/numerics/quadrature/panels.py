"""Adaptive Gauss-Legendre quadrature of exp(log_height) on the line: panels split until splitting changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from juncture.errors import Unsupported
from juncture.numerics.quadrature.changes import FAR
from juncture.numerics.quadrature.gauss_legendre import WEIGHTS, panel_points
from juncture.numerics.stable import log_sum_exp

LogHeight = Callable[[np.ndarray], np.ndarray]

DROP = 46.0  # heights below exp(-46) of the highest do not count
TOLERANCE = 1e-14
MAX_ROUNDS = 60
MANY_PANELS, NOISE = 256, 1e-7  # so many rough panels are rounding errors of the log-density, not features
MOST_PANELS = 8192
NARROWEST = 1e-13  # the width of a panel, relative to its ends
TOP, ROUNDING = 0.01, 1e-12  # how far below a peak the search for it may end: absolutely, and relative to its height
NO_HINTS = np.zeros(0)
GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Panels:
    """Nodes z of a quadrature, sorted in panels, with the log of height times weight."""

    edges: np.ndarray  # (panel + 1,)
    z: np.ndarray  # (panel, node)
    log_mass: np.ndarray  # (panel, node)
    tails: np.ndarray  # (2,): the log of what lies beyond the first and the last edge
    peak: float  # where the height is largest

    def log_total(self) -> float:
        everything = np.concatenate([self.log_mass.ravel(), self.tails])
        top = everything.max()
        return float(top + np.log(np.exp(everything - top).sum()))


def panels_of(log_height: LogHeight, ends: tuple[float, float], hints: np.ndarray = NO_HINTS) -> Panels:
    """Panels that hold all of exp(log_height) between the ends; what decays beyond them is continued.

    Peaks are looked for on a scan of the line and at the hints.
    """
    peaks = find_peaks(log_height, ends, hints)
    top = float(log_height(peaks).max())
    falls = [crossing(log_height, peak, side, top - DROP) for peak in peaks for side in ends]
    low, high = min(falls), max(falls)
    tails = np.array([log_tail(log_height, end, top) if fall == end else -np.inf
                      for fall, end in zip((low, high), ends, strict=True)])  # fmt: skip
    edges = np.unique(np.clip([*peaks, *falls, *_between(peaks, falls)], low, high))
    edges, z, log_mass = refine(log_height, edges)
    return Panels(edges, z, log_mass, tails, float(peaks[np.argmax(log_height(peaks))]))


def scan_of(ends: tuple[float, float], hints: np.ndarray = NO_HINTS) -> np.ndarray:
    """Places all over the line, denser around 0 and with the hints among them."""
    return np.unique(np.clip(np.concatenate([np.arange(-FAR, FAR + 1, 5.0), np.arange(-30, 30, 0.25), hints]), *ends))


def find_peaks(log_height: LogHeight, ends: tuple[float, float], hints: np.ndarray = NO_HINTS) -> np.ndarray:
    """All maxima that a scan of the line can see, refined; those far below the highest are left out."""
    scan = scan_of(ends, hints)
    heights = log_height(scan)
    if not np.isfinite(heights).any():
        raise Unsupported("the posterior is 0 wherever it was looked for: prior and data contradict each other")
    padded = np.concatenate([[-np.inf], heights, [-np.inf]])
    is_peak = np.isfinite(heights) & (heights >= padded[:-2]) & (heights >= padded[2:])
    indices = np.flatnonzero(is_peak)
    low, high = scan[np.maximum(indices - 1, 0)], scan[np.minimum(indices + 1, len(scan) - 1)]
    peaks = climb(log_height, low, high, heights[indices])
    reached = log_height(peaks)
    return peaks[reached > reached.max() - DROP]


def climb(log_height: LogHeight, low: np.ndarray, high: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
    """Golden section search in several brackets at once, until each is so narrow that it is all top.

    `log_height` is asked for places in all brackets, one after the other, several times over.

    With the heights at the start of each, brackets are rivals: one that cannot come near the highest ends the search.
    """
    for step in range(75):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        places = (left, right, low, high) if step % 4 == 0 else (left, right)
        heights = np.split(log_height(np.concatenate(places)), len(places))
        if step % 4 == 0:
            sides, best = np.minimum(*heights[2:]), np.maximum(*heights[:2])
            is_done = np.isneginf(best) | (sides > best - TOP - ROUNDING * np.abs(best))
            if start is not None and step:  # what is still to be gained is less than what was gained
                is_done |= best + np.maximum(best - start, 0.0) < best.max() - DROP
            if is_done.all():
                break
        rises = heights[0] < heights[1]
        low, high = np.where(rises, left, low), np.where(rises, high, right)
    return np.asarray((low + high) / 2)


def crossing(log_height: LogHeight, peak: float, end: float, level: float) -> float:
    """Where the height first falls below the level on the way from a peak to an end; the end itself if it does not."""
    lengths = 1e-9 * 8.0 ** np.arange(16)
    stops = np.append(peak + np.copysign(lengths[lengths < abs(end - peak)], end - peak), end)
    for _ in range(4):
        is_below = log_height(stops) < level
        if not is_below.any():
            return end
        first = int(np.argmax(is_below))
        inside, outside = (stops[first - 1] if first else peak), stops[first]
        stops, peak = np.append(np.linspace(inside, outside, 18)[1:-1], outside), inside
    return float(outside)


def log_tail(log_height: LogHeight, end: float, top: float) -> float:
    """The log of what lies beyond an end: there the log-height is a straight line, as for every power of x."""
    inner = end - np.copysign(1.0, end)
    before, last = log_height(np.array([inner, end]))
    if last < top - 2 * DROP:
        return -np.inf
    if not before - last > 1e-9:
        raise Unsupported("the integral is infinite: the density does not fall off; take a proper prior or more data")
    return float(last - np.log(before - last))


def _between(peaks: np.ndarray, falls: list[float]) -> list[float]:
    """Cuts on both sides of each peak, denser near it."""
    sides = np.asarray(falls).reshape(-1, 2)
    cuts = [peak + (side - peak) * 4.0**-power for peak, pair in zip(peaks, sides, strict=True)
            for side in pair for power in range(1, 4)]  # fmt: skip
    return [float(cut) for cut in cuts]


def refine(log_height: LogHeight, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Panels halved until the two halves together have the mass of the whole: edges, nodes, and log-masses there."""
    low, high = edges[:-1], edges[1:]
    z, log_mass = _fill_panels(log_height, low, high)
    log_total = float(log_sum_exp(log_mass))
    kept: list[tuple[np.ndarray, ...]] = []
    for _ in range(MAX_ROUNDS):
        middle = low + (high - low) / 2
        halves = [_fill_panels(log_height, low, middle), _fill_panels(log_height, middle, high)]
        finer = np.concatenate([part[1] for part in halves], axis=1)  # (panel, node)
        log_total = max(log_total, float(log_sum_exp(finer)))
        rough = _is_rough(log_mass, finer, log_total) & (high - low > NARROWEST * np.maximum(np.abs(low), np.abs(high)))
        kept.append((low[~rough], high[~rough], z[~rough], log_mass[~rough]))
        if not rough.any():
            break
        low, high = np.concatenate([low[rough], middle[rough]]), np.concatenate([middle[rough], high[rough]])
        z, log_mass = (np.concatenate([part[index][rough] for part in halves]) for index in range(2))
    else:
        kept.append((low, high, z, log_mass))  # a jump, halved until it has no mass
    low, high, z, log_mass = (np.concatenate([part[index] for part in kept]) for index in range(4))
    order = np.argsort(low)
    return np.append(low[order], high[order[-1]]), z[order], log_mass[order]


def _is_rough(log_mass: np.ndarray, finer: np.ndarray, log_total: float) -> np.ndarray:
    """Which panels change by more than a share of the total when they are halved; none where that is rounding noise."""
    scale = log_total if np.isfinite(log_total) else 0.0
    gaps = np.abs(np.exp(finer - scale).sum(axis=1) - np.exp(log_mass - scale).sum(axis=1))
    rough = gaps > TOLERANCE
    if len(gaps) > MANY_PANELS and gaps.sum() <= NOISE:
        return np.zeros_like(rough)
    if rough.sum() > MOST_PANELS:
        raise Unsupported(
            "the quadrature does not settle: the density is too rough, or its rounding errors are; "
            f"halving the panels still changes the integral by {gaps.sum():.2g} of it"
        )
    return np.asarray(rough)


def _fill_panels(log_height: LogHeight, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of each panel, and the log of height times weight there."""
    z = panel_points(low, high)
    return z, log_height(z.ravel()).reshape(z.shape) + np.log(np.outer((high - low) / 2, WEIGHTS))
