"""`ChainForecast`: the state and the observation some steps after the end of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture import numerics
from juncture.inference.exact.chain_step import log_likelihoods_of
from juncture.models.hidden_markov import HiddenMarkovModel
from juncture.models.mixture import Mixture

SHOWN = 6  # states


@dataclass(frozen=True, eq=False, repr=False)
class ChainForecast:
    """The law of a future state, (state,), and of what it will emit."""

    model: HiddenMarkovModel
    states: np.ndarray

    @property
    def observation(self) -> Mixture:
        """The law of the observation: a `Mixture` of the emissions by the states' probabilities."""
        return Mixture(self.states, self.model.emissions)

    def log_prob(self, observation: Any) -> float:
        """The log-probability (density) that this observation comes."""
        log_values = numerics.log(self.states) + log_likelihoods_of(self.model, observation)
        return float(numerics.log_sum_exp(log_values))

    def __repr__(self) -> str:
        shown = list(zip(self.model.states, self.states, strict=True))
        laws = ", ".join(f"{label} {share:.4g}" for label, share in shown[:SHOWN])
        return f"ChainForecast({laws}{', …' if len(shown) > SHOWN else ''})"
