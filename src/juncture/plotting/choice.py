"""Pictures of model choice: scores against the number of parameters, and the shape k of each row's weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.evaluation.choice.compare import ModelComparison, ModelScore
from juncture.plotting.panels import as_axes, new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"  # told apart by colour-blind eyes


def plot_criteria(comparison: ModelComparison, ax: Any = None) -> Any:
    """Scores less the best against the number of parameters, the best in orange: a panel for each criterion.

    With `ax` there is one panel, for a comparison by one criterion.
    """
    drawn = [name for name in comparison.criteria if comparison.ranked(name)[0].score is not None]
    if not drawn:
        raise InvalidData("no criterion is defined for any of the models, so there is nothing to draw")
    if ax is not None and len(drawn) > 1:
        raise InvalidData("several criteria need several panels: leave out ax, or compare by one criterion")
    panels = new_panels(len(drawn)) if ax is None else [as_axes(ax)]
    for axes, name in zip(panels, drawn, strict=True):
        plot_criterion(comparison.ranked(name), axes)
    return np.array(panels) if len(drawn) > 1 else panels[0]


def plot_criterion(scores: tuple[ModelScore, ...], axes: Axes) -> None:
    """One criterion: points with standard errors where there are some, joined in the order of complexity."""
    shown = [score for score in scores if score.difference is not None and np.isfinite(score.difference)]
    is_counted = all(score.num_parameters is not None for score in shown)
    ordered = sorted(shown, key=lambda score: score.num_parameters or 0) if is_counted else shown
    places = [float(score.num_parameters or 0) if is_counted else float(at) for at, score in enumerate(ordered)]
    heights = [float(score.difference or 0.0) for score in ordered]
    axes.plot(places, heights, color=GREY, lw=1, zorder=1)
    for place, height, score in zip(places, heights, ordered, strict=True):
        color = ORANGE if score is scores[0] else BLUE
        axes.errorbar(place, height, yerr=score.standard_error, fmt="o", color=color, capsize=2, zorder=2)
        axes.annotate(score.model, (place, height), xytext=(3, 4), textcoords="offset points", fontsize=7)
    unit = "bits above the best" if scores[0].criterion == "mdl" else "relative to the best"
    axes.set(title=scores[0].criterion, ylabel=unit, xlabel="parameters" if is_counted else "")
    axes.margins(x=0.12, y=0.15)


register(plot, ModelComparison, plot_criteria)
