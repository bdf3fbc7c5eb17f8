"""Facts of regressions: data are (X, y), and probabilities are those of the targets given the inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from juncture.errors import InvalidData, Unsupported
from juncture.evaluation.models.facts import Evidence, Facts, check_logs
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.continuous.student_t import StudentT
from juncture.learning.newton import Newton
from juncture.supervised.regression.bases import FeatureModel
from juncture.supervised.regression.bayesian import BayesianLinearRegression, ConjugateLinearRegression, PosteriorFit
from juncture.supervised.regression.evidence import EvidenceFit
from juncture.supervised.regression.fisher_scoring import GeneralizedLinearOptions, fit_generalized_linear
from juncture.supervised.regression.generalized_linear import GeneralizedLinearFit, GeneralizedLinearModel
from juncture.supervised.regression.inputs_and_targets import read_inputs, read_pairs
from juncture.supervised.regression.laplace import laplace_logistic
from juncture.supervised.regression.linear import LinearFit, LinearRegression, solve_linear
from juncture.supervised.regression.logistic import (
    LogisticFit,
    LogisticOptions,
    LogisticRegression,
    fit_logistic,
)

FLAT = "its coefficients have a flat prior, or none: take jt.fit(…, penalty=jt.L2(…), penalize_constant=True)"


def read_pair(data: Any, model: FeatureModel) -> tuple[np.ndarray, Any]:
    """Inputs and targets; of a table with named columns those that the model was learned from."""
    if not isinstance(data, tuple) or len(data) != 2:
        raise InvalidData("a regression is compared on the pair (X, y): give data=(X, y)")
    inputs, targets = read_inputs(data[0], model.feature_names, extra="ignore"), np.asarray(data[1])
    if len(inputs) != len(targets):
        raise InvalidData(f"there are {len(inputs)} rows of inputs and {len(targets)} targets")
    return inputs, targets


def learned(
    inputs: np.ndarray, targets: np.ndarray, logs: Any, number: int, learn: Callable[[Any, Any], Callable[..., Any]]
) -> Facts:
    """The facts of a regression that was learned; `learn(inputs, targets)` gives its log-probability, a function."""
    found = check_logs(logs, "the regression")
    return Facts(
        num_rows=len(found),
        sample_size=len(found),
        num_parameters=number,
        log_likelihoods=lambda: found,
        held_out=lambda train, test: np.asarray(learn(inputs[train], targets[train])(inputs[test], targets[test])),
    )


def facts_of_linear(model: LinearRegression | LinearFit, data: Any) -> Facts:
    """Least squares: the coefficients and the noise variance are parameters."""
    line = model.model if isinstance(model, LinearFit) else model
    inputs, targets = read_pair(data, line)
    number = model.rank if isinstance(model, LinearFit) else len(line.coefficients)

    def learn(some: Any, those: Any) -> Any:
        return lambda x, t: solve_linear(read_pairs(some, those, None), line.basis).model.predict(x).log_prob(t)

    return learned(inputs, targets, line.predict(inputs).log_prob(targets), number + 1, learn)


def facts_of_logistic(model: LogisticRegression | LogisticFit, data: Any) -> Facts:
    """Log-odds; a fit with a Gaussian prior of every coefficient has Laplace's evidence."""
    classes = model.model if isinstance(model, LogisticFit) else model
    penalty = model.penalty if isinstance(model, LogisticFit) else None
    inputs, targets = read_pair(data, classes)
    is_proper = isinstance(model, LogisticFit) and model.has_proper_prior

    def fit_rows(some: Any, those: Any) -> LogisticFit:
        options = LogisticOptions(penalty=penalty, penalize_constant=is_proper, method=Newton())
        return fit_logistic(classes, some, those, options=options)

    def evidence() -> Evidence:
        found = laplace_logistic(fit_rows(inputs, targets)).log_evidence
        return Evidence(float(found), "approximate", "Laplace's approximation around the mode")  # type: ignore[arg-type]

    def draws(number: int, rng: np.random.Generator) -> np.ndarray:
        posterior = laplace_logistic(fit_rows(inputs, targets))
        points = posterior.coefficients.sample(number, rng=rng).reshape(number, *classes.coefficients.shape)
        each = (LogisticRegression(classes.classes, point, classes.basis) for point in points)
        return np.stack([one.log_prob(inputs, targets) for one in each])

    logs, number = classes.log_prob(inputs, targets), classes.coefficients.size
    facts = learned(inputs, targets, logs, number, lambda some, those: fit_rows(some, those).model.log_prob)
    notes = () if penalty is None else ("a penalised fit is not the maximum of the likelihood",)
    if not is_proper:
        return replace(facts, log_evidence=FLAT, ahead=FLAT, notes=notes)
    return replace(facts, log_evidence=evidence, draws=draws, ahead="it has no closed form", notes=notes)


def facts_of_generalized(model: GeneralizedLinearModel | GeneralizedLinearFit, data: Any) -> Facts:
    """A generalised linear model: its coefficients, and the dispersion where it has one."""
    line = model.model if isinstance(model, GeneralizedLinearFit) else model
    if isinstance(model, GeneralizedLinearFit) and model.penalty is not None:
        raise Unsupported(
            "a generalised linear model that was learned with a penalty has no criteria here: compare it"
            " by cross_validate"
        )
    inputs, targets = read_pair(data, line)

    def learn(some: Any, those: Any) -> Any:
        options = GeneralizedLinearOptions(method=Newton())
        found = fit_generalized_linear(line, some, those, options=options)
        return lambda x, t: found.model.predict(x).log_prob(t)

    number = len(line.coefficients) + int(line.response.has_dispersion)
    facts = learned(inputs, targets, line.predict(inputs).log_prob(targets), number, learn)
    is_moment = line.response.has_dispersion
    notes = ("its dispersion is Pearson's estimate, not the maximum of the likelihood",) if is_moment else ()
    return replace(facts, notes=notes)


def facts_of_bayesian(prior: Any, data: Any) -> Facts:
    """Linear regression with a conjugate prior of its weights, and of its noise where that is not known."""
    inputs, targets = read_pair(data, prior)
    rows = read_pairs(inputs, targets, None)
    features, after = prior.basis.features(rows.inputs), prior.update(inputs, targets)
    is_known = isinstance(prior, BayesianLinearRegression)
    score = leave_out_known if is_known else leave_out_unknown
    total = prior.log_evidence(inputs, targets)

    def held_out(train: np.ndarray, test: np.ndarray) -> np.ndarray:
        return np.asarray(prior.update(inputs[train], targets[train]).predict(inputs[test]).log_prob(targets[test]))

    return Facts(
        num_rows=len(rows.targets),
        sample_size=len(rows.targets),
        num_parameters=len(prior.mean) + int(not is_known),
        log_likelihoods=lambda: best_likelihoods(prior, rows.inputs, rows.targets),
        log_evidence=lambda: Evidence(total, "exact", "the integral over the conjugate prior"),
        ahead=lambda order: score_ahead(prior, inputs[order], targets[order]),
        left_out=lambda: score(after, features, rows.targets),
        held_out=held_out,
        draws=lambda number, rng: draw_likelihoods(after, features, rows.targets, number, rng),
    )


def facts_of_posterior(model: PosteriorFit, data: Any) -> Facts:
    """The prior of a fit; precisions that maximise the evidence were chosen by the rows, and are not averaged over."""
    facts = facts_of_bayesian(model.prior, data)
    if not isinstance(model, EvidenceFit):
        return facts
    total = model.prior.log_evidence(*read_pair(data, model.prior))
    how = "at precisions that maximise it, which is optimistic"
    return replace(facts, log_evidence=lambda: Evidence(total, "approximate", how), notes=(how,))


def best_likelihoods(prior: Any, inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """log p(row) at the least squares weights, with the noise that is known or most likely."""
    line = solve_linear(read_pairs(inputs, targets, None), prior.basis).model
    if not isinstance(prior, BayesianLinearRegression):
        return np.asarray(line.predict(inputs).log_prob(targets))
    return np.asarray(Gaussian(line.mean(inputs), np.full(len(targets), 1 / prior.noise_precision)).log_prob(targets))


def score_ahead(prior: Any, inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """log p(t | x, the rows before), one row after the other."""
    state, scores = prior, []
    for one, target in zip(inputs[:, None], targets[:, None], strict=True):
        scores.append(state.predict(one).log_prob(target)[0])
        state = state.update(one, target)
    return np.array(scores)


def leave_out_known(after: BayesianLinearRegression, features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """log p(t | the other rows): the residual e has e / q beside the other rows, with q = 1 - β φᵀ Λ'⁻¹ φ."""
    left = 1 - after.noise_precision * after._spread(features)
    residuals = (targets - features @ after.mean) / left
    return np.asarray(Gaussian(np.zeros(len(left)), 1 / (after.noise_precision * left)).log_prob(residuals))


def leave_out_unknown(after: ConjugateLinearRegression, features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """log p(t | the other rows): a Student t, with shape a' - ½ and scale b' - e²/2q of the others."""
    left = 1 - after._spread(features)
    errors = targets - features @ after.mean
    shape, rate = after.shape - 0.5, after.scale - 0.5 * errors**2 / left
    spread = np.sqrt(rate / shape / left)
    return np.asarray(StudentT(np.full(len(left), 2 * shape), np.zeros(len(left)), spread).log_prob(errors / left))


def draw_likelihoods(
    after: Any, features: np.ndarray, targets: np.ndarray, number: int, rng: np.random.Generator
) -> np.ndarray:
    """log p(row | θ) of posterior draws, (draw, row)."""
    if isinstance(after, BayesianLinearRegression):
        means = after.weights.sample(number, rng=rng) @ features.T
        return np.asarray(Gaussian(means, np.full(means.shape, 1 / after.noise_precision)).log_prob(targets))
    variances = np.asarray(after.noise_variance.sample(number, rng=rng))[:, None]
    around = rng.normal(size=(number, len(after.mean))) @ np.linalg.cholesky(after.covariance).T
    means = (after.mean + np.sqrt(variances) * around) @ features.T
    return np.asarray(Gaussian(means, np.broadcast_to(variances, means.shape)).log_prob(targets))
