"""Learning a noisy OR or a noisy maximum, from complete rows or from expected counts of what each cause produced.

A noisy OR has a concave log-likelihood: with θ = -log(1 - probability) ≥ 0 for each cause and for the leak, and η the
sum over the active ones, log P(off) = -η and log P(on) = log(1 - exp(-η)); Newton's method finds its maximum.
A noisy maximum is learned by EM over the values that the causes produced, accelerated by SQUAREM.

No row shows these values. Their posterior is that of Y = max(leak, Z1, …, Zn): given Y = y, the value z of one cause
has the probability p(z) times the probability that the maximum of the others is y, or for z = y at most y. This is
exact, and cheap for each distinct row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, TypeAlias

import numpy as np

from juncture.base.notes import NO_NOTES, Notes
from juncture.base.values import Value, read_only
from juncture.errors import InvalidData
from juncture.factors.conditional import as_parents
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.learning.conditionals.contract import (
    EstimationOptions,
    estimate_conditional,
    learns_from,
    summarise_expected,
)
from juncture.learning.conditionals.row_counts import RowCounts
from juncture.learning.conditionals.table import weighted_logs
from juncture.learning.em.contract import EMState, Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.em.squarem import flatten_tables, unflatten_simplex_tables
from juncture.variables import Scope, Variable

NEWTON_MAX_STEPS = 500
CERTAIN = 40.0  # θ from which 1 - exp(-θ) is 1
LEAST, MOST = 1e-140, 700.0  # η between which nothing leaves the range of doubles
ROUNDING = 1e-15  # of the log-likelihood
RIDGE = 1e-12  # keeps a cause without data at its start
LEAK_SHARE = 0.2  # the share of the leak that is uniform over all states at the start
CAUSE_EM = ExpectationMaximization(tolerance=1e-12, max_steps=5_000, acceleration="squarem")
Chances: TypeAlias = tuple[
    np.ndarray, np.ndarray
]  # each (row,): P(value below the observed one), P(value equal to the observed one)


def fit_noisy_or(part: RowCounts) -> np.ndarray:
    """The probabilities of the largest likelihood: the leak's, then those of the parents."""
    if not part.weights.sum() > 0:
        raise InvalidData(f"the noisy causes of {part.child.name!r} need at least one row")
    active = np.concatenate([np.ones((len(part.rows), 1)), part.rows[:, :-1]], axis=1)
    likelihood = NoisyOrLikelihood(active, part.rows[:, -1] == 1, part.weights)
    theta = np.full(active.shape[1], np.log(2.0))
    for _ in range(NEWTON_MAX_STEPS):
        moved = likelihood.improve(theta)
        if moved is None:
            break
        theta = moved
    return -np.expm1(-theta)


@dataclass(frozen=True, eq=False)
class NoisyOrLikelihood:
    """The log-likelihood of θ (leak and causes), and its derivatives."""

    active: np.ndarray  # (row, leak and causes): 0 or 1
    is_on: np.ndarray  # (row,)
    weights: np.ndarray  # (row,)

    def value(self, theta: np.ndarray) -> float:
        eta = self.eta(theta)
        return float(self.weights @ np.where(self.is_on, np.log(-np.expm1(-eta)), -eta))

    def slopes(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The gradient, and the negative Hessian."""
        odds = 1.0 / np.expm1(self.eta(theta))  # P(off) / P(on)
        first = np.where(self.is_on, self.weights * odds, -self.weights)
        second = np.where(self.is_on, self.weights * odds * (1.0 + odds), 0.0)
        return self.active.T @ first, (self.active * second[:, None]).T @ self.active

    def eta(self, theta: np.ndarray) -> np.ndarray:
        return np.clip(self.active @ theta, LEAST, MOST)

    def improve(self, theta: np.ndarray) -> np.ndarray | None:
        """A Newton step, halved until the value rises; None where the step gains no more than rounding."""
        gradient, curvature = self.slopes(theta)
        step = bounded_newton(theta, gradient, curvature) - theta
        value = self.value(theta)
        if gradient @ step <= ROUNDING * max(1.0, abs(value)):
            return None
        for halvings in range(40):
            moved = theta + step / 2**halvings
            if self.keeps_possible(theta, moved) and self.value(moved) > value:
                return moved
        return None

    def keeps_possible(self, theta: np.ndarray, moved: np.ndarray) -> bool:
        """Whether no row that is on loses nearly all its causes: from there Newton would come back by doubling only."""
        is_informative = self.is_on & (self.weights > 0)
        return bool((self.eta(moved)[is_informative] >= 0.1 * self.eta(theta)[is_informative]).all())


def bounded_newton(theta: np.ndarray, gradient: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """The largest point of gradient · d - ½ d · curvature · d, with 0 ≤ θ + d ≤ `CERTAIN`: least squares in bounds."""
    from scipy.optimize import lsq_linear

    own = np.diag(curvature)
    scale = np.sqrt(np.where(own > 0, own, 1.0))
    scaled = curvature / np.outer(scale, scale) + RIDGE * np.eye(len(theta))
    root = np.linalg.cholesky(scaled)
    goal = np.linalg.solve(root, scaled @ (theta * scale) + gradient / scale)
    found = lsq_linear(root.T, goal, bounds=(0.0, CERTAIN * scale), method="bvls", tol=1e-15)
    return found.x / scale


def fit_causes(conditional: NoisyMax, part: RowCounts) -> Causes:
    """The tables of the causes at the maximum of the likelihood that EM finds."""
    if not part.weights.sum() > 0:
        raise InvalidData(f"the noisy causes of {part.child.name!r} need at least one row")
    problem = CauseProblem(part, causes_of(conditional))
    return CAUSE_EM.run_from(problem.start(), problem)[0].model


@dataclass(frozen=True, eq=False)
class CauseProblem:
    """EM on the values that the causes produced; the leak counts as a cause that is always there."""

    part: RowCounts
    template: Causes
    models: ClassVar[str] = "noisy conditionals"

    def start(self) -> Causes:
        """Uniform rows wherever the model allows more than one state: EM would never leave a zero."""
        tables = tuple(flatten_rows(table) for table in self.template.tables)
        return Causes(tables, flatten_rows(self.template.leak, LEAK_SHARE))

    def another_start(self) -> Causes:
        return self.start()

    def blocks(self) -> list[RowCounts]:
        return [self.part]

    def expect(self, model: Causes, block: RowCounts) -> Expected[CauseCounts]:
        conditional = NoisyMax(block.child, block.parents, model.tables, model.leak)
        return Expected(count_causes(block, model), block.log_likelihood(conditional))

    def maximize(self, statistics: CauseCounts, model: Causes) -> Causes:
        return statistics.normalized(model)

    def expected_log_joint(self, statistics: CauseCounts, model: Causes) -> float:
        pairs = zip((*statistics.tables, statistics.leak), (*model.tables, model.leak), strict=True)
        return sum(weighted_logs(counts, table) for counts, table in pairs)

    def log_prior(self, model: Causes) -> float:
        return 0.0

    def to_vector(self, model: Causes) -> np.ndarray:
        return flatten_tables([*model.tables, model.leak])

    def from_vector(self, vector: np.ndarray, state: EMState[Causes, CauseCounts]) -> Causes:
        *tables, leak = unflatten_simplex_tables(vector, [*state.model.tables, state.model.leak])
        return Causes(tuple(tables), leak)


def flatten_rows(rows: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Rows with `share` of their mass uniform over the states; a row with a single possible state stays as it is."""
    certain = (rows == 1.0).any(axis=-1, keepdims=True) & (rows.ndim > 1)
    even = (1 - share) * np.eye(rows.shape[-1])[0] + share / rows.shape[-1]
    return np.where(certain, rows, even)


@dataclass(frozen=True, eq=False)
class Causes:
    """A distribution over the child's states for each state of each cause, and for the leak."""

    tables: tuple[np.ndarray, ...]
    leak: np.ndarray


class CauseCounts(Value):
    """Expected weights of the values that each cause produced, by its state, and that the leak produced."""

    child: Variable
    parents: Scope
    tables: tuple[np.ndarray, ...]  # each (parent's state, child's state)
    leak: np.ndarray

    def __init__(self, child: Variable, parents: Iterable[Variable], tables: Sequence[Any], leak: Any) -> None:
        held = tuple(read_only(table, float) for table in tables)
        self._set(child=child, parents=as_parents(child, parents), tables=held, leak=read_only(leak, float))

    @property
    def scope(self) -> Scope:
        return Scope((*self.parents, self.child))

    def normalized(self, before: Causes) -> Causes:
        tables = tuple(normalized(counts, table) for counts, table in zip(self.tables, before.tables, strict=True))
        return Causes(tables, normalized(self.leak[None], before.leak[None])[0])

    def __add__(self, other: object) -> CauseCounts:
        if not isinstance(other, CauseCounts):
            return NotImplemented
        if self.scope != other.scope:
            raise InvalidData(f"the causes of {self.child.name!r} add for the same variables with the same states only")
        tables = [mine + theirs for mine, theirs in zip(self.tables, other.tables, strict=True)]
        return CauseCounts(self.child, self.parents, tables, self.leak + other.leak)

    def scaled(self, factor: float) -> CauseCounts:
        return CauseCounts(self.child, self.parents, [table * factor for table in self.tables], self.leak * factor)

    def renamed(self, child: Variable, parents: Scope) -> CauseCounts:
        """The same numbers on the variables of another family."""
        return CauseCounts(child, parents, self.tables, self.leak)

    def __repr__(self) -> str:
        return f"CauseCounts({self.child.name} | {', '.join(self.parents.names)}: {self.leak.sum():g})"


def normalized(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Each row divided by its sum; a row without any counts stays as it was."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, totals, out=otherwise.copy(), where=totals > 0)


def causes_of(conditional: NoisyOr | NoisyMax) -> Causes:
    if isinstance(conditional, NoisyOr):
        tables = tuple(np.array([[1.0, 0.0], [1.0 - p, p]]) for p in conditional.probabilities)
        return Causes(tables, np.array([1.0 - conditional.leak, conditional.leak]))
    return Causes(conditional.tables, conditional.leak)


def count_causes(part: RowCounts, causes: Causes) -> CauseCounts:
    """The expected weights of the values that each cause produced in each of its states, given the rows."""
    codes = part.rows.astype(np.int64)
    produced = [table[column] for table, column in zip(causes.tables, codes.T, strict=False)]  # each (row, state)
    produced.append(np.broadcast_to(causes.leak, (len(codes), len(causes.leak))))
    beliefs = [belief * part.weights[:, None] for belief in posterior_of_causes(produced, codes[:, -1])]
    tables = [
        sum_by_code(column, belief, len(table))
        for table, column, belief in zip(causes.tables, codes.T, beliefs, strict=False)
    ]
    return CauseCounts(part.child, part.parents, tables, beliefs[-1].sum(axis=0))


def posterior_of_causes(produced: Sequence[np.ndarray], largest: np.ndarray) -> list[np.ndarray]:
    """P(Z = z | max = y) of each cause, as (row, z)."""
    rows, states = np.arange(len(largest)), np.arange(produced[0].shape[1])
    chances = []
    for table in produced:
        below = np.where(states < largest[:, None], table, 0.0).sum(axis=1)
        chances.append((below, table[rows, largest]))
    beliefs = []
    for table, (below, at) in zip(produced, maxima_of_others(chances), strict=True):
        rest = np.where(states == largest[:, None], (below + at)[:, None], at[:, None])
        joint = np.where(states <= largest[:, None], table * rest, 0.0)
        total = joint.sum(axis=1, keepdims=True)
        beliefs.append(np.divide(joint, total, out=np.zeros_like(joint), where=total > 0))
    return beliefs


def maxima_of_others(chances: Sequence[Chances]) -> list[Chances]:
    """For each cause, the probabilities of the maximum of all other causes: of those before and those after."""
    nothing = (np.ones_like(chances[0][0]), np.zeros_like(chances[0][0]))
    before = list(accumulate(chances[:-1], larger, initial=nothing))
    after = list(accumulate(chances[:0:-1], larger, initial=nothing))[::-1]
    return [larger(one, other) for one, other in zip(before, after, strict=True)]


def larger(one: Chances, other: Chances) -> Chances:
    """The probabilities of the larger of two independent values; only sums, so that small probabilities stay exact."""
    return one[0] * other[0], one[1] * (other[0] + other[1]) + one[0] * other[1]


def sum_by_code(column: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    """The sums of the rows of `counts` that have the same code: (code, state)."""
    return np.stack([np.bincount(column, state, minlength=size) for state in counts.T], axis=1)


def count_causes_of_chain(conditional: NoisyOr | NoisyMax, causes: Causes, tables: Sequence[np.ndarray]) -> CauseCounts:
    """Expected counts of the causes from those of the chain A1 = max(leak, Z1), A2 = max(A1, Z2), ….

    Where the maximum rises from one link to the next, the value of Z is known; where it stays, Z is at most that value.
    """
    first = NoisyMax(conditional.child, conditional.parents[:1], [causes.tables[0]], causes.leak)
    start = count_causes(RowCounts.of_table(first, tables[0]), causes_of(first))
    later = [link_counts(link, table) for link, table in zip(tables[1:], causes.tables[1:], strict=True)]
    return CauseCounts(conditional.child, conditional.parents, (start.tables[0], *later), start.leak)


def link_counts(link: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The weights of Z by the parent's state, (x, z), from those of (before, x, after)."""
    states = np.arange(table.shape[1])
    rises = np.where(states[:, None, None] < states, link, 0.0).sum(axis=0)  # (x, after): Z is the new maximum
    stays = link[states, :, states].T  # (x, a): Z is at most a
    cumulative = np.cumsum(table, axis=1)
    share = np.divide(stays, cumulative, out=np.zeros_like(stays), where=cumulative > 0)
    return rises + table * np.cumsum(share[:, ::-1], axis=1)[:, ::-1]


@learns_from.register(NoisyOr)
@learns_from.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax) -> tuple[type, ...]:
    return (RowCounts, CauseCounts)


@estimate_conditional.register
def _(conditional: NoisyOr, part: RowCounts | CauseCounts, options: EstimationOptions) -> tuple[NoisyOr, Notes]:
    """A cause that is off produces nothing: only its second row is free."""
    if isinstance(part, CauseCounts):
        causes = part.normalized(causes_of(conditional))
        return NoisyOr(part.child, part.parents, [table[1, 1] for table in causes.tables], causes.leak[1]), NO_NOTES
    leak, *probabilities = fit_noisy_or(part)
    return NoisyOr(part.child, part.parents, probabilities, leak), NO_NOTES


@estimate_conditional.register
def _(conditional: NoisyMax, part: RowCounts | CauseCounts, options: EstimationOptions) -> tuple[NoisyMax, Notes]:
    causes = fit_causes(conditional, part) if isinstance(part, RowCounts) else part.normalized(causes_of(conditional))
    return NoisyMax(part.child, part.parents, causes.tables, causes.leak), NO_NOTES


@summarise_expected.register(NoisyOr)
@summarise_expected.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax, tables: Sequence[np.ndarray]) -> CauseCounts:
    """The expected counts of what each cause produced: from the whole table, or along the chain of partial maxima."""
    causes = causes_of(conditional)
    if len(tables) == 1:
        return count_causes(RowCounts.of_table(conditional, tables[0]), causes)
    return count_causes_of_chain(conditional, causes, tables)
