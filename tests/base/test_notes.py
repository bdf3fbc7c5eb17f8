"""Notes go up with the estimate; only a verb gives them to the user."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import juncture as jt
from juncture.base.notes import NO_NOTES, Note, Notes
from juncture.errors import RegularizedWarning, hold_warnings

POINTS = jt.GaussianEmissions([0.0, 5.0], [1.0, 1.0])
WEIGHTS = np.repeat(np.eye(2), 4, axis=0)
ROWS = np.array([1.0, 1.0, 1.0, 1.0, 3.0, 4.0, 5.0, 6.0])  # the first state shrinks to a point


def test_an_estimate_with_notes_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, notes = POINTS.estimate_with_notes(POINTS.statistics(ROWS, WEIGHTS))
    assert [(note.about, note.category) for note in notes.notes] == [(0, RegularizedWarning)]
    with pytest.warns(RegularizedWarning, match="the variance of state 0 shrank"):
        assert POINTS.estimate(POINTS.statistics(ROWS, WEIGHTS)) == found


def test_notes_are_named_from_the_inside_out():
    note = Note(UserWarning, "the variance of ", 5, " is held")
    moved = Notes((note,)).moved(lambda index: (index // 3, f"component {index % 3} of ")).moved(lambda index: (7, ""))
    assert moved.notes[0].message("state {}".format) == "the variance of component 2 of state 7 is held"
    named = Notes((Note(UserWarning, "", "'x'", " is held"),))
    assert named.moved(lambda index: (index + 1, "")) == named  # what has a name keeps it
    assert NO_NOTES + named == named == Notes.joined([NO_NOTES, named])


def test_the_same_sentence_is_said_once():
    note = Note(UserWarning, "", 0, " is held")
    with hold_warnings() as held:
        Notes((note, note)).warn()
    assert [one.message for one in held] == ["state 0 is held"]


def test_a_fit_warns_once_also_where_warnings_are_held_for_another_process():
    """Each step of EM once held its own warnings in a worker process, whatever the filters of warnings said."""
    start = jt.Mixture([0.5, 0.5], jt.Gaussian([1.0, 4.5], [0.1, 1.0]))
    with hold_warnings() as held:
        jt.fit(start, ROWS)
    assert [one.category for one in held].count(RegularizedWarning) == 1
