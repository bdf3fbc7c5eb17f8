"""`NetworkProblem`: a structure whose parameters are learned from rows with missing cells, and where learning starts.

Learning starts from a given model, or from the statistics of complete families and random numbers for the others.
`SeenRows` and `SeenFamilies` are what the rows show before learning starts: states and levels of variables, and the
families that are complete. Each is a function of the rows of one block, and adds up over blocks, in one pass over a
source.

The lines of real children start from the rows in which their families are complete, or at random. As vectors of numbers
in the units of their columns, lines can be extrapolated by SQUAREM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np

from juncture.base.notes import Notes
from juncture.data.dataset import Dataset
from juncture.data.missingness import has_hole
from juncture.data.sources.contract import Block, RowSource, add_up, is_elsewhere, map_blocks
from juncture.errors import Unsupported
from juncture.factors.conditional import AnyConditional, Conditional, signature
from juncture.factors.gaussian import Constant, LinearGaussian
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    estimate_conditional,
    log_likelihood_of,
    summarise,
)
from juncture.learning.conditionals.linear_gaussian import (
    LineMoments,
    discrete_of,
    fit_lines,
    least_variance,
    line_prior,
    reference_variance,
    report_lines,
)
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables, unflatten_tables
from juncture.learning.networks.estimation import (
    estimate_conditionals,
    learned_groups,
    network_log_prior,
    pool_statistics,
    report_unseen,
)
from juncture.learning.networks.expectation import NetworkExpectation, RowBlock, expect_block
from juncture.learning.networks.statistics import NetworkStatistics, count_families, datasets_of
from juncture.learning.networks.templates import with_conditionals
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.stable import Moments, grouped_moments, merge_moments
from juncture.variables import Scope, Variable

Rows: TypeAlias = Dataset | RowSource
SMOOTHING = 1.0  # a row per cell, so that no start gives an observed row probability zero
NOISE = 0.2  # the standard deviation of the perturbation of symmetric states, in logarithms
LINE_SMOOTHING = 1.0  # a row without any dependence, so that every line is determined
LINE_NOISE = 0.2  # the standard deviation of the perturbation of symmetric states, in those of the noise
FAR = 30.0  # deviations of a column, or natural logarithms of a variance: beyond, an extrapolation is no model nearby


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
        return NetworkExpectation.of(self.template, self.engine, self.rng)

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
        return estimate_conditionals(model, statistics, self.options_of_steps, self.fixed)[0]

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
        parts = pool_statistics(state.model, state.statistics)
        estimates = (estimate_conditional(line, parts[line.child.name], self.options_of_steps) for line in lines)
        Notes.joined(notes for _, notes in estimates).warn()
        report_lines(free, parts, self.options_of_steps)


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


@dataclass(frozen=True, eq=False)
class SeenRows:
    """What some rows show of each variable."""

    states: Mapping[str, np.ndarray]  # of each variable with states: whether some row has a hole, and each state
    moments: Mapping[str, Moments]  # of the numbers of each real variable that has a column
    names: frozenset[str]  # of the variables that some row has a value of

    @classmethod
    def of(cls, variables: Scope, block: Block) -> SeenRows:
        rows = block.rows
        known = {name: ~has_hole(column) for name, column in rows.columns.items()}
        states = {each.name: seen_states(each, rows) for each in variables if not each.is_real}
        weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        real = [each.name for each in variables if each.is_real and each.name in rows.columns]
        moments = {name: moments_of(rows.columns[name], weights, known[name]) for name in real}
        return cls(states, moments, frozenset(name for name, marks in known.items() if marks.any()))

    def __add__(self, other: SeenRows) -> SeenRows:
        states = {name: seen | other.states[name] for name, seen in self.states.items()}
        moments = {name: merge_moments(part, other.moments[name]) for name, part in self.moments.items()}
        return SeenRows(states, moments, self.names | other.names)


def seen_states(variable: Variable, rows: Dataset) -> np.ndarray:
    """Whether some row has a hole, and whether some row has each state; a column that is not there has holes."""
    seen, codes = np.zeros(variable.num_states + 1, np.bool_), rows.columns.get(variable.name)
    seen[0 if codes is None else np.unique(codes).astype(np.int64) + 1] = True
    return seen


def moments_of(column: np.ndarray, weights: np.ndarray, known: np.ndarray) -> Moments:
    return grouped_moments(column[known][:, None], np.zeros(int(known.sum()), np.int64), weights[known], 1)


@dataclass(frozen=True, eq=False)
class SeenFamilies:
    """The statistics of each table and line from the rows in which its family is complete."""

    parts: Mapping[str, np.ndarray | LineMoments]

    @classmethod
    def of(cls, template: BayesianNetwork, block: Block) -> SeenFamilies:
        rows = block.rows
        known = {name: ~has_hole(column) for name, column in rows.columns.items()}
        parts = {}
        for part in template.conditionals:
            if isinstance(part, Conditional | LinearGaussian) and all(name in known for name in family_of(part)):
                complete = np.logical_and.reduce([known[name] for name in family_of(part)])
                parts[part.child.name] = summarise_family(part, rows.take(complete))
        return cls(parts)

    def __add__(self, other: SeenFamilies) -> SeenFamilies:
        return SeenFamilies({name: part + other.parts[name] for name, part in self.parts.items()})


def family_of(part: Conditional | LinearGaussian) -> tuple[str, ...]:
    return (*part.parents.names, part.child.name)


def summarise_family(part: Conditional | LinearGaussian, rows: Dataset) -> Any:
    return count_families(rows, [part.scope])[0] if isinstance(part, Conditional) else summarise(part, rows)


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


@dataclass(frozen=True)
class Level:
    """The mean and the variance of what was observed of a real variable."""

    mean: float
    variance: float

    @property
    def floor(self) -> float:
        """The least variance that EM gives it."""
        return least_variance(self.mean, self.variance)


def observed_levels(moments: Mapping[str, Moments]) -> dict[str, Level]:
    """The level of each real variable that some row observes, from the moments of what was observed."""
    return {name: level_of(part) for name, part in moments.items() if part.weight[0] > 0}


def level_of(part: Moments) -> Level:
    mean, variance = float(part.center[0, 0]), float(part.scatter[0, 0, 0] / part.weight[0])
    return Level(mean, reference_variance(mean, variance))


def line_from_rows(part: LinearGaussian, seen: LineMoments, levels: Mapping[str, Level]) -> LinearGaussian:
    """Least squares in the rows in which the family is complete and a row without dependence."""
    moments = independent_row(part, levels) + seen
    lines = fit_lines(moments, moments.scatter[..., :-1, :-1])
    return LinearGaussian(part.child, part.parents, lines.slopes, lines.intercept, lines.squares / moments.weight)


def independent_row(part: LinearGaussian, levels: Mapping[str, Level]) -> LineMoments:
    """The moments of a row in which the real variables of a family do not depend on each other."""
    real = real_levels(part, levels)
    shape = discrete_of(part.parents).shape
    center = np.broadcast_to([level.mean for level in real], (*shape, len(real)))
    scatter = np.diag([LINE_SMOOTHING * level.variance for level in real])
    weight = np.full(shape, LINE_SMOOTHING)
    return LineMoments(part.child, part.parents, weight, center, np.broadcast_to(scatter, (*shape, *scatter.shape)))


def real_levels(part: LinearGaussian, levels: Mapping[str, Level]) -> list[Level]:
    """The levels of the real parents and of the child; a hidden variable counts as standard normal."""
    names = [variable.name for variable in (*part.parents, part.child) if variable.is_real]
    return [levels.get(name, Level(0.0, 1.0)) for name in names]


def draw_line(part: Any, levels: Mapping[str, Level], rng: np.random.Generator) -> Any:
    """A line at random that keeps the level of its child; a hidden child keeps its line."""
    if not isinstance(part, LinearGaussian) or part.child.name not in levels:
        return part
    *parents, child = real_levels(part, levels)
    deviation = np.sqrt(child.variance)
    slopes = rng.standard_normal(part.coefficients.shape) / np.sqrt(max(1, len(parents)))
    coefficients = slopes * deviation / np.sqrt([level.variance for level in parents])
    apart = deviation * rng.standard_normal(part.intercept.shape) if part.intercept.ndim else 0.0
    intercept = child.mean + apart - (coefficients * [level.mean for level in parents]).sum(axis=-1)
    return LinearGaussian(
        part.child, part.parents, coefficients, intercept, np.full(part.variance.shape, child.variance)
    )


def perturb_line(part: LinearGaussian, rng: np.random.Generator) -> LinearGaussian:
    """The same with intercepts moved a little, each by itself."""
    moved = part.intercept + LINE_NOISE * np.sqrt(part.variance) * rng.standard_normal(part.intercept.shape)
    return LinearGaussian(part.child, part.parents, part.coefficients, moved, part.variance)


def to_line_vector(lines: list[LinearGaussian], levels: Mapping[str, Level]) -> np.ndarray:
    return flatten_tables([array for line in lines for array in as_free(line, levels)])


def from_line_vector(
    vector: np.ndarray, lines: list[LinearGaussian], levels: Mapping[str, Level], least: Mapping[str, float]
) -> list[LinearGaussian] | None:
    """The lines of a vector; None if one of them is far from what it was."""
    old = [array for line in lines for array in as_free(line, levels)]
    if np.abs(vector - flatten_tables(old)).max(initial=0.0) > FAR:
        return None
    numbers = iter(unflatten_tables(vector, old) if old else [])
    return [from_free(line, numbers, levels, least) for line in lines]


def as_free(line: LinearGaussian, levels: Mapping[str, Level]) -> list[np.ndarray]:
    """Slopes, the height at the parents' means and log-variances; 0 for a variance that is none."""
    *parents, child = real_levels(line, levels)
    unit, means, units = np.sqrt(child.variance), [one.mean for one in parents], deviations(parents)
    height = line.intercept + (line.coefficients * means).sum(axis=-1) - child.mean
    logs = np.log(np.where(line.variance > 0, line.variance / child.variance, 1.0))
    return [line.coefficients * units / unit, height / unit, logs]


def from_free(
    line: LinearGaussian, numbers: Iterator[np.ndarray], levels: Mapping[str, Level], least: Mapping[str, float]
) -> LinearGaussian:
    """A line like this one with other numbers: its variance is at least the least one, or what it was."""
    *parents, child = real_levels(line, levels)
    unit, means, units = np.sqrt(child.variance), [one.mean for one in parents], deviations(parents)
    slopes, height, logs = (next(numbers) for _ in range(3))
    coefficients = slopes * unit / units
    intercept = height * unit + child.mean - (coefficients * means).sum(axis=-1)
    floor = np.minimum(least.get(line.child.name, 0.0), line.variance)
    variance = np.where(line.variance > 0, np.maximum(np.exp(logs) * child.variance, floor), 0.0)
    return LinearGaussian(line.child, line.parents, coefficients, intercept, variance)


def deviations(levels: list[Level]) -> np.ndarray:
    return np.sqrt([level.variance for level in levels])
