"""`fit`: a model learned from data; where rows have holes, by expectation maximisation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from juncture.data.dataset import Dataset
from juncture.errors import ImpossibleEvidenceWarning, Unsupported, warn_user
from juncture.iteration import Trace, Watch, check_progress
from juncture.learning.conditionals.contract import Point, Wishes, log_likelihood_of
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.learning.networks.estimation import (
    checked_prior,
    estimated_network,
    kept_children,
    log_prior_of,
    report_unseen,
)
from juncture.learning.networks.gradient import GradientAscent
from juncture.learning.networks.problem import Task
from juncture.learning.networks.statistics import statistics_of
from juncture.learning.networks.templates import prepared, refuse_fixed_graph
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.options import as_generator, chosen
from juncture.variables import Variable


def fit_network(  # noqa: PLR0913 (one verb, many wishes)
    structure: Any,
    data: Any,
    prior: Any = None,
    *,
    variables: Iterable[Variable] | None = None,
    latent: Iterable[str] = (),
    weights: Any = None,
    fixed: Iterable[str] = (),
    point: Point = "mean",
    on_unseen: Any = "uniform",
    method: Any = "em",
    rng: Any = 0,
    progress: Watch | None = None,
) -> Fit:
    refuse_fixed_graph(structure, fixed)
    learner = resolve_learner(method)
    check_progress(progress)
    template, dataset = prepared(structure, data, variables, latent, weights)
    wishes, kept = Wishes(checked_prior(prior, template), point, on_unseen), kept_children(template, fixed)
    if dataset.is_complete and len(dataset.columns) == len(template.variables):
        return fit_complete(template, dataset, wishes, kept)
    is_start = isinstance(structure, BayesianNetwork)
    task = Task(template, dataset, wishes, kept, is_start, as_generator(rng), progress)
    found, trace = learner.run(task)
    report_unseen(template, found.statistics, wishes, kept)
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


def fit_complete(template: BayesianNetwork, data: Dataset, wishes: Wishes, fixed: frozenset[str]) -> Fit:
    """Counted once, estimated once."""
    statistics = statistics_of(template, data)
    report_unseen(template, statistics, wishes, fixed)
    model = estimated_network(template, statistics, wishes, fixed)
    logs = {part.child.name: log_likelihood_of(part, statistics[part.child.name]) for part in model.conditionals}
    warn_of_impossible(logs)
    log_likelihood = sum(logs.values())
    objective = log_likelihood + log_prior_of(model, wishes, fixed)
    trace = Trace((objective,), True, "complete data: estimated in one step")
    return Fit(model, log_likelihood, trace, statistics)


def warn_of_impossible(logs: dict[str, float]) -> None:
    """What is estimated allows every row; what stays as it is may forbid some."""
    forbidding = [repr(name) for name, value in logs.items() if value == -math.inf]
    if forbidding:
        warn_user(
            "some rows have probability zero, by the conditionals that are not learned from them:"
            f" {', '.join(forbidding)}; the log-likelihood is -inf",
            ImpossibleEvidenceWarning,
        )


LEARNERS: dict[str, Callable[[], Any]] = {"em": ExpectationMaximization, "gradient": GradientAscent}


def resolve_learner(method: Any) -> Any:
    """The method of learning that a name or an object stands for."""
    learner = chosen(method, LEARNERS, what="method")
    if not hasattr(learner, "run"):
        raise Unsupported(
            f"a method of learning is one of {', '.join(map(repr, LEARNERS))}, or an object such as"
            f" jt.ExpectationMaximization(…); got {learner!r}"
        )
    return learner
