"""A few different instances of every kind of value of latent variables, for the laws of `test_values`."""

from __future__ import annotations

import juncture as jt

ROWS = [[0.0, 1.0], [1.0, 0.5], [2.0, 4.0], [5.0, 1.0]]
OTHERS = [[0.0, 1.0], [1.0, 0.5], [2.0, 4.0], [5.0, 2.0]]


def factor_analyses():
    return [
        jt.FactorAnalysis([[1.0], [2.0]], [0.0, 0.0], [1.0, 1.0]),
        jt.FactorAnalysis([[1.0], [2.0]], [0.0, 0.0], [1.0, 2.0]),
        jt.FactorAnalysis([[1.0], [2.5]], [0.0, 0.0], [1.0, 1.0]),
    ]


def probabilistic_pcas():
    return [
        jt.ProbabilisticPCA([[1.0], [2.0]], [0.0, 0.0], 1.0),
        jt.ProbabilisticPCA([[1.0], [2.0]], [0.0, 1.0], 1.0),
    ]


def independent_components():
    return [
        jt.IndependentComponents([[2.0, 1.0], [0.5, -1.0]], [0.0, 1.0]),
        jt.IndependentComponents([[2.0, 1.0], [0.5, -1.0]], [0.0, 2.0]),
        jt.IndependentComponents([[2.0, 1.0], [0.5, -1.5]], [0.0, 1.0]),
    ]


def independent_factors():
    return [
        jt.IndependentFactors([[1.0], [2.0]], [0.0, 0.0], 1.0),
        jt.IndependentFactors([[1.0], [2.0]], [0.0, 0.0], 2.0),
        jt.IndependentFactors([[1.0], [2.0]], [0.0, 0.0], 1.0, jt.Gaussian(0.0, 1.0)),
    ]


def topic_models():
    return [
        jt.LatentDirichletAllocation([[0.5, 0.5], [0.25, 0.75]], 0.5),
        jt.LatentDirichletAllocation([[0.5, 0.5], [0.25, 0.75]], 0.25),
        jt.LatentDirichletAllocation([[0.5, 0.5], [0.25, 0.75]], 0.5, ["a", "b"]),
    ]


def principal_components():
    return [
        jt.clusters.principal_components(rows, 1, center=center) for rows in (ROWS, OTHERS) for center in (True, False)
    ]


def dimension_choices():
    return [jt.clusters.choose_dimension(rows) for rows in (ROWS, OTHERS)]


def clusters():
    return [jt.clusters.k_means(rows, 2, start=rows[:2]) for rows in (ROWS, OTHERS)]


def discriminative_clusters():
    return [jt.clusters.discriminative_clusters(rows, 2, start=rows[:2]) for rows in (ROWS, OTHERS)]


def cluster_choices():
    return [jt.clusters.choose_num_clusters(rows, 2, penalty=1.0, restarts=0, rng=0) for rows in (ROWS, OTHERS)]


def dendrograms():
    return [jt.clusters.hierarchical_clusters(rows) for rows in (ROWS, OTHERS)]


def boltzmann_machines():
    weights = ([[1.0], [2.0]], [[1.0], [2.5]])
    return [jt.RestrictedBoltzmannMachine(one, [0.0, 0.5], [0.1]) for one in weights]


def deep_belief_networks():
    return [jt.neural.DeepBeliefNetwork.random([2, 2, 1], scale=1.0, rng=seed) for seed in (0, 1)]


def deep_boltzmann_machines():
    return [jt.neural.DeepBoltzmannMachine.random([2, 2, 1], scale=1.0, rng=seed) for seed in (0, 1)]


def autoencoders():
    return [jt.neural.Autoencoder.random(2, 1, rng=seed) for seed in (0, 1)]


def variational_autoencoders():
    return [jt.neural.VariationalAutoencoder.random(2, 1, rng=seed) for seed in (0, 1)]


def helmholtz_machines():
    return [jt.neural.HelmholtzMachine.random(2, 1, rng=seed) for seed in (0, 1)]


KINDS = [
    independent_components,
    independent_factors,
    autoencoders,
    variational_autoencoders,
    helmholtz_machines,
    deep_belief_networks,
    deep_boltzmann_machines,
    boltzmann_machines,
    factor_analyses,
    probabilistic_pcas,
    topic_models,
    principal_components,
    dimension_choices,
    clusters,
    discriminative_clusters,
    cluster_choices,
    dendrograms,
]
