"""Mean field of Gaussian models, in closed form: the means are exact, and each variance is 1 / Λᵢᵢ.

The optimum of KL(q ‖ p) over products q of densities is Gaussian for Gaussian p = N(m, Λ⁻¹): q(xᵢ) = N(mᵢ, 1 / Λᵢᵢ),
where the exact variance is (Λ⁻¹)ᵢᵢ, which is at least as large. Coordinate ascent would find the means as the
Gauss-Seidel method does; the exact engine finds them at once. The bound is log p(m, evidence) + ½ Σ log(2π / Λᵢᵢ).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import Answers, Cost, Diagnostics, EnginePlan, Query, Question, Request
from juncture.inference.engines.posterior_gaussians import as_gaussian, as_joint_gaussian
from juncture.inference.exact.gaussian.answers import GaussianAnswers
from juncture.inference.exact.gaussian.engine import GaussianElimination, GaussianPlan, system_for
from juncture.inference.exact.gaussian.linear_system import LinearSystem
from juncture.numerics.stable import LOG_TWO_PI

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


def diagonal_precisions(model: Network) -> np.ndarray:
    """(variable,): Λᵢᵢ of the joint precision matrix; inf for a variable in an equation without noise."""
    system = system_for(model)
    total = np.zeros(len(system.names))
    if isinstance(system, LinearSystem):
        rows = np.repeat(np.arange(len(system.names)), np.diff(system.starts))
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = (system.coefficients / system.deviations[rows]) ** 2
        np.add.at(total, system.nodes, np.where(system.coefficients == 0, 0.0, terms))
        return total
    own = system.first == system.second
    np.add.at(total, system.first[own], system.entries[own])
    return total


@dataclass(frozen=True, eq=False)
class GaussianMeanFieldPlan(EnginePlan):
    """The exact plan for the means of all variables."""

    plan: GaussianPlan

    @classmethod
    def of(cls, model: Network, observed: Sequence[str], memory_limit: int | None) -> GaussianMeanFieldPlan:
        engine = GaussianElimination(memory_limit=memory_limit)
        return cls(engine.compile(model, observed, model.variables.names))

    @property
    def cost(self) -> Cost:
        return self.plan.cost

    def prepare(self) -> None:
        self.plan.prepare()

    def run(self, model: Network, query: Query) -> GaussianMeanField:
        if Question.EXPECTED in query.questions:
            raise Unsupported("mean field does not learn from real variables; engine='auto' does, exactly")
        exact = self.plan.run(model, query)
        return GaussianMeanField(exact, diagonal_precisions(model))


@dataclass(frozen=True, eq=False)
class GaussianMeanField(Answers):
    """The exact means, and variances 1 / Λᵢᵢ of what is not observed."""

    exact: GaussianAnswers
    precisions: np.ndarray  # (variable,)

    @property
    def findings(self) -> Findings:
        return self.exact.findings

    @cached_property
    def is_free(self) -> np.ndarray:
        """(row, variable): whether the variable is not observed."""
        return np.stack([~self.findings.is_observed(name) for name in self.exact.names], axis=1)

    @cached_property
    def log_evidence(self) -> np.ndarray:
        if np.isinf(np.where(self.is_free, self.precisions, 0.0)).any():
            node = int(np.flatnonzero(np.isinf(self.precisions) & self.is_free.any(axis=0))[0])
            raise Unsupported(
                f"{self.exact.names[node]!r} is in an equation without noise, which no product of densities keeps:"
                " every one has an infinite divergence; infer by another method"
            )
        widths = np.where(self.is_free, 0.5 * (LOG_TWO_PI - np.log(np.where(self.is_free, self.precisions, 1.0))), 0.0)
        peaks = [
            group.log_evidence + self.exact.log_peak(group, np.arange(len(self.exact.names)))
            for group in self.exact.groups
        ]
        log_joint = np.empty(self.findings.num_rows)
        for group, peak in zip(self.exact.groups, peaks, strict=True):
            log_joint[group.rows] = peak
        return log_joint + widths.sum(axis=1)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        lower = float(self.log_evidence[0]) if self.findings.is_single else self.log_evidence
        return Diagnostics(exact=False, lower=lower)

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        return self.exact.marginal(names)

    def distribution(self, names: tuple[str, ...], is_single: bool) -> Any:
        """Independent Gaussians: of one name a `Gaussian`, of several a `MultivariateGaussian`, or a batch of them."""
        nodes = [self.exact.numbers[name] for name in names]
        means = self.exact.means(names)
        variances = np.where(self.is_free[:, nodes], 1.0 / self.precisions[nodes], 0.0)
        variances[np.isnan(means)] = np.nan
        rows = 0 if is_single else slice(None)
        if len(names) == 1:
            return as_gaussian(
                *(values[rows, 0].item() if is_single else values[rows, 0] for values in (means, variances))
            )
        return as_joint_gaussian(means[rows], (variances[:, :, np.newaxis] * np.eye(len(names)))[rows])

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        raise Unsupported("mean field does not learn from real variables; engine='auto' does, exactly")

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        raise Unsupported("the engine 'mean-field' does not answer mode")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported("the engine 'mean-field' does not answer draws")
