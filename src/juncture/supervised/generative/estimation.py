"""From rows or their statistics to a classifier: point estimates, or parameters integrated out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_choice, check_number
from juncture.components.bernoulli import BernoulliEmissions, check_ones
from juncture.components.contract import Emissions
from juncture.components.word_counts import BagOfWords, check_counts
from juncture.data.sequences import as_one_sequence
from juncture.errors import InvalidData, Unsupported
from juncture.latent.mixtures.expectation import MixtureStatistics
from juncture.learning.em.expectation_maximization import resolve_learner
from juncture.supervised.generative.classifier import GenerativeClassifier, as_class_prior
from juncture.supervised.generative.columns import pseudo_rows
from juncture.supervised.generative.learning import (
    ClassProblem,
    LabelledRows,
    Learned,
    Restrict,
    count_labelled,
    count_shares,
    estimate_classifier,
    needs_em,
    run_em,
)
from juncture.supervised.generative.predictive import predictive_densities

ESTIMATES = ("point", "bayes")


@dataclass(frozen=True)
class Estimation:
    """How parameters are estimated.

    `alpha` is a pseudo-count of each cell of tables, and for rates as many rows at the mean of all classes.
    `class_prior` has the probabilities of classes, as `as_class_prior` takes them. `estimate` is "point" or "bayes".
    `restrict` makes a shared covariance diagonal or spherical.
    """

    alpha: float = 1.0
    class_prior: Any = None
    estimate: str = "point"
    restrict: Restrict | None = None

    def __post_init__(self) -> None:
        check_number(self.alpha, "alpha", least=0.0, finite=True)
        check_choice(self.estimate, ESTIMATES, "estimate")
        if self.estimate == "bayes" and not self.alpha:
            raise InvalidData('alpha must be above 0 where estimate="bayes": it is the parameter of the prior')


def learn(
    template: GenerativeClassifier,
    data: LabelledRows,
    options: Estimation,
    method: Any = "em",
) -> Learned:
    """The classifier of these rows: in one pass over them where nothing is missing that it needs, else by EM."""
    resolve_learner(method, ClassProblem.models)
    check_data(template, data)
    if not needs_em(template, data):
        statistics = count_labelled(template, data)
        return Learned(from_statistics(template, statistics, options), statistics)
    if options.estimate == "bayes":
        raise Unsupported(
            'estimate="bayes" has no closed form where labels, or entries of Gaussian vectors, are missing: take'
            ' estimate="point"'
        )
    shares = np.repeat(data.weights[:, None] / template.num_classes, template.num_classes, axis=1)
    prior = pseudo_rows(template.densities, count_shares(template, data.rows, shares).components, options.alpha)
    return run_em(ClassProblem(template, data, prior, options.class_prior, options.restrict), method)


def from_statistics(
    template: GenerativeClassifier, statistics: MixtureStatistics, options: Estimation
) -> GenerativeClassifier:
    """The classifier that the statistics of labelled rows give."""
    if options.estimate == "bayes":
        shares = as_class_prior(options.class_prior, template.classes, statistics.counts)
        densities = predictive_densities(template.densities, statistics.components, options.alpha)
        return GenerativeClassifier(shares, densities, template.classes)
    prior = pseudo_rows(template.densities, statistics.components, options.alpha)
    return estimate_classifier(template, statistics, prior, options.class_prior, options.restrict)


def check_data(template: GenerativeClassifier, data: LabelledRows) -> None:
    """Refuse cells that a family does not take, and rows that weigh nothing."""
    if not (data.weights[data.codes >= 0] > 0).any():
        raise InvalidData("no row with a label counts: their weights are zero")
    check_cells(template.densities, data.rows)


def check_cells(densities: Emissions, rows: Any) -> None:
    """Refuse cells that a family does not take; a sparse matrix is for counts of words, and zeros and ones."""
    if isinstance(rows, np.ndarray):
        densities.check(as_one_sequence(rows))
    elif isinstance(densities, BagOfWords):
        check_counts(rows)
    elif isinstance(densities, BernoulliEmissions):
        check_ones(rows)
    else:
        raise Unsupported(
            "a sparse matrix has counts of words, or zeros and ones: all columns are multinomial, or all Bernoulli; got"
            f" {densities.summary}"
        )
