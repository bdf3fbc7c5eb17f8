"""`MixtureBeliefs`: which component each row came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture import numerics
from juncture.checks import check_count
from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.drawing.shares import ShareDiagram
from juncture.errors import Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import EXACT, Diagnostics
from juncture.inference.engines.diagnosed import OneVariable
from juncture.inference.engines.display import steps_html
from juncture.inference.engines.draws import check_num_rows
from juncture.inference.engines.options import impossible_indices
from juncture.inference.engines.pictures import rows_diagram, table_shares
from juncture.inference.engines.row_factors import RowFactors, marginals_frame, wide_frame
from juncture.latent.mixtures.impute import Imputed, impute_rows
from juncture.latent.mixtures.scores import outlier_scores, purity_of
from juncture.options import as_generator
from juncture.values import number_of
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class MixtureBeliefs(OneVariable):
    """The posterior of the component of each row: `beliefs["component"]` is p(component | row).

    For one row, `beliefs["component"]` is a `Factor` and `log_evidence` a number. For many rows, `values` is (row,
    component), with NaN where a row is impossible.

    Attributes
    ----------
    model
        The mixture.
    log_joint
        log p(row, component), (row, component).
    is_single
        Whether there is one row.
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and further facts about the run.
    index
        The index of the frame of pandas that the rows come from; else None.
    rows
        The rows, (row, *event), NaN where something is missing.
    """

    variable = "component"
    model: Mixture
    log_joint: np.ndarray  # (row, component): log p(row, component)
    is_single: bool
    method: str = "enumeration"
    diagnostics: Diagnostics = EXACT
    index: Any = None  # of the frame that the rows come from
    rows: np.ndarray = field(default_factory=lambda: np.empty(0))  # (row, *event)

    @cached_property
    def log_evidences(self) -> np.ndarray:
        """log p(row), (row,)."""
        return numerics.log_sum_exp(self.log_joint, axis=1)

    @property
    def log_evidence(self) -> Any:
        """log p(row): a float of one row, (row,) of many."""
        return float(self.log_evidences[0]) if self.is_single else self.log_evidences

    @cached_property
    def responsibilities(self) -> np.ndarray:
        """p(component | row), (row, component)."""
        total = self.log_evidences[:, None]
        shares = np.full_like(self.log_joint, np.nan)
        np.subtract(self.log_joint, total, out=shares, where=total > -np.inf)
        return np.asarray(np.exp(shares))

    @cached_property
    def impossible(self) -> tuple[int, ...]:
        """The rows that no component can have made."""
        return impossible_indices(self.log_evidences)

    @property
    def code_length(self) -> Any:
        """-log₂ p(row), in bits: how long a code of the row is, under the mixture; less a constant for real numbers."""
        return -self.log_evidence / np.log(2.0)

    def outlier_score(self, num_draws: int = 1000, *, rng: Any = 0) -> np.ndarray:
        """The share of rows drawn from the mixture, with the same holes, that are likelier: near 1 for an outlier.

        Parameters
        ----------
        num_draws
            The number of rows drawn.
        rng
            The source of random numbers.

        Returns
        -------
        numpy.ndarray
            (row,)
        """
        return outlier_scores(self.model, self.rows, self.log_evidences, check_count(num_draws, "draws", least=1), rng)

    def impute(self) -> Imputed:
        """The rows with their holes filled by the mean of what is missing given what is observed, and deviations."""
        if self.impossible:
            raise Unsupported(f"row {self.impossible[0]} is impossible: no component can say what is missing in it")
        return impute_rows(self.model, self.rows, self.responsibilities)

    def purity(self, classes: Any) -> float:
        """The share of rows whose class is the most frequent one among the rows of the same component.

        Parameters
        ----------
        classes
            The true class of each row.

        Returns
        -------
        float
            From 0 to 1; 1 if each component holds rows of one class.
        """
        return purity_of(self.log_joint.argmax(axis=1), classes)

    @property
    def scope(self) -> Scope:
        return Scope([Variable("component", self.model.num_components)])

    def __getitem__(self, name: str) -> Any:
        """p(component | row): a `Factor`, or one row of it per row."""
        self._check_variable(name)
        values = self.responsibilities
        return Factor(self.scope, values[0]) if self.is_single else RowFactors(self.scope, values)

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → component → probability (one number, or one a row)."""
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, component and probability, with the row first when there are many."""
        return marginals_frame(self.to_dict(), None if self.is_single else "row")

    def to_frame(self) -> pd.DataFrame:
        """A wide frame: a line per row, with the index of the frame that was given, and a column for each component."""
        return wide_frame({"component": self["component"]}, self.index)

    def sample(self, n: int, *, rng: Any = None) -> Dataset:
        """`n` components drawn from the posterior, given one row."""
        if not self.is_single:
            raise Unsupported("components are drawn given one row; infer and sample once for each row")
        count, shares = check_num_rows(n), self.responsibilities[0]
        codes = as_generator(rng).choice(len(shares), count, p=shares / shares.sum())
        return Dataset.from_codes(self.scope, {"component": codes})

    def __len__(self) -> int:
        return len(self.log_joint)

    def __repr__(self) -> str:
        rows = f"log_evidence={self.log_evidence:.6g}" if self.is_single else number_of(len(self), "row")
        components = number_of(self.model.num_components, "component")
        return f"MixtureBeliefs({components}; {rows}; exact, by {self.method})"

    def to_diagram(self) -> ShareDiagram:
        """The probability of each component, for the first rows."""
        return rows_diagram([table_shares(self.scope, self.responsibilities)], len(self), self.index)

    def _repr_html_(self) -> str:
        if not len(self):
            return f"<p><code>{escape(repr(self))}</code></p>"
        return steps_html(repr(self), range(self.model.num_components), self.responsibilities, "row")
