"""The table of kinds: for each kind of value that a document can hold, its class and how it is written and read.

A kind registers itself in the file `document.py` of its folder, which is imported when a value or a document of that
kind comes. Networks, whose rows of probabilities may be repaired, are in `formats/json.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any, Protocol

from juncture.base.documents.node import Node

HEAD = ("format", "version", "model")  # the keys that every document has

# kind → the module that registers it; what is not in the table may be a family
MODULES = {
    "HiddenMarkovModel": "juncture.sequences.hidden_markov.document",
    "ConditionalRandomField": "juncture.sequences.conditional_random_field.document",
    "MarkovChain": "juncture.sequences.markov_chains.document",
    "LinearGaussianStateSpace": "juncture.sequences.state_space.document",
    "Mixture": "juncture.latent.mixtures.document",
    "FactorAnalysis": "juncture.latent.factor_analysis.document",
    "ProbabilisticPCA": "juncture.latent.factor_analysis.document",
    "RestrictedBoltzmannMachine": "juncture.latent.boltzmann.document",
    "DeepBeliefNetwork": "juncture.latent.boltzmann.deep.document",
    "DeepBoltzmannMachine": "juncture.latent.boltzmann.deep.document",
    "Autoencoder": "juncture.latent.neural.document",
    "VariationalAutoencoder": "juncture.latent.neural.document",
    "HelmholtzMachine": "juncture.latent.neural.document",
    "LatentDirichletAllocation": "juncture.latent.topics.document",
    "PairwiseNetwork": "juncture.networks.pairwise.document",
    "GenerativeClassifier": "juncture.supervised.generative.document",
    "LinearRegression": "juncture.supervised.regression.document",
    "BayesianLinearRegression": "juncture.supervised.regression.document",
    "ConjugateLinearRegression": "juncture.supervised.regression.document",
    "LogisticRegression": "juncture.supervised.regression.document",
    "LaplaceLogistic": "juncture.supervised.regression.document",
    "GeneralizedLinearModel": "juncture.supervised.regression.document",
    "Hyperplane": "juncture.supervised.linear_classifiers.document",
    "MaximumMargin": "juncture.supervised.linear_classifiers.document",
    "OneVersusRest": "juncture.supervised.linear_classifiers.document",
    "AllPairs": "juncture.supervised.linear_classifiers.document",
    "OrderedClassifier": "juncture.supervised.linear_classifiers.document",
    "ThresholdNetwork": "juncture.supervised.linear_classifiers.document",
    "DecisionTree": "juncture.supervised.trees.document",
    "RandomForest": "juncture.supervised.trees.document",
}
FAMILIES = "juncture.families.document"


class Kind(Protocol):
    """A class whose values files can hold; `juncture.base.documents.codec.Record` makes one from the fields."""

    @property
    def model(self) -> type: ...

    def encode(self, value: Any, /) -> dict[str, Any]:
        """A value as plain data, without the head of the document."""

    def read(self, node: Node, /, head: Iterable[str] = ()) -> Any:
        """An equal value from an object whose other keys are those of the head; errors of Juncture for all else."""


KINDS: dict[str, Kind] = {}


def register_kind(*kinds: Kind) -> None:
    """Let files hold values of the classes of these kinds, under the names of the classes."""
    KINDS.update({kind.model.__name__: kind for kind in kinds})


def load_kind(name: str) -> Kind:
    """The kind of a name in the table, imported if necessary."""
    if name not in KINDS:
        import_module(MODULES.get(name, FAMILIES))
    return KINDS[name]


def kind_names() -> list[str]:
    """The names of all kinds in the table, models first."""
    import_module(FAMILIES)
    return list(dict.fromkeys([*MODULES, *KINDS]))
