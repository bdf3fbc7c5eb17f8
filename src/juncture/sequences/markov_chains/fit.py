"""`fit`, `statistics` and `estimate` for Markov chains: counting, and EM where states are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np

from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.base.values import Value, number_of
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.errors import ImpossibleEvidence, InvalidData, UnseenParentsWarning, hint, warn_user
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.conditionals.table import TableCounts, added_counts, weighted_logs
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables
from juncture.learning.fit import Fit
from juncture.learning.options import PointEstimate
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress
from juncture.sequences.markov_chains.evolution import power
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.windows import Sightings, cells, own_steps, owners
from juncture.sequences.options import SequenceOptions
from juncture.variables import Scope, State, Variable


@dataclass(frozen=True)
class MarkovChainOptions(PointEstimate, SequenceOptions):
    """How a Markov chain is learned from sequences of states.

    Parameters
    ----------
    method
        "em", or an `ExpectationMaximization` with its options, where states are missing.
    """

    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization}


def chain_statistics(
    model: MarkovChain, data: Any, *, weights: Any = None, options: SequenceOptions
) -> MarkovChainStatistics:
    """The counts of sequences without holes; `weights` are those of the sequences."""

    def count(sequences: Sequences) -> MarkovChainStatistics:
        hole = first_hole(sequences)
        if hole is not None:
            raise InvalidData(f"statistics are of complete sequences; {hole} is missing: jt.fit allows holes")
        return count_complete(model, sequences)

    return read_sequences(model, data, options.lengths, options.group, weights=weights).total(count)


def estimate_chain(model: MarkovChain, statistics: Any, prior: Any = None, *, options: PointEstimate) -> MarkovChain:
    """The chain that the statistics lead to."""
    found = Estimate(as_statistics(statistics, model), as_estimation_options(prior, model.order, options))
    found.report_unseen()
    return found.chain


def fit_chain(
    model: MarkovChain,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: MarkovChainOptions,
) -> Fit[MarkovChain]:
    """A chain of the same states and order, learned from sequences of states, whose `weights` may be given.

    Without a prior, maximum likelihood; with one (a pseudo-count per cell, an array, `Dirichlet`, `BDeu`, `K2`, or a
    mapping from "initial" and "transition" to these) the mean of the posterior, or with `point="mode"` its mode.
    Where states are missing EM sums them out, from the given chain on; this is for chains of order 1. `data` may be a
    function that returns parts of the sequences for every pass.
    """
    check_progress(progress)
    given = read_sequences(model, data, options.lengths, options.group, weights=weights)
    estimation = as_estimation_options(prior, model.order, options)
    hole = next((hole for hole in map(first_hole, given.parts()) if hole is not None), None)
    if hole is None:
        found = Estimate(given.total(partial(count_complete, model)), estimation)
        found.report_unseen()
        trace = Trace((found.log_likelihood + found.log_prior,), True, "complete data: estimated in one step")
        return Fit(found.chain, found.log_likelihood, trace, found.statistics)
    if model.order > 1:
        raise InvalidData(
            f"{hole} is missing; a chain of order {model.order} is learned from complete sequences: cut this one there"
        )
    given.check_observed()
    gaps = given.total(lambda part: GapCounts.of(part, model.num_states))
    seed = as_seed(rng)
    generator = as_generator(seed)
    problem = MarkovChainProblem(model, gaps, estimation, generator)
    found, trace = options.method.run(problem, progress)
    Estimate(found.statistics, estimation).report_unseen()
    return Fit(found.model, found.log_likelihood, trace, found.statistics, used_seed(seed, generator))


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


PARTS = ("initial", "transition")
SHOWN = 3


@dataclass(frozen=True, eq=False)
class Estimate:
    """A chain as tables: of how sequences begin, step by step, and of what follows what."""

    statistics: MarkovChainStatistics
    options: EstimationOptions

    @property
    def parts(self) -> Iterator[tuple[TableCounts, np.ndarray]]:
        """Each table's counts, and what they lead to; where there are none, all is equally likely."""
        for part in (*self.statistics.starts, self.statistics.transitions):
            counts = part.counts + added_counts(self.options, part)
            totals = counts.sum(axis=-1, keepdims=True)
            yield part, np.divide(counts, totals, out=np.full(counts.shape, 1.0 / counts.shape[-1]), where=totals > 0)

    @property
    def chain(self) -> MarkovChain:
        *starts, transition = (table for _, table in self.parts)
        distribution = np.ones(())
        for table in starts:
            distribution = distribution[..., None] * table
        return MarkovChain(transition, distribution, states=self.statistics.states, order=self.statistics.order)

    @property
    def log_likelihood(self) -> float:
        """Of the sequences that were counted."""
        return sum(weighted_logs(part.counts, table) for part, table in self.parts)

    @property
    def log_prior(self) -> float:
        return log_prior(self.statistics, [table for _, table in self.parts], self.options)

    def report_unseen(self) -> None:
        """Warn of histories that no sequence goes on from, or raise if that was asked for."""
        part = self.statistics.transitions
        unseen = np.argwhere((part.counts + added_counts(self.options, part)).sum(axis=-1) == 0)
        if not len(unseen):
            return
        labels = [tuple(self.statistics.states[code] for code in history) for history in unseen[:SHOWN]]
        few = ", ".join(repr(label if len(label) > 1 else label[0]) for label in labels)
        message = f"no sequence goes on from {few}{f', … ({len(unseen)} in all)' if len(unseen) > SHOWN else ''}"
        if self.options.on_unseen == "error":
            raise InvalidData(f'{message}; give a prior, or on_unseen="uniform"')
        warn_user(
            f"{message}; there all states are taken as equally likely to follow: give a prior to say otherwise",
            UnseenParentsWarning,
        )


def log_prior(statistics: MarkovChainStatistics, tables: Sequence[np.ndarray], options: EstimationOptions) -> float:
    """Σ α log θ, up to a constant."""
    parts = zip((*statistics.starts, statistics.transitions), tables, strict=True)
    return sum(weighted_logs(np.broadcast_to(added_counts(options, part), table.shape), table) for part, table in parts)


def as_estimation_options(prior: Any, order: int, options: PointEstimate) -> EstimationOptions:
    """The options, with a prior for the parts of the chain as one for the tables of its statistics."""
    if not isinstance(prior, Mapping):
        return EstimationOptions(prior, options.point, options.on_unseen)
    for name in prior:
        if name not in PARTS:
            raise InvalidData(f"the prior of a Markov chain is of its initial or transition; {hint(name, PARTS)}")
    tables = {f"state{step}": prior.get("initial") for step in range(order)}
    return EstimationOptions({**tables, "next": prior.get("transition")}, options.point, options.on_unseen)


class MarkovChainStatistics(Value):
    """The sufficient statistics of a Markov chain; `a + b` are those of both sets of sequences.

    Parameters
    ----------
    starts
        For a chain of order m, m tables: the counts of the first state, of the second state given the first, and so on.
        So sequences shorter than m count too.
    transitions
        The counts of each state given the m states before it.
    """

    starts: tuple[TableCounts, ...]
    transitions: TableCounts

    def __init__(self, starts: tuple[TableCounts, ...], transitions: TableCounts) -> None:
        self._set(starts=tuple(starts), transitions=transitions)

    @classmethod
    def of(cls, labels: tuple[State, ...], starts: list[np.ndarray], transitions: np.ndarray) -> MarkovChainStatistics:
        """Return the statistics with these counts of first states, (first, …), and of transitions, (*history, next)."""
        order = len(starts)
        early = Scope(Variable(f"state{step}", labels) for step in range(order))
        before = [Variable(f"{steps} before", labels) for steps in range(order, 0, -1)]
        parts = [TableCounts(early[step], early[:step], counts) for step, counts in enumerate(starts)]
        return cls(tuple(parts), TableCounts(Variable("next", labels), before, transitions))

    @property
    def order(self) -> int:
        return len(self.starts)

    @property
    def states(self) -> tuple[State, ...]:
        return self.transitions.child.labels

    @cached_property
    def weight(self) -> float:
        """The weight of all sequences that have a first step."""
        return self.starts[0].weight

    def __add__(self, other: object) -> MarkovChainStatistics:
        if not isinstance(other, MarkovChainStatistics):
            return NotImplemented
        if self.order != other.order:
            raise InvalidData(f"statistics of chains of the orders {self.order} and {other.order} do not add")
        starts = tuple(one + two for one, two in zip(self.starts, other.starts, strict=True))
        return MarkovChainStatistics(starts, self.transitions + other.transitions)

    def __radd__(self, other: object) -> MarkovChainStatistics:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([...]) starts from 0

    def __repr__(self) -> str:
        steps = sum(part.weight for part in (*self.starts, self.transitions))
        order = f", order {self.order}" if self.order > 1 else ""
        seen = f"{number_of(self.weight, 'sequence')}, {number_of(steps, 'step')}"
        return f"MarkovChainStatistics({number_of(len(self.states), 'state')}{order}, {seen})"


def count_complete(model: MarkovChain, sequences: Sequences) -> MarkovChainStatistics:
    """The counts of sequences without holes."""
    own = own_steps(sequences)

    def counts(steps: np.ndarray, depth: int) -> np.ndarray:
        size = model.num_states
        positions, weights = cells(sequences, steps, depth, size), sequences.weights[owners(sequences, steps)]
        return np.bincount(positions, weights, size ** (depth + 1)).reshape((size,) * (depth + 1))

    starts = [counts(np.flatnonzero(own == step), step) for step in range(model.order)]
    transitions = counts(np.flatnonzero(own >= model.order), model.order)
    return MarkovChainStatistics.of(model.labels.plain, starts, transitions)


def first_hole(sequences: Sequences) -> str | None:
    """The first step without a state, as a message names it; None if there is none."""
    holes = np.isnan(sequences.observations.astype(np.float64))
    return sequences.describe_step(int(holes.argmax())) if holes.any() else None


def as_statistics(given: Any, model: MarkovChain) -> MarkovChainStatistics:
    if not isinstance(given, MarkovChainStatistics):
        raise InvalidData(f"estimate takes jt.statistics(chain, sequences); got {type(given).__name__}")
    if given.order != model.order:
        raise InvalidData(f"the statistics are of chains of order {given.order}; the chain has order {model.order}")
    return given
