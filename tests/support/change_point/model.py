"""`PoissonChangePoint`: counts over time that have one rate before a change and another from then on.

change point ~ change,    count[t] ~ Poisson(before) for t < change point, else Poisson(after).
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

import juncture as jt
from juncture.base.checks import check_array, check_number
from juncture.base.values import number_of
from juncture.data.feature_names import NamedFeatures
from juncture.errors import InvalidModel
from juncture.numerics.stable import as_probabilities
from juncture.variables import Scope, Variable


class PoissonChangePoint(NamedFeatures):
    """Counts of a fixed number of steps, whose rate changes once.

    Parameters
    ----------
    before, after
        The rates before the change and from the change on.
    change
        (step,): the probability that a step is the first of the later rate. A change at step 0 is a row of the later
        rate throughout.

    Examples
    --------
    >>> PoissonChangePoint(2.0, 9.0, [0.25, 0.25, 0.25, 0.25])
    PoissonChangePoint(4 steps, rates 2 and 9)
    """

    kind: ClassVar[str] = "change-point model"
    before: float
    after: float
    change: np.ndarray  # (step,)

    def __init__(self, before: Any, after: Any, change: Any) -> None:
        rates = [
            check_number(rate, f"the rate {name} the change", least=0, error=InvalidModel)
            for rate, name in ((before, "before"), (after, "after"))
        ]
        shares = check_array(change, "the probabilities of the change point", ndim=1, error=InvalidModel)
        if not len(shares):
            raise InvalidModel("a change point needs at least one step; got no probabilities")
        table = as_probabilities(shares, shares.shape, name="the distribution of the change point")
        self._set(before=rates[0], after=rates[1], change=table)

    @property
    def num_steps(self) -> int:
        return len(self.change)

    @property
    def num_columns(self) -> int:
        return self.num_steps

    @property
    def num_parameters(self) -> int:
        """Free numbers: two rates, and probabilities that sum to 1."""
        return 2 + self.num_steps - 1

    @property
    def variables(self) -> Scope:
        """The variable that no row shows."""
        return Scope([Variable("change_point", self.num_steps)])

    def log_joint(self, rows: np.ndarray) -> np.ndarray:
        """log p(row, change point), (row, step): the sum of masses of either rate; what is missing is summed out."""
        seen = ~np.isnan(rows)
        counts = np.where(seen, rows, 0.0)
        early, late = (
            np.where(seen, np.asarray(jt.Poisson(rate).log_prob(counts)), 0.0) for rate in (self.before, self.after)
        )
        until = np.cumsum(early, axis=1)
        before = np.hstack([np.zeros((len(rows), 1)), until[:, :-1]])
        since = np.cumsum(late[:, ::-1], axis=1)[:, ::-1]
        with np.errstate(divide="ignore"):
            return before + since + np.log(self.change)

    def __repr__(self) -> str:
        return f"PoissonChangePoint({number_of(self.num_steps, 'step')}, rates {self.before:g} and {self.after:g})"
