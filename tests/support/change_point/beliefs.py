"""`ChangePointBeliefs`: when the rate of each row changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.drawing.shares import ShareDiagram
from juncture.errors import Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import EXACT, Diagnostics, OneVariable
from juncture.inference.engines.display import rows_diagram, steps_html, table_shares
from juncture.inference.engines.row_factors import RowFactors, marginals_frame
from juncture.inference.engines.verb_options import check_num_rows, impossible_indices
from juncture.numerics import stable
from support.change_point.model import PoissonChangePoint

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ChangePointBeliefs(OneVariable):
    """The posterior of the change point of each row: `beliefs["change_point"]`."""

    variable = "change_point"
    model: PoissonChangePoint
    log_joint: np.ndarray  # (row, step)
    is_single: bool
    method: str = "enumeration"
    diagnostics: Diagnostics = EXACT

    @cached_property
    def log_evidences(self) -> np.ndarray:
        """log p(row), (row,)."""
        return stable.log_sum_exp(self.log_joint, axis=1)

    @property
    def log_evidence(self) -> Any:
        """log p(row): a float of one row, (row,) of many."""
        return float(self.log_evidences[0]) if self.is_single else self.log_evidences

    @cached_property
    def posterior(self) -> np.ndarray:
        """p(change point | row), (row, step), with NaN where a row is impossible."""
        total = self.log_evidences[:, None]
        return np.exp(np.where(total > -np.inf, self.log_joint, np.nan) - np.where(total > -np.inf, total, 0.0))

    @cached_property
    def impossible(self) -> tuple[int, ...]:
        return impossible_indices(self.log_evidences)

    def __getitem__(self, name: str) -> Any:
        """p(change point | row): a `Factor`, or a table a row."""
        self._check_variable(name)
        scope = self.model.variables
        return Factor(scope, self.posterior[0]) if self.is_single else RowFactors(scope, self.posterior)

    def to_dict(self) -> dict[str, Any]:
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        return marginals_frame(self.to_dict(), None if self.is_single else "row")

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` change points drawn from the posterior, given one row."""
        if not self.is_single:
            raise Unsupported("change points are drawn given one row; infer and sample once for each row")
        shares = self.posterior[0]
        codes = as_generator(rng).choice(len(shares), check_num_rows(n), p=shares / shares.sum())
        return Dataset.from_codes(self.model.variables, {"change_point": codes})

    def __len__(self) -> int:
        return len(self.log_joint)

    def to_diagram(self) -> ShareDiagram:
        return rows_diagram([table_shares(self.model.variables, self.posterior)], len(self))

    def _repr_html_(self) -> str:
        return steps_html(repr(self), range(self.model.num_steps), self.posterior, "row")

    def __repr__(self) -> str:
        rows = f"log_evidence={self.log_evidence:.6g}" if self.is_single else number_of(len(self), "row")
        return f"ChangePointBeliefs({number_of(self.model.num_steps, 'step')}; {rows}; exact, by {self.method})"
