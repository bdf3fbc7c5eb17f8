"""`jt.plots.trace`, `rank` and `autocorrelation`: pictures that show whether chains have converged."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.inference.sampling import diagnostics
from juncture.inference.sampling.diagnostics import as_draws
from juncture.inference.sampling.draws import Draws
from juncture.plots.panels import are_axes, new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_PANELS = 24
NUM_BINS = 20
WINDOWS = 40  # over how many windows the share of a state is averaged


def trace(draws: Draws, names: Iterable[str] | None = None, axes: Any = None) -> np.ndarray:
    """Plot every quantity against the number of the draw, one line a chain, to see chains that drift or disagree.

    Parameters
    ----------
    draws
        What a sampler drew.
    names
        Of these; all by default.
    axes
        The axes of matplotlib to draw in, one for each quantity; by default those of a new figure.

    Returns
    -------
    numpy.ndarray
        The axes, (quantity,). A variable with states has one for each state, with its share in a moving window; for
        two states the second says all.

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> from matplotlib.figure import Figure
    >>> draws = jt.sampling.Draws({"x": np.random.default_rng(0).normal(size=(4, 100))})
    >>> len(jt.plots.trace(draws, axes=Figure().subplots())[0].lines)
    4
    """
    quantities = plotted(draws, names)
    shares = {label for label in quantities if label not in draws.names and "=" in label}

    def draw(label: str, values: np.ndarray, ax: Axes) -> None:
        width = max(1, math.ceil(draws.num_draws / WINDOWS)) if label in shares else 1
        for chain in values:
            ax.plot(np.arange(width, len(chain) + 1), moving_means(chain, width), linewidth=0.8, alpha=0.8)
        ax.set_xlabel("draw")

    return draw_panels(draw, quantities, axes)


def rank(draws: Draws, names: Iterable[str] | None = None, axes: Any = None, bins: int = NUM_BINS) -> np.ndarray:
    """Plot histograms of the ranks of each chain's draws among all draws, which are level where the chains agree.

    Parameters
    ----------
    draws, names, axes
        As in `trace`.
    bins
        The number of bins. Equal draws share their ranks evenly.

    Returns
    -------
    numpy.ndarray
        The axes, (quantity,). The band holds 95 % of the heights for independent draws.

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> from matplotlib.figure import Figure
    >>> draws = jt.sampling.Draws({"x": np.random.default_rng(0).normal(size=(4, 100))})
    >>> jt.plots.rank(draws, axes=Figure().subplots())[0].get_xlabel()
    'rank'
    """
    count = check_count(bins, "bins", least=2)
    quantities = plotted(draws, names)

    def draw(label: str, values: np.ndarray, ax: Axes) -> None:
        heights, level = rank_histograms(values, count), 1.0  # each height as a multiple of its expectation
        edges = np.linspace(0.0, values.size, count + 1)
        spread = 1.96 * math.sqrt((count - 1) * (1 - 1 / len(values)) / values.shape[1])
        for number, chain in enumerate(heights):
            ax.stairs(chain, edges, baseline=None, label=f"chain {number}")
        ax.axhspan(max(0.0, level - spread), level + spread, color="0.5", alpha=0.15, linewidth=0)
        ax.axhline(level, color="0.4", linewidth=0.8, linestyle="--")
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel("rank")

    return draw_panels(draw, quantities, axes)


def autocorrelation(
    draws: Draws, names: Iterable[str] | None = None, axes: Any = None, max_lag: int = 50
) -> np.ndarray:
    """Plot the autocorrelation of each chain by the lag; the sooner it falls to 0, the more a draw is worth.

    Parameters
    ----------
    draws, names, axes
        As in `trace`.
    max_lag
        The largest lag to show.

    Returns
    -------
    numpy.ndarray
        The axes, (quantity,). The band holds 95 % of the values for independent draws, ± 1.96 / √n.

    Examples
    --------
    >>> import juncture as jt, numpy as np
    >>> from matplotlib.figure import Figure
    >>> draws = jt.sampling.Draws({"x": np.random.default_rng(0).normal(size=(4, 100))})
    >>> jt.plots.autocorrelation(draws, axes=Figure().subplots())[0].get_xlabel()
    'lag'
    """
    lags = check_count(max_lag, "max_lag", least=1) + 1
    quantities = plotted(draws, names)

    def draw(label: str, values: np.ndarray, ax: Axes) -> None:
        for chain in diagnostics.autocorrelation(values):
            ax.plot(chain[:lags], linewidth=1.0, alpha=0.8)
        bound = 1.96 / math.sqrt(values.shape[1])
        ax.axhspan(-bound, bound, color="0.5", alpha=0.15, linewidth=0)
        ax.axhline(0.0, color="0.4", linewidth=0.8)
        ax.set_ylim(min(-0.15, ax.get_ylim()[0]), 1.05)
        ax.set_xlabel("lag")

    return draw_panels(draw, quantities, axes)


# --- the parts -------------------------------------------------------------------------------------------------------


def plotted(draws: Any, names: Iterable[str] | None) -> dict[str, np.ndarray]:
    """The quantities of a picture, (chain, draw): finite, and of two states the second."""
    check_kind(draws, Draws, "draws")
    known = draws.quantities(names)
    first = {f"{variable.name}={variable.states[0]}" for variable in draws.variables if is_binary(variable)}
    found = {label: as_draws(values, 4) for label, values in known.items() if label not in first}
    if not 1 <= len(found) <= MAX_PANELS:
        raise InvalidData(f"a picture shows from 1 to {MAX_PANELS} quantities; these are {len(found):,}: choose names=")
    return found


def is_binary(variable: Any) -> bool:
    return not variable.is_real and variable.num_states == 2


def draw_panels(
    draw: Callable[[str, np.ndarray, Any], None], quantities: dict[str, np.ndarray], axes: Any
) -> np.ndarray:
    panels = new_panels(len(quantities)) if axes is None else np.atleast_1d(np.asarray(axes, dtype=object)).reshape(-1)
    if len(panels) < len(quantities) or not all(map(are_axes, panels)):
        raise InvalidData(f"axes must be {len(quantities)} axes of matplotlib, one for each quantity")
    for ax, (label, values) in zip(panels, quantities.items(), strict=False):
        draw(label, values, ax)
        ax.set_title(label, fontsize="medium")
    return panels[: len(quantities)]


def moving_means(chain: np.ndarray, width: int) -> np.ndarray:
    if width == 1:
        return chain
    sums = np.concatenate([[0.0], np.cumsum(chain)])
    return (sums[width:] - sums[:-width]) / width


def rank_histograms(values: np.ndarray, bins: int) -> np.ndarray:
    """(chain, bin): the number of each chain's draws with ranks in a bin, as a multiple of what it would be if level.

    Draws that are equal share an interval of ranks evenly, so that also states have a histogram.
    """
    distinct, codes = np.unique(values, return_inverse=True)
    counts = np.stack([np.bincount(chain, minlength=len(distinct)) for chain in codes.reshape(values.shape)])
    cumulative = np.concatenate([np.zeros((len(counts), 1)), counts.cumsum(axis=1)], axis=1)
    edges = np.linspace(0.0, values.size, bins + 1)
    shares = [np.diff(np.interp(edges, cumulative.sum(axis=0), chain)) for chain in cumulative]
    return np.stack(shares) * bins / values.shape[1]


register(plot, Draws, trace)
