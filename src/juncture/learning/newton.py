"""`Newton`: the options of Newton's method and of Fisher scoring, which takes its place for other links."""

from __future__ import annotations

from dataclasses import dataclass

from juncture.base.checks import check_count, check_number
from juncture.base.options import Options


@dataclass(frozen=True)
class Newton(Options):
    """Damped Newton steps: each is halved until the likelihood rises.

    Parameters
    ----------
    tolerance
        When to end. Of a logistic regression the largest entry of a step, relative to the weights in standard
        deviations, 1e-8 by default; under an L1 penalty, where steps are those of L-BFGS, the gradient by row, 1e-9. Of
        a generalised linear model the share of the deviance that a step gains, 1e-16.
    max_steps
        The largest number of steps, after which a warning says so; by default 100, 20,000 under an L1 penalty, and
        500 for a generalised linear model.
    """

    tolerance: float | None = None
    max_steps: int | None = None

    def __post_init__(self) -> None:
        if self.tolerance is not None:
            check_number(self.tolerance, "tolerance", above=0, finite=True)
        if self.max_steps is not None:
            check_count(self.max_steps, "max_steps", least=1)

    @property
    def limits(self) -> dict[str, float]:
        """What was given of the two."""
        pairs = (("tolerance", self.tolerance), ("max_steps", self.max_steps))
        return {name: value for name, value in pairs if value is not None}
