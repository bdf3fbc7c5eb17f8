"""The report of a comparison: one HTML page with its style and images inside; every text of the user is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from juncture.base.values import short
from juncture.drawing.html import html_table
from juncture.estimators.comparison.figures import PageFigure, describe_columns, draw_figures
from juncture.estimators.comparison.summary import format_row

if TYPE_CHECKING:
    from juncture.estimators.comparison.result import TableComparison

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
