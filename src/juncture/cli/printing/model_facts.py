"""The output of `juncture info` for a model that is no network: its kind, its sizes and its distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from juncture.base.values import few

if TYPE_CHECKING:
    from juncture.components.mixture import Mixture
    from juncture.latent.boltzmann.deep.belief_network import DeepBeliefNetwork
    from juncture.latent.boltzmann.deep.boltzmann_machine import DeepBoltzmannMachine
    from juncture.latent.boltzmann.model import RestrictedBoltzmannMachine
    from juncture.latent.factor_analysis.model import LinearFactors
    from juncture.latent.neural.autoencoder import Autoencoder
    from juncture.latent.neural.helmholtz import HelmholtzMachine
    from juncture.latent.neural.variational_autoencoder import VariationalAutoencoder
    from juncture.latent.topics.model import LatentDirichletAllocation
    from juncture.networks.decision_network import DecisionNetwork
    from juncture.sequences.conditional_random_field.model import ConditionalRandomField
    from juncture.sequences.hidden_markov.model import HiddenMarkovModel
    from juncture.sequences.markov_chains.model import MarkovChain
    from juncture.sequences.state_space.model import LinearGaussianStateSpace
    from juncture.supervised.generative.classifier import GenerativeClassifier
    from juncture.supervised.linear_classifiers.decision_function import DecisionFunction
    from juncture.supervised.linear_classifiers.maximum_margin import MaximumMargin
    from juncture.supervised.linear_classifiers.multiclass import AllPairs, OneVersusRest
    from juncture.supervised.linear_classifiers.threshold_network import ThresholdNetwork
    from juncture.supervised.regression.bases import FeatureModel
    from juncture.supervised.regression.generalized_linear import GeneralizedLinearModel
    from juncture.supervised.regression.laplace import LaplaceLogistic
    from juncture.supervised.regression.logistic import LogisticRegression
    from juncture.supervised.trees.forest import RandomForest
    from juncture.supervised.trees.tree import DecisionTree
    from juncture.variables import Model

SHOWN = 6  # labels


def facts_of_model(model: Model) -> dict[str, Any]:
    """The kind of a model, and the facts of that kind; of a kind without an entry, what it says of itself."""
    kind = type(model).__name__
    describe: Callable[[Any], dict[str, Any]] = FACTS.get(kind, facts_of_any)
    return {"kind": kind, **describe(model)}


def facts_of_any(model: Model) -> dict[str, Any]:
    """The names of the variables or columns, the sizes, and the text that stands for the model in Python.

    Sizes are the whole numbers whose names begin with `num_`, such as `num_states` and `num_parameters`.
    """
    names = getattr(getattr(model, "variables", None), "names", None) or getattr(model, "feature_names", None)
    sizes = {name: getattr(model, name) for name in dir(model) if name.startswith("num_")}
    counts = {name.removeprefix("num_"): size for name, size in sizes.items() if type(size) is int}
    return {**({"names": labels_of(names)} if names else {}), **counts, "value": repr(model)}


def facts_of_hidden_markov(model: HiddenMarkovModel) -> dict[str, Any]:
    return {
        "states": model.num_states,
        "labels": labels_of(model.states),
        "emissions": model.emissions.summary,
        "observation": shape_in_words(model.event_shape),
        "parameters": model.num_parameters,
    }


def facts_of_chain(model: MarkovChain) -> dict[str, Any]:
    return {
        "states": model.num_states,
        "labels": labels_of(model.states),
        "order": model.order,
        "initial_distribution": "none" if model.initial is None else "given",
        "parameters": model.num_parameters,
    }


def facts_of_field(model: ConditionalRandomField) -> dict[str, Any]:
    return {
        "states": model.num_states,
        "labels": labels_of(model.states),
        "features": len(model.features),
        "parameters": model.num_parameters,
    }


def facts_of_state_space(model: LinearGaussianStateSpace) -> dict[str, Any]:
    return {
        "state_dimension": model.state_dimension,
        "observation_dimension": model.observation_dimension,
        "inputs": model.num_inputs,
        "parts_that_vary": ", ".join(model.varying) or "none",
        "longest_sequence": "any" if model.max_length is None else model.max_length,
    }


def facts_of_mixture(model: Mixture) -> dict[str, Any]:
    return {
        "components": model.num_components,
        "distributions": model.components.summary,
        "observation": shape_in_words(model.event_shape),
        "parameters": model.num_parameters,
    }


def facts_of_classifier(model: GenerativeClassifier) -> dict[str, Any]:
    facts = facts_of_mixture(model.mixture)
    return {"classes": labels_of(model.classes), **{name: facts[name] for name in list(facts)[1:]}}


def facts_of_factors(model: LinearFactors) -> dict[str, Any]:
    return {
        "factors": model.num_factors,
        "observation": shape_in_words(model.event_shape),
        "parameters": model.num_parameters,
    }


def facts_of_machine(model: RestrictedBoltzmannMachine) -> dict[str, Any]:
    return {"visible units": model.num_visible, "of the kind": model.visible, "hidden units": model.num_hidden}


def facts_of_layers(model: DeepBeliefNetwork | DeepBoltzmannMachine) -> dict[str, Any]:
    return {"visible units": model.num_visible, "hidden units": ", ".join(map(str, model.sizes[1:]))}


def facts_of_topics(model: LatentDirichletAllocation) -> dict[str, Any]:
    first = {f"topic {topic}": labels_of(words) for topic, words in enumerate(model.top_words(SHOWN)[:SHOWN])}
    return {"topics": model.num_topics, "words": model.num_words, "parameters": model.num_parameters, **first}


def facts_of_decisions(model: DecisionNetwork) -> dict[str, Any]:
    return {
        "chance variables": len(model.conditionals),
        "decisions": labels_of(tuple(decision.variable.name for decision in model.decisions)),
        "utilities": labels_of(tuple(utility.name for utility in model.utilities)),
        "edges": len(model.graph.edges),
        "parameters": model.num_parameters,
    }


def facts_of_autoencoder(model: Autoencoder | VariationalAutoencoder) -> dict[str, Any]:
    from juncture.latent.neural.variational_autoencoder import VariationalAutoencoder

    widths = " – ".join(str(len(bias)) for _, bias in model.encoder[:-1])
    visible = {"visible": model.visible} if isinstance(model, VariationalAutoencoder) else {}
    return {
        "columns": model.num_columns,
        "codes": len(model.decoder[0][0]),
        "hidden layers": widths or "none",
        **visible,
    }


def facts_of_helmholtz(model: HelmholtzMachine) -> dict[str, Any]:
    return {"visible units": model.num_visible, "hidden units": model.num_hidden}


def facts_of_regression(model: FeatureModel) -> dict[str, Any]:
    names = {} if model.feature_names is None else {"inputs": few(model.feature_names, most=SHOWN)}
    sizes = {"coefficients": model.num_coefficients, "basis": repr(model.basis), "parameters": model.num_parameters}
    return {**names, **sizes}


def facts_of_logistic(model: LogisticRegression) -> dict[str, Any]:
    return {"classes": labels_of(model.classes), **facts_of_regression(model)}


def facts_of_laplace(model: LaplaceLogistic) -> dict[str, Any]:
    evidence = {} if model.log_evidence is None else {"log evidence": f"{model.log_evidence:.6g}"}
    return {**facts_of_logistic(model.mode), **evidence}


def facts_of_generalized(model: GeneralizedLinearModel) -> dict[str, Any]:
    return {"family": model.family.__name__, "link": model.link.name, **facts_of_regression(model)}


def facts_of_discriminant(model: DecisionFunction) -> dict[str, Any]:
    names = {} if model.feature_names is None else {"inputs": few(model.feature_names, most=SHOWN)}
    return {"coordinates": model.num_columns, **names}


def facts_of_margin(model: MaximumMargin) -> dict[str, Any]:
    own = {"support vectors": len(model.support), "cost": f"{model.cost:g}", "kernel": repr(model.kernel)}
    return {**facts_of_discriminant(model), **own}


def facts_of_discriminants(model: OneVersusRest | AllPairs) -> dict[str, Any]:
    own = {"classes": labels_of(model.classes), "discriminants": len(model.discriminants)}
    return {**own, **facts_of_discriminant(model)}


def facts_of_thresholds(model: ThresholdNetwork) -> dict[str, Any]:
    return {"inputs": model.hidden_weights.shape[1], "hidden units": model.num_hidden}


def facts_of_tree(model: DecisionTree) -> dict[str, Any]:
    return {
        "inputs": few(model.inputs.names, most=SHOWN),
        "target": model.target.name,
        "classes": "a number" if model.target.is_real else labels_of(model.target.labels),
        "leaves": model.num_leaves,
        "depth": model.depth,
        "criterion": model.criterion,
        "missing values": model.missing,
    }


def facts_of_forest(model: RandomForest) -> dict[str, Any]:
    facts = facts_of_tree(model.trees[0])
    kept = {name: facts[name] for name in ("inputs", "target", "classes", "criterion", "missing values")}
    leaves = sum(tree.num_leaves for tree in model.trees)
    return {"trees": len(model.trees), "vote": model.vote, "leaves": leaves, **kept}


def labels_of(states: tuple[Any, ...]) -> str:
    return few(map(str, states), most=SHOWN)


def shape_in_words(shape: tuple[int, ...]) -> str:
    if not shape:
        return "a single value"
    return f"a vector of {shape[0]}" if len(shape) == 1 else f"an array of {' × '.join(map(str, shape))}"


FACTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "DecisionNetwork": facts_of_decisions,
    "HiddenMarkovModel": facts_of_hidden_markov,
    "ConditionalRandomField": facts_of_field,
    "MarkovChain": facts_of_chain,
    "LinearGaussianStateSpace": facts_of_state_space,
    "Mixture": facts_of_mixture,
    "FactorAnalysis": facts_of_factors,
    "ProbabilisticPCA": facts_of_factors,
    "RestrictedBoltzmannMachine": facts_of_machine,
    "GenerativeClassifier": facts_of_classifier,
    "LinearRegression": facts_of_regression,
    "BayesianLinearRegression": facts_of_regression,
    "ConjugateLinearRegression": facts_of_regression,
    "LogisticRegression": facts_of_logistic,
    "LaplaceLogistic": facts_of_laplace,
    "GeneralizedLinearModel": facts_of_generalized,
    "Hyperplane": facts_of_discriminant,
    "MaximumMargin": facts_of_margin,
    "OneVersusRest": facts_of_discriminants,
    "AllPairs": facts_of_discriminants,
    "OrderedClassifier": facts_of_discriminants,
    "ThresholdNetwork": facts_of_thresholds,
    "DecisionTree": facts_of_tree,
    "RandomForest": facts_of_forest,
    "DeepBeliefNetwork": facts_of_layers,
    "DeepBoltzmannMachine": facts_of_layers,
    "Autoencoder": facts_of_autoencoder,
    "VariationalAutoencoder": facts_of_autoencoder,
    "HelmholtzMachine": facts_of_helmholtz,
    "LatentDirichletAllocation": facts_of_topics,
}
