"""`ImportanceSampling`: draws from a proposal q, weighted by p(x, evidence) / q(x).

The mean weight is p(evidence), without bias; marginals are self-normalised. The nearer q is to the posterior, the more
the draws count: n draws are worth n / (1 + χ²(posterior ‖ q)). It takes any network and factor graph. Choose it for
models that are too wide for exact inference, and for rare evidence (Koller and Friedman 2009, 12.2).

The engine makes its own proposals from tables (`table_proposals`). Users may give one: a simpler model, whose exact
posterior is drawn from (`ModelDraws`), or a function (`FunctionDraws`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from juncture.base.checks import check_choice, check_count, check_flag, shown
from juncture.data.findings import Findings
from juncture.errors import ImpossibleEvidence, InvalidData, InvalidModel, Unsupported
from juncture.inference.engines.contract import Answers, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_arrays import node_scope
from juncture.inference.engines.lowering import check_factors
from juncture.inference.engines.verb_options import DRAWS
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.messages.loopy import LoopyBP
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.importance_weights import smooth_weights
from juncture.inference.sampling.likelihood_weighting import (
    ANSWERS,
    check_directed,
    check_rows,
    count_relations,
    network_sources,
    scope_starts,
)
from juncture.inference.sampling.table_proposals import MESSAGES, adapt, loopy_proposals
from juncture.inference.sampling.weighted_answers import WeightedAnswers, make_answers
from juncture.inference.sampling.weighted_draws import BLOCK, Batch, Source, Streams, TableDraws, WeightedRun, as_batch
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.networks.factor_product import FactorProduct
from juncture.numerics import stable
from juncture.variables import Scope

NAMES = ("auto", "loopy", "adaptive", "prior")
Function = Callable[[Mapping[str, Any], int, np.random.Generator], tuple[Mapping[str, Any], Any]]
Proposal: TypeAlias = (
    Literal["auto", "loopy", "adaptive", "prior"] | LoopyBP | BayesianNetwork | FactorProduct | Function
)


@dataclass(frozen=True)
class ImportanceSampling(Engine):
    """Importance sampling: draws from a proposal, weighted by the ratio of the model to the proposal.

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
    draws_at_random: ClassVar[bool] = True

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

    def draw(self, model: Network, findings: Findings, n: int, rng: np.random.Generator) -> Draws:
        """`n` draws given one row of evidence, with their weights."""
        plan = replace(self, draws=n).compile(model, findings.names, model.variables.names)
        return plan.run(model, Query(findings, rng=rng)).draws()

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> ImportancePlan:
        check_factors(model, self.name)
        operations = 20.0 * self.draws * len(model.variables)
        return ImportancePlan(self, Cost(0, 0.0, 24.0 * BLOCK * len(model.variables), operations))

    def sources(self, model: Network, findings: Findings, streams: Streams) -> tuple[list[Source], Scope]:
        """A source of draws for each row of evidence, and the nodes that are drawn."""
        has_real = any(variable.is_real for variable in model.variables)
        states = Scope(variable for variable in model.variables if not variable.is_real)
        rows = [findings.row(row) for row in range(findings.num_rows)]
        if isinstance(self.proposal, BayesianNetwork | FactorProduct):
            return [ModelDraws.of(model, self.proposal, row) for row in rows], states
        if not isinstance(self.proposal, str | LoopyBP):
            return [FunctionDraws(model, self.proposal, row) for row in rows], states
        if self.proposal == "prior" or (self.proposal == "auto" and has_real):
            directed = check_directed(model, "importance' with the proposal 'prior")
            return network_sources(directed, findings), states
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

    def run(self, model: Network, query: Query) -> WeightedAnswers:
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


@dataclass(frozen=True, eq=False)
class ModelDraws:
    """A `Source`: exact draws of a simpler model given the evidence, weighted by the ratio of both models."""

    model: Network
    simpler: Any
    row: Findings  # a single row
    answers: Answers  # of the simpler model
    log_largest: ClassVar[None] = None

    @classmethod
    def of(cls, model: Network, simpler: Any, row: Findings) -> ModelDraws:
        if set(simpler.variables) != set(model.variables):
            raise InvalidModel("a model as proposal= has the variables of the model, with the same states")
        own = Findings(tuple(simpler.variables), row.codes, row.reals, row.likelihoods)
        answers = JunctionTree().compile(simpler, row.names).run(simpler, Query(own, questions=DRAWS))
        if np.isneginf(answers.log_evidence[0]):
            raise ImpossibleEvidence("the model that was given as proposal= gives the evidence probability zero")
        return cls(model, simpler, row, answers)

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch:
        columns = self.answers.sample(num_draws, rng)
        log_ratio = self.model.log_joint_of(columns) - self.simpler.log_joint_of(columns)
        return as_batch(self.model, columns, log_ratio + self.answers.log_evidence[0])


@dataclass(frozen=True, eq=False)
class FunctionDraws:
    """A `Source`: draws and log q of a user's function, weighted by p(x, evidence) / q(x)."""

    model: Network
    function: Function
    row: Findings  # a single row
    log_largest: ClassVar[None] = None

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch:
        given = {name: values[0] for name, values in (self.row.codes | self.row.reals).items()}
        columns, log_q = check_pair(self.function(given, num_draws, rng))
        full = {name: np.full(num_draws, value) for name, value in given.items()}
        for variable in self.model.variables:
            if variable.name not in full:
                full[variable.name] = check_column(variable, columns, num_draws)
        log_density = np.asarray(log_q, float)
        if log_density.shape != (num_draws,) or not np.isfinite(log_density).all():
            raise InvalidData(
                f"a proposal gives log q of each of its {num_draws} draws, a finite number; got {shown(log_q)}"
            )
        log_joint = self.model.log_joint_of(full) + log_likelihood_of(self.row, full)
        relations = count_relations(self.model, full, given)
        return as_batch(self.model, full, log_joint - log_density, relations.counts)


def log_likelihood_of(row: Findings, columns: Mapping[str, np.ndarray]) -> Any:
    """(draw,): the logarithm of the soft evidence of one row; 0 without any."""
    parts = (stable.log(values[0])[columns[name]] for name, values in row.likelihoods.items())
    return sum(parts, start=np.zeros(1))


def check_pair(drawn: Any) -> tuple[Mapping[str, Any], Any]:
    if not (isinstance(drawn, tuple) and len(drawn) == 2 and isinstance(drawn[0], Mapping)):
        raise InvalidData(f"a proposal gives (columns by name, log q of each draw); got {shown(drawn)}")
    return drawn


def check_column(variable: Any, columns: Mapping[str, Any], num_draws: int) -> np.ndarray:
    """The draws of one variable: state codes, or numbers."""
    if variable.name not in columns:
        raise InvalidData(f"the proposal gives no column for {variable.name!r}, which is not observed")
    column = np.asarray(columns[variable.name])
    kinds = "f" if variable.is_real else "iu"
    is_right = column.shape == (num_draws,) and column.dtype.kind in kinds + ("iu" if variable.is_real else "")
    if is_right and not variable.is_real:
        is_right = bool(((column >= 0) & (column < variable.num_states)).all())
    if not is_right:
        what = "a number" if variable.is_real else f"a code from 0 to {variable.num_states - 1}"
        raise InvalidData(
            f"the column of {variable.name!r} has {what} for each of {num_draws} draws; got {shown(column)}"
        )
    return column if variable.is_real else column.astype(np.int64)
