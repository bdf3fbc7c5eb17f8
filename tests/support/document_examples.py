"""Models of every kind that a JSON file can hold.

A kind without examples of its own here has those of its entry in `model_kinds.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import juncture as jt
from juncture.components.shared import SharedEmissions
from juncture.formats.json import MODELS
from support import classifier_kinds, linear_kinds, model_kinds, regression_kinds, sequence_kinds, tree_kinds
from support.emission_examples import EMISSIONS, random_hidden_markov
from support.family_examples import EXAMPLES

SMALLEST, LARGEST = 5e-324, float(np.finfo(np.float64).max)
ODD_STATES = ["", "1", 1, 2.5, True, float("inf"), float("-inf"), -(10**30), "a\nb", "é😀"]


def hidden_markov_models() -> list[Any]:
    rng = np.random.default_rng(14)
    nested = jt.MixtureEmissions(
        [[0.25, 0.75]] * 2, jt.IndependentEmissions([four(), jt.FamilyEmissions(four_rates())])
    )
    emissions = [
        nested,
        SharedEmissions(jt.MixtureEmissions([[0.5, 0.5]], jt.FamilyEmissions(jt.Poisson([1, 2]))), [0, 0]),
    ]
    point = np.eye(len(ODD_STATES))
    return [
        *sequence_kinds.hidden_markov_models(),
        *(random_hidden_markov(rng, kind) for kind in EMISSIONS),
        *(jt.HiddenMarkovModel([1 - SMALLEST, SMALLEST], np.eye(2), each) for each in emissions),
        jt.HiddenMarkovModel([0.5, 0.5], np.eye(2), jt.Gaussian([-LARGEST, SMALLEST], [SMALLEST, LARGEST])),
        jt.HiddenMarkovModel(point[0], point, point, states=ODD_STATES, symbols=ODD_STATES),
    ]  # fmt: skip


def four() -> jt.GaussianEmissions:
    return jt.GaussianEmissions([0.0, 1.0, 2.0, 3.0], [1.0, 0.5, 0.25, 2.0])


def four_rates() -> Any:
    return jt.Poisson([1.0, 2.0, 3.0, 4.0])


def markov_chains() -> list[Any]:
    rng = np.random.default_rng(4)
    third = jt.MarkovChain(
        rng.dirichlet(np.ones(2), (2, 2, 2)), rng.dirichlet(np.ones(8)).reshape(2, 2, 2), states=["a", "b"], order=3
    )
    return [
        *sequence_kinds.markov_chains(),
        third,
        third.to_first_order(),
        jt.MarkovChain(rng.dirichlet(np.ones(3), (3, 3)), order=2),
        jt.MarkovChain([[1.0, SMALLEST], [0.0, 1.0]], [SMALLEST, 1.0], states=[float("inf"), -0.0]),
        jt.MarkovChain([[1.0]]),
    ]


def state_spaces() -> list[Any]:
    rng = np.random.default_rng(5)
    roots = rng.normal(size=(4, 2, 2))
    varying = jt.LinearGaussianStateSpace(
        rng.normal(size=(4, 2, 2)),
        rng.normal(size=(3, 2)),
        roots @ np.swapaxes(roots, 1, 2),
        np.stack([np.eye(3) * (step + 1) for step in range(5)]),
        rng.normal(size=2),
        np.zeros((2, 2)),
        input_to_state=rng.normal(size=(2, 1)),
        input_to_observation=rng.normal(size=(5, 3, 1)),
        transition_offset=rng.normal(size=(4, 2)),
        observation_offset=rng.normal(size=3),
    )
    extreme = jt.LinearGaussianStateSpace(-LARGEST, SMALLEST, SMALLEST, LARGEST, LARGEST, 0.0)
    return [*sequence_kinds.state_spaces(), varying, extreme]


def mixtures() -> list[Any]:
    rng = np.random.default_rng(6)
    kinds = [jt.Mixture([0.25, 0.5, 0.25], EMISSIONS[kind](rng, 3)) for kind in EMISSIONS]
    odd = jt.Mixture([1 - SMALLEST, SMALLEST], [jt.Gaussian(), jt.StudentT(3.0)])
    return [*sequence_kinds.mixtures(), *kinds, odd, odd.with_feature_names(["é😀\n"])]


def families() -> list[Any]:
    columns = jt.Independent([jt.Gaussian([0.0, 1.0], 1.0), jt.Poisson(3.0), jt.Dirichlet([1.0, 0.1])])
    return [
        *(member for members in EXAMPLES.values() for member in members),
        columns,
        jt.Independent([columns]),
        *posteriors(),
    ]


def linear_factors() -> list[Any]:
    rng = np.random.default_rng(9)
    loadings, mean = rng.normal(size=(4, 2)), [0.0, -1.0, 1e300, SMALLEST]
    return [
        jt.FactorAnalysis(loadings, mean, rng.gamma(2.0, size=4)),
        jt.ProbabilisticPCA(loadings, mean, 1e-290),
        jt.FactorAnalysis([[0.0]], [1.0], [2.0]),
        jt.FactorAnalysis([[0.0]], [1.0], [2.0]).with_feature_names(["größe"]),
    ]


def conditional_random_fields() -> list[Any]:
    rng = np.random.default_rng(7)
    moves = np.array([[0.5, -np.inf, SMALLEST], [-1e10, 0.0, 1.0], [2.0, -3.0, 0.25]])
    return [
        jt.ConditionalRandomField(["a", 1, True], ["x", "größe"], rng.normal(size=(2, 3)), moves),
        jt.ConditionalRandomField(2),
    ]


def posteriors() -> list[Any]:
    """Priors that have seen data, which they remember."""
    return [
        jt.Gamma(2.0, 1.0).posterior(jt.Poisson.statistics([1, 2, 4])),
        jt.Beta([1.0, 2.0], 3.0).posterior(jt.Binomial.statistics([1, 2], trials=5)),
        jt.Dirichlet([1.0, 1.0, 2.0]).posterior(jt.Categorical.statistics([0, 2], num_states=3)),
        jt.Gaussian(0.0, 4.0).posterior(jt.Gaussian.statistics([1.0, 2.0], variance=0.1)),
        jt.NormalInverseWishart([0.0, 1.0], 0.5, 5.0, np.eye(2)).posterior(
            jt.MultivariateGaussian.statistics([[0.5, 1.0], [2.0, -1.0]])
        ),
    ]


def networks() -> list[Any]:
    return [jt.example("asia"), jt.example("asia").to_markov_network(), jt.example("fuel").to_factor_graph()]


def pairwise_networks() -> list[Any]:
    rng = np.random.default_rng(8)
    triangle = jt.UndirectedGraph([("a", "b"), ("b", "größe"), ("größe", "a")], nodes=["alone"])
    hard = jt.PairwiseNetwork([[0.0, -np.inf], [SMALLEST, 1e9]], [[1, 0]], [[0.0, -np.inf], [1.0, 2.0]], states=["", 1])
    return [
        jt.ising((3, 4), 0.4, 0.1),
        jt.ising((3, 4), rng.normal(size=17), rng.normal(size=(3, 4)), values=(0, 1)),
        jt.ising(triangle, 0.5).with_elimination_order(["a", "b", "größe", "alone"]),
        jt.potts((2, 2, 2), 3, 1.0, rng.normal(size=(2, 2, 2, 3))),
        jt.ising(jt.UndirectedGraph(), 1.0),
        jt.ising((1, 1), np.empty(0)),
        hard,
    ]


def boltzmann_machines() -> list[Any]:
    kinds = ("bernoulli", "gaussian", "softmax")
    return [jt.RestrictedBoltzmannMachine.random(3, 2, kind, num_states=3, rng=seed) for seed, kind in enumerate(kinds)]


def deep_models() -> list[Any]:
    kinds = (jt.neural.DeepBeliefNetwork, jt.neural.DeepBoltzmannMachine)
    return [kind.random([3, 2, 2], scale=1.0, rng=seed) for seed, kind in enumerate(kinds)]


def autoencoders() -> list[Any]:
    kinds = (
        jt.neural.VariationalAutoencoder.random(3, 2, kind, hidden=[2], rng=0) for kind in ("gaussian", "bernoulli")
    )
    return [jt.neural.Autoencoder.random(3, 1, hidden=[4, 2], rng=0), jt.neural.Autoencoder.random(1, 1, rng=1), *kinds]


def helmholtz_machines() -> list[Any]:
    return [jt.neural.HelmholtzMachine.random(3, 2, scale=1.0, rng=0)]


def topic_models() -> list[Any]:
    topics = np.random.default_rng(0).dirichlet(np.ones(3), 2)
    return [
        jt.LatentDirichletAllocation(topics, [0.1, 2.5], ["größe", "a b", "1"]),
        jt.LatentDirichletAllocation(topics, 0.1),
        jt.LatentDirichletAllocation([[1.0]], 1e-300, [True]),
    ]


def decision_networks() -> list[Any]:
    odd = jt.Variable("odd", ODD_STATES)
    one = jt.DecisionNetwork([jt.Decision(odd, []), jt.Utility([odd], np.linspace(-1.0, 1.0, len(ODD_STATES)))])
    return [jt.example("oil"), one]


REGRESSIONS = (
    "LinearRegression", "BayesianLinearRegression", "ConjugateLinearRegression", "LogisticRegression",
    "LaplaceLogistic", "GeneralizedLinearModel",
)  # fmt: skip
LINEAR_CLASSIFIERS = (
    "Hyperplane", "MaximumMargin", "OneVersusRest", "AllPairs", "OrderedClassifier", "ThresholdNetwork",
)  # fmt: skip


def supervised_models(name: str) -> list[Any]:
    """The examples of one class."""
    models = [*regression_kinds.documents(), *linear_kinds.documents()]
    return [model for model in models if type(model).__name__ == name]


OWN: dict[str, Callable[[], list[Any]]] = {
    "networks": networks,
    "PairwiseNetwork": pairwise_networks,
    "HiddenMarkovModel": hidden_markov_models,
    "ConditionalRandomField": conditional_random_fields,
    "MarkovChain": markov_chains,
    "LinearGaussianStateSpace": state_spaces,
    "Mixture": mixtures,
    "FactorAnalysis": linear_factors,
    "ProbabilisticPCA": linear_factors,
    "RestrictedBoltzmannMachine": boltzmann_machines,
    "DeepBeliefNetwork": deep_models,
    "DeepBoltzmannMachine": deep_models,
    "Autoencoder": autoencoders,
    "VariationalAutoencoder": autoencoders,
    "HelmholtzMachine": helmholtz_machines,
    "LatentDirichletAllocation": topic_models,
    "GenerativeClassifier": classifier_kinds.documents,
    **{name: partial(supervised_models, name) for name in (*REGRESSIONS, *LINEAR_CLASSIFIERS)},
    "DecisionTree": tree_kinds.documents,
    "RandomForest": tree_kinds.random_forests,
    "decisions": decision_networks,
    "families": families,
}
OTHERS = {
    name: partial(model_kinds.models_of, entries)
    for name, entries in model_kinds.entries_by_class().items()
    if name not in {*OWN, *MODELS, "EnergyModel"}  # its energy is a function
}
KINDS: dict[str, Callable[[], list[Any]]] = {**OWN, **OTHERS}
