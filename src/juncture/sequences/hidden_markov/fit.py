"""`fit` for hidden Markov models: Baum-Welch, or one step of counting where all steps are labelled.

Baum-Welch is expectation maximisation. The E-step computes the posterior of every state and of every pair of adjacent
states at each step of each sequence. The M-step estimates the model from them as if they were counts. The
log-likelihood (plus the log prior) never falls (Baum, Petrie, Soules and Weiss 1970).
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.family import suggest_remedy
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import SequenceParts, read_sequences
from juncture.errors import InvalidData, UnvisitedStatesWarning, hint, warn_user
from juncture.inference.engines.verb_options import check_data
from juncture.learning.conditionals.table import weighted_logs
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import (
    ExpectationMaximization,
    em_steps,
    has_full_m_step,
)
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress
from juncture.runtime.parallel import block_rows, map_blocks
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import is_long, map_parts, smooth
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import (
    HiddenMarkovEstimate,
    LearningOptions,
    fixed_parts,
    tied_states,
)
from juncture.sequences.hidden_markov.starts import Starts
from juncture.sequences.hidden_markov.statistics import (
    HiddenMarkovStatistics,
    check_allowed,
    count_labelled,
    estimate_parts,
    is_labelled,
    state_names,
)
from juncture.sequences.options import LabelledSequences

UNVISITED = 1e-8  # of all steps
TRIES = 3
Start = Literal["given", "k-means", "random", "left-to-right"]
STARTS = ("given", "k-means", "random", "left-to-right")
HiddenMarkovState: TypeAlias = EMState[HiddenMarkovModel, HiddenMarkovStatistics]


@dataclass(frozen=True)
class HiddenMarkovOptions(HiddenMarkovEstimate, LabelledSequences):
    """How a hidden Markov model is learned from sequences.

    Parameters
    ----------
    tied
        A mapping from "emissions" or "transition" to a group label for each state: states with the same label share
        their distribution, or their row. A list of names ties all states. Tied states start with the parameters of the
        first of them; they need distributions of one kind and the same zeros.
    start
        "given", "k-means" clusters, "random", or "left-to-right": then a state can only stay or move on to the next.
    on_unvisited
        "hold": a state that no sequence visits any more keeps its parameters, or those of the prior. "reseed": such a
        state starts again from other data. A warning names the states.
    method
        "em", or an `ExpectationMaximization` with restarts.
    """

    tied: Any = ()
    start: Start = "given"
    on_unvisited: Literal["hold", "reseed"] = "hold"
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_start(self.start, STARTS)
        check_start(self.on_unvisited, ("hold", "reseed"), "on_unvisited")


def fit_hidden_markov(
    model: HiddenMarkovModel,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: HiddenMarkovOptions,
) -> Fit[HiddenMarkovModel]:
    """Learn a hidden Markov model from sequences by Baum-Welch; zeros of initial and transition stay zeros.

    Labelled steps keep their state. If every step is labelled, one count suffices. `data` may be a function that
    returns parts of the sequences, one after the other, for every pass.
    """
    check_progress(progress)
    learner, fixed = options.method, fixed_parts(options.fixed)
    shaped = as_left_to_right(model, fixed) if options.start == "left-to-right" else model
    template, rows = tied_states(shaped, options.tied, fixed)
    learning = LearningOptions.of(template, rows, prior, fixed, options.point)
    given = read_sequences(template, data, options.lengths, options.group, options.states, weights)
    seed = as_seed(rng)
    generator = as_generator(seed)
    starts = Starts(template, given.to_learn, learning, generator)
    given.check_observed()
    problem = HiddenMarkovProblem(starts, options.start)
    labelled = estimate_labelled(problem) if has_full_m_step(learner) else None
    found, trace = labelled or learner.run(problem, progress)
    if options.on_unvisited == "reseed" and labelled is None:
        found, trace = reseed_unvisited((found, trace), learner, problem, progress)
    report_unvisited(found.model, found.statistics)
    if has_full_m_step(learner):
        estimate_parts(found.model, found.statistics, learning)[1].warn(state_names(found.model))
    return Fit(found.model, found.log_likelihood, trace, found.statistics, used_seed(seed, generator))


def check_start(choice: Any, known: tuple[str, ...], what: str = "start") -> None:
    if not isinstance(choice, str) or choice not in known:
        raise InvalidData(f"{what} is one of {', '.join(map(repr, known))}; got {choice!r}; {hint(choice, known)}")


def as_left_to_right(model: HiddenMarkovModel, fixed: Collection[str] = ()) -> HiddenMarkovModel:
    """The model in which states come one after the other: as its zeros say, or else stay or move on by one."""
    transition, initial = model.transition, model.initial
    if "transition" not in fixed and np.tril(transition, -1).any():
        chain = np.eye(model.num_states) + np.eye(model.num_states, k=1)
        transition = chain / chain.sum(axis=1, keepdims=True)
    if "initial" not in fixed and (initial > 0).all():
        initial = np.eye(model.num_states)[0]
    return HiddenMarkovModel(initial, transition, model.emissions, states=model.states)


def estimate_labelled(problem: HiddenMarkovProblem) -> tuple[HiddenMarkovState, Trace] | None:
    """The model counted from sequences whose steps are all labelled; None where hidden variables are left."""
    starts = problem.starts
    if not all(is_labelled(part) for part in starts.parts()):
        return None
    template, options = starts.template, starts.options
    statistics = count_parts(template, starts.parts)
    check_allowed(template, statistics, options)
    model, _ = estimate_parts(template, statistics, options)
    if estimate_parts(model, count_parts(model, starts.parts), options)[0] != model:
        return None
    found = em_steps(problem, model).init()
    trace = Trace((found.objective,), True, "labelled sequences: estimated in one step")
    return replace(found, statistics=statistics), trace


def count_parts(model: HiddenMarkovModel, parts: SequenceParts) -> HiddenMarkovStatistics:
    return reduce(operator.add, (count_labelled(model, part) for part in parts()))


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
        return estimate_parts(model, statistics, self.options)[0]

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
        return estimate_parts(state.model, state.statistics, self.options.keeping("emissions"))[0]

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


def sequence_blocks(parts: SequenceParts) -> Iterator[SequenceBlock]:
    num_before = 0
    for sequences in parts():
        yield SequenceBlock(sequences, num_before)
        num_before += sequences.num


@dataclass(frozen=True, eq=False)
class SequenceBlock:
    """A part of the sequences, and the number of sequences in earlier parts."""

    sequences: Sequences
    num_before: int


def expect_block(model: HiddenMarkovModel, block: SequenceBlock) -> Expected[HiddenMarkovStatistics]:
    """The E-step: the statistics of a block expected under the model, and the log-likelihood of the block."""
    sequences = block.sequences
    part = expect_statistics(model, sequences)
    check_data(part.log_evidence, sequences.weights, partial(explain_impossible, model, sequences, block.num_before))
    heavy = sequences.weights > 0
    log_likelihood = float(sequences.weights[heavy] @ part.log_evidence[heavy])
    return Expected(HiddenMarkovStatistics(part.initial, part.transitions, part.emissions), log_likelihood)


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


@dataclass(frozen=True, eq=False)
class ChainExpectation:
    """Expected counts given all observations and labels, each sequence counted by its weight.

    A sequence that is impossible has log_evidence -inf and adds nothing.
    """

    log_evidence: np.ndarray  # (sequence,)
    initial: np.ndarray  # (state,): how often a sequence starts there
    transitions: np.ndarray  # (from, to)
    emissions: EmissionStatistics


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


def with_tables(model: HiddenMarkovModel, tables: dict[str, np.ndarray]) -> HiddenMarkovModel:
    """The model with other numbers in some of its tables."""
    emissions = model.emissions
    if "emissions" in tables and isinstance(emissions, CategoricalEmissions):
        emissions = CategoricalEmissions.trusted(emissions, tables["emissions"])
    initial = tables.get("initial", model.initial[None])[0]
    return HiddenMarkovModel.trusted(model, initial, tables.get("transition", model.transition), emissions)


def reseed_unvisited(
    end: tuple[HiddenMarkovState, Trace],
    learner: ExpectationMaximization,
    problem: HiddenMarkovProblem,
    progress: ProgressCallback | None,
) -> tuple[HiddenMarkovState, Trace]:
    """The best of the given end and a few more runs of EM, each with its unvisited states drawn anew from the data."""
    for _ in range(TRIES):
        dead = unvisited(end[0].statistics)
        if not dead.any() or end[1].is_interrupted:
            break
        other = learner.run_from(problem.starts.reseed(end[0], dead), problem, progress)
        end = other if other[0].objective > end[0].objective else end
    return end


def unvisited(statistics: HiddenMarkovStatistics) -> np.ndarray:
    """Which states have (almost) no expected visits: (state,)."""
    visits = statistics.visits
    return np.asarray(visits <= UNVISITED * visits.sum())


def report_unvisited(model: HiddenMarkovModel, statistics: HiddenMarkovStatistics) -> None:
    dead = np.flatnonzero(unvisited(statistics))
    if dead.size:
        names = ", ".join(repr(model.states[state]) for state in dead[:8]) + (", …" if dead.size > 8 else "")
        warn_user(
            f"no sequence visits the state{'s' if dead.size > 1 else ''} {names}; their parameters stay as they were,"
            ' or as the prior has them: take fewer states, give a prior, other starts, or on_unvisited="reseed"',
            UnvisitedStatesWarning,
        )
