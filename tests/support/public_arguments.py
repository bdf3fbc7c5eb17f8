"""Arguments by the names of parameters, and an instance of every public class to ask."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

import juncture as jt
from juncture import estimators
from juncture.data.feature_names import NamedFeatures
from juncture.families.family import Family
from juncture.formats.uai_results import Result
from juncture.supervised.model import SupervisedModel
from support import decision_kinds, linear_kinds, regression_kinds, tree_kinds, value_kinds
from support.learned import fit_maximum_margin
from support.public_examples import (
    CHAIN,
    COUNTS,
    DECIDE,
    DRAWS,
    FIELD,
    FOLDER,
    GAUSSIAN,
    GENERATIVE_CLASSIFIERS,
    GRAPH,
    HMM,
    JOINT,
    MACHINE,
    MATRIX,
    MIXTURE,
    NET,
    PATH,
    ROWS,
    SPACE,
    STEPS,
    TAGGER,
    TREE,
    WALK,
    WIDER,
    A,
    B,
    X,
    Y,
)  # fmt: skip
from support.public_names import public_things

MARGINALS = jt.infer(NET, {"a": "y"})
REAL = jt.BayesianNetwork(
    [jt.Conditional(A, [], [0.5, 0.5]), jt.LinearGaussian(jt.Variable("u"), [A], [[], []], [0, 1], [1, 2])]
)


def first_is_yes(*states: Any) -> float:
    return float(states[0] == "y")


BY_NAME: dict[str, Any] = {
    "inputs": [0.25, 0.5],
    "model": NET, "graph": TREE, "joint": JOINT, "name": "a", "names": "a", "a": "a", "b": "b", "given": (), "of": "a",
    "tail": "a", "head": "b", "other": GRAPH, "oracle": GRAPH, "order": ["a", "b"], "text": "a -> b",
    "values": {"a": "y"},
    "assignment": {"a": "y", "b": "n"}, "evidence": {"a": "y"}, "data": ROWS, "path": FOLDER / "net.bif", "p": GAUSSIAN,
    "q": WIDER, "x": 0.5, "family": jt.Gaussian, "matrix": MATRIX, "indices": [0], "variance": 1.0, "distance": 2.0,
    "error": 0.5, "probability": 0.5, "draws": 10, "group_counts": [[1, 2], [3, 1]], "labels": [0, 1],
    "num_states": 2, "rows": [[1, 0], [0, 1]], "variables": [A], "variable": A, "state": 0, "states": [0],
    "low": 0.1, "high": 0.9, "observations": [1.0, 2.0], "function": lambda *values: 1.0, "first": first_is_yes,
    "second": first_is_yes, "num_rows": 10.0, "target": "a", "arrows": (("b", "c"),), "places": 0,
    "conditionals": NET.conditionals[0], "num_steps": 2, "lag": 1, "n": 2, "observation": 1.0, "sequence": [0, 1],
    "length": 3, "others": ([B],), "factor": 2.0, "memory_limit": 10**9, "steps": 2, "time": 2,
    "distribution": [0.5, 0.5], "add": np.add, "multiply": np.multiply, "zero": 0.0, "one": 1.0,
    "semiring": "sum-product",
    "targets": 0, "start": 0, "initial": 0, "heuristic": "min-fill", "X": X, "y": Y, "weights": [0.5, 0.5],
    "components": [GAUSSIAN, WIDER], "key": "a", "saved": {}, "document": {}, "size": 2.0, "mean": 0.5,
    "natural": [0.5], "seconds": 5.0, "level": 0.9, "confidence": 0.9, "number": None, "mode": None,
    "self": None, "value": 1, "index": 0, "result": Result("PR", (-1.0,)), "learned": GRAPH, "truth": GRAPH,
    "expected_parents": 1.0, "same": jt.InverseGamma(2.0, 1.0), "columns": {"a": [0]}, "item": "a",
    "child": "a", "component": 0, "num_columns": 3, "num_factors": 1, "rotation": [[-1.0]], "page": "a",
    "links": [("a", "b"), ("b", "a")], "v": (X > 0).astype(float), "threshold": 0.5,
    "statistics": jt.Bernoulli.statistics([1, 0]),
}  # fmt: skip


INSTANCES: dict[str, list[Any]] = {}


def add(*instances: Any) -> None:
    for instance in instances:
        INSTANCES.setdefault(type(instance).__name__, []).append(instance)


add(
    DRAWS, WALK, jt.sampling.particle_filter(WALK, [0.5, 1.0], particles=9, repeats=2, rng=0),
    jt.structure.posteriors(ROWS, draws=40, rng=0),
    jt.sampling.start_chains(NET, rng=0), jt.sampling.transition_matrix(NET),
    jt.sampling.annealed_importance_sampling(NET, particles=3, temperatures=2, rng=0),
    NET, FIELD, TREE, GRAPH, PATH, JOINT, HMM, CHAIN, MIXTURE, SPACE, COUNTS, A, jt.results.Scope([A, B]),
    jt.statistics(FIELD, ROWS), TAGGER,
    jt.Dataset(ROWS), MARGINALS, jt.infer(NET, [{"a": "y"}, {}]), jt.infer(HMM, STEPS), jt.infer(SPACE, [1.0, 2.0]),
    jt.clusters.principal_components([[0.0, 1.0], [1.0, 0.5], [2.0, 4.0]], 1),
    jt.clusters.k_means([[0.0], [1.0], [9.0]], 2),
    jt.clusters.choose_num_clusters([[0.0], [1.0], [9.0]], 2), jt.clusters.hierarchical_clusters([[0.0], [1.0], [9.0]]),
    jt.clusters.choose_dimension([[0.0, 1.0], [1.0, 0.5], [2.0, 4.0], [1.0, 1.0]]),
    jt.FactorAnalysis.standard(2, 1), jt.ProbabilisticPCA.standard(2, 1),
    jt.LatentDirichletAllocation.standard(2, 2), jt.infer(jt.LatentDirichletAllocation.standard(2, 2), [1, 0]),
    jt.sampling.left_to_right(jt.LatentDirichletAllocation.standard(2, 2), [1, 0], particles=2),
    jt.infer(jt.FactorAnalysis.standard(2, 1), [0.5, 1.0]),
    jt.infer(MIXTURE, STEPS), jt.infer(HMM, STEPS).forecast(2), jt.infer(SPACE, [1.0, 2.0]).forecast(2),
    jt.online_filter(HMM, lag=1), jt.online_filter(SPACE), jt.most_probable(HMM, STEPS), jt.compile(NET),
    jt.cost(NET), jt.most_probable(NET), jt.most_probable(NET, [{"a": "y"}, {}]),
    jt.most_probable(NET, k=3),
    jt.PartiallyDirectedGraph([("a", "b")], [("b", "c")]), jt.JunctionTree(), jt.VariableElimination(),
    jt.messages.GaussianElimination(), jt.ICM(), jt.messages.MaxFlow(),
    jt.families.CanonicalGaussian([2.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]),
    jt.Enumeration(), jt.messages.StrongJunctionTree(),
    jt.Gaussian([0.0, 1.0], 1.0), jt.structure.BIC(), jt.structure.AIC(), jt.structure.LogLikelihood(),
    jt.infer(REAL)["u"], jt.infer(REAL).joint("u", "a"),
    jt.clusters.choose_components(MIXTURE, [1.0, 2.0, 20.0, 22.0], [1]), jt.infer(MIXTURE, [1.0, np.nan]).impute(),
    jt.neural.VariationalAutoencoder.random(2, 1, rng=0),
    jt.infer(jt.neural.VariationalAutoencoder.random(2, 1, rng=0), [0.5, 1.0]),
    jt.neural.Autoencoder.random(2, 1, rng=0), jt.neural.HelmholtzMachine.random(2, 1, rng=0),
    jt.neural.DeepBeliefNetwork.random([3, 2, 2], rng=0), jt.neural.DeepBoltzmannMachine.random([3, 2, 2], rng=0),
    jt.infer(jt.neural.DeepBoltzmannMachine.random([3, 2, 2], rng=0), [1, 0, 1]),
    jt.infer(jt.IndependentComponents([[2.0, 1.0], [0.5, -1.0]]), [0.5, 1.0]),
    MACHINE, jt.infer(MACHINE, [1, 0, 1]), DECIDE, *DECIDE.decisions, *DECIDE.utilities,
    jt.value_of_information(NET, "a"), jt.optimal_policy(DECIDE), jt.optimal_policy(DECIDE)["b"],
    jt.results.Trace((1.0,), True, "done"), jt.structure.compare(GRAPH, GRAPH),
    *jt.results.answer_blocks(jt.infer, NET, ROWS),
)  # fmt: skip
add(*decision_kinds.INSTANCES, fit_maximum_margin([[0.0], [1.0]], [0, 1]).residuals)
add(
    jt.infer(jt.neural.VariationalAutoencoder.random(2, 1, rng=0), [[1.0, 2.0]], draws=3, rng=0),
    jt.infer(jt.neural.DeepBoltzmannMachine.random([3, 2, 2], rng=0), [1, 0, 1]),
)
for build in (*regression_kinds.KINDS, *linear_kinds.KINDS, *tree_kinds.KINDS):
    add(*{type(value): value for value in build()}.values())
PUBLIC = {public.thing for public in public_things() if isinstance(public.thing, type)}
for build in value_kinds.KINDS:
    first = build()[0]
    if type(first).__name__ not in INSTANCES and type(first) in PUBLIC:
        add(first)


def training_rows(kind: str) -> tuple[Any, ...]:
    """What an estimator of this name is fitted to."""
    if kind == "CategoricalHMM":
        return (X[:, :1],)
    if kind in GENERATIVE_CLASSIFIERS:
        return np.random.default_rng(0).normal(size=X.shape), Y
    return (np.random.default_rng(0).normal(size=(30, 1)),) if kind.endswith("HMM") else (X, Y)


for kind in estimators.__all__:
    add(getattr(estimators, kind)().fit(*training_rows(kind)))


def example_argument(call: str, name: str, owner: Any) -> Any:
    """What the parameter of a call takes, by the owner of the method and the parameter's name."""
    own = {**BY_NAME, **of_owner(owner)}
    if name not in own:
        raise LookupError(f"no example for {name!r} of {call}: add the call to CALLS, or the name to BY_NAME")
    return own[name]


def of_owner(owner: Any) -> dict[str, Any]:
    """What methods of this value call by names that mean something else for others."""
    if isinstance(owner, Family):
        return of_family(owner)
    if type(owner) is getattr(estimators, type(owner).__name__, None):
        rows = dict(zip(("X", "y"), training_rows(type(owner).__name__), strict=False))
        return {**rows, "model": getattr(owner, "model_", NET)}
    if isinstance(owner, jt.Factor | jt.results.AnyConditional):
        scope = owner.scope if isinstance(owner, jt.Factor) else (*owner.parents, owner.child)
        states = tuple(variable.labels[0] for variable in scope if not variable.is_real)
        return {"other": owner, "states": states}
    found = next((own for kinds, own in BY_OWNER.items() if isinstance(owner, kinds)), {})
    columns = owner.num_columns or 1 if isinstance(owner, NamedFeatures) else 0
    names: dict[str, Any] = {"names": [f"column {index}" for index in range(columns)]} if columns else {}
    names |= {"name": "y"} if isinstance(owner, SupervisedModel) else {}
    return {"other": owner, **names, **found}


BY_OWNER: dict[Any, dict[str, Any]] = {
    (jt.MarkovChain, jt.HiddenMarkovModel, jt.LinearGaussianStateSpace): {"data": STEPS},
    (jt.MarkovNetwork, jt.FactorGraph, jt.PairwiseNetwork): {"indices": 0},
    jt.Variable: {"state": "y"},
    jt.results.Scope: {"names": ["a"]},
    jt.Dataset: {"rows": [0, 1], "names": ["a"], "path": FOLDER / "rows.csv"},
    jt.UndirectedGraph: {"oracle": PATH, "order": ["a", "b", "c"]},
    jt.results.MixedJoint: {"values": {"u": 0.5, "a": "y"}, "states": {"a": "y"}},
    jt.families.CurvedFamily: {"parameter": 1.5, "statistics": jt.Gaussian.statistics([1.0, 2.0])},
    (jt.information.Density, jt.families.CanonicalGaussian): {"values": [0.5], "x": [0.5, 0.25]},
    **regression_kinds.OWN,
    **tree_kinds.OWN,
}


def of_family(member: Family) -> dict[str, Any]:
    """What methods of a family take: draws, its own statistics and parameters, and what must be known of it."""
    draws = member.sample(4, rng=0)
    made = {"x": draws, "other": member, "point": draws, "index": 0, "values": [0.5], "order": 2}
    with suppress(jt.errors.Unsupported):
        made["statistics"] = member.statistics(draws)
    with suppress(jt.errors.Unsupported):
        made |= {"natural": member.natural_parameters, "mean": member.mean_parameters}
    needed = {**member.required, **getattr(member, "fixed", {})}
    return made | {"known": {name: member._given[name] for name in needed if name in member._given}}
