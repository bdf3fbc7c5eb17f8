"""`online_filter` of hidden Markov models: one observation at a time, with a fixed lag on request."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juncture.base.checks import check_count, shown
from juncture.base.shown import Shown
from juncture.base.values import number_of
from juncture.data.sequences import Sequence, Sequences
from juncture.data.tables.cells import unmask_items
from juncture.errors import ImpossibleEvidence, InvalidData, JunctureError
from juncture.numerics import stable
from juncture.sequences.hidden_markov.chain import Chain, Form, likelihoods
from juncture.sequences.hidden_markov.model import HiddenMarkovModel


def log_likelihoods_of(model: HiddenMarkovModel, observation: Any, state: Any = None, *, step: int = 0) -> np.ndarray:
    """log p(observation | state), (state,); zeros for None, which is nothing observed; -inf where it is not the state.

    `step` is where messages say that it was observed.
    """
    try:
        seen = one_step(model, observation, state)
    except JunctureError as error:  # it was read as a sequence of its own, whose steps count from 0
        raise type(error)(str(error).replace("step 0", f"step {step}", 1)) from error
    found = likelihoods(model.emissions, seen.observations, seen.states, Form.LOG)
    row = found.rows[0]
    return found.values[row] + found.tops[row]


def one_step(model: HiddenMarkovModel, observation: Any, state: Any) -> Sequences:
    """A sequence of this observation alone, which may be one with its state, as `Sequence`, already."""
    if isinstance(observation, Sequence):
        check_one_step(model, observation, observation.num_steps)
        labels = observation.states if state is None else [state]
        return model.sequences(Sequence(observation.observations, states=labels))
    if observation is not None:
        check_one_step(model, observation, np.size(as_array(observation)) / np.prod(model.event_shape))
    is_hole = observation is None and model.event_shape
    rows: Any = np.full((1, *model.event_shape), np.nan) if is_hole else [observation]
    rows = as_array(unmask_items(rows)) if model.event_shape else rows
    return model.sequences(rows if state is None else Sequence(rows, states=[state]))


def check_one_step(model: HiddenMarkovModel, observation: Any, num_steps: float) -> None:
    if num_steps != 1:
        wanted = f"{model.event_shape[0]} values" if model.event_shape else "one value"
        raise InvalidData(f"one observation is {wanted}; got {observation!r}: take one step after the other")


def as_array(observation: Any) -> np.ndarray:
    try:
        return np.asarray(observation)
    except ValueError:  # a ragged list
        raise InvalidData(f"one observation has no lists of different lengths; got {shown(observation)}") from None


@dataclass(frozen=True, eq=False, repr=False)
class ChainFilter(Shown):
    """An online filter for a hidden Markov model: `step` gives the filter after one more observation.

    Attributes
    ----------
    model
        The hidden Markov model.
    lag
        How many steps the smoothed distribution `lagged` stays behind.
    num_steps
        The number of observations so far.
    log_evidence
        The log-probability of the observations so far.
    log_predicted
        The logarithm of `predicted`, (state,).
    recent
        For each of the last lag + 1 steps, the logarithm of the filtered distribution and the log-likelihoods of the
        observation.
    """

    model: HiddenMarkovModel
    lag: int
    num_steps: int
    log_evidence: float
    log_predicted: np.ndarray  # (state,)
    recent: tuple[tuple[np.ndarray, np.ndarray], ...] = ()

    def step(self, observation: Any, state: Any = None) -> ChainFilter:
        """The filter after this observation; None is a step at which nothing was observed.

        `state` is the label of the step, where it is known; a `Sequence` of one step may carry it too.
        """
        log_likelihoods = log_likelihoods_of(self.model, observation, state, step=self.num_steps)
        log_joint = self.log_predicted + log_likelihoods
        log_total = float(stable.log_sum_exp(log_joint))
        if log_total == -np.inf:
            raise ImpossibleEvidence(
                f"the observation {observation!r} at step {self.num_steps} has probability zero after those before it"
            )
        log_filtered = log_joint - log_total
        return replace(
            self,
            num_steps=self.num_steps + 1,
            log_evidence=self.log_evidence + log_total,
            log_predicted=propagate(log_filtered, Chain.of(self.model).log_transition),
            recent=(*self.recent, (log_filtered, log_likelihoods))[-self.lag - 1 :],
        )

    @property
    def filtered(self) -> np.ndarray:
        """p(state at the last step | all observations so far), (state,); at first the initial distribution."""
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
        log_backward = Chain.of(self.model).log_transition.T
        log_message = np.zeros(self.model.num_states)
        for _, log_likelihoods in reversed(self.recent[1:]):
            log_message = propagate(log_message + log_likelihoods, log_backward)
        log_distribution = self.recent[0][0] + log_message
        return np.asarray(np.exp(log_distribution - stable.log_sum_exp(log_distribution)))

    def __repr__(self) -> str:
        return f"ChainFilter({number_of(self.num_steps, 'step')}, lag={self.lag}; log_evidence={self.log_evidence:.6g})"


def begin_filter(model: HiddenMarkovModel, *, lag: int = 0) -> ChainFilter:
    return ChainFilter(model, check_count(lag, "lag"), 0, 0.0, Chain.of(model).log_initial)


def propagate(log_message: np.ndarray, log_matrix: np.ndarray) -> np.ndarray:
    return stable.log_sum_exp(log_message[:, None] + log_matrix, axis=0)
