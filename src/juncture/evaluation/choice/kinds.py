"""`facts_of`: the facts of whatever may be compared, by its class."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import shown
from juncture.components.mixture import Mixture
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.choice.facts import Candidate, Facts
from juncture.evaluation.choice.families import facts_of_family, facts_of_member
from juncture.evaluation.choice.laplace import facts_of_generalized_prior, facts_of_hidden_markov
from juncture.evaluation.choice.models import facts_of_mixture, facts_of_model
from juncture.evaluation.choice.networks import facts_of_graph
from juncture.evaluation.choice.predictive import read_draws
from juncture.evaluation.choice.regressions import (
    facts_of_bayesian,
    facts_of_evidence_fit,
    facts_of_generalized,
    facts_of_linear,
    facts_of_logistic,
)
from juncture.families.family import Family
from juncture.graphs.directed import DirectedGraph
from juncture.graphs.undirected import UndirectedGraph
from juncture.learning.fit import Fit
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.supervised.regression.bayesian import BayesianLinearRegression
from juncture.supervised.regression.conjugate import ConjugateLinearRegression
from juncture.supervised.regression.evidence import EvidenceFit
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel
from juncture.supervised.regression.linear import LinearFit, LinearRegression
from juncture.supervised.regression.logistic import LogisticFit, LogisticRegression
from juncture.verbs import KINDS

REGRESSIONS: dict[tuple[type, ...], Any] = {
    (LinearRegression, LinearFit): facts_of_linear,
    (LogisticRegression, LogisticFit): facts_of_logistic,
    (GeneralizedLinearModel, GeneralizedLinearFit): facts_of_generalized,
    (BayesianLinearRegression, ConjugateLinearRegression): facts_of_bayesian,
    (EvidenceFit,): facts_of_evidence_fit,
}
CANDIDATES: dict[tuple[type, ...], Any] = {
    (Family,): facts_of_member,
    (DirectedGraph, BayesianNetwork): facts_of_graph,
    (Mixture,): facts_of_mixture,
    (HiddenMarkovModel,): facts_of_hidden_markov,
    (GeneralizedLinearModel, GeneralizedLinearFit): facts_of_generalized_prior,
}
DRAWS_ONLY = "log-likelihoods of draws have no model: take 'loo' or 'waic'"


def facts_of(model: Any, data: Any) -> Facts:
    """What the criteria need of a model, a fit, a candidate, or the log-likelihoods of draws."""
    if isinstance(model, np.ndarray):
        return facts_of_draws(model)
    for classes, build in REGRESSIONS.items():
        if isinstance(model, classes):
            facts: Facts = build(model, data)
            return facts
    candidate = model if isinstance(model, Candidate) else Candidate(model.model if isinstance(model, Fit) else model)
    return facts_of_candidate(candidate, data)


def facts_of_candidate(candidate: Candidate, data: Any) -> Facts:
    """The facts of a family or a model that has the verbs."""
    model = candidate.model
    if isinstance(model, type) and issubclass(model, Family):
        return facts_of_family(candidate, data)
    if candidate.known:
        raise InvalidData(f"only parameters of families are known beforehand; got {', '.join(candidate.known)}")
    for classes, build in CANDIDATES.items():
        if isinstance(model, classes):
            facts: Facts = build(candidate, data)
            return facts
    if any(kind.__name__ in KINDS for kind in type(model).__mro__) and not isinstance(model, UndirectedGraph):
        return facts_of_model(candidate, data)
    raise Unsupported(
        "a model to compare is a family, a network, a graph, a mixture, a model with hidden parts or of sequences, a"
        f" regression, the Fit or a Candidate of one, or an array of log-likelihoods (draw, row); got {shown(model)}"
    )


def facts_of_draws(log_likelihoods: np.ndarray) -> Facts:
    """Posterior draws of a model that is known by its log-likelihoods only."""
    draws = read_draws(log_likelihoods)
    return Facts(
        num_rows=draws.shape[1],
        sample_size=draws.shape[1],
        num_parameters=DRAWS_ONLY,
        log_likelihoods=DRAWS_ONLY,
        log_evidence=DRAWS_ONLY,
        ahead=DRAWS_ONLY,
        held_out=DRAWS_ONLY,
        draws=lambda number, rng: draws,
    )
