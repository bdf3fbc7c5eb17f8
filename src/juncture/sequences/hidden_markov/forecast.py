"""`ChainForecast`: the laws of states and observations at the steps after the end of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture import numerics
from juncture.components.mixture import Mixture
from juncture.inference.engines.display import steps_html
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.one_step import log_likelihoods_of
from juncture.values import number_of

SHOWN = 4  # steps and states


@dataclass(frozen=True, eq=False, repr=False)
class ChainForecast:
    """Laws of the states to come, (step, state), and of what they will emit, each given what was observed."""

    model: HiddenMarkovModel
    states: np.ndarray

    @property
    def observations(self) -> tuple[Mixture, ...]:
        """The law of the observation of each step: a `Mixture` of the emissions by the states' probabilities."""
        return tuple(Mixture(law, self.model.emissions) for law in self.states)

    def log_prob(self, observation: Any) -> np.ndarray:
        """The log-probability (density) that this observation comes, at each of the steps: (step,)."""
        log_values = numerics.log(self.states) + log_likelihoods_of(self.model, observation)
        return numerics.log_sum_exp(log_values, axis=1)

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        """The probabilities of each state at the first steps."""
        more = ", …" if len(self) > SHOWN else ""
        laws = [
            f"{label} {', '.join(f'{share:.4g}' for share in shares[:SHOWN])}{more}"
            for label, shares in zip(self.model.states, self.states.T, strict=True)
        ]
        rest = "; …" if len(laws) > SHOWN else ""
        return f"ChainForecast({number_of(len(self), 'step')}: {'; '.join(laws[:SHOWN])}{rest})"

    def _repr_html_(self) -> str:
        return steps_html(f"ChainForecast({number_of(len(self), 'step')})", self.model.states, self.states)


def laws_ahead(first: np.ndarray, transition: np.ndarray, num_steps: int) -> np.ndarray:
    """The laws of states in a row of which nothing is observed, from that of the first on: (step, state)."""
    laws = np.empty((num_steps, len(first)))
    laws[:1] = first
    for step in range(1, num_steps):
        law = laws[step - 1] @ transition
        laws[step] = law / law.sum()
    return laws
