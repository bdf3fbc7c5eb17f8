"""Fully Bayesian classes: the parameters of each class integrated out under a conjugate prior.

The density of a new row in a class is p(row | rows of the class) = p(row, rows) / p(rows), the ratio of two evidences:
a Student t for Gaussians, a negative binomial for Poisson counts, a Dirichlet-multinomial for counts of words. One cell
of zeros and ones, or of categories, has the mean of its Beta or Dirichlet posterior as its probability.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions, EmissionStatistics
from juncture.components.convert import of_batch
from juncture.components.family import FamilyEmissions, StudentEmissions
from juncture.components.gaussian import GaussianEmissions
from juncture.components.gaussian_estimate import reference_moments
from juncture.components.independent import IndependentEmissions
from juncture.components.word_counts import DirichletCounts, MultinomialCounts
from juncture.errors import Unsupported
from juncture.families.vectors.normal_gamma import NormalInverseGamma
from juncture.families.vectors.normal_inverse_wishart import NormalInverseWishart
from juncture.supervised.generative.columns import pseudo_rows

STRENGTH = 0.01  # rows that the prior of a mean weighs


@singledispatch
def predictive_densities(densities: Emissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    """The densities of a new row in each class, given the statistics of the rows of the class.

    `alpha` is the parameter of Beta and Dirichlet priors, and the weight in rows of Gamma priors. Gaussians have a weak
    prior: the mean of all classes with the strength of a hundredth of a row, their variances with d + 2 degrees.
    """
    raise Unsupported(f'estimate="bayes" has no closed form for {densities.summary}: take estimate="point"')


@predictive_densities.register
def _(densities: IndependentEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    pairs = zip(densities.parts, statistics.parts, strict=True)
    parts = [predictive_densities(part, found, alpha) for part, found in pairs]
    flat = [each for part in parts for each in (part.parts if isinstance(part, IndependentEmissions) else (part,))]
    return IndependentEmissions(flat)


@predictive_densities.register
def _(densities: BernoulliEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    return densities.estimate(statistics, alpha)  # (ones + α) / (seen + 2α), the mean of the Beta posterior


@predictive_densities.register
def _(densities: CategoricalEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    return densities.estimate(statistics, alpha)


@predictive_densities.register
def _(densities: MultinomialCounts, statistics: EmissionStatistics, alpha: float) -> Emissions:
    return DirichletCounts(statistics.parts[0] + alpha)


@predictive_densities.register
def _(densities: FamilyEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    prior = pseudo_rows(densities, statistics, alpha)
    if prior is None:
        raise Unsupported(
            f'estimate="bayes" has no conjugate prior for {densities.summary} columns: take estimate="point"'
        )
    return FamilyEmissions(prior.posterior(statistics.parts[0]).predictive())


@predictive_densities.register
def _(densities: GaussianEmissions, statistics: EmissionStatistics, alpha: float) -> Emissions:
    moments = statistics.parts[0]
    if densities.structure not in {"diagonal", "full"}:
        raise Unsupported(
            f'estimate="bayes" has a closed form for "full" and "diagonal" covariances; got "{densities.structure}"'
        )
    center, variance = reference_moments(*statistics.parts)
    if densities.structure == "full":
        size = densities.dimension
        prior: Any = NormalInverseWishart(center, STRENGTH, size + 2.0, np.diag(variance))
        return StudentEmissions(prior.posterior(moments).predictive())
    prior = NormalInverseGamma(center, STRENGTH, 1.5, 0.5 * variance)
    family = prior.posterior(moments).predictive()  # (class, column)
    return IndependentEmissions(of_batch(family[:, column]) for column in range(densities.dimension))
