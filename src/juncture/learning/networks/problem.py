"""`NetworkProblem`: a structure whose parameters are learned from rows with missing cells, and where learning starts.

Learning starts from a given model, or from the statistics of complete families and random numbers for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np

from juncture.data.dataset import Dataset
from juncture.data.sources.contract import RowSource, add_up, is_elsewhere, map_blocks
from juncture.errors import Unsupported
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.learning.conditionals.contract import EstimationOptions, log_likelihood_of
from juncture.learning.conditionals.line_floor import report_lines
from juncture.learning.conditionals.line_moments import discrete_of
from juncture.learning.conditionals.line_prior import line_prior
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables
from juncture.learning.networks.estimation import (
    estimate_conditionals,
    learned_groups,
    network_log_prior,
    pool_statistics,
    report_unseen,
)
from juncture.learning.networks.expectation import NetworkExpectation, RowBlock, expect_block
from juncture.learning.networks.line_starts import Level, draw_line, line_from_rows, observed_levels, perturb_line
from juncture.learning.networks.line_vectors import from_line_vector, to_line_vector
from juncture.learning.networks.seen_rows import SeenFamilies, SeenRows, family_of
from juncture.learning.networks.statistics import NetworkStatistics, datasets_of
from juncture.learning.networks.templates import with_conditionals
from juncture.networks.bayesian_network import BayesianNetwork

Rows: TypeAlias = Dataset | RowSource
SMOOTHING = 1.0  # a row per cell, so that no start gives an observed row probability zero
NOISE = 0.2  # the standard deviation of the perturbation of symmetric states, in logarithms


def table_from_rows(part: Conditional, counts: np.ndarray) -> Conditional:
    """From the rows in which the family is complete."""
    counts = counts + SMOOTHING
    return Conditional(part.child, part.parents, counts / counts.sum(axis=-1, keepdims=True))


def draw_table(part: Conditional, rng: np.random.Generator) -> Conditional:
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
        model, (perturb(part, rng) if part.child.name in moved else part for part in model.conditionals)
    )


def is_symmetric(model: BayesianNetwork, hidden: str) -> bool:
    """Whether two states of a latent variable give all its children the same distribution: EM would keep them equal."""
    slices = []  # (state, numbers) of each array of each child
    for name in model.graph.children(hidden):
        part = model[name]
        arrays = parameters_of(part)
        if not arrays:
            return False
        axis = discrete_of(part.parents).names.index(hidden)
        slices += [np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1) for array in arrays]
    if not slices:
        return False
    rows = np.concatenate(slices, axis=1)
    pairs = combinations(rows, 2)
    return any(np.allclose(one, other, rtol=1e-9, atol=0) for one, other in pairs)


def parameters_of(part: AnyConditional) -> list[np.ndarray]:
    """The arrays of a table or a line, each with an axis per parent with states first; nothing of another kind."""
    if isinstance(part, LinearGaussian):
        return [part.coefficients, part.intercept, part.variance]
    return [part.values] if isinstance(part, Conditional) else []


def perturb(part: AnyConditional, rng: np.random.Generator) -> AnyConditional:
    if isinstance(part, LinearGaussian):
        return perturb_line(part, rng)
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
        check_kinds(self.template)

    @property
    def is_elsewhere(self) -> bool:
        """Whether the rows lie on a cluster, where each step runs."""
        return not isinstance(self.data, Dataset) and is_elsewhere(self.data)

    @property
    def latent(self) -> list[str]:
        """The variables with states that no row observes."""
        return [name for name, seen in self.seen_states.items() if not seen[1:].any()]

    @property
    def partly_latent(self) -> list[str]:
        """The variables with missing cells and at least two states that no row has."""
        return [name for name, seen in self.seen_states.items() if seen[0] and seen[1:].sum() < len(seen) - 2]

    @cached_property
    def seen(self) -> SeenRows:
        return add_up(partial(SeenRows.of, self.template.variables), self.data)

    @property
    def seen_states(self) -> Mapping[str, np.ndarray]:
        """For each variable with states whether some row has a hole there, and whether some row has each state."""
        return self.seen.states

    def start(self) -> BayesianNetwork:
        if self.starts_at_template:
            return break_symmetry(self.template, self.latent, self.rng, self.fixed)
        families = add_up(partial(SeenFamilies.of, self.template), self.data).parts
        started = (self._from_rows(part, families.get(part.child.name)) for part in self.template.conditionals)
        counted = with_conditionals(self.template, started)
        return break_symmetry(counted, self.partly_latent, self.rng, self.fixed)

    def _from_rows(self, part: AnyConditional, seen: Any) -> AnyConditional:
        """From the statistics of the rows in which the family is complete; at random if a variable of it is latent."""
        if not isinstance(part, Conditional | LinearGaussian):
            return part
        if seen is None or not self.seen.names.issuperset(family_of(part)):
            return self._draw_free(part)
        if isinstance(part, LinearGaussian):
            return line_from_rows(part, seen, self.levels)
        return table_from_rows(part, seen)

    def another_start(self) -> BayesianNetwork:
        """Every free table and line drawn at random."""
        return with_conditionals(self.template, map(self._draw, self.template.conditionals))

    def _draw(self, part: AnyConditional) -> AnyConditional:
        if part.child.name in self.fixed:
            return part
        return self._draw_free(part)

    def _draw_free(self, part: AnyConditional) -> AnyConditional:
        return draw_table(part, self.rng) if isinstance(part, Conditional) else draw_line(part, self.levels, self.rng)

    @cached_property
    def levels(self) -> dict[str, Level]:
        """The mean and the variance of what was observed of each real variable."""
        return observed_levels(self.seen.moments)

    @cached_property
    def options_of_steps(self) -> EstimationOptions:
        """The options, with a lower bound on the variances of real children; tied ones share the least."""
        least = {name: level.floor for name, level in self.levels.items()}
        for group in self.template.tied:
            if known := [least[name] for name in group if name in least]:
                least |= dict.fromkeys(group, min(known))
        return replace(self.options, least_variances=least)

    @cached_property
    def expectation(self) -> NetworkExpectation:
        return NetworkExpectation.of(self.template, self.engine, self.rng.spawn(1)[0].bit_generator.seed_seq)

    @property
    def is_random(self) -> bool:
        """Whether the E-step draws at random, so that the objective is an estimate, which may fall by chance."""
        return self.expectation.is_random

    @cached_property
    def blocks_in_memory(self) -> list[RowBlock] | None:
        return [RowBlock.of(self.template, self.data)] if isinstance(self.data, Dataset) else None

    def blocks(self) -> Iterable[RowBlock]:
        """The rows in memory in one block; those of a source are read again for every step."""
        return self.blocks_in_memory or (RowBlock.of(self.template, rows) for rows in datasets_of(self.data))

    def expect(self, model: BayesianNetwork, block: RowBlock) -> Expected[NetworkStatistics]:
        return self.expectation.run(model, block)

    def expect_blocks(self, model: BayesianNetwork) -> Iterator[Expected[NetworkStatistics]]:
        """The E-step of each block, in order: that of a source on threads, or where its rows are."""
        if isinstance(self.data, Dataset):
            return (self.expect(model, block) for block in self.blocks())
        return map_blocks(partial(expect_block, self.expectation, model), self.data)

    def maximize(self, statistics: NetworkStatistics, model: BayesianNetwork) -> BayesianNetwork:
        return estimate_conditionals(model, statistics, self.options_of_steps, self.fixed)

    def expected_log_joint(self, statistics: NetworkStatistics, model: BayesianNetwork) -> float:
        return float(sum(log_likelihood_of(part, statistics[part.child.name]) for part in model.conditionals))

    def divide(self, block: RowBlock, number: int) -> list[RowBlock]:
        """The rows in pieces, each with its distinct rows; those of a source are in blocks already."""
        if not isinstance(self.data, Dataset):
            return [block]
        cuts = np.linspace(0, len(self.data), min(number, len(self.data)) + 1).astype(int)
        return [RowBlock.of(self.template, self.data.take(slice(low, high))) for low, high in pairwise(cuts)]

    def log_prior(self, model: BayesianNetwork) -> float:
        return network_log_prior(model, self.options, self.fixed)

    def to_vector(self, model: BayesianNetwork) -> np.ndarray:
        """The entries of the tables, then the numbers of the lines that are learned."""
        lines = to_line_vector(self._lines(model), self.levels)
        return np.concatenate([flatten_tables(tables_of(model)), lines])

    def from_vector(
        self, vector: np.ndarray, state: EMState[BayesianNetwork, NetworkStatistics]
    ) -> BayesianNetwork | None:
        old = tables_of(state.model)
        size, least = sum(table.size for table in old), self.options_of_steps.least_variances or {}
        lines = from_line_vector(vector[size:], self._lines(state.model), self.levels, least)
        if lines is None:
            return None
        made = {line.child.name: line for line in lines}
        tables = iter(unflatten_simplex_tables(vector[:size], old))
        rest = (made.get(part.child.name, part) for part in state.model.conditionals)
        parts = (Conditional.trusted(part, next(tables)) if isinstance(part, Conditional) else part for part in rest)
        return with_conditionals(state.model, parts)

    def _lines(self, model: BayesianNetwork) -> list[LinearGaussian]:
        """The lines that are learned."""
        free = (part for part in model.conditionals if part.child.name not in self.fixed)
        return [part for part in free if isinstance(part, LinearGaussian)]

    def report(self, state: EMState[BayesianNetwork, NetworkStatistics]) -> None:
        """Warn of what the rows left open in the model that was learned."""
        report_unseen(self.template, state.statistics, self.options, self.fixed)
        groups = learned_groups(state.model, self.fixed)
        lines = [line for group in groups if isinstance(line := state.model[group[0]], LinearGaussian)]
        free = [line for line in lines if line_prior(self.options, line) is None]
        report_lines(free, pool_statistics(state.model, state.statistics), self.options_of_steps)


def check_kinds(template: BayesianNetwork) -> None:
    """Raise for a network with a conditional of real variables whose expected statistics no engine gives."""
    for part in template.conditionals:
        has_numbers = any(variable.is_real for variable in (*part.parents, part.child))
        if has_numbers and (not isinstance(part, LinearGaussian | Constant) or part.child.dimension > 1):
            raise Unsupported(
                f"rows with holes are learned from where real children are linear in their parents, and those with"
                f" states have no real parents; {signature(part)} is of another kind: drop the rows with holes, or cut"
                " the numbers with jt.Discretizer"
            )


def tables_of(model: BayesianNetwork) -> list[np.ndarray]:
    return [part.values for part in model.conditionals if isinstance(part, Conditional)]
