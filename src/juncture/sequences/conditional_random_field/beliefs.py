"""`LabelBeliefs`: the distributions of the labels of one sequence, given all of its steps."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NoReturn

from juncture.errors import Unsupported
from juncture.sequences.hidden_markov.beliefs import ChainBeliefs


@dataclass(frozen=True, eq=False, repr=False)
class LabelBeliefs(ChainBeliefs):
    """Distributions of the labels of one sequence, `smoothed` and `pairwise`, and draws; `log_evidence` is log Z(x).

    The labels are modelled given all steps, so there are none given the steps so far, and no forecast.
    """

    @classmethod
    def of(cls, beliefs: ChainBeliefs) -> LabelBeliefs:
        return cls(**{field.name: getattr(beliefs, field.name) for field in fields(beliefs)})

    @property
    def filtered(self) -> NoReturn:
        raise self._error("the labels given the steps so far")

    @property
    def predicted(self) -> NoReturn:
        raise self._error("the labels given the steps before")

    def lagged(self, lag: int) -> NoReturn:
        raise self._error("the labels given some of the steps")

    def forecast(self, num_steps: int) -> NoReturn:
        raise self._error("the labels of steps to come")

    def _error(self, what: str) -> Unsupported:
        return Unsupported(f"a conditional random field has no distribution of {what}: ask for `smoothed`, given all")

    def __repr__(self) -> str:
        return super().__repr__().replace("ChainBeliefs", "LabelBeliefs")
