"""The answers of Gaussian belief propagation: means, variances, and the joints of variables that share a factor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import Diagnostics, Request
from juncture.inference.engines.real_marginals import as_gaussian, as_joint_gaussian
from juncture.inference.exact.gaussian.precisions import PrecisionSystem, multiply
from juncture.inference.messages.gaussian_pairs import PairMessages


@dataclass(frozen=True, eq=False)
class GaussianLoopyAnswers:
    """For each pattern of observed variables its rows and messages."""

    system: PrecisionSystem
    centers: np.ndarray  # (variable,)
    findings: Findings
    groups: tuple[tuple[np.ndarray, PairMessages], ...]
    diagnostics: Diagnostics
    engine_name: str

    @cached_property
    def log_evidence(self) -> np.ndarray:
        values = np.empty(self.findings.num_rows)
        for rows, messages in self.groups:
            values[rows] = messages.log_evidence
        return values

    @cached_property
    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances, (row, variable)."""
        shape = self.findings.num_rows, len(self.system.names)
        means, variances = np.empty(shape), np.zeros(shape)
        for rows, messages in self.groups:
            free = messages.pairs.is_free
            precisions, loadings = messages.totals
            found = messages.values.copy()
            found[free] = loadings[free] / precisions[free][:, None]
            means[rows] = found.T + self.centers
            variances[np.ix_(rows, np.flatnonzero(free))] = 1.0 / precisions[free]
        return means, variances

    def distribution(self, names: tuple[str, ...], is_single: bool) -> Any:
        """A `Gaussian` of one variable, or a `MultivariateGaussian` of two that share a factor."""
        nodes = [self.system.numbers[name] for name in names]
        means, variances = (moments[:, nodes] for moments in self.moments)
        rows = 0 if is_single else slice(None)
        if len(names) == 1:
            return as_gaussian(*(m[0, 0].item() if is_single else m[:, 0] for m in (means, variances)))
        return as_joint_gaussian(means[rows], self.covariances(nodes, variances)[rows])

    def covariances(self, nodes: Sequence[int], variances: np.ndarray) -> np.ndarray:
        """(row, variable, variable); of two free variables by the messages that they send each other."""
        found = variances[:, :, np.newaxis] * np.eye(len(nodes))
        for rows, messages in self.groups:
            pairs = messages.pairs
            free = [place for place, node in enumerate(nodes) if pairs.is_free[node]]
            if len(free) < 2:
                continue
            one, two = (nodes[place] for place in free[:2])
            edges = np.flatnonzero((pairs.senders == one) & (pairs.receivers == two))
            if len(free) > 2 or not len(edges):
                names = ", ".join(repr(self.system.names[node]) for node in nodes)
                raise Unsupported(
                    f"the engine {self.engine_name!r} has joint beliefs of two variables that share a factor; it has"
                    f" none of {names}: ask for them one by one, or infer by another method"
                )
            precision = np.diag([messages.without(edges)[0][0], messages.without(pairs.reverse[edges])[0][0]])
            precision[0, 1] = precision[1, 0] = pairs.couplings[edges[0]]
            found[np.ix_(rows, np.array(free[:2]), np.array(free[:2]))] = np.linalg.inv(precision)
        return found

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        if names:
            raise Unsupported(f"real variables have no table; ask for the distribution of {', '.join(names)}")
        return np.ones(self.findings.num_rows)

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        """The means of all variables, where the density is highest, and its logarithm there."""
        if count > 1:
            raise Unsupported("real variables have one most probable assignment, the mean, and no second best; omit k")
        for name in self.system.names:
            if name not in targets and not self.findings.is_observed(name).all():
                raise Unsupported(
                    f"the engine {self.engine_name!r} finds values of all variables together, and {name!r} is neither"
                    " observed nor among the targets: leave targets= out"
                )
        means = self.moments[0]
        moved = (means - self.centers).T
        loading = self.system.loading[:, None]
        log_joint = self.system.log_scale + ((loading - 0.5 * multiply(self.system, moved)) * moved).sum(axis=0)
        return means[:, None, [self.system.numbers[name] for name in targets]], log_joint[:, None]

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        raise Unsupported("loopy belief propagation does not learn from real variables; engine='auto' does, exactly")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer draws")
