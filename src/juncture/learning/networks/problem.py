"""`NetworkProblem`: a structure whose parameters are learned from rows with missing cells, and where learning starts.

Learning starts from a given model, or from the counts of complete families and random tables for the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, TypeAlias

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource
from juncture.errors import Unsupported
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables
from juncture.learning.networks.estimation import estimate_conditionals, network_log_prior
from juncture.learning.networks.expectation import NetworkExpectation, RowBlock
from juncture.learning.networks.statistics import NetworkStatistics, count_families, datasets_of
from juncture.learning.networks.templates import with_conditionals
from juncture.networks.bayesian_network import BayesianNetwork

Rows: TypeAlias = Dataset | RowSource
SMOOTHING = 1.0  # a row per cell, so that no start gives an observed row probability zero
NOISE = 0.2  # the standard deviation of the perturbation of symmetric states, in logarithms


def start_from_rows(template: BayesianNetwork, data: Rows, rng: np.random.Generator) -> BayesianNetwork:
    """Each table from the rows in which its family is complete; tables of latent variables at random."""
    return with_conditionals(template, (table_from_rows(part, data, rng) for part in template.conditionals))


def draw_start(template: BayesianNetwork, rng: np.random.Generator, fixed: frozenset[str]) -> BayesianNetwork:
    """Every free table drawn at random."""
    parts = (part if part.child.name in fixed else draw_table(part, rng) for part in template.conditionals)
    return with_conditionals(template, parts)


def table_from_rows(part: AnyConditional, data: Rows, rng: np.random.Generator) -> AnyConditional:
    if not isinstance(part, Conditional):
        return part
    counts, observed = np.zeros(part.scope.shape), set()
    for rows in datasets_of(data):
        columns = {name: rows.columns[name] for name in part.scope.names if name in rows.columns}
        observed |= {name for name, codes in columns.items() if (codes >= 0).any()}
        if len(columns) == len(part.scope):
            complete = np.all([codes >= 0 for codes in columns.values()], axis=0)
            counts += count_families(rows.take(complete), [part.scope])[0]
    if len(observed) < len(part.scope):
        return draw_table(part, rng)
    counts += SMOOTHING
    return Conditional(part.child, part.parents, counts / counts.sum(axis=-1, keepdims=True))


def draw_table(part: AnyConditional, rng: np.random.Generator) -> AnyConditional:
    if not isinstance(part, Conditional):
        return part
    rows = rng.dirichlet(np.ones(part.child.num_states), part.parents.shape)
    return Conditional(part.child, part.parents, rows)


def break_symmetry(
    model: BayesianNetwork, latent: Iterable[str], rng: np.random.Generator, fixed: frozenset[str] = frozenset()
) -> BayesianNetwork:
    """Perturb the children of latent variables with symmetric states, which EM would never separate."""
    children = {name for hidden in latent if is_symmetric(model, hidden) for name in model.graph.children(hidden)}
    moved = children - fixed
    if not moved:
        return model
    return with_conditionals(
        model, (perturb_table(part, rng) if part.child.name in moved else part for part in model.conditionals)
    )


def is_symmetric(model: BayesianNetwork, hidden: str) -> bool:
    """Whether two states of a latent variable give all its children the same distribution: EM would keep them equal."""
    slices = []  # (state, numbers) of each child
    for name in model.graph.children(hidden):
        part = model[name]
        if not isinstance(part, Conditional):
            return False
        axis = part.parents.names.index(hidden)
        slices.append(np.moveaxis(part.values, axis, 0).reshape(part.values.shape[axis], -1))
    if not slices:
        return False
    rows = np.concatenate(slices, axis=1)
    pairs = combinations(rows, 2)
    return any(np.allclose(one, other, rtol=1e-9, atol=0) for one, other in pairs)


def perturb_table(part: AnyConditional, rng: np.random.Generator) -> AnyConditional:
    if not isinstance(part, Conditional):
        return part
    values = part.values * np.exp(NOISE * rng.standard_normal(part.values.shape))
    return Conditional(part.child, part.parents, values / values.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """A structure, the rows, and the options of learning its parameters."""

    template: BayesianNetwork
    data: Rows
    options: EstimationOptions
    fixed: frozenset[str]
    starts_at_template: bool  # whether learning starts from the parameters of the template
    rng: np.random.Generator
    engine: Any = "auto"  # of the E-step
    models: ClassVar[str] = "networks"

    def __post_init__(self) -> None:
        check_states(self.template)

    @property
    def latent(self) -> list[str]:
        """The variables that no row observes."""
        return [name for name, seen in self.seen_states.items() if not seen[1:].any()]

    @property
    def partly_latent(self) -> list[str]:
        """The variables with missing cells and at least two states that no row has."""
        return [name for name, seen in self.seen_states.items() if seen[0] and seen[1:].sum() < len(seen) - 2]

    @cached_property
    def seen_states(self) -> dict[str, np.ndarray]:
        """For each variable whether some row has a hole there, and whether some row has each of its states."""
        found = {variable.name: np.zeros(variable.num_states + 1, bool) for variable in self.template.variables}
        for rows in datasets_of(self.data):
            for name, seen in found.items():
                codes = rows.columns.get(name)
                seen[0 if codes is None else np.unique(codes).astype(np.int64) + 1] = True
        return found

    def start(self) -> BayesianNetwork:
        if self.starts_at_template:
            return break_symmetry(self.template, self.latent, self.rng, self.fixed)
        counted = start_from_rows(self.template, self.data, self.rng)
        return break_symmetry(counted, self.partly_latent, self.rng, self.fixed)

    def another_start(self) -> BayesianNetwork:
        return draw_start(self.template, self.rng, self.fixed)

    @cached_property
    def expectation(self) -> NetworkExpectation:
        return NetworkExpectation.of(self.template, self.engine)

    @cached_property
    def blocks_in_memory(self) -> list[RowBlock] | None:
        return [RowBlock.of(self.template, self.data)] if isinstance(self.data, Dataset) else None

    def blocks(self) -> Iterable[RowBlock]:
        """The rows in memory in one block; those of a source are read again for every step."""
        return self.blocks_in_memory or (RowBlock.of(self.template, rows) for rows in datasets_of(self.data))

    def expect(self, model: BayesianNetwork, block: RowBlock) -> Expected[NetworkStatistics]:
        return self.expectation.run(model, block)

    def maximize(self, statistics: NetworkStatistics, model: BayesianNetwork) -> BayesianNetwork:
        return estimate_conditionals(model, statistics, self.options, self.fixed)

    def log_prior(self, model: BayesianNetwork) -> float:
        return network_log_prior(model, self.options, self.fixed)

    def to_vector(self, model: BayesianNetwork) -> np.ndarray:
        return flatten_tables(tables_of(model))

    def from_vector(self, vector: np.ndarray, state: EMState[BayesianNetwork, NetworkStatistics]) -> BayesianNetwork:
        rest = iter(unflatten_simplex_tables(vector, tables_of(state.model)))
        parts = [
            Conditional.trusted(part, next(rest)) if isinstance(part, Conditional) else part
            for part in state.model.conditionals
        ]
        return with_conditionals(state.model, parts)


def check_states(template: BayesianNetwork) -> None:
    """Raise for a network with real variables, of which EM has no expected moments."""
    for part in template.conditionals:
        if any(variable.is_real for variable in (*part.parents, part.child)):
            raise Unsupported(
                f"rows with holes need variables with states; {signature(part)} has numbers:"
                " drop the rows with holes, cut the numbers with jt.Discretizer, or declare the states of columns"
                " of whole numbers in variables=[…]"
            )


def tables_of(model: BayesianNetwork) -> list[np.ndarray]:
    return [part.values for part in model.conditionals if isinstance(part, Conditional)]
