"""The registry of approximate engines, and the small models and evidence of their laws.

A new engine is one entry of `ENGINES`: the laws of `tests/inference/test_approximate_engines.py` hold for it then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import juncture as jt
from juncture.inference.engines.contract import Engine, Question
from juncture.inference.engines.lowering import lower
from juncture.inference.messages.loopy import LoopyBP, MaxProductBP
from juncture.inference.sampling.markov_chains.gibbs import Gibbs


@dataclass(frozen=True)
class ApproximateEngine:
    """An engine with options for small models, and what it promises."""

    engine: Engine
    is_exact_on_trees: bool = False
    is_exact_if_small: bool = False  # also with cycles, where the options allow tables that are large enough
    is_consistent: bool = True  # whether joint beliefs of a factor have the marginals of its variables
    has_lower: bool = False  # a bound of log p(evidence)
    has_upper: bool = False
    takes: Callable[[Any], bool] = lambda model: True  # which models it answers
    draws: bool = False  # whether its answers depend on rng

    def answers(self, question: Question) -> bool:
        return question in self.engine.answers


def has_tables(model: Any) -> bool:
    """Whether no conditional is replaced by factors over hidden variables."""
    return not lower(model).hidden


def has_pairs(model: Any) -> bool:
    """Whether no factor has more than two variables."""
    return all(len(part.scope) <= 2 for part in lower(model).factors)


def is_directed(model: Any) -> bool:
    return isinstance(model, jt.BayesianNetwork)


ENGINES = {
    "loopy": ApproximateEngine(LoopyBP(), is_exact_on_trees=True),
    "loopy flooding": ApproximateEngine(LoopyBP(schedule="flooding"), is_exact_on_trees=True),
    "loopy damped": ApproximateEngine(LoopyBP(damping=0.5, max_steps=500), is_exact_on_trees=True),
    "max-product": ApproximateEngine(MaxProductBP(), is_exact_on_trees=True),
    "mini-bucket": ApproximateEngine(
        jt.MiniBucket(bound=2), has_lower=True, has_upper=True, is_exact_if_small=True, is_consistent=False
    ),
    "bounded-clique-tree": ApproximateEngine(
        jt.BoundedCliqueTree(size=16), is_exact_if_small=True, is_consistent=False
    ),
    "tree-reweighted": ApproximateEngine(
        jt.TreeReweighted(), has_upper=True, is_exact_on_trees=True, is_consistent=False, takes=has_pairs
    ),
    "mean-field": ApproximateEngine(jt.MeanField(), has_lower=True),
    "mean-field starts": ApproximateEngine(jt.MeanField(starts=3, tolerance=1e-6), has_lower=True),
    "mean-field clusters": ApproximateEngine(
        jt.MeanField(clusters=(("x0", "x2"), ("x1",)), tolerance=1e-4),
        has_lower=True,
        takes=lambda model: "x2" in model.variables.names,
    ),
    "likelihood-weighting": ApproximateEngine(jt.LikelihoodWeighting(draws=2000), takes=is_directed, draws=True),
    "importance": ApproximateEngine(jt.ImportanceSampling(draws=2000), draws=True),
    "importance adaptive": ApproximateEngine(jt.ImportanceSampling(draws=1000, proposal="adaptive"), draws=True),
    "cutset": ApproximateEngine(jt.sampling.CutsetSampling(draws=500, width=1), is_exact_if_small=True, draws=True),
    "rejection": ApproximateEngine(jt.RejectionSampling(draws=300, max_tries=30_000), takes=is_directed, draws=True),
    "gibbs": ApproximateEngine(Gibbs(draws=100, chains=2, warmup=20), draws=True),
    "gibbs random scan": ApproximateEngine(Gibbs(draws=400, chains=2, warmup=40, scan="random"), draws=True),
    "gibbs chromatic": ApproximateEngine(Gibbs(draws=200, chains=2, warmup=50, scan="chromatic"), draws=True),
    "metropolis": ApproximateEngine(jt.Metropolis(draws=100, chains=2, warmup=20), draws=True),
    "swendsen-wang": ApproximateEngine(
        jt.SwendsenWang(draws=50, chains=2, warmup=20),
        takes=lambda model: isinstance(model, jt.PairwiseNetwork),
        draws=True,
    ),
    "parallel-tempering": ApproximateEngine(
        jt.sampling.ParallelTempering(draws=20, chains=2, warmup=5, replicas=2), draws=True
    ),
    "icm": ApproximateEngine(jt.ICM(), takes=has_tables),
}


# --- models ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SmallModel:
    """A model, rows of evidence that are possible, and whether its factor graph is a forest."""

    model: Any
    rows: tuple[dict[str, Any], ...]
    is_tree: bool
    has_hidden: bool = False  # whether a conditional is replaced by factors over hidden variables


def variables(*sizes: int) -> list[jt.Variable]:
    return [jt.Variable(f"x{index}", size) for index, size in enumerate(sizes)]


def factor(rng: np.random.Generator, scope: list[jt.Variable], zeros: float = 0.0) -> jt.Factor:
    shape = [variable.num_states for variable in scope]
    values = np.exp(rng.normal(size=shape))
    values[(rng.random(shape) < zeros) & (np.indices(shape).sum(axis=0) > 0)] = 0.0  # all first states stay possible
    return jt.Factor(scope, values)


def tree() -> SmallModel:
    """A tree with factors of three and of one variable, and a variable that no factor has."""
    rng, x = np.random.default_rng(1), variables(2, 3, 2, 2, 4, 1, 3)
    scopes = [[x[0], x[1], x[2]], [x[3], x[2]], [x[2], x[4]], [x[4]], [x[1]], [x[5], x[0]]]
    rows = ({}, {"x4": 2}, {"x0": 1, "x3": [0.2, 0.7]}, {"x6": 1, "x1": [0.0, 1.0, 0.3]})
    return SmallModel(jt.MarkovNetwork([factor(rng, scope) for scope in scopes], x), rows, is_tree=True)


def chain_with_zeros() -> SmallModel:
    rng, x = np.random.default_rng(2), variables(3, 3, 2, 3, 3)
    parts = [factor(rng, [x[0]]), *(factor(rng, [x[i], x[i + 1]], zeros=0.4) for i in range(4))]
    rows = ({}, {"x0": 0, "x4": 0}, {"x2": [1.0, 0.5]}, {"x4": [1.0, 0.0, 0.2]})
    return SmallModel(jt.MarkovNetwork(parts), rows, is_tree=True)


def triangle() -> SmallModel:
    """The Ising triangle of the sources (S0-219): Z = 18."""
    x = variables(2, 2, 2)
    model = jt.MarkovNetwork([jt.Factor([x[i], x[(i + 1) % 3]], [[1, 1], [1, 2]]) for i in range(3)])
    return SmallModel(model, ({}, {"x0": [0.4, 0.6]}, {"x1": [0.9, 0.2], "x2": [1.0, 3.0]}), is_tree=False)


def grid() -> SmallModel:
    """Three by three sites of three states, with attraction and repulsion."""
    rng, x = np.random.default_rng(3), variables(*[3] * 9)
    pairs = [(3 * i + j, 3 * i + j + 1) for i in range(3) for j in range(2)]
    pairs += [(3 * i + j, 3 * i + j + 3) for i in range(2) for j in range(3)]
    parts = [jt.Factor([x[a], x[b]], np.exp(rng.normal(0.0, 0.6) * np.eye(3))) for a, b in pairs]
    parts += [factor(rng, [one]) for one in x]
    return SmallModel(jt.MarkovNetwork(parts), ({}, {"x4": [0.2, 0.5, 0.4]}, {"x0": 2}), is_tree=False)


def wide_factors() -> SmallModel:
    """Factors of up to four variables in cycles, with zeros."""
    rng, x = np.random.default_rng(4), variables(2, 3, 2, 2, 3, 2)
    scopes = [[x[0], x[1], x[2], x[3]], [x[3], x[4], x[0]], [x[4], x[5], x[2]], [x[5]]]
    rows = ({}, {"x5": 0}, {"x1": [1.0, 0.3, 0.6], "x4": 0})
    return SmallModel(jt.FactorGraph([factor(rng, scope, zeros=0.2) for scope in scopes]), rows, is_tree=False)


def asia() -> SmallModel:
    rows = ({}, {"xray": "yes"}, {"dysp": "yes", "smoke": [0.2, 0.8]}, {"either": "no", "asia": "yes"})
    return SmallModel(jt.example("asia"), rows, is_tree=False)


def spins() -> SmallModel:
    """Spins as arrays, that attract and repel each other, in fields."""
    rng = np.random.default_rng(6)
    model = jt.ising((2, 3), rng.normal(0.0, 0.5, 7), rng.normal(0.0, 0.3, (2, 3)))
    return SmallModel(model, ({}, {"x0_0": 1}, {"x1_2": [0.2, 0.9], "x0_1": -1}), is_tree=False)


def noisy() -> SmallModel:
    """Two effects of the same causes; the first has so many that its table is not written out."""
    causes = [jt.Variable(f"c{index}", 2) for index in range(6)]
    fever, cough = jt.Variable("fever", 2), jt.Variable("cough", 2)
    parts = [jt.Conditional(cause, [], [0.8, 0.2]) for cause in causes]
    parts += [jt.NoisyOr(fever, causes, [0.9, 0.5, 0.3, 0.8, 0.6, 0.2], leak=0.05)]
    parts += [jt.NoisyOr(cough, causes[:2], [0.4, 0.7], leak=0.1)]
    rows = ({}, {"fever": 1}, {"fever": 0, "c0": 1}, {"cough": [0.3, 0.9]})
    return SmallModel(jt.BayesianNetwork(parts), rows, is_tree=False, has_hidden=True)


MODELS = {
    build.__name__: build() for build in (tree, chain_with_zeros, triangle, grid, wide_factors, asia, noisy, spins)
}


# --- tables over sixty powers of ten ----------------------------------------------------------------------------------


def wide_factor(rng: np.random.Generator, scope: list[jt.Variable]) -> jt.Factor:
    return jt.Factor(scope, 10.0 ** rng.uniform(-60.0, 0.0, size=[variable.num_states for variable in scope]))


def votes() -> SmallModel:
    """A class, and 240 features that speak for it and against it in turn: no product of the first half is a double."""
    label = jt.Variable("label", 2)
    features = [jt.Variable(f"f{index}", 2) for index in range(240)]
    parts = [jt.Conditional(feature, [label], [[0.9, 0.1], [0.1, 0.9]]) for feature in features]
    row = {feature.name: int(index < 120) for index, feature in enumerate(features)}
    return SmallModel(jt.BayesianNetwork([jt.Conditional(label, [], [0.5, 0.5]), *parts]), (row,), is_tree=True)


def far_ends() -> SmallModel:
    """A chain that copies a state, and takes the second for unlikely; only both ends together say that it is not."""
    x = variables(*[2] * 25)
    parts = [jt.Factor([x[i], x[i + 1]], [[1.0, 0.0], [0.0, 1e-5]]) for i in range(24)]
    return SmallModel(jt.MarkovNetwork(parts), ({"x0": [1e-60, 1.0], "x24": [1e-60, 2.0]},), is_tree=True)


def wide_tree() -> SmallModel:
    rng, x = np.random.default_rng(7), variables(2, 3, 2, 3, 2, 2, 3, 2)
    scopes = [[x[0], x[1]], [x[2], x[1], x[3]], [x[3], x[4]], [x[4], x[5]], [x[5], x[6]], [x[4], x[7]], [x[0]], [x[7]]]
    rows = ({}, {"x6": [1e-60, 1e-30, 1.0], "x0": [1.0, 1e-55]}, {"x3": 1, "x7": [1e-40, 1.0]})
    return SmallModel(jt.MarkovNetwork([wide_factor(rng, scope) for scope in scopes]), rows, is_tree=True)


def wide_cycles() -> SmallModel:
    rng, x = np.random.default_rng(8), variables(2, 3, 2, 2, 3)
    scopes = [[x[i], x[(i + 1) % 5]] for i in range(5)] + [[x[0], x[2], x[4]]]
    rows = ({}, {"x1": 2}, {"x0": 1, "x2": [1e-60, 1.0]})
    return SmallModel(jt.MarkovNetwork([wide_factor(rng, scope) for scope in scopes]), rows, is_tree=False)


def wide_triple() -> SmallModel:
    """A factor of three variables whose sum over one of them leaves the range in which numbers are multiplied."""
    a, b, c, d = variables(2, 2, 2, 2)
    triple = jt.Factor([a, b, c], [[[1.0, 0.5], [0.0, 1e-60]], [[0.2, 0.1], [0.0, 3e-60]]])
    pair = jt.Factor([c, d], [[1.0, 0.3], [1e-80, 4e-80]])
    return SmallModel(jt.MarkovNetwork([triple, pair]), ({}, {"x1": [1e-60, 1.0]}), is_tree=True)


WIDE_MODELS = {build.__name__: build() for build in (votes, far_ends, wide_tree, wide_triple, wide_cycles)}
