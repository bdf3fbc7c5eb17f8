"""Pictures of regressions, of descent, and of linear classifiers in a plane.

Regressions: predictive bands, the ridge path, steps and the way that they take. Classifiers: the boundary, the band of
its margin, points and support vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array, check_flag, check_number
from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData, Unsupported
from juncture.numerics.descent import Descent
from juncture.plots.panels import as_axes
from juncture.supervised.linear_classifiers.decision_function import check_labels, check_points
from juncture.supervised.linear_classifiers.hyperplane import Hyperplane
from juncture.supervised.linear_classifiers.kernels import LinearKernel
from juncture.supervised.linear_classifiers.maximum_margin import MaximumMargin
from juncture.supervised.regression.bayesian import GaussianWeights, PosteriorFit
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel
from juncture.supervised.regression.inputs_and_targets import read_classes, read_inputs, read_targets
from juncture.supervised.regression.laplace import LaplaceLogistic
from juncture.supervised.regression.linear import LinearFit, LinearRegression, RidgePath
from juncture.supervised.regression.logistic import LogisticFit, LogisticRegression

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from juncture.supervised.regression.bases import FeatureModel

NUM_POINTS = 200


def plot_regression(
    model: FeatureModel, X: Any = None, y: Any = None, *, between: Any = None, confidence: float = 0.9, ax: Any = None
) -> Axes:
    """The mean of the target along one input, and the band that holds a share `confidence` of all targets.

    `X` and `y` are rows to mark. `between` holds the ends of the line, by default those of the rows and a
    tenth beyond them.
    """
    share = check_number(confidence, "confidence", above=0, below=1)
    rows = None if X is None else read_inputs(X, model.feature_names)
    at = line_of(rows, between)
    axes = as_axes(ax)
    mean, low, high = band_of(model, at, share)
    if low is not None:
        axes.fill_between(at, low, high, alpha=0.2, linewidth=0, label=f"{100 * share:g} % of targets")
    axes.plot(at, mean, label="mean")
    if rows is not None and y is not None:
        axes.plot(rows[:, 0], read_targets(y, len(rows)), "o", color="black", markersize=4)
    axes.set(xlabel=(model.feature_names or ["input"])[0], ylabel="target")
    axes.legend(frameon=False)
    return axes


def plot_probabilities(
    model: LogisticRegression | LaplaceLogistic,
    X: Any = None,
    y: Any = None,
    *,
    between: Any = None,
    ax: Any = None,
) -> Axes:
    """The probability of each class along one input.

    `X` and `y` are rows to mark, those of a class on its height 1. `between` holds the ends of the line, by
    default those of the rows and a tenth beyond them.
    """
    rows = None if X is None else read_inputs(X, model.feature_names)
    at = line_of(rows, between)
    codes = None if rows is None or y is None else read_classes(y, len(rows), model.classes)[1]
    axes = as_axes(ax)
    for code, (label, shares) in enumerate(zip(model.classes, model.predict_proba(at).T, strict=True)):
        (line,) = axes.plot(at, shares, label=str(label))
        if rows is not None and codes is not None:
            own = rows[codes == code, 0]
            axes.plot(own, np.ones(len(own)), "|", color=line.get_color(), markersize=8)
    axes.set(xlabel=(model.feature_names or ["input"])[0], ylabel="probability")
    axes.legend(frameon=False)
    return axes


def line_of(rows: np.ndarray | None, between: Any) -> np.ndarray:
    """Points along the one input."""
    if rows is not None and rows.shape[1] != 1:
        raise Unsupported(
            f"a regression is plotted along one input; these rows have {rows.shape[1]}: choose one of them"
        )
    if between is None and rows is None:
        raise InvalidData("give X= (and y=), the rows to mark, or between=(low, high), the ends of the line")
    if between is None and rows is not None:
        low, high = float(rows.min()), float(rows.max())
        margin = 0.1 * (high - low) or 1.0
        return np.linspace(low - margin, high + margin, NUM_POINTS)
    ends = check_array(between, "between", ndim=1)
    if ends.shape != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
        raise InvalidData(f"between holds two finite numbers, the lower one first; got {ends.tolist()}")
    return np.linspace(ends[0], ends[1], NUM_POINTS)


def band_of(model: Any, at: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
    """The mean at each point, and the quantiles about it; None for those of a model without noise."""
    if isinstance(model, LinearRegression) and not model.noise_variance > 0:
        return model.mean(at), None, None
    predicted = model.predict(at)
    low, high = (np.asarray(predicted.quantile(0.5 + sign * level / 2)) for sign in (-1, 1))
    return np.asarray(predicted.mean), low, high


def plot_fit(fit: Any, X: Any = None, y: Any = None, **options: Any) -> Axes:
    """The regression that was learned, as `plot_regression` draws it, or `plot_probabilities` of classes."""
    draw: Any = plot_probabilities if isinstance(fit, LogisticFit) else plot_regression
    found: Axes = draw(fit.model, X, y, **options)
    return found


def plot_path(path: RidgePath, ax: Any = None) -> Axes:
    """Each coefficient along the strengths of the penalty; a line marks the least error of the rows left out."""
    axes = as_axes(ax)
    axes.plot(path.strengths, path.coefficients)
    best = path.strengths[int(path.leave_one_out.argmin())]
    axes.axvline(best, color="0.5", linestyle=":", label="least error left out")
    axes.set_xscale("log" if (path.strengths > 0).all() else "symlog")
    axes.set(xlabel="strength of the penalty", ylabel="coefficient")
    axes.legend(frameon=False)
    return axes


def plot_descent(
    course: Descent, function: Callable[[np.ndarray], Any] | None = None, *, path: bool = False, ax: Any = None
) -> Axes:
    """The value after each step; with `path`, the way through the plane of two parameters.

    With `path` and the `function` that was minimised, its contours are drawn below the way.
    """
    axes = as_axes(ax)
    if not check_flag(path, "path"):
        axes.plot(np.arange(len(course.values)), course.values, ".-")
        axes.set(xlabel="step", ylabel="value")
        return axes
    if course.points.shape[1] != 2:
        raise Unsupported(f"a way is drawn in the plane of 2 parameters; this descent has {course.points.shape[1]}")
    if function is not None:
        draw_contours(axes, course.points, function)
    axes.plot(*course.points.T, ".-", color="C1")
    axes.plot(*course.points[-1], "o", color="black")
    axes.set(xlabel="first parameter", ylabel="second parameter")
    return axes


def draw_contours(axes: Any, points: np.ndarray, function: Callable[[np.ndarray], Any]) -> None:
    """The contours of a function about the points."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.15 * np.maximum(high - low, 1e-3 * max(1.0, float(np.abs(points).max())))
    grid = [np.linspace(first, last, 60) for first, last in zip(low - margin, high + margin, strict=True)]
    values = [[float(function(np.array([first, second]))) for first in grid[0]] for second in grid[1]]
    axes.contour(*grid, np.array(values), levels=12, colors="0.75", linewidths=0.8)


register(plot, LinearRegression, plot_regression)
register(plot, GaussianWeights, plot_regression)
register(plot, GeneralizedLinearModel, plot_regression)
register(plot, LogisticRegression, plot_probabilities)
register(plot, LaplaceLogistic, plot_probabilities)
register(plot, LinearFit, plot_fit)
register(plot, LogisticFit, plot_fit)
register(plot, GeneralizedLinearFit, plot_fit)
register(plot, PosteriorFit, plot_fit)
register(plot, RidgePath, plot_path)
register(plot, Descent, plot_descent)
GRID = 201
BORDER = 0.15  # of the spread of the points, on each side


def plot_hyperplane(boundary: Hyperplane, X: Any, y: Any, ax: Any = None) -> Axes:
    """The line w·x + b = 0 between points of two classes, with the band up to the nearest of them."""
    places = check_points(X, boundary.feature_names)
    is_second = check_labels(y, len(places), boundary.classes)
    axes = as_axes(ax)
    nearest = boundary.margin(places, y)
    levels = [-nearest, 0.0, nearest] if nearest > 0 else [0.0]
    draw_levels(axes, boundary.signed_distance, places, levels)
    draw_points(axes, places, is_second)
    if nearest > 0:
        touching = boundary.geometric_margins(places, y) <= nearest * (1 + 1e-6)
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
