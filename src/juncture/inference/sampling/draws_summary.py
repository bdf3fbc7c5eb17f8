"""`DrawsSummary`: the mean of every quantity, how far off it may be, and whether the chains agree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import few
from juncture.errors import MissingExtra, UnknownVariable
from juncture.inference.sampling import diagnostics

if TYPE_CHECKING:
    import pandas as pd

MAX_LINES = 40


@dataclass(frozen=True)
class QuantitySummary:
    """The summary of one quantity.

    Attributes
    ----------
    mean, standard_deviation
        Of the draws, with their weights.
    standard_error
        The standard error of the mean.
    bulk_size, tail_size
        Effective sample sizes for the centre and for the tails; of weighted draws both are that of the mean.
    r_hat
        Near 1 where the chains agree; None for weighted draws, which are independent.
    """

    mean: float
    standard_deviation: float
    standard_error: float
    bulk_size: float
    tail_size: float
    r_hat: float | None


@dataclass(frozen=True, eq=False, repr=False)
class DrawsSummary:
    """Summaries by the labels of quantities; printed as a table."""

    rows: Mapping[str, QuantitySummary]

    def __getitem__(self, label: str) -> QuantitySummary:
        try:
            return self.rows[label]
        except (KeyError, TypeError):
            raise UnknownVariable(f"the summary has no quantity {label!r}; it has {few(self.rows)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def r_hat(self) -> float | None:
        """The largest R-hat of all quantities; None for weighted draws."""
        known = [row.r_hat for row in self.rows.values() if row.r_hat is not None]
        return max(known, default=None)

    def to_pandas(self) -> pd.DataFrame:
        """A frame with a row for each quantity."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra.named("pandas", "pandas") from None
        names = [field.name for field in fields(QuantitySummary)]
        return pd.DataFrame([astuple(row) for row in self.rows.values()], index=list(self.rows), columns=names)

    def __repr__(self) -> str:
        width = max((len(label) for label in self.rows), default=0)
        head = f"{'':{width}}      mean        sd        se   ess bulk   ess tail   R-hat"
        lines = [f"{label:<{width}}{format_row(row)}" for label, row in list(self.rows.items())[:MAX_LINES]]
        further = [f"… ({len(self.rows):,} quantities)"] if len(self.rows) > MAX_LINES else []
        return "\n".join([head, *lines, *further])


def format_row(row: QuantitySummary) -> str:
    numbers = "".join(f"{value:10.3g}" for value in (row.mean, row.standard_deviation, row.standard_error))
    r_hat = "" if row.r_hat is None else f"{row.r_hat:8.3f}"
    return f"{numbers}{row.bulk_size:11.0f}{row.tail_size:11.0f}{r_hat}"


def summarize(quantities: Mapping[str, np.ndarray], log_weights: np.ndarray | None) -> DrawsSummary:
    """Summaries of quantities, each (chain, draw)."""
    if not quantities:
        return DrawsSummary({})
    stacked = np.stack(list(quantities.values()), axis=-1)  # (chain, draw, quantity)
    columns = of_chains(stacked) if log_weights is None else of_weighted(stacked, log_weights)
    table = np.stack(columns).T.tolist()
    ends: list[Any] = [[]] * len(table) if log_weights is None else [[None]] * len(table)
    rows = [QuantitySummary(*row, *end) for row, end in zip(table, ends, strict=True)]
    return DrawsSummary(dict(zip(quantities, rows, strict=True)))


def of_chains(stacked: np.ndarray) -> list[np.ndarray]:
    return [
        stacked.mean(axis=(0, 1)),
        stacked.std(axis=(0, 1), ddof=1),
        diagnostics.standard_error(stacked),
        diagnostics.effective_sample_size(stacked, "bulk"),
        diagnostics.effective_sample_size(stacked, "tail"),
        diagnostics.r_hat(stacked),
    ]


def of_weighted(stacked: np.ndarray, log_weights: np.ndarray) -> list[np.ndarray]:
    """Means of self-normalised weights w; the delta method gives the standard error √Σ w² (x - mean)²."""
    weights = np.exp(log_weights - log_weights.max())
    weights = weights / weights.sum()
    means = np.einsum("cd,cdq->q", weights, stacked)
    squares = (stacked - means) ** 2
    deviations = np.sqrt(np.einsum("cd,cdq->q", weights, squares))
    errors = np.sqrt(np.einsum("cd,cdq->q", weights**2, squares))
    size = np.full_like(means, 1.0 / (weights**2).sum())
    sizes = np.divide(deviations**2, errors**2, out=size, where=errors > 0)
    return [means, deviations, errors, sizes, sizes]
