"""`ChainAnswers`: the answers of Markov chains: shares of the draws, with standard errors from the chains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Protocol, cast

import numpy as np

from juncture.base.values import few
from juncture.data.findings import Findings
from juncture.errors import NotConvergedWarning, Unsupported, warn_user
from juncture.factors.factor import Factor
from juncture.inference.engines.contract import Answers, Diagnostics, Engine, Request, names_of, sum_rows
from juncture.inference.engines.factor_arrays import FactorArrays
from juncture.inference.sampling.diagnostics import LEAST_DRAWS, effective_sample_size, split_chains
from juncture.variables import Scope


class RowEvidence(Protocol):
    """What estimates log p(evidence)."""

    def estimate(self, row: int) -> float: ...


@dataclass(frozen=True, eq=False)
class ChainAnswers(Answers):
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

    def possible_evidence(self) -> np.ndarray:
        return np.where(self.is_possible, 0.0, -np.inf)

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


HIGH_R_HAT = 1.05  # above it, chains disagree
LEAST_SIZE = 25  # effective draws a chain, below which standard errors are not to be trusted
MEMORY = 4.0  # autocorrelation times, after which batches of draws are about independent
MOST_NODES = 32  # whose effective sample size is computed: those of the largest R-hat


def indicator_r_hat(codes: np.ndarray, num_states: int) -> np.ndarray:
    """(state, node): the R-hat of the indicators, from codes (chain, draw, node)."""
    halves = split_chains(codes)
    num_draws = halves.shape[1]
    values = []
    for state in range(num_states):
        shares = (halves == state).mean(axis=1)
        within = (shares * (1.0 - shares)).mean(axis=0) * num_draws / (num_draws - 1.0)
        between = num_draws * shares.var(axis=0, ddof=1)
        is_still = within == 0.0
        ratios = np.divide(between, within, out=np.full_like(within, np.inf), where=~is_still)
        ratios[is_still & (between == 0.0)] = 1.0
        values.append(np.sqrt((ratios + num_draws - 1.0) / num_draws))
    return np.array(values)


def worst_r_hat(draws: np.ndarray) -> float:
    """The largest R-hat of a state's indicator, from codes (row, chain, draw, node); NaN of fewer than 4 draws."""
    if draws.shape[2] < LEAST_DRAWS:
        return float("nan")
    num_states = int(draws.max(initial=0)) + 1
    return max((float(indicator_r_hat(row, num_states).max(initial=1.0)) for row in draws), default=1.0)


def worst_size(draws: np.ndarray) -> float | None:
    """The smallest effective sample size of a state's indicator, one of each of the nodes whose R-hat is largest."""
    if draws.shape[2] < LEAST_DRAWS or not draws.size:
        return None
    num_states = int(draws.max(initial=0)) + 1
    sizes = []
    for row in draws:
        values = indicator_r_hat(row, num_states)
        states = values.argmax(axis=0)
        nodes = np.argsort(values.max(axis=0))[::-1][:MOST_NODES]
        states = states[nodes]
        sizes.append(effective_sample_size((row[:, :, nodes] == states).astype(float), "mean").min())
    return float(min(sizes))


def standard_errors(codes: np.ndarray, num_states: int, least_size: float | None = None) -> np.ndarray:
    """(state,): standard errors of the shares of the states, from codes (chain, draw) of one variable.

    √(p (1 - p) / ESS), with half a draw of each kind added to the effective ones: a state that was never drawn has a
    standard error too. States that were always or never drawn have the least effective sample size of the others, and
    at most `least_size`, that of the slowest variable. What depends a little on a slow variable has small correlations
    over many draws, which are lost in the noise of its own effective sample size: its error is at least that of the
    means of batches that are long enough for the slowest variable.
    """
    indicators = (codes[:, :, np.newaxis] == np.arange(num_states)).astype(float)
    shares = indicators.mean(axis=(0, 1))
    if codes.shape[1] < LEAST_DRAWS:
        return np.full(num_states, np.inf)
    sizes = effective_sample_size(indicators, "mean")
    is_seen = (shares > 0) & (shares < 1)
    sizes[~is_seen] = sizes[is_seen].min(initial=codes.size if least_size is None else min(least_size, codes.size))
    smoothed = (shares * sizes + 0.5) / (sizes + 1.0)
    errors = np.sqrt(smoothed * (1.0 - smoothed) / sizes)
    return errors if least_size is None else np.maximum(errors, batch_errors(indicators, least_size))


def batch_errors(indicators: np.ndarray, least_size: float) -> np.ndarray:
    """(state,): standard errors of means of (chain, draw, state), from batches of the slowest variable's memory."""
    num_chains, num_draws, num_states = indicators.shape
    memory = MEMORY * num_chains * num_draws / max(least_size, 1.0)
    length = int(min(max(1, np.ceil(memory)), num_draws // 2))
    count = num_draws // length
    batches = indicators[:, num_draws - count * length :].reshape(num_chains * count, length, num_states).mean(axis=1)
    return np.asarray(batches.std(axis=0, ddof=1) / np.sqrt(len(batches)))


@dataclass(frozen=True, eq=False)
class ChainErrors(Mapping[str, np.ndarray]):
    """Name → the standard errors of the shares of its states, (state,) or (row, state), computed when asked for."""

    draws: np.ndarray  # (row, chain, draw, node)
    names: tuple[str, ...]
    sizes: np.ndarray  # (node,): numbers of states
    is_free: np.ndarray  # (row, node): whether the node has several states; others have no error
    is_single: bool
    least_size: float | None  # that of the slowest variable
    is_stuck: np.ndarray | None = None  # (row, node): whether nothing is known of the error

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.names:
            raise KeyError(name)
        node = self.names.index(name)
        rows = np.array(
            [standard_errors(row[:, :, node], int(self.sizes[node]), self.least_size) for row in self.draws]
        )
        rows[~self.is_free[:, node]] = 0.0
        if self.is_stuck is not None:
            rows[self.is_stuck[:, node]] = np.inf
        return np.asarray(rows[0] if self.is_single else rows)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
