"""The axes of matplotlib to draw in: those that are given, or those of a new figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import InvalidData, MissingExtra

MAX_COLUMNS, PANEL = 3, (3.6, 2.0)  # panels beside each other; inches


def as_axes(ax: Any) -> Any:
    """The given axes of matplotlib, or those of a new figure."""
    if ax is None:
        return pyplot().subplots(layout="constrained")[1]
    if not are_axes(ax):
        raise InvalidData(f"ax must be axes of matplotlib; got {type(ax).__name__}")
    return ax


def are_axes(ax: Any) -> bool:
    """Whether an object is axes of matplotlib, or draws as they do."""
    return hasattr(ax, "set_xlabel") and hasattr(ax, "scatter")


def new_panels(count: int) -> np.ndarray:
    """The axes of a new figure of small panels."""
    columns = min(count, MAX_COLUMNS)
    rows = -(-count // columns)
    size = (PANEL[0] * columns, PANEL[1] * rows)
    figure, axes = pyplot().subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.reshape(-1)[count:]:
        figure.delaxes(ax)
    return axes.reshape(-1)[:count]


def pyplot() -> Any:
    """`matplotlib.pyplot`, or the sentence that says how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise MissingExtra.named("matplotlib", "plot") from None
    return plt
