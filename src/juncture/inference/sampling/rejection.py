"""`RejectionSampling`: rows of a Bayesian network drawn forward, of which those that agree with the evidence are kept.

What is kept is drawn exactly from the posterior, each row independent of the others; the share that is accepted
estimates p(evidence), and 1 / p(evidence) tries are needed for each row. A likelihood accepts a row with the
probability likelihood / largest likelihood. Choose it for evidence that is not rare, or to check other engines.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from juncture.base.checks import check_count
from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, Unsupported
from juncture.inference.engines.contract import Cost, Engine, EnginePlan, Query, Question
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.likelihood_weighting import (
    ANSWERS,
    NetworkDraws,
    check_directed,
    network_cost,
    network_sources,
    scope_starts,
    states_of,
)
from juncture.inference.sampling.weighted_answers import WeightedAnswers, make_answers
from juncture.inference.sampling.weighted_draws import BLOCK, WAVE, Batch, Source, Streams, join_batches, tally
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.runtime import parallel


@dataclass(frozen=True)
class RejectionSampling(Engine):
    """Rejection sampling: draws from the network, of which those that agree with the evidence are kept.

    Parameters
    ----------
    draws
        How many accepted draws to stop at, for each row of evidence.
    max_tries
        The most rows to draw; where none of them is accepted, the run is refused.
    memory_limit
        In bytes; the engine keeps little and ignores it.

    Examples
    --------
    >>> import juncture as jt
    >>> beliefs = jt.infer(jt.example("asia"), {"smoke": "yes"}, method=jt.RejectionSampling(draws=1000), rng=0)
    >>> bool(abs(beliefs.diagnostics.acceptance_rate - 0.5) < 0.05)  # p(smoke = yes)
    True
    """

    draws: int = 1000
    max_tries: int = 10_000_000
    memory_limit: int | None = None
    name: ClassVar[str] = "rejection"
    answers: ClassVar[frozenset[Question]] = ANSWERS
    draws_itself: ClassVar[bool] = True
    draws_at_random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.draws, "draws", least=1)
        check_count(self.max_tries, "max_tries", least=1)

    def draw(self, model: Network, findings: Findings, n: int, rng: np.random.Generator) -> Draws:
        """`n` draws given one row of evidence, each of the same weight."""
        plan = replace(self, draws=n).compile(model, findings.names, model.variables.names)
        return plan.run(check_directed(model, self.name), Query(findings, rng=rng)).draws()

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> RejectionPlan:
        directed = check_directed(model, self.name)
        real = [name for name in observed if model.variable(name).is_real]
        if real:
            raise Unsupported(
                f"no draw of {real[0]!r}, which is real-valued, equals a given number: use"
                " method='likelihood-weighting'"
            )
        return RejectionPlan(self, network_cost(directed, self.draws))


@dataclass(frozen=True, eq=False)
class RejectionPlan(EnginePlan):
    """A run of rejection sampling; `cost` is that of one row of evidence if every draw is accepted."""

    engine: RejectionSampling
    cost: Cost

    def run(self, model: BayesianNetwork, query: Query) -> WeightedAnswers:  # type: ignore[override]  # checked by `compile`
        findings = query.findings
        deadline = math.inf if query.budget is None else time.monotonic() + query.budget
        streams, free = Streams.of(query.rng), Findings(findings.variables)
        (source,) = network_sources(model, free)
        rows = [
            Acceptance(model, source, findings.row(row), streams, row).run(self.engine, deadline)
            for row in range(findings.num_rows)
        ]
        return self.answer(model, findings, rows)

    def answer(self, model: BayesianNetwork, findings: Findings, rows: Sequence[Accepted]) -> WeightedAnswers:
        scope = states_of(model)
        run = AcceptedRun(rows, scope_starts(scope))
        tallies = [tally(batch, run.state_starts) for row in range(len(rows)) for batch in run.batches(row)]
        fewest = min((row.num_tries for row in rows if row.is_cut), default=self.engine.max_tries)
        repeat = replace(self.engine, max_tries=fewest) if fewest < self.engine.max_tries else None
        answers = make_answers(run, tallies, scope, findings, self.engine, repeat)  # type: ignore[arg-type]
        rates, errors = [row.rate for row in rows], [row.log_evidence_error for row in rows]
        is_single = findings.is_single
        return replace(
            answers,
            diagnostics=replace(
                answers.diagnostics,
                acceptance_rate=rates[0] if is_single else np.array(rates),
                log_evidence_error=errors[0] if is_single else np.array(errors),
                converged=all(row.num_accepted >= self.engine.draws for row in rows),
            ),
        )


@dataclass(frozen=True, eq=False)
class Accepted:
    """The draws that agree with a row of evidence, and how many were tried."""

    batch: Batch
    num_tries: int
    log_largest: float  # of the likelihoods that were divided by their largest entry
    is_cut: bool  # by the clock
    is_full: bool  # as many were accepted as were asked for: the last try was accepted

    @property
    def num_accepted(self) -> int:
        return len(self.batch.log_weights)

    @property
    def rate(self) -> float:
        """The probability of acceptance, without bias: the number of tries is random where the last was accepted."""
        is_random = self.is_full and self.num_accepted > 1
        return (self.num_accepted - is_random) / (self.num_tries - is_random)

    @property
    def log_evidence(self) -> float:
        return math.log(self.rate) + self.log_largest if self.num_accepted else -math.inf

    @property
    def log_evidence_error(self) -> float:
        return math.sqrt((1.0 - self.rate) / self.num_accepted) if self.num_accepted else math.inf


@dataclass(frozen=True, eq=False)
class AcceptedRun:
    """The accepted draws of all rows of evidence, as `WeightedRun` would draw them again."""

    rows: Sequence[Accepted]
    state_starts: np.ndarray

    def batches(self, row: int) -> Iterator[Batch]:
        """One batch, with the estimate of p(evidence) as the weight of every draw."""
        accepted = self.rows[row]
        logs = np.full(accepted.num_accepted, accepted.log_evidence)
        yield Batch(accepted.batch.codes, logs, accepted.batch.reals)


@dataclass(frozen=True, eq=False)
class Acceptance:
    """Draws from the prior until enough agree with one row of evidence."""

    model: BayesianNetwork
    source: Source
    row: Findings
    streams: Streams
    number: int  # of the row

    def run(self, engine: RejectionSampling, deadline: float) -> Accepted:
        kept: list[Batch] = []
        num_kept = num_tries = 0
        is_cut = False
        while num_kept < engine.draws and num_tries < engine.max_tries and not is_cut:
            blocks = self.sizes_of_wave(num_tries, engine.max_tries)
            for batch, size, places in parallel.map(self.accept, blocks, is_worth_threads=self.is_threaded):
                if num_kept >= engine.draws:
                    break
                used = min(len(places), engine.draws - num_kept)
                kept.append(first_draws(batch, used))
                num_kept += used
                num_tries += int(places[used - 1]) + 1 if num_kept >= engine.draws else size
            is_cut = time.monotonic() >= deadline and num_kept < engine.draws
        self.check_accepted(num_kept, num_tries)
        return Accepted(join_batches(kept), num_tries, self.log_largest, is_cut, num_kept >= engine.draws)

    @property
    def is_threaded(self) -> bool:
        return not isinstance(self.source, NetworkDraws)

    def sizes_of_wave(self, num_tries: int, max_tries: int) -> list[tuple[int, int]]:
        """The numbers and sizes of the next blocks, each full but the last of all."""
        first = num_tries // BLOCK
        sizes = [(block, min(BLOCK, max_tries - block * BLOCK)) for block in range(first, first + WAVE)]
        return [(block, size) for block, size in sizes if size > 0]

    def accept(self, part: tuple[int, int]) -> tuple[Batch, int, np.ndarray]:
        """The draws of a block that are accepted, the size of the block, and their places in it."""
        block, size = part
        rng = self.streams.generator(self.number, block)
        batch = self.source.draw(size, rng)
        is_kept, axis = np.ones(size, bool), states_of(self.model).axis
        for name, codes in self.row.codes.items():
            is_kept &= batch.codes[axis(name)] == codes[0]
        for name, values in self.row.likelihoods.items():
            is_kept &= rng.random(size) * values[0].max() < values[0][batch.codes[axis(name)]]
        reals = {name: values[is_kept] for name, values in batch.reals.items()}
        return Batch(batch.codes[:, is_kept], batch.log_weights[is_kept], reals), size, np.flatnonzero(is_kept)

    @property
    def log_largest(self) -> float:
        return sum(math.log(values[0].max()) for values in self.row.likelihoods.values())

    def check_accepted(self, num_kept: int, num_tries: int) -> None:
        if not num_kept:
            found = ", ".join(self.row.describe(name) for name in self.row.names)
            raise ImpossibleEvidence(
                f"none of {number_of(num_tries, 'draw')} agrees with {found}: the evidence is impossible, or too rare"
                " for rejection; raise max_tries=, or use method='likelihood-weighting' or 'importance'"
            )


def first_draws(batch: Batch, count: int) -> Batch:
    reals = {name: values[:count] for name, values in batch.reals.items()}
    return Batch(batch.codes[:, :count], batch.log_weights[:count], reals)
