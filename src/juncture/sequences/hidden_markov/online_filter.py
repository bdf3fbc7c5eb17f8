"""`online_filter` of hidden Markov models: one observation at a time, with a fixed lag on request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juncture import numerics
from juncture.errors import ImpossibleEvidence
from juncture.sequences.hidden_markov.beliefs import checked_count
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.one_step import log_likelihoods_of
from juncture.values import number_of


@dataclass(frozen=True, eq=False, repr=False)
class ChainFilter:
    """What has been observed so far, in the order it came: `step` gives the filter after one more observation.

    `recent` has, for the last lag + 1 steps, the log-law of the state given the observations up to there, and the
    log-likelihoods of what was observed there.
    """

    model: HiddenMarkovModel
    lag: int
    num_steps: int
    log_evidence: float
    log_predicted: np.ndarray  # (state,)
    recent: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    def step(self, observation: Any, state: Any = None) -> ChainFilter:
        """The filter after this observation; None is a step at which nothing was observed.

        `state` is the label of the step, where it is known; a `Sequence` of one step may tell it too.
        """
        log_likelihoods = log_likelihoods_of(self.model, observation, state, step=self.num_steps)
        log_joint = self.log_predicted + log_likelihoods
        log_total = float(numerics.log_sum_exp(log_joint))
        if log_total == -np.inf:
            raise ImpossibleEvidence(
                f"the observation {observation!r} at step {self.num_steps} has probability zero after those before it"
            )
        log_filtered = log_joint - log_total
        return replace(
            self,
            num_steps=self.num_steps + 1,
            log_evidence=self.log_evidence + log_total,
            log_predicted=moved(log_filtered, Chain.of(self.model).log_transition),
            recent=(*self.recent, (log_filtered, log_likelihoods))[-self.lag - 1 :],
        )

    @property
    def filtered(self) -> np.ndarray:
        """p(state at the last step | all observations so far), (state,); before the first one, the initial law."""
        return np.asarray(np.exp(self.recent[-1][0])) if self.recent else self.predicted

    @property
    def predicted(self) -> np.ndarray:
        """p(state at the next step | all observations so far), (state,)."""
        return np.asarray(np.exp(self.log_predicted))

    @property
    def lagged(self) -> np.ndarray:
        """p(state `lag` steps before the last | all observations so far), (state,), or of the first step."""
        if not self.recent:
            return self.predicted
        log_back = Chain.of(self.model).log_transition.T
        log_message = np.zeros(self.model.num_states)
        for _, log_likelihoods in reversed(self.recent[1:]):
            log_message = moved(log_message + log_likelihoods, log_back)
        log_law = self.recent[0][0] + log_message
        return np.asarray(np.exp(log_law - numerics.log_sum_exp(log_law)))

    def __repr__(self) -> str:
        return f"ChainFilter({number_of(self.num_steps, 'step')}, lag={self.lag}; log_evidence={self.log_evidence:.6g})"


def start_chain_filter(model: HiddenMarkovModel, *, lag: int = 0) -> ChainFilter:
    return ChainFilter(model, checked_count(lag, "lag", 0), 0, 0.0, Chain.of(model).log_initial)


def moved(log_message: np.ndarray, log_matrix: np.ndarray) -> np.ndarray:
    return numerics.log_sum_exp(log_message[:, None] + log_matrix, axis=0)
