"""`LikelihoodWeighting`: draws of a Bayesian network along its edges, each weighted by the likelihood of the evidence.

Observed variables keep their values; all others are drawn given their parents, in topological order. The weight of a
draw is Π p(observed | its parents): its mean is p(evidence), without bias. It takes every kind of conditional that can
be drawn from, also with real variables and those that users write. Choose it where the evidence is not rare, and lies
near the roots; else `ImportanceSampling` (Fung and Chang 1990; Shachter and Peot 1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import BELIEFS, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.network_draws import NetworkDraws, network_sources, states_of
from juncture.inference.sampling.weighted_answers import WeightedAnswers, make_answers
from juncture.inference.sampling.weighted_run import BLOCK, Streams, WeightedRun
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.runtime.memory import advise_fewer, check_memory
from juncture.runtime.parallel import num_threads

ANSWERS = BELIEFS | {Question.DRAWS}


@dataclass(frozen=True)
class LikelihoodWeighting(Engine):
    """The engine's options.

    Parameters
    ----------
    draws
        The number of weighted draws for each row of evidence.
    memory_limit
        In bytes.

    Examples
    --------
    >>> import juncture as jt
    >>> beliefs = jt.infer(jt.example("asia"), {"xray": "yes"}, method=jt.LikelihoodWeighting(draws=5000), rng=0)
    >>> exact = jt.infer(jt.example("asia"), {"xray": "yes"})
    >>> error = beliefs.diagnostics.standard_error("lung")[1]
    >>> bool(abs(beliefs["lung"]["yes"] - exact["lung"]["yes"]) < 3 * error < 0.1)
    True
    """

    draws: int = 10_000
    memory_limit: int | None = None
    name: ClassVar[str] = "likelihood-weighting"
    answers: ClassVar[frozenset[Question]] = ANSWERS
    draws_itself: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.draws, "draws", least=1)

    def draw(self, model: Any, findings: Findings, n: int, rng: np.random.Generator) -> Draws:
        """`n` draws given one row of evidence, with their weights."""
        plan = replace(self, draws=n).compile(model, findings.names, model.variables.names)
        return plan.run(model, Query(findings, rng=rng)).draws()

    def compile(self, model: Any, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> LikelihoodWeightingPlan:
        check_directed(model, self.name)
        return LikelihoodWeightingPlan(self, network_cost(model, self.draws))


@dataclass(frozen=True, eq=False)
class LikelihoodWeightingPlan(EnginePlan):
    """A run of draws; `cost` is that of one row of evidence."""

    engine: LikelihoodWeighting
    cost: Cost

    def run(self, model: Any, query: Query) -> WeightedAnswers:
        findings = query.findings
        check_rows(self.engine.draws, findings, self.engine.memory_limit)
        sources, scope = network_sources(model, findings), states_of(model)
        run = WeightedRun(
            sources, scope_starts(scope), Streams.of(query.rng), self.engine.draws,
            is_threaded=not any(isinstance(source, NetworkDraws) for source in sources[:1]),
        )  # fmt: skip
        tallies, done = run.tallies(query.budget)
        repeat = replace(self.engine, draws=done) if done < self.engine.draws else None
        return make_answers(replace(run, num_draws=done), tallies, scope, findings, self.engine, repeat)


def check_directed(model: Any, name: str) -> None:
    """Raise `Unsupported` for a model without directions."""
    if not isinstance(model, BayesianNetwork):
        check_kind(model, object, "the model")
        raise Unsupported(
            f"the engine {name!r} draws each variable given its parents, and takes a BayesianNetwork; got"
            f" {type(model).__name__}: use method='importance' or 'gibbs'"
        )


def network_cost(model: BayesianNetwork, draws: int) -> Cost:
    """About ten operations for each variable and draw."""
    width = max((len(part.parents) for part in model.conditionals), default=0)
    return Cost(width, 0.0, 24.0 * BLOCK * len(model.variables), 10.0 * draws * len(model.variables))


def scope_starts(scope: Any) -> np.ndarray:
    """(node + 1,): where the states of each node start in an array of all states."""
    return np.cumsum([0, *scope.shape], dtype=np.int64)


def check_rows(draws: int, findings: Findings, memory_limit: int | None) -> None:
    """Raise `TooLarge` where the weights of all draws, and the blocks of draws of all threads, do not fit in memory."""
    what = f"{number_of(draws, 'draw')} of {number_of(len(findings.variables), 'variable')}"
    blocks = 24.0 * BLOCK * len(findings.variables) * num_threads()
    check_memory(
        16.0 * draws * findings.num_rows + blocks, f"{what} for {number_of(findings.num_rows, 'row')}",
        f"take fewer draws, or method='gibbs', or {advise_fewer(findings.num_rows)}", memory_limit,
    )  # fmt: skip
