"""Annealed importance sampling: log Z from particles that cool down from the uniform distribution to the target.

p_β(x) ∝ f(x)^β leads from β = 0, whose normalizer is the number of states, to β = 1. A particle moves by a Gibbs sweep
at each β and collects log w = Σ_t log f_{β_{t+1}}(x_t) - log f_{β_t}(x_t); the mean of w is an unbiased estimate of
Z / Z_0. Zeros of f are small numbers until β = 1, so that particles find their way around them. Neal (2001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.options import as_generator, as_seed
from juncture.base.values import Value, read_only
from juncture.errors import InvalidData
from juncture.evidence import as_findings
from juncture.inference.engines.factor_arrays import factor_arrays, log_likelihoods
from juncture.inference.engines.lowering import check_factors
from juncture.inference.sampling.markov_chains.blocks import BlockLayout, make_block
from juncture.inference.sampling.markov_chains.chains import Chain
from juncture.inference.sampling.markov_chains.pairs import (
    MANY_NODES,
    PairTransition,
    lay_out_pairs,
    takes_pairs,
)
from juncture.inference.sampling.markov_chains.targets import Target, is_refuted
from juncture.kernels.sampling.blocks import GIBBS, sweep_blocks
from juncture.networks.pairwise.model import PairwiseNetwork
from juncture.runtime import parallel

if TYPE_CHECKING:
    from juncture.networks.bayesian_network import Network

PARTICLES, TEMPERATURES = 64, 100
PENALTY = 30.0  # minus the log that stands for a zero, at β = 1
PLACES = 2**20  # of codes in factors that are weighed together


class AnnealedEstimate(Value):
    """An estimate of log Z, or of log p(evidence).

    Attributes
    ----------
    log_evidence
        The log of the mean weight. The mean weight is unbiased, so that its log is on average too small.
    standard_error
        Of `log_evidence`, by the delta method.
    effective_sample_size
        (Σ w)² / Σ w²: how many particles count.
    log_weights
        (particle,).
    seed
        The seed of the particles: `rng=estimate.seed` repeats the estimate.
    """

    log_evidence: float
    standard_error: float
    effective_sample_size: float
    log_weights: np.ndarray
    seed: int | None

    def __init__(self, log_weights: np.ndarray, seed: int | None = None) -> None:
        count, top = len(log_weights), float(log_weights.max(initial=-np.inf))
        weights = np.exp(log_weights - top) if top > -np.inf else np.zeros(count)
        mean = float(weights.mean()) if count else 0.0
        self._set(
            log_evidence=top + float(np.log(mean)) if mean > 0 else -np.inf,
            standard_error=float(weights.std(ddof=1) / (mean * np.sqrt(count))) if mean > 0 and count > 1 else np.inf,
            effective_sample_size=float(weights.sum() ** 2 / (weights**2).sum()) if mean > 0 else 0.0,
            log_weights=read_only(log_weights),
            seed=seed,
        )

    def __repr__(self) -> str:
        return f"AnnealedEstimate({self.log_evidence:.6g} ± {self.standard_error:.2g})"


def annealed_importance_sampling(
    model: Network,
    evidence: Any = None,
    *,
    particles: int = PARTICLES,
    temperatures: int = TEMPERATURES,
    rng: Any = None,
) -> AnnealedEstimate:
    """Estimate log p(evidence), or log Z of an undirected model, by annealed importance sampling.

    Parameters
    ----------
    model
        A model whose variables have states.
    evidence
        One row of evidence.
    particles
        The number of independent particles.
    temperatures
        The number of steps from the uniform distribution to the target: each costs a sweep of each particle. More of
        them make the weights more equal.
    rng
        A seed or a `numpy.random.Generator`.

    Returns
    -------
    AnnealedEstimate
        With `log_evidence`, its `standard_error`, `effective_sample_size` and `log_weights`.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.ising((4, 4), coupling=0.3)
    >>> estimate = jt.sampling.annealed_importance_sampling(model, rng=0)
    >>> abs(estimate.log_evidence - jt.infer(model).log_evidence) < 4 * estimate.standard_error
    True
    """
    check_count(particles, "particles", least=1)
    check_count(temperatures, "temperatures", least=1)
    check_factors(model, "annealed importance sampling")
    findings = as_findings(evidence, model.variables)
    if not findings.is_single:
        raise InvalidData("annealed importance sampling takes one row of evidence; ask once for each row")
    arrays = factor_arrays(model)
    target = Target(arrays, log_likelihoods(arrays, findings)[0])
    seed = as_seed(rng)
    estimate = anneal(model, target, as_generator(seed), particles, temperatures)
    return AnnealedEstimate(estimate.log_weights, seed)


def anneal(
    model: Network,
    target: Target,
    rng: np.random.Generator,
    num_particles: int = PARTICLES,
    num_temperatures: int = TEMPERATURES,
) -> AnnealedEstimate:
    """The estimate for one target."""
    if takes_pairs(model) and target.arrays.num_nodes >= MANY_NODES:
        return anneal_pairs(model, target, rng, num_particles, num_temperatures)
    layout = BlockLayout(tuple(make_block(target, (int(node),)) for node in target.free))
    counts = np.array([len(block.digits) for block in layout.blocks], np.int64)
    if is_refuted(target) or (counts == 0).any():
        return AnnealedEstimate(np.full(num_particles, -np.inf))
    powers = np.linspace(0.0, 1.0, num_temperatures + 1)
    logs = np.where(np.isneginf(target.arrays.log_values), -PENALTY, target.arrays.log_values)
    children = rng.spawn(num_particles)
    size = max(1, PLACES // (num_temperatures * (len(target.arrays.scopes) + 1)))
    log_weights = [
        weigh_paths(target, powers, logs, np.array([anneal_path(target, layout, powers, logs, one) for one in some]))
        for some in (children[part] for part in parallel.blocks_of(num_particles, size))
    ]
    return AnnealedEstimate(float(np.log(counts).sum()) + np.concatenate(log_weights))


def anneal_pairs(
    model: PairwiseNetwork, target: Target, rng: np.random.Generator, num_particles: int, num_temperatures: int
) -> AnnealedEstimate:
    """The estimate for a large pairwise model, whose sweeps are by colours."""
    layout = lay_out_pairs(model, target)
    move, powers = PairTransition(target, layout, np.empty(0, np.int64)), np.linspace(0.0, 1.0, num_temperatures + 1)
    counts = (layout.unary > -np.inf).sum(axis=1)
    if (counts == 0).any():
        return AnnealedEstimate(np.full(num_particles, -np.inf))

    def run(child: np.random.Generator) -> float:
        chain, total = Chain.start(move, child), float(np.log(counts).sum())
        for index, power in enumerate(powers[1:]):
            codes = chain.codes[layout.positions].astype(np.int64)
            value = model.log_joint_of_codes(codes) + target.field[target.arrays.state_starts[:-1] + codes].sum()
            total += float((power - powers[index]) * value)
            move.sweep(chain, index, np.full(1, power))
        return total

    return AnnealedEstimate(np.array(parallel.map(run, rng.spawn(num_particles))))


def anneal_path(
    target: Target, layout: BlockLayout, powers: np.ndarray, logs: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """(temperature, node): where a particle is after each sweep; `powers` are 0, …, 1."""
    codes, nodes = uniform_codes(target, layout, rng), np.arange(target.arrays.num_nodes)
    path = np.empty((len(powers) - 1, len(nodes)), np.int64)
    path[:] = codes
    if len(layout.blocks) and len(path) > 1:
        of_blocks, of_entries, cumulative = layout.arrays
        order = np.arange(len(layout.blocks))[np.newaxis]
        uniforms = rng.random((len(path) - 1, len(layout.blocks)))
        sweep_blocks(
            of_blocks, of_entries, logs, cumulative, order, powers[1:-1].copy(), uniforms, codes, nodes, path[1:], GIBBS
        )
    return path


def weigh_paths(target: Target, powers: np.ndarray, logs: np.ndarray, paths: np.ndarray) -> np.ndarray:
    """(particle,): Σ_t log f_{β_{t+1}}(x_t) - log f_{β_t}(x_t) of paths (particle, temperature, node).

    At β = 1 zeros are zeros.
    """
    values = target.log_joints(paths.reshape(-1, paths.shape[2]), logs).reshape(paths.shape[:2])
    return np.where(target.log_joints(paths[:, -1]) > -np.inf, values @ np.diff(powers), -np.inf)


def uniform_codes(target: Target, layout: BlockLayout, rng: np.random.Generator) -> np.ndarray:
    """(node,): a state of each node, all alike among those that are possible by themselves."""
    codes = np.where(target.fixed < 0, 0, target.fixed)
    _, nodes, starts, _, states, *_ = layout.arrays[0]
    codes[nodes] = states[starts[:-1] + (rng.random(len(nodes)) * np.diff(starts)).astype(np.int64)]
    return codes
