"""A few different instances of every kind of value; a kind added to `KINDS` is held to the laws of `test_values`.

The kinds of model whose entry in `model_kinds.py` has several models are held to them too.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import juncture as jt
from juncture.evidence import as_findings
from juncture.graphs.directed import PartiallyDirectedGraph
from juncture.graphs.independence import Independence
from juncture.inference.sampling.markov_chains.annealed import AnnealedEstimate
from juncture.inference.sampling.markov_chains.transition_matrix import TransitionMatrix
from support import (
    classifier_kinds,
    decision_kinds,
    latent_kinds,
    linear_kinds,
    model_kinds,
    regression_kinds,
    sequence_kinds,
    tree_kinds,
)
from support.family_examples import EXAMPLES

JUST_ABOVE = np.nextafter(0.25, 1)


def two(name="x", states=(0, 1)):
    return jt.Variable(name, states)


LABELLINGS = [(0, 1), (1, 0), (0.0, 1.0), (False, True), ("0", "1"), ("no", "yes")]


def variables():
    return [
        *(two(states=labels) for labels in LABELLINGS),
        two("y"),
        two(states=[0, 1, 2]),
        jt.Variable("x"),
        jt.Variable("x", dimension=2),
        jt.Variable("x", cuts=[1.5]),
        jt.Variable("x", ["< 1.5", "≥ 1.5"]),
    ]


def factors():
    values = [[0.25, 0.75], [1, 2]]
    return [
        *(jt.Factor([two(states=labels), two("y")], values) for labels in LABELLINGS),
        jt.Factor([two("y"), two()], values),
        jt.Factor([two(), two("y")], [[JUST_ABOVE, 0.75], [1, 2]]),
        jt.Factor([two()], [0.25, 0.75]),
        jt.Factor([], 0.25),
    ]


def conditionals():
    rows = [[0.25, 0.75], [0.5, 0.5]]
    return [
        *(jt.Conditional(two(states=labels), [two("y")], rows) for labels in LABELLINGS),
        jt.Conditional(two("y"), [two()], rows),
        jt.Conditional(two(), [two("y")], [[JUST_ABOVE, 0.75], [0.5, 0.5]]),
        jt.Conditional(two(), [], rows[0]),
    ]


def deterministics():
    return [
        jt.Deterministic(two(), [two("y")], [0, 1]),
        jt.Deterministic(two(), [two("y")], [1, 0]),
        jt.Deterministic(two(), [two("z")], [0, 1]),
        jt.Deterministic(two(states=["0", "1"]), [two("y")], [0, 1]),
    ]


def noisy_ors():
    return [
        jt.NoisyOr(two(), [two("y"), two("z")], [0.25, 0.5]),
        jt.NoisyOr(two(), [two("z"), two("y")], [0.25, 0.5]),
        jt.NoisyOr(two(), [two("y"), two("z")], [JUST_ABOVE, 0.5]),
        jt.NoisyOr(two(), [two("y"), two("z")], [0.25, 0.5], leak=5e-324),
    ]


def noisy_maxes():
    table, other = [[1, 0], [0.25, 0.75]], [[1, 0], [JUST_ABOVE, 0.75]]
    return [
        jt.NoisyMax(two(), [two("y")], [table]),
        jt.NoisyMax(two(), [two("y")], [other]),
        jt.NoisyMax(two(), [two("z")], [table]),
        jt.NoisyMax(two(), [two("y")], [table], [0.25, 0.75]),
    ]


def logistics():
    return [
        jt.Logistic(two(), [two("y")], [0.25], 1.0),
        jt.Logistic(two(), [two("y")], [JUST_ABOVE], 1.0),
        jt.Logistic(two(), [two("y")], [0.25], 2.0),
        jt.Logistic(two(), [jt.Variable("y")], [0.25], 1.0),
        jt.Logistic(jt.Variable("x", 3), [two("y")], [[1], [2], [3]], [1, 2, 3]),
    ]


def linear_gaussians():
    x, y = jt.Variable("x"), jt.Variable("y")
    return [
        jt.LinearGaussian(x, [y], [0.25], 1.0, 2.0),
        jt.LinearGaussian(y, [x], [0.25], 1.0, 2.0),
        jt.LinearGaussian(x, [y], [JUST_ABOVE], 1.0, 2.0),
        jt.LinearGaussian(x, [y], [0.25], 2.0, 2.0),
        jt.LinearGaussian(x, [y], [0.25], 1.0, 3.0),
        jt.LinearGaussian(x, [two("k")], np.zeros((2, 0)), [1.0, 2.0], [1.0, 1.0]),
    ]


def gaussian_factors():
    x, y = jt.Variable("x"), jt.Variable("y")
    return [
        jt.GaussianFactor([x], [0.25], [[1.0]], 2.0),
        jt.GaussianFactor([y], [0.25], [[1.0]], 2.0),
        jt.GaussianFactor([x], [JUST_ABOVE], [[1.0]], 2.0),
        jt.GaussianFactor([x], [0.25], [[2.0]], 2.0),
        jt.GaussianFactor([x], [0.25], [[1.0]], 3.0),
        jt.GaussianFactor([x, y], [0.25, 1.0], [[1.0, 0.5], [0.5, 2.0]]),
    ]


def real_marginals():
    return [
        jt.results.RealMarginal("x", [0.25, 0.75], [0.0, 4.0], [1.0, 1.0]),
        jt.results.RealMarginal("y", [0.25, 0.75], [0.0, 4.0], [1.0, 1.0]),
        jt.results.RealMarginal("x", [0.75, 0.25], [0.0, 4.0], [1.0, 1.0]),
        jt.results.RealMarginal("x", [0.25, 0.75], [0.0, 5.0], [1.0, 1.0]),
        jt.results.RealMarginal("x", [0.25, 0.75], [0.0, 4.0], [1.0, 2.0]),
    ]


def utilities():
    return [
        jt.Utility([two()], [0.25, -1]),
        jt.Utility([two()], [JUST_ABOVE, -1]),
        jt.Utility([two("y")], [0.25, -1]),
        jt.Utility([two()], [0.25, -1], name="profit"),
    ]


def decisions():
    return [jt.Decision(two()), jt.Decision(two("y")), jt.Decision(two(), [two("y")])]


def decision_networks():
    chance, decision, utility = jt.Conditional(two("y"), [], [0.25, 0.75]), jt.Decision(two()), utilities()[0]
    return [
        jt.DecisionNetwork([chance, decision, utility]),
        jt.DecisionNetwork([chance, jt.Decision(two(), [two("y")]), utility]),
        jt.DecisionNetwork([chance, decision, utilities()[1]]),
        jt.DecisionNetwork([jt.Conditional(two("y"), [], [0.5, 0.5]), decision, utility]),
    ]


def decision_rules():
    return [
        jt.results.DecisionRule(two(), [two("y")], [0, 1], [[0.25, 0], [0, 1]]),
        jt.results.DecisionRule(two(), [two("y")], [0, 0], [[0.25, 0], [0, 1]]),
        jt.results.DecisionRule(two(), [two("y")], [0, 1], [[JUST_ABOVE, 0], [0, 1]]),
        jt.results.DecisionRule(two(), [two("z")], [0, 1], [[0.25, 0], [0, 1]]),
    ]


def policies():
    one, other, *_ = decision_rules()
    return [
        jt.results.Policy([one], 0.25, method="strong-elimination"),
        jt.results.Policy([other], 0.25, method="strong-elimination"),
        jt.results.Policy([one], JUST_ABOVE, method="strong-elimination"),
        jt.results.Policy([one], 0.25, exact=False, method="strong-elimination"),
        jt.results.Policy([one], 0.25, method="single-policy-updating"),
        jt.results.Policy([one], 0.25, -0.5, method="strong-elimination"),
    ]


def information_values():
    return [
        jt.results.InformationValues(("x",), "bits", {"y": 0.25, "z": 0.5}, {}, exact=True),
        jt.results.InformationValues(("y",), "bits", {"y": 0.25, "z": 0.5}, {}, exact=True),
        jt.results.InformationValues(("x",), "utility", {"y": 0.25, "z": 0.5}, {}, exact=True),
        jt.results.InformationValues(("x",), "bits", {"y": JUST_ABOVE, "z": 0.5}, {}, exact=True),
        jt.results.InformationValues(("x",), "bits", {"y": 0.25, "z": 0.5}, {"y": 0.25}, exact=True),
        jt.results.InformationValues(("x",), "bits", {"y": 0.25, "z": 0.5}, {}, exact=False),
    ]


def constants():
    x = jt.Variable("x")
    vector = jt.Variable("x", dimension=2)
    return [jt.results.Constant(x, 0.25), jt.results.Constant(x, JUST_ABOVE), jt.results.Constant(vector, [1, 2])]


def bayesian_networks():
    first, second = jt.Conditional(two(), [], [0.25, 0.75]), jt.Conditional(two("y"), [], [0.25, 0.75])
    return [
        jt.BayesianNetwork([first, second]),
        jt.BayesianNetwork([first]),
        jt.BayesianNetwork([first, second], tied=[["x", "y"]]),
        jt.BayesianNetwork([first, second], plates=[("n × 2", ["x", "y"])]),
        jt.BayesianNetwork([first, jt.Conditional(two("y"), [], [JUST_ABOVE, 0.75])]),
        jt.BayesianNetwork([first, jt.Conditional(two("y"), [two()], [[0.25, 0.75]] * 2)]),
        jt.BayesianNetwork([first, jt.NoisyOr(two("y"), [], [], leak=0.75)]),
    ]


def products(kind):
    first, second = jt.Factor([two()], [0.25, 0.75]), jt.Factor([two("y")], [1, 2])
    return [
        kind([first, second]),
        kind([first]),
        kind([first, first, second]),  # two factors on one scope stay two
        kind([first, second, jt.Factor([], 1.0)]),
        kind([first, second], [two("z")]),
        kind([first, second], plates=[("n × 2", (0, 1))]),
        kind([jt.Factor([two()], [JUST_ABOVE, 0.75]), second]),
    ]


def markov_networks():
    return products(jt.MarkovNetwork)


def pairwise_networks():
    return [
        jt.ising((2, 2), 0.5, 0.1),
        jt.ising((2, 2), 0.5, JUST_ABOVE),
        jt.ising((2, 2), 0.5, 0.1, values=(0, 1)),
        jt.ising((1, 4), 0.5, 0.1),
        jt.ising(jt.UndirectedGraph([("a", "b")]), 0.5),
        jt.ising(jt.UndirectedGraph([("a", "c")]), 0.5),
        jt.potts((2, 2), 3, 0.5),
    ]


def factor_graphs():
    return products(jt.FactorGraph)


def graphs(kind):
    return [kind([("a", "b")]), kind([("a", "c")]), kind([("a", "b")], nodes=["alone"]), kind([], nodes=["a", "b"])]


def directed_graphs():
    return [*graphs(jt.DirectedGraph), jt.DirectedGraph([("b", "a")])]


def undirected_graphs():
    return graphs(jt.UndirectedGraph)


def partially_directed_graphs():
    kind = PartiallyDirectedGraph
    return [
        kind([("a", "b")]),
        kind([("b", "a")]),
        kind([], [("a", "b")]),
        kind([("a", "b")], nodes=["alone"]),
        kind([("a", "b")], [("b", "c")]),
    ]


def independencies():
    return [Independence("a", "b"), Independence("a", "c"), Independence("a", "b", "c"), Independence("a", ["b", "c"])]


def trails():
    graph = jt.DirectedGraph([("a", "b"), ("c", "b"), ("b", "d")])
    return [
        *graph.trails("a", "c"),
        *graph.trails("a", "c", "b"),
        *graph.trails("a", "c", "d"),
        *graph.trails("a", "b"),
    ]


def datasets():
    rows = {"x": [0, 1, None], "h": [0.25, None, 1.0]}
    known = [two(), jt.Variable("h")]
    return [
        jt.Dataset(rows, known),
        jt.Dataset({**rows, "h": [JUST_ABOVE, None, 1.0]}, known),
        jt.Dataset({**rows, "x": [0, 1, 1]}, known),
        jt.Dataset(rows, known, weights=[1, 2, 3]),
        jt.Dataset(rows, [two(states=[1, 0]), jt.Variable("h")]),
    ]


def evidences():
    return [
        jt.Evidence({"x": 1, "y": 0}),
        jt.Evidence({"x": 1.0, "y": 0}),
        jt.Evidence({"x": True, "y": 0}),
        jt.Evidence({"x": [0.25, 0.5]}),
        jt.Evidence({"x": 1, "y": 0}, likelihoods={"z": [0.25, 0.5]}),
        jt.Evidence({"x": 1, "y": 0}, likelihoods={"z": [JUST_ABOVE, 0.5]}),
        jt.Evidence([{"x": 1, "y": 0}]),
    ]


def findings():
    known = (two(), two("y"), jt.Variable("h"))
    rows = [{"x": 1, "h": 2.0}, {"x": 0}, {"y": [0.25, 0.5]}, {"y": [JUST_ABOVE, 0.5]}, [{"x": 1, "h": 2.0}]]
    return [as_findings(row, known) for row in rows]


def statistics():
    values = [1.0, 2.5, 4.0]
    return [
        jt.Exponential.statistics(values),
        jt.Exponential.statistics([1.0, 2.5, np.nextafter(4.0, 5)]),
        jt.Exponential.statistics(values, weights=[1, 2, 1]),
        jt.Gamma.statistics(values),
        jt.Binomial.statistics([1, 2, 4], trials=4),
        jt.Binomial.statistics([1, 2, 4], trials=5),
    ]


def independents():
    return [
        jt.Independent([jt.Gaussian(0, 1), jt.Bernoulli(0.25)]),
        jt.Independent([jt.Bernoulli(0.25), jt.Gaussian(0, 1)]),
        jt.Independent([jt.Gaussian(0, 1), jt.Bernoulli(JUST_ABOVE)]),
        jt.Independent([jt.Gaussian(0, 1)]),
    ]


def canonical_gaussians():
    return [
        jt.families.CanonicalGaussian([2.0], [[2.0]]),
        jt.families.CanonicalGaussian([2.0], [[3.0]]),
        jt.families.CanonicalGaussian([2.0], [[2.0]], log_scale=0.0),
        jt.families.CanonicalGaussian([2.0, 0.0], [[2.0, 0.0], [0.0, 1.0]]),
    ]


def generic_priors():
    return [
        jt.families.GenericPrior(jt.Bernoulli, [1.0], 2.0),
        jt.families.GenericPrior(jt.Poisson, [1.0], 2.0),
        jt.families.GenericPrior(jt.Bernoulli, [1.0], 3.0),
        jt.families.GenericPrior(jt.Binomial, [1.0], 2.0, trials=4),
        jt.families.GenericPrior(jt.Binomial, [1.0], 2.0, trials=5),
    ]


def bell(x):
    return -0.5 * x**2


def densities():
    return [
        jt.information.Density(bell),
        jt.information.Density(bell, low=0.0),
        jt.information.Density(bell, 0.0, 1.0),
        jt.information.Density(bell, cuts=[0.25]),
    ]


def through_equal_moments(mean):
    return jt.Gaussian(mean, mean**2)


def curved_families():
    return [
        jt.families.CurvedFamily(through_equal_moments, low=0.0),
        jt.families.CurvedFamily(through_equal_moments, low=0.0, high=9.0),
        jt.families.CurvedFamily(jt.Poisson, low=0.0),
    ]


def network_statistics():
    graph = jt.DirectedGraph([("x", "y")])
    tables = [{"x": [0, 1, 1], "y": [0, 0, 1]}, {"x": [0, 1, 0], "y": [0, 0, 1]}, {"x": [0, 1], "y": [0.5, 0.25]}]
    return [jt.statistics(graph, table) for table in tables]


def factor_statistics():
    model = jt.MarkovNetwork([jt.Factor([two(), two("y")], [[1, 1], [1, 1]])])
    tables = [{"x": [0, 1, 1], "y": [0, 0, 1]}, {"x": [0, 1, 0], "y": [0, 0, 1]}]
    return [
        *(jt.statistics(model, table) for table in tables),
        jt.statistics(model, tables[0], weights=[1.0, JUST_ABOVE, 1.0]),
        jt.statistics(jt.MarkovNetwork([jt.Factor([two()], [1, 1])]), {"x": [0, 1, 1]}),
    ]


def conditional_random_fields():
    return [
        jt.ConditionalRandomField([0, 1], ["f"], [[0.5, 0.0]]),
        jt.ConditionalRandomField([False, True], ["f"], [[0.5, 0.0]]),
        jt.ConditionalRandomField([0, 1], ["g"], [[0.5, 0.0]]),
        jt.ConditionalRandomField([0, 1], ["f"], [[JUST_ABOVE, 0.0]]),
        jt.ConditionalRandomField([0, 1], ["f"], [[0.5, 0.0]], [[0.0, -np.inf], [0.0, 0.0]]),
    ]


def fits():
    graph = jt.DirectedGraph(nodes=["x"])
    return [jt.fit(graph, {"x": [0, 1, 1]}), jt.fit(graph, {"x": [0, 1, 0]}), jt.fit(graph, {"x": [0, 1, 1]}, prior=1)]


def discretizers():
    return [jt.Discretizer(), jt.Discretizer(bins=3), jt.Discretizer(strategy="width")]


def fitted_discretizers():
    data = {"age": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]}
    return [jt.Discretizer(bins=2, strategy=strategy).fit(data) for strategy in ("width", "frequency")]


def of_family(name):
    """The examples of a family that a short line tells, built anew."""

    def build():
        return [type(example)(**example._given) for example in EXAMPLES[name] if len(repr(example)) <= 120]

    build.__name__ = name
    return build


def edge_strengths():
    rows = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 1, 1] * 5}
    return [
        jt.structure.strengths(rows, draws=4, rng=0),
        jt.structure.strengths(rows, draws=4, rng=0, required=[("a", "b")]),
        jt.structure.strengths({**rows, "c": [0] * 20}, draws=4, rng=0),
    ]


def search_results():
    graph = jt.DirectedGraph([("a", "b")])
    return [
        jt.structure.SearchResult(graph, "ges"),
        jt.structure.SearchResult(graph, "ges", {"ges": -1.0}),
        jt.structure.SearchResult(graph, "hill-climbing"),
        jt.structure.SearchResult(jt.DirectedGraph([("b", "a")]), "ges"),
    ]


def draws():
    codes = [[0, 1, 1, 0], [1, 1, 0, 1]]
    return [
        jt.sampling.Draws({"x": codes}),
        jt.sampling.Draws({"y": codes}),
        jt.sampling.Draws({"x": codes}, [two()]),
        jt.sampling.Draws({"x": codes}, [two(states=("no", "yes"))]),
        jt.sampling.Draws({"x": codes[::-1]}, [two()]),
        jt.sampling.Draws({"x": codes}, [two()], log_weights=[[0.0] * 4, [0.5] * 4]),
    ]


def edge_posteriors():
    rows = {"x": [0, 1, 1, 0, 1], "y": [0, 1, 1, 0, 0]}
    return [
        jt.structure.posteriors(rows, draws=4, rng=seed, prior=prior)
        for seed in (1, 2)
        for prior in ("orders", "graphs")
    ]


def annealed_estimates():
    return [AnnealedEstimate(np.array(logs)) for logs in ([0.0, 0.5], [0.5, 0.0], [0.0, 0.5, 1.0])]


def transition_matrices():
    chains = [[[0.5, 0.5], [0.25, 0.75]], [[0.0, 1.0], [0.5, 0.5]]]
    states, target = np.array([[0], [1]]), np.array([1 / 3, 2 / 3])
    return [TransitionMatrix((name,), states, np.array(one), target) for name in ("x", "y") for one in chains]


def imputed_rows():
    return jt.results.Imputed([[1.0, 2.0]], [[0.0, 0.5]]), jt.results.Imputed([[1.0, 2.0]], [[0.0, 0.25]])


def candidates():
    families = [jt.evaluation.Candidate(jt.Bernoulli, prior) for prior in (None, jt.Beta(1, 1), jt.Beta(1, 2))]
    return [*families, jt.evaluation.Candidate(jt.Binomial, trials=10), jt.evaluation.Candidate(jt.Binomial, trials=9)]


def symmetric_beta(size):
    return jt.Beta(size, size)


def hierarchical_priors():
    return [jt.evaluation.HierarchicalPrior(symmetric_beta, jt.Gamma(2.0, rate)) for rate in (1.0, 2.0)]


OWN = [
    candidates,
    hierarchical_priors,
    search_results,
    imputed_rows,
    variables,
    factors,
    conditionals,
    deterministics,
    noisy_ors,
    noisy_maxes,
    logistics,
    linear_gaussians,
    gaussian_factors,
    real_marginals,
    utilities,
    decisions,
    decision_networks,
    decision_rules,
    policies,
    information_values,
    constants,
    bayesian_networks,
    markov_networks,
    pairwise_networks,
    factor_graphs,
    directed_graphs,
    undirected_graphs,
    partially_directed_graphs,
    independencies,
    trails,
    datasets,
    evidences,
    findings,
    statistics,
    independents,
    canonical_gaussians,
    generic_priors,
    densities,
    curved_families,
    network_statistics,
    factor_statistics,
    conditional_random_fields,
    fits,
    discretizers,
    fitted_discretizers,
    edge_strengths,
    draws,
    edge_posteriors,
    annealed_estimates,
    transition_matrices,
    *sequence_kinds.KINDS,
    *latent_kinds.KINDS,
    *classifier_kinds.KINDS,
    *linear_kinds.KINDS,
    *regression_kinds.KINDS,
    *decision_kinds.KINDS,
    *tree_kinds.KINDS,
    *(of_family(name) for name in EXAMPLES),
]
MODELS = [partial(model_kinds.models_of, [name]) for name, make in model_kinds.KINDS.items() if make().others]
KINDS = [*OWN, *MODELS]
