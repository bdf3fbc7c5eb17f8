"""Expected statistics of the conditionals of a hybrid network: the E-step of learning from rows with holes.

For a conditional of a variable with states the expected counts of its table; for a real-valued child the weight, mean
and scatter of (real parents, child) for each configuration of its parents with states, where every row counts with the
probability of the configuration.

Rows with holes are cut into pieces of the network that the observed values separate (`LearningPlans`, which the steps
of learning share). Given the observed values, families that share no unobserved variable are independent. So the rows
are grouped for each such set of families by what is observed of it, and not by what is observed at all: there are far
fewer groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.values import few
from juncture.data.findings import Findings, is_hole
from juncture.data.missingness import group_by_pattern
from juncture.factors.conditional import AnyConditional
from juncture.factors.factor import Factor
from juncture.inference.exact.hybrid.clique_tables import Sums, align_rows
from juncture.inference.exact.hybrid.equations import Form, SolvedGroup, of_case
from juncture.inference.exact.hybrid.plan import Part, check_fits, connected, factors_of, is_linear, part_of, scope_of
from juncture.inference.exact.hybrid.run import AlikeRows, Run
from juncture.numerics.stable import Moments, grouped_moments, merge_moments
from juncture.variables import Scope

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import BayesianNetwork


def expected_statistics(
    pieces: Iterable[Piece], requests: Sequence[AnyConditional], weights: np.ndarray, num_rows: int
) -> tuple[list[list[np.ndarray]], np.ndarray]:
    """The statistics of each conditional, and log p(findings) of each row."""
    totals = {request.child.name: nothing_of(request) for request in requests}
    families = {request.child.name: request for request in requests}
    log_evidence = np.zeros(num_rows)
    for piece in pieces:
        log_evidence[piece.rows] += piece.run.log_total
        asked = [families[name] for name in piece.children if name in families]
        for block in blocks_of(piece.run, weights[piece.rows]):
            for request in asked:
                name = request.child.name
                totals[name] = add_statistics(request, totals[name], expected_in(block, request))
    return [totals[request.child.name] for request in requests], log_evidence


def nothing_of(request: AnyConditional) -> list[np.ndarray]:
    """The statistics of no rows."""
    if not is_linear(request):
        return [np.zeros(factor.scope.shape) for factor in factors_of(request)]
    shape, size = discrete_of(request).shape, len(real_names(request))
    return [np.zeros(shape), np.zeros((*shape, size)), np.zeros((*shape, size, size))]


def add_statistics(request: AnyConditional, mine: list[np.ndarray], theirs: list[np.ndarray]) -> list[np.ndarray]:
    """The statistics of both."""
    if is_linear(request):
        return list(merge_moments(Moments(*mine), Moments(*theirs)))
    return [one + other for one, other in zip(mine, theirs, strict=True)]


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a run: what is observed, their weights (0 where a row is impossible), and the sums over states."""

    run: Run
    rows: AlikeRows
    place: slice
    weights: np.ndarray
    sums: Sums

    def shares(self, names: tuple[str, ...]) -> np.ndarray:
        """The weight of each row times p(names | findings): (row, *states)."""
        table = self.sums.marginal(names)
        possible = np.where(np.isnan(table), 0.0, table)
        return np.asarray(possible * self.weights.reshape(-1, *[1] * len(names)))

    @cached_property
    def solved(self) -> dict[str, SolvedValues]:
        """The numbers of the group of each real-valued child, by its name."""
        return {
            family.child.name: values
            for solved, case in self.run.solved
            for values in [SolvedValues(solved, case[self.place], self.rows.reals)]
            for family in solved.group.families
        }


@dataclass(frozen=True, eq=False)
class SolvedValues:
    """The means and covariances of a group of real-valued variables in some rows, each (row or 1, *states)."""

    solved: SolvedGroup
    case: np.ndarray
    reals: Mapping[str, np.ndarray]

    @cached_property
    def forms(self) -> dict[str, Form]:
        return {name: self.solved.form(name) for name in self.solved.group.hidden}

    @cached_property
    def means(self) -> dict[str, np.ndarray]:
        return {name: self.solved.mean(form, self.reals, self.case) for name, form in self.forms.items()}

    def covariance(self, one: str, other: str) -> np.ndarray:
        return of_case(self.solved.covariance(self.forms[one], self.forms[other]), self.case)


def blocks_of(run: Run, weights: np.ndarray) -> Iterator[Block]:
    start = 0
    for sums in run.sums():
        place = slice(start, start + len(sums.log_total))
        counted = np.where(np.isneginf(sums.log_total), 0.0, weights[place])
        yield Block(run, run.rows.take(place), place, counted, sums)
        start = place.stop


def expected_in(block: Block, request: AnyConditional) -> list[np.ndarray]:
    """The statistics of a conditional from some rows."""
    if is_linear(request):
        return list(expected_moments(request, block))
    return [expected_counts(factor, block) for factor in factors_of(request)]


def expected_counts(factor: Factor, block: Block) -> np.ndarray:
    """The expected counts of a table, in its shape."""
    rows, names = block.rows, factor.scope.names
    seen = [at for at, name in enumerate(names) if name in rows.observed]
    free = [at for at in range(len(names)) if at not in seen]
    shares = block.shares(tuple(names[at] for at in free)).reshape(rows.num_rows, -1)
    first, last = ([factor.scope.shape[at] for at in part] for part in (seen, free))
    cell = flat_codes([rows.codes[names[at]] for at in seen], first, rows.num_rows)
    index = cell[:, None] * shares.shape[1] + np.arange(shares.shape[1])
    counts = np.bincount(index.reshape(-1), shares.reshape(-1), int(np.prod([*first, *last])))
    return counts.reshape((*first, *last)).transpose(np.argsort([*seen, *free]))


def expected_moments(request: AnyConditional, block: Block) -> Moments:
    """The moments of (real parents, child) for each configuration of the parents with states."""
    values, rows, names = block.solved[request.child.name], block.rows, real_names(request)
    hidden = [name for name in names if name not in rows.observed]
    discrete = discrete_of(request)
    group = values.solved.group
    states = group.states if hidden else tuple(name for name in discrete.names if name not in rows.observed)
    shares = block.shares(states)
    shape = shares.shape

    def spread(numbers: np.ndarray) -> np.ndarray:
        """Numbers of (row or 1, *states of the group) for each row and configuration, in one array."""
        return np.broadcast_to(align_rows(numbers, group.states, states), shape).reshape(-1)

    columns = [
        spread(values.means[name]) if name in hidden else np.repeat(rows.reals[name], shares[0].size) for name in names
    ]
    index = configuration_of(discrete, states, rows, shape)
    weight, center, scatter = grouped_moments(np.stack(columns, axis=1), index, shares.reshape(-1), discrete.size)
    for one, other in combinations_with_replacement(hidden, 2):
        shared = shares.reshape(-1) * spread(values.covariance(one, other))
        added = np.bincount(index, shared, minlength=discrete.size)
        first, second = names.index(one), names.index(other)
        scatter[:, first, second] += added
        if one != other:
            scatter[:, second, first] += added
    return Moments(*(array.reshape((*discrete.shape, *array.shape[1:])) for array in (weight, center, scatter)))


def configuration_of(discrete: Scope, states: tuple[str, ...], rows: AlikeRows, shape: tuple[int, ...]) -> np.ndarray:
    """The number of the configuration of parents in each row and configuration of `states`, in one array."""
    codes = []
    for name in discrete.names:
        axis = 1 + states.index(name) if name in states else 0
        known = np.arange(shape[axis]) if axis else rows.codes[name]
        codes.append(np.broadcast_to(known.reshape([-1 if at == axis else 1 for at in range(len(shape))]), shape))
    return flat_codes([each.reshape(-1) for each in codes], discrete.shape, int(np.prod(shape)))


def flat_codes(codes: Sequence[np.ndarray], shape: Sequence[int], size: int) -> np.ndarray:
    """The number of each combination of codes."""
    return np.ravel_multi_index(tuple(codes), tuple(shape)) if codes else np.zeros(size, np.int64)


def discrete_of(request: AnyConditional) -> Scope:
    return Scope(parent for parent in request.parents if not parent.is_real)


def real_names(request: AnyConditional) -> list[str]:
    """The real-valued parents and the child: the order of the moments."""
    return [variable.name for variable in (*request.parents, request.child) if variable.is_real]


class PieceKey(NamedTuple):
    """The children of a set of families, in their order, and the variables in these families that are observed."""

    children: tuple[str, ...]
    observed: frozenset[str]


class Piece(NamedTuple):
    """The rows that have one key, and the run of its families on them."""

    children: tuple[str, ...]
    rows: np.ndarray
    run: Run


@dataclass(eq=False)
class LearningPlans:
    """The parts of a structure that learning has needed, and how the rows of the last findings fall to them."""

    parts: dict[PieceKey, Part] = field(default_factory=dict)
    last: tuple[Findings, dict[PieceKey, np.ndarray]] | None = None

    def pieces(
        self, model: BayesianNetwork, findings: Findings, tolerance: float, memory_limit: int | None
    ) -> Iterator[Piece]:
        """All pieces of a network with these findings, one after the other."""
        factors = {part.child.name: () if is_linear(part) else factors_of(part) for part in model.conditionals}
        for key, rows in self.split(model, findings).items():
            part = self.part(model, key, factors, memory_limit)
            yield Piece(key.children, rows, Run(model, part, take_rows(model, findings, key, rows), tolerance))

    def split(self, model: BayesianNetwork, findings: Findings) -> dict[PieceKey, np.ndarray]:
        """The rows of each key; kept for the next step of learning, which has the same findings."""
        if self.last is None or self.last[0] is not findings:
            self.last = findings, split_findings(model, findings)
        return self.last[1]

    def part(self, model: BayesianNetwork, key: PieceKey, factors: dict[str, Any], memory_limit: int | None) -> Part:
        """The part of a key with the numbers of this model."""
        if key not in self.parts:
            part = part_of(model, [model[name] for name in key.children], key.observed)
            what = f"the expected statistics of {few(key.children)}"
            self.parts[key] = check_fits(part, what, memory_limit)
            return part
        own: list[Factor] = [factor for name in key.children for factor in factors[name]]
        return self.parts[key].with_numbers({name: model[name] for name in key.children}, own)


def split_findings(model: BayesianNetwork, findings: Findings) -> dict[PieceKey, np.ndarray]:
    """The rows of each key; a variable of one state counts as observed."""
    columns = {**findings.codes, **findings.reals}
    known = np.stack([np.ones(findings.num_rows, bool), *(~is_hole(each) for each in columns.values())], axis=1)
    lone = {variable.name for variable in model.variables if not variable.is_real and variable.num_states == 1}
    rows: dict[PieceKey, list[np.ndarray]] = {}
    for pattern, indices in group_by_pattern(known):
        observed = frozenset({name for name, seen in zip(columns, pattern[1:], strict=True) if seen} | lone)
        for families in connected(model.conditionals, observed, real_only=False):
            key = PieceKey(tuple(part.child.name for part in families), observed & scope_of(families))
            rows.setdefault(key, []).append(indices)
    return {key: np.sort(np.concatenate(parts)) for key, parts in rows.items()}


def take_rows(model: BayesianNetwork, findings: Findings, key: PieceKey, rows: np.ndarray) -> AlikeRows:
    """The findings of some rows on the variables of a key; a likelihood counts where its variable is the child."""
    codes, reals = (
        {name: part[name][rows] for name in key.observed if name in part} for part in (findings.codes, findings.reals)
    )
    likelihoods = {name: findings.likelihoods[name][rows] for name in key.children if name in findings.likelihoods}
    return AlikeRows.of(model, Findings(findings.variables, codes, reals, likelihoods, num_rows=len(rows)))
