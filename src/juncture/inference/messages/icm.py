"""`ICM`: iterated conditional modes, the search that lets one variable after the other take its best state.

Each visit takes the state that is most probable given the states of all others, which only the factors of that
variable decide. The probability of the assignment never falls; the search ends in an assignment that no change of a
single variable improves, which need not be the best of all. Cost: a few sweeps, each linear in the size of the model.
Choose it for a quick answer on large images; `max-flow` is exact where it applies. Besag (1986), "On the statistical
analysis of dirty pictures".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from juncture.base.checks import check_choice, check_count
from juncture.base.options import as_generator
from juncture.inference.engines.contract import Cost, Diagnostics, Engine, EnginePlan, Query, Question
from juncture.inference.engines.factor_answers import BestCodes, check_no_hidden
from juncture.inference.engines.factor_arrays import FactorArrays, factor_arrays, log_likelihoods, node_scope
from juncture.kernels.coordinate_ascent import visit_nodes
from juncture.runtime.memory import check_memory

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

MODE = frozenset({Question.MODE})
BYTES_PER_ENTRY = 40  # of the lists of factors and nodes


@dataclass(frozen=True)
class ICM(Engine):
    """Iterated conditional modes, for `most_probable(method="icm")`.

    Parameters
    ----------
    schedule
        "raster" visits the variables in the order of the model, sweep after sweep; "random" in a new random order in
        each sweep.
    starts
        The number of searches, of which the best result counts. The first starts where every variable has the best
        state by its own evidence and potentials, the others at random states.
    max_steps
        The most sweeps of one search. It ends before if a sweep changes nothing.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ising((2, 3), coupling=1.0, field=[[0.5, -0.1, 0.5], [0.5, 0.5, 0.5]])
    >>> best = jt.most_probable(model, method=jt.ICM(schedule="raster"))
    >>> best.array.tolist(), best.exact, round(best.log_joint, 3)
    ([[1, 1, 1], [1, 1, 1]], False, 9.4)
    """

    schedule: str = "raster"
    starts: int = 1
    max_steps: int = 1000
    memory_limit: int | None = None
    name: ClassVar[str] = "icm"
    answers: ClassVar[frozenset[Question]] = MODE
    draws_at_random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice(self.schedule, ("raster", "random"), "schedule")
        check_count(self.starts, "starts", least=1)
        check_count(self.max_steps, "max_steps", least=1)

    def compile(self, model: Network, observed: Sequence[str] = (), targets: Sequence[str] = ()) -> ICMPlan:
        arrays = factor_arrays(model)
        check_no_hidden(model, arrays, self.name)
        size, largest = float(len(arrays.scopes)), float(arrays.table_sizes.max(initial=1))
        cost = Cost(0, largest, BYTES_PER_ENTRY * size, 2.0 * self.starts * size)
        check_memory(cost.bytes, "iterated conditional modes", "take a smaller model", self.memory_limit)
        return ICMPlan(self, cost)


@dataclass(frozen=True, eq=False)
class ICMPlan(EnginePlan):
    """A run of the searches."""

    engine: ICM
    cost: Cost

    def run(self, model: Network, query: Query) -> BestCodes:
        findings = query.findings
        deadline = np.inf if query.budget is None else perf_counter() + query.budget
        generator, arrays = as_generator(query.rng), factor_arrays(model)
        searches = [
            best_search(self.engine, arrays, row, generator, deadline) for row in log_likelihoods(arrays, findings)
        ]
        diagnostics = Diagnostics(
            exact=False,
            converged=all(search.converged for search in searches),
            steps=max((search.num_sweeps for search in searches), default=0),
        )
        codes = np.array([search.codes for search in searches]).reshape(len(searches), arrays.num_nodes)
        logs = np.array([search.log_joint for search in searches])
        return BestCodes(node_scope(model), findings, codes, logs, diagnostics, self.engine.name)


@dataclass(frozen=True, eq=False)
class Search:
    """Where a search ended."""

    codes: np.ndarray  # (node,)
    log_joint: float
    num_sweeps: int
    converged: bool


def best_search(
    engine: ICM, arrays: FactorArrays, log_unary: np.ndarray, rng: np.random.Generator, deadline: float
) -> Search:
    """The best of several searches; the first of those that are equally good."""
    best = climb(engine, arrays, log_unary, best_of_each_node(arrays, log_unary + arrays.single_logs), rng, deadline)
    for _ in range(engine.starts - 1):
        if perf_counter() >= deadline:
            break
        codes = (rng.random(arrays.num_nodes) * arrays.num_states).astype(np.int64)
        other = climb(engine, arrays, log_unary, codes, rng, deadline)
        best = other if other.log_joint > best.log_joint else best
    return best


def best_of_each_node(arrays: FactorArrays, logs: np.ndarray) -> np.ndarray:
    """(node,): the state with the largest log, the earlier of equal ones."""
    if arrays.num_nodes and (arrays.num_states == arrays.num_states[0]).all():
        return logs.reshape(arrays.num_nodes, -1).argmax(axis=1)
    starts = arrays.state_starts
    parts = (logs[start:stop].argmax() for start, stop in pairwise(starts))
    return np.fromiter(parts, dtype=np.int64, count=arrays.num_nodes)


def climb(
    engine: ICM,
    arrays: FactorArrays,
    log_unary: np.ndarray,
    codes: np.ndarray,
    rng: np.random.Generator,
    deadline: float,
) -> Search:
    """Sweep until a sweep changes nothing; `codes` are where the search starts."""
    order, stale, cells = np.arange(arrays.num_nodes), np.ones(arrays.num_nodes, dtype=np.bool_), arrays.cells(codes)
    entries, scopes = arrays.node_entries, (arrays.scope_starts, arrays.scopes)
    num_sweeps, converged = 0, False
    while not converged and num_sweeps < engine.max_steps and (num_sweeps == 0 or perf_counter() < deadline):
        if engine.schedule == "random":
            order = rng.permutation(arrays.num_nodes)
        changes = visit_nodes(
            order, arrays.state_starts, log_unary, arrays.log_values, entries, scopes, cells, codes, stale
        )
        num_sweeps, converged = num_sweeps + 1, changes == 0
    at = log_unary[arrays.state_starts[:-1] + codes]
    return Search(codes, float(arrays.log_values[cells].sum() + at.sum()), num_sweeps, converged)
