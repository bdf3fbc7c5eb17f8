"""Pictures of decisions: the value of observations as bars, the regions of a rule as colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.evaluation.decisions.regions import DecisionRegions
from juncture.inference.decisions.value_of_information import InformationValues
from juncture.plotting.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_information(values: InformationValues, most: int = 12, ax: Any = None) -> Axes:
    """A bar for the value of each candidate, the best on top; what it costs is drawn over it.

    `most` is the number of candidates that are shown.
    """
    found = check_kind(values, InformationValues, "values")
    count = min(check_count(most, "most", least=1), len(found))
    axes = as_axes(ax)
    places = np.arange(count)
    axes.barh(places, found.values[:count], color="C0", label="value")
    if found.costs[:count].any():
        axes.barh(places, found.costs[:count], height=0.3, color="C1", label="cost")
        axes.legend(frameon=False)
    axes.set_yticks(places, found.candidates[:count])
    axes.invert_yaxis()
    axes.set_xlabel(f"{found.unit} about {found.about[0]}" if found.unit == "bits" else "gain in expected utility")
    return axes


def plot_regions(regions: DecisionRegions, ax: Any = None) -> Axes:
    """The decision at each point of a line or a plane as a colour, and the boundaries between the regions."""
    found = check_kind(regions, DecisionRegions, "regions")
    axes = as_axes(ax)
    colors = [f"C{code % 10}" for code in range(len(found.labels))]
    if len(found.axes) == 1:
        for start, end, label in found.intervals:
            axes.axvspan(start, end, color=colors[found.labels.index(label)], alpha=0.25, linewidth=0)
        for place in found.boundary:
            axes.axvline(place, color="0.2", linewidth=1)
        axes.set_xlim(found.axes[0][0], found.axes[0][-1])
    else:
        draw_plane(axes, found, colors)
    for color, label in zip(colors, found.labels, strict=True):
        axes.plot([], [], "s", color=color, alpha=0.5, label=str(label))
    axes.legend(frameon=False)
    return axes


def draw_plane(axes: Any, found: DecisionRegions, colors: list[str]) -> None:
    """The grid as an image, and the points of the boundary on it."""
    from matplotlib.colors import ListedColormap

    ends = [number for axis in found.axes for number in (axis[0], axis[-1])]
    shown = {"cmap": ListedColormap(colors), "vmin": 0, "vmax": max(len(colors) - 1, 1), "alpha": 0.3}
    axes.imshow(found.codes.T, origin="lower", extent=ends, aspect="auto", **shown)
    axes.plot(*found.boundary.T, ".", color="0.2", markersize=1.5)


register(plot, InformationValues, plot_information)
register(plot, DecisionRegions, plot_regions)
