"""`fit`, `statistics` and `estimate` for Markov chains: counting, and EM where states are missing."""

from __future__ import annotations

from typing import Any

from juncture.errors import InvalidData
from juncture.iteration import ProgressCallback, Trace
from juncture.learning.conditionals.contract import Point
from juncture.learning.em.expectation_maximization import resolve_learner
from juncture.learning.fit import Fit
from juncture.options import as_generator
from juncture.sequences.hidden_markov.statistics import check_observed, with_weights
from juncture.sequences.markov_chains.em import GapCounts, MarkovChainProblem
from juncture.sequences.markov_chains.estimation import Estimate, as_estimation_options
from juncture.sequences.markov_chains.model import MarkovChain
from juncture.sequences.markov_chains.statistics import (
    MarkovChainStatistics,
    as_statistics,
    count_complete,
    first_hole,
)


def chain_statistics(
    model: MarkovChain, data: Any, *, lengths: Any = None, weights: Any = None
) -> MarkovChainStatistics:
    """The counts of sequences without holes; `weights` are those of the sequences."""
    sequences = with_weights(model.sequences(data, lengths), weights)
    hole = first_hole(sequences)
    if hole is not None:
        raise InvalidData(f"statistics are of complete sequences; {hole} is missing: jt.fit allows holes")
    return count_complete(model, sequences)


def estimate_chain(
    model: MarkovChain, statistics: Any, prior: Any = None, *, point: Point = "mean", on_unseen: Any = "uniform"
) -> MarkovChain:
    """The chain that the statistics lead to."""
    found = Estimate(as_statistics(statistics, model), as_estimation_options(prior, model.order, point, on_unseen))
    found.report_unseen()
    return found.chain


def fit_chain(  # noqa: PLR0913 (one verb, many options)
    model: MarkovChain,
    data: Any,
    prior: Any = None,
    *,
    lengths: Any = None,
    weights: Any = None,
    point: Point = "mean",
    on_unseen: Any = "uniform",
    method: Any = "em",
    rng: Any = 0,
    progress: ProgressCallback | None = None,
) -> Fit[MarkovChain]:
    """A chain of the same states and order, learned from sequences of states, whose `weights` may be given.

    Without a prior, maximum likelihood; with one (a pseudo-count per cell, an array, `Dirichlet`, `BDeu`, `K2`, or a
    mapping from "initial" and "transition" to these) the mean of the posterior, or with `point="mode"` its mode.
    Where states are missing EM sums them out, from the given chain on; this is for chains of order 1.
    """
    sequences = with_weights(model.sequences(data, lengths), weights)
    options = as_estimation_options(prior, model.order, point, on_unseen)
    hole = first_hole(sequences)
    if hole is None:
        found = Estimate(count_complete(model, sequences), options)
        found.report_unseen()
        trace = Trace((found.log_likelihood + found.log_prior,), True, "complete data: estimated in one step")
        return Fit(found.chain, found.log_likelihood, trace, found.statistics)
    if model.order > 1:
        raise InvalidData(
            f"{hole} is missing; a chain of order {model.order} is learned from complete sequences: cut this one there"
        )
    check_observed([sequences])
    problem = MarkovChainProblem(model, GapCounts.of(sequences, model.num_states), options, as_generator(rng))
    found, trace = resolve_learner(method, "Markov chains").run(problem, progress)
    Estimate(found.statistics, options).report_unseen()
    return Fit(found.model, found.log_likelihood, trace, found.statistics)
