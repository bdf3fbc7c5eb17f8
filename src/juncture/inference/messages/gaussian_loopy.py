"""Gaussian belief propagation: messages between the variables of a Gaussian model, of a precision and a loading each.

The model is exp(log_scale + ηᵀx - ½ xᵀΛx). Variable i sends j the precision -Λᵢⱼ² / Λᵢ∖ⱼ and the loading
-Λᵢⱼ ηᵢ∖ⱼ / Λᵢ∖ⱼ, where Λᵢ∖ⱼ and ηᵢ∖ⱼ are its own plus all that it receives but from j. In a forest the answers are
exact after one step to the roots and one back. With cycles all messages are sent at once in each step; if they
converge the means are exact and the variances are not, and they converge in every walk-summable model: where the
largest eigenvalue of |I - D^-½ Λ D^-½| is below 1 (Weiss and Freeman 2001; Malioutov, Johnson and Willsky 2006).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import Answers, Cost, Diagnostics, EnginePlan, Query, Question, Request
from juncture.inference.engines.posterior_gaussians import as_gaussian, as_joint_gaussian
from juncture.inference.exact.gaussian.engine import patterns, system_for
from juncture.inference.exact.gaussian.linear_system import LinearSystem
from juncture.inference.exact.gaussian.precision_system import PrecisionSystem, apply_precision
from juncture.inference.messages.diagnosis import diagnose
from juncture.numerics.stable import LOG_TWO_PI

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network


def pair_system(model: Network) -> tuple[PrecisionSystem, np.ndarray]:
    """The precision matrix of a Gaussian model in deviations from the centers of its variables, and the centers."""
    if "pair system" not in model.derived:
        system = system_for(model)
        pairs = system if isinstance(system, PrecisionSystem) else square_rows(system)
        model.derived["pair system"] = pairs, system.means
    found: tuple[PrecisionSystem, np.ndarray] = model.derived["pair system"]
    return found


def square_rows(system: LinearSystem) -> PrecisionSystem:
    """Λ = Σ a aᵀ / σ² of the rows a · (x - mean) = noise of a directed model."""
    if system.is_exact.any():
        name = system.names[system.nodes[system.starts[int(np.flatnonzero(system.is_exact)[0])]]]
        raise Unsupported(
            f"Gaussian belief propagation takes positive variances, and {name!r} has none given its parents; infer by"
            " method='exact'"
        )
    num, sizes = len(system.names), np.diff(system.starts)
    keys, values = [np.arange(num) * (num + 1)], [np.zeros(num)]
    for size in set(sizes.tolist()):
        rows = np.flatnonzero(sizes == size)
        places = system.starts[rows][:, None] + np.arange(size)
        nodes, entries = system.nodes[places], system.coefficients[places] / system.deviations[rows][:, None]
        row, one, other = np.nonzero(nodes[:, :, None] <= nodes[:, None, :])
        keys.append(nodes[row, one] * num + nodes[row, other])
        values.append(entries[row, one] * entries[row, other])
    log_scale = -float(np.log(system.deviations).sum() + 0.5 * num * LOG_TWO_PI)
    return PrecisionSystem.from_entries(
        system.names, np.concatenate(keys), np.concatenate(values), np.zeros(num), log_scale
    )


@dataclass(frozen=True, eq=False)
class GaussianRun:
    """The messages of each pattern of observed variables, and how the run ended."""

    patterns: tuple[PairMessages, ...]
    last_step: int
    is_out_of_time: bool

    @cached_property
    def is_converged(self) -> bool:
        return all(messages.is_done for messages in self.patterns)

    @property
    def is_exact(self) -> bool:
        return self.is_converged and all(messages.pairs.is_forest for messages in self.patterns)

    @property
    def num_steps(self) -> int:
        return max((messages.steps for messages in self.patterns), default=0)

    @property
    def residual(self) -> float:
        return max((messages.change for messages in self.patterns), default=0.0)


@dataclass(frozen=True, eq=False)
class GaussianLoopyPlan(EnginePlan):
    """Gaussian belief propagation with the options of `LoopyBP`; messages are flooded whatever the schedule."""

    engine: Any  # LoopyBP
    system: tuple[PrecisionSystem, np.ndarray]

    @property
    def cost(self) -> Cost:
        """Of one step for one row."""
        pairs = float(len(self.system[0].entries))
        return Cost(1, 4.0, 8.0 * 12 * pairs, 16 * pairs)

    def run(self, model: Network, query: Query) -> GaussianLoopyAnswers:
        findings = query.findings
        if Question.EXPECTED in query.questions:
            raise Unsupported(
                "loopy belief propagation does not learn from real variables; engine='auto' does, exactly"
            )
        deadline = math.inf if query.budget is None else time.monotonic() + query.budget
        system, centers = pair_system(model)
        groups = [(rows, start_pattern(system, centers, findings, names, rows)) for names, rows in patterns(findings)]
        run = send_all(tuple(messages for _, messages in groups), self.engine, deadline)
        return GaussianLoopyAnswers(
            system, centers, findings, tuple(groups), diagnose(self.engine, run), self.engine.name
        )


def send_all(messages: tuple[PairMessages, ...], engine: Any, deadline: float) -> GaussianRun:
    """Steps of all patterns side by side, until all have converged, the steps are spent or the time is over."""
    step = 0
    while step < engine.max_steps and not all(each.is_done for each in messages):
        if step and time.monotonic() > deadline:
            return GaussianRun(messages, step, is_out_of_time=True)
        step += 1
        for each in messages:
            if not each.is_done:
                each.advance(engine.damping, engine.tolerance)
    return GaussianRun(messages, step, is_out_of_time=False)


def start_pattern(
    system: PrecisionSystem, centers: np.ndarray, findings: Findings, names: tuple[str, ...], rows: np.ndarray
) -> PairMessages:
    """The model given the values of the observed variables in some rows, and no message yet."""
    values, is_free = np.zeros((len(system.names), len(rows))), np.ones(len(system.names), np.bool_)
    for name in names:
        node = system.numbers[name]
        values[node], is_free[node] = findings.reals[name][rows] - centers[node], False
    pulled = system.loading[:, None] - apply_precision(system, values)  # η - Λ v
    log_values = system.log_scale + 0.5 * ((system.loading[:, None] + pulled) * values).sum(axis=0)
    return PairMessages.start(GaussianPairs.of(system, is_free), pulled, values, log_values)


@dataclass(frozen=True, eq=False)
class GaussianLoopyAnswers(Answers):
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
        log_joint = self.system.log_scale + ((loading - 0.5 * apply_precision(self.system, moved)) * moved).sum(axis=0)
        return means[:, None, [self.system.numbers[name] for name in targets]], log_joint[:, None]

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        raise Unsupported("loopy belief propagation does not learn from real variables; engine='auto' does, exactly")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer draws")


@dataclass(frozen=True, eq=False)
class GaussianPairs:
    """Directed edges between free variables: each pair one way, then each the other way."""

    names: tuple[str, ...]
    is_free: np.ndarray  # (variable,)
    diagonal: np.ndarray  # (variable,)
    senders: np.ndarray  # (edge,)
    receivers: np.ndarray  # (edge,)
    couplings: np.ndarray  # (edge,): the entries of Λ

    @classmethod
    def of(cls, system: PrecisionSystem, is_free: np.ndarray) -> GaussianPairs:
        is_pair = (system.first != system.second) & (system.entries != 0.0)
        kept = np.flatnonzero(is_pair & is_free[system.first] & is_free[system.second])
        first, second, entries = system.first[kept], system.second[kept], system.entries[kept]
        own = system.first == system.second
        diagonal = np.bincount(system.first[own], system.entries[own], len(system.names))
        both = np.concatenate([first, second]), np.concatenate([second, first]), np.concatenate([entries, entries])
        return cls(system.names, is_free, diagonal, *both)

    @property
    def num_pairs(self) -> int:
        return len(self.senders) // 2

    @cached_property
    def reverse(self) -> np.ndarray:
        """(edge,): the edge the other way."""
        edges = np.arange(2 * self.num_pairs)
        return np.asarray((edges + self.num_pairs) % max(1, 2 * self.num_pairs))

    @cached_property
    def matrix(self) -> Any:
        """(variable, edge): 1 where the variable receives the edge; it sums messages."""
        from scipy.sparse import csr_array

        size = len(self.receivers)
        return csr_array((np.ones(size), (self.receivers, np.arange(size))), shape=(len(self.names), size))

    @cached_property
    def depths(self) -> np.ndarray | None:
        """(variable,): the number of edges to the root of its tree; None if the pairs have a cycle."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import breadth_first_order, connected_components

        num = len(self.names)
        graph = csr_array((np.ones(len(self.senders)), (self.senders, self.receivers)), shape=(num, num))
        num_trees, which = connected_components(graph, directed=False)
        if self.num_pairs != num - num_trees:
            return None
        depths = np.zeros(num, np.int64)
        for root in np.unique(which, return_index=True)[1]:
            order, parents = breadth_first_order(graph, root, directed=False)
            for node in order[1:]:
                depths[node] = depths[parents[node]] + 1
        return depths

    @property
    def is_forest(self) -> bool:
        return self.depths is not None

    def levels(self, step: int) -> Iterator[np.ndarray]:
        """The edges of a step, those that are sent at once together: in a forest level by level, to the roots first."""
        if self.depths is None:
            yield np.arange(len(self.senders))
            return
        down = self.depths[self.receivers] > self.depths[self.senders]
        edges = np.flatnonzero(down if step else ~down)
        edges = edges[np.argsort(self.depths[self.senders[edges]] * (1 if step else -1), kind="stable")]
        starts = np.flatnonzero(np.diff(self.depths[self.senders[edges]])) + 1
        yield from (part for part in np.split(edges, starts) if len(part))

    @cached_property
    def spectral_radius(self) -> float:
        """The largest eigenvalue of |I - D^-½ Λ D^-½| of the free variables; below 1 the model is walk-summable."""
        from scipy.sparse import csr_array

        num = len(self.names)
        scales = np.sqrt(np.abs(self.diagonal[self.senders] * self.diagonal[self.receivers]))
        entries = np.abs(self.couplings) / np.maximum(scales, np.finfo(float).tiny)
        matrix, vector, radius = (
            csr_array((entries, (self.senders, self.receivers)), shape=(num, num)),
            np.ones(num),
            0.0,
        )
        for _ in range(200):  # power iteration on I + |R|, so that no eigenvalue of the same size is negative
            vector = vector + matrix @ vector
            radius = float(np.abs(vector).max()) - 1.0
            vector = vector / np.abs(vector).max()
        return radius


@dataclass(eq=False)
class PairMessages:
    """The messages of the rows in which the same variables are observed: precisions, and loadings for each row."""

    pairs: GaussianPairs
    own_loadings: np.ndarray  # (variable, row)
    values: np.ndarray  # (variable, row): of those observed
    log_values: np.ndarray  # (row,): log of the model at the values, the free variables at 0
    precisions: np.ndarray  # (edge,)
    loadings: np.ndarray  # (edge, row)
    steps: int = 0
    change: float = np.inf
    is_done: bool = field(default=False)

    @classmethod
    def start(
        cls, pairs: GaussianPairs, loadings: np.ndarray, values: np.ndarray, log_values: np.ndarray
    ) -> PairMessages:
        size = len(pairs.senders)
        return cls(pairs, loadings, values, log_values, np.zeros(size), np.zeros((size, loadings.shape[1])))

    def advance(self, damping: float, tolerance: float) -> None:
        """One step; in a forest two are enough, and damping is not needed."""
        kept = 0.0 if self.pairs.is_forest else damping
        self.change = max([0.0, *(self.send(edges, kept) for edges in self.pairs.levels(self.steps))])
        self.steps += 1
        self.is_done = self.steps == 2 if self.pairs.is_forest else self.change <= tolerance
        if self.is_done:
            self.change = 0.0 if self.pairs.is_forest else self.change
            self.check_precisions(self.totals[0][self.pairs.is_free])

    def send(self, edges: np.ndarray, damping: float) -> float:
        """Send along some edges; the largest change, relative to the scale of the receiver."""
        pairs, (totals, loadings) = self.pairs, self.totals
        senders, back = pairs.senders[edges], pairs.reverse[edges]
        precisions = totals[senders] - self.precisions[back]
        self.check_precisions(precisions)
        gains = -pairs.couplings[edges] / precisions
        new = gains * pairs.couplings[edges] * (1.0 - damping) + damping * self.precisions[edges]
        sent = gains[:, None] * (loadings[senders] - self.loadings[back])
        sent = sent * (1.0 - damping) + damping * self.loadings[edges]
        scale = np.abs(pairs.diagonal[pairs.receivers[edges]])
        change = np.abs(new - self.precisions[edges]) / scale
        moved = np.abs(sent - self.loadings[edges]) / np.sqrt(scale)[:, None]
        self.precisions[edges], self.loadings[edges] = new, sent
        return max(float(change.max(initial=0.0)), float(moved.max(initial=0.0)))

    @property
    def totals(self) -> tuple[np.ndarray, np.ndarray]:
        """The precision (variable,) and the loading (variable, row) of each variable with all that it has received."""
        matrix = self.pairs.matrix
        return self.pairs.diagonal + matrix @ self.precisions, self.own_loadings + matrix @ self.loadings

    def check_precisions(self, precisions: np.ndarray) -> None:
        if not (precisions > 0.0).all():
            raise Unsupported(
                f"Gaussian belief propagation diverges in step {self.steps + 1}: a precision is not positive; the"
                f" model is not walk-summable (its spectral radius is {self.pairs.spectral_radius:.4g}, not below 1):"
                " infer by method='exact'"
            )

    @cached_property
    def log_evidence(self) -> np.ndarray:
        """(row,): the Bethe approximation, exact in a forest."""
        pairs, free = self.pairs, self.pairs.is_free
        precisions, loadings = self.totals
        total = self.log_values + log_integral(precisions[free], loadings[free])
        half = np.arange(pairs.num_pairs)
        one, two = self.without(half), self.without(pairs.reverse[half])
        couplings = pairs.couplings[half]
        determinant = one[0] * two[0] - couplings**2
        quadratic = two[0][:, None] * one[1] ** 2 + one[0][:, None] * two[1] ** 2
        quadratic -= 2.0 * couplings[:, None] * one[1] * two[1]
        total += (0.5 * quadratic / determinant[:, None] + LOG_TWO_PI - 0.5 * np.log(determinant)[:, None]).sum(axis=0)
        return total - log_integral(precisions[pairs.senders], loadings[pairs.senders])

    def without(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The precision and the loading of the sender of each edge, without what the receiver sent."""
        (precisions, loadings), back = self.totals, self.pairs.reverse[edges]
        senders = self.pairs.senders[edges]
        return precisions[senders] - self.precisions[back], loadings[senders] - self.loadings[back]


def log_integral(precisions: np.ndarray, loadings: np.ndarray) -> np.ndarray:
    """(row,): Σ log ∫ exp(η x - ½ λ x²) dx over all variables."""
    logs = 0.5 * (loadings**2 / precisions[:, None] + LOG_TWO_PI - np.log(precisions)[:, None])
    return np.asarray(logs.sum(axis=0))
