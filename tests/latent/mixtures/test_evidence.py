"""The evidence of mixtures: a bound below the sum over all assignments, which is exact with one component."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.mixture import MixturePrior
from juncture.latent.mixtures.number_of_components import evidence_bound

ONE = jt.Mixture([1.0], [jt.MultivariateGaussian([0.0, 0.0], np.eye(2))])


def poissons(rng):
    return jt.Mixture([0.5, 0.5], jt.Poisson([1.0, 5.0])), jt.Gamma(2.0, 0.5), rng.poisson(3.0, 4).astype(float)


def vectors(rng):
    model = jt.Mixture([0.5, 0.5], jt.MultivariateGaussian([[0.0, 0.0], [2.0, 1.0]], np.eye(2)))
    return model, jt.NormalInverseWishart([0.0, 0.0], 0.5, 4.0, np.eye(2)), rng.normal(size=(4, 2))


def columns(rng):
    families = [jt.Gaussian([0.0, 2.0], 1.0), jt.Categorical([[0.7, 0.3], [0.2, 0.8]])]
    priors = [jt.NormalInverseGamma(0.0, 0.5, 2.0, 1.0), 1.5]
    rows = np.stack([rng.normal(size=4), rng.integers(2, size=4)], axis=1)
    return jt.Mixture([0.5, 0.5], jt.Independent(families)), priors, rows


def switches(rng):
    model = jt.Mixture([0.5, 0.5], BernoulliEmissions([[0.2, 0.6], [0.7, 0.5]]))
    return model, jt.Beta(2.0, 1.5), rng.integers(2, size=(4, 2)).astype(float)


KINDS = {"counts": poissons, "vectors": vectors, "columns": columns, "switches": switches}
EVIDENCE = {  # log p(rows) of one component: the closed form of its conjugate prior
    "counts": lambda prior, rows: prior.log_evidence(jt.Poisson.statistics(rows)),
    "vectors": lambda prior, rows: prior.log_evidence(jt.MultivariateGaussian.statistics(rows)),
    "switches": lambda prior, rows: sum(prior.log_evidence(jt.Bernoulli.statistics(column)) for column in rows.T),
    "columns": lambda prior, rows: (
        prior[0].log_evidence(jt.Gaussian.statistics(rows[:, 0]))
        + jt.Dirichlet([prior[1]] * 2).log_evidence(jt.Categorical.statistics(rows[:, 1].astype(int), num_states=2))
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 10_000))
def test_the_bound_is_below_the_sum_over_all_assignments(kind, seed):
    """Two components and four rows: 16 assignments, whose prior is that of the counts."""
    model, prior, rows = KINDS[kind](np.random.default_rng(seed))
    weights = jt.Dirichlet([1.5, 1.5])
    logs = []
    for assignment in product(range(2), repeat=4):
        own = np.array(assignment)
        chance = weights.log_evidence(jt.Categorical.statistics(own, num_states=2))
        logs.append(chance + sum(EVIDENCE[kind](prior, rows[own == part]) for part in set(assignment)))
    exact = np.logaddexp.reduce(logs)
    short = jt.ExpectationMaximization(max_steps=3, tolerance=1e9)
    bound = evidence_bound(jt.fit(model, rows, prior=MixturePrior(1.5, prior), method=short), MixturePrior(1.5, prior))
    assert bound <= exact + 1e-9


@pytest.mark.parametrize(
    ("family", "prior", "rows"),
    [
        (jt.Poisson(1.0), jt.Gamma(2.0, 1.0), [1, 0, 3, 2]),
        (jt.Bernoulli(0.5), jt.Beta(2.0, 1.0), [1, 0, 1, 1]),
        (jt.Gaussian(0.0, 1.0), jt.NormalInverseGamma(0.0, 0.5, 2.0, 1.0), [0.3, 1.0, -2.0, 0.1]),
    ],
)
def test_with_one_component_the_bound_is_the_evidence(family, prior, rows):
    found = jt.clusters.choose_components(jt.Mixture([1.0], [family]), rows, [1], "evidence", MixturePrior(None, prior))
    assert found.scores[0] == pytest.approx(
        prior.log_evidence(type(family).statistics(np.array(rows, float))), rel=1e-9
    )


def test_three_clusters_have_the_most_evidence():
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(mean, 1.0, (60, 2)) for mean in (0.0, 7.0, 14.0)])
    rows[rng.random(rows.shape) < 0.1] = np.nan
    assert jt.clusters.choose_components(ONE, rows, range(1, 5), "evidence", start="k-means").best == 3


def test_the_evidence_needs_conjugate_priors():
    with pytest.raises(jt.JunctureError, match="the evidence needs a conjugate prior"):
        jt.clusters.choose_components(jt.Mixture([1.0], [jt.Poisson(1.0)]), [1, 2, 3], [1], "evidence")
