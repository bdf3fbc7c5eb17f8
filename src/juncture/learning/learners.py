"""Learners that several kinds of models share: an answer in closed form, and stochastic gradient steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from juncture.base.checks import check_count, check_number
from juncture.base.options import Options
from juncture.errors import InvalidData
from juncture.numerics.descent import ConstantStep, DecreasingStep


@dataclass(frozen=True)
class ClosedForm(Options):
    """A learner without options: the answer has a closed form."""


@dataclass(frozen=True)
class StochasticGradient(Options):
    """Gradient steps on the likelihood of one row at a time, drawn with replacement.

    Parameters
    ----------
    learning_rate
        The length of a step, a number; or a rule, `jt.supervised.ConstantStep` or `jt.supervised.DecreasingStep`.
    max_steps
        The number of steps: there is no test of convergence.
    """

    learning_rate: Any = 0.1
    max_steps: int = 1000

    def __post_init__(self) -> None:
        if isinstance(self.learning_rate, int | float):
            check_number(self.learning_rate, "learning_rate", above=0, finite=True)
        elif not isinstance(self.learning_rate, ConstantStep | DecreasingStep):
            raise InvalidData(
                "learning_rate is a positive number, a ConstantStep or a DecreasingStep: one row says nothing about a"
                " line search"
            )
        check_count(self.max_steps, "max_steps", least=1)

    @property
    def rule(self) -> ConstantStep | DecreasingStep:
        """The length of each step."""
        rate = self.learning_rate
        return rate if isinstance(rate, ConstantStep | DecreasingStep) else ConstantStep(float(rate))
