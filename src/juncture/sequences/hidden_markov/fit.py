"""`fit` for hidden Markov models: Baum-Welch, or one step of counting where all states are told."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np

from juncture.checks import check_iterable
from juncture.data.sequences.sequences import Sequences
from juncture.errors import InvalidData, Unsupported, UnvisitedStatesWarning, hint, warn_user
from juncture.iteration import Trace, Watch, check_progress
from juncture.learning.em.learners import ExpectationMaximization, learner_for
from juncture.learning.fit import Fit
from juncture.options import as_generator
from juncture.sequences.hidden_markov.baum_welch import AcceleratedBaumWelch, BaumWelch, Believed, Pass, expectation
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import Wishes, fixed_parts, tied_states
from juncture.sequences.hidden_markov.starts import Starts
from juncture.sequences.hidden_markov.statistics import (
    HiddenMarkovStatistics,
    counted,
    is_labelled,
    quietly_estimated,
    refuse_forbidden,
    refuse_unobserved,
    report_regularized,
    with_weights,
)

UNVISITED = 1e-8  # of all steps
TRIES = 3
Start = Literal["given", "k-means", "random", "left-to-right"]
STARTS = ("given", "k-means", "random", "left-to-right")


@dataclass(frozen=True, eq=False)
class SequenceTask:
    """A hidden Markov model to learn: where to start, and the algorithm from there."""

    starts: Starts
    kind: str
    progress: Watch | None

    def start(self) -> HiddenMarkovModel:
        return self.starts.make(self.kind)

    def another_start(self) -> HiddenMarkovModel:
        """Other clusters, if clusters are asked for; else at random."""
        return self.starts.make("k-means" if self.kind == "k-means" else "random")

    def algorithm(self, start: HiddenMarkovModel, acceleration: Any = None) -> BaumWelch:
        kind = BaumWelch if acceleration is None else AcceleratedBaumWelch
        return kind(start, self.starts.parts, self.starts.wishes)


def passes(model: HiddenMarkovModel, data: Any, lengths: Any, weights: Any) -> Pass:
    """All sequences, as often as asked for: in one part, or as the parts that a function gives anew each time."""
    if callable(data):
        if lengths is not None or weights is not None:
            raise InvalidData("parts that a function gives carry their own lengths and weights, as jt.Sequence")
        return lambda: filled(
            model.sequences(part) for part in check_iterable(data(), "what the function of the data gives")
        )
    sequences = with_weights(model.sequences(data, lengths), weights)
    return lambda: filled([sequences])


def filled(parts: Any) -> Iterator[Sequences]:
    """The parts that have any step that weighs something; one sentence if there is none."""
    some = False
    for part in parts:
        if (part.lengths[part.weights > 0] > 0).any():
            some = True
            yield part
    if not some:
        raise InvalidData("there is no step to learn from: all sequences are empty, or weigh nothing")


def unvisited(statistics: HiddenMarkovStatistics) -> np.ndarray:
    """Which states (almost) no step is expected in: (state,)."""
    visits = statistics.visits
    return np.asarray(visits <= UNVISITED * visits.sum())


def revived(
    end: tuple[Believed, Trace], learner: ExpectationMaximization, task: SequenceTask
) -> tuple[Believed, Trace]:
    """The best end, when unvisited states are drawn anew from the data and EM goes on, a few times."""
    for _ in range(TRIES):
        dead = unvisited(end[0].statistics)
        if not dead.any() or end[1].is_interrupted:
            break
        other = learner.climb(task.starts.reseeded(end[0], dead), task)
        end = other if other[0].objective > end[0].objective else end
    return end


def report_unvisited(model: HiddenMarkovModel, statistics: HiddenMarkovStatistics) -> None:
    dead = np.flatnonzero(unvisited(statistics))
    if dead.size:
        names = ", ".join(repr(model.states[state]) for state in dead[:8]) + (", …" if dead.size > 8 else "")
        warn_user(
            f"no sequence visits the state{'s' if dead.size > 1 else ''} {names}; what the prior does not tell of them"
            ' stays as it was: take fewer states, give a prior, other starts, or on_unvisited="reseed"',
            UnvisitedStatesWarning,
        )


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
    progress: Watch | None = None,
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
    learner = checked_learner(method)
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


def checked_learner(method: Any) -> ExpectationMaximization:
    learner = learner_for(method)
    if not isinstance(learner, ExpectationMaximization):
        raise Unsupported(f'hidden Markov models are learned by "em" or jt.ExpectationMaximization(…); got {method!r}')
    return learner


def checked_choice(choice: Any, known: tuple[str, ...], what: str) -> None:
    if not isinstance(choice, str) or choice not in known:
        raise InvalidData(f"{what} is one of {', '.join(map(repr, known))}; got {choice!r}; {hint(choice, known)}")
