"""`fit` for change-point models: expectation maximisation over the change point, which no row shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln, xlogy

from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.data.rows import Rows, keep_names
from juncture.inference.engines.verb_options import check_data
from juncture.learning.em.contract import Expected
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.numerics import stable
from juncture.numerics.iteration import check_progress
from support.change_point.model import PoissonChangePoint

Block = tuple[np.ndarray, np.ndarray]  # rows and their weights


@dataclass(frozen=True, eq=False)
class ChangePointProblem:
    """Rows of counts to learn from.

    Statistics: counts and seen steps before the change, those after, Σ log count!, and rows by their change point.
    """

    template: PoissonChangePoint
    rows: np.ndarray
    weights: np.ndarray
    generator: np.random.Generator
    models = "change-point models"

    def start(self) -> PoissonChangePoint:
        return self.template

    def another_start(self) -> PoissonChangePoint:
        rates = np.nanmean(self.rows) * self.generator.gamma(2.0, 0.5, size=2)
        return PoissonChangePoint(*rates, self.template.change)

    def blocks(self) -> list[Block]:
        return [(self.rows, self.weights)]

    def expect(self, model: PoissonChangePoint, block: Block) -> Expected[np.ndarray]:
        rows, weights = block
        log_joint = model.log_joint(rows)
        log_evidence = stable.log_sum_exp(log_joint, axis=1)
        check_data(log_evidence, weights, lambda row: f"row {row} has probability zero: no change point can make it")
        counted = weights > 0
        rows, weights, log_evidence = rows[counted], weights[counted], log_evidence[counted]
        posterior = np.exp(log_joint[counted] - log_evidence[:, None]) * weights[:, None]
        has_changed = np.cumsum(posterior, axis=1) * ~np.isnan(rows)
        has_not = np.maximum(weights[:, None] - np.cumsum(posterior, axis=1), 0.0) * ~np.isnan(rows)
        counts = np.nan_to_num(rows)
        sums = [part.sum() for share in (has_not, has_changed) for part in (share * counts, share)]
        constant = weights @ gammaln(counts + 1).sum(axis=1)
        return Expected(np.array([*sums, constant, *posterior.sum(axis=0)]), float(weights @ log_evidence))

    def maximize(self, statistics: np.ndarray, model: PoissonChangePoint) -> PoissonChangePoint:
        early, early_steps, late, late_steps, _, *change_points = statistics
        before = early / early_steps if early_steps > 0 else model.before
        after = late / late_steps if late_steps > 0 else model.after
        total = sum(change_points)
        change = np.array(change_points) / total if total > 0 else model.change
        return PoissonChangePoint(before, after, change)._named(model.feature_names)

    def log_prior(self, model: PoissonChangePoint) -> float:
        return 0.0

    def expected_log_joint(self, statistics: np.ndarray, model: PoissonChangePoint) -> float:
        """E log p(rows, change points | model)."""
        early, early_steps, late, late_steps, constant, *change_points = statistics
        counts = xlogy(early, model.before) - early_steps * model.before
        counts += xlogy(late, model.after) - late_steps * model.after
        return float(counts - constant + xlogy(change_points, model.change).sum())


@dataclass(frozen=True)
class ChangePointOptions(Options):
    """How a change-point model is learned: expectation maximisation over the change point.

    Parameters
    ----------
    method
        "em", or an `ExpectationMaximization` with its options.
    """

    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization}


@keep_names
def fit_change(
    model: PoissonChangePoint,
    data: Any,
    *,
    weights: Any = None,
    rng: Any = None,
    progress: Any = None,
    options: ChangePointOptions,
) -> Fit[PoissonChangePoint]:
    """Learn both rates and the distribution of the change point from rows of counts, starting from a model."""
    check_progress(progress)
    seed = as_seed(rng)
    generator = as_generator(seed)
    read = Rows.of(data, model.feature_names, weights=weights, extra="ignore")
    rows, own = read.many((model.num_steps,))
    found, trace = options.method.run(ChangePointProblem(model, rows, own, generator), progress)
    return Fit(found.model, found.log_likelihood, trace, found.statistics, used_seed(seed, generator))
