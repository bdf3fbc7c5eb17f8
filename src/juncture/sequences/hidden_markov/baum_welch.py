"""Baum-Welch: expectation maximisation for hidden Markov models.

The E-step computes the posterior of every state and of every pair of adjacent states at each step of each sequence. The
M-step estimates the model from them as if they were counts. The log-likelihood (plus the log prior) never falls (Baum,
Petrie, Soules and Weiss 1970).
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial, reduce
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.family import suggest_remedy
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import SequenceParts
from juncture.inference.engines.verb_options import check_data
from juncture.learning.conditionals.table import weighted_logs
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import is_long, map_parts, smooth
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import LearningOptions
from juncture.sequences.hidden_markov.starts import Starts
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics, estimate_quietly


def explain_impossible(model: HiddenMarkovModel, sequences: Sequences, num_before: int, position: int) -> str:
    """Why nothing can be learned of an impossible sequence; `num_before` came in earlier parts."""
    rows, own = sequences.observations[sequences.steps(position)], sequences.describe(position, num_before)
    barred = (model.emissions.log_prob(rows) == -np.inf).all(axis=1)
    if barred.any():
        step = int(np.argmax(barred))
        return (
            f"step {step} of {own} holds {rows[step].tolist()!r}, which no state can emit"
            f"{suggest_remedy(model.emissions, rows[step])}"
        )
    return (
        f"{own} has probability zero under the model that learning starts from, so"
        ' nothing can be learned of it: give a model that allows it, or start="random"'
    )


@dataclass(frozen=True, eq=False)
class ChainExpectation:
    """Expected counts given all observations and labels, each sequence counted by its weight.

    A sequence that is impossible has log_evidence -inf and adds nothing.
    """

    log_evidence: np.ndarray  # (sequence,)
    initial: np.ndarray  # (state,): how often a sequence starts there
    transitions: np.ndarray  # (from, to)
    emissions: EmissionStatistics


def expect_statistics(model: HiddenMarkovModel, sequences: Sequences) -> ChainExpectation:
    """Expected starts, transitions and emissions of all sequences."""
    chain = Chain.of(model)
    parts = map_parts(lambda part: expect_part(chain, sequences.take(part)), chain, sequences)
    if not parts:
        parts = [expect_part(chain, sequences)]
    return ChainExpectation(
        np.concatenate([part.log_evidence for part in parts]),
        np.sum([part.initial for part in parts], axis=0),
        np.sum([part.transitions for part in parts], axis=0),
        reduce(operator.add, [part.emissions for part in parts]),
    )


def expect_part(chain: Chain, part: Sequences) -> ChainExpectation:
    """Expected starts, transitions and emissions of one chunk of sequences."""
    lattice = np.empty((part.num_steps, chain.num_states))
    transitions = np.zeros((chain.num_states, chain.num_states))
    log_evidence = smooth(chain, part, lattice, transitions)
    for position in np.flatnonzero(np.isneginf(log_evidence)):
        lattice[part.steps(int(position))] = 0.0
    if (part.weights != 1).any():
        lattice *= np.repeat(part.weights, part.lengths)[:, None]
    initial = lattice[part.offsets[:-1][part.lengths > 0]].sum(axis=0)
    size = block_rows(lattice.shape[1:], part.observations.shape[1:]) if is_long(chain, part) else len(lattice)
    statistics = emission_statistics(chain.emissions, part.observations, lattice, size)
    return ChainExpectation(log_evidence, initial, transitions, statistics)


def emission_statistics(emissions: Emissions, rows: np.ndarray, weights: np.ndarray, size: int) -> EmissionStatistics:
    """Statistics of weighted rows, in blocks of this size on all cores."""
    if not len(rows):
        return emissions.statistics(rows, weights)
    parts = map_blocks(lambda block: emissions.statistics(rows[block], weights[block]), len(rows), size)
    return reduce(operator.add, parts)


@dataclass(frozen=True, eq=False)
class SequenceBlock:
    """A part of the sequences, and the number of sequences in earlier parts."""

    sequences: Sequences
    num_before: int


def sequence_blocks(parts: SequenceParts) -> Iterator[SequenceBlock]:
    num_before = 0
    for sequences in parts():
        yield SequenceBlock(sequences, num_before)
        num_before += sequences.num


def expect_block(model: HiddenMarkovModel, block: SequenceBlock) -> Expected[HiddenMarkovStatistics]:
    """The E-step: the statistics of a block expected under the model, and the log-likelihood of the block."""
    sequences = block.sequences
    part = expect_statistics(model, sequences)
    check_data(part.log_evidence, sequences.weights, partial(explain_impossible, model, sequences, block.num_before))
    heavy = sequences.weights > 0
    log_likelihood = float(sequences.weights[heavy] @ part.log_evidence[heavy])
    return Expected(HiddenMarkovStatistics(part.initial, part.transitions, part.emissions), log_likelihood)


HiddenMarkovState: TypeAlias = EMState[HiddenMarkovModel, HiddenMarkovStatistics]


@dataclass(frozen=True, eq=False)
class HiddenMarkovProblem:
    """A hidden Markov model to learn by EM: where to start, the sequences, and the options."""

    starts: Starts
    kind: str  # of the first start
    models: ClassVar[str] = "hidden Markov models"

    @property
    def options(self) -> LearningOptions:
        return self.starts.options

    def start(self) -> HiddenMarkovModel:
        return self.starts.make(self.kind)

    def another_start(self) -> HiddenMarkovModel:
        """Other clusters, if clusters are asked for; else at random."""
        return self.starts.make("k-means" if self.kind == "k-means" else "random")

    def blocks(self) -> Iterator[SequenceBlock]:
        return sequence_blocks(self.starts.parts)

    def expect(self, model: HiddenMarkovModel, block: SequenceBlock) -> Expected[HiddenMarkovStatistics]:
        return expect_block(model, block)

    def maximize(self, statistics: HiddenMarkovStatistics, model: HiddenMarkovModel) -> HiddenMarkovModel:
        return estimate_quietly(model, statistics, self.options)

    def expected_log_joint(self, statistics: HiddenMarkovStatistics, model: HiddenMarkovModel) -> float:
        chain = weighted_logs(statistics.initial, model.initial)
        chain += weighted_logs(statistics.transitions, model.transition)
        return chain + model.emissions.log_likelihood(statistics.emissions)

    def divide(self, block: SequenceBlock, number: int) -> list[SequenceBlock]:
        num = block.sequences.num
        cuts = np.linspace(0, num, min(number, num) + 1).astype(int).tolist()
        return [
            SequenceBlock(block.sequences.take(slice(low, high)), block.num_before + low)
            for low, high in pairwise(cuts)
        ]

    def log_prior(self, model: HiddenMarkovModel) -> float:
        return self.options.log_prior(model)

    def recover(self, state: HiddenMarkovState, fall: float) -> HiddenMarkovModel:
        """Where rounding in almost degenerate emissions lowers the objective, the emissions stay."""
        return estimate_quietly(state.model, state.statistics, self.options.keeping("emissions"))

    def to_vector(self, model: HiddenMarkovModel) -> np.ndarray:
        return flatten_tables(list(self.tables(model).values()))

    def from_vector(self, vector: np.ndarray, state: HiddenMarkovState) -> HiddenMarkovModel:
        tables = self.tables(state.model)
        values = unflatten_simplex_tables(vector, list(tables.values()))
        return with_tables(state.model, dict(zip(tables, values, strict=True)))

    def tables(self, model: HiddenMarkovModel) -> dict[str, np.ndarray]:
        """The tables that are learned."""
        tables = {"initial": model.initial[None], "transition": model.transition}
        if isinstance(model.emissions, CategoricalEmissions):
            tables["emissions"] = model.emissions.probabilities
        return {name: table for name, table in tables.items() if self.options.learns(name)}


def with_tables(model: HiddenMarkovModel, tables: dict[str, np.ndarray]) -> HiddenMarkovModel:
    """The model with other numbers in some of its tables."""
    emissions = model.emissions
    if "emissions" in tables and isinstance(emissions, CategoricalEmissions):
        emissions = CategoricalEmissions.trusted(emissions, tables["emissions"])
    initial = tables.get("initial", model.initial[None])[0]
    return HiddenMarkovModel.trusted(model, initial, tables.get("transition", model.transition), emissions)
