"""A few different instances of every kind of value that has to do with sequences; `value_kinds` takes them."""

from __future__ import annotations

import numpy as np

import juncture as jt

JUST_ABOVE = np.nextafter(0.25, 1)
STAY = [[0.25, 0.75], [0.5, 0.5]]
ABOVE = [[JUST_ABOVE, 0.75], [0.5, 0.5]]


def sequences():
    return [
        jt.Sequence([1.0, 2.0]),
        jt.Sequence([1.0, np.nextafter(2.0, 3)]),
        jt.Sequence([1.0, 2.0], states=["a", None]),
        jt.Sequence([1.0, 2.0], states=["a", "b"]),
        jt.Sequence([1.0, 2.0], covariates=[0.5, 0.25]),
        jt.Sequence([1.0, 2.0], weight=2),
        jt.Sequence([[1.0], [2.0]]),
    ]


def hidden_markov_models():
    return [
        jt.HiddenMarkovModel([0.25, 0.75], STAY, STAY),
        jt.HiddenMarkovModel([JUST_ABOVE, 0.75], STAY, STAY),
        jt.HiddenMarkovModel([0.25, 0.75], ABOVE, STAY),
        jt.HiddenMarkovModel([0.25, 0.75], STAY, ABOVE),
        jt.HiddenMarkovModel([0.25, 0.75], STAY, STAY, states=["a", "b"]),
        jt.HiddenMarkovModel([0.25, 0.75], STAY, STAY, symbols=["a", "b"]),
        jt.HiddenMarkovModel([0.25, 0.75], STAY, jt.Gaussian([0.0, 1.0], 1.0)),
        jt.HiddenMarkovModel([0.25, 0.75], STAY, None),
    ]


def markov_chains():
    return [
        jt.MarkovChain(STAY),
        jt.MarkovChain(ABOVE),
        jt.MarkovChain(STAY, 0),
        jt.MarkovChain(STAY, 1),
        jt.MarkovChain(STAY, states=["a", "b"]),
        jt.MarkovChain.uniform(2, order=2),
    ]


def page_ranks():
    links = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")]
    return [jt.page_rank(links), jt.page_rank(links, damping=0.5), jt.page_rank(links[:2])]


def state_spaces():
    return [
        jt.LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0),
        jt.LinearGaussianStateSpace(0.5, 1.0, 0.5, 2.0, 0.0, 1.0),
        jt.LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 1.0, 1.0),
        jt.LinearGaussianStateSpace(np.eye(2), [[1.0, 0.0]], np.eye(2), 2.0, np.zeros(2), np.eye(2)),
    ]


def mixtures():
    return [
        jt.Mixture([0.25, 0.75], jt.Poisson([1.0, 2.0])),
        jt.Mixture([JUST_ABOVE, 0.75], jt.Poisson([1.0, 2.0])),
        jt.Mixture([0.25, 0.75], jt.Poisson([1.0, 3.0])),
        jt.Mixture([0.25, 0.75], jt.Gaussian([1.0, 2.0], 1.0)),
    ]


def gaussian_emissions():
    means = [[0.0, 0.0], [1.0, 1.0]]
    return [
        jt.GaussianEmissions([0.0, 1.0], [1.0, 1.0]),
        jt.GaussianEmissions([0.0, 2.0], [1.0, 1.0]),
        jt.GaussianEmissions(means, np.ones((2, 2)), "diagonal"),
        jt.GaussianEmissions(means, np.ones(2), "spherical"),
        jt.GaussianEmissions(means, np.eye(2), "tied"),
        jt.GaussianEmissions(means, np.array([np.eye(2)] * 2), "full"),
    ]


def categorical_emissions():
    labelled = jt.CategoricalEmissions(STAY, ["a", "b"])
    return [jt.CategoricalEmissions(STAY), jt.CategoricalEmissions(ABOVE), labelled]


def family_emissions():
    return [jt.FamilyEmissions(jt.Poisson([1.0, rate])) for rate in (2.0, 3.0)]


def independent_emissions():
    counts, numbers = jt.FamilyEmissions(jt.Poisson([1.0, 2.0])), jt.GaussianEmissions([0.0, 1.0], [1.0, 1.0])
    orders = ([counts, counts], [counts], [numbers])
    return [jt.IndependentEmissions(parts) for parts in orders]


def mixture_emissions():
    parts = [jt.FamilyEmissions(jt.Poisson([1.0, 2.0, 3.0, last])) for last in (4.0, 5.0)]
    return [
        jt.MixtureEmissions(STAY, parts[0]),
        jt.MixtureEmissions(ABOVE, parts[0]),
        jt.MixtureEmissions(STAY, parts[1]),
    ]


def given_log_likelihoods():
    return [jt.PrecomputedLogLikelihoods(2), jt.PrecomputedLogLikelihoods(3)]


def hidden_markov_priors():
    return [
        jt.HiddenMarkovPrior(),
        jt.HiddenMarkovPrior(initial=1.0),
        jt.HiddenMarkovPrior(transition=1.0),
        jt.HiddenMarkovPrior(emissions=jt.Gamma(2.0, 1.0)),
    ]


def hidden_markov_statistics():
    model = hidden_markov_models()[0]
    paths = ([0, 1, 1], [0, 0, 1], [0, 1])
    return [jt.statistics(model, jt.Sequence([0] * len(path), states=path)) for path in paths]


def markov_chain_statistics():
    chain = jt.MarkovChain(STAY, 0)
    return [jt.statistics(chain, path) for path in ([0, 1, 1], [0, 0, 1], [0, 1])]


KINDS = [
    sequences,
    hidden_markov_models,
    markov_chains,
    page_ranks,
    state_spaces,
    mixtures,
    gaussian_emissions,
    categorical_emissions,
    family_emissions,
    independent_emissions,
    mixture_emissions,
    given_log_likelihoods,
    hidden_markov_priors,
    hidden_markov_statistics,
    markov_chain_statistics,
]
