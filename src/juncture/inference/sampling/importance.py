"""`ImportanceSampling`: draws from a proposal q, weighted by p(x, evidence) / q(x).

The mean weight is p(evidence), without bias; marginals are self-normalised. The nearer q is to the posterior, the more
the draws count: n draws are worth n / (1 + χ²(posterior ‖ q)). It takes any network and factor graph. Choose it for
models that are too wide for exact inference, and for rare evidence (Koller and Friedman 2009, 12.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from juncture.base.checks import check_choice, check_count, check_flag, shown
from juncture.data.findings import Findings
from juncture.errors import InvalidData, Unsupported
from juncture.inference.engines.contract import Cost, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_arrays import node_scope
from juncture.inference.engines.lowering import check_factors
from juncture.inference.messages.loopy import LoopyBP
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.importance_weights import smooth_weights
from juncture.inference.sampling.likelihood_weighting import ANSWERS, check_directed, check_rows, scope_starts
from juncture.inference.sampling.network_draws import network_sources
from juncture.inference.sampling.proposals.adaptive import adapt
from juncture.inference.sampling.proposals.loopy import MESSAGES, loopy_proposals
from juncture.inference.sampling.proposals.models import Function, FunctionDraws, ModelDraws
from juncture.inference.sampling.table_draws import Source, TableDraws
from juncture.inference.sampling.weighted_answers import WeightedAnswers, make_answers
from juncture.inference.sampling.weighted_run import BLOCK, Streams, WeightedRun
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.networks.factor_product import FactorProduct
from juncture.variables import Scope

NAMES = ("auto", "loopy", "adaptive", "prior")
Proposal: TypeAlias = (
    Literal["auto", "loopy", "adaptive", "prior"] | LoopyBP | BayesianNetwork | FactorProduct | Function
)


@dataclass(frozen=True)
class ImportanceSampling(Engine):
    """The engine's options.

    Parameters
    ----------
    draws
        The number of weighted draws for each row of evidence.
    proposal
        "loopy": tables from the beliefs of loopy belief propagation (EPIS), or those of a `LoopyBP` that is given.
        "adaptive": these tables learn from the weights of their own draws first (AIS-BN). "prior": the conditionals of
        a Bayesian network, which is likelihood weighting. "auto": "loopy", or "prior" for a network with real
        variables. A model of the same variables: its exact posterior; it must allow all that the model allows. A
        function of (evidence, number of draws, rng) that gives columns by name and log q of each draw, with state
        codes and numbers as conditionals have them; q must be positive where the posterior is.
    smoothing
        Whether the largest weights are replaced by those of a Pareto distribution that is fitted to them: less
        variance, some bias.
    memory_limit
        In bytes.

    Examples
    --------
    >>> import juncture as jt
    >>> engine = jt.ImportanceSampling(draws=2000)
    >>> beliefs = jt.infer(jt.example("asia"), {"xray": "yes", "dysp": "yes"}, method=engine, rng=0)
    >>> beliefs.diagnostics.effective_sample_size > 1500
    True
    """

    draws: int = 10_000
    proposal: Any = "auto"
    smoothing: bool = False
    memory_limit: int | None = None
    name: ClassVar[str] = "importance"
    answers: ClassVar[frozenset[Question]] = ANSWERS
    draws_itself: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.draws, "draws", least=1)
        check_flag(self.smoothing, "smoothing")
        if isinstance(self.proposal, str):
            check_choice(self.proposal, NAMES, "proposal")
        elif not (callable(self.proposal) or isinstance(self.proposal, LoopyBP | BayesianNetwork | FactorProduct)):
            raise InvalidData(
                "proposal is one of 'auto', 'loopy', 'adaptive' and 'prior', a LoopyBP, a model or a function; got"
                f" {shown(self.proposal)}"
            )

    def draw(self, model: Any, findings: Findings, n: int, rng: np.random.Generator) -> Draws:
        """`n` draws given one row of evidence, with their weights."""
        plan = replace(self, draws=n).compile(model, findings.names, model.variables.names)
        return plan.run(model, Query(findings, rng=rng)).draws()

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> ImportancePlan:
        check_factors(model, self.name)
        operations = 20.0 * self.draws * len(model.variables)
        return ImportancePlan(self, Cost(0, 0.0, 24.0 * BLOCK * len(model.variables), operations))

    def sources(self, model: Any, findings: Findings, streams: Streams) -> tuple[list[Source], Scope]:
        """A source of draws for each row of evidence, and the nodes that are drawn."""
        has_real = any(variable.is_real for variable in model.variables)
        states = Scope(variable for variable in model.variables if not variable.is_real)
        rows = [findings.row(row) for row in range(findings.num_rows)]
        if isinstance(self.proposal, BayesianNetwork | FactorProduct):
            return [ModelDraws.of(model, self.proposal, row) for row in rows], states
        if not isinstance(self.proposal, str | LoopyBP):
            return [FunctionDraws(model, self.proposal, row) for row in rows], states
        if self.proposal == "prior" or (self.proposal == "auto" and has_real):
            check_directed(model, "importance' with the proposal 'prior")
            return network_sources(model, findings), states
        if has_real:
            raise Unsupported(
                f"the proposal {self.proposal!r} takes variables with states; use 'prior', or a function of your own"
            )
        messages = self.proposal if isinstance(self.proposal, LoopyBP) else MESSAGES
        proposals = loopy_proposals(model, findings, messages)
        if self.proposal == "adaptive":
            proposals = [adapt(one, streams, row) for row, one in enumerate(proposals)]
        return [one.source() for one in proposals], node_scope(model)


@dataclass(frozen=True, eq=False)
class ImportancePlan(EnginePlan):
    """A run of draws; `cost` is that of one row of evidence, without that of the proposal."""

    engine: ImportanceSampling
    cost: Cost

    def run(self, model: Any, query: Query) -> WeightedAnswers:
        findings = query.findings
        engine, streams = self.engine, Streams.of(query.rng)
        check_rows(engine.draws, findings, engine.memory_limit)
        sources, scope = engine.sources(model, findings, streams)
        is_compiled = all(isinstance(source, TableDraws) for source in sources[:1])
        run = WeightedRun(sources, scope_starts(scope), streams, engine.draws, is_threaded=is_compiled)
        tallies, done = run.tallies(query.budget)
        run = replace(run, num_draws=done)
        if engine.smoothing:
            smoothed = [smooth_weights(part.log_weights)[0] for part in tallies]
            run = replace(run, replaced=smoothed)
            tallies, _ = run.tallies()
        repeat = replace(engine, draws=done) if done < engine.draws else None
        return make_answers(run, tallies, scope, findings, engine, repeat)
