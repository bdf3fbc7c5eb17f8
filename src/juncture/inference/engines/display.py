"""Answers as text, as HTML and as diagrams: beliefs about variables or the steps of a sequence, and assignments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import chain, count, islice, product, zip_longest
from math import exp, floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import number_of
from juncture.drawing.grids import Grid, GridCell
from juncture.drawing.notebook import Markup, html_table
from juncture.drawing.palette import style_sheet
from juncture.drawing.shares import ShareDiagram, Shares
from juncture.drawing.text import format_percentage, format_value
from juncture.errors import TooLarge
from juncture.factors.printed_tables import MAX_HTML_COLUMNS, MAX_HTML_ROWS, format_omitted
from juncture.inference.engines.posterior_gaussians import summarize
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.drawing.diagram import Drawing
    from juncture.inference.engines.beliefs import Beliefs

MAX_VARIABLES = 20
BAR_WIDTH, STEP_BAR_WIDTH = 120, 60
BAR_COLOUR, OBSERVED_COLOUR = "#4c84bd", "#87919c"  # of bars in tables, on a light ground and on a dark one
TOO_LARGE = "too large to compute"


def beliefs_text(beliefs: Beliefs) -> str:
    """How the answer was obtained, then a line per variable."""
    head = f"Beliefs({obtained_by(beliefs)}, {number_of(len(beliefs.targets), 'variable')}"
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
    """What was observed, or the probability of each state, or the mean and the standard deviation."""
    value, note = observed_value(beliefs, name), finding_note(beliefs, name)
    if value is not None:
        return f"{value} ({note})"
    try:
        numbers = moments_of(beliefs, name)
    except TooLarge:
        return TOO_LARGE
    shown = ", ".join(f"{label} {format_number(*number, 4)}" for label, number in numbers.items())
    return f"{shown} ({note})" if note else shown


def moments_of(beliefs: Beliefs, name: str) -> dict[Any, tuple[float, float | None]]:
    """State → probability, or the mean and the standard deviation; each with its standard error or None.

    The engine gives no error for a standard deviation.
    """
    found = summarize(beliefs[name])
    errors: Sequence[float | None] = errors_of(beliefs, name) or ()
    if beliefs.model.variable(name).is_real:
        found = {"mean": found["mean"], "standard deviation": np.sqrt(found["variance"])}
    pairs = zip_longest(found.items(), errors)
    return {label: (float(number), error) for (label, number), error in pairs}


def format_number(number: float, error: float | None, digits: int) -> str:
    """A number to so many significant digits; with an error, to the second digit of the error.

    >>> format_number(0.48871, None, 4), format_number(0.48871, 0.0113, 4), format_number(0.5, float("inf"), 4)
    ('0.4887', '0.489 ± 0.011', '0.5 ± inf')
    """
    if error is None:
        return f"{number:.{digits}g}"
    if not 0 < error < np.inf:
        return f"{number:.{digits}g} ± {error:.2g}"
    decimals = max(1 - floor(log10(error)), 0)
    return f"{number:.{decimals}f} ± {error:.{decimals}f}"


def observed_value(beliefs: Beliefs, name: str) -> str | None:
    """The value of a variable that was observed in the one row of evidence."""
    if not beliefs.is_single or not beliefs.findings.is_observed(name)[0]:
        return None
    findings, variable = beliefs.findings, beliefs.model.variable(name)
    if name in findings.codes:
        return str(variable.labels[findings.codes[name][0]])
    numbers = np.atleast_1d(findings.reals[name][0]).tolist()
    return format_value(numbers[0]) if len(numbers) == 1 else f"[{', '.join(map(format_value, numbers))}]"


def finding_note(beliefs: Beliefs, name: str) -> str:
    """What the one row of evidence says of a variable: observed, soft evidence, or nothing."""
    findings = beliefs.findings
    if findings.is_observed(name)[0]:
        return "observed"
    return "soft evidence" if name in findings.likelihoods and (findings.likelihoods[name][0] != 1).any() else ""


def errors_of(beliefs: Beliefs, name: str) -> list[float] | None:
    """The standard errors of the marginal of a variable, where the engine draws at random."""
    errors = beliefs.diagnostics.standard_errors
    return np.atleast_1d(errors[name]).tolist() if name in errors else None


def format_draws(beliefs: Beliefs) -> str:
    """How good the draws are, where the engine draws at random."""
    diagnostics = beliefs.diagnostics
    size, r_hat = diagnostics.effective_sample_size, diagnostics.r_hat
    parts = [
        "" if size is None else f"effective sample size {size:,.0f}",
        "" if r_hat is None else f"R-hat {r_hat:.3f}",
    ]
    return "".join(f", {part}" for part in parts if part)


def format_method(beliefs: Beliefs) -> str:
    return f"{beliefs.method}, {'exact' if beliefs.exact else 'approximate'}"


def obtained_by(beliefs: Beliefs) -> str:
    """The method with how good its draws are, and whether it went wrong."""
    return f"{format_method(beliefs)}{format_draws(beliefs)}{'' if beliefs.converged else ', not converged'}"


def beliefs_html(beliefs: Beliefs) -> str:
    """A table with a bar per state; for many rows, a line of bars for each of them."""
    if not beliefs.is_single:
        return row_beliefs_html(beliefs)
    shown = beliefs.targets[:MAX_VARIABLES]
    rows = "".join(variable_html(beliefs, name) for name in shown)
    has_curves = any(beliefs.model.variable(name).is_real for name in shown)
    more = len(beliefs.targets) - MAX_VARIABLES
    note = f"<p>… and {more} more variables</p>" if more > 0 else ""
    caption = f"<caption>{escape(obtained_by(beliefs))}, {format_log_evidence(beliefs)}</caption>"
    return f"{style_sheet() if has_curves else ''}<table>{caption}{rows}</table>{note}"


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
    observed = np.column_stack([beliefs.findings.is_observed(name) for name, _ in shown])
    return steps_html(
        words, heads, np.column_stack(shares), "row", index=beliefs.findings.index, size=size, observed=observed
    )


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
    """The rows of one variable: a bar for each state, or the moments and the density; what was observed is grey."""
    note = finding_note(beliefs, name)
    head = f"{escape(name)}<br/><small>{note}</small>" if note else escape(name)
    try:
        numbers = moments_of(beliefs, name)
    except TooLarge:
        return f'<tr><th>{head}</th><td colspan="3">{TOO_LARGE}</td></tr>'
    if beliefs.model.variable(name).is_real:
        return real_html(head, observed_value(beliefs, name), numbers, beliefs[name])
    first = f'<th rowspan="{len(numbers)}">{head}</th>'
    colour = OBSERVED_COLOUR if note == "observed" else BAR_COLOUR
    rows = []
    for label, (probability, error) in numbers.items():
        bar = bar_html(probability, BAR_WIDTH, colour)
        shown = f"{probability:.4f}{'' if note == 'observed' else error_html(error)}"
        rows.append(f"<tr>{first}<td>{escape(str(label))}</td><td>{shown}</td><td>{bar}</td></tr>")
        first = ""
    return "".join(rows)


def real_html(head: str, value: str | None, numbers: Mapping[Any, tuple[float, float | None]], marginal: Any) -> str:
    """The row of a real variable: its value where that is known, else its moments and its density."""
    from juncture.drawing.marks import curve_svg
    from juncture.networks.picture import density_heights

    words = value or ", ".join(f"{label} {format_number(*number, 6)}" for label, number in numbers.items())
    heights = density_heights(marginal)
    curve = f"<td>{curve_svg(heights)}</td>" if heights else ""
    return f'<tr><th>{head}</th><td colspan="{2 if heights else 3}">{escape(words)}</td>{curve}</tr>'


def error_html(error: float | None) -> str:
    """The standard error beside a probability, where the engine draws at random."""
    return "" if error is None else f" ± {error:.4f}"


def bar_html(probability: float, full: int, colour: str = BAR_COLOUR) -> str:
    return f'<div style="background:{colour};height:0.8em;width:{probability * full:.0f}px"></div>'


def steps_html(
    words: str,
    labels: Sequence[object],
    distributions: np.ndarray,
    unit: str = "step",
    *,
    index: Iterable[object] | None = None,
    size: tuple[int, int] | None = None,
    picture: Drawing | None = None,
    observed: np.ndarray | None = None,
) -> str:
    """A line of words, and the distribution of each step or row: a row of bars, one a state; a picture before it.

    Rows are named by the `index`, or numbered; `size` is that of the whole table, where only a part is given. Bars of
    what was `observed` (row, column) are grey.
    """
    names = islice(count() if index is None else index, MAX_HTML_ROWS)
    shares = distributions[:MAX_HTML_ROWS, :MAX_HTML_COLUMNS]
    seen = np.zeros(shares.shape, bool) if observed is None else observed[:MAX_HTML_ROWS, :MAX_HTML_COLUMNS]
    cells = zip(names, shares.tolist(), seen.tolist(), strict=False)
    rows = ((name, *map(share_html, row, is_seen)) for name, row, is_seen in cells)
    notes = [format_omitted(*(distributions.shape if size is None else size))]
    notes += ["grey bars: observed"] if seen.any() else []
    note = "; ".join(filter(None, notes))
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


def share_html(share: float, is_observed: bool = False) -> Markup:
    """A probability with its bar, which is grey where it was observed; NaN has no bar."""
    colour = OBSERVED_COLOUR if is_observed else BAR_COLOUR
    return Markup(f"{share:.4f}{bar_html(0.0 if np.isnan(share) else share, STEP_BAR_WIDTH, colour)}")


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


MAX_SHOWN_ROWS = 60
MAX_SHOWN_VARIABLES, MAX_LABELS = 20, 1000


def table_shares(scope: Scope, values: np.ndarray) -> Shares:
    """The tables of many rows or steps, (row, state, …), as shares of their joint states, the first of very many."""
    states = islice(product(*(variable.labels for variable in scope)), MAX_LABELS)
    labels = tuple(", ".join(map(str, each)) for each in states)
    return Shares(", ".join(scope.names), labels, values.reshape(len(values), scope.size)[:, :MAX_LABELS])


def steps_diagram(*parts: Shares, index: Any = None) -> ShareDiagram:
    return ShareDiagram(parts, index)


def rows_diagram(parts: Iterable[Shares], num_rows: int, index: Any = None, num_parts: int = 1) -> ShareDiagram:
    """The distributions of the first rows; of `num_parts` variables some may be left out."""
    shown = tuple(
        Shares(part.title, part.labels, part.values[:MAX_SHOWN_ROWS]) for part in islice(parts, MAX_SHOWN_VARIABLES)
    )
    cuts = [f"the first {MAX_SHOWN_ROWS} of {num_rows:,} rows"] if num_rows > MAX_SHOWN_ROWS else []
    cuts += [f"the first {len(shown)} of {num_parts:,} variables"] if len(shown) < num_parts else []
    return ShareDiagram(shown, index, "row", ", ".join(cuts))


def assignment_grid(assignment: Mapping[str, Any]) -> Grid:
    """A row for each variable with its state."""
    rows = (
        (GridCell(name), GridCell(format_value(state))) for name, state in islice(assignment.items(), MAX_HTML_ROWS)
    )
    return Grid(("variable", "state"), tuple(rows), notes_of(format_omitted(len(assignment))))


def ranked_grid(
    assignments: Sequence[Mapping[str, Any]], log_probs: Sequence[float], *, is_density: bool = False
) -> Grid:
    """A row for each of the best assignments with its probability; what differs from the best one is marked.

    Variables in which they differ come first.
    """
    best = assignments[0]
    differing = [name for name in best if any(each[name] != best[name] for each in assignments[:MAX_HTML_ROWS])]
    names = list(dict.fromkeys(chain(differing, best)))[:MAX_HTML_COLUMNS]
    rows = (
        (
            GridCell(str(rank + 1)),
            probability_cell(log_prob, is_density=is_density),
            *(GridCell(format_value(each[name]), is_marked=each[name] != best[name]) for name in names),
        )
        for rank, (each, log_prob) in enumerate(zip(assignments[:MAX_HTML_ROWS], log_probs, strict=False))
    )
    notes = notes_of(format_omitted(len(assignments), len(best)))
    return Grid(("rank", "density" if is_density else "probability", *names), tuple(rows), notes)


def probability_cell(log_prob: float, *, is_density: bool = False) -> GridCell:
    """A probability with its bar, or the logarithm of a density; nothing for NaN."""
    if np.isnan(log_prob):
        return GridCell("", None)
    if is_density or log_prob > 0:
        return GridCell(f"log density {log_prob:.4g}")
    return GridCell(format_percentage(exp(log_prob)), exp(log_prob))


def rows_grid(
    columns: Mapping[str, Sequence[Any]], log_probs: np.ndarray, num_columns: int, *, is_density: bool = False
) -> Grid:
    """A row for each row of evidence: the probability, or density, of its best assignment, and the states."""
    rows = (
        (
            GridCell(str(row)),
            probability_cell(log_prob, is_density=is_density),
            *(GridCell("" if state is None else format_value(state)) for state in states),
        )
        for row, (log_prob, *states) in enumerate(
            zip(log_probs[:MAX_HTML_ROWS].tolist(), *columns.values(), strict=False)
        )
    )
    heads = ("row", "density" if is_density else "probability", *columns)
    return Grid(heads, tuple(rows), notes_of(format_omitted(len(log_probs), num_columns)))


def notes_of(note: str) -> tuple[str, ...]:
    return (note,) if note else ()


def path_shares(title: str, labels: Sequence[object], codes: np.ndarray) -> Shares:
    """The states of a path as distributions that are certain: (step, state)."""
    return Shares(title, tuple(map(str, labels)), (codes[:, None] == np.arange(len(labels))).astype(float))
