"""Beliefs as text and as HTML: of variables, and of the steps of a sequence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import count, islice
from typing import TYPE_CHECKING

import numpy as np

from juncture.base.values import number_of
from juncture.drawing.html import Markup, html_table
from juncture.errors import TooLarge
from juncture.factors.printed_tables import MAX_HTML_COLUMNS, MAX_HTML_ROWS, format_omitted
from juncture.inference.engines.real_marginals import summarize

if TYPE_CHECKING:
    from juncture.drawing.diagram import Drawing
    from juncture.inference.engines.beliefs import Beliefs

MAX_VARIABLES = 20
BAR_WIDTH, STEP_BAR_WIDTH = 120, 60
TOO_LARGE = "too large to compute"


def beliefs_text(beliefs: Beliefs) -> str:
    """How the answer was obtained, then a line per variable."""
    head = f"Beliefs({format_method(beliefs)}, {number_of(len(beliefs.targets), 'variable')}"
    if not beliefs.is_single:
        return f"{head}, {number_of(beliefs.findings.num_rows, 'row')})"
    lines = [f"{head}, {format_log_evidence(beliefs)})"]
    lines += [f"  {name}: {marginal_text(beliefs, name)}" for name in beliefs.targets[:MAX_VARIABLES]]
    if len(beliefs.targets) > MAX_VARIABLES:
        lines.append(f"  … and {len(beliefs.targets) - MAX_VARIABLES} more")
    return "\n".join(lines)


def format_log_evidence(beliefs: Beliefs) -> str:
    try:
        value = beliefs.log_evidence
    except TooLarge:
        return "log evidence too large to compute"
    return "no estimate of the log evidence" if value is None else f"log evidence {value:.6g}"


def marginal_text(beliefs: Beliefs, name: str) -> str:
    """The probability of each state, or the mean and the variance."""
    try:
        return ", ".join(f"{label} {number:.4g}" for label, number in summarize(beliefs[name]).items())
    except TooLarge:
        return TOO_LARGE


def format_method(beliefs: Beliefs) -> str:
    return f"{beliefs.method}, {'exact' if beliefs.exact else 'approximate'}"


def beliefs_html(beliefs: Beliefs) -> str:
    """A table with a bar per state; for many rows, a line of bars for each of them."""
    if not beliefs.is_single:
        return row_beliefs_html(beliefs)
    rows = "".join(variable_html(beliefs, name) for name in beliefs.targets[:MAX_VARIABLES])
    more = len(beliefs.targets) - MAX_VARIABLES
    note = f"<p>… and {more} more variables</p>" if more > 0 else ""
    caption = f"<caption>{escape(format_method(beliefs))}, {format_log_evidence(beliefs)}</caption>"
    return f"<table>{caption}{rows}</table>{note}"


def row_beliefs_html(beliefs: Beliefs) -> str:
    """For each of the first rows a bar per state of the first variables."""
    scope = [beliefs.model.variable(name) for name in beliefs.targets]
    if any(variable.is_real for variable in scope):
        return row_moments_html(beliefs)
    shown = list(islice(((variable.name, label) for variable in scope for label in variable.labels), MAX_HTML_COLUMNS))
    shares = [beliefs[name][label] for name, label in shown]
    heads = [f"{name}={label}" for name, label in shown]
    words, num_rows = beliefs_text(beliefs), beliefs.findings.num_rows
    if not shares or not num_rows:
        return f"<p><code>{escape(words)}</code></p>"
    size = num_rows, sum(variable.num_states for variable in scope)
    return steps_html(words, heads, np.column_stack(shares), "row", index=beliefs.findings.index, size=size)


def row_moments_html(beliefs: Beliefs) -> str:
    """For each of the first rows the moments of real variables, and the probabilities of states."""
    columns = {
        f"{label} of {name}": np.atleast_1d(numbers)
        for name in beliefs.targets[:MAX_HTML_COLUMNS]
        for label, numbers in summarize(beliefs[name]).items()
    }
    index = count() if beliefs.findings.index is None else beliefs.findings.index
    rows = zip(index, *([f"{number:.4g}" for number in column] for column in columns.values()), strict=False)
    return states_html(
        beliefs_text(beliefs), ["row", *columns], islice(rows, beliefs.findings.num_rows), beliefs.findings.num_rows
    )


def variable_html(beliefs: Beliefs, name: str) -> str:
    try:
        found = beliefs[name]
    except TooLarge:
        return f'<tr><th>{escape(name)}</th><td colspan="3">{TOO_LARGE}</td></tr>'
    marginal = summarize(found)
    if beliefs.model.variable(name).is_real:
        from juncture.drawing.curves import curve_svg
        from juncture.networks.densities import density_heights

        moments = f"mean {marginal['mean']:.6g}, standard deviation {np.sqrt(marginal['variance']):.6g}"
        heights = density_heights(found)
        curve = f"<td>{curve_svg(heights)}</td>" if heights else ""
        return f'<tr><th>{escape(name)}</th><td colspan="{2 if heights else 3}">{moments}</td>{curve}</tr>'
    head = f'<th rowspan="{len(marginal)}">{escape(name)}</th>'
    rows = []
    for label, probability in marginal.items():
        bar = bar_html(probability, BAR_WIDTH)
        rows.append(f"<tr>{head}<td>{escape(str(label))}</td><td>{probability:.4f}</td><td>{bar}</td></tr>")
        head = ""
    return "".join(rows)


def bar_html(probability: float, full: int) -> str:
    return f'<div style="background:#4c78a8;height:0.8em;width:{probability * full:.0f}px"></div>'


def steps_html(
    words: str,
    labels: Sequence[object],
    distributions: np.ndarray,
    unit: str = "step",
    *,
    index: Iterable[object] | None = None,
    size: tuple[int, int] | None = None,
    picture: Drawing | None = None,
) -> str:
    """A line of words, and the distribution of each step or row: a row of bars, one a state; a picture before it.

    Rows are named by the `index`, or numbered; `size` is that of the whole table, where only a part is given.
    """
    names = islice(count() if index is None else index, MAX_HTML_ROWS)
    shares = distributions[:MAX_HTML_ROWS, :MAX_HTML_COLUMNS].tolist()
    rows = ((name, *map(share_html, row)) for name, row in zip(names, shares, strict=False))
    note = format_omitted(*(distributions.shape if size is None else size))
    return picture_html(words, picture, len(distributions)) + html_table(
        [unit, *labels[:MAX_HTML_COLUMNS]], rows, note, num_labels=1
    )


def picture_html(words: str, picture: Drawing | None, num_steps: int) -> str:
    """The words, and the picture where there is one that has some steps."""
    shown_words = f"<p><code>{escape(words)}</code></p>"
    if picture is None or not num_steps:
        return shown_words
    from juncture.drawing.svg import to_svg

    return shown_words + to_svg(picture)


def share_html(share: float) -> Markup:
    """A probability with its bar; NaN has no bar."""
    return Markup(f"{share:.4f}{bar_html(0.0 if np.isnan(share) else share, STEP_BAR_WIDTH)}")


def intervals_html(
    words: str, means: np.ndarray, deviations: np.ndarray, picture: Drawing, *, index: Iterable[object] | None = None
) -> str:
    """A line of words, a picture, and the mean and standard deviation of each coordinate (step, coordinate)."""
    pairs = zip(
        means[:MAX_HTML_ROWS, :MAX_HTML_COLUMNS].tolist(),
        deviations[:MAX_HTML_ROWS, :MAX_HTML_COLUMNS].tolist(),
        strict=True,
    )
    rows = (
        (step, *(f"{mean:.4g} ± {deviation:.4g}" for mean, deviation in zip(*pair, strict=True)))
        for step, pair in zip(count() if index is None else index, pairs, strict=False)
    )
    table = html_table(
        ["step", *range(means[:, :MAX_HTML_COLUMNS].shape[1])], rows, format_omitted(*means.shape), num_labels=1
    )
    return picture_html(words, picture, len(means)) + table


def states_html(
    words: str, heads: Iterable[object], rows: Iterable[Iterable[object]], *size: int, picture: Drawing | None = None
) -> str:
    """A line of words, and the first rows of a table of states; `size` is that of the whole table."""
    table = html_table(heads, islice(rows, MAX_HTML_ROWS), format_omitted(*size), num_labels=1)
    return picture_html(words, picture, size[0]) + table
