"""`fit` for factor analysis and probabilistic PCA: in closed form where there is one, else by EM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_choice, check_kind
from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.base.values import few
from juncture.data.rows import Rows, keep_names
from juncture.errors import InvalidData, RegularizedWarning, Unsupported, warn_user
from juncture.families.continuous.inverse_gamma import InverseGamma
from juncture.latent.factor_analysis.em import (
    CompleteFactors,
    FactorData,
    FactorProblem,
    IncompleteFactors,
    Start,
    best_loadings,
    log_likelihood,
)
from juncture.latent.factor_analysis.model import LinearFactors, ProbabilisticPCA
from juncture.learning.em.contract import EMState
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress


@dataclass(frozen=True)
class ClosedForm(Options):
    """The likeliest probabilistic PCA of complete rows (Tipping and Bishop 1999).

    The noise is the mean of the eigenvalues that are left out; the loadings are the leading eigenvectors, scaled.
    """

    def run(
        self, problem: FactorProblem, progress: ProgressCallback | None = None
    ) -> tuple[EMState[LinearFactors, Any], Trace]:
        reason = why_no_closed_form(problem)
        if reason:
            raise Unsupported(f"there is no closed form for {reason}; take method='em'")
        moments, factors = problem.data.complete, problem.template.num_factors
        weight = float(moments.weight)
        covariance = moments.scatter / weight
        rest = np.maximum(np.linalg.eigvalsh(covariance)[: len(covariance) - factors], 0.0)
        noise = problem.noise_from(rest * weight, np.full(len(rest), weight))
        loadings = best_loadings(covariance, np.full(len(covariance), noise), factors)
        model = type(problem.template)(loadings, moments.center + moments.residual, noise)
        found = log_likelihood(model, moments)
        if progress is not None:
            progress(0, found)
        return EMState(model, moments, found, found), Trace((found,), True, "the maximum in closed form")


def why_no_closed_form(problem: FactorProblem) -> str:
    """What stands in the way of a closed form; nothing if nothing does."""
    if not isinstance(problem.template, ProbabilisticPCA):
        return "factor analysis"
    if problem.data.has_holes:
        return "rows with holes"
    if problem.template.num_factors == problem.template.num_columns:
        return "as many factors as columns"
    return "a prior of the noise" if problem.prior is not None else ""


@dataclass(frozen=True)
class FactorOptions(Options):
    """How factor analysis and probabilistic PCA are learned: in closed form where there is one, else by EM.

    Parameters
    ----------
    start
        "data" for the principal components, "given", or "random".
    method
        "em", an `ExpectationMaximization` with its options, or "closed-form" for probabilistic PCA of complete rows;
        "auto" takes the closed form where there is one, else EM with "squarem".
    """

    start: Start = "data"
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization, "closed-form": ClosedForm}

    def __post_init__(self) -> None:
        check_choice(self.start, ("data", "given", "random"), "start")

    def with_learner(self, given: Mapping[str, Any]) -> Self:
        """The same options with a learner; "auto" waits for the data, unless options of EM are given."""
        is_auto = isinstance(self.method, str) and self.method == "auto"
        return self if is_auto and not given else super().with_learner(given)


@keep_names
def fit_factors(
    model: LinearFactors,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: FactorOptions,
) -> Fit[Any]:
    """Learn loadings, mean and noise from rows of numbers; what is missing (NaN) is integrated out.

    Parameters
    ----------
    model
        The numbers of columns and factors, and with `start="given"` the model that EM starts from.
    data
        Rows as `infer` takes them, or a source that is read block by block.
    prior
        None, or an `InverseGamma` for the variances of the noise, which keeps them from 0; its posterior's mode is
        learned.
    weights
        The weight of each row.
    rng, progress
        A seed or a `numpy.random.Generator` for starts; a function that is called after each step.
    options
        Where learning starts, and the learner.

    Returns
    -------
    Fit
        The model, its log-likelihood, the trace of the objective and the (expected) statistics.
    """
    check_progress(progress)
    noise_prior, seed = as_prior(prior), as_seed(rng)
    generator = as_generator(seed)
    rows = Rows.of(data, model.feature_names, weights=weights, extra="ignore")
    read = FactorData.of(rows.parts((model.num_columns,)), model.num_columns, keep=rows.source is None)
    if not np.diagonal(read.covariance).any():
        raise InvalidData("every column is constant, so that no likelihood is the largest; there must be some variance")
    kind = IncompleteFactors if read.has_holes else CompleteFactors
    problem = kind(model, read, noise_prior, options.start, generator)
    learner = options.method
    if isinstance(learner, str):  # "auto"
        learner = ExpectationMaximization(acceleration="squarem") if why_no_closed_form(problem) else ClosedForm()
    found, trace = learner.run(problem, progress)
    report_floor(found.model, read)
    return Fit(found.model, found.log_likelihood, trace, found.statistics, used_seed(seed, generator))


def as_prior(prior: Any) -> InverseGamma | None:
    if prior is None:
        return None
    found: InverseGamma = check_kind(prior, InverseGamma, "the prior of the noise")
    if found.batch_shape:
        raise InvalidData(f"the prior of the noise is one InverseGamma; this is a batch of {found.batch_shape}")
    return found


def report_floor(model: LinearFactors, data: FactorData) -> None:
    """One warning where noise would have gone to 0."""
    floor = data.floor if np.ndim(model.noise) else data.shared_floor
    held = np.flatnonzero(model.variances <= floor * (1 + 1e-12))
    if len(held):
        warn_user(
            f"the likelihood wants no noise in column {few(map(str, held.tolist()))}: its variance is held above 0;"
            " take fewer factors, or a prior such as InverseGamma(2.0, 0.1)",
            RegularizedWarning,
        )
