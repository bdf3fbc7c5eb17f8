"""Pictures of comparisons of learners: the critical-difference diagram, intervals, and posterior probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.dispatch import register
from juncture.drawing.pictures import plot
from juncture.evaluation.comparison.bayesian import BayesianComparison
from juncture.evaluation.comparison.rank_tests import FriedmanTest
from juncture.evaluation.comparison.table import LearnerComparison
from juncture.plotting.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"  # told apart by colour-blind eyes


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
