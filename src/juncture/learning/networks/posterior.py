"""The posterior of the tables of a network, and answers averaged over it.

`posterior` gives every table a Dirichlet for each combination of parents' states. `infer_posterior` gives answers
averaged over these Dirichlets, with intervals.

Tables θ are drawn from their Dirichlets, and the question is answered exactly for each of them. The evidence is data
about θ too: a draw has the weight p(evidence | θ), and the mean over all draws is the predictive p(x | evidence, data).
Since the tables are independent, this mean is also the answer of the network at the means of the tables; the intervals
say how far the answer would move with other data of the same size.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_kind, check_mapping, check_number
from juncture.base.options import as_generator
from juncture.base.values import SameContent
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

if TYPE_CHECKING:
    import pandas as pd

    from juncture.families.vectors.dirichlet import Dirichlet

BLOCK = 64  # draws of one generator: fixed, so that answers do not depend on the number of threads


def posterior(structure: Any, statistics: NetworkStatistics, prior: Any = 1.0) -> dict[str, Dirichlet]:
    """The posterior of every table.

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
    For each child a batch of Dirichlets in the shape of the parents' states.

    Examples
    --------
    >>> import juncture as jt
    >>> graph, rows = jt.DirectedGraph.parse("a -> b"), {"a": [0, 0, 1], "b": [0, 1, 1]}
    >>> jt.families.posterior(graph, jt.statistics(graph, rows))["a"]
    Dirichlet(concentration=[3.0, 2.0])
    """
    from juncture.families.vectors.dirichlet import Dirichlet

    template = resolve_template(structure, statistics)
    given, parts = resolve_prior(prior, template), pool_statistics(template, statistics)
    found = {}
    for conditional in template.conditionals:
        name = conditional.child.name
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
    return found


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
    >>> bool(low[0] < jt.infer(asia, {"smoke": "yes"})["lung"]["yes"] < high[0])
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

    def interval(self, name: str, confidence: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Both ends, (state,), of the central credible interval of each probability."""
        outside = (1.0 - check_number(confidence, "confidence", above=0, below=1)) / 2
        columns = self._draws_of(name).T
        ends = [[weighted_quantile(column, self.weights, at) for column in columns] for at in (outside, 1.0 - outside)]
        return np.array(ends[0]), np.array(ends[1])

    def to_pandas(self, confidence: float = 0.9) -> pd.DataFrame:
        """A frame of variable, state, probability, and the ends of its interval."""
        pandas = import_pandas()
        records = []
        for name in self.targets:
            low, high = self.interval(name, confidence)
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
        return zip(self.model.variable(name).labels, self[name].values, *self.interval(name), strict=True)


def weighted_quantile(values: np.ndarray, weights: np.ndarray, level: float) -> float:
    """The smallest value below or at which the weights sum to the level."""
    order = np.argsort(values)
    return float(
        values[order][np.searchsorted(np.cumsum(weights[order]), level * (1 - 1e-12)).clip(0, len(values) - 1)]
    )
