"""Geweke's joint test of every Markov kernel (Geweke 2004).

Observed variables are drawn anew given the others, then the kernel moves the others given the observed ones. The joint
distribution of the model must be stationary: its marginals are known.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

import juncture as jt
from juncture.inference.engines.factor_arrays import factor_arrays
from juncture.inference.sampling.diagnostics import effective_sample_size, standard_error
from juncture.inference.sampling.markov_chains.chains import Chain
from juncture.inference.sampling.markov_chains.targets import Target
from support.samplers import COVERAGE_MODELS, SAMPLERS

CHAINS = [name for name, entry in SAMPLERS.items() if entry.is_chain and entry.has_plain_state]
NUM_OBSERVED = 2
LEVEL = 0.001


class JointChain:
    """A chain that alternates between the observed variables and one sweep of the kernel."""

    def __init__(self, model, engine, rng):
        self.model, self.engine, self.rng = model, engine, rng
        self.arrays = factor_arrays(model)
        self.nodes = np.arange(self.arrays.num_nodes)
        self.observed = self.nodes[len(model.variables) - NUM_OBSERVED : len(model.variables)]
        self.choices = np.array(list(product(*(range(int(self.arrays.num_states[node])) for node in self.observed))))
        self.everything = Target(self.arrays, np.zeros(int(self.arrays.state_starts[-1])))
        self.moves = {}
        start = jt.sample(model, 1, rng=rng, method="exact")
        codes = np.array([start.columns[name][0] for name in model.variables.names], np.int64)
        self.chain = Chain(codes, rng, rng.integers(0, 2**64, 2, dtype=np.uint64))

    def kernel(self, codes):
        """The kernel given these codes of the observed nodes, made once."""
        if codes not in self.moves:
            field = np.zeros(int(self.arrays.state_starts[-1]))
            for node, code in zip(self.observed, codes, strict=True):
                field[self.arrays.state_starts[node] : self.arrays.state_starts[node + 1]] = -np.inf
                field[self.arrays.state_starts[node] + code] = 0.0
            self.moves[codes] = self.engine.transition(self.model, Target(self.arrays, field), self.nodes)[0]
        return self.moves[codes]

    def step(self):
        every = np.repeat(self.chain.codes[np.newaxis], len(self.choices), axis=0)
        every[:, self.observed] = self.choices
        logs = self.everything.log_joints(every)
        weights = np.exp(logs - logs.max())
        chosen = self.rng.choice(len(weights), p=weights / weights.sum())
        self.chain.codes = every[chosen].copy()
        self.kernel(tuple(self.choices[chosen].tolist())).advance(
            self.chain, 1, np.empty((0, len(self.nodes)), np.int64)
        )
        self.chain.num_sweeps += 1
        return self.chain.codes.copy()


def joint_scores(sampler, num_steps, seed):
    """How many standard errors the shares of states are away from their probabilities."""
    model, _ = COVERAGE_MODELS[SAMPLERS[sampler].models[-1]]
    exact = jt.infer(model)
    rngs = np.random.default_rng(seed).spawn(2)
    chains = [JointChain(model, SAMPLERS[sampler].engine, rng) for rng in rngs]
    codes = np.array([[chain.step() for _ in range(num_steps)] for chain in chains])  # (chain, draw, node)
    scores = []
    for column, name in enumerate(model.variables.names):
        for state, value in enumerate(np.asarray(exact[name].values)[:-1]):
            indicator = (codes[:, :, column] == state).astype(float)
            assert effective_sample_size(indicator, "mean") > 100
            scores.append((indicator.mean() - value) / standard_error(indicator))
    return np.array(scores)


@pytest.mark.parametrize("sampler", CHAINS)
def test_the_joint_distribution_is_stationary(sampler):
    scores = joint_scores(sampler, 1200, seed=7)
    assert np.abs(scores).max() < norm.ppf(1 - LEVEL / (2 * len(scores) * len(CHAINS))), scores


@pytest.mark.slow
@pytest.mark.parametrize("sampler", CHAINS)
def test_the_joint_distribution_is_stationary_over_many_steps(sampler):
    scores = joint_scores(sampler, 40_000, seed=8)
    assert np.abs(scores).max() < norm.ppf(1 - LEVEL / (2 * len(scores) * len(CHAINS))), scores
