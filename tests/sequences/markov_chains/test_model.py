"""Markov chains: construction, time, classes, periods, regularity, and other models they turn into."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData, InvalidModel, UnknownState, Unsupported
from juncture.sequences.markov_chains.model import MarkovChain
from support.markov_chain_examples import (
    LIMIT_WITHOUT_REGULARITY,
    ONE_ZERO,
    ROTATION,
    SWAP,
    chains,
    positive_chains,
    transitions,
)

WEATHER = [[0.9, 0.1], [0.5, 0.5]]


@st.composite
def order_two(draw, max_states: int = 3) -> MarkovChain:
    size = draw(st.integers(1, max_states))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    first = rng.dirichlet(np.ones(size**2)).reshape(size, size)
    return MarkovChain(rng.dirichlet(np.ones(size), (size, size)), first, order=2)


# --- construction ----------------------------------------------------------------------------------------------------


def test_bad_tables_are_refused():
    """S0-290, S2-168, S3-064: entries are probabilities and rows sum to 1."""
    with pytest.raises(InvalidModel, match=r"row that sums to 1\.1 at \[1\]"):
        MarkovChain([[0.5, 0.5], [0.6, 0.5]])
    with pytest.raises(InvalidModel, match=r"negative entry -0\.1 at \[0, 0\]"):
        MarkovChain([[-0.1, 1.1], [0.5, 0.5]])
    with pytest.raises(InvalidModel, match=r"shape \(3, 3\)"):
        MarkovChain([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])
    with pytest.raises(InvalidModel, match=r"shape \(3, 3\)"):
        MarkovChain(WEATHER, states=["a", "b", "c"])
    for nothing in ([], [[]], 1.0, [[0.5, 0.5], [1.0]]):
        with pytest.raises(InvalidModel):
            MarkovChain(nothing)


def test_initial_laws_and_starts():
    states = ["sun", "rain"]
    assert MarkovChain(WEATHER, "rain", states=states) == MarkovChain(WEATHER, [0, 1], states=states)
    assert MarkovChain(WEATHER, 1).initial.tolist() == [0, 1]
    assert MarkovChain(WEATHER).with_initial([0.25, 0.75]).initial.tolist() == [0.25, 0.75]
    with pytest.raises(UnknownState, match="did you mean 'rain'"):
        MarkovChain(WEATHER, "rains", states=states)
    with pytest.raises(InvalidModel, match="a state or 2 probabilities"):
        MarkovChain(WEATHER, [0.2, 0.3, 0.5])
    with pytest.raises(InvalidModel, match=r"sums to 0\.9"):
        MarkovChain(WEATHER, [0.4, 0.5])
    with pytest.raises(InvalidData, match="no initial distribution"):
        MarkovChain(WEATHER).distribution_at(3)


def test_a_history_or_a_table_starts_a_chain_of_order_two():
    chain = MarkovChain.uniform(["a", "b"], order=2)
    assert chain.with_initial(["a", "b"]).initial.tolist() == [[0, 1], [0, 0]]
    assert chain.with_initial([[0, 1], [0, 0]]) == chain.with_initial(("a", "b"))
    with pytest.raises(InvalidModel, match=r"shape \(2, 2\)"):
        chain.with_initial("a")
    with pytest.raises(InvalidData, match="order"):
        MarkovChain(WEATHER, order=0)


def test_chains_are_values():
    chain = MarkovChain(WEATHER, "sun", states=["sun", "rain"])
    assert chain.stationary.sum() == pytest.approx(1)  # derived things are neither compared nor pickled
    assert pickle.loads(pickle.dumps(chain)) == chain == copy.deepcopy(chain)  # noqa: S301
    assert hash(chain) == hash(MarkovChain(WEATHER, "sun", states=["sun", "rain"]))
    assert chain != MarkovChain(WEATHER, "sun", states=["sun", "Rain"])
    with pytest.raises(ValueError, match="read-only"):
        chain.stationary[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        chain.transition[0, 0] = 1.0


def test_what_a_chain_says_of_itself():
    assert repr(MarkovChain(WEATHER)) == "MarkovChain(2 states, irreducible, aperiodic)"
    assert repr(MarkovChain(SWAP)) == "MarkovChain(2 states, irreducible, of period 2)"
    assert repr(MarkovChain(np.eye(3))) == "MarkovChain(3 states, 3 closed classes)"
    assert repr(MarkovChain(LIMIT_WITHOUT_REGULARITY)) == "MarkovChain(2 states, 1 closed class)"
    html = MarkovChain(WEATHER, states=["<sun>", "rain"])._repr_html_()
    assert "<td>0.9</td>" in html
    assert "&lt;sun&gt;" in html
    assert "('a', 'b')" not in MarkovChain.uniform(["a", "b"], order=2)._repr_html_()
    assert (
        "next=(&#x27;a&#x27;, &#x27;b&#x27;)" in MarkovChain.uniform(["a", "b"], order=2).to_first_order()._repr_html_()
    )


def test_parameters_are_counted():
    """S1-042: K² - 1 for a tied chain of K states."""
    assert MarkovChain.uniform(4).num_parameters == 4**2 - 1
    chain = MarkovChain.uniform(3, order=2)
    assert chain.num_parameters == chain.to_bayesian_network(6).num_parameters == 26


# --- time ------------------------------------------------------------------------------------------------------------


@given(transitions(), st.integers(0, 20), st.integers(0, 20))
def test_chapman_kolmogorov(transition, m, n):
    """S0-291: the transitions of m + n steps are those of m steps, then of n."""
    chain = MarkovChain(transition)
    both = chain.transition_after(m) @ chain.transition_after(n)
    assert both == pytest.approx(chain.transition_after(m + n), abs=1e-12)
    assert chain.transition_after(m) == pytest.approx(np.linalg.matrix_power(transition, m), abs=1e-12)


@given(transitions(), st.integers(0, 60))
def test_the_distribution_at_a_time(transition, time):
    """S2-169, S3-068: the distribution at t is the first one times the t-th power, also by single steps."""
    chain, size = MarkovChain(transition), len(transition)
    start = np.arange(1, size + 1) / np.arange(1, size + 1).sum()
    assert chain.distribution_at(time, start) == pytest.approx(
        start @ np.linalg.matrix_power(transition, time), abs=1e-12
    )
    assert chain.with_initial(start).distribution_at(time) == pytest.approx(
        chain.distribution_at(time, start), abs=1e-15
    )
    after = chain.distribution_at(time, start) @ transition
    assert chain.distribution_at(time + 1, start) == pytest.approx(after, abs=1e-12)


def test_times_beyond_counting():
    """Two states that are left with the probabilities a and b: the distribution decays as (1 - a - b)^t."""
    a, b, time = 1e-12, 3e-12, 10**12
    decay = np.exp(time * np.log1p(-(a + b)))
    expected = np.array([b + a * decay, a - a * decay]) / (a + b)
    chain = MarkovChain([[1 - a, a], [b, 1 - b]])
    assert chain.distribution_at(time, 0) == pytest.approx(expected, rel=1e-11)
    assert chain.distribution_at(10**30, 0) == pytest.approx([0.75, 0.25], rel=1e-12)
    for wrong in (-1, 1.5, "soon"):
        with pytest.raises(InvalidData, match="whole number"):
            chain.distribution_at(wrong, 0)


@given(order_two(), st.integers(0, 6))
def test_the_law_of_a_chain_of_order_two(chain, time):
    """Against the sum over all paths."""
    expected = np.zeros(chain.num_states)
    for path in product(range(chain.num_states), repeat=max(time, 1) + 1):
        weight = chain.initial[path[:2]]
        for step in range(2, len(path)):
            weight *= chain.transition[path[step - 2 : step + 1]]
        expected[path[time]] += weight
    assert chain.distribution_at(time) == pytest.approx(expected, abs=1e-12)
    lowered = chain.to_first_order()
    if time:
        shape = (chain.num_states,) * 2
        assert lowered.distribution_at(time - 1).reshape(shape).sum(axis=0) == pytest.approx(expected, abs=1e-12)


def test_histories_are_states_of_the_first_order_chain():
    chain = MarkovChain(np.random.default_rng(0).dirichlet([1, 1], (2, 2)), states=["a", "b"], order=2)
    lowered = chain.to_first_order()
    assert lowered.states == (("a", "a"), ("a", "b"), ("b", "a"), ("b", "b"))
    assert lowered.transition[1].tolist() == [0, 0, *chain.transition[0, 1]]
    assert lowered.hitting_times(("a", "b"))[1] == 0
    assert lowered.hitting_times([("a", "b"), ("b", "b")])[[1, 3]].tolist() == [0, 0]
    assert lowered.period(("a", "b")) == 1
    assert lowered.distribution_at(0, ("b", "a")).tolist() == [0, 0, 1, 0]
    with pytest.raises(UnknownState):
        lowered.period(("a", "c"))
    with pytest.raises(UnknownState, match="2 parts"):
        lowered.period("a")
    with pytest.raises(Unsupported, match="to_first_order"):
        chain.stationary  # noqa: B018


# --- classes ---------------------------------------------------------------------------------------------------------


def brute_reach(transition: np.ndarray) -> np.ndarray:
    """Whether j can be reached from i in one step or more."""
    links, reach = transition > 0, transition > 0
    for _ in links:
        reach = reach | ((reach.astype(int) @ links.astype(int)) > 0)
    return reach


def brute_period(transition: np.ndarray, state: int) -> int:
    """The notes' definition, by powers far beyond any cycle."""
    power, period = np.eye(len(transition)) > 0, 0
    for step in range(1, 2 * len(transition) ** 2 + 2):
        power = (power.astype(int) @ (transition > 0).astype(int)) > 0
        period = int(np.gcd(period, step)) if power[state, state] else period
    return period


@given(transitions(zeros=0.7))
def test_classes_and_periods_against_powers(transition):
    """S0-293, S0-294: states that reach each other; gcd of the lengths of ways back."""
    chain, reach = MarkovChain(transition), brute_reach(transition)
    connected = (reach & reach.T) | np.eye(len(transition), dtype=bool)
    expected = {tuple(np.flatnonzero(row).tolist()) for row in connected}
    assert set(chain.classes) == expected
    assert sorted(chain.classes) == list(chain.classes)
    closed = [
        members
        for members in chain.classes
        if set(np.flatnonzero(connected[members[0]] | reach[members[0]])) == set(members)
    ]
    assert list(chain.closed_classes) == closed
    recurrent = {state for members in closed for state in members}
    assert set(chain.transient_states) == set(chain.states) - recurrent
    assert set(chain.absorbing_states) == {state for state in chain.states if transition[state, state] == 1}
    assert chain.is_irreducible == (len(expected) == 1)
    assert [chain.period(state) for state in chain.states] == [brute_period(transition, s) for s in chain.states]
    assert chain.is_aperiodic == all(chain.period(state) <= 1 for state in chain.states)


@given(transitions(max_states=5, zeros=0.6))
def test_regularity_against_powers(transition):
    """S0-295, S2-171, S3-067: regular means that some power has no zero; Wielandt bounds which."""
    chain, size = MarkovChain(transition), len(transition)
    links, power, first = (transition > 0).astype(int), np.eye(size, dtype=int), None
    for step in range(1, (size - 1) ** 2 + 2):
        power = np.minimum(power @ links, 1)
        first = step if first is None and power.all() else first
    assert chain.is_regular == (first is not None)
    assert chain.positive_power == first
    assert chain.is_positive == (first == 1)


def test_regular_and_positive_are_told_apart():
    """S0-295 and E95, S3-067 and T22, S2-171: the notes' examples."""
    one_zero, swap, limit = map(MarkovChain, (ONE_ZERO, SWAP, LIMIT_WITHOUT_REGULARITY))
    assert (one_zero.is_irreducible, one_zero.is_aperiodic, one_zero.is_regular) == (True, True, True)
    assert (one_zero.is_positive, one_zero.positive_power) == (False, 2)
    assert (swap.is_irreducible, swap.period(), swap.is_aperiodic, swap.is_regular) == (True, 2, False, False)
    assert (limit.has_unique_limit, limit.is_regular, limit.is_irreducible) == (True, False, False)
    assert limit.stationary.tolist() == [1, 0]
    assert limit.limiting_distribution(1).tolist() == [1, 0]
    assert limit.period(1) == 0  # it never comes back
    assert not MarkovChain([[0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.5]]).is_irreducible
    assert MarkovChain(ROTATION).period(1) == 3


def test_wielandt_is_reached():
    """The slowest chain of n states has no zero from the power (n - 1)² + 1 on."""
    transition = np.roll(np.eye(6), 1, axis=1)
    transition[5, :2] = 0.5
    assert MarkovChain(transition).positive_power == 26


def test_the_period_of_a_chain_of_several_classes():
    blocks = np.zeros((5, 5))
    blocks[:2, :2], blocks[2:, 2:] = SWAP, ROTATION
    assert MarkovChain(blocks).period() == 6


# --- other models ----------------------------------------------------------------------------------------------------


@given(positive_chains(max_states=3))
def test_a_chain_is_a_bayesian_network(chain):
    """S1-040: the joint is the product, distributions are marginals, and the past is separated from the future."""
    chain = chain.with_initial(chain.stationary)
    network = chain.to_bayesian_network(4)
    beliefs = jt.infer(network)
    for time in range(4):
        assert beliefs[f"state{time}"].values == pytest.approx(chain.distribution_at(time), abs=1e-12)
    path = [0, chain.num_states - 1, 0, 0]
    row = {f"state{time}": state for time, state in enumerate(path)}
    assert network.log_joint(row) == pytest.approx(jt.log_prob(chain, path))
    assert network.graph.is_separated({"state0"}, {"state2"}, given={"state1"})
    assert network.graph.is_chain()
    assert network.tied == (("state1", "state2", "state3"),)


@given(order_two())
def test_a_chain_of_order_two_is_a_bayesian_network(chain):
    network = chain.to_bayesian_network(5)
    assert network.graph.parents("state4") == ("state2", "state3")
    assert jt.infer(network)["state4"].values == pytest.approx(chain.distribution_at(4), abs=1e-12)
    assert jt.infer(chain.to_bayesian_network(1))["state0"].values == pytest.approx(chain.distribution_at(0), abs=1e-12)
    with pytest.raises(InvalidData, match="at least 1"):
        chain.to_bayesian_network(0)


@given(chains())
def test_reversing(chain):
    """S0-298, S3-070: the reversal keeps the stationary distribution, turns the flow round, and undoes itself."""
    if not chain.is_irreducible:
        return
    back = chain.reversed()
    distribution = chain.stationary
    assert back.stationary == pytest.approx(distribution, rel=1e-9)
    assert distribution[:, None] * back.transition == pytest.approx(
        (distribution[:, None] * chain.transition).T, abs=1e-12
    )
    assert back.reversed().transition == pytest.approx(chain.transition, rel=1e-9)
    assert back.is_reversible == chain.is_reversible


def test_exact_fractions_of_a_distribution():
    """S0-292: (1/3, 2/3) for [[0, 1], [½, ½]], as it should be in fractions."""
    distribution = [Fraction(1, 3), Fraction(2, 3)]
    stepped = [distribution[1] * Fraction(1, 2), distribution[0] + distribution[1] * Fraction(1, 2)]
    assert stepped == distribution
    assert MarkovChain(ONE_ZERO).stationary == pytest.approx([float(value) for value in distribution], rel=1e-15)
    with pytest.raises(InvalidModel, match=r"is 0 in \{1\}"):
        MarkovChain(LIMIT_WITHOUT_REGULARITY).reversed()
