"""A user's program: `make check` holds it to the types that the verbs promise, and `test_stub.py` runs it."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import juncture as jt
from juncture.inference.most_probable import MostProbable, MostProbableRows
from juncture.sequences.state_space.infer import MostProbableStates

# networks
asia = jt.example("asia")
smoke, lung = jt.Variable("smoke", ["no", "yes"]), jt.Variable("lung", ["no", "yes"])
network = jt.BayesianNetwork(
    [jt.Conditional(smoke, [], [0.5, 0.5]), jt.Conditional(lung, [smoke], [[0.99, 0.01], [0.9, 0.1]])]
)
beliefs = assert_type(jt.infer(model=network, evidence={"lung": "yes"}, targets=["smoke"]), jt.results.Beliefs)
rows = assert_type(jt.sample(network, 20, rng=0), jt.Dataset)
assert_type(jt.most_probable(network, {"lung": "yes"}), MostProbable)
assert_type(jt.most_probable(network, {"lung": "yes"}, k=2), list[MostProbable])
assert_type(jt.most_probable(network, rows), MostProbableRows)
assert_type(jt.fit(network, rows, prior=1.0).model, jt.BayesianNetwork)
assert_type(jt.fit(network.graph, rows, prior=jt.BDeu(1), point="mean").model, jt.BayesianNetwork)
assert_type(jt.estimate(network, jt.statistics(network, rows), prior=1.0), jt.BayesianNetwork)

# hidden Markov models
weather = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"])
several = assert_type(jt.sample(weather, [5, 3], rng=0), list[jt.Sequence])
chain_beliefs = assert_type(jt.infer(weather, [0, 1, 1]), jt.results.ChainBeliefs)
wet = chain_beliefs["state"]["wet"]
assert_type(jt.infer(weather, np.array([0, 1])), jt.results.ChainBeliefs)
assert_type(jt.infer(weather, [0, None, 1]), jt.results.ChainBeliefs)
assert_type(jt.infer(weather, several), list[jt.results.ChainBeliefs])
assert_type(jt.infer(weather, [np.array([0, 1]), np.array([1])]), list[jt.results.ChainBeliefs])
assert_type(jt.infer(weather, np.array([0, 1, 1]), lengths=[2, 1]), list[jt.results.ChainBeliefs])
assert_type(jt.most_probable(weather, [0, 1]), jt.results.MostProbablePath)
assert_type(jt.most_probable(weather, [0, 1], k=2), list[jt.results.MostProbablePath])
drawn = assert_type(jt.sample(weather, 5, rng=0), jt.Sequence)
assert_type(jt.log_prob(weather, drawn), float)
assert_type(jt.fit(weather, several, prior=1.0, point="mean").model, jt.HiddenMarkovModel)
assert_type(jt.online_filter(weather), jt.results.ChainFilter)

# Markov chains
chain = jt.MarkovChain([[0.9, 0.1], [0.5, 0.5]], "sun", states=["sun", "rain"])
assert_type(jt.infer(chain, ["sun", "rain"], method="exact"), jt.results.ChainBeliefs)
assert_type(jt.sample(chain, 4, rng=0), jt.Sequence)
assert_type(jt.fit(chain, jt.sample(chain, [40, 40], rng=0), prior=1.0).model, jt.MarkovChain)

# state spaces
walk = jt.LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0)
assert_type(jt.infer(walk, [0.5, 1.0]), jt.results.StateSpaceBeliefs)
assert_type(jt.most_probable(walk, [0.5, 1.0], method="kalman"), MostProbableStates)
assert_type(jt.sample(walk, 4, rng=0), jt.Sequence)
assert_type(jt.online_filter(walk), jt.results.KalmanFilter)

# mixtures
mixture = jt.Mixture([0.5, 0.5], jt.Gaussian([0.0, 3.0], 1.0))
points = assert_type(jt.sample(mixture, 30, rng=0), jt.Dataset)
assert_type(jt.infer(mixture, points), jt.results.MixtureBeliefs)
assert_type(jt.most_probable(mixture, 1.0), MostProbable)
assert_type(jt.most_probable(mixture, points), MostProbableRows)
assert_type(jt.fit(mixture, points, prior=1.0).model, jt.Mixture)

# namespaces
uncertainty: float = jt.information.entropy([0.5, 0.5], base=2)
assert_type(jt.structure.score(network.graph, rows), float)
assert_type(jt.structure.compare(network.graph, network.graph), jt.structure.GraphComparison)
lomax: jt.families.Lomax = jt.families.Lomax(2.0, 1.0)
graph_fit: jt.results.Fit[jt.BayesianNetwork] = jt.fit(network, rows)
