"""`fit`: a model learned from data; where rows have holes, by expectation maximisation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import singledispatch
from typing import Any

from juncture.data.dataset import Dataset
from juncture.errors import ImpossibleEvidenceWarning, Unsupported, warn_user
from juncture.graphs.directed import DirectedGraph
from juncture.iteration import Trace, Watch, check_progress
from juncture.learning.conditionals.contract import Point, Wishes, log_likelihood_of
from juncture.learning.em.learners import learner_for
from juncture.learning.networks.estimation import estimated_network, report_unseen
from juncture.learning.networks.statistics import statistics_of
from juncture.learning.networks.task import Task
from juncture.learning.networks.templates import prepared, refuse_fixed_graph
from juncture.learning.networks.tied_conditionals import checked_prior, kept_children, log_prior_of
from juncture.networks.bayesian_network import BayesianNetwork
from juncture.options import as_generator
from juncture.values import Value
from juncture.variables import Variable
from juncture.verbs import taught_by


class Fit(Value):
    """What learning gives: the model, the log-likelihood of the data under it, and how it went.

    `statistics` are those of the data: where rows had holes, those expected under the model.
    """

    _fields = ("model", "log_likelihood", "trace", "statistics")
    model: Any
    log_likelihood: float
    trace: Trace
    statistics: Any

    def __init__(self, model: Any, log_likelihood: float, trace: Trace, statistics: Any) -> None:
        self._set(model=model, log_likelihood=log_likelihood, trace=trace, statistics=statistics)

    def __repr__(self) -> str:
        return f"Fit({self.model!r}, log-likelihood {self.log_likelihood:.6g}; {self.trace.reason})"


@taught_by(
    {
        "HiddenMarkovModel": "juncture.sequences.hidden_markov.fit",
        "MarkovChain": "juncture.sequences.markov_chains.fit",
        "LinearGaussianStateSpace": "juncture.sequences.state_space.fit",
        "Mixture": "juncture.latent.mixtures.fit",
    }
)
@singledispatch
def fit(structure: Any, data: Any, prior: Any = None, **options: Any) -> Fit:
    """A model of the given structure, learned from data.

    Models in time order have options of their own: see `juncture.sequences.hidden_markov.fit` for a `HiddenMarkovModel`,
    `juncture.sequences.markov_chains.fit` and `juncture.sequences.state_space.fit`.

    The structure is a `DirectedGraph`, or a `BayesianNetwork` whose conditionals say their kind and, for rows with
    holes, where to start. Holes and latent variables are filled in by expectation maximisation. The prior is one of
    tables; a `Logistic` takes a `Gaussian` with mean 0 for its weights.

    The options: `variables` declares states, also of latent variables; `latent` names variables whose columns, if
    there are any, are not used; `weights` are those of the rows, or the name of their column; `fixed` names children
    whose conditionals stay as they are; `point` is "mean" or "mode" of the posterior; `on_unseen` is "uniform" or
    "error", for parents' states that no row has. For rows with holes, `method` is "em", "gradient", an
    `ExpectationMaximization` or a `GradientAscent`; `rng` the seed of starts at random; and `progress(step, objective)`
    is called after each step.
    """
    raise Unsupported(
        "fit takes a DirectedGraph, a BayesianNetwork, a HiddenMarkovModel, a MarkovChain or a"
        f" LinearGaussianStateSpace; got {type(structure).__name__}"
        f"{'' if not hasattr(structure, 'consistent_extension') else ': take a graph of it, consistent_extension()'}"
    )


@fit.register(BayesianNetwork)
@fit.register(DirectedGraph)
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
    learner = learner_for(method)
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
