"""`infer`, `log_prob` and `sample` of hidden Markov models: the forward-backward algorithm, and draws.

Costs num_steps · num_states² operations and one lattice (step, state) of memory. Reference: L. R. Rabiner, A tutorial
on hidden Markov models and selected applications in speech recognition, 1989. Draws are a path of states and what they
emit; or, given a sequence, paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_counts
from juncture.base.methods import register_methods, resolve_method
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.components.categorical import CategoricalEmissions
from juncture.data.sequences import Sequence, Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.data.tables.labels import decode_labels
from juncture.errors import InvalidData
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.verb_options import as_budget, check_evidence, check_limits, check_policy
from juncture.kernels.chains.forward_backward import DISCARD, draw_paths
from juncture.runtime.memory import check_table_fits
from juncture.sequences.hidden_markov.beliefs import ChainBeliefs
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import map_parts, run_pass, score, smooth
from juncture.sequences.hidden_markov.model import HiddenMarkovModel

if TYPE_CHECKING:
    from juncture.sequences.conditional_random_field.model import ConditionalRandomField
    from juncture.sequences.markov_chains.model import MarkovChain


def infer_chain(  # noqa: PLR0913 (one verb, many options)
    model: HiddenMarkovModel,
    evidence: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    states: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> Any:
    """The beliefs about the states of a sequence, or a list of them, one for each of many sequences.

    `lengths` cuts one stacked array into sequences; `group` names the column of a table whose cells say which sequence
    a row belongs to, and `states` a column of labels of states. Of many sequences, impossible ones have NaN for
    distributions and log_evidence -inf, with one warning; `on_impossible="raise"` raises.
    """
    options = ChainOptions.of(model, "infer", method, on_impossible, budget, memory_limit)
    return infer_sequences(model, model, read_sequences(model, evidence, lengths, group, states).all(), options)


@dataclass(frozen=True)
class ChainOptions:
    """How a question to a chain is answered: the algorithm, the policy for impossible sequences, and the limits."""

    method: str
    on_impossible: str
    budget: float | None
    memory_limit: int | None

    @classmethod
    def of(
        cls,
        model: HiddenMarkovModel | MarkovChain | ConditionalRandomField,
        verb: str,
        method: Any,
        on_impossible: Any,
        budget: Any,
        memory_limit: Any,
    ) -> ChainOptions:
        return cls(resolve_method(model, verb, method), check_policy(on_impossible), as_budget(budget), memory_limit)

    def check_cost(self, sequences: Sequences, num_states: int) -> None:
        """Raise `TooLarge` for a run beyond the limits."""
        if self.budget is not None or self.memory_limit is not None:
            cells, pairs = sequences.num_steps * num_states, num_states**2
            cost = Cost(1, pairs, 8 * (cells + pairs), sequences.num_steps * pairs)
            check_limits(
                cost, f"the states of {number_of(sequences.num_steps, 'step')}", self.budget, self.memory_limit
            )


def infer_sequences(
    model: HiddenMarkovModel | MarkovChain | ConditionalRandomField,
    hidden: HiddenMarkovModel,
    sequences: Sequences,
    options: ChainOptions,
) -> Any:
    """The beliefs of checked sequences under a model that is the same as a hidden Markov model."""
    options.check_cost(sequences, hidden.num_states)
    chain, lattice = Chain.of(hidden), np.empty((sequences.num_steps, hidden.num_states))

    def smooth_part(part: slice) -> np.ndarray:
        own = sequences.take(part)
        return smooth(chain, own, lattice[sequences.offsets[part.start] : sequences.offsets[part.stop]])

    log_evidence = concatenate(map_parts(smooth_part, chain, sequences))
    check_possible(chain, sequences, log_evidence, options.on_impossible)
    edges = pairwise(sequences.offsets.tolist())
    beliefs = [
        ChainBeliefs(model, hidden, sequences, index, own, lattice[first:last], options.method)
        for index, ((first, last), own) in enumerate(zip(edges, log_evidence.tolist(), strict=True))
    ]
    return beliefs[0] if sequences.is_single else beliefs


def check_possible(chain: Chain, sequences: Sequences, log_evidence: np.ndarray, on_impossible: str = "warn") -> None:
    """Raise for a single impossible sequence, warn (or raise, on request) for some among many."""

    def explain(index: int) -> str:
        step = run_pass(chain, sequences.take(slice(index, index + 1)), use=DISCARD)[0].failed
        return f"no path of states explains the observations up to step {step}"

    check_evidence(
        log_evidence,
        explain,
        is_single=sequences.is_single,
        on_impossible=on_impossible,
        unit="sequence",
        single="the sequence",
    )


def concatenate(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts) if parts else np.empty(0)


def log_prob_chain(
    model: HiddenMarkovModel,
    rows: Any,
    *,
    lengths: Any = None,
    group: str | None = None,
    states: str | None = None,
    method: Any = "auto",
) -> Any:
    """log p(observations) of a sequence, or an array of one number for each of many."""
    resolve_method(model, "log_prob", method)
    chain = Chain.of(model)
    given = read_sequences(model, rows, lengths, group, states)
    return given.answer(lambda sequences: score_sequences(chain, sequences))


def score_sequences(chain: Chain, sequences: Sequences) -> np.ndarray:
    """log p of each sequence."""
    return concatenate(map_parts(lambda part: score(chain, sequences.take(part)), chain, sequences))


def sample_chain(model: HiddenMarkovModel, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Any:
    """One `Sequence` of `n` steps with its states, or a list of them for a list of lengths.

    With `given`, one sequence of observations: `n` paths of states from the posterior, (path, step).
    """
    resolve_method(model, "sample", method)
    if given is not None:
        return draw_paths_given(infer_chain(model, given, method=method), n, rng)
    stream, lengths = as_generator(rng), check_counts(n, "the number of steps")
    if isinstance(lengths, int):
        return draw_sequence(model, lengths, stream)
    return [
        draw_sequence(model, length, child) for length, child in zip(lengths, stream.spawn(len(lengths)), strict=True)
    ]


def draw_paths_given(beliefs: Any, n: Any, rng: Any) -> np.ndarray:
    """`n` paths from the beliefs of one sequence."""
    if isinstance(beliefs, list):
        raise InvalidData("given= takes one sequence of observations; sample once for each sequence")
    paths: np.ndarray = beliefs.sample(n, rng=rng)
    return paths


def draw_sequence(model: HiddenMarkovModel, num_steps: int, rng: np.random.Generator) -> Sequence:
    check_table_fits((num_steps,), f"a sequence of {num_steps:,} steps", "draw shorter ones", copies=8)
    chain = Chain.of(model)
    codes, ones = np.empty((1, num_steps), np.int64), np.ones((1, chain.num_states))
    draw_paths(chain.initial, chain.transition, ones, np.zeros(num_steps, np.int64), rng.random((1, num_steps)), codes)
    observations = model.emissions.sample(codes[0], rng)
    if isinstance(model.emissions, CategoricalEmissions):
        observations = decode_labels(model.emissions.symbols, observations)
    return Sequence(observations, states=decode_labels(model.states, codes[0]))


register_methods(HiddenMarkovModel, "infer", "forward-backward")
register_methods(HiddenMarkovModel, "log_prob", "forward-backward")
register_methods(HiddenMarkovModel, "sample", "forward-backward")
