"""`jt.plots.density`: the density of a distribution in matplotlib axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, Unsupported
from juncture.families.display import CORNERS, density_grid, density_points, density_triangle, first_members, is_bars
from juncture.families.family import Family
from juncture.families.supports import Angles, Integers, Interval, Simplex, Vectors
from juncture.information.density import Density
from juncture.plots.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_MEMBERS = 20
PEAK, STEEPEST, NUM_SHADES = 0.01, 30, 12  # what may all have the darkest shade: a part of the picture, a ratio


def density(family: Any, ax: Axes | None = None, **options: Any) -> Axes:
    """Plot the density or the probabilities of a distribution with matplotlib.

    Parameters
    ----------
    family
        A member of a family, or a `Density`: real numbers give a curve, whole numbers bars, pairs of numbers and three
        shares contours. A batch gives one curve per member.
    ax
        The axes to draw in; by default those of a new figure.
    **options
        Options of matplotlib such as `label`, `color` and `alpha`. The default label is the text of the distribution.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import juncture as jt
    >>> from matplotlib.figure import Figure
    >>> axes = jt.plots.density(jt.Gaussian(0.0, 1.0), Figure().subplots(), label="standard")
    >>> len(axes.lines)
    1
    """
    if isinstance(family, type) or not hasattr(family, "support"):
        raise InvalidData(f"jt.plots.density takes a family or a Density; got {family!r}")
    draw = DRAWERS.get((type(family.support), family.event_shape))
    if draw is None:
        raise Unsupported(f"there is no picture of {type(family).__name__}, a distribution of {family.support}")
    size, most = int(np.prod(family.batch_shape)), 1 if family.event_shape else MAX_MEMBERS
    if not 1 <= size <= most:
        raise InvalidData(f"this picture shows from 1 to {most} distributions; the batch has {size:,}: index it first")
    ax = as_axes(ax)
    for member in first_members(family, MAX_MEMBERS):
        draw(member, ax, options)
    return ax


def _numbers(member: Family, ax: Axes, options: dict[str, Any]) -> None:
    """Bars for a few whole numbers; else a curve, with the area below it."""
    x, density = density_points(member)
    ax.set_ylabel("probability" if member.support.is_discrete else "density")
    options = {"label": repr(member), **options}
    if is_bars(member, x):
        from matplotlib.ticker import MaxNLocator

        translucent: dict[str, Any] = {"alpha": 0.7, **options}
        ax.bar(x, density, **translucent)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        return
    (line,) = ax.plot(x, density, **options)
    area = ax.fill_between(x, density, color=line.get_color(), alpha=0.15 * (line.get_alpha() or 1.0), linewidth=0)
    area.sticky_edges.y.append(0.0)  # no margin below the base line


def _contours(member: Family, ax: Axes, options: dict[str, Any]) -> None:
    x, y, density = density_grid(member)
    ax.contourf(x, y, density, **_shades(density) | options)


def _triangle(member: Family, ax: Axes, options: dict[str, Any]) -> None:
    """Three shares as a point of a triangle, each corner all of one share."""
    x, y, density = density_triangle(member)
    ax.tricontourf(x, y, density, **_shades(density) | options)
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color="0.4", linewidth=1)
    for state, (x, y) in enumerate(CORNERS):
        ax.annotate(str(state), (x, y), (0, 6 if y else -14), textcoords="offset points", ha="center")
    ax.set_aspect("equal")
    ax.set_axis_off()


def _shades(density: np.ndarray) -> dict[str, Any]:
    """Even levels from 0 to where few places are higher, so that a peak in a corner does not hide the rest."""
    darkest = max(np.quantile(density, 1 - PEAK), density.max() / STEEPEST) or 1.0
    return {"cmap": "Blues", "levels": np.linspace(0.0, darkest, NUM_SHADES), "extend": "max"}


# by what the values are, and their shape
DRAWERS: dict[tuple[type, tuple[int, ...]], Callable[[Any, Any, dict[str, Any]], None]] = {
    (Interval, ()): _numbers,
    (Angles, ()): _numbers,
    (Integers, ()): _numbers,
    (Vectors, (2,)): _contours,
    (Simplex, (3,)): _triangle,
}


register(plot, Family, density)
register(plot, Density, density)
