"""`Fit`: the result of learning."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from juncture.iteration import Trace
from juncture.values import Value

M = TypeVar("M")


class Fit(Value, Generic[M]):
    """The result of learning.

    Attributes
    ----------
    model
        The learned model.
    log_likelihood
        The log-likelihood of the data under the model.
    trace
        The objective at each step, and whether the algorithm converged.
    statistics
        The sufficient statistics of the data; where rows had holes, the expected ones under the model.
    """

    _fields = ("model", "log_likelihood", "trace", "statistics")
    model: M
    log_likelihood: float
    trace: Trace
    statistics: Any

    def __init__(self, model: M, log_likelihood: float, trace: Trace, statistics: Any) -> None:
        self._set(model=model, log_likelihood=log_likelihood, trace=trace, statistics=statistics)

    def __repr__(self) -> str:
        return f"Fit({self.model!r}, log-likelihood {self.log_likelihood:.6g}; {self.trace.reason})"
