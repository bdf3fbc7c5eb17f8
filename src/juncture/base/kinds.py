"""The table of kinds of model: class → the folder that holds the whole of the kind, in files named by their roles.

A new kind is its folder and one line here. The library finds what it needs of a kind by the name of a file in the
folder, which is imported when the first such model comes: `verbs.py` registers what the verbs do with the model, and
`document.py` how files hold it. A kind that lacks a file lacks what that file would register.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

# products of factors and graphs, whose machinery is laid out by layer: class → the modules that register the verbs,
# imported in turn until one has the verb
INFERENCE = tuple(f"juncture.inference.{verb}" for verb in ("infer", "log_prob", "most_probable", "sample"))
LAID_OUT_BY_LAYER: dict[str, tuple[str, ...]] = {
    "BayesianNetwork": (*INFERENCE, "juncture.learning.verbs"),
    "FactorProduct": (*INFERENCE, "juncture.learning.verbs"),
    "DirectedGraph": ("juncture.learning.verbs",),
    "UndirectedGraph": ("juncture.learning.verbs",),
    "Family": ("juncture.learning.families",),
}
KINDS: dict[str, str] = {
    "HiddenMarkovModel": "juncture.sequences.hidden_markov",
    "ConditionalRandomField": "juncture.sequences.conditional_random_field",
    "MarkovChain": "juncture.sequences.markov_chains",
    "LinearGaussianStateSpace": "juncture.sequences.state_space",
    "Mixture": "juncture.latent.mixtures",
    "EnergyModel": "juncture.latent.energy",
    "FactorAnalysis": "juncture.latent.factor_analysis",
    "ProbabilisticPCA": "juncture.latent.factor_analysis",
    "IndependentComponents": "juncture.latent.independent_components",
    "IndependentFactors": "juncture.latent.independent_components",
    "RestrictedBoltzmannMachine": "juncture.latent.boltzmann",
    "DeepBeliefNetwork": "juncture.latent.boltzmann.deep",
    "DeepBoltzmannMachine": "juncture.latent.boltzmann.deep",
    "Autoencoder": "juncture.latent.neural",
    "VariationalAutoencoder": "juncture.latent.neural",
    "HelmholtzMachine": "juncture.latent.neural",
    "LatentDirichletAllocation": "juncture.latent.topics",
    "PairwiseNetwork": "juncture.networks.pairwise",
    "GenerativeClassifier": "juncture.supervised.generative",
    "LinearRegression": "juncture.supervised.regression",
    "BayesianLinearRegression": "juncture.supervised.regression",
    "ConjugateLinearRegression": "juncture.supervised.regression",
    "LogisticRegression": "juncture.supervised.regression",
    "LaplaceLogistic": "juncture.supervised.regression",
    "GeneralizedLinearModel": "juncture.supervised.regression",
    "Hyperplane": "juncture.supervised.linear_classifiers",
    "MaximumMargin": "juncture.supervised.linear_classifiers",
    "OneVersusRest": "juncture.supervised.linear_classifiers",
    "AllPairs": "juncture.supervised.linear_classifiers",
    "OrderedClassifier": "juncture.supervised.linear_classifiers",
    "ThresholdNetwork": "juncture.supervised.linear_classifiers",
    "DecisionTree": "juncture.supervised.trees",
    "RandomForest": "juncture.supervised.trees",
}

# what a kind of model does not answer, and why: (class, verb) → the sentence that the verb says
NO_DISTRIBUTION = "an autoencoder is no distribution: encode, decode and reconstruction_error are what it answers"
NO_PROBABILITIES = (
    "a classifier by a boundary decides without probabilities: model.predict(X) gives the class of each row; a"
    " jt.supervised.LogisticRegression has probabilities"
)
PREDICTS_A_NUMBER = (
    "the target is a number, which has no most probable state: take the mean, or the mode, of the distribution that"
    " infer(model, X) gives of it"
)
UNANSWERED: dict[tuple[str, str], str] = {
    ("DecisionFunction", "infer"): NO_PROBABILITIES,
    ("DecisionFunction", "log_prob"): NO_PROBABILITIES,
    ("DecisionFunction", "sample"): NO_PROBABILITIES,
    ("DecisionFunction", "most_probable"): NO_PROBABILITIES,
    ("LinearRegression", "most_probable"): PREDICTS_A_NUMBER,
    ("BayesianLinearRegression", "most_probable"): PREDICTS_A_NUMBER,
    ("ConjugateLinearRegression", "most_probable"): PREDICTS_A_NUMBER,
    ("GeneralizedLinearModel", "most_probable"): PREDICTS_A_NUMBER,
    ("Autoencoder", "infer"): NO_DISTRIBUTION,
    ("Autoencoder", "log_prob"): NO_DISTRIBUTION,
    ("Autoencoder", "sample"): NO_DISTRIBUTION,
    ("Autoencoder", "most_probable"): NO_DISTRIBUTION,
    ("VariationalAutoencoder", "log_prob"): (
        "p(row) of a variational autoencoder is an integral over z without a closed form: infer bounds log p from"
        " below, and model.bound(rows, particles) more tightly"
    ),
    ("VariationalAutoencoder", "most_probable"): (
        "a variational autoencoder has no most probable z in closed form: take the mean of infer(model, rows)"
    ),
    ("HelmholtzMachine", "most_probable"): (
        "a Helmholtz machine has no most probable hidden units in closed form, as its posterior joins them: ask infer"
        " for the probability of each under the recognition network"
    ),
    ("DeepBeliefNetwork", "most_probable"): (
        "a deep belief network has no most probable hidden units in closed form, as its posterior joins them: ask infer"
        " for the probability of each under the upward pass"
    ),
    ("DeepBoltzmannMachine", "most_probable"): (
        "a deep Boltzmann machine has no most probable hidden units in closed form: ask infer for the probability of"
        " each under a mean field, or most_probable of model.to_markov_network()"
    ),
    ("IndependentSources", "most_probable"): (
        "the sources of a row are one point without noise, and have no most probable values in closed form with it:"
        " take the mean of infer(model, rows)"
    ),
    ("LatentDirichletAllocation", "most_probable"): (
        "latent Dirichlet allocation has no most probable shares: their density is unbounded where a concentration is"
        " below 1; take infer(model, counts).shares, and argmax(axis=-1) of them for the largest topic"
    ),
    ("EnergyModel", "infer"): (
        "an energy model takes complete rows and has no hidden variables: ask log_prob; a MarkovNetwork.from_energies"
        " answers what is missing"
    ),
    ("EnergyModel", "most_probable"): (
        "an energy model has no most probable row in closed form, as its energy is any function: compare log_prob of"
        " candidates, or ask a MarkovNetwork.from_energies"
    ),
}


def why_unanswered(kind: type, verb: str) -> str | None:
    """Why a kind of model does not answer a verb; None where no such sentence stands in the table."""
    return next((UNANSWERED[base.__name__, verb] for base in kind.__mro__ if (base.__name__, verb) in UNANSWERED), None)


def verb_modules(name: str) -> tuple[str, ...]:
    """The modules that register what the verbs do with a kind of model; none where no verb takes it."""
    own = role_module(name, "verbs")
    return LAID_OUT_BY_LAYER.get(name, ()) if own is None else (own,)


def role_module(name: str, role: str) -> str | None:
    """The module of a kind with this role; None where the kind has none, or is not in the table."""
    return file_of(KINDS[name], role) if name in KINDS else None


def kinds_with(role: str) -> list[str]:
    """The kinds whose folder has a file for this role, in the order of the table."""
    return [name for name in KINDS if role_module(name, role) is not None]


@cache
def file_of(folder: str, role: str) -> str | None:
    """The module of a role in a folder, which is not imported here; a kind of one file has its verbs in that file."""
    place = find_spec(folder)
    if place is None or place.submodule_search_locations is None:
        return folder if role == "verbs" else None
    module = f"{folder}.{role}"
    return None if find_spec(module) is None else module
