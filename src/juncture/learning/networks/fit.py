"""`fit` for networks: counting for complete rows, expectation maximisation for rows with holes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.options import Options, as_generator, as_seed, used_seed
from juncture.data.column_kinds import warn_identifiers
from juncture.data.dataset import Dataset
from juncture.data.sources.contract import is_elsewhere, is_source
from juncture.errors import ImpossibleEvidenceWarning, InvalidData, warn_user
from juncture.graphs.directed import DirectedGraph
from juncture.learning.conditionals.contract import EstimationOptions, log_likelihood_of
from juncture.learning.conditionals.table import prior_of
from juncture.learning.em.expectation_maximization import ExpectationMaximization, has_full_m_step
from juncture.learning.fit import ERRORS, POSTERIOR, Fit
from juncture.learning.networks.estimation import (
    NetworkEstimate,
    estimate_conditionals,
    fixed_children,
    network_log_prior,
    report_unseen,
    resolve_estimation,
)
from juncture.learning.networks.expectation import FEW_DISTINCT, MAX_DISTINCT, collect_distinct
from juncture.learning.networks.gradient import GradientAscent
from juncture.learning.networks.problem import NetworkProblem
from juncture.learning.networks.standard_errors import errors_of_counts, standard_errors
from juncture.learning.networks.statistics import NetworkStatistics, count_if_complete
from juncture.learning.networks.templates import check_fixed, prepare_rows, say_kinds
from juncture.learning.options import DeclaredColumns
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress

if TYPE_CHECKING:
    from juncture.learning.networks.posterior import TablePosterior


@dataclass(frozen=True)
class NetworkOptions(NetworkEstimate, DeclaredColumns):
    """How the conditionals of a network are learned from rows.

    Parameters
    ----------
    latent
        The names of variables whose columns, if there are any, are not used.
    missing
        A marker of missing values, such as "?" or -999, or a list of markers.
    method
        "em" or "gradient", or an `ExpectationMaximization` or a `GradientAscent` with its options. Complete rows are
        counted in one step.
    """

    latent: Iterable[str] = ()
    missing: Any = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"em": ExpectationMaximization, "gradient": GradientAscent}


def fit_network(
    structure: Any,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    rng: Any = None,
    progress: ProgressCallback | None = None,
    options: NetworkOptions,
) -> Fit[BayesianNetwork]:
    """The network of the structure whose conditionals are learned from the rows."""
    check_fixed(structure, options.fixed)
    check_progress(progress)
    learner, declared = options.method, options.declared
    rows = say_kinds(structure, data, options)
    template, dataset = prepare_rows(structure, rows, declared, options.latent, weights, options.missing)
    if isinstance(structure, DirectedGraph) and isinstance(dataset, Dataset):
        warn_identifiers(dataset, declared.names if declared else ())
    estimation, kept = resolve_estimation(options, prior, template), fixed_children(template, options.fixed)
    statistics = count_if_complete(template, dataset) if has_full_m_step(learner) else None
    if statistics is not None:
        return fit_complete(template, statistics, estimation, kept)
    if is_source(dataset):
        dataset = collect_distinct(dataset, FEW_DISTINCT if is_elsewhere(dataset) else MAX_DISTINCT) or dataset
    starts_at_template = isinstance(structure, BayesianNetwork)
    seed = as_seed(rng)
    generator = as_generator(seed)
    problem = NetworkProblem(template, dataset, estimation, kept, starts_at_template, generator, learner.engine)
    if not starts_at_template:
        check_observed(problem, declared.names if declared else ())
    found, trace = learner.run(problem, progress)
    if has_full_m_step(learner):
        problem.report(found)
    fitted = Fit(found.model, found.log_likelihood, trace, found.statistics, used_seed(seed, generator))
    return with_errors(fitted, estimation, partial(standard_errors, found.model, dataset, kept))


def check_observed(problem: NetworkProblem, declared: tuple[str, ...]) -> None:
    """Refuse a real column of a graph that has no value in any row, unless it was declared to be hidden."""
    for variable in problem.template.variables:
        if variable.is_real and variable.name not in (*problem.levels, *declared):
            raise InvalidData(
                f"no row has a value of {variable.name!r}: drop it; or declare it in variables=[…], to learn it as a"
                " hidden variable; or give a BayesianNetwork, whose parameters say where learning starts"
            )


def fit_complete(
    template: BayesianNetwork, statistics: NetworkStatistics, options: EstimationOptions, fixed: frozenset[str]
) -> Fit[BayesianNetwork]:
    """Estimate from the counts of complete rows."""
    report_unseen(template, statistics, options, fixed)
    model, notes = estimate_conditionals(template, statistics, options, fixed)
    notes.warn()
    logs = {part.child.name: log_likelihood_of(part, statistics[part.child.name]) for part in model.conditionals}
    warn_of_impossible_rows(logs)
    log_likelihood = sum(logs.values())
    objective = log_likelihood + network_log_prior(model, options, fixed)
    trace = Trace((objective,), True, "complete data: estimated in one step")
    fitted = Fit(model, log_likelihood, trace, statistics)
    fitted.derived[POSTERIOR] = partial(posterior_of_fit, model, statistics, options, fixed)
    return with_errors(fitted, options, partial(errors_of_counts, model, statistics, fixed))


def posterior_of_fit(
    model: BayesianNetwork, statistics: NetworkStatistics, options: EstimationOptions, fixed: frozenset[str]
) -> TablePosterior:
    """The posterior of the tables that were learned; without a prior, it is that of the uniform one."""
    from juncture.learning.networks.posterior import posterior_of_tables

    given = {name: prior_of(options.prior, name) for name in model.variables.names}
    prior = {name: 1.0 if own is None else own for name, own in given.items()}
    return posterior_of_tables(model, statistics, prior, fixed)


def with_errors(
    fitted: Fit[BayesianNetwork], options: EstimationOptions, compute: Callable[[], dict[str, np.ndarray]]
) -> Fit[BayesianNetwork]:
    """The fit, which computes its standard errors when asked; with a prior it is at no maximum of the likelihood."""
    if options.prior is None:
        fitted.derived[ERRORS] = compute
    return fitted


def warn_of_impossible_rows(logs: dict[str, float]) -> None:
    """Warn of rows with probability zero, which only fixed conditionals can cause."""
    forbidding = [repr(name) for name, value in logs.items() if value == -math.inf]
    if forbidding:
        warn_user(
            "some rows have probability zero, by the conditionals that are not learned from them:"
            f" {', '.join(forbidding)}; the log-likelihood is -inf",
            ImpossibleEvidenceWarning,
        )
