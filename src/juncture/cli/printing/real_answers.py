"""Answers about real-valued variables on the command line: mean, standard deviation and an interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.cli.printing.output import console, table
from juncture.data.dataset import Dataset
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.engines.display import format_method
from juncture.inference.predictions import LEVELS
from juncture.variables import Variable


def numbers_of(marginal: Any) -> dict[str, float]:
    """What is printed of the marginal of one row."""
    ends = {level: float(marginal.quantile(share)) for level, share in LEVELS.items()}
    return {"mean": float(marginal.mean), "standard deviation": float(np.sqrt(marginal.variance)), **ends}


def numbers_document(predicted: Dataset, variable: Variable, beliefs: Beliefs) -> dict[str, Any]:
    """The prediction of a number in each row, None where a row is impossible."""
    columns = [[None if np.isnan(x) else x for x in column.tolist()] for column in predicted.columns.values()]
    return {
        "target": variable.name,
        "method": beliefs.method,
        "exact": beliefs.exact,
        **dict(zip(("predicted", "standard deviation", *LEVELS), columns, strict=True)),
        "impossible": list(beliefs.impossible),
    }


def print_numbers(title: str, predicted: Dataset, data: Dataset, beliefs: Beliefs) -> None:
    """The range of the predictions, and how far they are from the numbers that are known."""
    variable, deviation, low, high = predicted.variables
    means = predicted.columns[variable.name]
    summary = table(title, "rows", "smallest", "mean", "largest", "mean standard deviation")
    seen = means[~np.isnan(means)]
    if len(seen):
        spread = np.nanmean(predicted.columns[deviation.name])
        shown = (f"{number:.6g}" for number in (seen.min(), seen.mean(), seen.max(), spread))
        summary.add_row(f"{len(seen):,}", *shown)
    out = console()
    out.print(summary)
    out.print(format_method(beliefs))
    truth = data.columns.get(variable.name, np.full(len(means), np.nan))
    known = ~np.isnan(truth) & ~np.isnan(means)
    if known.any():
        error = np.sqrt(np.mean((truth - means)[known] ** 2))
        inside = (truth >= predicted.columns[low.name]) & (truth <= predicted.columns[high.name])
        out.print(
            f"of {known.sum():,} rows with a known {variable.name}: root mean squared error {error:.6g};"
            f" {inside[known].mean():.1%} lie between 5 % and 95 %"
        )
