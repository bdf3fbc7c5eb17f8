"""EM for Markov chains of order 1 with missing states.

Sequences are summarised once: counts of pairs of consecutively observed states, by the number of steps between them.
The E-step computes the expected transitions between the two states of each pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.errors import ImpossibleEvidence
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.conditionals.table import weighted_logs
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables
from juncture.sequences.markov_chains.estimation import Estimate, log_prior
from juncture.sequences.markov_chains.evolution import power
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.statistics import MarkovChainStatistics
from juncture.sequences.markov_chains.windows import Sightings


@dataclass(frozen=True, eq=False)
class GapCounts:
    """How often a state is the first one seen, by its time; and is seen next after another, by the steps between."""

    firsts: dict[int, np.ndarray]  # (state,)
    pairs: dict[int, np.ndarray]  # (before, after)

    @classmethod
    def of(cls, sequences: Sequences, size: int) -> GapCounts:
        seen, weights = Sightings.of(sequences), sequences.weights
        firsts, pairs = {}, {}
        for time in np.unique(seen.first_time).tolist():
            at = seen.first_time == time
            firsts[time] = np.bincount(seen.first[at], weights[seen.first_owner[at]], size)
        for gap in np.unique(seen.gap).tolist():
            at = seen.gap == gap
            positions = seen.before[at] * size + seen.after[at]
            pairs[gap] = np.bincount(positions, weights[seen.owner[at]], size**2).reshape(size, size)
        return cls(firsts, pairs)

    def __add__(self, other: GapCounts) -> GapCounts:
        return GapCounts(add_counts(self.firsts, other.firsts), add_counts(self.pairs, other.pairs))


def add_counts(one: dict[int, np.ndarray], other: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Counts by time or gap, in order of it, as those of all sequences at once are."""
    keys = sorted({*one, *other})
    return {key: np.asarray(one.get(key, 0.0) + other.get(key, 0.0)) for key in keys}


@dataclass(frozen=True, eq=False)
class MarkovChainProblem:
    """A chain to learn by EM from sequences with missing states: where to start, the counts, and the options."""

    template: MarkovChain
    counts: GapCounts
    options: EstimationOptions
    rng: np.random.Generator
    models: ClassVar[str] = "Markov chains"

    def start(self) -> MarkovChain:
        template = self.template
        size = template.num_states
        start = template if template.initial is not None else template.with_initial(np.full(size, 1 / size))
        if self.expect(start, self.counts).log_likelihood == -np.inf:
            raise ImpossibleEvidence(
                "the chain to start from gives some sequence probability zero; start from jt.MarkovChain.uniform(…)"
            )
        return start

    def another_start(self) -> MarkovChain:
        ones = np.ones(self.template.num_states)
        return MarkovChain(self.rng.dirichlet(ones, len(ones)), self.rng.dirichlet(ones), states=self.template.labels)

    def blocks(self) -> list[GapCounts]:
        return [self.counts]

    def expect(self, model: MarkovChain, block: GapCounts) -> Expected[MarkovChainStatistics]:
        """The expected number of times that each transition was taken, seen or not."""
        initial, transition = model.initial_distribution(), model.transition
        begins, moves, total = np.zeros_like(initial), np.zeros_like(transition), 0.0
        for time, counts in block.firsts.items():
            until = power(transition, time)
            chances = ratio(counts, initial @ until)
            total += weighted_logs(counts, initial @ until)
            begins += initial * (until @ chances)
            moves += expect_passages(transition, np.outer(initial, chances), time)
        for gap, counts in block.pairs.items():
            between = power(transition, gap)
            total += weighted_logs(counts, between)
            moves += expect_passages(transition, ratio(counts, between), gap)
        return Expected(MarkovChainStatistics.of(model.labels.plain, [begins], moves * transition), total)

    def maximize(self, statistics: MarkovChainStatistics, model: MarkovChain) -> MarkovChain:
        return Estimate(statistics, self.options).chain

    def expected_log_joint(self, statistics: MarkovChainStatistics, model: MarkovChain) -> float:
        parts = (*statistics.starts, statistics.transitions)
        return sum(weighted_logs(part.counts, table) for part, table in zip(parts, self.tables(model), strict=True))

    def log_prior(self, model: MarkovChain) -> float:
        initial, transition = self.tables(model)
        shapes = MarkovChainStatistics.of(model.labels.plain, [np.zeros_like(initial)], np.zeros_like(transition))
        return log_prior(shapes, (initial, transition), self.options)

    def tables(self, model: MarkovChain) -> tuple[np.ndarray, np.ndarray]:
        return model.initial_distribution(), model.transition

    def to_vector(self, model: MarkovChain) -> np.ndarray:
        return flatten_tables(self.tables(model))

    def from_vector(self, vector: np.ndarray, state: EMState[MarkovChain, MarkovChainStatistics]) -> MarkovChain:
        initial, transition = unflatten_simplex_tables(vector, self.tables(state.model))
        return MarkovChain(transition, initial, states=self.template.labels)


def ratio(counts: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """counts / probabilities, and 0 where nothing was counted."""
    return np.divide(counts, probabilities, out=np.zeros_like(counts), where=(counts > 0) & (probabilities > 0))


def expect_passages(transition: np.ndarray, ends: np.ndarray, steps: int) -> np.ndarray:
    """Σ_k (S^k)ᵀ E (S^(steps-1-k))ᵀ: how often a passage between two ends is at each pair of states, up to S itself.

    The sum is a corner of a power of [[Sᵀ, E], [0, Sᵀ]].
    """
    size, back = len(transition), transition.T
    blocks = np.block([[back, ends], [np.zeros_like(ends), back]])
    return np.linalg.matrix_power(blocks, steps)[:size, size:]
