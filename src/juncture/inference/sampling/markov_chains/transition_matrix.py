"""The exact kernel of a chain on a small state space, as a matrix: what a sampler does, without any randomness.

S(x, y) is the probability that a sweep leads from x to y. The target is stationary, π S = π; kernels of random scans,
of Metropolis steps and of clusters also satisfy detailed balance, π(x) S(x, y) = π(y) S(y, x), while a cyclic scan of
several blocks does not in general.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.values import Value, format_count, read_only
from juncture.errors import InvalidData, TooLarge, Unsupported
from juncture.evidence import as_findings
from juncture.inference.engines.factor_arrays import factor_arrays, log_likelihoods
from juncture.inference.engines.lowering import check_factors
from juncture.inference.sampling.markov_chains.blocks import Block, BlockTransition, joint_states
from juncture.inference.sampling.markov_chains.gibbs import TreeTransition
from juncture.inference.sampling.markov_chains.metropolis import IndependenceTransition, ProposalTransition
from juncture.inference.sampling.markov_chains.pairs import PairTransition, SpinTransition
from juncture.inference.sampling.markov_chains.start_chains import chain_engine
from juncture.inference.sampling.markov_chains.swendsen_wang import ClusterTransition, cluster_kernel, wolff_kernel
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.kernels.sampling.blocks import METROPOLIS
from juncture.numerics.stable import softmax

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

MOST_STATES = 2**11


class TransitionMatrix(Value):
    """The kernel of a sampler.

    Attributes
    ----------
    names
        The variables that are not observed.
    states
        (state, variable): the codes of the joint states of positive probability.
    matrix
        (state, state): S(x, y), whose rows sum to 1.
    target
        (state,): the posterior probabilities, which the kernel leaves as they are.
    """

    names: tuple[str, ...]
    states: np.ndarray
    matrix: np.ndarray
    target: np.ndarray

    def __init__(self, names: tuple[str, ...], states: np.ndarray, matrix: np.ndarray, target: np.ndarray) -> None:
        self._set(names=names, states=read_only(states), matrix=read_only(matrix), target=read_only(target))

    @property
    def is_reversible(self) -> bool:
        """Whether detailed balance holds, but for rounding."""
        flows = self.target[:, np.newaxis] * self.matrix
        return bool(np.abs(flows - flows.T).max(initial=0.0) < 1e-12)

    @property
    def second_eigenvalue(self) -> float:
        """The largest modulus of an eigenvalue besides 1: errors shrink by it from sweep to sweep."""
        moduli = np.sort(np.abs(np.linalg.eigvals(self.matrix)))[::-1]
        return float(moduli[1]) if len(moduli) > 1 else 0.0

    def __repr__(self) -> str:
        return f"TransitionMatrix({len(self.states)} states of {', '.join(self.names)})"


def transition_matrix(model: Network, evidence: Any = None, *, method: Any = "gibbs") -> TransitionMatrix:
    """The exact kernel of one sweep of a Markov chain engine, on a model with few joint states.

    Parameters
    ----------
    model
        A model whose variables have states, at most 2,048 of them jointly.
    evidence
        One row of evidence.
    method
        "gibbs", "metropolis", "swendsen-wang", or such an engine.

    Returns
    -------
    TransitionMatrix
        With `states`, `matrix`, `target`, `is_reversible` and `second_eigenvalue`.

    Examples
    --------
    >>> import juncture as jt
    >>> kernel = jt.sampling.transition_matrix(jt.ising((1, 2), coupling=1.0), method=jt.Gibbs(scan="random"))
    >>> bool(np.allclose(kernel.target @ kernel.matrix, kernel.target)), kernel.is_reversible
    (True, True)
    """
    engine = chain_engine(method)
    check_factors(model, "transition_matrix")
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData("a transition matrix is that of one row of evidence")
    engine.compile(model)
    arrays = factor_arrays(model)
    target = Target(arrays, log_likelihoods(arrays, findings)[0])
    size = float(np.prod(target.num_allowed.astype(float)))
    if size > MOST_STATES:
        raise TooLarge(f"there are {format_count(int(size))} joint states; a matrix takes at most {MOST_STATES:,}")
    nodes = [int(node) for node in target.free]
    codes = full_codes(target, nodes)
    logs = target.log_joints(codes)
    codes, logs = codes[logs > -np.inf], logs[logs > -np.inf]
    move, _ = engine.transition(model, target, np.arange(arrays.num_nodes))
    matrix = np.linalg.matrix_power(kernel_of(move, codes), engine.thin)
    names = tuple(model.variables.names[node] if node < len(model.variables) else f"hidden {node}" for node in nodes)
    return TransitionMatrix(names, codes[:, nodes], matrix, softmax(logs))


def full_codes(target: Target, nodes: list[int]) -> np.ndarray:
    """(state, node): all joint states that the evidence allows, of all nodes."""
    if not nodes:
        return target.fixed[np.newaxis].copy()
    states = joint_states(target, nodes)
    codes = np.tile(target.fixed, (len(states), 1))
    codes[:, nodes] = states
    return codes


@singledispatch
def kernel_of(move: Any, codes: np.ndarray) -> np.ndarray:
    """(state, state): the kernel of a transition on the joint states (state, node) of positive probability."""
    raise Unsupported(f"the kernel of a {type(move).__name__} is not written out")


@kernel_of.register
def _(move: BlockTransition, codes: np.ndarray) -> np.ndarray:
    parts = [block_kernel(move, move.plain_layout.blocks[index], codes) for index in move.order]
    if not parts:
        return np.eye(len(codes))
    if move.scan == "random":
        return np.linalg.matrix_power(np.mean(parts, axis=0), len(parts))
    return np.linalg.multi_dot(parts) if len(parts) > 1 else parts[0]


def block_kernel(move: BlockTransition, block: Block, codes: np.ndarray) -> np.ndarray:
    """A visit to one block: its nodes are drawn given all others, or another state is proposed and accepted or not."""
    others = np.delete(codes, block.nodes, axis=1)
    groups = np.unique(others, axis=0, return_inverse=True)[1].ravel() if others.shape[1] else np.zeros(len(codes))
    is_same = groups[:, np.newaxis] == groups
    logs = move.power * move.target.log_joints(codes)
    if move.rule != METROPOLIS:
        weights = np.where(is_same, np.exp(logs - logs.max()), 0.0)
        return weights / weights.sum(axis=1, keepdims=True)
    proposed = np.where(is_same, 1.0 / (len(block.digits) - 1), 0.0)
    np.fill_diagonal(proposed, 0.0)
    return accept(proposed, logs)


def accept(proposed: np.ndarray, logs: np.ndarray, labels: Sequence[Any] | None = None) -> np.ndarray:
    """S(x, z) = T(x, z) min(1, π(z) T(z, x) / (π(x) T(x, z))) for z ≠ x; the rest stays."""
    check_both_ways(proposed, labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = logs - logs[:, np.newaxis] + np.log(proposed.T) - np.log(proposed)
    matrix = np.where(proposed > 0, proposed * np.exp(np.minimum(0.0, np.nan_to_num(ratios))), 0.0)
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, np.maximum(1.0 - matrix.sum(axis=1), 0.0))
    return matrix


def check_both_ways(proposed: np.ndarray, labels: Sequence[Any] | None = None) -> None:
    """Raise `InvalidData` where T(x, z) > 0 but T(z, x) = 0."""
    one_way = np.argwhere((proposed > 0) & (proposed.T == 0))
    if len(one_way):
        here, there = one_way[0].tolist() if labels is None else [labels[code] for code in one_way[0]]
        raise InvalidData(
            f"the proposal leads from state {here!r} to state {there!r} and never back: T(x, z) > 0 needs T(z, x) > 0"
        )


@kernel_of.register
def _(move: IndependenceTransition, codes: np.ndarray) -> np.ndarray:
    columns = {name: codes[:, node] for node, name in enumerate(move.model.variables.names)}
    logs = move.proposal.log_joint_of(columns) + move.log_fields(codes)
    shares = np.exp(logs - move.answers.log_evidence[0] - likelihood_scale(move))
    return accept(np.tile(shares, (len(codes), 1)), move.target.log_joints(codes))


def likelihood_scale(move: IndependenceTransition) -> float:
    """The log of what the likelihoods of the evidence were divided by for the proposing model."""
    starts = move.target.arrays.state_starts
    return float(sum(move.target.field[start:stop].max() for start, stop in itertools.pairwise(starts)))


@kernel_of.register
def _(move: ProposalTransition, codes: np.ndarray) -> np.ndarray:
    assignments = [move.decode(one) for one in codes]
    logs = [[move.proposal.log_prob(dict(new), dict(old)) for new in assignments] for old in assignments]
    proposed = np.exp(np.array(logs, dtype=float))
    if proposed.sum(axis=1).max() > 1.0 + 1e-9:
        raise InvalidData("log_prob of the proposal must be normalised for a transition matrix: Σ_z T(x, z) = 1")
    return accept(proposed, move.target.log_joints(codes))


@kernel_of.register
def _(move: PairTransition, codes: np.ndarray) -> np.ndarray:
    order = move.layout.order[: int(move.layout.colour_starts[-1])]
    return kernel_of(single_nodes(move.target, order), codes)


@kernel_of.register
def _(move: TreeTransition, codes: np.ndarray) -> np.ndarray:
    return kernel_of(BlockTransition(move.target, move.forests, move.kept_nodes), codes)


@kernel_of.register
def _(move: SpinTransition, codes: np.ndarray) -> np.ndarray:
    colours = np.indices(move.shape).sum(axis=0).ravel() % 2
    return kernel_of(single_nodes(move.target, np.argsort(colours, kind="stable")), codes)


def single_nodes(target: Target, order: np.ndarray) -> BlockTransition:
    """The transition that draws single nodes in an order."""
    return BlockTransition(target, tuple((int(node),) for node in order), np.arange(target.arrays.num_nodes))


@kernel_of.register
def _(move: ClusterTransition, codes: np.ndarray) -> np.ndarray:
    return wolff_kernel(move, codes) if move.is_single else cluster_kernel(move, codes)
