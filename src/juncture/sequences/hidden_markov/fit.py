"""`fit` for hidden Markov models: Baum-Welch, or one step of counting where all states are told."""

from __future__ import annotations

import operator
from collections.abc import Collection
from functools import reduce
from typing import Any, Literal

import numpy as np

from juncture.errors import InvalidData, hint
from juncture.iteration import ProgressCallback, Trace, check_progress
from juncture.learning.em.expectation_maximization import as_expectation_maximization
from juncture.learning.fit import Fit
from juncture.options import as_generator
from juncture.sequences.hidden_markov.baum_welch import Believed, Pass, expectation
from juncture.sequences.hidden_markov.estimation import quietly_estimated, refuse_forbidden, report_regularized
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.observed import refuse_unobserved
from juncture.sequences.hidden_markov.options import Wishes, fixed_parts
from juncture.sequences.hidden_markov.starts import Starts
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics, counted, is_labelled
from juncture.sequences.hidden_markov.task import SequenceTask, passes
from juncture.sequences.hidden_markov.tied_states import tied_states
from juncture.sequences.hidden_markov.unvisited import report_unvisited, revived

Start = Literal["given", "k-means", "random", "left-to-right"]
STARTS = ("given", "k-means", "random", "left-to-right")


def fit_hidden_markov(  # noqa: PLR0913 (one verb, many wishes)
    model: HiddenMarkovModel,
    data: Any,
    prior: Any = None,
    *,
    lengths: Any = None,
    weights: Any = None,
    fixed: Collection[str] = (),
    tied: Any = (),
    start: Start = "given",
    method: Any = "em",
    on_unvisited: Literal["hold", "reseed"] = "hold",
    rng: Any = 0,
    progress: ProgressCallback | None = None,
) -> Fit:
    """The hidden Markov model that fits sequences best, by Baum-Welch; zeros of initial and transition stay zeros.

    `data` is what `infer` takes, or a function that gives parts of it, one after the other, anew for every pass.
    Steps whose state is told keep to it; where all are, the model is counted in one step. The prior is a pseudo-count
    for all tables or a `HiddenMarkovPrior`. `weights` are those of the sequences. `fixed` names parts that stay as
    they are: "initial", "transition", "emissions". `tied` maps "emissions" or "transition" to a group label for each
    state: states with the same label share their law, or their row; a list of names lets all states share. They begin
    with what the first of them has; laws of different kinds, and different zeros, cannot be shared. `start` is the
    model "given", "k-means" clusters, "random", or "left-to-right": then a state can only stay or move on to the next.
    `method` may be an `ExpectationMaximization` with restarts. States that no sequence visits any more are held
    as they are, or by the prior, or with `on_unvisited="reseed"` try other data; a warning names them.
    """
    learner = as_expectation_maximization(method, "hidden Markov models")
    checked_choice(start, STARTS, "start")
    checked_choice(on_unvisited, ("hold", "reseed"), "on_unvisited")
    check_progress(progress)
    shaped = onwards_only(model, fixed_parts(fixed)) if start == "left-to-right" else model
    template, rows = tied_states(shaped, tied, fixed_parts(fixed))
    wishes = Wishes.of(template, rows, prior, fixed)
    starts = Starts(template, passes(template, data, lengths, weights), wishes, as_generator(rng))
    refuse_unobserved(starts.parts())
    task = SequenceTask(starts, start, progress)
    labelled = counted_once(starts)
    found, trace = labelled or learner.run(task)
    if on_unvisited == "reseed" and labelled is None:
        found, trace = revived((found, trace), learner, task)
    report_unvisited(found.model, found.statistics)
    report_regularized(found.model, found.statistics, wishes)
    return Fit(found.model, found.log_likelihood, trace, found.statistics)


def counted_once(starts: Starts) -> tuple[Believed, Trace] | None:
    """The model counted from sequences whose states are all told; None where something is left to expect."""
    if not all(is_labelled(part) for part in starts.parts()):
        return None
    template, wishes = starts.template, starts.wishes
    statistics = counted_parts(template, starts.parts)
    refuse_forbidden(template, statistics, wishes)
    model = quietly_estimated(template, statistics, wishes)
    if quietly_estimated(model, counted_parts(model, starts.parts), wishes) != model:
        return None
    log_likelihood = expectation(model, starts.parts)[1]
    objective = log_likelihood + wishes.log_prior(model)
    trace = Trace((objective,), True, "labelled sequences: estimated in one step")
    return Believed(model, statistics, log_likelihood, objective), trace


def counted_parts(model: HiddenMarkovModel, parts: Pass) -> HiddenMarkovStatistics:
    return reduce(operator.add, (counted(model, part) for part in parts()))


def onwards_only(model: HiddenMarkovModel, fixed: Collection[str] = ()) -> HiddenMarkovModel:
    """The model in which states come one after the other: as its zeros say, or else stay or move on by one."""
    transition, initial = model.transition, model.initial
    if "transition" not in fixed and np.tril(transition, -1).any():
        chain = np.eye(model.num_states) + np.eye(model.num_states, k=1)
        transition = chain / chain.sum(axis=1, keepdims=True)
    if "initial" not in fixed and (initial > 0).all():
        initial = np.eye(model.num_states)[0]
    return HiddenMarkovModel(initial, transition, model.emissions, states=model.states)


def checked_choice(choice: Any, known: tuple[str, ...], what: str) -> None:
    if not isinstance(choice, str) or choice not in known:
        raise InvalidData(f"{what} is one of {', '.join(map(repr, known))}; got {choice!r}; {hint(choice, known)}")
