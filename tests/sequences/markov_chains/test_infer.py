"""Log-probabilities of sequences of a Markov chain, and sequences drawn from it."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidData, UnknownState, Unsupported
from juncture.sequences.markov_chains.model import MarkovChain


@st.composite
def chains_of_any_order(draw) -> MarkovChain:
    """Up to three states, up to order 3, with zeros."""
    size, order = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.random((size,) * (order + 1)) * (rng.random((size,) * (order + 1)) < 0.8) + 1e-300
    first = rng.random((size,) * order)
    return MarkovChain(table / table.sum(axis=-1, keepdims=True), first / first.sum(), order=order)


def brute_probability(chain: MarkovChain, observed: list[int | None]) -> float:
    """The sum over all ways to fill the holes, and to go on to the first `order` states."""
    length = max(len(observed), chain.order)
    wanted = [*observed, *[None] * (length - len(observed))]
    total = 0.0
    for path in product(range(chain.num_states), repeat=length):
        if all(state is None or state == other for state, other in zip(wanted, path, strict=True)):
            weight = chain.initial[path[: chain.order]]
            for step in range(chain.order, length):
                weight *= chain.transition[path[step - chain.order : step + 1]]
            total += weight
    return float(total)


@given(chains_of_any_order(), st.data())
def test_against_the_sum_over_all_paths(chain, data):
    """S1-040: the joint is a product; what is missing is summed out."""
    state = st.none() | st.integers(0, chain.num_states - 1)
    for states in (state, st.integers(0, chain.num_states - 1)):
        observed = data.draw(st.lists(states, max_size=6))
        expected = brute_probability(chain, observed)
        assert np.exp(jt.log_prob(chain, observed)) == pytest.approx(expected, rel=1e-10, abs=1e-290)


@given(chains_of_any_order())
def test_probabilities_of_all_sequences_sum_to_one(chain):
    for length in range(5):
        paths = [list(path) for path in product(range(chain.num_states), repeat=length)]
        assert np.exp(jt.log_prob(chain, paths)).sum() == pytest.approx(1, rel=1e-10)


def test_one_sequence_many_and_stacked():
    chain = MarkovChain([[0.9, 0.1], [0.5, 0.5]], "sun", states=["sun", "rain"])
    one = jt.log_prob(chain, ["sun", "rain", "rain"])
    assert one == pytest.approx(np.log(0.05))
    assert isinstance(one, float)
    many = jt.log_prob(chain, [["sun", "rain", "rain"], [], ["rain"], [None, None, "sun"]])
    assert many == pytest.approx([np.log(0.05), 0, -np.inf, np.log(0.86)])
    assert jt.log_prob(chain, ["sun", "rain", "sun"], lengths=[2, 1]) == pytest.approx([np.log(0.1), 0])
    with pytest.raises(UnknownState, match=r"step 1: .* did you mean 'sun'"):
        jt.log_prob(chain, ["sun", "sum"])
    with pytest.raises(InvalidData, match="no initial distribution"):
        jt.log_prob(MarkovChain(chain.transition), [0, 1])
    with pytest.raises(Unsupported, match="order 2"):
        jt.log_prob(MarkovChain.uniform(2, order=2).to_first_order(), [0, 1])


@given(st.integers(0, 1000))
def test_what_holes_hide(seed):
    """The distributions and the best filling of missing states, against all ways to fill them."""
    rng = np.random.default_rng(seed)
    chain = MarkovChain(rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(3)), states=["a", "b", "c"])
    observed = [None if rng.random() < 0.5 else "abc"[rng.integers(3)] for _ in range(5)]
    paths = [
        path
        for path in product("abc", repeat=5)
        if all(state in {None, other} for state, other in zip(observed, path, strict=True))
    ]
    weights = np.exp(jt.log_prob(chain, [list(path) for path in paths]))
    beliefs = jt.infer(chain, observed)
    assert beliefs.log_evidence == pytest.approx(jt.log_prob(chain, observed), abs=1e-12)
    for step, distribution in enumerate(beliefs.smoothed):
        expected = [sum(w for path, w in zip(paths, weights, strict=True) if path[step] == state) for state in "abc"]
        assert distribution == pytest.approx(np.array(expected) / weights.sum(), abs=1e-12)
    best = tuple(str(state) for state in jt.most_probable(chain, observed).path)
    assert weights[paths.index(best)] == pytest.approx(weights.max(), rel=1e-12)  # the same steps in another order tie
    with pytest.raises(Unsupported, match="order 2"):
        jt.infer(MarkovChain.uniform(2, order=2), [0, None, 1])


def test_long_gaps_cost_nothing():
    chain = MarkovChain([[0.9, 0.1], [0.5, 0.5]], [0.5, 0.5])
    gap = np.full(1_000_002, np.nan)
    gap[[0, -1]] = 0, 1
    assert jt.log_prob(chain, gap) == pytest.approx(np.log(0.5 / 6), rel=1e-10)


def test_draws_follow_the_chain():
    """S0-290, S3-063: empirical transitions tend to the table, the first states to the initial distribution."""
    chain = MarkovChain([[0.6, 0.4, 0], [0.1, 0.2, 0.7], [0.5, 0, 0.5]], [0.2, 0.3, 0.5])
    paths = [drawn.states for drawn in jt.sample(chain, [50] * 2000, rng=0)]
    counts = np.zeros((3, 3))
    for path in paths:
        np.add.at(counts, (path[:-1], path[1:]), 1)
    assert counts / counts.sum(axis=1, keepdims=True) == pytest.approx(chain.transition, abs=0.01)
    assert counts[0, 2] == counts[2, 1] == 0
    assert np.bincount([path[0] for path in paths]) / 2000 == pytest.approx(chain.initial, abs=0.04)


def test_draws_of_a_higher_order():
    chain = MarkovChain([[[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.6], [1.0, 0.0]]], [[0, 1], [0, 0]], order=2)
    path = jt.sample(chain, 20_000, rng=0).states
    assert path[:2].tolist() == [0, 1]
    counts = np.zeros((2, 2, 2))
    np.add.at(counts, (path[:-2], path[1:-1], path[2:]), 1)
    assert counts / counts.sum(axis=-1, keepdims=True) == pytest.approx(chain.transition, abs=0.02)
    assert jt.sample(chain, 1, rng=0).states.tolist() == [0]


def test_draws_are_labels_and_repeatable():
    chain = MarkovChain([[0.9, 0.1], [0.5, 0.5]], "sun", states=["sun", "rain"])
    path = jt.sample(chain, 8, rng=3)
    assert path.states[0] == "sun"
    assert path.observations.tolist() == path.states.tolist()
    assert path == jt.sample(chain, 8, rng=3)
    ragged = jt.sample(chain, [3, 0, 1], rng=3)
    assert [len(each) for each in ragged] == [3, 0, 1]
    assert np.isfinite(jt.log_prob(chain, ragged)).all()
    mixed = jt.sample(MarkovChain(chain.transition, 0, states=[0, "one"]), 50, rng=0)
    assert set(mixed.states) == {0, "one"}
    for wrong in (-1, 2.5, [[1]], "ten"):
        with pytest.raises(InvalidData):
            jt.sample(chain, wrong)


def test_what_is_missing_in_a_chain_of_higher_order_is_asked_of_its_network():
    chain = jt.MarkovChain.uniform(["a", "b"], order=2)
    for ask in (jt.infer, jt.most_probable):
        with pytest.raises(
            jt.errors.Unsupported, match=r"order 2: put the question to the network chain.to_bayesian_network"
        ):
            ask(chain, ["a", None, "b"])
    beliefs = jt.infer(chain.to_bayesian_network(3), {"state0": "a", "state2": "b"})
    assert beliefs["state1"].values == pytest.approx([0.5, 0.5])


def test_a_state_that_is_not_there_is_named_alike_by_all_questions():
    chain = jt.MarkovChain([[0.9, 0.1], [0.5, 0.5]], "a", states=["a", "b"])
    for ask in (jt.infer, jt.most_probable, jt.log_prob):
        with pytest.raises(jt.errors.UnknownState, match="'state' has no state 'c'; known are 'a', 'b'"):
            ask(chain, ["a", "c"])
    assert [len(each) for each in jt.infer(chain, ["a", None, "a"], lengths=[2, 1])] == [2, 1]


def test_states_and_observations_are_the_same():
    """Either fills the gaps of the other; where both are there and differ, a sentence says at which step."""
    chain = MarkovChain([[0.9, 0.1], [0.5, 0.5]], [0.5, 0.5], states=["sun", "rain"])
    both = jt.Sequence(["sun", None, None], states=[None, "rain", None])
    assert jt.log_prob(chain, both) == jt.log_prob(chain, ["sun", "rain", None])
    assert jt.infer(chain, both).log_evidence == pytest.approx(jt.log_prob(chain, both))
    drawn = jt.sample(chain, 6, rng=0)
    assert jt.log_prob(chain, drawn) == jt.log_prob(chain, drawn.states.tolist())
    with pytest.raises(InvalidData, match="step 1 has a state that is not its observation"):
        jt.log_prob(chain, jt.Sequence(["sun", "sun"], states=["sun", "rain"]))
    with pytest.raises(InvalidData, match="step 0 of sequence 1 has a state"):
        jt.fit(chain, [["sun"], jt.Sequence(["sun"], states=["rain"])])


def test_labels_of_histories_are_drawn_too():
    """The first-order form of a chain of order 2 has pairs as states."""
    chain = MarkovChain([[[0.9, 0.1], [0.2, 0.8]], [[0.4, 0.6], [0.5, 0.5]]], [[0.5, 0.5], [0, 0]], order=2)
    drawn = jt.sample(chain.to_first_order(), 5, rng=0).states.tolist()
    assert all(isinstance(label, tuple) for label in drawn)
    assert all(before[1] == after[0] for before, after in pairwise(drawn))


def test_ten_thousand_bases():
    """S0-027: a chain of 10,000 bases has 9,999 edges and is inferred exactly, as a chain and as a network."""
    transition = np.random.default_rng(0).dirichlet(np.ones(4), 4)
    chain = jt.MarkovChain(transition, np.full(4, 0.25), states=["A", "C", "G", "T"])
    network = chain.to_bayesian_network(10_000)
    assert (len(network.variables), len(network.graph.edges)) == (10_000, 9_999)
    found = jt.infer(network, {"state0": "A", "state9999": "T"})
    by_powers = np.linalg.matrix_power(transition, 10)[0] * np.linalg.matrix_power(transition, 9_989)[:, 3]
    assert found.log_evidence == pytest.approx(np.log(0.25 * by_powers.sum()), rel=1e-10)
    assert found["state10"].values == pytest.approx(by_powers / by_powers.sum(), rel=1e-10)
    steps = jt.infer(chain, ["A", *[None] * 9_998, "T"])
    assert steps.log_evidence == pytest.approx(found.log_evidence, rel=1e-10)
    assert steps.smoothed[10] == pytest.approx(found["state10"].values, rel=1e-10)
