"""Pictures of protocols: scores of test parts, and curves with bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.evaluation.protocols.cross_validation import CrossValidation
from juncture.evaluation.protocols.learning_curves import ScoreBands
from juncture.plotting.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE = "#0072b2", "#d55e00"


def plot_scores(found: CrossValidation, ax: Any = None) -> Axes:
    """The score of each test part, and the mean with its corrected error."""
    axes = as_axes(ax)
    scores = found.scores.reshape(-1)
    axes.plot(np.arange(1, len(scores) + 1), scores, "o", color=BLUE)
    axes.axhline(found.mean, color=ORANGE, label=f"mean {found.mean:.3g}")
    if np.isfinite(found.corrected_error):
        axes.axhspan(found.mean - found.corrected_error, found.mean + found.corrected_error, color=ORANGE, alpha=0.15)
    axes.set(xlabel="test part", ylabel=found.scoring)
    axes.legend()
    return axes


def plot_bands(found: ScoreBands, ax: Any = None) -> Axes:
    """Mean scores on training and test rows along a quantity, with bands of one standard deviation."""
    axes = as_axes(ax)
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in found.values)
    places = np.array(found.values, dtype=float) if numbers else np.arange(len(found.values), dtype=float)
    for side, color in (("training", BLUE), ("test", ORANGE)):
        scores = getattr(found, side)
        means, deviations = scores.mean(axis=1), scores.std(axis=1)
        axes.plot(places, means, "o-", color=color, label=side)
        axes.fill_between(places, means - deviations, means + deviations, color=color, alpha=0.15)
    if not numbers:
        axes.set_xticks(places, [str(value) for value in found.values])
    elif places.min() > 0 and places.max() / places.min() > 100:
        axes.set_xscale("log")
    axes.set(xlabel=found.name, ylabel="score")
    axes.legend()
    return axes


register(plot, CrossValidation, plot_scores)
register(plot, ScoreBands, plot_bands)
