"""`BoltzmannBeliefs`: the posterior of the hidden units given the visible ones, and of missing visible units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import number_of
from juncture.errors import UnknownVariable, Unsupported
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import EXACT, Diagnosed, Diagnostics
from juncture.inference.engines.row_factors import RowFactors, marginals_frame
from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
from juncture.variables import Scope, State

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class BoltzmannBeliefs(Diagnosed):
    """The posterior of the hidden units of each row: `beliefs["h0"]` is p(h0 | row).

    Attributes
    ----------
    model
        The machine.
    hidden_means
        p(h = 1 | row), (row, hidden).
    visible_means
        The expected visible units, (row, visible), or their probabilities (row, visible, state) for softmax units:
        what is seen as it is, holes as the machine fills them.
    log_weight
        log Σ_h exp(-E), (row,), with holes summed out; None where it was not computed.
    is_single
        Whether there is one row.
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and their standard errors.
    """

    model: RestrictedBoltzmannMachine
    hidden_means: np.ndarray
    visible_means: np.ndarray
    log_weight: np.ndarray | None
    is_single: bool
    method: str = "enumeration"
    diagnostics: Diagnostics = EXACT
    impossible: tuple[int, ...] = ()

    @property
    def hidden(self) -> np.ndarray:
        """p(h = 1 | row): (hidden,) of one row, (row, hidden) of many."""
        return self.hidden_means[0] if self.is_single else self.hidden_means

    @property
    def visible(self) -> np.ndarray:
        """The expected visible units, with the holes filled in: of one row without the axis of rows."""
        return self.visible_means[0] if self.is_single else self.visible_means

    @property
    def log_evidence(self) -> Any:
        """log p(row), which needs log Z: a float of one row, (row,) of many."""
        if self.log_weight is None:
            raise Unsupported("Gibbs sampling gives no log-probability of rows with holes")
        found = self.log_weight - self.model.log_partition
        return float(found[0]) if self.is_single else found

    def __iter__(self) -> Iterator[str]:
        return (variable.name for variable in self.model.hidden_variables)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in list(self)

    def __len__(self) -> int:
        return len(self.hidden_means)

    def __getitem__(self, name: str) -> Any:
        """p(unit | row) of one hidden unit: a `Factor`, or one row of it per row."""
        if name not in self:
            raise UnknownVariable.among(name, list(self))
        index = list(self).index(name)
        on = self.hidden_means[:, index]
        values, scope = np.stack([1 - on, on], axis=1), Scope([self.model.hidden_variables[index]])
        return Factor(scope, values[0]) if self.is_single else RowFactors(scope, values)

    def to_dict(self) -> dict[str, dict[State, Any]]:
        """Name → state → probability (one number, or one a row)."""
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of variable, state and probability, with the row first when there are many."""
        return marginals_frame(self.to_dict(), None if self.is_single else "row")

    def __repr__(self) -> str:
        how = "exact" if self.exact else "approximate"
        units, rows = number_of(self.model.num_hidden, "hidden unit"), number_of(len(self), "row")
        return f"BoltzmannBeliefs({units}; {rows}; {how}, by {self.method})"

    def _repr_html_(self) -> str:
        return f"<p><code>{escape(repr(self))}</code></p>"
