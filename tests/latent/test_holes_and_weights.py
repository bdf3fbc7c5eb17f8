"""Which model takes holes and weights is what the table in the guide says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import juncture as jt
from juncture.estimators import BayesianGaussianMixture

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clusters.md"
RNG = np.random.default_rng(0)
NUMBERS, BITS, COUNTS = RNG.normal(size=(20, 3)), RNG.integers(2, size=(20, 3)), RNG.integers(5, size=(20, 3))
WEIGHTS = RNG.uniform(0.5, 2.0, 20)
TWO = jt.Mixture([0.5, 0.5], jt.MultivariateGaussian([[0.0] * 3, [1.0] * 3], np.eye(3)))
SHORT = jt.ExpectationMaximization(1e9, 1)
MACHINE = jt.RestrictedBoltzmannMachine(RNG.normal(size=(3, 1)), np.zeros(3), np.zeros(1))
TOPICS = jt.LatentDirichletAllocation(RNG.dirichlet(np.ones(3), 2), 0.5)
ENERGY = jt.neural.EnergyModel(
    lambda x, theta: x @ theta, lambda x, theta: x, [0.1] * 3, [jt.Variable(n, 2) for n in "abc"]
)

CALLS = {
    "Mixture": (lambda rows, **own: jt.fit(TWO, rows, method=SHORT, **own), NUMBERS),
    "BayesianGaussianMixture": (
        lambda rows, weights=None: BayesianGaussianMixture(2).fit(rows, None, weights),
        NUMBERS,
    ),
    "FactorAnalysis": (lambda rows, **own: jt.fit(jt.FactorAnalysis.standard(3, 1), rows, **own), NUMBERS),
    "ProbabilisticPCA": (lambda rows, **own: jt.fit(jt.ProbabilisticPCA.standard(3, 1), rows, **own), NUMBERS),
    "IndependentComponents": (
        lambda rows, **own: jt.fit(jt.IndependentComponents.standard(3, jt.Laplace(0.0, 1.0)), rows, **own),
        NUMBERS,
    ),
    "IndependentFactors": (
        lambda rows, **own: jt.fit(jt.IndependentFactors.standard(3, 1, jt.Laplace(0.0, 1.0)), rows, **own),
        NUMBERS,
    ),
    "RestrictedBoltzmannMachine": (lambda rows, **own: jt.fit(MACHINE, rows, **own), BITS),
    "LatentDirichletAllocation": (lambda rows, **own: jt.fit(TOPICS, rows, **own), COUNTS),
    "EnergyModel": (lambda rows, **own: jt.fit(ENERGY, rows, **own), BITS),
    "principal_components": (lambda rows, **own: jt.clusters.principal_components(rows, 1, **own), NUMBERS),
    "choose_dimension": (jt.clusters.choose_dimension, NUMBERS),
    "discriminative_clusters": (
        lambda rows, **own: jt.clusters.discriminative_clusters(rows, 2, restarts=0, **own),
        NUMBERS,
    ),
    "k_means": (lambda rows, **own: jt.clusters.k_means(rows, 2, restarts=0, **own), NUMBERS),
    "hierarchical_clusters": (jt.clusters.hierarchical_clusters, NUMBERS),
}


def table_of_the_guide():
    lines = re.findall(r"^\| \[?`(\w+)`\S* \| (yes|no) \| (yes|no) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (holes == "yes", weights == "yes") for name, holes, weights in lines}


def is_taken(call, rows, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(rows, **options)
        except (jt.JunctureError, TypeError):
            return False
    return True


def test_the_table_has_every_kind():
    assert set(table_of_the_guide()) == set(CALLS)


@pytest.mark.parametrize("kind", CALLS)
def test_the_table_is_true(kind):
    call, rows = CALLS[kind]
    holey = rows.astype(float)
    holey[2, 1] = np.nan
    assert is_taken(call, rows)
    assert (is_taken(call, holey), is_taken(call, rows, weights=WEIGHTS)) == table_of_the_guide()[kind]


@pytest.mark.parametrize("kind", ["k_means", "hierarchical_clusters"])
def test_clusters_name_what_takes_holes(kind):
    rows = NUMBERS.copy()
    rows[2, 1] = np.nan
    with pytest.raises(jt.errors.InvalidData, match="clusters take complete rows; row 2 has a hole: fit a Mixture"):
        CALLS[kind][0](rows)
