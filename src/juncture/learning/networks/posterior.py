"""The posterior of the tables of a network, and answers averaged over it.

`posterior` gives every table a Dirichlet for each combination of parents' states; the margin of an entry is a Beta,
whose quantiles are the ends of its credible interval. `infer_posterior` gives answers averaged over these Dirichlets,
with intervals.

Tables θ are drawn from their Dirichlets, and the question is answered exactly for each of them. The evidence is data
about θ too: a draw has the weight p(evidence | θ), and the mean over all draws is the predictive p(x | evidence, data).
Since the tables are independent, this mean is also the answer of the network at the means of the tables; the intervals
say how far the answer would move with other data of the same size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_kind, check_mapping, check_number
from juncture.base.options import as_generator
from juncture.base.values import SameContent, few, number_of
from juncture.data.findings import Findings
from juncture.errors import InvalidData, UnknownVariable, Unsupported
from juncture.evidence import as_findings
from juncture.factors.conditional import Conditional, signature
from juncture.factors.factor import Factor
from juncture.factors.scope_tables import import_pandas
from juncture.inference.engines.contract import EnginePlan, Query
from juncture.inference.exact.junction_tree.engine import JunctionTree
from juncture.inference.infer import as_targets
from juncture.inference.sampling.importance_weights import effective_sample_size
from juncture.learning.conditionals.table import prior_of, pseudo_counts
from juncture.learning.networks.estimation import pool_statistics, resolve_prior, resolve_template
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics import stable
from juncture.runtime import parallel
from juncture.variables import Scope

if TYPE_CHECKING:
    import pandas as pd

    from juncture.families.vectors.dirichlet import Dirichlet

BLOCK = 64  # draws of one generator: fixed, so that answers do not depend on the number of threads


def posterior(structure: Any, statistics: NetworkStatistics, prior: Any = 1.0) -> TablePosterior:
    """The posterior of every table. Of a network that was fitted to complete rows, `fit(…).posterior` is the same.

    Parameters
    ----------
    structure
        A `BayesianNetwork` of tables or a `DirectedGraph`.
    statistics
        The counts of complete rows, `jt.statistics(structure, data)`.
    prior
        A pseudo-count per cell, `BDeu`, `K2`, a `Dirichlet`, or a mapping from child to one of these. Each cell needs a
        positive count of rows and prior together.

    Returns
    -------
    TablePosterior
        For each child a batch of Dirichlets in the shape of the parents' states, and the intervals of their entries.

    Examples
    --------
    >>> import juncture as jt
    >>> graph, rows = jt.DirectedGraph.parse("a -> b"), {"a": [0, 0, 1], "b": [0, 1, 1]}
    >>> tables = jt.families.posterior(graph, jt.statistics(graph, rows))
    >>> tables["a"]
    Dirichlet(concentration=[3.0, 2.0])
    >>> low, high = tables.interval("b", confidence=0.9)
    >>> round(low[0, 1], 3), round(high[0, 1], 3)  # of p(b=1 | a=0)
    (0.135, 0.865)
    """
    template = resolve_template(structure, statistics)
    return posterior_of_tables(template, statistics, resolve_prior(prior, template))


def posterior_of_tables(
    template: BayesianNetwork, statistics: NetworkStatistics, given: Any, known: Collection[str] = ()
) -> TablePosterior:
    """The posterior of every table but those of the children that are known, by their counts and a resolved prior."""
    from juncture.families.vectors.dirichlet import Dirichlet

    parts, found, means = pool_statistics(template, statistics), {}, []
    for conditional in template.conditionals:
        name = conditional.child.name
        if name in known:
            means.append(conditional)
            continue
        if not isinstance(conditional, Conditional):
            raise Unsupported(f"only tables have Dirichlet posteriors; {signature(conditional)} is no table")
        own = prior_of(given, name)
        counts = parts[name].counts + (
            0.0 if own is None else pseudo_counts(own, conditional.child, conditional.parents)
        )
        if not (counts > 0).all():
            raise InvalidData(
                f"the posterior of {name!r} is no Dirichlet, as a cell has neither rows nor a prior count:"
                " give it a positive prior"
            )
        found[name] = Dirichlet(counts)
        means.append(Conditional.trusted(conditional, counts / counts.sum(axis=-1, keepdims=True)))
    return TablePosterior(BayesianNetwork.trusted(template, means), found)


@dataclass(frozen=True, eq=False, repr=False)
class TablePosterior(SameContent, Mapping[str, "Dirichlet"]):
    """The posterior of the tables of a network: child → a batch of Dirichlets in the shape of the parents' states.

    Attributes
    ----------
    model
        The network at the means of the tables.
    tables
        Child → its Dirichlets.
    """

    model: BayesianNetwork
    tables: Mapping[str, Dirichlet]

    def __getitem__(self, name: str) -> Dirichlet:
        if not isinstance(name, str) or name not in self.tables:
            raise UnknownVariable.among(name, self.tables, where="the posterior of the tables")
        return self.tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def interval(self, name: str, confidence: float = 0.9) -> tuple[Factor, Factor]:
        """Both ends of the central credible interval of each entry of a child's table.

        The ends are tables over the parents and the child, so that `low["yes", "no"]` is that of one entry: the
        quantiles of a Beta(α, Σα - α), by which the entry is distributed.
        """
        from scipy.special import betaincinv

        counts, outside = self[name].concentration, tail_of(confidence)
        others, scope = counts.sum(axis=-1, keepdims=True) - counts, self._scope(name)
        if counts.shape[-1] == 1:  # a single state is certain
            return Factor(scope, np.ones(counts.shape)), Factor(scope, np.ones(counts.shape))
        low, high = (np.asarray(betaincinv(counts, others, at)) for at in (outside, 1.0 - outside))
        return Factor(scope, low), Factor(scope, high)

    def to_pandas(self, name: str, confidence: float = 0.9) -> pd.DataFrame:
        """A frame of the mean and the interval of each entry of a child's table, indexed by its variables' states."""
        low, high = self.interval(name, confidence)
        parts = {"mean": Factor(low.scope, self[name].mean), "low": low, "high": high}
        return import_pandas().DataFrame({label: part.to_pandas() for label, part in parts.items()})

    def _scope(self, name: str) -> Scope:
        part = self.model[name]
        return Scope((*part.parents, part.child))

    def __repr__(self) -> str:
        return f"TablePosterior({number_of(len(self), 'table')}: {few(self)})"


def infer_posterior(
    model: BayesianNetwork,
    posterior: Mapping[str, Dirichlet],
    evidence: Any = None,
    *,
    targets: Sequence[str] | None = None,
    draws: int = 1000,
    rng: Any = None,
) -> UncertainBeliefs:
    """Beliefs averaged over the posterior of the tables of a network, with intervals.

    Parameters
    ----------
    model
        A network of tables, which gives the structure.
    posterior
        Child → the Dirichlets of its table, as `jt.families.posterior` gives; other tables are taken as known.
    evidence
        One row of evidence.
    targets
        The variables to ask for; all by default.
    draws
        The number of draws of the tables.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    UncertainBeliefs
        Averaged marginals, credible intervals of every probability, and the draws themselves.

    Examples
    --------
    >>> import juncture as jt
    >>> asia = jt.example("asia")
    >>> rows = jt.sample(asia, 500, rng=0)
    >>> tables = jt.families.posterior(asia, jt.statistics(asia, rows))
    >>> beliefs = jt.families.infer_posterior(asia, tables, {"smoke": "yes"}, targets=["lung"], draws=200, rng=0)
    >>> low, high = beliefs.interval("lung")
    >>> low["yes"] < jt.infer(asia, {"smoke": "yes"})["lung"]["yes"] < high["yes"]
    True
    """
    check_kind(model, BayesianNetwork, "the model", error=Unsupported)
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData("infer_posterior takes one row of evidence; ask once for each row")
    names, count = as_targets(model, targets), check_count(draws, "draws", least=1)
    tables = {name: check_table(model, name, one) for name, one in check_mapping(posterior, "posterior").items()}
    plan = JunctionTree().compile(model, findings.names, names)
    plan.prepare()
    blocks = parallel.blocks_of(count, BLOCK)
    parts = list(zip(blocks, as_generator(rng).spawn(len(blocks)), strict=True))
    query = TableQuery(model, tables, findings, names, plan)
    found = parallel.map(lambda part: query.answer(part[0].stop - part[0].start, part[1]), parts)
    marginals = {name: np.concatenate([part[0][name] for part in found]) for name in names}
    return UncertainBeliefs(model, names, marginals, np.concatenate([part[1] for part in found]))


def check_table(model: BayesianNetwork, name: str, given: Any) -> Dirichlet:
    """The Dirichlets of a table, in the shape of the parents' states."""
    from juncture.families.vectors.dirichlet import Dirichlet

    part = model[name]
    if not isinstance(part, Conditional):
        raise Unsupported(f"only tables have Dirichlet posteriors; {signature(part)} is no table")
    check_kind(given, Dirichlet, f"the posterior of {name!r}")
    if np.shape(given.concentration) != part.values.shape:
        raise InvalidData(
            f"the posterior of {name!r} has the shape {np.shape(given.concentration)}, its table {part.values.shape}"
        )
    dirichlet: Dirichlet = given
    return dirichlet


@dataclass(frozen=True, eq=False)
class TableQuery:
    """A question, and the distribution of the tables."""

    model: BayesianNetwork
    tables: Mapping[str, Dirichlet]
    findings: Findings
    names: tuple[str, ...]
    plan: EnginePlan

    def answer(self, num_draws: int, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Name → (draw, state), and log p(evidence) of each draw of the tables."""
        values = {name: one.sample(num_draws, rng=rng) for name, one in self.tables.items()}
        answers = [self.answer_one({name: table[draw] for name, table in values.items()}) for draw in range(num_draws)]
        marginals = {name: np.array([part[0][name] for part in answers]) for name in self.names}
        return marginals, np.array([part[1] for part in answers])

    def answer_one(self, tables: Mapping[str, np.ndarray]) -> tuple[dict[str, np.ndarray], float]:
        parts = [
            Conditional.trusted(part, np.ascontiguousarray(tables[part.child.name]))  # type: ignore[arg-type]
            if part.child.name in tables
            else part
            for part in self.model.conditionals
        ]
        model = BayesianNetwork.trusted(self.model, parts)
        answers = self.plan.run(model, Query(self.findings))
        return {name: answers.marginal((name,))[0] for name in self.names}, float(answers.log_evidence[0])


@dataclass(frozen=True, eq=False, repr=False)
class UncertainBeliefs(SameContent):
    """Beliefs given data and one row of evidence, with the uncertainty of the tables.

    Attributes
    ----------
    model
        The network.
    targets
        The names of the variables that can be asked for.
    draws
        Name → (draw, state): p(state | evidence, tables of the draw).
    log_weights
        (draw,): log p(evidence | tables of the draw).
    """

    model: BayesianNetwork
    targets: tuple[str, ...]
    draws: Mapping[str, np.ndarray]
    log_weights: np.ndarray

    @cached_property
    def weights(self) -> np.ndarray:
        """(draw,): the weights, which sum to 1."""
        return np.asarray(np.exp(self.log_weights - stable.log_sum_exp(self.log_weights)))

    @property
    def log_evidence(self) -> float:
        """Log p(evidence | data), averaged over the tables."""
        return float(stable.log_sum_exp(self.log_weights) - np.log(len(self.log_weights)))

    @property
    def effective_sample_size(self) -> float:
        """How many draws of equal weight count as much."""
        return effective_sample_size(self.log_weights)

    def __getitem__(self, name: str) -> Factor:
        """The averaged marginal of a variable."""
        return Factor([self.model.variable(name)], self.weights @ self._draws_of(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.targets)

    def standard_deviation(self, name: str) -> np.ndarray:
        """(state,): how far the probabilities lie from their mean, over the tables."""
        draws = self._draws_of(name)
        return np.asarray(np.sqrt(self.weights @ (draws - self.weights @ draws) ** 2))

    def standard_error(self, name: str) -> np.ndarray:
        """(state,): the error of the averaged marginal that is left because the draws are finitely many."""
        draws = self._draws_of(name)
        return np.asarray(np.sqrt(self.weights**2 @ (draws - self.weights @ draws) ** 2))

    def interval(self, name: str, confidence: float = 0.9) -> tuple[Factor, Factor]:
        """Both ends, by state, of the central credible interval of each probability."""
        outside, columns, scope = tail_of(confidence), self._draws_of(name).T, [self.model.variable(name)]
        ends = [[weighted_quantile(column, self.weights, at) for column in columns] for at in (outside, 1.0 - outside)]
        return Factor(scope, ends[0]), Factor(scope, ends[1])

    def to_pandas(self, confidence: float = 0.9) -> pd.DataFrame:
        """A frame of variable, state, probability, and the ends of its interval."""
        pandas = import_pandas()
        records = []
        for name in self.targets:
            low, high = (end.values for end in self.interval(name, confidence))
            states = self.model.variable(name).labels
            records += list(zip([name] * len(states), states, self[name].values, low, high, strict=True))
        return pandas.DataFrame(records, columns=["variable", "state", "probability", "low", "high"])

    def _draws_of(self, name: str) -> np.ndarray:
        if name not in self.draws:
            self.model.variable(name)
            raise UnknownVariable(f"{name!r} was not among the targets of this query; add it to targets=")
        return self.draws[name]

    def __repr__(self) -> str:
        shown = "\n".join(
            f"{name}: " + ", ".join(f"{label} {p:.3f} [{a:.3f}, {b:.3f}]" for label, p, a, b in self._cells(name))
            for name in self.targets[:12]
        )
        more = "" if len(self.targets) <= 12 else f"\n… and {len(self.targets) - 12} more"
        return f"UncertainBeliefs({len(self.log_weights):,} draws of the tables, 90 % intervals)\n{shown}{more}"

    def _cells(self, name: str) -> Iterator[tuple[Any, float, float, float]]:
        ends = (end.values for end in self.interval(name))
        return zip(self.model.variable(name).labels, self[name].values, *ends, strict=True)


def tail_of(confidence: float) -> float:
    """The probability on either side of a central interval."""
    return (1.0 - check_number(confidence, "confidence", above=0, below=1)) / 2


def weighted_quantile(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """The smallest value below or at which the weights sum to the level."""
    order = np.argsort(values)
    return float(
        values[order][np.searchsorted(np.cumsum(weights[order]), level * (1 - 1e-12)).clip(0, len(values) - 1)]
    )
