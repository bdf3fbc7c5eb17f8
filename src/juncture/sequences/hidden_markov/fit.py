"""`fit` for hidden Markov models: Baum-Welch, or one step of counting where all steps are labelled."""

from __future__ import annotations

import operator
from collections.abc import Collection
from dataclasses import replace
from functools import reduce
from typing import Any, Literal

import numpy as np

from juncture.base.checks import check_iterable
from juncture.base.options import as_generator
from juncture.data.sources.sequence_source import SequenceParts, read_parts
from juncture.errors import InvalidData, UnvisitedStatesWarning, hint, warn_user
from juncture.learning.em.expectation_maximization import (
    ExpectationMaximization,
    em_steps,
    has_full_m_step,
    resolve_learner,
)
from juncture.learning.fit import Fit
from juncture.numerics.iteration import ProgressCallback, Trace, check_progress
from juncture.sequences.hidden_markov.baum_welch import HiddenMarkovProblem, HiddenMarkovState
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import LearningOptions, fixed_parts, tied_states
from juncture.sequences.hidden_markov.starts import Starts
from juncture.sequences.hidden_markov.statistics import (
    HiddenMarkovStatistics,
    check_allowed,
    check_observed,
    count_labelled,
    estimate_quietly,
    is_labelled,
    nonempty_parts,
    report_regularized,
    with_weights,
)

UNVISITED = 1e-8  # of all steps
TRIES = 3
Start = Literal["given", "k-means", "random", "left-to-right"]
STARTS = ("given", "k-means", "random", "left-to-right")


def sequence_parts(
    model: HiddenMarkovModel, data: Any, lengths: Any, weights: Any, group: Any = None, states: Any = None
) -> SequenceParts:
    """A function that starts a pass over all sequences: one part in memory, or parts of a table or a function."""
    if group is not None or states is not None:
        parts = read_parts(model, data, lengths, group, states, weights)
        return lambda: nonempty_parts(parts())
    if callable(data):
        if lengths is not None or weights is not None:
            raise InvalidData("parts that a function returns carry their own lengths and weights, as jt.Sequence")
        return lambda: nonempty_parts(
            model.sequences(part) for part in check_iterable(data(), "what the function of the data gives")
        )
    sequences = with_weights(model.sequences(data, lengths), weights)
    return lambda: nonempty_parts([sequences])


def unvisited(statistics: HiddenMarkovStatistics) -> np.ndarray:
    """Which states have (almost) no expected visits: (state,)."""
    visits = statistics.visits
    return np.asarray(visits <= UNVISITED * visits.sum())


def reseed_unvisited(
    end: tuple[HiddenMarkovState, Trace],
    learner: ExpectationMaximization,
    problem: HiddenMarkovProblem,
    progress: ProgressCallback | None,
) -> tuple[HiddenMarkovState, Trace]:
    """The best of the given end and a few more runs of EM, each with its unvisited states drawn anew from the data."""
    for _ in range(TRIES):
        dead = unvisited(end[0].statistics)
        if not dead.any() or end[1].is_interrupted:
            break
        other = learner.run_from(problem.starts.reseed(end[0], dead), problem, progress)
        end = other if other[0].objective > end[0].objective else end
    return end


def report_unvisited(model: HiddenMarkovModel, statistics: HiddenMarkovStatistics) -> None:
    dead = np.flatnonzero(unvisited(statistics))
    if dead.size:
        names = ", ".join(repr(model.states[state]) for state in dead[:8]) + (", …" if dead.size > 8 else "")
        warn_user(
            f"no sequence visits the state{'s' if dead.size > 1 else ''} {names}; their parameters stay as they were,"
            ' or as the prior has them: take fewer states, give a prior, other starts, or on_unvisited="reseed"',
            UnvisitedStatesWarning,
        )


def fit_hidden_markov(  # noqa: PLR0913 (one verb, many options)
    model: HiddenMarkovModel,
    data: Any,
    prior: Any = None,
    *,
    lengths: Any = None,
    group: str | None = None,
    states: str | None = None,
    weights: Any = None,
    fixed: Collection[str] = (),
    tied: Any = (),
    point: Literal["mean", "mode"] = "mean",
    start: Start = "given",
    method: Any = "em",
    on_unvisited: Literal["hold", "reseed"] = "hold",
    rng: Any = 0,
    progress: ProgressCallback | None = None,
) -> Fit[HiddenMarkovModel]:
    """Learn a hidden Markov model from sequences by Baum-Welch; zeros of initial and transition stay zeros.

    Labelled steps keep their state. If every step is labelled, one count suffices.

    Parameters
    ----------
    model
        The structure to learn, and with `start="given"` the model that learning starts from.
    data
        Sequences as `infer` takes them, or a function that returns parts of them, one after the other, for every pass.
        With `group`, a table of rows: a frame, a file, a query or a source, which is read block by block at every step.
    prior
        A pseudo-count for each cell of all tables, or a `HiddenMarkovPrior`.
    lengths, weights
        The lengths of the sequences in one stacked array; the weights of the sequences, or with `group` the name of
        the column that holds them.
    group, states
        The names of columns of a table: rows with the same cell in `group`, which must lie together, are one sequence
        in time order; `states` holds labels of states. All other columns are observed.
    fixed
        The names of parts that stay as they are: "initial", "transition", "emissions".
    tied
        A mapping from "emissions" or "transition" to a group label for each state: states with the same label share
        their distribution, or their row. A list of names ties all states. Tied states start with the parameters of the
        first of them; they need distributions of one kind and the same zeros.
    point
        "mean": a number or a `Dirichlet` adds its counts to those of the data, as for networks. "mode": each adds 1
        less. Of conjugate priors of other families the mode is learned in either case.
    start
        "given", "k-means" clusters, "random", or "left-to-right": then a state can only stay or move on to the next.
    method
        "em", or an `ExpectationMaximization` with restarts.
    on_unvisited
        "hold": a state that no sequence visits any more keeps its parameters, or those of the prior. "reseed": such a
        state starts again from other data. A warning names the states.
    rng, progress
        The source of random numbers for starts; a function that is called after each step.

    Returns
    -------
    Fit
        The model, its log-likelihood, the trace of the objective and the expected statistics.
    """
    learner = resolve_learner(method, "hidden Markov models")
    check_start(start, STARTS)
    check_start(on_unvisited, ("hold", "reseed"), "on_unvisited")
    check_progress(progress)
    shaped = as_left_to_right(model, fixed_parts(fixed)) if start == "left-to-right" else model
    template, rows = tied_states(shaped, tied, fixed_parts(fixed))
    options = LearningOptions.of(template, rows, prior, fixed, point)
    starts = Starts(
        template, sequence_parts(template, data, lengths, weights, group, states), options, as_generator(rng)
    )
    check_observed(starts.parts())
    problem = HiddenMarkovProblem(starts, start)
    labelled = estimate_labelled(problem) if has_full_m_step(learner) else None
    found, trace = labelled or learner.run(problem, progress)
    if on_unvisited == "reseed" and labelled is None:
        found, trace = reseed_unvisited((found, trace), learner, problem, progress)
    report_unvisited(found.model, found.statistics)
    if has_full_m_step(learner):
        report_regularized(found.model, found.statistics, options)
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


def estimate_labelled(problem: HiddenMarkovProblem) -> tuple[HiddenMarkovState, Trace] | None:
    """The model counted from sequences whose steps are all labelled; None where hidden variables are left."""
    starts = problem.starts
    if not all(is_labelled(part) for part in starts.parts()):
        return None
    template, options = starts.template, starts.options
    statistics = count_parts(template, starts.parts)
    check_allowed(template, statistics, options)
    model = estimate_quietly(template, statistics, options)
    if estimate_quietly(model, count_parts(model, starts.parts), options) != model:
        return None
    found = em_steps(problem, model).init()
    trace = Trace((found.objective,), True, "labelled sequences: estimated in one step")
    return replace(found, statistics=statistics), trace


def count_parts(model: HiddenMarkovModel, parts: SequenceParts) -> HiddenMarkovStatistics:
    return reduce(operator.add, (count_labelled(model, part) for part in parts()))


def as_left_to_right(model: HiddenMarkovModel, fixed: Collection[str] = ()) -> HiddenMarkovModel:
    """The model in which states come one after the other: as its zeros say, or else stay or move on by one."""
    transition, initial = model.transition, model.initial
    if "transition" not in fixed and np.tril(transition, -1).any():
        chain = np.eye(model.num_states) + np.eye(model.num_states, k=1)
        transition = chain / chain.sum(axis=1, keepdims=True)
    if "initial" not in fixed and (initial > 0).all():
        initial = np.eye(model.num_states)[0]
    return HiddenMarkovModel(initial, transition, model.emissions, states=model.states)


def check_start(choice: Any, known: tuple[str, ...], what: str = "start") -> None:
    if not isinstance(choice, str) or choice not in known:
        raise InvalidData(f"{what} is one of {', '.join(map(repr, known))}; got {choice!r}; {hint(choice, known)}")
