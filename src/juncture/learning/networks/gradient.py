"""Gradient ascent on the observed-data log-likelihood, whose gradient follows from the expected statistics.

Fisher's identity: ∇ log p(observed) = E[∇ log p(observed, hidden) | observed]. L-BFGS often takes fewer steps than EM
near the optimum.

`FreeTables` has the free tables of a network as one vector of numbers without constraints: logarithms, up to a constant
a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from juncture.base.options import Options
from juncture.errors import NotConvergedWarning, Unsupported, warn_user
from juncture.factors.conditional import Conditional, signature
from juncture.factors.deterministic import Deterministic
from juncture.learning.conditionals.contract import EstimationOptions
from juncture.learning.conditionals.table import added_counts
from juncture.learning.em.contract import EMState
from juncture.learning.em.expectation_maximization import em_steps
from juncture.learning.em.steps import EMSteps
from juncture.learning.networks.estimation import learned_groups, pool_statistics
from juncture.learning.networks.problem import NetworkProblem
from juncture.learning.networks.statistics import NetworkStatistics
from juncture.learning.networks.templates import with_conditionals
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.iteration import INTERRUPTED, ProgressCallback, Trace, check_stopping_rule
from juncture.numerics.stable import softmax

EM_STEPS = 8  # EM steps after L-BFGS: their gains estimate the remaining gain
LEFT = 10.0  # times the tolerance may be left to gain
ROUNDING = 1e-12  # of the objective
LIFT = 1e-9  # of each row of a table is shared out, so that no entry is zero
SLOPE = 1e-4  # the largest slope, per unit of probability, of a row at the optimum
SHARES = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5)  # of each row that is moved to its best entries
OUT_OF_STEPS = 1  # the status in which L-BFGS ends by the number of its steps
SMALLEST = 1e-13  # the start of a probability of zero: its logarithm must be finite
NetworkState: TypeAlias = EMState[BayesianNetwork, NetworkStatistics]


TOLERANCE = 1e-10  # of a network: what a step gains, relative to the objective


@dataclass(frozen=True)
class GradientAscent(Options):
    """L-BFGS on the observed-data log-likelihood (plus the log prior), in the logarithms of the tables.

    For a Bayesian network L-BFGS may stop far from the optimum. So a few steps of EM follow. L-BFGS starts again if
    these steps gain more than the tolerance, if further steps would, or if entries near zero should be larger, which
    both methods change only slowly.

    Parameters
    ----------
    tolerance
        Of a Bayesian network, L-BFGS stops when a step gains less than this, relative to the objective; 1e-10 by
        default. Of an undirected model an ascent ends when no entry of the gradient, by the row, is larger: then no
        cell of the model differs by more from that of the data, in probability; 1e-7 by default. Of a conditional
        random field, when no entry of the gradient, by the step, is larger; 1e-6 by default.
    max_steps
        The largest number of steps.
    engine
        The engine that gives the expected cells: a name or an engine, as `method` in `infer`. The log-likelihood of an
        engine that draws at random, or approximates, is an estimate. A conditional random field asks none.
    """

    tolerance: float | None = None
    max_steps: int = 1000
    engine: Any = "auto"

    def __post_init__(self) -> None:
        check_stopping_rule(0.0 if self.tolerance is None else self.tolerance, self.max_steps)

    def run(self, problem: NetworkProblem, progress: ProgressCallback | None = None) -> tuple[NetworkState, Trace]:
        tables = FreeTables(problem.template, problem.fixed, problem.options)
        ascent = Ascent(em_steps(problem, problem.start()), tables, progress)
        try:
            converged, reason = self._run(ascent)
        except KeyboardInterrupt:
            converged, reason = False, f"{INTERRUPTED} {ascent.num_steps}"
        if not converged:
            warn_user(f"gradient ascent: {reason}; the model is the best so far", NotConvergedWarning)
        return ascent.state, Trace(tuple(ascent.values), converged, reason)

    def _run(self, ascent: Ascent) -> tuple[bool, str]:
        """L-BFGS and EM in turn, until there is nothing left to gain: (whether that is so, how it ended)."""
        tolerance = TOLERANCE if self.tolerance is None else self.tolerance
        while True:
            status, reason = ascent.by_gradient(tolerance, self.max_steps - ascent.num_steps)
            if status != OUT_OF_STEPS:
                left = ascent.by_expectation(min(EM_STEPS, self.max_steps - ascent.num_steps))
            if status == OUT_OF_STEPS or ascent.num_steps >= self.max_steps:
                return False, f"L-BFGS: out of steps after {ascent.num_steps}"
            allowed = max(LEFT * tolerance, ROUNDING) * max(abs(ascent.state.objective), 1.0)
            if left <= allowed and not ascent.by_leaving_edges(allowed):
                return True, reason


class Ascent:
    """The state of an ascent, and the objective after each step."""

    def __init__(
        self, steps: EMSteps[BayesianNetwork, NetworkStatistics], tables: FreeTables, progress: ProgressCallback | None
    ) -> None:
        self.steps, self.tables, self.progress = steps, tables, progress
        self.state = self._at(tables.logits(steps.first))
        self.values = [self.state.objective]

    @property
    def num_steps(self) -> int:
        return len(self.values) - 1

    def by_gradient(self, tolerance: float, max_steps: int) -> tuple[int, str]:
        """Steps of L-BFGS: its status, and its message."""
        from scipy.optimize import minimize

        reached = [self.tables.logits(self.state.model)]

        def downhill(logits: np.ndarray) -> tuple[float, np.ndarray]:
            state = self._at(logits)
            return -state.objective, -self.tables.gradient(state.model, state.statistics)

        def record(intermediate_result: object) -> None:
            reached.append(np.array(intermediate_result.x))  # type: ignore[attr-defined]
            self._record(-float(intermediate_result.fun))  # type: ignore[attr-defined]

        options = {"maxiter": max_steps, "ftol": tolerance, "gtol": 1e-8, "maxfun": 10 * max_steps}
        try:
            found = minimize(downhill, reached[0], jac=True, method="L-BFGS-B", callback=record, options=options)
        finally:
            self._keep(self._at(reached[-1]))
        return int(found.status), f"L-BFGS: {str(found.message).lower()}"

    def by_expectation(self, num_steps: int) -> float:
        """Steps of EM: the remaining gain, if the gains of further steps decrease geometrically."""
        gains = [0.0, 0.0]
        for _ in range(num_steps):
            state = self.steps.step(self.state)
            gains.append(state.objective - self.state.objective)
            self._keep(state)
            self._record(self.state.objective)
        last, rate = gains[-1], gains[-1] / gains[-2] if gains[-2] > 0 else 0.0
        return float(last / (1 - rate) if 0 < rate < 1 else num_steps * last)

    def by_leaving_edges(self, allowed: float) -> bool:
        """One step towards the entries with the steepest slopes; whether the step gains more than `allowed`.

        An entry next to zero hardly moves by its logarithm or by EM, even where it should be larger.
        """
        tables = [(1 - LIFT) * table + LIFT / table.shape[-1] for table in self.tables.values(self.state.model)]
        lifted = self._of(tables)
        slopes = self.tables.slopes(lifted.model, lifted.statistics)
        if not any((slope > SLOPE).any() for slope in slopes):
            return False
        corners = [steepest_corner(table, slope) for table, slope in zip(tables, slopes, strict=True)]
        for share in SHARES:
            state = self._of([(1 - share) * t + share * c for t, c in zip(tables, corners, strict=True)])
            if state.objective > self.state.objective + allowed:
                self._keep(state)
                self._record(state.objective)
                return True
        return False

    def _of(self, tables: list[np.ndarray]) -> NetworkState:
        return self._at(np.concatenate([np.empty(0), *(np.log(table).reshape(-1) for table in tables)]))

    def _at(self, logits: np.ndarray) -> NetworkState:
        return self.steps.expect(self.tables.model(logits))

    def _keep(self, state: NetworkState) -> None:
        self.state = state if state.objective >= self.state.objective else self.state

    def _record(self, value: float) -> None:
        self.values.append(value)
        if self.progress is not None:
            self.progress(self.num_steps, value)


def steepest_corner(table: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """The table whose rows are certain of the entry with the steepest slope; rows without a slope as they are."""
    steepest = slope.max(axis=-1, keepdims=True)
    corner = (slope == steepest) / (slope == steepest).sum(axis=-1, keepdims=True)
    return np.where(steepest > SLOPE, corner, table)


@dataclass(frozen=True, eq=False)
class FreeTables:
    """Which tables may change, tied ones once, and the way between them and a vector."""

    template: BayesianNetwork
    fixed: frozenset[str]
    options: EstimationOptions

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The children of each free table: one, or all that are tied."""
        free = tuple(
            g for g in learned_groups(self.template, self.fixed) if not isinstance(self.template[g[0]], Deterministic)
        )
        for group in free:
            if not isinstance(self.template[group[0]], Conditional):
                raise Unsupported(
                    f"gradients and standard errors are for tables; {signature(self.template[group[0]])} is none:"
                    f" keep it with fixed=[{group[0]!r}], or learn by EM"
                )
        return free

    def values(self, model: BayesianNetwork) -> list[np.ndarray]:
        return [self._table(model, group[0]) for group in self.groups]

    def _table(self, model: BayesianNetwork, name: str) -> np.ndarray:
        part = model[name]
        assert isinstance(part, Conditional)  # noqa: S101 (`groups` has looked)
        return part.values

    def logits(self, model: BayesianNetwork) -> np.ndarray:
        parts = [np.log(np.maximum(table, SMALLEST)).reshape(-1) for table in self.values(model)]
        return np.concatenate([np.empty(0), *parts])

    def model(self, logits: np.ndarray) -> BayesianNetwork:
        """The network whose free tables are the softmax of the vector's parts."""
        made, start = {}, 0
        for group in self.groups:
            shape = self._table(self.template, group[0]).shape
            stop = start + int(np.prod(shape))
            table, start = softmax(logits[start:stop].reshape(shape)), stop
            parts = (self.template[name] for name in group)
            made.update({part.child.name: Conditional(part.child, part.parents, table) for part in parts})
        return with_conditionals(
            self.template, (made.get(part.child.name, part) for part in self.template.conditionals)
        )

    def gradient(self, model: BayesianNetwork, statistics: NetworkStatistics) -> np.ndarray:
        """The gradient in the logits: expected counts less the counts that the table predicts for as many rows."""
        parts = [(counts - expected).reshape(-1) for counts, expected in self._counts(model, statistics)]
        return np.concatenate([np.empty(0), *parts])

    def slopes(self, model: BayesianNetwork, statistics: NetworkStatistics) -> list[np.ndarray]:
        """What the objective gains by the unit of probability moved to an entry from its row; no entry may be zero."""
        counted = self._counts(model, statistics)
        return [(c - e) / table for (c, e), table in zip(counted, self.values(model), strict=True)]

    def _counts(self, model: BayesianNetwork, statistics: NetworkStatistics) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each table the expected counts, and the counts that the table itself predicts for as many rows."""
        shared, found = pool_statistics(model, statistics), []
        for group, table in zip(self.groups, self.values(model), strict=True):
            part = shared[group[0]]
            counts = part.counts + added_counts(self.options, part)
            found.append((counts, counts.sum(axis=-1, keepdims=True) * table))
        return found
