"""Pictures of learners compared on one table: mean scores with intervals, and the importance of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.dispatch import register
from juncture.base.values import short
from juncture.cli.comparison.result import ColumnImportance, TableComparison
from juncture.drawing.pictures import plot
from juncture.plots.panels import as_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = {"best": "#0072b2", "equivalent": "#0072b2", "undecided": "#999999", "worse": "#d55e00"}
MEANING = {"best": "best", "equivalent": "equivalent", "undecided": "undecided", "worse": "worse than the best"}
MARKS = {"best": "D", "equivalent": "D", "undecided": "o", "worse": "s"}
MAX_COLUMNS, MAX_LETTERS = 20, 30


def plot_learners(found: TableComparison, ax: Any = None) -> Axes:
    """The mean score of each learner with its interval, the best at the top, and the score of each test part."""
    axes = as_axes(ax)
    seen: set[str] = set()
    for place, learner in enumerate(found.finished):
        verdict, scores = found.verdict(learner), learner.scores[found.metric].reshape(-1)
        color, (low, high) = COLORS[verdict], found.interval(learner)
        label = None if verdict in seen else MEANING[verdict]
        seen.add(verdict)
        axes.plot(scores, np.full(len(scores), -place), "|", color=color, alpha=0.4)
        axes.plot([low, high], [-place, -place], color=color, lw=2)
        axes.plot(scores.mean(), -place, MARKS[verdict], color=color, label=label)
    axes.set_yticks(-np.arange(len(found.finished)), [learner.name for learner in found.finished])
    way = "higher" if found.measure.higher_is_better else "lower"
    axes.set_xlabel(f"{found.measure.title}, with intervals of 95 % ({way} is better)")
    axes.legend(loc="best", fontsize="small")
    return axes


def plot_importance(found: ColumnImportance, ax: Any = None) -> Axes:
    """The mean fall of the score for each column, with one standard deviation over the folds."""
    axes = as_axes(ax)
    falls = found.falls[:MAX_COLUMNS]
    heights, means = -np.arange(len(falls)), falls.mean(axis=1)
    axes.axvline(0.0, color="0.5", lw=1)
    axes.barh(heights, means, xerr=falls.std(axis=1), color=COLORS["best"], ecolor="0.4", height=0.7)
    axes.set_yticks(heights, [short(name, MAX_LETTERS) for name in found.names[:MAX_COLUMNS]])
    axes.set_xlabel("fall of the score, column permuted")
    return axes


register(plot, TableComparison, plot_learners)
register(plot, ColumnImportance, plot_importance)
