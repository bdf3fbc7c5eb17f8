"""Learning Markov chains: counting, priors, unseen states, and EM where states are missing."""

from __future__ import annotations

import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import ImpossibleEvidence, InvalidData, UnknownState, UnseenParentsWarning, Unsupported
from juncture.sequences.markov_chains.model import MarkovChain

THREE = MarkovChain([[0.6, 0.4, 0], [0.1, 0.2, 0.7], [0.5, 0, 0.5]], [0.2, 0.3, 0.5], states=["a", "b", "c"])


@st.composite
def ragged(draw, num_states: int = 2) -> list[list[int]]:
    """A few sequences, some of them too short to tell of transitions."""
    return draw(st.lists(st.lists(st.integers(0, num_states - 1), max_size=6), min_size=1, max_size=5))


def brute_counts(sequences: list[list[int]], order: int, num_states: int) -> tuple[list[np.ndarray], np.ndarray]:
    starts = [np.zeros((num_states,) * (depth + 1)) for depth in range(order)]
    moves = np.zeros((num_states,) * (order + 1))
    for sequence in sequences:
        for step in range(len(sequence)):
            table = starts[step] if step < order else moves
            table[tuple(sequence[max(0, step - order) : step + 1])] += 1
    return starts, moves


@given(ragged(), st.integers(1, 3))
def test_counts_against_a_loop(sequences, order):
    """S1-042: transitions of all times are counted together."""
    found = jt.statistics(MarkovChain.uniform(2, order=order), sequences)
    starts, moves = brute_counts(sequences, order, 2)
    assert [part.counts.tolist() for part in found.starts] == [table.tolist() for table in starts]
    assert found.transitions.counts.tolist() == moves.tolist()


@given(ragged(), ragged(), st.integers(1, 2))
def test_statistics_add(first, second, order):
    chain = MarkovChain.uniform(2, order=order)
    assert jt.statistics(chain, first) + jt.statistics(chain, second) == jt.statistics(chain, [*first, *second])
    assert sum([jt.statistics(chain, first)]) == jt.statistics(chain, first)


def test_statistics_of_other_states_add_by_label():
    one = jt.statistics(MarkovChain.uniform(["a", "b"]), [list("aab")])
    other = jt.statistics(MarkovChain.uniform(["c", "b"]), [list("bcc")])
    both = one + other
    assert both.states == ("a", "b", "c")
    assert both.transitions.counts.tolist() == [[1, 1, 0], [0, 0, 1], [0, 0, 1]]
    assert jt.estimate(MarkovChain.uniform(2), both).states == ("a", "b", "c")
    assert pickle.loads(pickle.dumps(both)) == both  # noqa: S301
    assert repr(both) == "MarkovChainStatistics(3 states, 2 sequences, 6 steps)"
    with pytest.raises(InvalidData, match="orders 1 and 2"):
        one + jt.statistics(MarkovChain.uniform(["a", "b"], order=2), [list("aab")])


@given(ragged(), st.integers(1, 2), st.integers(0, 1000))
def test_maximum_likelihood_is_not_beaten(sequences, order, seed):
    """S1-042: pooled counts; any other chain gives the sequences less, or as much."""
    fitted = jt.fit(MarkovChain.uniform(2, order=order), [*sequences, [0, 0, 1, 0, 1, 1, 1, 0, 0, 0]])
    rng = np.random.default_rng(seed)
    other = MarkovChain(
        rng.dirichlet([1, 1], (2,) * order), rng.dirichlet(np.ones(2**order)).reshape((2,) * order), order=order
    )
    data = [*sequences, [0, 0, 1, 0, 1, 1, 1, 0, 0, 0]]
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(fitted.model, data).sum(), rel=1e-12)
    assert fitted.log_likelihood >= jt.log_prob(other, data).sum() - 1e-9
    assert fitted.trace.converged


def test_a_chain_is_found_again():
    """S0-290: estimates from many draws tend to the chain."""
    fitted = jt.fit(MarkovChain.uniform(["a", "b", "c"]), jt.sample(THREE, [100] * 1000, rng=0)).model
    assert fitted.transition == pytest.approx(THREE.transition, abs=0.01)
    assert fitted.initial == pytest.approx(THREE.initial, abs=0.05)
    assert fitted.transition[0, 2] == 0


def test_the_tied_network_learns_the_same():
    """S1-042, S1-043: the chain, and its network with tied tables, where the prior counts once."""
    rows = np.array([drawn.states for drawn in jt.sample(THREE, [6] * 40, rng=1)])
    network = THREE.to_bayesian_network(6)
    data = {f"state{step}": rows[:, step].tolist() for step in range(6)}
    for prior in (None, 1.0):
        tied = jt.fit(network, data, prior=prior)
        chain = jt.fit(THREE, list(rows), prior=prior)
        assert tied.model["state3"].values == pytest.approx(chain.model.transition, rel=1e-12)
        assert tied.model["state0"].values == pytest.approx(chain.model.initial, rel=1e-12)
        assert tied.log_likelihood == pytest.approx(chain.log_likelihood, rel=1e-12)
        assert tied.trace.values[0] == pytest.approx(chain.trace.values[0], rel=1e-12)
    untied = jt.BayesianNetwork(network.conditionals)
    assert jt.fit(untied, data).log_likelihood >= jt.fit(THREE, list(rows)).log_likelihood


def test_an_untied_chain_with_dirichlet_priors():
    """S1-041: each step has a table of its own, and its posterior is Dir(α + counts); predictive (n + α)/(N + Σα)."""
    rows = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1]])
    network = jt.BayesianNetwork(MarkovChain.uniform(2).to_bayesian_network(3).conditionals)
    data = {f"state{step}": rows[:, step] for step in range(3)}
    found = jt.families.posterior(network, jt.statistics(network, data), prior=2.0)
    assert found["state0"].concentration.tolist() == [5, 3]
    assert found["state2"].concentration.tolist() == [[3, 3], [2, 4]]
    assert found["state1"].mean[0].tolist() == pytest.approx([(1 + 2) / 7, (2 + 2) / 7])


def test_priors():
    """S1-043: counts are pooled, the prior comes once; α → 0 is maximum likelihood."""
    chain, data = MarkovChain.uniform(["a", "b"]), [list("aab"), list("ba")]
    mean = jt.fit(chain, data, prior=1.0).model
    assert mean.transition == pytest.approx(np.array([[2 / 4, 2 / 4], [2 / 3, 1 / 3]]))
    assert mean.initial.tolist() == [0.5, 0.5]
    ml = jt.fit(chain, data).model.transition
    assert ml.tolist() == [[0.5, 0.5], [1, 0]]
    assert jt.fit(chain, data, prior=1e-12).model.transition == pytest.approx(ml, abs=1e-9)
    assert jt.fit(chain, data, prior=1.0, point="mode").model.transition == pytest.approx(ml)
    assert jt.fit(chain, data, prior=jt.K2()).model == mean
    assert jt.fit(chain, data, prior=jt.BDeu(4)).model.transition == pytest.approx(mean.transition)
    by_row = jt.Dirichlet([[1.0, 3.0], [2.0, 2.0]])
    found = jt.fit(chain, data, prior={"transition": by_row}).model
    assert found.transition == pytest.approx(np.array([[2 / 6, 4 / 6], [3 / 5, 2 / 5]]))
    assert found.initial.tolist() == [0.5, 0.5]
    forbidden = jt.fit(chain, [list("aa"), list("ba")], prior={"transition": [[1.0, 0.0], [1.0, 0.0]]}).model
    assert forbidden.transition.tolist() == [[1, 0], [1, 0]]
    with pytest.raises(InvalidData, match="did you mean 'transition'"):
        jt.fit(chain, data, prior={"transitions": 1.0})
    with pytest.raises(InvalidData, match="at least 0"):
        jt.fit(chain, data, prior=-1.0)
    with pytest.raises(InvalidData, match='"mean" or "mode"'):
        jt.fit(chain, data, prior=1.0, point="median")


def test_weights_count():
    chain = MarkovChain.uniform(2)
    twice = jt.statistics(chain, [[0, 1], [0, 1], [1, 1, 0]])
    assert jt.statistics(chain, [[0, 1], [1, 1, 0]], weights=[2, 1]) == twice
    weighted = [jt.Sequence([0, 1], weight=2.0), jt.Sequence([1, 1, 0])]
    assert jt.statistics(chain, weighted) == twice
    assert jt.statistics(chain, [0, 1, 1, 1, 0], lengths=[2, 3], weights=[2, 1]) == twice
    assert jt.estimate(chain, twice) == jt.fit(chain, [[0, 1], [1, 1, 0]], weights=[2, 1]).model


def test_unseen_states_are_reported():
    chain, data = MarkovChain.uniform(["a", "b", "c"]), [list("abab"), list("bac")]
    with pytest.warns(
        UnseenParentsWarning, match="no sequence goes on from 'c'; there all states are taken as equally"
    ):
        fitted = jt.fit(chain, data).model
    assert fitted.transition[2].tolist() == [1 / 3] * 3
    with pytest.raises(InvalidData, match="give a prior"):
        jt.fit(chain, data, on_unseen="error")
    jt.fit(chain, data, prior=0.5)  # with a prior nothing is left open
    with pytest.warns(UnseenParentsWarning, match=r"\('a', 'a'\), .*… \(\d in all\)"):
        jt.fit(MarkovChain.uniform(["a", "b", "c"], order=2), data)
    with pytest.warns(UnseenParentsWarning):
        nothing = jt.fit(chain, [])
    assert nothing.log_likelihood == 0


def test_refusals():
    chain = MarkovChain.uniform(["a", "b"])
    with pytest.raises(UnknownState, match="step 1 of sequence 0: variable 'state' has no state 'x'"):
        jt.fit(chain, [["a", "x"]])
    with pytest.raises(InvalidData, match="weights"):
        jt.fit(chain, [["a", "b"]], weights=[1, 2])
    with pytest.raises(InvalidData, match="step 1 is missing"):
        jt.statistics(chain, ["a", None, "b"])
    with pytest.raises(InvalidData, match=r"order 2 is learned from complete sequences"):
        jt.fit(MarkovChain.uniform(["a", "b"], order=2), ["a", None, "b"])
    with pytest.raises(InvalidData, match="estimate takes"):
        jt.estimate(chain, np.eye(2))
    with pytest.raises(InvalidData, match="order 2"):
        jt.estimate(chain, jt.statistics(MarkovChain.uniform(["a", "b"], order=2), [list("abba")]))
    with pytest.raises(ImpossibleEvidence, match="uniform"):
        jt.fit(MarkovChain(np.eye(2), [0.5, 0.5]), [[0, None, 1]])
    with pytest.raises(Unsupported, match="no method of learning 'gradient'; known are 'auto', 'em'"):
        jt.fit(chain, ["a", None, "b"], method="gradient")


def test_acceleration_reaches_the_same_maximum():
    rng = np.random.default_rng(0)
    sequence = [None if rng.random() < 0.4 else "ab"[rng.integers(2)] for _ in range(200)]
    chain = MarkovChain([[0.6, 0.4], [0.5, 0.5]], [0.5, 0.5], states=["a", "b"])
    ends = [
        jt.fit(chain, sequence, method=jt.ExpectationMaximization(tolerance=1e-12, acceleration=acceleration))
        for acceleration in (None, "squarem")
    ]
    assert ends[1].log_likelihood == pytest.approx(ends[0].log_likelihood, abs=1e-6)
    assert ends[1].trace.num_steps < ends[0].trace.num_steps


# --- holes -----------------------------------------------------------------------------------------------------------


def brute_expected(chain: MarkovChain, sequences: list[list[int | None]]) -> tuple[np.ndarray, np.ndarray]:
    """Expected first states and transitions, over all ways to fill the holes between what is observed."""
    first, moves = np.zeros(chain.num_states), np.zeros((chain.num_states,) * 2)
    for sequence in sequences:
        seen = [step for step, state in enumerate(sequence) if state is not None]
        part = sequence[: seen[-1] + 1] if seen else []
        paths = [
            path
            for path in product(range(chain.num_states), repeat=len(part))
            if all(state is None or state == other for state, other in zip(part, path, strict=True))
        ]
        weights = np.exp(jt.log_prob(chain, [list(path) for path in paths]))
        for path, weight in zip(paths, weights / weights.sum(), strict=True):
            if path:
                first[path[0]] += weight
            np.add.at(moves, (list(path[:-1]), list(path[1:])), weight)
    return first, moves


@given(st.integers(0, 1000))
def test_expected_counts_against_enumeration(seed):
    from juncture.learning.conditionals.contract import EstimationOptions
    from juncture.sequences.markov_chains.fit import GapCounts, MarkovChainProblem

    rng = np.random.default_rng(seed)
    chain = MarkovChain(rng.dirichlet(np.ones(2), 2), rng.dirichlet(np.ones(2)))
    lengths = rng.integers(0, 7, 4)
    data = [[None if rng.random() < 0.5 else int(rng.integers(2)) for _ in range(length)] for length in lengths]
    counts = GapCounts.of(chain.sequences(data), 2)
    found = MarkovChainProblem(chain, counts, EstimationOptions(), np.random.default_rng(0)).expect(chain, counts)
    first, moves = brute_expected(chain, data)
    assert found.statistics.starts[0].counts == pytest.approx(first, abs=1e-12)
    assert found.statistics.transitions.counts == pytest.approx(moves, abs=1e-12)
    assert found.log_likelihood == pytest.approx(jt.log_prob(chain, data).sum(), abs=1e-12)


def with_holes(paths: list[np.ndarray], share: float, rng: np.random.Generator) -> list[list[str | None]]:
    return [[None if rng.random() < share else state for state in path.tolist()] for path in paths]


@pytest.mark.parametrize("prior", [None, 1.0])
def test_em_with_holes(prior):
    """The objective never falls; the chain is found again; complete sequences need no EM."""
    paths = [drawn.states for drawn in jt.sample(THREE, [60] * 200, rng=0)]
    data = with_holes(paths, 0.3, np.random.default_rng(1))
    fitted = jt.fit(MarkovChain.uniform(["a", "b", "c"]), data, prior=prior)
    assert fitted.trace.converged
    assert (np.diff(fitted.trace.values) >= -1e-9).all()
    assert fitted.model.transition == pytest.approx(THREE.transition, abs=0.03)
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(fitted.model, data).sum(), rel=1e-12)
    assert jt.fit(MarkovChain(THREE.transition, states=["a", "b", "c"]), paths).trace.num_steps == 0


def test_em_finds_what_a_gap_hides():
    """Seen only every second step, two states: the square of the transition is what the counts say."""
    square = np.linalg.matrix_power(np.array([[0.9, 0.1], [0.2, 0.8]]), 2)
    pairs = [(0, 0, 830), (0, 1, 170), (1, 0, 340), (1, 1, 660)]
    assert square.ravel() == pytest.approx([0.83, 0.17, 0.34, 0.66])
    data = [jt.Sequence([a, None, b], weight=n) for a, b, n in pairs]
    start = MarkovChain([[0.7, 0.3], [0.3, 0.7]])
    fitted = jt.fit(start, data, method=jt.ExpectationMaximization(tolerance=1e-15, max_steps=20_000))
    assert fitted.model.transition == pytest.approx(np.array([[0.9, 0.1], [0.2, 0.8]]), abs=1e-4)
