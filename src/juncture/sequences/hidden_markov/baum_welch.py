"""Baum-Welch: expectation maximisation for hidden Markov models.

Each step asks how likely every state and every pair of neighbouring states is at each step of each sequence, and
estimates from these as if they were counts. The log-likelihood, with a prior plus its logarithm, never falls (Baum,
Petrie, Soules and Weiss 1970).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce

import numpy as np

from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.family import FamilyEmissions
from juncture.data.sequences.sequences import Sequences
from juncture.errors import ImpossibleEvidence
from juncture.iteration import has_fallen
from juncture.learning.em.squarem import extrapolate_tables
from juncture.parallel import block_rows, map_blocks
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import is_long, map_parts, smooth
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import LearningOptions
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics, estimate_quietly

SequenceParts = Callable[[], Iterable[Sequences]]  # all sequences, part by part; called once a step


def check_possible(model: HiddenMarkovModel, sequences: Sequences, log_evidence: np.ndarray, num_before: int) -> None:
    """Raise for the first sequence that counts and is impossible; `num_before` came in earlier parts."""
    impossible = np.flatnonzero((log_evidence == -np.inf) & (sequences.weights > 0))
    if not impossible.size:
        return
    position = int(impossible[0])
    rows = sequences.observations[sequences.steps(position)]
    barred = (model.emissions.log_prob(rows) == -np.inf).all(axis=1)
    if barred.any():
        step = int(np.argmax(barred))
        raise ImpossibleEvidence(
            f"step {step} of sequence {position + num_before} holds {rows[step].tolist()!r}, which no state can emit"
            f"{remedy(model, rows[step])}"
        )
    raise ImpossibleEvidence(
        f"sequence {position + num_before} has probability zero under the model that learning starts from, so"
        ' nothing can be learned of it: give a model that allows it, or start="random"'
    )


def remedy(model: HiddenMarkovModel, row: np.ndarray) -> str:
    """What to do; where this is no value of the family, what its values are."""
    family = model.emissions.family if isinstance(model.emissions, FamilyEmissions) else None
    if family is None or family.support.contains(row).any():
        return ': give distributions that allow it, or start="random"'
    return f", as {type(family).__name__} takes {family.support}: correct the data, or take other distributions"


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
class EMState:
    """A model, the statistics expected under it, and its objective."""

    model: HiddenMarkovModel
    statistics: HiddenMarkovStatistics
    log_likelihood: float
    objective: float


@dataclass(frozen=True, eq=False)
class BaumWelch:
    """EM from a start; each step passes once over the sequences."""

    start: HiddenMarkovModel
    parts: SequenceParts
    options: LearningOptions

    def init(self) -> EMState:
        return self.expect(self.start)

    def step(self, state: EMState) -> EMState:
        """One step of EM; where rounding in almost degenerate emissions lowers the objective, the emissions stay."""
        with suppress(ImpossibleEvidence):
            moved = self.expect(estimate_quietly(state.model, state.statistics, self.options))
            if not has_fallen(state.objective, moved.objective):
                return moved
        return self.expect(estimate_quietly(state.model, state.statistics, self.options.keeping("emissions")))

    def objective(self, state: EMState) -> float:
        return state.objective

    def expect(self, model: HiddenMarkovModel) -> EMState:
        """The expectation step under a model."""
        statistics, log_likelihood = expect_all(model, self.parts)
        return EMState(model, statistics, log_likelihood, log_likelihood + self.options.log_prior(model))


@dataclass(frozen=True, eq=False)
class AcceleratedBaumWelch(BaumWelch):
    """Two steps of EM, then the SQUAREM extrapolation of the tables where it raises the objective."""

    def step(self, state: EMState) -> EMState:
        once = super().step(state)
        twice = super().step(once)
        stages = [self.tables(stage.model) for stage in (state, once, twice)]
        further = extrapolate_tables(*(list(tables.values()) for tables in stages))
        if further is None:
            return twice
        reached = self.expect(with_tables(twice.model, dict(zip(stages[0], further, strict=True))))
        return reached if reached.objective > twice.objective else twice

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
        emissions = CategoricalEmissions(tables["emissions"], emissions.symbols)
    initial = tables.get("initial", model.initial[None])[0]
    return HiddenMarkovModel(initial, tables.get("transition", model.transition), emissions, states=model.states)


def expect_all(model: HiddenMarkovModel, parts: SequenceParts) -> tuple[HiddenMarkovStatistics, float]:
    """The statistics expected under a model, and the log-likelihood, of all sequences."""
    found, log_likelihood, num_before = [], 0.0, 0
    for sequences in parts():
        part = expect_statistics(model, sequences)
        check_possible(model, sequences, part.log_evidence, num_before)
        found.append(HiddenMarkovStatistics(part.initial, part.transitions, part.emissions))
        heavy = sequences.weights > 0
        log_likelihood += float(sequences.weights[heavy] @ part.log_evidence[heavy])
        num_before += sequences.num
    return reduce(operator.add, found), log_likelihood
