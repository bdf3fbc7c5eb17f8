"""Laplace's evidence where there is no closed form: hidden Markov models of tables, generalised linear models.

Tables are given by log-odds, in which the mode of the posterior is that of pseudo-counts added to expected counts:
where a Dirichlet has the density Π p^(α-1) / B(α) of probabilities, their log-odds have Π p^α / B(α).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import gammaln

from juncture.base.checks import as_float, shown
from juncture.components.categorical import CategoricalEmissions
from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.choice.facts import Candidate, Evidence, Facts
from juncture.evaluation.choice.models import facts_of_model
from juncture.evaluation.choice.regressions import facts_of_generalized, read_pair
from juncture.families.posteriors.laplace import laplace_approximation, laplace_evidence
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.numerics.curvature import hessian
from juncture.numerics.stable import softmax
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel
from juncture.verbs import fit, log_prob

MANY = 60  # parameters whose second derivatives are not taken by differences


def facts_of_hidden_markov(candidate: Candidate, sequences: Any) -> Facts:
    """A hidden Markov model; with a pseudo-count for every cell of its tables, Laplace's evidence."""
    facts, model, count = facts_of_model(candidate, sequences), candidate.model, as_float(candidate.prior)
    if candidate.prior is None:
        return facts
    if not isinstance(model.emissions, CategoricalEmissions) or not 0 < count < np.inf:
        reason = "Laplace's evidence of a hidden Markov model is that of tables with one positive pseudo-count for all"
        return replace(facts, log_evidence=reason, ahead=reason)
    if any((table == 0).any() for table in tables_of(model)) or facts.num_parameters > MANY:  # type: ignore[operator]
        reason = f"Laplace's evidence is for tables without zeros, with at most {MANY} free parameters"
        return replace(facts, log_evidence=reason, ahead=reason)

    def evidence() -> Evidence:
        mode = fit(model, sequences, prior=count, point="mean").model
        return Evidence(
            log_evidence_around(mode, sequences, count),
            "approximate",
            "Laplace's approximation around one mode; the equal modes of other orders of the states are not counted",
        )

    return replace(facts, log_evidence=evidence, ahead="predictions one sequence ahead have no closed form")


def tables_of(model: HiddenMarkovModel) -> list[np.ndarray]:
    """The rows of probabilities: initial, transitions, emissions, each (row, state)."""
    return [model.initial[None], model.transition, model.emissions.probabilities]  # type: ignore[attr-defined]


def log_evidence_around(mode: HiddenMarkovModel, sequences: Any, count: float) -> float:
    """log p(data, θ̂) + (k/2) log 2π - ½ log |information|, with θ the log-odds against the last column."""
    tables = tables_of(mode)
    start = np.concatenate([(np.log(table[:, :-1]) - np.log(table[:, -1:])).reshape(-1) for table in tables])

    def log_joint(point: np.ndarray) -> float:
        found = tables_at(point, [table.shape for table in tables])
        emissions = CategoricalEmissions(found[2], mode.emissions.symbols)
        model = HiddenMarkovModel(found[0][0], found[1], emissions, states=mode.states)
        return float(np.sum(log_prob(model, sequences))) + sum(log_density(table, count) for table in found)

    if not len(start):
        return log_joint(start)
    return laplace_evidence(log_joint(start), -hessian(log_joint, start))


def tables_at(point: np.ndarray, shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Probabilities from their log-odds."""
    found, place = [], 0
    for rows, columns in shapes:
        odds = point[place : place + rows * (columns - 1)].reshape(rows, columns - 1)
        found.append(softmax(np.concatenate([odds, np.zeros((rows, 1))], axis=1)))
        place += odds.size
    return found


def log_density(table: np.ndarray, count: float) -> float:
    """Σ over rows of the log-density of their log-odds, α log p - log B(α)."""
    rows, columns = table.shape
    beta = columns * gammaln(count) - gammaln(columns * count)
    return float(count * np.log(table).sum() - rows * beta)


def facts_of_generalized_prior(candidate: Candidate, data: Any) -> Facts:
    """A generalised linear model whose coefficients have a Gaussian prior: evidence and draws by Laplace."""
    given, prior = candidate.model, candidate.prior
    line = given.model if isinstance(given, GeneralizedLinearFit) else given
    size = len(line.coefficients)
    facts = facts_of_generalized(given, data)
    if prior is None:
        return facts
    if not isinstance(prior, MultivariateGaussian) or prior.event_shape != (size,) or prior.batch_shape:
        raise InvalidData(f"the prior of {size} coefficients is one MultivariateGaussian over them; got {shown(prior)}")
    if line.response.has_dispersion:
        raise Unsupported(f"the dispersion of a {line.family.__name__} has no prior here: leave out the prior")
    inputs, targets = read_pair(data, line)

    def log_likelihoods(coefficients: np.ndarray) -> np.ndarray:
        model = GeneralizedLinearModel(line.family, coefficients, line.link, successes=line.successes, basis=line.basis)
        return np.asarray(model.predict(inputs).log_prob(targets))

    def approximate() -> Any:
        return laplace_approximation(
            lambda point: float(log_likelihoods(point).sum() + prior.log_prob(point)), line.coefficients
        )

    def draws(number: int, rng: np.random.Generator) -> np.ndarray:
        return np.stack([log_likelihoods(point) for point in approximate().family.sample(number, rng=rng)])

    how = "Laplace's approximation around the mode"
    return replace(
        facts,
        log_evidence=lambda: Evidence(approximate().log_evidence, "approximate", how),
        ahead="predictions one row ahead have no closed form",
        draws=draws,
    )
