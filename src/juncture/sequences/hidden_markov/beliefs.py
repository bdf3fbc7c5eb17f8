"""`ChainBeliefs`: the distributions of the hidden states of one sequence; `ChainForecast`: those after its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator
from juncture.base.values import SameContent, number_of
from juncture.components.mixture import Mixture
from juncture.data.sequences import Sequences
from juncture.data.tables.labels import decode_labels
from juncture.drawing.shares import ShareDiagram, Shares
from juncture.errors import ImpossibleEvidence
from juncture.inference.engines.contract import EXACT, Diagnostics, OneVariable
from juncture.inference.engines.display import steps_html, table_shares
from juncture.inference.engines.row_factors import RowFactors, marginals_frame, wide_frame
from juncture.kernels.chains.forward_backward import DISCARD, draw_paths, smooth_with_lag
from juncture.numerics import stable
from juncture.runtime.memory import check_table_fits
from juncture.sequences.hidden_markov.chain import Chain, Form, likelihoods
from juncture.sequences.hidden_markov.forward_backward import run_pass, smooth
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.online_filter import log_likelihoods_of
from juncture.variables import Scope, State, Variable

if TYPE_CHECKING:
    import pandas as pd

    from juncture.sequences.conditional_random_field.model import ConditionalRandomField
    from juncture.sequences.markov_chains.model import MarkovChain

SHOWN = 4  # steps and states


@dataclass(frozen=True, eq=False, repr=False)
class ChainForecast(SameContent):
    """Distributions of the future states and observations of a sequence, given what was observed.

    Attributes
    ----------
    model
        The hidden Markov model.
    states
        p(state), (step, state).
    first_step
        The number of the first step, which comes after the last of the sequence, whose first step is 0.
    """

    model: HiddenMarkovModel
    states: np.ndarray
    first_step: int = 0

    @property
    def observations(self) -> tuple[Mixture, ...]:
        """The distribution of each step's observation: a `Mixture` of emissions weighted by the states."""
        return tuple(Mixture(distribution, self.model.emissions) for distribution in self.states)

    def log_prob(self, observation: Any) -> np.ndarray:
        """The log-probability (density) that this observation comes, at each of the steps: (step,)."""
        log_values = stable.log(self.states) + log_likelihoods_of(self.model, observation)
        return stable.log_sum_exp(log_values, axis=1)

    @property
    def steps(self) -> range:
        """The numbers of the steps, which go on from those of the sequence."""
        return range(self.first_step, self.first_step + len(self))

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        """The probabilities of each state at the first steps."""
        more = ", …" if len(self) > SHOWN else ""
        distributions = [
            f"{label} {', '.join(f'{share:.4g}' for share in shares[:SHOWN])}{more}"
            for label, shares in zip(self.model.states, self.states.T, strict=True)
        ]
        rest = "; …" if len(distributions) > SHOWN else ""
        return f"ChainForecast({number_of(len(self), 'step')}: {'; '.join(distributions[:SHOWN])}{rest})"

    def to_diagram(self) -> ShareDiagram:
        """The probability of each state at each step of the future; the steps go on from those of the sequence."""
        return ShareDiagram((Shares("state", tuple(map(str, self.model.states)), self.states),), self.steps)

    def _repr_html_(self) -> str:
        words = f"ChainForecast({number_of(len(self), 'step')})"
        return steps_html(words, self.model.states, self.states, index=self.steps, picture=self.to_diagram())


def predict_distributions(first: np.ndarray, transition: np.ndarray, num_steps: int) -> np.ndarray:
    """The distributions of states in a row of which nothing is observed, from that of the first on: (step, state)."""
    distributions = np.empty((num_steps, len(first)))
    distributions[:1] = first
    for step in range(1, num_steps):
        distribution = distributions[step - 1] @ transition
        distributions[step] = distribution / distribution.sum()
    return distributions


@dataclass(frozen=True, eq=False, repr=False)
class ChainBeliefs(OneVariable):
    """Distributions of the hidden states of one sequence, in the order of the model's states.

    Distributions other than `smoothed` are computed when first asked for.

    Attributes
    ----------
    model
        The model.
    hidden
        The hidden Markov model that was run; for a Markov chain, the chain with states that emit themselves.
    sequences, position
        The checked sequences, and the position of this one among them.
    log_evidence
        log p(observations).
    smoothed
        p(state at t | all observations), (step, state).
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and further facts about the run.
    """

    variable = "state"
    model: (
        HiddenMarkovModel | MarkovChain | ConditionalRandomField
    )  # the model that was asked: a hidden Markov model, or a Markov chain
    hidden: HiddenMarkovModel  # the same as a hidden Markov model
    sequences: Sequences
    position: int  # which of them
    log_evidence: float
    smoothed: np.ndarray  # (step, state)
    method: str = "forward-backward"
    diagnostics: Diagnostics = EXACT

    @property
    def key(self) -> Any:
        """The key of a sequence in the rows of a table; None of other sequences."""
        return None if self.sequences.keys is None else self.sequences.keys[self.position]

    @property
    def impossible(self) -> tuple[int, ...]:
        """The index of this sequence among those that were given, if the sequence has probability zero; else ()."""
        return () if self.is_possible else (self.position,)

    @property
    def scope(self) -> Scope:
        return Scope([Variable("state", self.hidden.states)])

    def __getitem__(self, name: str) -> RowFactors:
        """p(state at t | all observations) by labels: `beliefs["state"]["wet"]` is (step,)."""
        self._check_variable(name)
        return RowFactors(self.scope, self.smoothed, "step")

    def to_dict(self) -> dict[str, dict[State, np.ndarray]]:
        """Name → state → probability at each step, (step,)."""
        return {name: self[name].to_dict() for name in self}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of step, variable, state and probability."""
        return marginals_frame(self.to_dict(), "step")

    def to_frame(self) -> pd.DataFrame:
        """A wide frame: a line per step, with the index of the frame that was given, and a column "state=…" a state."""
        frame = wide_frame({"state": self["state"]}, self.sequence.index)
        return frame.rename_axis("step") if self.sequence.index is None else frame

    @cached_property
    def sequence(self) -> Sequences:
        """What was observed."""
        return self.sequences.take(slice(self.position, self.position + 1))

    @property
    def num_steps(self) -> int:
        return len(self.smoothed)

    @property
    def is_possible(self) -> bool:
        """Whether the observations can occur at all; if not, the distributions are NaN."""
        return self.log_evidence > -np.inf

    @cached_property
    def filtered(self) -> np.ndarray:
        """p(state at t | observations up to t), (step, state)."""
        if not self.is_possible:
            return np.full_like(self.smoothed, np.nan)
        return as_plain(run_pass(self._chain, self.sequence, form=self._chain.form)[1])

    @cached_property
    def predicted(self) -> np.ndarray:
        """p(state at t | observations before t), (step, state)."""
        distributions = np.empty_like(self.smoothed)
        distributions[:1] = self._chain.initial
        distributions[1:] = self.filtered[:-1] @ self._chain.transition
        return distributions

    @cached_property
    def pairwise(self) -> np.ndarray:
        """p(state at t, state at t + 1 | all observations), (step - 1, from, to)."""
        chain = self._possible_chain()
        _, forward = run_pass(chain, self.sequence)
        _, backward = run_pass(chain, self.sequence, is_reverse=True)
        log_joint = as_logs(forward[:-1])[:, :, None] + chain.log_transition + as_logs(backward[1:])[:, None, :]
        total = stable.log_sum_exp(log_joint, axis=(1, 2))
        return np.asarray(np.exp(log_joint - total[:, None, None]))

    @cached_property
    def expected_transitions(self) -> np.ndarray:
        """How often each state follows each, expected over all paths: the sum of `pairwise`, (from, to)."""
        chain = self._possible_chain()
        pairs = np.zeros((chain.num_states, chain.num_states))
        smooth(chain, replace(self.sequence, weights=np.ones(1)), np.empty_like(self.smoothed), pairs)
        return pairs

    @cached_property
    def decoded(self) -> np.ndarray:
        """The most probable state of each step by itself; together they need not be a possible path."""
        self._possible_chain()
        return decode_labels(self.hidden.states, np.argmax(self.smoothed, axis=1))

    def lagged(self, lag: int) -> np.ndarray:
        """p(state at t | observations up to t + lag), (step, state): filtered for 0, smoothed for the whole length."""
        chain = self._possible_chain()
        one_pass, lattice = run_pass(chain, self.sequence)
        form = one_pass.blocks.form
        found = likelihoods(chain.emissions, self.sequence.observations, self.sequence.states, form)
        smooth_with_lag(chain.backward, form is Form.EXACT, found.values, found.rows, check_count(lag, "lag"), lattice)
        return as_plain(lattice)

    def forecast(self, num_steps: int) -> ChainForecast:
        """The distributions of the steps after the end: of each state, and of what it will emit."""
        count = check_count(num_steps, "the number of steps")
        check_table_fits((count, self.hidden.num_states), f"a forecast of {count:,} steps", "ask for fewer steps")
        chain = self._possible_chain()
        one_pass, _ = run_pass(chain, self.sequence, use=DISCARD, form=chain.form)
        distribution = as_plain(one_pass.message.copy())
        ahead = predict_distributions(distribution / distribution.sum(), chain.transition, count)
        return ChainForecast(self.hidden, ahead, self.num_steps)

    def sample(self, n: int, *, rng: Any = None) -> np.ndarray:
        """`n` paths drawn from p(all states | all observations), (path, step)."""
        chain, count = self._possible_chain(), check_count(n, "n")
        check_table_fits(
            (count, self.num_steps), f"{count:,} paths of {self.num_steps:,} steps", "draw fewer at a time"
        )
        _, lattice = run_pass(chain, self.sequence, is_reverse=True)
        paths = np.empty((count, self.num_steps), np.int64)
        uniforms = as_generator(rng).random(paths.shape)
        draw_paths(chain.initial, chain.transition, lattice, np.arange(self.num_steps), uniforms, paths)
        return decode_labels(self.hidden.states, paths)

    @property
    def _chain(self) -> Chain:
        return Chain.of(self.hidden)

    def _possible_chain(self) -> Chain:
        if not self.is_possible:
            raise ImpossibleEvidence("the sequence has probability zero, so its states have no distribution")
        return self._chain

    def __len__(self) -> int:
        return self.num_steps

    def __repr__(self) -> str:
        size = f"{number_of(self.num_steps, 'step')}, {number_of(self.hidden.num_states, 'state')}"
        return f"ChainBeliefs({size}; log_evidence={self.log_evidence:.6g}; exact, by {self.method})"

    def to_diagram(self) -> ShareDiagram:
        """The probability of each state at each step."""
        return ShareDiagram((table_shares(self.scope, self.smoothed),), self.sequence.index)

    def _repr_html_(self) -> str:
        index = self.sequence.index
        return steps_html(repr(self), self.hidden.states, self.smoothed, index=index, picture=self.to_diagram())


def as_plain(numbers: np.ndarray) -> np.ndarray:
    """What the numbers of `kernels.chains.encoded_numbers` stand for, in place."""
    small = numbers < 0
    if small.any():
        numbers[small] = np.exp(numbers[small])
    return numbers


def as_logs(numbers: np.ndarray) -> np.ndarray:
    """The logarithms of what the numbers of `kernels.chains.encoded_numbers` stand for."""
    return np.where(numbers < 0, numbers, stable.log(np.maximum(numbers, 0.0)))
