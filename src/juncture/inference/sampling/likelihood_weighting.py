"""`LikelihoodWeighting`: draws of a Bayesian network along its edges, each weighted by the likelihood of the evidence.

Observed variables keep their values; all others are drawn given their parents, in topological order. The weight of a
draw is Π p(observed | its parents): its mean is p(evidence), without bias. It takes every kind of conditional that can
be drawn from, also with real variables and those that users write: tables are drawn from by compiled code where every
conditional has one, else columns one after the other. Choose it where the evidence is not rare, and lies near the
roots; else `ImportanceSampling` (Fung and Chang 1990; Shachter and Peot 1990).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from juncture.base.checks import check_count, check_kind
from juncture.base.values import number_of
from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.factors.conditional import AnyConditional, Columns, Conditional, HasTable
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.inference.engines.contract import BELIEFS, Cost, Engine, EnginePlan, Query, Question
from juncture.inference.sampling.draws import Draws
from juncture.inference.sampling.forward import ForwardSampler
from juncture.inference.sampling.weighted_answers import WeightedAnswers, make_answers
from juncture.inference.sampling.weighted_draws import (
    BLOCK,
    Batch,
    LogTables,
    Source,
    Streams,
    TableDraws,
    WeightedRun,
    as_batch,
)
from juncture.networks.bayesian_network import BayesianNetwork, Network
from juncture.numerics import stable
from juncture.runtime.memory import advise_fewer, check_memory
from juncture.runtime.parallel import num_threads
from juncture.variables import Scope

ANSWERS = BELIEFS | {Question.DRAWS}
LARGEST_TABLE = 2**16  # entries up to which a compact conditional is written out


@dataclass(frozen=True)
class LikelihoodWeighting(Engine):
    """Likelihood weighting: draws in the order of the network, weighted by the probability of the evidence.

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
    draws_at_random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_count(self.draws, "draws", least=1)

    def draw(self, model: Network, findings: Findings, n: int, rng: np.random.Generator) -> Draws:
        """`n` draws given one row of evidence, with their weights."""
        plan = replace(self, draws=n).compile(model, findings.names, model.variables.names)
        return plan.run(check_directed(model, self.name), Query(findings, rng=rng)).draws()

    def compile(
        self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()
    ) -> LikelihoodWeightingPlan:
        return LikelihoodWeightingPlan(self, network_cost(check_directed(model, self.name), self.draws))


@dataclass(frozen=True, eq=False)
class LikelihoodWeightingPlan(EnginePlan):
    """A run of draws; `cost` is that of one row of evidence."""

    engine: LikelihoodWeighting
    cost: Cost

    def run(self, model: BayesianNetwork, query: Query) -> WeightedAnswers:  # type: ignore[override]  # checked by `compile`
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


def check_directed(model: Network, name: str) -> BayesianNetwork:
    """Return the model; raise `Unsupported` for one without directions."""
    if not isinstance(model, BayesianNetwork):
        check_kind(model, object, "the model")
        raise Unsupported(
            f"the engine {name!r} draws each variable given its parents, and takes a BayesianNetwork; got"
            f" {type(model).__name__}: use method='importance' or 'gibbs'"
        )
    return model


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


def states_of(model: BayesianNetwork) -> Scope:
    """The variables with states, in the order of the model."""
    return Scope(variable for variable in model.variables if not variable.is_real)


def network_sources(model: BayesianNetwork, findings: Findings) -> list[Source]:
    """A source of draws for each row of evidence."""
    tables = written_out(model)
    if tables is None:
        return [NetworkDraws(model, findings.row(row)) for row in range(findings.num_rows)]
    samplers: dict[tuple[str, ...], ForwardSampler] = {}
    return [table_source(model, tables, findings.row(row), samplers) for row in range(findings.num_rows)]


def written_out(model: BayesianNetwork) -> list[Conditional] | None:
    """Every conditional as a table, kept with the model; None where one has none, or too large a one."""
    if "tables to draw from" not in model.derived:
        is_small = all(has_small_table(part) for part in model.conditionals)
        tables = [part.to_table() for part in model.conditionals] if is_small else None  # type: ignore[attr-defined]
        model.derived["tables to draw from"] = tables
    found: list[Conditional] | None = model.derived["tables to draw from"]
    return found


def has_small_table(part: AnyConditional) -> bool:
    if any(variable.is_real for variable in (*part.parents, part.child)) or not isinstance(part, HasTable):
        return False
    return isinstance(part, Conditional) or part.parents.size * part.child.num_states <= LARGEST_TABLE


def table_source(
    model: BayesianNetwork, tables: Sequence[Conditional], row: Findings, samplers: dict[tuple[str, ...], Any]
) -> TableDraws:
    """The draws for one row; rows that observe the same variables share their arrays."""
    axis, seen = model.variables.axis, tuple(row.codes)
    if seen not in samplers:
        samplers[seen] = share_tables(model, tables, seen)
    sampler, evidence = samplers[seen]
    soft = [([axis(name)], stable.log(values[0])) for name, values in row.likelihoods.items()]
    weights = LogTables.of([*evidence, *soft]) if soft else samplers.setdefault((*seen, ""), LogTables.of(evidence))
    fixed = {axis(name): int(codes[0]) for name, codes in row.codes.items()}
    largest = sum(largest_entry(scope, table, fixed) for scope, table in (*evidence, *soft))
    return TableDraws(sampler, weights, fixed, log_largest=largest)


def largest_entry(scope: Sequence[int], table: np.ndarray, fixed: Mapping[int, int]) -> float:
    """The largest entry of a table of logarithms at the states of the observed nodes."""
    return float(table[tuple(fixed.get(node, slice(None)) for node in scope)].max())


def share_tables(
    model: BayesianNetwork, tables: Sequence[Conditional], observed: Sequence[str]
) -> tuple[ForwardSampler, list[tuple[list[int], np.ndarray]]]:
    """What draws the variables that are not observed, and the log tables of those that are."""
    axis = model.variables.axis
    order = [axis(name) for name in model.graph.topological_order() if name not in observed]
    scopes = [[axis(name) for name in table.scope.names] for table in tables]
    sampler = ForwardSampler.from_tables(model.variables.shape, order, scopes, [table.values for table in tables])
    pairs = zip(scopes, tables, strict=True)
    return sampler, [(scope, stable.log(table.values)) for scope, table in pairs if table.child.name in set(observed)]


@dataclass(frozen=True, eq=False)
class NetworkDraws:
    """A `Source` of any conditionals, which are asked for columns in topological order."""

    model: BayesianNetwork
    row: Findings  # a single row

    def draw(self, num_draws: int, rng: np.random.Generator) -> Batch:
        columns: dict[str, np.ndarray] = {}
        log_weights, known = np.zeros(num_draws), self.known
        for name in self.model.graph.topological_order():
            part = self.model[name]
            if name in known:
                columns[name] = np.full(num_draws, known[name])
                log_weights = log_weights + part.log_prob(columns)
            else:
                columns[name] = part.sample(columns, num_draws, rng)
            if name in self.row.likelihoods:
                log_weights = log_weights + stable.log(self.row.likelihoods[name][0])[columns[name]]
        relations = count_relations(self.model, columns, known)
        if relations.loose is not None:
            raise Unsupported(
                f"no draw agrees with {relations.loose!r}, an exact function of numbers that are drawn: use"
                " method='exact', observe them, or give the function some noise"
            )
        return as_batch(self.model, columns, log_weights, relations.counts)

    @property
    def log_largest(self) -> float | None:
        """The product of the largest entries of the tables of what is observed, and of the largest densities."""
        parts = [largest_likelihood(self.model[name], self.known) for name in self.known]
        soft = [float(stable.log(values[0]).max()) for values in self.row.likelihoods.values()]
        return None if None in parts else float(sum([*(part or 0.0 for part in parts), *soft]))

    @property
    def known(self) -> Mapping[str, Any]:
        """The states and numbers of the observed variables."""
        return {name: values[0] for name, values in (self.row.codes | self.row.reals).items()}


class Relations(NamedTuple):
    """Exact relations of the evidence: how many hold in each draw, and a number that no draw can agree with."""

    counts: np.ndarray | None  # (draw,); None where there are none
    loose: str | None  # an observed child without noise of a number that is drawn with noise


def count_relations(model: Network, columns: Columns, observed: Mapping[str, Any]) -> Relations:
    """How many observed numbers are exact functions of other evidence, in each draw of columns of all variables.

    A number without noise is a point where its parents are: those that are observed, or points themselves.
    """
    if not isinstance(model, BayesianNetwork):
        return Relations(None, None)
    parts = {part.child.name: part for part in model.conditionals if part.child.is_real}
    lines = [part for part in map(parts.get, observed) if isinstance(part, LinearGaussian)]
    if not any((part.variance == 0).any() for part in lines):
        return Relations(None, None)
    points: dict[str, Any] = {}
    counts: Any = 0
    loose = None
    for name in filter(parts.__contains__, model.graph.topological_order()):
        is_exact, is_point = find_points(parts[name], columns, points)
        if name in observed:
            counts = counts + (is_exact & is_point)
            loose = name if loose is None and np.any(is_exact & ~is_point) else loose
        points[name] = True if name in observed else is_exact & is_point
    size = len(columns[next(iter(parts))])
    return Relations(np.broadcast_to(counts, (size,)), loose)


def find_points(part: AnyConditional, columns: Columns, points: Mapping[str, Any]) -> tuple[Any, Any]:
    """(draw,) each: whether a number has no noise given its parents, and whether all that it depends on are points."""
    if not isinstance(part, LinearGaussian):
        return np.bool_(isinstance(part, Constant)), np.bool_(True)
    index = part.configuration(columns)
    is_point: Any = np.bool_(True)
    for at, parent in enumerate(parent for parent in part.parents if parent.is_real):
        is_point = is_point & (points[parent.name] | (part.coefficients[(*index, at)] == 0))
    return part.variance[index] == 0, is_point


def largest_likelihood(part: AnyConditional, known: Mapping[str, Any]) -> float | None:
    """The logarithm of the largest probability or density of what is observed of a child; None if that is not known."""
    free = Scope(parent for parent in part.parents if parent.name not in known)
    if not any(parent.is_real for parent in free) and free.size <= LARGEST_TABLE:
        columns = dict(zip(free.names, np.indices(free.shape).reshape(len(free), free.size), strict=True))
        names = [variable.name for variable in (*part.parents, part.child) if variable.name in known]
        return float(part.log_prob({**columns, **{name: np.full(free.size, known[name]) for name in names}}).max())
    if isinstance(part, LinearGaussian):
        peak = float(-0.5 * (stable.LOG_TWO_PI + stable.log(np.min(part.variance))))
        return peak if peak < np.inf else None
    return None if part.child.is_real else 0.0
