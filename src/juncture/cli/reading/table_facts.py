"""The output of `juncture info` for a table of rows: its columns, and which cells are missing together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juncture.base.values import few, number_of, short
from juncture.cli.printing.output import console, table
from juncture.cli.reading.kept_columns import as_dataset, as_written
from juncture.cli.reading.rows import advise_option, read_table
from juncture.data.dataset import Dataset
from juncture.data.identifiers import find_identifiers
from juncture.data.missingness import missingness
from juncture.data.tables.coding import mark_missing
from juncture.data.tables.text_columns import find_look, group_looks
from juncture.drawing.text import format_percentage
from juncture.variables import Variable

MAX_PATTERNS = 8
EXAMPLES = 3  # values of a column
MAX_EXAMPLE = 20  # letters


def collect_table_facts(rows: str, missing: Sequence[str]) -> dict[str, Any]:
    cells = mark_missing(read_table(rows), list(missing) or None)
    data = as_dataset([as_written(cells, name, is_text=False) for name in cells.cells])
    found = missingness(data)
    return {
        "rows": len(data),
        "complete_rows": round(found.patterns.get((), 0)),
        "columns": [describe_column(variable, data, found.shares[variable.name]) for variable in data.variables],
        "patterns": [{"rows": round(weight), "missing": list(names)} for names, weight in found.patterns.items()],
        "remarks": list_remarks(data),
    }


def list_remarks(data: Dataset) -> list[str]:
    """Columns of text that look like something else, with the option that reads them so, and identifiers."""
    looks = {each.name: find_look(each.labels, is_of_file=True) for each in data.variables if not each.is_real}
    texts = [
        f"{finding.describe()}; for juncture learn, {advise_option(finding)}" for finding in group_looks(looks.items())
    ]
    return texts + [found.describe() for found in find_identifiers(data) if looks[found.name] is None]


def describe_column(variable: Variable, data: Dataset, share: float) -> dict[str, Any]:
    """The name of a column, the kind of its values, how many there are, the least and the most or a few of them."""
    column = data.columns[variable.name]
    values = np.unique(column[~np.isnan(column)] if variable.is_real else column[column >= 0])
    labels = values.tolist() if variable.is_real else [variable.labels[code] for code in values]
    kind = name_kind(labels)
    found = {"name": variable.name, "kind": kind, "values": len(labels), "missing": share}
    if kind.endswith("numbers"):
        return {**found, "least": min(labels), "most": max(labels)}
    return {**found, "examples": labels[:EXAMPLES]}


def name_kind(labels: Sequence[Any]) -> str:
    if not labels:
        return "empty"
    if all(isinstance(label, bool) for label in labels):
        return "true or false"
    if any(isinstance(label, str) for label in labels):
        return "text"
    return "whole numbers" if all(float(label).is_integer() for label in labels) else "numbers"


def format_values(column: dict[str, Any]) -> str:
    """`18 to 90`, or `east, north, south, …`."""
    if "least" in column:
        return " to ".join(f"{end:.10g}" for end in dict.fromkeys((column["least"], column["most"])))
    more = ["…"] if column["values"] > len(column["examples"]) else []
    return ", ".join([*(short(str(label), MAX_EXAMPLE) for label in column["examples"]), *more])


def print_table_facts(rows: str, facts: dict[str, Any]) -> None:
    title = f"{rows}: {number_of(facts['rows'], 'row')}, {facts['complete_rows']:,} of them complete"
    summary = table(title, "column", "kind", "values", "missing", "such as", numeric=("values", "missing"))
    for column in facts["columns"]:
        share = format_percentage(column["missing"])
        summary.add_row(column["name"], column["kind"], f"{column['values']:,}", share, format_values(column))
    out = console()
    out.print(summary)
    print_patterns(out, facts["patterns"])
    for remark in facts["remarks"]:
        out.print(f"note: {remark}")


def print_patterns(out: Any, patterns: Sequence[dict[str, Any]]) -> None:
    """The most frequent sets of cells that are missing together."""
    holes = [pattern for pattern in patterns if pattern["missing"]]
    if not holes:
        return
    found = table("missing together", "rows", "columns", numeric=("rows",))
    for pattern in holes[:MAX_PATTERNS]:
        found.add_row(f"{pattern['rows']:,}", few(pattern["missing"]))
    out.print(found)
    if len(holes) > MAX_PATTERNS:
        out.print(f"the {MAX_PATTERNS} most frequent of {len(holes):,} patterns; --json lists all")
