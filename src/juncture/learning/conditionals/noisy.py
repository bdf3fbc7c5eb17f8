"""Learning a noisy OR or a noisy maximum, from complete rows or from expected counts of what each cause produced.

A noisy OR has a concave log-likelihood: with θ = -log(1 - probability) ≥ 0 for each cause and for the leak, and η the
sum over the active ones, log P(off) = -η and log P(on) = log(1 - exp(-η)); Newton's method finds its maximum.
A noisy maximum is learned by EM over the values that the causes produced, accelerated by SQUAREM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from juncture.errors import InvalidData
from juncture.factors.noisy import NoisyMax, NoisyOr
from juncture.learning.conditionals.causes import CauseCounts, Causes, causes_of, count_causes, count_causes_of_chain
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

NEWTON_MAX_STEPS = 500
CERTAIN = 40.0  # θ from which 1 - exp(-θ) is 1
LEAST, MOST = 1e-140, 700.0  # η between which nothing leaves the range of doubles
ROUNDING = 1e-15  # of the log-likelihood
RIDGE = 1e-12  # keeps a cause without data at its start


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
        """(the gradient, the curvature: the Hessian with its sign turned)."""
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


CAUSE_EM = ExpectationMaximization(tolerance=1e-12, max_steps=5_000, acceleration="squarem")
LEAK_SHARE = 0.2  # the share of the leak that is uniform over all states at the start


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


@learns_from.register(NoisyOr)
@learns_from.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax) -> tuple[type, ...]:
    return (RowCounts, CauseCounts)


@estimate_conditional.register
def _(conditional: NoisyOr, part: RowCounts | CauseCounts, options: EstimationOptions) -> NoisyOr:
    """A cause that is off produces nothing: only its second row is free."""
    if isinstance(part, CauseCounts):
        causes = part.normalized(causes_of(conditional))
        return NoisyOr(part.child, part.parents, [table[1, 1] for table in causes.tables], causes.leak[1])
    leak, *probabilities = fit_noisy_or(part)
    return NoisyOr(part.child, part.parents, probabilities, leak)


@estimate_conditional.register
def _(conditional: NoisyMax, part: RowCounts | CauseCounts, options: EstimationOptions) -> NoisyMax:
    if isinstance(part, RowCounts):
        causes = fit_causes(conditional, part)
        return NoisyMax(part.child, part.parents, causes.tables, causes.leak)
    causes = part.normalized(causes_of(conditional))
    return NoisyMax(part.child, part.parents, causes.tables, causes.leak)


@summarise_expected.register(NoisyOr)
@summarise_expected.register(NoisyMax)
def _(conditional: NoisyOr | NoisyMax, tables: Sequence[np.ndarray]) -> CauseCounts:
    """The expected counts of what each cause produced: from the whole table, or along the chain of partial maxima."""
    causes = causes_of(conditional)
    if len(tables) == 1:
        return count_causes(RowCounts.of_table(conditional, tables[0]), causes)
    return count_causes_of_chain(conditional, causes, tables)
