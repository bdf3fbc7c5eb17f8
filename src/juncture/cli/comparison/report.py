"""The report of a comparison: sentences, tables and figures in one HTML page; every text of the user is escaped.

Style and images stand inside the page: each value draws itself, and the drawing becomes an image.
"""

from __future__ import annotations

import io
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.values import few, number_of, short
from juncture.cli.comparison.learners import BASELINE
from juncture.drawing.notebook import html_table
from juncture.drawing.pictures import plot
from juncture.errors import MissingExtra
from juncture.evaluation.measures.calibration import calibration
from juncture.evaluation.measures.classification import (
    ConfusionMatrix,
    confusion_matrix,
    precision_recall_curve,
    roc_curve,
)

if TYPE_CHECKING:
    from juncture.cli.comparison.result import LearnerResult, TableComparison

MAX_PATTERNS = 10
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"  # the page loads nothing and runs nothing
STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --page: #ffffff; --soft: #57606a; --line: #d0d7de; --mark: #eef4fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --page: #0d1117; --soft: #9aa4af; --line: #30363d; --mark: #16263a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 1.5rem 1rem 4rem; font: 16px/1.55 system-ui, sans-serif;
  color: var(--ink); background: var(--page); overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
p.note, figcaption, small { color: var(--soft); }
.wide { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td.text, .columns th, .columns td { text-align: left; }
th, td { white-space: nowrap; } .wide + .wide { margin-top: 1.5rem; } thead th { color: var(--soft); font-weight: 600; }
tbody tr:first-child { background: var(--mark); } .plain tbody tr:first-child { background: none; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1.5rem; }
figure { margin: 0; border: 1px solid var(--line); border-radius: 8px; padding: .8rem; }
figure h3 { margin: 0 0 .3rem; font-size: 1rem; }
figure img { width: 100%; height: auto; background: #fff; border-radius: 4px; margin-top: .5rem; }
details { margin-top: 1rem; } summary { cursor: pointer; }
"""


def write_report(found: TableComparison) -> str:
    """The whole page."""
    title = escape(f"Predicting {found.task.target}")
    head = (
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{title}</title><style>{STYLE}</style>'
    )
    body = "\n".join([f"<h1>{title}</h1>", *write_sections(found)])
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def write_sections(found: TableComparison) -> Iterator[str]:
    yield "".join(f"<p>{escape(sentence)}</p>" for sentence in found.summary())
    yield "<h2>Learners</h2>"
    yield wide(learner_table(found))
    yield f'<p class="note">{escape(explain_table(found))}</p>'
    yield f"<h3>All scores</h3>{wide(score_table(found))}"
    yield from list_problems(found)
    yield "<h2>Pictures</h2>"
    yield '<div class="figures">' + "".join(map(write_figure, draw_figures(found))) + "</div>"
    if found.comparison is not None:
        pairs = wide(found.comparison._repr_html_(), "plain")
        yield f"<details><summary>All pairs of learners</summary>{pairs}</details>"
    yield from write_overview(found)


def wide(table: str, kind: str = "") -> str:
    """A table that scrolls by itself where the page is narrow."""
    return f'<div class="wide {kind}">{table}</div>'


def learner_table(found: TableComparison) -> str:
    """The mean of each learner with its interval, and how it compares with the best."""
    heads = ["learner", "of", found.metric, "interval", "difference", "p", "better", "equivalent", "verdict", "seconds"]
    rows = []
    for row in found.rows():
        name, *cells = format_row(row)
        rows.append([name, row["of"], *cells, f"{row['seconds']:.1f}"])
    return html_table(heads, rows, num_labels=1)


def score_table(found: TableComparison) -> str:
    """The means of all scores of the learners that have them."""
    names = list(found.best.scores)
    rows = [[one.name, *(f"{one.scores[name].mean():.4g}" for name in names)] for one in found.finished]
    return html_table(["learner", *names], rows, num_labels=1)


def explain_table(found: TableComparison) -> str:
    """What the columns of the table mean."""
    way = "higher" if found.measure.higher_is_better else "lower"
    rope = "" if found.comparison is None else f" by more than {found.comparison.rope:.3g}"
    return (
        f"{found.measure.title}: {way} is better. Intervals of 95 % and the p-values, adjusted for all pairs, are"
        " those of the corrected t-test, as folds share training rows. “better” is the posterior probability that the"
        f" best learner is better{rope}, “equivalent” that they differ by less (Bayesian correlated t). A verdict needs"
        " a probability of 0.95, “worse” a p-value of at most 0.05 too."
        " Intervals end where the score does. “seconds” is processor time for all test parts. The best learner was"
        " chosen by these same scores, so its own mean is somewhat too good."
    )


def list_problems(found: TableComparison) -> Iterator[str]:
    """Learners that failed or warned."""
    lines = [f"{one.name} failed: {one.failure}" for one in found.learners if one.failure is not None]
    lines += [f"{one.name} warned: {short(text, 300)}" for one in found.learners for text in one.warnings]
    if lines:
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        yield f"<details><summary>Failures and warnings</summary><ul>{items}</ul></details>"


def write_figure(figure: PageFigure) -> str:
    title, caption = escape(figure.title), escape(figure.caption)
    return (
        f"<figure><h3>{title}</h3><figcaption>{caption}</figcaption>"
        f'<img alt="{title}: {caption}" src="{figure.address}"></figure>'
    )


def write_overview(found: TableComparison) -> Iterator[str]:
    """The columns, what is missing, and what was left out."""
    task = found.task
    yield "<h2>Data</h2>"
    yield "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in task.notes) + "</ul>"
    if task.has_classes:
        yield wide(class_table(found), "plain columns")
    heads = ["column", "kind", "values", "missing", "such as"]
    yield wide(html_table(heads, describe_columns(found), num_labels=1), "plain columns")
    patterns = [(names, weight) for names, weight in found.missing.patterns.items() if names]
    if patterns:
        rows: list[list[Any]] = [
            [f"{weight:,.0f}", short(", ".join(names), 300)] for names, weight in patterns[:MAX_PATTERNS]
        ]
        more = f"; the {MAX_PATTERNS} most frequent of {len(patterns):,}" if len(patterns) > MAX_PATTERNS else ""
        yield f"<h3>Missing together</h3>{wide(html_table(['rows', f'columns{more}'], rows), 'plain columns')}"


def class_table(found: TableComparison) -> str:
    """How many rows each class has."""
    codes, labels = found.task.outcomes, found.task.labels
    counts = [int((codes == code).sum()) for code in range(len(labels))]
    rows = [
        [short(str(label), 60), f"{count:,}", f"{100 * count / len(codes):.1f} %"]
        for label, count in zip(labels, counts, strict=True)
    ]
    return html_table(["class", "rows", "share"], rows, num_labels=1)


def summarize(found: TableComparison) -> list[str]:
    """The protocol, the best learner, the learners that are as good, the baseline, and what is missing."""
    task, best = found.task, found.best
    size = f"{number_of(len(task.cells), 'row')} and {number_of(len(task.names), 'column')}"
    parts = f"{number_of(found.repeats, 'repeat')} of {found.folds} folds"
    low, high = found.interval(best)
    mean = found.validation(best).mean
    sentences = [
        f"{task.target} is predicted as {task.kind} from {size}, by {parts}.",
        f"The best mean {found.measure.title} is that of {best.name}: {mean:.4g}, interval {low:.4g} to {high:.4g}.",
        *describe_groups(found),
        *describe_baseline(found),
    ]
    failed = [learner.name for learner in found.learners if learner.failure is not None]
    if failed:
        sentences.append(f"Failed, with the reason in the table: {few(failed, most=20)}.")
    if found.interrupted:
        sentences.append(f"The comparison was interrupted; not finished: {few(found.interrupted, most=20)}.")
    return sentences


def names_of(found: TableComparison, verdict: str) -> str:
    return few([one.name for one in found.finished[1:] if found.verdict(one) == verdict], most=20)


def describe_groups(found: TableComparison) -> list[str]:
    """Which learners are as good, which are worse, and which cannot be told apart from the best."""
    words = {
        "equivalent": "Practically equivalent to it: {}.",
        "undecided": "These folds do not settle whether it is better than {}.",
        "worse": "Worse than it: {}.",
    }
    return [text.format(names) for verdict, text in words.items() if (names := names_of(found, verdict))]


def describe_baseline(found: TableComparison) -> list[str]:
    """A warning where the best learner is not better than a prediction that looks at no column."""
    base = next((one for one in found.finished if one.name == BASELINE), None)
    if base is None or (base is not found.best and found.verdict(base) == "worse"):
        return []
    return ["No learner is shown to be better than the baseline, which does not look at the columns."]


def format_row(row: Mapping[str, Any]) -> list[str]:
    """A learner as a line of the printed table; its numbers are empty where there are none."""
    interval = "" if row["low"] is None else f"[{digits(row['low'], 3)}, {digits(row['high'], 3)}]"
    mean = "" if row["mean"] is None else digits(row["mean"], 4)
    if row["difference"] is None:
        return [row["learner"], mean, interval, "", "", "", "", row["verdict"]]
    numbers = [
        digits(row["difference"], 3, "+"),
        f"{row['p_value']:.2g}",
        f"{row['better']:.3f}",
        f"{row['equivalent']:.3f}",
    ]
    return [row["learner"], mean, interval, *numbers, row["verdict"]]


def digits(number: float, count: int, sign: str = "") -> str:
    """So many significant digits; numbers below a billion without a power of ten.

    >>> digits(0.81234, 4), digits(100283.2, 4), digits(-1523.4, 3, "+")
    ('0.8123', '100300', '-1520')
    """
    text = f"{number:{sign}.{count}g}"
    return f"{float(text):{sign}.0f}" if 1 <= abs(number) < LARGE and "e" in text else text


LARGE = 1e9
MAX_CURVES = 4
MAX_CLASSES = 12  # of a confusion matrix that can be read
MAX_POINTS = 2000
MAX_LETTERS = 6  # of a class that is written along its column
BLUE = "#0072b2"
FIGURE_STYLE: Any = {
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
    with rc_context(FIGURE_STYLE), warnings.catch_warnings():
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
    reliability = calibration(event, given, draws=100, rng=0)
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
