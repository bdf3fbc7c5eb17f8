"""States that no sequence visits any more: they are held, by the prior or as they are, or try other data."""

from __future__ import annotations

import numpy as np

from juncture.errors import UnvisitedStatesWarning, warn_user
from juncture.iteration import Trace
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.sequences.hidden_markov.baum_welch import Believed
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.statistics import HiddenMarkovStatistics
from juncture.sequences.hidden_markov.task import SequenceTask

UNVISITED = 1e-8  # of all steps
TRIES = 3


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
        other = learner.run_from(task.starts.reseeded(end[0], dead), task)
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
