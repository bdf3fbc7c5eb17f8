"""`InformationValues`: what each of some observations is worth, the best first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import Value, number_of, read_only
from juncture.drawing.html import html_table
from juncture.drawing.pictures import plot
from juncture.errors import UnknownVariable
from juncture.factors.printed_tables import MAX_HTML_ROWS, align_columns, format_omitted, left_out
from juncture.factors.printed_tables import MAX_ROWS as MAX_LINES
from juncture.factors.scope_tables import import_pandas

if TYPE_CHECKING:
    import pandas as pd


class InformationValues(Value):
    """The value of observing each candidate, ranked by what is left of it after its cost.

    `values["xray"]` is the value of one candidate; `value_of_information` makes them.

    Attributes
    ----------
    about
        The target, or the names of the utilities.
    unit
        "bits" of information about a target, or "utility".
    candidates
        The names of the variables, the best first; ties keep the order of the model.
    values, costs, net
        For each candidate its value, the cost of observing it, and the difference.
    exact
        Whether the values are exact, but for rounding.
    """

    _fields = ("about", "unit", "candidates", "values", "costs", "exact")
    about: tuple[str, ...]
    unit: str
    candidates: tuple[str, ...]
    values: np.ndarray
    costs: np.ndarray
    exact: bool
    __iter__ = None  # or Python would try values[0], values[1], … as names

    def __init__(
        self, about: tuple[str, ...], unit: str, values: Mapping[str, float], costs: Mapping[str, float], *, exact: bool
    ) -> None:
        names, numbers = list(values), np.array(list(values.values()), dtype=np.float64)
        paid = np.array([costs.get(name, 0.0) for name in names], dtype=np.float64)
        order = np.argsort(paid - numbers, kind="stable")
        self._set(about=tuple(about), unit=unit, candidates=tuple(names[place] for place in order), exact=exact)
        self._set(values=read_only(numbers[order]), costs=read_only(paid[order]))

    @property
    def net(self) -> np.ndarray:
        """The value of each candidate less its cost."""
        return self.values - self.costs

    @property
    def best(self) -> str | None:
        """The candidate with the largest value net of its cost; None where none is worth more than it costs."""
        return self.candidates[0] if len(self.candidates) and self.net[0] > 0 else None

    def __getitem__(self, name: str) -> float:
        """The value of one candidate, its cost not subtracted."""
        if not isinstance(name, str) or name not in self.candidates:
            raise UnknownVariable.among(name, self.candidates, where="the list of candidates")
        return float(self.values[self.candidates.index(name)])

    def __len__(self) -> int:
        return len(self.candidates)

    def to_dict(self) -> dict[str, float]:
        """Candidate → value, the best first."""
        return dict(zip(self.candidates, self.values.tolist(), strict=True))

    def to_pandas(self) -> pd.DataFrame:
        """A frame of candidate, value, cost and net value, the best first."""
        columns = {"candidate": self.candidates, "value": self.values, "cost": self.costs, "net": self.net}
        return import_pandas().DataFrame(columns)

    def plot(self, **options: Any) -> Any:
        """Plot a bar for each candidate; as `jt.plot`."""
        return plot(self, **options)

    def _columns(self) -> list[str]:
        return ["candidate", self.unit, *(["cost", "net"] if self.costs.any() else [])]

    def _rows(self, most: int) -> list[list[str]]:
        numbers = zip(self.values.tolist(), self.costs.tolist(), self.net.tolist(), strict=True)
        shown = [[f"{number:.4g}" for number in line] for line, _ in zip(numbers, range(most), strict=False)]
        count = len(self._columns()) - 1
        return [[name, *line[:count]] for name, line in zip(self.candidates, shown, strict=False)]

    def __repr__(self) -> str:
        how = "" if self.exact else ", approximate"
        return f"InformationValues(of {number_of(len(self), 'candidate')} about {', '.join(self.about)}{how})"

    def __str__(self) -> str:
        lines = align_columns([self._columns(), *self._rows(MAX_LINES)], 1)
        more = len(self) - MAX_LINES
        return "\n".join([repr(self), *lines, *([left_out(more, "row")] if more > 0 else [])])

    def _repr_html_(self) -> str:
        return html_table(self._columns(), self._rows(MAX_HTML_ROWS), format_omitted(len(self)), num_labels=1)
