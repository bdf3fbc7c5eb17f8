"""scikit-learn classes over models and learning: they read `X` and `y`, and leave the work to `fit` and `infer`.

`tables` (what `X` and `y` are) → `reading` (their cells as states) → `prediction` → the classes themselves.
"""

from juncture.errors import MissingExtra

try:
    import sklearn as sklearn
except ModuleNotFoundError:
    raise MissingExtra.named("scikit-learn", "sklearn") from None

from juncture.estimators.naive_bayes import NaiveBayes
from juncture.estimators.network_classifier import BayesianNetworkClassifier
from juncture.estimators.tree_augmented import TreeAugmentedNaiveBayes

__all__ = ["BayesianNetworkClassifier", "NaiveBayes", "TreeAugmentedNaiveBayes"]
