"""Arguments that public callables take: by the call, by the parameter's name, and an instance of every public class."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

import juncture as jt
from juncture.formats.uai_results import Result
from support import decision_kinds, linear_kinds, regression_kinds, tree_kinds, value_kinds
from support.evaluation_examples import EVALUATION
from support.supervised_examples import SUPERVISED

TEMPORARY = tempfile.TemporaryDirectory()
FOLDER = Path(TEMPORARY.name)
ASIA = jt.example("asia")
A, B = jt.Variable("a", ["n", "y"]), jt.Variable("b", ["n", "y"])
NET = jt.BayesianNetwork([jt.Conditional(A, [], [0.4, 0.6]), jt.Conditional(B, [A], [[0.9, 0.1], [0.3, 0.7]])])
FIELD = jt.MarkovNetwork([jt.Factor([A], [1.0, 2.0]), jt.Factor([A, B], [[1.0, 2.0], [3.0, 1.0]])])
TREE = jt.FactorGraph(FIELD.factors)
EMPTY = jt.FactorGraph([])
DECIDE = jt.DecisionNetwork([NET["a"], jt.Decision(B, [A]), jt.Utility([A, B], [[0, -1], [-9, -2]], name="worth")])
JOINT = jt.Factor([A, B], [[0.36, 0.04], [0.18, 0.42]])
GRAPH = jt.DirectedGraph([("a", "b")])
UNDIRECTED = jt.UndirectedGraph([("a", "b")])
PATH = jt.UndirectedGraph([("a", "b"), ("b", "c")])
HMM = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
NORMAL_HMM = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], jt.Gaussian([0.0, 3.0], 1.0))
CHAIN = jt.MarkovChain([[0.9, 0.1], [0.2, 0.8]], 0)
TAGGER = jt.ConditionalRandomField(["n", "v"], ["x", "y"], [[0.5, 0.0], [0.0, 1.0]])
SENTENCE = [{"x": 1.0}, {"y": 2.0}]
MIXTURE = jt.Mixture([0.25, 0.75], jt.Poisson([1.0, 20.0]))
MACHINE = jt.RestrictedBoltzmannMachine.random(3, 2, rng=0)
SPACE = jt.LinearGaussianStateSpace(0.9, 1.0, 0.5, 2.0, 0.0, 1.0)
ROWS = {"a": ["n", "y", "y", "n", "y", "n", "y", "y"], "b": ["n", "y", "n", "n", "y", "y", "y", "n"]}
COUNTS = jt.statistics(GRAPH, ROWS)
REALS = {"u": [1.0, 2.0, 4.0, 8.0, 3.0, 5.0], "v": [1.5, 2.0, 4.5, 7.0, 3.5, 4.0]}
X, Y = np.array([[0, 1], [1, 0], [1, 1], [0, 0], [2, 1]] * 3), np.array([0, 1, 1, 0, 1] * 3)
STEPS = [0, 1, 1, 0, 1, 1]
BELL = value_kinds.bell
GAUSSIAN, WIDER = jt.Gaussian(0.0, 1.0), jt.Gaussian(1.0, 2.0)
DRAWS = jt.sampling.Draws({"a": [[0, 1, 1, 0, 1], [1, 1, 0, 0, 0]]}, [A])
WALK = jt.sampling.ParticleModel(
    initial=lambda n, rng: np.zeros(n),
    transition=lambda states, time, rng: states + rng.normal(size=len(states)),
    log_observation=lambda y, states, time: -(states**2),
    log_transition=lambda later, earlier, time: -((later - earlier) ** 2) / 2,
)
MATRIX = [[2.0, 0.5], [0.5, 1.0]]
INDEPENDENT = jt.Independent([GAUSSIAN, jt.Bernoulli(0.25)])
jt.results.write_result(Result("PR", (-1.0,)), FOLDER / "result")
jt.write(NET, FOLDER / "net.bif")
NET["b"].to_csv(FOLDER / "b.csv")
jt.write_evidence({"a": "y"}, NET, FOLDER / "net.evid")

TABLED = ("Conditional", "Deterministic", "NoisyOr", "NoisyMax", "Logistic")  # conditionals that have a table
NETWORK_CLASSIFIERS = ("BayesianNetworkClassifier", "TreeAugmentedNaiveBayes")
GENERATIVE_CLASSIFIERS = (
    "ExponentialFamilyClassifier",
    "LinearDiscriminantAnalysis",
    "NaiveBayes",
    "QuadraticDiscriminantAnalysis",
)
VARIANCE = {"family": jt.Gaussian, "known": {"mean": 0.0}}

VERBS: dict[str, list[dict[str, Any]]] = {
    "infer": [
        {"model": EMPTY},
        {"model": NET, "evidence": {"a": "y"}},
        {"model": NET, "evidence": [{"a": "y"}, {}], "targets": ["b"]},
        {"model": FIELD, "evidence": {"a": "y"}, "method": "variable-elimination"},
        {"model": HMM, "evidence": STEPS},
        {"model": CHAIN, "evidence": STEPS},
        {"model": TAGGER, "evidence": SENTENCE},
        {"model": MIXTURE, "evidence": STEPS},
        {"model": SPACE, "evidence": [1.0, 2.0]},
    ],
    "most_probable": [
        {"model": EMPTY, "k": 2},
        {"model": NET, "evidence": {"a": "y"}, "k": 2},
        {"model": TREE, "evidence": [{"a": "y"}, {}]},
        {"model": HMM, "evidence": STEPS, "k": 2},
        {"model": CHAIN, "evidence": STEPS},
        {"model": TAGGER, "evidence": SENTENCE},
        {"model": MIXTURE, "evidence": STEPS},
        {"model": SPACE, "evidence": [1.0, 2.0]},
    ],
    "sample": [
        {"model": EMPTY, "n": 2, "rng": 0},
        {"model": NET, "n": 2, "given": {"a": "y"}, "rng": 0},
        {"model": FIELD, "n": 2, "rng": 0},
        {"model": HMM, "n": 3, "rng": 0},
        {"model": CHAIN, "n": 3, "rng": 0},
        {"model": TAGGER, "n": 3, "given": SENTENCE, "rng": 0},
        {"model": MIXTURE, "n": 3, "rng": 0},
        {"model": SPACE, "n": 3, "rng": 0},
    ],
    "answer_blocks": [
        {"verb": jt.log_prob, "model": NET, "data": ROWS},
        {"verb": jt.infer, "model": HMM, "data": {"key": [1, 1, 2], "x": [0, 1, 1]}, "group": "key"},
    ],
    "log_prob": [
        {"model": EMPTY, "rows": {}},
        {"model": NET, "rows": ROWS},
        {"model": FIELD, "rows": {"a": "y"}},
        {"model": HMM, "rows": STEPS},
        {"model": HMM, "rows": {"key": [1, 1, 2], "x": [0, 1, 1], "s": [0, 0, 1]}, "group": "key", "states": "s"},
        {"model": CHAIN, "rows": STEPS},
        {"model": TAGGER, "rows": (SENTENCE, ["n", "v"])},
        {"model": MIXTURE, "rows": STEPS},
        {"model": SPACE, "rows": [1.0, 2.0]},
    ],
    "fit": [
        {"structure": GRAPH, "data": ROWS},
        {"structure": NET, "data": ROWS, "prior": 1.0},
        {"structure": NET, "data": {"a": ["n", None, "y"], "b": ["n", "y", "y"]}},
        {"structure": NORMAL_HMM, "data": [0.0, 3.0, 0.5, 2.5, 0.1, 3.0]},
        {"structure": FIELD, "data": ROWS, "penalty": jt.L2(1.0)},
        {"structure": CHAIN, "data": STEPS},
        {"structure": TAGGER, "data": (SENTENCE, ["n", "v"]), "penalty": jt.L2(1.0)},
        {"structure": SPACE, "data": [1.0, 2.0, 1.5, 1.0], "method": jt.ExpectationMaximization(max_steps=2)},
    ],
    "statistics": [
        {"structure": GRAPH, "data": ROWS},
        {"structure": FIELD, "data": ROWS},
        {"structure": HMM, "data": jt.Sequence(STEPS, states=STEPS)},
        {"structure": CHAIN, "data": STEPS},
    ],
    "estimate": [
        {"structure": GRAPH, "statistics": COUNTS},
        {"structure": FIELD, "statistics": jt.statistics(FIELD, ROWS)},
        {"structure": HMM, "statistics": jt.statistics(HMM, jt.Sequence(STEPS, states=STEPS))},
        {"structure": CHAIN, "statistics": jt.statistics(CHAIN, STEPS)},
    ],
    "online_filter": [{"model": HMM, "lag": 1}, {"model": SPACE, "lag": 1}],
}

CALLS: dict[str, list[dict[str, Any]]] = (
    VERBS
    | SUPERVISED
    | EVALUATION
    | regression_kinds.CALLS
    | decision_kinds.CALLS
    | linear_kinds.CALLS
    | tree_kinds.CALLS
    | {
        "alpha_divergence": [
            {"p": GAUSSIAN, "q": WIDER, "alpha": 0.5},
            {"p": [0.5, 0.5], "q": [0.9, 0.1], "alpha": 0.5},
        ],
        "alpha_projection": [{"p": GAUSSIAN, "family": jt.Laplace, "alpha": 0.5}],
        "plot": [{"value": GAUSSIAN}],
        "compare": [{"learned": GRAPH, "truth": GRAPH, "data": ROWS}],
        "strengths": [{"data": ROWS, "samples": 2}],
        "elbo": [{"model": NET, "q": {"a": [0.5, 0.5], "b": [0.5, 0.5]}}],
        "marginal_polytope": [{"model": FIELD}],
        "monte_carlo": [{"function": np.cos, "sampler": GAUSSIAN, "n": 10}],
        "importance_variance_bound": [{"p": GAUSSIAN, "q": WIDER, "largest": 1.0, "n": 10}],
        "importance_estimate": [{"function": np.cos, "log_target": lambda x: -x * x, "proposal": GAUSSIAN, "n": 10}],
        "inverse_transform": [{"n": 3, "probabilities": [0.5, 0.5]}],
        "rejection_sample": [{"log_density": lambda x: -x * x, "proposal": WIDER, "log_bound": 5.0, "n": 3}],
        "slice_sample": [{"log_density": lambda x: -x * x, "start": 0.0, "n": 3, "warmup": 2}],
        "infer_posterior": [
            {"model": NET, "posterior": jt.families.posterior(GRAPH, COUNTS), "evidence": {"a": "y"}, "draws": 3},
        ],
        "expectation_propagation": [{"prior": GAUSSIAN, "log_likelihood": lambda u, i: -u * u, "design": [1.0, 2.0]}],
        "ConditionalRandomField.sequences": [{"data": [[1.0, 0.0], [0.0, 1.0]]}],
        "Factor.from_logs": [{"scope": [A], "log_values": [0.0, -1.0]}],
        "factorizes": [{"joint": JOINT, "graph": GRAPH}, {"joint": JOINT, "graph": UNDIRECTED}],
        "markov_violations": [{"joint": JOINT, "graph": GRAPH}, {"joint": JOINT, "graph": UNDIRECTED}],
        "independence_test": [{"data": ROWS, "a": "a", "b": "b"}, {"data": REALS, "a": "u", "b": "v"}],
        "laplace_approximation": [{"log_joint": BELL, "start": 0.5}],
        "laplace_evidence": [{"log_joint": -1.0, "information": MATRIX}],
        "learn_structure": [{"data": ROWS}, {"data": REALS}, {"data": ROWS, "method": "pc"}],
        "max_entropy": [{"points": [0, 1, 2], "features": lambda x: x, "moments": 1.2}],
        "max_entropy_density": [{"features": lambda x: x, "moments": 0.7, "low": 0.0}],
        "max_entropy_table": [{"margins": [jt.Factor([A], [0.5, 0.5]), jt.Factor([B], [0.25, 0.75])]}],
        "posterior": [{"structure": GRAPH, "statistics": COUNTS}],
        "BayesianNetwork.parse": [
            {"graph": "a -> b", "tables": {"a": {"n": 0.5, "y": 0.5}, "b": {"n": [0.5, 0.5], "y": [0.1, 0.9]}}},
        ],
        "BayesianNetwork.random": [{"graph": "a -> b", "states": {"a": 3}, "rng": 0}],
        "Conditional.from_csv": [{"path": FOLDER / "b.csv", "child": B, "parents": [A]}],
        **{f"{kind}.to_csv": [{"path": FOLDER / "table.csv"}] for kind in TABLED},
        "quadrature_posterior": [{"prior": jt.Beta(2.0, 2.0), "likelihood": jt.Bernoulli, "data": [1, 0, 1]}],
        "sensitivity": [{"model": NET, "evidence": {"b": "y"}, "target": ("a", "y")}],
        "initial_hidden_markov": [{"data": [0.0, 3.0, 0.5, 2.5, 0.1, 3.0], "states": 2}],
        "score": [{"graph": GRAPH, "data": ROWS}],
        "to_bayesian_network": [{"model": FIELD}, {"model": EMPTY}],
        "sum_product": [{"graph": TREE, "evidence": {"a": "y"}}, {"graph": EMPTY}],
        "max_product": [{"graph": TREE, "evidence": {"a": "y"}}, {"graph": EMPTY}],
        "draw": [
            {"model": NET, "beliefs": jt.infer(NET)},
            {"model": CHAIN},
            {"model": EMPTY},
            {"model": NET, "beliefs": jt.most_probable(NET)},
            {"model": jt.most_probable(NET, k=2)},
        ],
        "cost": [{"model": NET, "observed": ["a"], "targets": ["b"], "verb": "most_probable"}, {"model": EMPTY}],
        "compile": [{"model": NET, "observed": ["a"], "targets": ["b"]}, {"model": EMPTY}],
        "woodbury_inverse": [{"factor": [[1.0], [2.0]]}],
        "read_evidence": [{"path": FOLDER / "net.evid", "model": NET}],
        "entropy": [{"p": [0.5, 0.5]}, {"p": GAUSSIAN}, {"p": JOINT, "of": "a"}],
        "cross_entropy": [{"p": [0.5, 0.5], "q": [0.9, 0.1]}, {"p": GAUSSIAN, "q": WIDER}],
        "kl_divergence": [
            {"p": [0.5, 0.5], "q": [0.9, 0.1]},
            {"p": GAUSSIAN, "q": jt.Laplace()},
            {"p": NET, "q": NET},
        ],
        "redundancy": [{"p": [0.5, 0.5], "q": [0.9, 0.1]}],
        "missingness": [{"data": {"a": [1, None], "b": [1, 2]}}],
        "plate": [{"name": "n", "n": 2, "build": lambda i: jt.Conditional(jt.Variable(f"x{i}", 2), [], [0.5, 0.5])}],
        "Conditional": [{"child": B, "parents": [A], "values": [[0.9, 0.1], [0.3, 0.7]]}],
        "Deterministic": [
            {"child": B, "parents": [A], "function": [0, 1]},
            {"child": B, "parents": [A], "function": lambda *states: "y"},
        ],
        "NoisyOr": [{"child": B, "parents": [A], "probabilities": [0.5]}],
        "NoisyMax": [{"child": B, "parents": [A], "tables": [[[1, 0], [0.25, 0.75]]]}],
        "Logistic": [{"child": B, "parents": [A], "weights": [0.5]}],
        "LinearGaussian": [{"child": jt.Variable("u"), "parents": [jt.Variable("v")], "coefficients": [0.5]}],
        "Constant": [{"child": jt.Variable("u"), "value": 2.0}],
        "GaussianFactor": [{"scope": [jt.Variable("u")], "loading": [0.5], "precision": [[2.0]], "log_scale": 0.0}],
        "Beliefs.mixture": [],
        "RealMarginal": [{"name": "x", "weights": [0.25, 0.75], "means": [0.0, 4.0], "variances": [1.0, 0.0]}],
        "Factor": [{"scope": [A, B], "values": [[1, 2], [3, 4]]}],
        "BayesianNetwork": [{"conditionals": NET.conditionals, "tied": [], "plates": []}],
        "BayesianNetwork.from_joint": [{"joint": JOINT, "along": ["a", "b"]}, {"joint": JOINT, "along": GRAPH}],
        "DecisionNetwork": [{"parts": DECIDE.parts}],
        "DecisionNetwork.with_part": [{"parts": (jt.Utility([A], [0, 1], name="worth"),)}],
        "DecisionNetwork.with_policy": [{"policy": {"b": "y"}}, {"policy": jt.optimal_policy(DECIDE)}],
        "DecisionNetwork.__getitem__": [{"name": "b"}],
        "DecisionNetwork.variable": [{"name": "b"}],
        "Decision": [{"variable": B, "parents": [A]}],
        "Utility": [{"parents": [A], "values": [0.0, -1.0], "name": "worth"}],
        "Utility.with_name": [{"name": "worth"}],
        "Utility.__getitem__": [{"states": ("y", "n")}],
        "DecisionRule": [{"variable": B, "parents": [A], "codes": [0, 1], "utilities": [[0.0, 1.0], [2.0, 3.0]]}],
        "DecisionRule.__getitem__": [{"states": "y"}],
        "Policy": [{"rules": jt.optimal_policy(DECIDE).rules, "expected_utility": 1.0}],
        "Policy.__getitem__": [{"name": "b"}],
        "optimal_policy": [{"network": DECIDE, "evidence": {"a": "y"}}, {"network": DECIDE, "no_forgetting": False}],
        "value_of_information": [
            {"model": NET, "target": "a", "candidates": ["b"], "costs": {"b": 0.1}},
            {"model": DECIDE.with_part(jt.Decision(B)), "evidence": {}},
        ],
        "next_question": [{"model": NET, "target": "a", "candidates": ["b"], "costs": {"b": 0.1}}],
        "InformationValues.__getitem__": [{"name": "b"}],
        "expected_utility": [{"network": DECIDE, "policy": {"b": "y"}, "evidence": {"a": "y"}}],
        "MarkovNetwork": [{"factors": FIELD.factors, "variables": [B]}],
        "FactorGraph": [{"factors": FIELD.factors, "variables": [B]}],
        "IndependentComponents": [{"loadings": [[2.0, 1.0], [0.5, -1.0]], "offset": [1.0, 2.0]}],
        "IndependentFactors": [{"loadings": [[1.0], [0.5]], "noise": [0.5, 1.0], "mean": [0.0, 1.0]}],
        "DiscriminativeClusters.predict": [{"rows": [[0.0, 1.0]]}],
        "DiscriminativeClusters.predict_proba": [{"rows": [[0.0, 1.0]]}],
        "RestrictedBoltzmannMachine": [
            {
                "weights": [[1.0, -0.5], [-1.0, 2.0], [0.5, 0.3]],
                "visible_bias": [0.0, 0.3, -0.4],
                "hidden_bias": [0.2, -0.1],
            }
        ],
        "RestrictedBoltzmannMachine.random": [{"num_visible": 3, "num_hidden": 2, "visible": "gaussian"}],
        "RestrictedBoltzmannMachine.free_energy": [{"rows": [1, 0, 1]}],
        "RestrictedBoltzmannMachine.hidden_probabilities": [{"rows": [1, 0, 1]}],
        "Autoencoder": [{"encoder": [([[1.0], [0.5]], [0.0])], "decoder": [([[1.0, 0.5]], [0.0, 0.1])]}],
        "Autoencoder.random": [{"num_columns": 3, "num_codes": 2}],
        "Autoencoder.encode": [{"rows": [[1.0, 2.0]]}],
        "Autoencoder.decode": [{"codes": [[1.0]]}],
        "Autoencoder.reconstruction_error": [{"rows": [[1.0, 2.0]]}],
        "Autoencoder.maximizing_input": [{"unit": 0}],
        "VariationalAutoencoder": [
            {
                "encoder": [([[1.0, 0.0], [0.5, 0.1]], [0.0, -1.0])],
                "decoder": [([[1.0, 0.5]], [0.0, 0.1])],
                "noise": 0.5,
            }
        ],
        "VariationalAutoencoder.random": [{"num_columns": 3, "num_latent": 2}],
        "VariationalAutoencoder.encode": [{"rows": [[1.0, 2.0]]}],
        "VariationalAutoencoder.decode": [{"codes": [[1.0]]}],
        "VariationalAutoencoder.log_ratios": [{"rows": [[1.0, 2.0]], "draws": 3}],
        "VariationalAutoencoder.bound": [{"rows": [[1.0, 2.0]], "particles": 2, "draws": 4}],
        "HelmholtzMachine": [
            {
                "weights": [[1.0], [0.5]],
                "visible_bias": [0.0, 0.2],
                "hidden_bias": [0.1],
                "recognition_weights": [[1.0], [0.5]],
                "recognition_bias": [0.3],
            }
        ],
        "HelmholtzMachine.random": [{"num_visible": 3, "num_hidden": 2}],
        "HelmholtzMachine.recognize": [{"rows": [[1, 0]]}],
        "DeepBeliefNetwork": [
            {"weights": [[[1.0], [0.5]], [[-1.0]]], "biases": [[0.0, 0.2], [0.1], [0.3]], "recognition": [[0.2]]}
        ],
        "DeepBeliefNetwork.random": [{"sizes": [3, 2, 2]}],
        "DeepBoltzmannMachine": [{"weights": [[[1.0], [0.5]], [[-1.0]]], "biases": [[0.0, 0.2], [0.1], [0.3]]}],
        "DeepBoltzmannMachine.random": [{"sizes": [3, 2, 2]}],
        "DeepBeliefs.__getitem__": [{"name": "h1_0"}],
        "BoltzmannBeliefs.__getitem__": [{"name": "h0"}],
        "SourceBeliefs.__getitem__": [{"name": "sources"}],
        "EncodedBeliefs.__getitem__": [{"name": "z"}],
        "EnergyModel": [
            {"energy": lambda x, theta: theta[0] * x**2, "gradient": lambda x, _: x[:, None] ** 2, "parameters": [0.5]}
        ],
        "PairwiseNetwork": [
            {"log_unary": [[0.0, 1.0], [0.0, 0.0]], "edges": [[0, 1]], "log_pairwise": [[1.0, 0.0], [0.0, 1.0]]}
        ],
        "PairwiseNetwork.marginalize": [{"names": ("x0_0",)}],
        "PairwiseNetwork.clamp": [{"values": [[-1, 1], [1, 1]]}],
        "PairwiseNetwork.encode": [{"values": [[-1, 1], [1, 1]]}],
        "PairwiseNetwork.log_joint": [{"assignment": [[-1, 1], [1, 1]]}],
        "PairwiseNetwork.energy": [{"assignment": [[-1, 1], [1, 1]]}],
        "PairwiseNetwork.add_log_likelihoods": [{"log_likelihoods": [[[0.0, 1.0]] * 2] * 2}],
        "PairwiseNetwork.with_elimination_order": [{"order": ["x0_0", "x0_1", "x1_0", "x1_1"]}],
        "PairwiseNetwork.variable": [{"name": "x0_0"}],
        "ising": [
            {"graph": (2, 2), "coupling": 0.5, "field": 0.1},
            {"graph": UNDIRECTED, "coupling": {("a", "b"): 1.0}},
        ],
        "potts": [{"graph": (2, 2), "num_states": 3, "coupling": 0.5, "field": [0.0, 1.0, 0.5]}],
        "ising_parameters": [{"model": jt.ising((2, 2), 0.5)}],
        "magnetization": [{"model": jt.ising((2, 2), 0.5)}],
        "denoising_field": [{"image": [[-1, 1], [1, 1]]}],
        "flip_noise": [{"image": [[-1, 1], [1, 1]], "probability": 0.1}],
        "segment": [{"image": [[0.0, 0.1, 2.0], [0.2, 2.1, 2.2]], "emissions": 2}],
        "MarkovNetwork.from_energies": [{"energies": [([A], [0.5, 1.0])]}],
        "MarkovNetwork.from_features": [{"features": [([A], [0.5, 1.0], 0.3)]}],
        "Conditional.from_joint": [{"joint": JOINT, "child": "a", "parents": ["b"]}],
        "HiddenMarkovModel": [
            {"initial": HMM.initial, "transition": HMM.transition, "emissions": [[0.7, 0.3], [0.1, 0.9]]}
        ],
        "LinearGaussianStateSpace": [
            dict.fromkeys(list(inspect.signature(jt.LinearGaussianStateSpace).parameters)[:6], 1.0)
        ],
        "MarkovChain": [{"transition": CHAIN.transition, "initial": "u", "states": ["u", "v"]}],
        "MarkovChain.metropolis": [{"target": [1.0, 3.0], "proposal": CHAIN.transition}],
        "Mixture": [{"weights": [0.25, 0.75], "components": jt.Poisson([1.0, 2.0])}],
        "choose_components": [{"template": MIXTURE, "data": [1.0, 2.0, 20.0, 22.0], "numbers": [1, 2]}],
        "chinese_restaurant": [{"num_customers": 4, "concentration": 1.0}],
        "expected_tables": [{"num_customers": 4, "concentration": 1.0}],
        "MixtureBeliefs.purity": [{"classes": [0, 1, 0, 1, 0, 1]}],
        "GaussianEmissions": [{"mean": [0.0, 1.0], "covariance": [1.0, 1.0]}],
        "CategoricalEmissions": [{"probabilities": [[0.25, 0.75], [0.5, 0.5]]}],
        "FamilyEmissions": [{"family": jt.Poisson([1.0, 2.0])}],
        "IndependentEmissions": [{"parts": [jt.FamilyEmissions(jt.Poisson([1.0, 2.0]))]}],
        "FactorAnalysis": [{"loadings": [[1.0], [2.0]], "mean": [0.0, 1.0], "noise": [1.0, 2.0]}],
        "ProbabilisticPCA": [{"loadings": [[1.0], [2.0]], "mean": [0.0, 1.0], "noise": 1.0}],
        "LatentDirichletAllocation": [
            {"topics": [[0.5, 0.5], [0.25, 0.75]], "concentration": 0.5, "words": ["a", "b"]}
        ],
        "LatentDirichletAllocation.standard": [{"num_topics": 2, "words": 2}],
        "left_to_right": [
            {"model": jt.LatentDirichletAllocation.standard(2, 2), "counts": [1, 0], "particles": 2, "rng": 0}
        ],
        "TopicBeliefs.__getitem__": [{"name": "shares"}],
        "principal_components": [{"data": [[0.0, 1.0], [1.0, 0.5], [2.0, 4.0]], "num_components": 1}],
        "k_means": [{"data": [[0.0], [1.0], [9.0]], "num_clusters": 2, "restarts": 0}],
        "choose_num_clusters": [{"data": [[0.0], [1.0], [9.0]], "most": 2, "restarts": 0}],
        "k_medoids": [{"dissimilarities": [[0.0, 1.0], [1.0, 0.0]], "num_clusters": 1}],
        "hierarchical_clusters": [{"data": [[0.0], [1.0], [9.0]]}],
        "Clusters.predict": [{"rows": [[0.0]]}],
        "Clusters.purity": [{"classes": ["a", "a", "b"]}],
        "Dendrogram": [{"merges": [[0.0, 1.0, 1.0, 2.0]]}],
        "Dendrogram.cut": [{"num_clusters": 2}],
        "PrincipalComponents.project": [{"rows": [[0.0, 1.0]]}],
        "PrincipalComponents.reconstruct": [{"rows": [[0.0, 1.0]]}],
        "PrincipalComponents.synthesize": [{"scores": [[0.0]]}],
        "scree": [{"components": jt.clusters.principal_components([[0.0, 1.0], [1.0, 0.5], [2.0, 4.0]], 1)}],
        "topics": [{"model": jt.LatentDirichletAllocation.standard(2, 2)}],
        "loadings": [{"model": jt.FactorAnalysis.standard(2, 1)}],
        "discriminative_clusters": [{"data": [[0.0], [1.0], [9.0]], "num_clusters": 2, "restarts": 0}],
        "steps": [
            {
                "fitted": jt.clusters.k_means([[0.0, 1.0], [1.0, 3.0], [9.0, 2.0]], 2, rng=0, history=True),
                "data": [[0.0, 1.0], [1.0, 3.0], [9.0, 2.0]],
            }
        ],
        "dendrogram": [{"tree": jt.clusters.hierarchical_clusters([[0.0], [1.0], [9.0]])}],
        "choose_dimension": [{"data": [[0.0, 1.0], [1.0, 0.5], [2.0, 4.0], [1.0, 1.0]]}],
        "RestrictedBoltzmannMachine.gibbs": [{"v": X}],
        "FactorAnalysis.inverse_transform": [{"X": [[0.5]]}],
        "ProbabilisticPCA.inverse_transform": [{"X": [[0.5]]}],
        "FactorBeliefs.__getitem__": [{"name": "factors"}],
        "MixtureEmissions": [
            {"weights": [[0.25, 0.75]] * 2, "components": jt.FamilyEmissions(jt.Poisson([1.0, 2.0, 3.0, 4.0]))}
        ],
        "Statistics": [{"family": jt.Exponential, "weight": 3.0, "total": [4.0]}],
        "Independent": [{"families": [GAUSSIAN, jt.Bernoulli(0.25)]}],
        "CurvedFamily": [{"curve": lambda mean: jt.Gaussian(mean, mean**2), "low": 0.0}],
        "GenericPrior": [{"family": jt.Bernoulli, "chi": [1.0], "nu": 2.0}],
        "CanonicalGaussian": [{"loading": [2.0], "precision": [[2.0]]}],
        "Density": [{"log_density": BELL}],
        "FittedDiscretizer": [{"cuts": {"u": [1.0, 2.0]}}],
        "Discretizer.fit": [{"data": REALS}],
        "FittedDiscretizer.transform": [{"data": {"age": [1.0, 5.0]}}],
        "FittedDiscretizer.from_dict": [{"saved": jt.Discretizer(2).fit(REALS).to_dict()}],
        "FittedDiscretizer.from_json": [{"text": jt.Discretizer(2).fit(REALS).to_json()}],
        "NetworkStatistics.from_dict": [{"document": COUNTS.to_dict()}],
        "NetworkStatistics.from_json": [{"text": COUNTS.to_json()}],
        "DirectedGraph.minimal_map": [{"oracle": GRAPH, "order": ["a", "b"]}],
        "UndirectedGraph.minimal_map": [{"oracle": UNDIRECTED, "nodes": ["a", "b"]}],
        "DirectedGraph.from_networkx": [{"graph": nx.DiGraph([("a", "b")])}],
        "UndirectedGraph.from_networkx": [{"graph": nx.Graph([("a", "b")])}],
        "PartiallyDirectedGraph.from_networkx": [{"graph": nx.DiGraph([("a", "b")])}],
        "UndirectedGraph.parse": [{"text": "a -- b"}],
        "UndirectedGraph": [{"edges": [("a", "b")], "nodes": ["c"]}],
        "DirectedGraph": [{"edges": [("a", "b")], "nodes": ["c"]}],
        "PartiallyDirectedGraph": [{"directed": [("a", "b")], "undirected": [("b", "c")], "nodes": ["d"]}],
        "Dataset.from_codes": [{"variables": [A], "columns": {"a": [0, 1]}}],
        "Dataset": [{"data": ROWS, "variables": [A, B], "weights": [1.0] * 8}],
        "CanonicalGaussian.conditional": [{"indices": [0], "values": [0.5]}],
        "Factor.reorder": [{"names": ("b", "a")}],
        "Independent.log_likelihood": [{"statistics": INDEPENDENT.statistics([[0.5, 1], [0.1, 0]])}],
        "MixtureBeliefs.__getitem__": [{"name": "component"}],
        "ChainBeliefs.__getitem__": [{"name": "state"}],
        "StateSpaceBeliefs.__getitem__": [{"name": "state"}],
        "empirical": [{"data": [1.0, 2.0, 2.0]}],
        "example": [{"name": "asia"}],
        "minimal_form": [{"family": jt.Categorical([0.5, 0.5])}],
        "mixture": [
            {"beliefs": jt.infer(jt.Mixture([1.0], jt.MultivariateGaussian([[0.0, 0.0]], np.eye(2))), np.eye(2))}
        ],
        "density": [{"family": GAUSSIAN}],
        "trace": [{"draws": DRAWS, "names": ["a"]}],
        "rank": [{"draws": DRAWS, "bins": 4}],
        "autocorrelation": [{"draws": DRAWS, "max_lag": 3}],
        "Draws": [{"values": {"a": [[0, 1]]}, "variables": [A], "log_weights": [[0.0, -1.0]]}],
        "Draws.quantities": [{"names": ["a"]}],
        "Draws.summary": [{"names": ["a"]}],
        "Gibbs": [{"draws": 5, "chains": 2, "warmup": 2, "thin": 2, "scan": "random", "blocks": [["a", "b"]]}],
        "Metropolis": [{"draws": 5, "chains": 2, "warmup": 2, "proposal": "single"}],
        "SwendsenWang": [{"draws": 5, "chains": 2, "warmup": 2, "clusters": "single"}],
        "ParallelTempering": [{"draws": 5, "chains": 2, "warmup": 2, "replicas": 2, "lowest": 0.5}],
        "annealed_importance_sampling": [{"model": NET, "evidence": {"a": "y"}, "particles": 3, "temperatures": 2}],
        "start_chains": [{"model": NET, "given": {"a": "y"}, "method": "gibbs"}],
        "transition_matrix": [{"model": NET, "evidence": {"a": "y"}, "method": "gibbs"}],
        "random_walk": [{"log_density": BELL, "start": 0.5, "draws": 3, "chains": 2, "warmup": 2, "scale": 0.5}],
        "ChainRun.extend": [{"draws": 3, "budget": 5.0}],
        "ParticleModel": [{name: getattr(WALK, name) for name in ("initial", "transition", "log_observation")}],
        "Proposal": [{"initial": WALK.initial, "transition": WALK.transition}],
        "particle_filter": [{"space": WALK, "observations": [0.5, 1.0], "particles": 9, "repeats": 2, "rng": 0}],
        "posteriors": [{"data": ROWS, "draws": 5, "warmup": 5, "rng": 0, "prior": "graphs"}],
        "EdgePosteriors.__getitem__": [{"edge": ("a", "b")}],
        "ParticleBeliefs.filtered": [{"function": np.square}],
        "ParticleBeliefs.smoothed": [{"function": np.square}],
        "read_result": [{"path": FOLDER / "result"}],
        "statistics_from_json": [{"text": jt.Poisson.statistics([1, 2]).to_json()}],
        "Beta.from_sample_size": [{"mean": 0.5, "size": 2.0}],
        "Dirichlet.from_sample_size": [{"mean": [0.5, 0.5], "size": 2.0}],
        "StudentT.estimate": [{"statistics": jt.StudentT.statistics([0.0, 1.0, -1.0, 9.0, 0.5, -20.0])}],
        "NormalInverseWishart.cdf": [{"x": 1.0}],
        "NormalInverseWishart.log_cdf": [{"x": 1.0}],
        "NormalInverseWishart.log_sf": [{"x": 1.0}],
        "NormalInverseWishart.sf": [{"x": 1.0}],
        **{f"{kind}.from_model": [{"model": NET, "target": "a"}] for kind in NETWORK_CLASSIFIERS},
        **{f"Gamma.{method}": [{"family": jt.Poisson}] for method in ("equivalent_sample_size", "predictive")},
        "Gamma.likelihood_at": [{"point": 0.5, "family": jt.Poisson}],
        **{f"InverseGamma.{method}": [VARIANCE] for method in ("equivalent_sample_size", "predictive")},
        "InverseGamma.likelihood_at": [{"point": 0.5, **VARIANCE}],
        **{f"{kind}.{method}": [{"X": X, "y": Y}] for kind in NETWORK_CLASSIFIERS for method in ("fit", "score")},
        **{
            f"{kind}.{method}": [{"X": np.random.default_rng(0).normal(size=X.shape), "y": Y}]
            for kind in GENERATIVE_CLASSIFIERS
            for method in ("fit", "score")
        },
        "MixtureHMM.fit": [{"X": np.array([[0.0], [3.0], [0.5], [2.5], [0.1], [3.0], [1.0], [2.0]])}],
    }
)
