"""Pictures of evaluation: measures, protocols, learners compared, models compared, and decisions.

Confusion matrices, curves over thresholds and reliability diagrams; scores of test parts and curves with bands; the
critical-difference diagram, intervals and posterior probabilities of learners; criteria against the number of
parameters, and the shape k of each row's weights; the value of observations as bars, the regions of a rule as colours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.errors import InvalidData
from juncture.evaluation.decisions.regions import DecisionRegions
from juncture.evaluation.learners.bayesian import BayesianComparison
from juncture.evaluation.learners.compare import LearnerComparison
from juncture.evaluation.learners.rank_tests import FriedmanTest
from juncture.evaluation.measures.calibration import Calibration
from juncture.evaluation.measures.classification import ConfusionMatrix, ScoreCurve
from juncture.evaluation.models.compare import ModelComparison, ModelScore
from juncture.evaluation.protocols.cross_validation import CrossValidation
from juncture.evaluation.protocols.learning_curves import ScoreBands
from juncture.inference.decisions.value_of_information import InformationValues
from juncture.plots.panels import as_axes, new_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


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


def plot_critical_difference(test: FriedmanTest, ax: Any = None) -> Axes:
    """Learners on a line of mean ranks, the best on the left; bars join groups that do not differ significantly."""
    axes = as_axes(ax)
    order = np.argsort(test.mean_ranks, kind="stable")
    half = -(-len(order) // 2)
    for place, learner in enumerate(order):
        is_left = place < half
        height = -1.0 - (place if is_left else len(order) - 1 - place)
        draw_learner(axes, test.names[learner], float(test.mean_ranks[learner]), height, len(order), is_left)
    rank_of = dict(zip(test.names, test.mean_ranks.tolist(), strict=True))
    groups = [group for group in test.groups if len(group) > 1]
    for place, group in enumerate(groups):
        ranks, height = [rank_of[name] for name in group], -0.2 - 0.6 * place / len(groups)
        axes.plot([min(ranks) - 0.04, max(ranks) + 0.04], [height, height], color=ORANGE, lw=3, solid_capstyle="round")
    draw_scale(axes, len(order), test.critical_difference, half)
    return axes


def draw_learner(axes: Axes, name: str, rank: float, height: float, number: int, is_left: bool) -> None:
    """A line from the scale down to the name of a learner, at its side."""
    side = 0.8 if is_left else number + 0.2
    axes.plot([rank, rank, side], [0.0, height, height], color="0.35", lw=1)
    axes.text(side, height, f"{name}  " if is_left else f"  {name}", ha="right" if is_left else "left", va="center")


def draw_scale(axes: Axes, number: int, critical: float, depth: int) -> None:
    """The line of ranks, and the critical difference above it."""
    axes.plot([1, number], [0, 0], color="black", lw=1)
    for rank in range(1, number + 1):
        axes.plot([rank, rank], [0, 0.12], color="black", lw=1)
        axes.text(rank, 0.18, str(rank), ha="center", va="bottom")
    axes.plot([1, 1 + critical], [0.8, 0.8], color="black", lw=2)
    axes.text(1 + critical / 2, 0.88, f"critical difference {critical:.2f}", ha="center", va="bottom")
    axes.set(ylim=(-depth - 0.6, 1.5), xlim=(0.2 - 0.25 * number, number + 0.8 + 0.25 * number))
    axes.set_axis_off()


def plot_pairs(comparison: LearnerComparison, ax: Any = None) -> Axes:
    """The difference of each pair with its interval; what lies in the grey region does not matter in practice."""
    axes = as_axes(ax)
    heights = -np.arange(len(comparison.pairs))
    axes.axvspan(-comparison.rope, comparison.rope, color="0.9", zorder=0)
    axes.axvline(0.0, color="0.5", lw=1, zorder=1)
    for height, pair in zip(heights, comparison.pairs, strict=True):
        color = BLUE if pair.low > 0 or pair.high < 0 else GREY
        axes.plot([pair.low, pair.high], [height, height], color=color, lw=2)
        axes.plot(pair.difference, height, "o", color=color)
    axes.set_yticks(heights, [f"{pair.first} - {pair.second}" for pair in comparison.pairs])
    axes.set_xlabel(f"difference of scores, with intervals of {100 * comparison.confidence:g} %")
    return axes


def plot_probabilities(comparison: BayesianComparison, ax: Any = None) -> Axes:
    """The posterior probabilities that the second is better, both are equivalent, or the first is better."""
    axes = as_axes(ax)
    axes.bar([0, 1, 2], comparison.probabilities, color=[ORANGE, GREY, BLUE])
    axes.set_xticks([0, 1, 2], ["second better", "equivalent", "first better"])
    axes.set(ylim=(0.0, 1.0), ylabel="posterior probability")
    return axes


register(plot, FriedmanTest, plot_critical_difference)
register(plot, LearnerComparison, plot_pairs)
register(plot, BayesianComparison, plot_probabilities)


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
