"""Figures of the report: each value draws itself, and the drawing becomes an image inside the page."""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.values import few, short
from juncture.drawing.pictures import plot
from juncture.errors import MissingExtra
from juncture.estimators.comparison.learners import BASELINE
from juncture.evaluation.measures.calibration import calibration
from juncture.evaluation.measures.confusion import ConfusionMatrix, confusion_matrix
from juncture.evaluation.measures.curves import precision_recall_curve, roc_curve

if TYPE_CHECKING:
    from juncture.estimators.comparison.result import LearnerResult, TableComparison

MAX_CURVES = 4
MAX_CLASSES = 12  # of a confusion matrix that can be read
MAX_POINTS = 2000
MAX_LETTERS = 6  # of a class that is written along its column
BLUE = "#0072b2"
STYLE: Any = {
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "svg.hashsalt": "juncture",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 9.0,
    # told apart by colour-blind eyes (Okabe and Ito)
    "axes.prop_cycle": "cycler('color', ['0072b2', 'd55e00', '009e73', 'cc79a7'])",
}


class PageFigure(NamedTuple):
    """An image of the page: its heading, what it shows in words, and its address, which holds the image itself."""

    title: str
    caption: str
    address: str


def draw_figures(found: TableComparison) -> Iterator[PageFigure]:
    """The figures that suit the task."""
    height = 1.2 + 0.32 * len(found.finished)
    yield draw("Scores", describe_scores(found), lambda axes: plot(found, ax=axes), height=height)
    if found.comparison is not None:
        yield draw_differences(found)
    yield from draw_classes(found) if found.task.has_classes else draw_numbers(found)
    if found.importance is not None:
        columns = found.importance
        text = f"How much worse the score of {columns.learner} becomes where one column is permuted."
        size = 1.2 + 0.25 * min(len(columns.names), 20)
        yield draw("Columns that matter", text, lambda axes: plot(columns, ax=axes), height=size)


def draw(title: str, caption: str, paint: Callable[[Any], Any], width: float = 5.2, height: float = 3.8) -> PageFigure:
    """An SVG drawing as a data address."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra.named("matplotlib", "plot") from None
    with rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # letters that the font lacks are drawn as boxes
        figure = Figure(figsize=(width, height), layout="constrained")
        paint(figure.subplots())
        text = io.BytesIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
    return PageFigure(title, caption, f"data:image/svg+xml;base64,{b64encode(text.getvalue()).decode()}")


def describe_scores(found: TableComparison) -> str:
    return (
        f"Mean {found.measure.title} of each learner with its interval (corrected for shared training rows); each"
        " stroke is a test part."
    )


def draw_differences(found: TableComparison) -> PageFigure:
    """The differences between the best learner and the others."""
    best: Any = found.comparison
    pairs = replace(best, pairs=tuple(pair for pair in best.pairs if pair.first == found.best.name))
    text = (
        f"The differences from {found.best.name}, positive where it is better. Differences inside the grey region,"
        f" ±{best.rope:.3g}, do not matter in practice."
    )
    return draw("Differences that matter", text, lambda axes: plot(pairs, ax=axes), height=1.2 + 0.3 * len(pairs.pairs))


def draw_classes(found: TableComparison) -> Iterator[PageFigure]:
    """Curves, calibration and confusion of the predictions on rows that the learners had not seen."""
    task, best = found.task, found.best
    code = 1 if len(task.labels) == 2 else int(np.bincount(task.outcomes).argmax())
    event, name = (task.outcomes == code).astype(float), short(str(task.labels[code]), 30)
    shown = [learner for learner in found.finished if learner.name != BASELINE][:MAX_CURVES]
    for title, curve in (("ROC curves", roc_curve), ("Precision and recall", precision_recall_curve)):
        text = f"For the class {name} against the others, by the {len(shown)} best learners, on rows they had not seen."
        yield draw(title, text, partial(draw_curves, learners=shown, event=event, code=code, curve=curve))
    given = np.clip(shares_of(best)[:, code], 0.0, 1.0)
    reliability = calibration(event, given, draws=100)
    text = (
        f"Does the class {name} happen as often as {best.name} says? Expected calibration error"
        f" {reliability.error:.3f}; root mean square {reliability.root_error:.3f}, without its bias"
        f" {reliability.debiased_error:.3f}."
    )
    yield draw("Calibration", text, lambda axes: plot(reliability, ax=axes))
    if len(task.labels) <= MAX_CLASSES:
        labels = [short(str(label), 20) for label in task.labels]
        predicted = shares_of(best).argmax(axis=1)
        matrix = confusion_matrix(task.outcomes, predicted, labels=range(len(labels)))
        named = replace(matrix, labels=tuple(labels))
        size = 2.4 + 0.4 * len(labels)
        yield draw(
            "Confusion",
            f"True and predicted classes of {best.name}.",
            partial(draw_confusion, matrix=named),
            height=size,
        )


def draw_confusion(axes: Any, matrix: ConfusionMatrix) -> None:
    """The matrix; long labels of columns are turned."""
    plot(matrix, ax=axes)
    if max(map(len, matrix.labels)) > MAX_LETTERS:
        axes.tick_params(axis="x", labelrotation=90)


def draw_curves(axes: Any, learners: list[LearnerResult], event: np.ndarray, code: int, curve: Any) -> None:
    for learner in learners:
        plot(curve(event, shares_of(learner)[:, code]), ax=axes, label=learner.name)


def shares_of(learner: LearnerResult) -> np.ndarray:
    """The predictions of a learner that has them."""
    return np.asarray(learner.predictions)


def draw_numbers(found: TableComparison) -> Iterator[PageFigure]:
    """Predicted against true numbers, and residuals, of rows that the best learner had not seen."""
    truth, predicted = found.task.outcomes, shares_of(found.best)
    rows = np.random.default_rng(0).permutation(len(truth))[:MAX_POINTS]
    part = "" if len(rows) == len(truth) else f" A random sample of {len(rows):,} rows."

    def paint_pairs(axes: Any) -> None:
        ends = [min(truth.min(), predicted.min()), max(truth.max(), predicted.max())]
        axes.plot(ends, ends, color="0.6", lw=1, ls="--")
        axes.plot(predicted[rows], truth[rows], ".", color=BLUE, alpha=0.4, ms=4)
        axes.set(xlabel="predicted", ylabel="true")

    def paint_residuals(axes: Any) -> None:
        axes.axhline(0.0, color="0.6", lw=1, ls="--")
        axes.plot(predicted[rows], (truth - predicted)[rows], ".", color=BLUE, alpha=0.4, ms=4)
        axes.set(xlabel="predicted", ylabel="true - predicted")

    yield draw("Predicted and true", f"By {found.best.name}, on rows it had not seen.{part}", paint_pairs)
    yield draw("Residuals", "A pattern here is something that the learner has not learned.", paint_residuals)


def describe_columns(found: TableComparison) -> list[list[str]]:
    """A row for each column: its name, kind, the number of different values, the share missing, and examples."""
    lines = []
    for place, name in enumerate(found.task.names):
        column, texts = found.task.cells[:, place], found.task.texts[place]
        seen = np.unique(column[~np.isnan(column)])
        if texts is None:
            such = f"{seen[0]:.6g} to {seen[-1]:.6g}" if len(seen) else ""
        else:
            such = few([short(texts[int(code)], 20) for code in seen], most=3)
        share = f"{100 * float(np.isnan(column).mean()):.1f} %"
        lines.append([short(name, 60), "numbers" if texts is None else "text", f"{len(seen):,}", share, such])
    return lines
