"""`PrecomputedLogLikelihoods`: observations that already are log-likelihoods, one per state."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from juncture.base.checks import check_count
from juncture.base.notes import NO_NOTES, Name, Notes
from juncture.components.contract import Emissions, EmissionStatistics, is_seen, is_whole, name_of_row
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.variables import Variable


class PrecomputedLogLikelihoods(Emissions):
    """log p(observation | state) is the observation itself: rows of (step, state), of which -inf is one.

    The observation may have had any distribution; nothing about it is learned, and none is sampled.
    """

    takes_minus_infinity: ClassVar[bool] = True
    num_states: int

    def __init__(self, num_states: int) -> None:
        self._set(num_states=check_count(num_states, "num_states", least=1, error=InvalidModel))

    @property
    def event_shape(self) -> tuple[int, ...]:  # type: ignore[override]
        return (self.num_states,)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Nothing: what is given is a function of the observations."""
        return ()

    @property
    def num_parameters(self) -> int:
        return 0

    def check(self, rows: np.ndarray, name_row: Name = name_of_row) -> np.ndarray:
        if not np.array_equal(is_whole(rows), is_seen(rows)):
            index = int(np.argmax(is_seen(rows) & ~is_whole(rows)))
            raise InvalidData(
                f"{name_row(index)} has the log-likelihoods of some states only; give all of them or none"
            )
        return super().check(rows, name_row)

    def log_prob(self, rows: np.ndarray) -> np.ndarray:
        return np.where(np.isnan(rows), 0.0, rows)

    def sample(self, states: np.ndarray, rng: np.random.Generator) -> NoReturn:
        raise Unsupported("a model whose log-likelihoods are given cannot sample observations")

    def statistics(self, rows: np.ndarray, weights: np.ndarray) -> EmissionStatistics:
        return EmissionStatistics(weights[is_seen(rows)].sum(axis=0))

    def estimate_with_notes(self, statistics: EmissionStatistics, prior: Any = None) -> tuple[Self, Notes]:
        return self, NO_NOTES

    def log_likelihood(self, statistics: EmissionStatistics) -> float:
        """0: the rows themselves are the log-likelihoods, which no parameter changes."""
        return 0.0

    def log_prior(self, prior: Any) -> float:
        return 0.0

    def take(self, states: Any) -> NoReturn:
        raise Unsupported("the log-likelihoods of the states are given; the states have no distributions here")

    @property
    def summary(self) -> str:
        return "given log-likelihoods"

    def __getitem__(self, state: int) -> NoReturn:
        raise Unsupported("the log-likelihoods of the states are given; the states have no distributions here")

    def _repr_html_(self) -> str:
        return f"<p><code>{self!r}</code></p>"

    def __repr__(self) -> str:
        return f"PrecomputedLogLikelihoods({self.num_states})"
