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
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import Unsupported
from juncture.inference.engines.contract import BELIEFS, Cost, Question
from juncture.inference.exact.gaussian.engine import patterns, system_for
from juncture.inference.exact.gaussian.precisions import PrecisionSystem, multiply
from juncture.inference.exact.gaussian.systems import LinearSystem
from juncture.inference.messages.diagnosis import diagnose
from juncture.inference.messages.gaussian_loopy_answers import GaussianLoopyAnswers
from juncture.inference.messages.gaussian_pairs import GaussianPairs, PairMessages
from juncture.numerics import LOG_TWO_PI


def pair_system(model: Any) -> tuple[PrecisionSystem, np.ndarray]:
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
class GaussianLoopyPlan:
    """Gaussian belief propagation with the options of `LoopyBP`; messages are flooded whatever the schedule."""

    engine: Any  # LoopyBP
    system: tuple[PrecisionSystem, np.ndarray]

    @property
    def cost(self) -> Cost:
        """Of one step for one row."""
        pairs = float(len(self.system[0].entries))
        return Cost(1, 4.0, 8.0 * 12 * pairs, 16 * pairs)

    def prepare(self) -> None:
        """Nothing is shared between runs of different models."""

    def run(
        self,
        model: Any,
        findings: Findings,
        *,
        questions: frozenset[Question] = BELIEFS,
        rng: np.random.Generator | None = None,
        budget: float | None = None,
    ) -> GaussianLoopyAnswers:
        if Question.EXPECTED in questions:
            raise Unsupported(
                "loopy belief propagation does not learn from real variables; engine='auto' does, exactly"
            )
        deadline = math.inf if budget is None else time.monotonic() + budget
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
    pulled = system.loading[:, None] - multiply(system, values)  # η - Λ v
    log_values = system.log_scale + 0.5 * ((system.loading[:, None] + pulled) * values).sum(axis=0)
    return PairMessages.start(GaussianPairs.of(system, is_free), pulled, values, log_values)
