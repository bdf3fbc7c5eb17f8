"""The one loop: when it stops, what it says of it, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from juncture.errors import ObjectiveDecreased
from juncture.numerics.iteration import Trace, iterate


@dataclass
class Listed:
    """An algorithm whose objectives are written down: the state is the place in the list."""

    values: list[float]
    interrupted_at: int | None = None
    steps: list[int] = field(default_factory=list)

    def init(self):
        return 0

    def step(self, state):
        self.steps.append(state)
        if state + 1 == self.interrupted_at:
            raise KeyboardInterrupt
        return state + 1

    def objective(self, state):
        return self.values[min(state, len(self.values) - 1)]


def test_it_stops_when_the_gain_is_small_relative_to_the_objective():
    state, trace = iterate(Listed([-1000.0, -500.0, -499.0, -498.99999]), tolerance=1e-6)
    assert state == 3
    assert trace == Trace(
        (-1000.0, -500.0, -499.0, -498.99999), True, "the gain fell below 1e-06 of the objective's rise"
    )
    assert trace.num_steps == 3


def test_it_stops_out_of_steps():
    state, trace = iterate(Listed([1.0, 2.0, 3.0, 4.0]), max_steps=2)
    assert (state, trace.converged, trace.values) == (2, False, (1.0, 2.0, 3.0))
    assert "2 steps" in trace.reason


def test_a_decrease_beyond_rounding_is_an_error():
    with pytest.raises(ObjectiveDecreased, match="step 2 lowered the objective from -5 to -6"):
        iterate(Listed([-7.0, -5.0, -6.0]))
    assert iterate(Listed([-7.0, -5.0, -5.0 - 1e-11]))[1].converged  # rounding


def test_an_objective_that_is_no_number_is_an_error():
    with pytest.raises(ObjectiveDecreased, match="nan"):
        iterate(Listed([-7.0, float("nan")]))


def test_an_impossible_start_may_become_possible():
    assert iterate(Listed([-float("inf"), -2.0, -1.0, -1.0]))[1].values[1:] == (-2.0, -1.0, -1.0)


def test_ctrl_c_in_a_step_keeps_the_last_whole_one():
    state, trace = iterate(Listed([1.0, 2.0, 3.0, 4.0], interrupted_at=3))
    assert (state, trace.values, trace.converged) == (2, (1.0, 2.0, 3.0), False)
    assert trace.is_interrupted
    assert trace.reason == "interrupted after step 2"


def test_ctrl_c_while_watching_keeps_the_step_that_was_shown():
    seen = []

    def watch(step, value):
        seen.append((step, value))
        if step == 2:
            raise KeyboardInterrupt

    state, trace = iterate(Listed([1.0, 2.0, 3.0, 4.0]), progress=watch)
    assert seen == [(1, 2.0), (2, 3.0)]
    assert (state, trace.reason) == (2, "interrupted after step 2")


class Babylonian:
    """√2 by averaging, which converges; `step` of a wrong sign oscillates."""

    def init(self):
        return 1.0

    def step(self, state):
        return (state + 2 / state) / 2

    def change(self, before, after):
        return abs(after - before)


def test_a_fixed_point_ends_by_its_change():
    state, trace = iterate(Babylonian(), tolerance=1e-12)
    assert state == pytest.approx(2**0.5, abs=1e-14)
    assert trace.converged
    assert trace.values[0] == float("inf")
    assert trace.values[-1] <= 1e-12
    assert trace.reason == "the change fell below 1e-12"
    assert not iterate(Babylonian(), tolerance=0.0, max_steps=2)[1].converged


def test_an_objective_may_fall_where_the_caller_says_so():
    """Loopy propagation has an objective that may fall; a step that hardly moves it ends the loop."""
    _state, trace = iterate(Listed([1.0, 3.0, 2.0, 2.5, 2.5]), is_monotone=False)
    assert trace.values == (1.0, 3.0, 2.0, 2.5, 2.5)
    assert trace.converged
    with pytest.raises(ObjectiveDecreased):
        iterate(Listed([1.0, float("nan")]), is_monotone=False)


def test_an_estimate_ends_when_it_has_not_risen_for_some_steps():
    values = [1.0, 3.0, 2.0, 3.5, 3.0, 3.4, 3.5, 9.0]
    _state, trace = iterate(Listed(values), is_monotone=False, patience=3)
    assert trace.values == (1.0, 3.0, 2.0, 3.5, 3.0, 3.4, 3.5)
    assert (trace.converged, trace.reason) == (True, "the objective has not risen in 3 steps")
    assert not iterate(Listed(values), is_monotone=False, patience=3, max_steps=5)[1].converged
