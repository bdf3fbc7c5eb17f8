"""EM for Markov chains of order 1 with missing states.

Sequences are summed up once, as counts of which state is seen next after which, by the number of steps between them;
what passed in between is expected anew at each step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.errors import ImpossibleEvidence, Unsupported
from juncture.iteration import ProgressCallback
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.conditionals.table import weighted_logs
from juncture.learning.em.expectation_maximization import Acceleration
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


@dataclass(frozen=True, eq=False)
class EMState:
    """A chain, the counts expected under it, the log-likelihood of the sequences, and the objective."""

    model: MarkovChain
    statistics: MarkovChainStatistics
    log_likelihood: float
    objective: float


@dataclass(frozen=True, eq=False)
class ChainEM:
    """EM from a start."""

    start: MarkovChain
    counts: GapCounts
    options: EstimationOptions

    def init(self) -> EMState:
        found = self.expect(self.start)
        if found.log_likelihood == -np.inf:
            raise ImpossibleEvidence(
                "the chain to start from gives some sequence probability zero; start from jt.MarkovChain.uniform(…)"
            )
        return found

    def step(self, state: EMState) -> EMState:
        return self.expect(Estimate(state.statistics, self.options).chain)

    def objective(self, state: EMState) -> float:
        return state.objective

    def expect(self, model: MarkovChain) -> EMState:
        """How often each transition was taken, seen or not, as far as the chain can tell."""
        initial, transition = model.initial_distribution(), model.transition
        begins, moves, total = np.zeros_like(initial), np.zeros_like(transition), 0.0
        for time, counts in self.counts.firsts.items():
            until = power(transition, time)
            chances = ratio(counts, initial @ until)
            total += weighted_logs(counts, initial @ until)
            begins += initial * (until @ chances)
            moves += expect_passages(transition, np.outer(initial, chances), time)
        for gap, counts in self.counts.pairs.items():
            between = power(transition, gap)
            total += weighted_logs(counts, between)
            moves += expect_passages(transition, ratio(counts, between), gap)
        statistics = MarkovChainStatistics.of(model.labels.plain, [begins], moves * transition)
        return EMState(model, statistics, total, total + log_prior(statistics, (initial, transition), self.options))


def ratio(counts: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """counts / probabilities, and 0 where nothing was counted."""
    return np.asarray(
        np.divide(counts, probabilities, out=np.zeros_like(counts), where=(counts > 0) & (probabilities > 0))
    )


def expect_passages(transition: np.ndarray, ends: np.ndarray, steps: int) -> np.ndarray:
    """Σ_k (S^k)ᵀ E (S^(steps-1-k))ᵀ: how often a passage between two ends is at each pair of states, up to S itself.

    The sum is a corner of a power of [[Sᵀ, E], [0, Sᵀ]].
    """
    size, back = len(transition), transition.T
    blocks = np.block([[back, ends], [np.zeros_like(ends), back]])
    return np.asarray(np.linalg.matrix_power(blocks, steps)[:size, size:])


@dataclass(frozen=True, eq=False)
class ChainTask:
    """A chain to learn from sequences with holes: where to start, and the algorithm from there."""

    template: MarkovChain
    counts: GapCounts
    options: EstimationOptions
    rng: np.random.Generator
    progress: ProgressCallback | None

    def start(self) -> MarkovChain:
        size = self.template.num_states
        return (
            self.template if self.template.initial is not None else self.template.with_initial(np.full(size, 1 / size))
        )

    def another_start(self) -> MarkovChain:
        ones = np.ones(self.template.num_states)
        return MarkovChain(self.rng.dirichlet(ones, len(ones)), self.rng.dirichlet(ones), states=self.template.labels)

    def algorithm(self, start: MarkovChain, acceleration: Acceleration) -> ChainEM:
        if acceleration is not None:
            raise Unsupported(f"EM of Markov chains is not accelerated; leave acceleration={acceleration!r} out")
        return ChainEM(start, self.counts, self.options)
