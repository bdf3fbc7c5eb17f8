"""Pictures of decisions: the value of observations as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.checks import check_count, check_kind
from juncture.dispatch import register
from juncture.inference.decisions.information_values import InformationValues
from juncture.pictures import plot
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


register(plot, InformationValues, plot_information)
