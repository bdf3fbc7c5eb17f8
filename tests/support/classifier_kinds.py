"""Generative classifiers and their parts, as values; held to the laws of `test_values`."""

from __future__ import annotations

import juncture as jt
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.convert import of_batch
from juncture.components.family import StudentEmissions
from juncture.components.repeated import RepeatedEmissions
from juncture.components.word_counts import DirichletCounts, MultinomialCounts
from juncture.supervised import GenerativeClassifier, LinearForm


def generative_classifiers():
    densities = jt.GaussianEmissions([[0.0], [3.0]], [[1.0]], "tied")
    return [
        GenerativeClassifier([0.25, 0.75], densities, ["low", "high"]),
        GenerativeClassifier([0.25, 0.75], densities),
        GenerativeClassifier([0.5, 0.5], densities),
        GenerativeClassifier([0.25, 0.75], densities, ["a", "b"]),
        GenerativeClassifier([0.25, 0.75], jt.Poisson([1.0, 2.0])),
    ]


def documents():
    """Classifiers with each kind of emissions that classifiers brought along."""
    student = StudentEmissions(
        jt.families.MultivariateStudentT(5.0, [[0.0, 1.0], [2.0, 3.0]], [[2.0, 0.5], [0.5, 1.0]])
    )
    densities = [repeated_emissions()[0], MultinomialCounts([[0.5, 0.5], [0.25, 0.75]])]
    densities += [DirichletCounts([[0.5, 2.0], [3.0, 1.0]]), BernoulliEmissions([[0.5], [0.25]]), student]
    return [*generative_classifiers(), *(GenerativeClassifier([0.25, 0.75], each, [True, "b"]) for each in densities)]


def linear_forms():
    labelled = LinearForm([[1.0], [2.0]], [0.0, 1.0], ["low", "high"])
    return [labelled, LinearForm([[1.0], [2.0]], [0.0, 1.0]), LinearForm([[1.0], [3.0]], [0.0, 1.0])]


def bernoulli_emissions():
    return [BernoulliEmissions([[0.5, 0.25]]), BernoulliEmissions([[0.5], [0.25]])]


def repeated_emissions():
    return [RepeatedEmissions(of_batch(jt.Poisson([1.0, 2.0])), number) for number in (2, 3)]


def word_counts():
    return [MultinomialCounts([[0.5, 0.5]]), MultinomialCounts([[0.25, 0.75]])]


def dirichlet_counts():
    return [DirichletCounts([[0.5, 0.5]]), DirichletCounts([[0.25, 0.75]])]


KINDS = [
    generative_classifiers,
    linear_forms,
    bernoulli_emissions,
    repeated_emissions,
    word_counts,
    dirichlet_counts,
]
