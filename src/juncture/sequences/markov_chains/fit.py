"""`fit`, `statistics` and `estimate` for Markov chains: counting, and EM where states are missing."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from juncture.data.sequences.sequences import Sequences
from juncture.data.sources.sequences import empty_sequences
from juncture.errors import InvalidData
from juncture.iteration import ProgressCallback, Trace
from juncture.learning.conditionals.contract import Point
from juncture.learning.em.expectation_maximization import resolve_learner
from juncture.learning.fit import Fit
from juncture.options import as_generator
from juncture.sequences.hidden_markov.statistics import check_observed, weighted_parts
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
    model: MarkovChain, data: Any, *, lengths: Any = None, group: str | None = None, weights: Any = None
) -> MarkovChainStatistics:
    """The counts of sequences without holes; `weights` are those of the sequences."""

    def count(sequences: Sequences) -> MarkovChainStatistics:
        hole = first_hole(sequences)
        if hole is not None:
            raise InvalidData(f"statistics are of complete sequences; {hole} is missing: jt.fit allows holes")
        return count_complete(model, sequences)

    parts = weighted_parts(model, data, lengths, group, weights)()
    return reduce(add, map(count, parts), count_complete(model, empty_sequences(model.step_kind)))


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
    group: str | None = None,
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
    Where states are missing EM sums them out, from the given chain on; this is for chains of order 1. With `group`,
    `data` is a table (a frame, a file, a query or a source): rows with the same cell in that column are one sequence,
    and `weights` names a column.
    """
    parts = weighted_parts(model, data, lengths, group, weights)
    options = as_estimation_options(prior, model.order, point, on_unseen)
    hole = next((hole for hole in map(first_hole, parts()) if hole is not None), None)
    if hole is None:
        counts = (count_complete(model, part) for part in parts())
        found = Estimate(reduce(add, counts, count_complete(model, empty_sequences(model.step_kind))), options)
        found.report_unseen()
        trace = Trace((found.log_likelihood + found.log_prior,), True, "complete data: estimated in one step")
        return Fit(found.chain, found.log_likelihood, trace, found.statistics)
    if model.order > 1:
        raise InvalidData(
            f"{hole} is missing; a chain of order {model.order} is learned from complete sequences: cut this one there"
        )
    check_observed(parts())
    gaps = reduce(add, (GapCounts.of(part, model.num_states) for part in parts()))
    problem = MarkovChainProblem(model, gaps, options, as_generator(rng))
    found, trace = resolve_learner(method, "Markov chains").run(problem, progress)
    Estimate(found.statistics, options).report_unseen()
    return Fit(found.model, found.log_likelihood, trace, found.statistics)
