"""A problem for EM of every kind of model, drawn at random, and its data in two blocks: laws of EM run over all.

A kind of model may have its problem in its entry of `model_kinds.py` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import juncture as jt
from juncture.components.mixture import MixturePrior
from juncture.factors.noisy import NoisyMax
from juncture.latent.factor_analysis.beliefs import Patterns
from juncture.latent.factor_analysis.em import CompleteFactors, FactorData, HoleBlock, IncompleteFactors, moments_of
from juncture.latent.mixtures.expectation import Block
from juncture.latent.mixtures.fit import MixtureProblem
from juncture.learning.conditionals.contract import EstimationOptions, summarise
from juncture.learning.conditionals.noisy import CauseProblem, causes_of
from juncture.learning.networks.expectation import RowBlock
from juncture.learning.networks.problem import NetworkProblem
from juncture.learning.undirected.gaussian import IncompleteNumbers
from juncture.sequences.hidden_markov.fit import HiddenMarkovProblem, SequenceBlock
from juncture.sequences.hidden_markov.options import Groups, LearningOptions
from juncture.sequences.hidden_markov.starts import Starts
from juncture.sequences.markov_chains.fit import GapCounts, MarkovChainProblem
from juncture.sequences.state_space.estimation import StateSpaceOptions
from juncture.sequences.state_space.fit import StateSpaceProblem
from support import model_kinds
from support.learning_oracles import random_tables, with_holes


def network(rng: np.random.Generator) -> tuple[NetworkProblem, list[Any]]:
    model = random_tables(rng, 4)
    return network_problem(model, with_holes(rng, jt.sample(model, 30, rng=rng), 0.3), 1.0, rng)


def gaussian_network(rng: np.random.Generator) -> tuple[NetworkProblem, list[Any]]:
    """A hidden cause of three variables and a child of two of them, from a start that is far off."""
    h, x, y, z, w = (jt.Variable(name) for name in "hxyzw")
    families = [(h, []), (x, [h]), (y, [h]), (z, [h]), (w, [x, y])]

    def line(child: Any, parents: Any, variance: float) -> jt.LinearGaussian:
        return jt.LinearGaussian(child, parents, rng.uniform(0.8, 2.0, len(parents)), rng.normal(), variance)

    model = jt.BayesianNetwork([line(*family, rng.uniform(0.5, 1.0)) for family in families])
    rows = with_holes(rng, jt.sample(model, 30, rng=rng).only(list("xyzw")), 0.2)
    prior = {"y": jt.NormalInverseGamma(0.5, 1.0, 2.0, 1.0)} if rng.random() < 0.5 else None
    return network_problem(jt.BayesianNetwork([line(*family, 4.0) for family in families]), rows, prior, rng)


def hybrid_network(rng: np.random.Generator) -> tuple[NetworkProblem, list[Any]]:
    """States above and beside real variables, all with holes."""
    k, m, x, y = jt.Variable("k", 2), jt.Variable("m", 3), jt.Variable("x"), jt.Variable("y")
    model = jt.BayesianNetwork(
        [
            jt.Conditional(k, [], rng.dirichlet([2, 2])),
            jt.Conditional(m, [k], rng.dirichlet([1, 1, 1], 2)),
            jt.LinearGaussian(x, [k], np.zeros((2, 0)), [-1.0, 2.0], rng.gamma(2.0, size=2)),
            jt.LinearGaussian(y, [m, x], rng.normal(size=(3, 1)), rng.normal(size=3), np.ones(3)),
        ]
    )
    rows, patterns = jt.sample(model, 40, rng=rng), rng.random((4, 3)) < 0.3  # few patterns are quick
    holes = dict(zip(rows.columns, patterns[:, np.arange(40) % 3], strict=True))
    cells = {
        name: [None if hole else cell for hole, cell in zip(holes[name], column, strict=True)]
        for name, column in rows.to_dict().items()
    }
    rows = jt.Dataset(cells, model.variables)
    prior = {"k": 1.0, "y": jt.NormalInverseGamma(0.0, 0.5, 2.0, 1.0)} if rng.random() < 0.5 else None
    return network_problem(model, rows, prior, rng)


def network_problem(model: Any, rows: Any, prior: Any, rng: np.random.Generator) -> tuple[NetworkProblem, list[Any]]:
    problem = NetworkProblem(model, rows, EstimationOptions(prior), frozenset(), True, rng)
    return problem, [RowBlock.of(model, rows.take(part)) for part in (slice(11), slice(11, len(rows)))]


def hidden_markov(rng: np.random.Generator) -> tuple[HiddenMarkovProblem, list[Any]]:
    model = jt.HiddenMarkovModel(
        rng.dirichlet([1, 1]), rng.dirichlet([1, 1], 2), [jt.Gaussian(-1.0, 1.0), jt.Gaussian(2.0, 1.5)]
    )
    drawn = jt.sample(model, [8, 5, 9], rng=rng)
    sequences = model.sequences(drawn)
    options = LearningOptions.of(model, Groups.numbered(range(2)), 0.5, ())
    problem = HiddenMarkovProblem(Starts(model, lambda: iter([sequences]), options, rng), "given")
    first, rest = sequences.take(slice(0, 1)), sequences.take(slice(1, 3))
    return problem, [SequenceBlock(first, 0), SequenceBlock(rest, 1)]


def markov_chain(rng: np.random.Generator) -> tuple[MarkovChainProblem, list[Any]]:
    chain = jt.MarkovChain(rng.dirichlet([1, 1, 1], 3), rng.dirichlet([1, 1, 1]))
    paths = [[None if rng.random() < 0.3 else int(rng.integers(3)) for _ in range(length)] for length in (9, 7)]
    sequences = chain.sequences(paths)
    problem = MarkovChainProblem(chain, GapCounts.of(sequences, 3), EstimationOptions(0.5), rng)
    return problem, [GapCounts.of(sequences.take(part), 3) for part in (slice(0, 1), slice(1, 2))]


def state_space(rng: np.random.Generator) -> tuple[StateSpaceProblem, list[Any]]:
    model = jt.LinearGaussianStateSpace(
        [[0.9, 0.1], [0.0, 0.8]], [[1.0, 0.5]], np.eye(2) * 0.4, [[0.3]], np.zeros(2), np.eye(2)
    )
    sequences = model.sequences(jt.sample(model, [12, 9], rng=rng))
    problem = StateSpaceProblem(model, lambda: iter([sequences]), StateSpaceOptions(frozenset(), {}), rng)
    return problem, [sequences.take(slice(0, 1)), sequences.take(slice(1, 2))]


def mixture(rng: np.random.Generator) -> tuple[MixtureProblem, list[Any]]:
    parts = [jt.MultivariateGaussian(mean, np.eye(2)) for mean in ([0.0, 0.0], [2.0, 1.0])]
    model = jt.Mixture(rng.dirichlet([2, 2]), parts)
    rows = np.asarray(model.sample(40, rng=rng))
    rows[rng.random(rows.shape) < 0.2] = np.nan
    weights = rng.random(40)
    problem = MixtureProblem(model, lambda: iter([Block(rows, weights)]), MixturePrior(1.0), "given", rng)
    return problem, [Block(rows[:13], weights[:13]), Block(rows[13:], weights[13:])]


def factor_rows(rng: np.random.Generator) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model of either kind, rows drawn from factors, and their weights."""
    kind = jt.FactorAnalysis if rng.random() < 0.5 else jt.ProbabilisticPCA
    rows = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 5)) + rng.normal(size=(40, 5)) + 3.0
    return kind.standard(5, 2), rows, rng.uniform(0.5, 2.0, 40)


def factors(rng: np.random.Generator) -> tuple[CompleteFactors, list[Any]]:
    model, rows, weights = factor_rows(rng)
    data = FactorData.of(lambda: iter([(rows, weights)]), 5, keep=True)
    prior = jt.InverseGamma(2.0, 1.0) if rng.random() < 0.5 else None
    halves = [moments_of(rows[half], weights[half]) for half in (slice(13), slice(13, 40))]
    return CompleteFactors(model, data, prior, "random", rng), halves


def factors_with_holes(rng: np.random.Generator) -> tuple[IncompleteFactors, list[Any]]:
    model, rows, weights = factor_rows(rng)
    rows[rng.random(rows.shape) < 0.2] = np.nan
    rows[7] = np.nan  # which changes nothing
    data = FactorData.of(lambda: iter([(rows, weights)]), 5, keep=True)
    prior = jt.InverseGamma(2.0, 1.0) if rng.random() < 0.5 else None
    halves = [HoleBlock(Patterns.of(rows[half]), weights[half]) for half in (slice(13), slice(13, 40))]
    return IncompleteFactors(model, data, prior, "data", rng), halves


def gaussian_graph(rng: np.random.Generator) -> tuple[IncompleteNumbers, list[Any]]:
    graph = jt.UndirectedGraph.parse("a -- b -- c -- d -- a")
    values = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
    values[rng.random(values.shape) < 0.2] = np.nan
    rows = jt.Dataset(dict(zip("abcd", values.T, strict=True)), weights=rng.uniform(0.5, 2.0, 40))
    whole, *halves = (
        IncompleteNumbers(some, graph, 1e-12, 1000) for some in (rows, rows.take(slice(13)), rows.take(slice(13, 40)))
    )
    return whole, [block for half in halves for block in half.blocks()]


def noisy_causes(rng: np.random.Generator) -> tuple[CauseProblem, list[Any]]:
    parents, child = [jt.Variable(f"p{index}", 2) for index in range(2)], jt.Variable("y", 3)
    part = NoisyMax(child, parents, [rng.dirichlet(np.ones(3), 2) for _ in parents], rng.dirichlet(np.ones(3)))
    model = jt.BayesianNetwork([*(jt.Conditional(p, [], [0.5, 0.5]) for p in parents), part])
    rows = jt.sample(model, 50, rng=rng)
    halves = [summarise(part, rows.take(half)) for half in (slice(20), slice(20, 50))]
    return CauseProblem(summarise(part, rows), causes_of(part)), halves


PROBLEMS: dict[str, Callable[[np.random.Generator], tuple[Any, list[Any]]]] = {
    **{name: problem for name, make in model_kinds.KINDS.items() if (problem := make().em_problem) is not None},
    "network": network,
    "Gaussian network": gaussian_network,
    "hybrid network": hybrid_network,
    "hidden Markov": hidden_markov,
    "Markov chain": markov_chain,
    "state space": state_space,
    "mixture": mixture,
    "Gaussian graph": gaussian_graph,
    "factors": factors,
    "factors with holes": factors_with_holes,
    "noisy causes": noisy_causes,
}
