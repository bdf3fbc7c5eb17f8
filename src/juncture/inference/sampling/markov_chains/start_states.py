"""Where a chain starts: states drawn at random, and if factors have zeros, led to where none of them is zero.

Zeros become small numbers that shrink from sweep to sweep; a chain on the softened target finds states that the target
allows. Where it does not, the junction tree finds one, or shows that there is none. A chain that may not leave the part
of the support where it starts begins at a draw of importance sampling, in proportion to the weights: the parts are met
about as often as they are probable.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from juncture.data.findings import Findings
from juncture.errors import JunctureError, Unsupported
from juncture.inference.factor_arrays import node_scope
from juncture.inference.sampling.markov_chains.targets import Target
from juncture.inference.variational.starts import find_assignment
from juncture.kernels.sampling.blocks import GIBBS, sweep_blocks

PENALTIES = 2.0 ** np.arange(0.0, 6.5, 0.5)
SWEEPS = 10  # at each penalty
ATTEMPTS = 5
WEIGHTED_DRAWS = 500  # of importance sampling
LayoutArrays = tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...], np.ndarray]
ONE = np.ones(1)  # the power of the target itself


def importance_starts(model: Any, findings: Findings, count: int, rng: np.random.Generator) -> np.ndarray | None:
    """(chain, node): starts drawn from weighted draws of the posterior; None where there are none."""
    from juncture.inference.sampling.importance import ImportanceSampling

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            draws = ImportanceSampling(draws=WEIGHTED_DRAWS).draw(model, findings, WEIGHTED_DRAWS, rng)
    except JunctureError:
        return None
    if draws.names != node_scope(model).names:  # conditionals with hidden variables
        return None
    picked = rng.choice(draws.weights.size, count, p=draws.weights.ravel())
    return np.stack([draws[name].reshape(-1)[picked] for name in draws.names], axis=1).astype(np.int64)


def is_refuted(target: Target) -> bool:
    """Whether the evidence leaves a node no state, or a factor of fixed nodes is zero."""
    if (target.num_allowed == 0).any():
        return True
    arrays = target.arrays
    has_free = np.concatenate([[0], np.cumsum(target.fixed[arrays.scopes] < 0)])
    is_fixed = has_free[arrays.scope_starts[1:]] == has_free[arrays.scope_starts[:-1]]
    return bool(np.isneginf(arrays.log_values[target.bases[is_fixed]]).any())


def random_codes(target: Target, uniforms: np.ndarray) -> np.ndarray:
    """(node,): one of the states that the evidence leaves each node, all alike, from uniforms (node,)."""
    allowed = np.flatnonzero(target.field > -np.inf)
    starts = np.concatenate([[0], np.cumsum(target.num_allowed)])[:-1]
    picked = starts + (uniforms * target.num_allowed).astype(np.int64)
    return (allowed[picked] - target.arrays.state_starts[:-1]).astype(np.int64)


def find_start(
    target: Target, layout_arrays: LayoutArrays, num_blocks: int, rng: np.random.Generator, uniforms: np.ndarray
) -> np.ndarray | None:
    """(node,): a state of positive probability, found from that of the uniforms (node,); None if there is none.

    `layout_arrays` are those of a `BlockLayout` without tables of conditional probabilities.
    """
    codes = random_codes(target, uniforms)
    if not target.zero_factors:
        return codes
    of_blocks, of_entries, cumulative = layout_arrays
    orders, nobody, nothing = np.arange(num_blocks)[np.newaxis], np.empty(0, np.int64), np.empty((0, 0), np.int64)
    for _ in range(ATTEMPTS):
        for penalty in PENALTIES:
            logs = np.where(np.isneginf(target.arrays.log_values), -penalty, target.arrays.log_values)
            drawn = rng.random((SWEEPS, num_blocks))
            sweep_blocks(of_blocks, of_entries, logs, cumulative, orders, ONE, drawn, codes, nobody, nothing, GIBBS)
            if target.log_joint(codes) > -np.inf:
                return codes
        codes = random_codes(target, rng.random(len(uniforms)))
    try:
        return find_assignment(target.arrays, target.field, 0)
    except Unsupported as error:
        raise Unsupported(
            "the chain found no state of positive probability to start from: factors have zeros, and the model is too"
            " large for an exact search; observe less, or infer by another method"
        ) from error
