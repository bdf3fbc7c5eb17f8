"""Pictures of measures: confusion matrices, curves over thresholds, and reliability diagrams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.evaluation.measures.calibration import Calibration
from juncture.evaluation.measures.confusion import ConfusionMatrix
from juncture.evaluation.measures.curves import ScoreCurve
from juncture.plotting.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE = "#0072b2", "#d55e00"


def plot_confusion(matrix: ConfusionMatrix, ax: Any = None) -> Axes:
    """The counts as text, the shares within the true classes as shades."""
    axes = as_axes(ax)
    shares, places = matrix.normalized(), range(len(matrix.labels))
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0)
    for row in places:
        for column in places:
            color = "white" if shares[row, column] > 0.6 else "black"
            axes.text(column, row, f"{matrix.counts[row, column]:g}", ha="center", va="center", color=color)
    labels = [str(label) for label in matrix.labels]
    axes.set_xticks(places, labels)
    axes.set_yticks(places, labels)
    axes.set(xlabel="predicted", ylabel="true", title=f"accuracy {matrix.accuracy:.3g}")
    return axes


def plot_curve(curve: ScoreCurve, ax: Any = None, label: str | None = None) -> Axes:
    """The curve with its area in the legend, and the line of a score that says nothing."""
    axes = as_axes(ax)
    is_roc = curve.name == "ROC"
    name = f"{label}: " if label else ""
    drawn = "default" if is_roc else "steps-post"
    axes.plot(curve.x, curve.y, drawstyle=drawn, label=f"{name}area {curve.area:.3f}")
    axes.plot([0, 1], [0, 1] if is_roc else [curve.base, curve.base], color="0.6", lw=1, ls="--")
    names = ("false positive rate", "true positive rate") if is_roc else ("recall", "precision")
    axes.set(xlabel=names[0], ylabel=names[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.legend(loc="lower right" if is_roc else "lower left")
    return axes


def plot_reliability(found: Calibration, ax: Any = None) -> Axes:
    """The isotonic estimate, the band in which it would lie if predictions were calibrated, and the bins."""
    axes = as_axes(ax)
    percent = f"{100 * found.confidence:g} %"
    axes.fill_between(found.predicted, found.band_low, found.band_high, color="0.88", label=f"if calibrated, {percent}")
    axes.plot([0, 1], [0, 1], color="0.5", lw=1, ls="--")
    axes.plot(found.predicted, found.recalibrated, color=ORANGE, drawstyle="steps-mid", label="isotonic estimate")
    means, shares, low, high = found.bins[:, :4].T
    distances = np.maximum([shares - low, high - shares], 0.0)
    axes.errorbar(means, shares, yerr=distances, fmt="o", color=BLUE, ms=4, label=f"bins, {percent}")
    axes.set(xlabel="predicted probability", ylabel="share of events", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    axes.legend(loc="upper left")
    return axes


register(plot, ConfusionMatrix, plot_confusion)
register(plot, ScoreCurve, plot_curve)
register(plot, Calibration, plot_reliability)
