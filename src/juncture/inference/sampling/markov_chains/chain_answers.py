"""`ChainAnswers`: the answers of Markov chains: shares of the draws, with standard errors from the chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import ClassVar, Protocol, cast

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import NotConvergedWarning, Unsupported, warn_user
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Diagnostics, Engine, Request
from juncture.inference.engines.expected import names_of, sum_rows
from juncture.inference.factor_arrays import FactorArrays
from juncture.inference.sampling.markov_chains.chain_diagnostics import (
    HIGH_R_HAT,
    LEAST_SIZE,
    ChainErrors,
    worst_r_hat,
    worst_size,
)
from juncture.values import few
from juncture.variables import Scope


class RowEvidence(Protocol):
    """What estimates log p(evidence)."""

    def estimate(self, row: int) -> float: ...


@dataclass(frozen=True, eq=False)
class ChainAnswers:
    """Codes of some nodes from chains, (row, chain, draw, node); NaN answers for rows that are impossible."""

    arrays: FactorArrays
    scope: Scope  # of all nodes
    findings: Findings
    nodes: np.ndarray  # whose codes were kept
    draws: np.ndarray  # (row, chain, draw, node)
    is_possible: np.ndarray  # (row,)
    diagnostics: Diagnostics
    engine_name: str
    evidence: RowEvidence  # of each row
    checks_itself: ClassVar[bool] = False

    @cached_property
    def log_evidence(self) -> np.ndarray:
        """(row,): estimates by annealed importance sampling, made when they are first asked for."""
        rows = enumerate(self.is_possible)
        return np.array([self.evidence.estimate(row) if possible else -np.inf for row, possible in rows])

    @cached_property
    def columns(self) -> dict[int, int]:
        """Node → its column in `draws`."""
        return {int(node): column for column, node in enumerate(self.nodes)}

    def marginal(self, names: tuple[str, ...]) -> np.ndarray:
        return self.shares([self.scope.axis(name) for name in names])

    def shares(self, nodes: Sequence[int]) -> np.ndarray:
        """(row, state of the first node, …): how often the chains were in each joint state."""
        shape = [int(self.arrays.num_states[node]) for node in nodes]
        num_rows, size = len(self.draws), prod(shape)
        cells = np.zeros(self.draws.shape[:3], np.int64)
        for node, num_states in zip(nodes, shape, strict=True):
            cells = cells * num_states + self.draws[..., self.columns[node]]
        cells += size * np.arange(num_rows)[:, np.newaxis, np.newaxis]
        counts = np.bincount(cells.ravel(), minlength=num_rows * size).reshape(num_rows, size)
        shares = counts / (self.draws.shape[1] * self.draws.shape[2])
        shares[~self.is_possible] = np.nan
        return shares.reshape(num_rows, *shape)

    @cached_property
    def node_beliefs(self) -> np.ndarray:
        """(row, state of all nodes), where all nodes were kept."""
        sizes = self.arrays.num_states
        if len(sizes) and (sizes == sizes[0]).all() and np.array_equal(self.nodes, np.arange(len(sizes))):
            shares = np.stack([(self.draws == state).mean(axis=(1, 2)) for state in range(sizes[0])], axis=-1)
            shares[~self.is_possible] = np.nan
            return shares.reshape(len(self.draws), -1)
        return np.concatenate([self.shares([node]) for node in range(self.arrays.num_nodes)], axis=1)

    def expected(self, requests: Sequence[Request], weights: np.ndarray) -> list[list[np.ndarray]]:
        counted = np.where(self.is_possible, weights, 0.0)
        return [[sum_rows(table, counted) for table in self.tables_of(request)] for request in requests]

    def tables_of(self, request: Request) -> list[np.ndarray]:
        """The shares over the factors that a conditional became, or over a factor of the model."""
        if isinstance(request, Factor):
            return [self.marginal(names_of(request))]
        group = self.arrays.groups[request.child.name]
        return [self.shares(self.arrays.scope(factor).tolist()) for factor in range(group.start, group.stop)]

    def best(self, targets: tuple[str, ...], count: int) -> tuple[np.ndarray, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} does not answer mode")

    def sample(self, num_rows: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
        raise Unsupported(f"the engine {self.engine_name!r} draws by jt.sample(model, n, method={self.engine_name!r})")


def diagnose(
    draws: np.ndarray,
    names: tuple[str, ...],
    sizes: np.ndarray,
    is_free: np.ndarray,
    is_single: bool,
    engine: Engine | None,
    is_irreducible: bool | None,
) -> Diagnostics:
    """R-hat, effective sample size and standard errors of codes (row, chain, draw, node).

    `is_free` (row, node) says where a node has several states; others have no error.
    """
    r_hat, size = worst_r_hat(draws), worst_size(draws)
    is_known = size is not None and not np.isnan(r_hat)
    converged = is_known and r_hat <= HIGH_R_HAT and size >= LEAST_SIZE * draws.shape[1] and is_irreducible is not False
    return Diagnostics(
        exact=False,
        converged=bool(converged),
        steps=draws.shape[2],
        standard_errors=ChainErrors(draws, names, sizes, is_free, is_single, size),
        effective_sample_size=size,
        r_hat=None if np.isnan(r_hat) else r_hat,
        engine=engine,
    )


def without_stuck(diagnostics: Diagnostics, is_stuck: np.ndarray) -> Diagnostics:
    """The diagnostics where some variables (row, node) are stuck in a mode: these have no effective draws."""
    if not is_stuck.any():
        return diagnostics
    errors = replace(cast(ChainErrors, diagnostics.standard_errors), is_stuck=is_stuck)
    return replace(diagnostics, converged=False, effective_sample_size=0.0, standard_errors=errors)


def warn_of_chains(diagnostics: Diagnostics, is_irreducible: bool | None, name: str) -> None:
    """A `NotConvergedWarning` where chains disagree, are too short, or may not reach every state."""
    if is_irreducible is not True:
        what = "cannot" if is_irreducible is False else "may not"
        warn_user(
            f"factors have zeros, and the chains of {name!r} {what} reach every state from where they start: give"
            " blocks= of variables that change together, or infer by another method",
            NotConvergedWarning,
        )
    if diagnostics.converged or is_irreducible is False:
        return
    if diagnostics.effective_sample_size == 0.0:
        warn_user(
            f"the chains of {name!r} are stuck in one mode: {few(map(repr, stuck_names(diagnostics)))} never changed,"
            " and another state is about as probable where others change with it; give blocks= of variables that"
            " change together, or infer by another method",
            NotConvergedWarning,
        )
        return
    if diagnostics.r_hat is None or diagnostics.effective_sample_size is None:
        reason = "a chain has fewer than 4 draws"
    else:
        reason = f"R-hat is {diagnostics.r_hat:.3g}, the effective sample size {diagnostics.effective_sample_size:.0f}"
    warn_user(
        f"the chains of {name!r} have not converged ({reason}): standard errors are not to be trusted; ask for more"
        " draws= and warmup=",
        NotConvergedWarning,
    )


def stuck_names(diagnostics: Diagnostics) -> list[str]:
    errors = cast(ChainErrors, diagnostics.standard_errors)
    return [
        name for node, name in enumerate(errors.names) if errors.is_stuck is not None and errors.is_stuck[:, node].any()
    ]
