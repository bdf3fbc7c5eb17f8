"""Pictures of linear classifiers in a plane: the boundary, the band of its margin, points and support vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, Unsupported
from juncture.plotting.panels import as_axes
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.kernels import LinearKernel
from juncture.supervised.linear_classifiers.maximum_margin import MaximumMargin
from juncture.supervised.linear_classifiers.separability import check_labels, check_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = 201
BORDER = 0.15  # of the spread of the points, on each side


def plot_hyperplane(boundary: Hyperplane, points: Any, labels: Any, ax: Any = None) -> Axes:
    """The line w·x + b = 0 between points of two classes, with the band up to the nearest of them."""
    places = check_points(points)
    is_second = check_labels(labels, len(places))
    axes = as_axes(ax)
    nearest = boundary.margin(places, is_second)
    levels = [-nearest, 0.0, nearest] if nearest > 0 else [0.0]
    draw_levels(axes, boundary.signed_distance, places, levels)
    draw_points(axes, places, is_second)
    if nearest > 0:
        touching = boundary.geometric_margins(places, is_second) <= nearest * (1 + 1e-6)
        circle(axes, places[touching], f"margin {nearest:.3g}")
    finish(axes)
    return axes


def plot_machine(machine: MaximumMargin, ax: Any = None) -> Axes:
    """The boundary a(x) = 0, the ends of the margin a(x) = ±1, and the support vectors in circles."""
    axes = as_axes(ax)
    draw_levels(axes, machine.activation, machine.points, [-1.0, 0.0, 1.0])
    draw_points(axes, machine.points, machine.labels)
    width = f", margin {machine.margin:.3g}" if type(machine.kernel) is LinearKernel else ""
    circle(axes, machine.points[machine.support], "support vectors" + width)
    finish(axes)
    return axes


def draw_levels(axes: Axes, function: Any, points: np.ndarray, levels: list[float]) -> None:
    """Lines of equal values: 0 solid, others dashed; the two sides of 0 are shaded."""
    if points.shape[1] != 2:
        raise Unsupported(f"a boundary is drawn in a plane; the points have {points.shape[1]} coordinates")
    if not len(points):
        raise InvalidData("there is no point around which a boundary could be drawn: give at least one")
    low, high = points.min(axis=0), points.max(axis=0)
    room = BORDER * np.where(high > low, high - low, 1.0)
    across, up = (np.linspace(one, other, GRID) for one, other in zip(low - room, high + room, strict=True))
    grid = np.stack(np.meshgrid(across, up), axis=2)
    values = function(grid.reshape(-1, 2)).reshape(GRID, GRID)
    axes.contourf(across, up, values, levels=[-np.inf, 0, np.inf], colors=["C0", "C1"], alpha=0.08)
    styles = ["solid" if level == 0 else "dashed" for level in levels]
    axes.contour(across, up, values, levels=levels, colors="0.3", linestyles=styles, linewidths=1.2)


def draw_points(axes: Axes, points: np.ndarray, is_second: np.ndarray) -> None:
    for side, (color, marker, name) in enumerate((("C0", "o", "first class"), ("C1", "s", "second class"))):
        own = points[is_second == bool(side)]
        axes.scatter(own[:, 0], own[:, 1], color=color, marker=marker, s=24, label=name)


def circle(axes: Axes, points: np.ndarray, label: str) -> None:
    axes.scatter(points[:, 0], points[:, 1], s=110, facecolors="none", edgecolors="0.2", label=label)


def finish(axes: Axes) -> None:
    """Equal scales, so that distances are seen as they are, and the legend."""
    axes.set_aspect("equal")
    axes.legend(fontsize="small", framealpha=0.9)


register(plot, Hyperplane, plot_hyperplane)
register(plot, MaximumMargin, plot_machine)
