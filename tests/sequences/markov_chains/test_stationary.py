"""Stationary distributions, detailed balance, mixing, eigenvalues, hitting and absorption."""

from __future__ import annotations

import math
from functools import reduce

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
    nearly_decomposable,
    positive_chains,
    transitions,
)

SEEDS = st.integers(0, 2**31)

# --- stationary distributions ----------------------------------------------------------------------------------------


@given(chains())
def test_stationary_distributions_are_stationary(chain):
    """S0-292, S2-170, S3-065: one distribution for each closed class, which a step does not change."""
    distributions = chain.stationary_distributions
    assert len(distributions) == len(chain.closed_classes) >= 1
    assert distributions @ chain.transition == pytest.approx(distributions, rel=1e-12)
    assert distributions.sum(axis=1) == pytest.approx(1, rel=1e-14)
    for distribution, members in zip(distributions, chain.closed_classes, strict=True):
        assert set(np.flatnonzero(distribution)) == set(members)
        assert chain.is_stationary(distribution)
    mixture = distributions.mean(axis=0)
    assert chain.is_stationary(mixture)


@given(positive_chains())
def test_elimination_against_eigenvectors(chain):
    """S3-066: the distribution is the left eigenvector of the eigenvalue 1."""
    values, vectors = np.linalg.eig(chain.transition.T)
    vector = vectors[:, np.argmax(values.real)].real
    assert chain.stationary == pytest.approx(vector / vector.sum(), rel=1e-6, abs=1e-12)


@given(st.floats(1e-300, 1), st.floats(1e-300, 1))
def test_two_states_in_closed_form(a, b):
    """S2-170: (b, a)/(a + b), however small a and b are."""
    distribution = MarkovChain([[1 - a, a], [b, 1 - b]]).stationary
    assert distribution == pytest.approx([b / (a + b), a / (a + b)], rel=1e-12)


@pytest.mark.parametrize("coupling", [1e-2, 1e-12, 1e-100, 1e-300])
def test_nearly_decomposable_chains(coupling):
    """Classes that hardly hang together: solving linear equations would lose all digits."""
    chain, distribution = nearly_decomposable(coupling)
    assert chain.stationary == pytest.approx(distribution, rel=1e-13)


def test_laws_over_a_thousand_orders_of_magnitude():
    """A birth and death chain with π(k+1)/π(k) = 1e12: what is too small for a number is 0, the rest exact."""
    up, down, size = 0.5, 0.5e-12, 100
    transition = np.diag(np.full(size - 1, up), 1) + np.diag(np.full(size - 1, down), -1)
    np.fill_diagonal(transition, 1 - transition.sum(axis=1))
    for chain, largest in ((MarkovChain(transition), -1), (MarkovChain(transition[::-1, ::-1]), 0)):
        distribution = chain.stationary
        assert distribution[largest] == pytest.approx(1 - 1e-12, rel=1e-14)
        assert distribution[[-4, 3][largest + 1]] == pytest.approx(1e-36, rel=1e-10)
        assert distribution[[0, -1][largest + 1]] == 0


def test_a_law_that_is_not_unique_is_reported():
    """S0-292, S3-066: the identity has as many stationary distributions as states, and none is chosen."""
    chain = MarkovChain(np.eye(2), states=["a", "b"])
    with pytest.raises(InvalidModel, match=r"not unique: there are 2 closed classes, \{'a'\} and \{'b'\}"):
        chain.stationary  # noqa: B018
    assert chain.closed_classes == (("a",), ("b",))
    assert chain.stationary_distributions.tolist() == [[1, 0], [0, 1]]
    assert not chain.has_unique_limit
    assert chain.limiting_distribution([0.25, 0.75]).tolist() == [0.25, 0.75]


@given(chains(), st.data())
def test_where_a_start_leads(chain, data):
    """S0-296: the distribution tends to a mixture of the classes' distributions; where it goes round, to none."""
    start = data.draw(st.sampled_from(chain.states))
    far = chain.distribution_at(2**60, start)
    if all(chain.period(members[0]) == 1 for members in chain.closed_classes):
        assert chain.limiting_distribution(start) == pytest.approx(far, abs=1e-9)
        assert chain.is_stationary(chain.limiting_distribution(start))
    if chain.has_unique_limit:
        assert far == pytest.approx(chain.stationary, abs=1e-9)
    swap = MarkovChain(SWAP)
    with pytest.raises(InvalidModel, match="the period 2"):
        swap.limiting_distribution(0)


# --- detailed balance ------------------------------------------------------------------------------------------------


@given(st.integers(2, 6), st.integers(0, 1000))
def test_a_symmetric_flow_is_reversible(size, seed):
    """S0-298, S3-070, S3-071: detailed balance with a distribution makes it stationary."""
    flow = np.random.default_rng(seed).random((size, size)) + 1e-3
    flow = (flow + flow.T) / (2 * flow.sum())
    distribution = flow.sum(axis=1)
    chain = MarkovChain(flow / distribution[:, None])
    assert chain.satisfies_detailed_balance(distribution)
    assert chain.is_reversible
    assert chain.stationary == pytest.approx(distribution, rel=1e-12)
    assert chain.reversed().transition == pytest.approx(chain.transition, rel=1e-9)
    assert np.isrealobj(chain.eigenvalues)


@given(positive_chains())
def test_detailed_balance_implies_stationarity(chain):
    """S3-071: a distribution that is not stationary cannot satisfy it."""
    distribution = np.full(chain.num_states, 1 / chain.num_states)
    if chain.satisfies_detailed_balance(distribution):
        assert chain.is_stationary(distribution)


def test_stationary_but_not_reversible():
    """S3-070: the rotation of three states; with a tiny circulation too, though its flow is all but balanced."""
    chain = MarkovChain(ROTATION)
    assert chain.is_stationary([1 / 3] * 3)
    assert not chain.satisfies_detailed_balance([1 / 3] * 3)
    assert not chain.is_reversible
    turning = 1e-13
    slow = MarkovChain([[1 - turning, turning, 0], [0, 1 - turning, turning], [turning, 0, 1 - turning]])
    assert not slow.is_reversible


def metropolis(target: np.ndarray, proposal: np.ndarray) -> np.ndarray:
    """S(x, z) = T(x, z) α(x, z) beside the diagonal."""
    forth = target[:, None] * proposal
    moves = np.minimum(forth, forth.T) / target[:, None]
    np.fill_diagonal(moves, 0.0)
    return moves + np.diag(1 - moves.sum(axis=1))


def test_metropolis_and_gibbs_have_their_target():
    """S0-297, S0-298, S3-069: two coupled spins; the cyclic scan alone is not reversible."""
    target = np.exp([1.0, -0.5, -1.0, 0.5])  # x = (0,0), (0,1), (1,0), (1,1)
    target /= target.sum()
    table = target.reshape(2, 2)
    first = np.zeros((4, 4))
    second = np.zeros((4, 4))
    for x in range(2):
        for y in range(2):
            for new in range(2):
                first[2 * x + y, 2 * new + y] = table[new, y] / table[:, y].sum()
                second[2 * x + y, 2 * x + new] = table[x, new] / table[x].sum()
    proposal = np.random.default_rng(0).dirichlet(np.ones(4), 4)
    for transition, is_reversible in (
        (metropolis(target, proposal), True),
        ((first + second) / 2, True),
        (first @ second, False),
    ):
        chain = MarkovChain(transition)
        assert chain.stationary == pytest.approx(target, rel=1e-12)
        assert chain.is_reversible is is_reversible
    swapped = MarkovChain.metropolis([1, 2], SWAP)  # S0-299
    assert swapped.transition == pytest.approx(np.array(ONE_ZERO), rel=1e-14)
    uniform = MarkovChain.metropolis([1, 1], SWAP)  # S0-300: accepts all, and goes round
    assert uniform.transition.tolist() == SWAP
    assert uniform.period() == 2


@given(positive_chains(), SEEDS)
def test_metropolis_chains_by_single_entries(proposal, seed):
    """S0-298, S0-299, S0-301, S3-074: entry by entry; detailed balance; a symmetric T needs only min(1, π(z)/π(x))."""
    rng = np.random.default_rng(seed)
    target = rng.uniform(0.1, 2.0, proposal.num_states)
    chain = MarkovChain.metropolis(target, proposal, 0)
    assert chain.transition == pytest.approx(metropolis(target / target.sum(), proposal.matrix), abs=1e-14)
    assert chain.satisfies_detailed_balance(target / target.sum())
    assert chain.distribution_at(0)[0] == 1
    symmetric = np.full((len(target),) * 2, 1 / len(target))
    plain = np.minimum(1, target / target[:, np.newaxis]) / len(target)
    off = ~np.eye(len(target), dtype=bool)
    assert MarkovChain.metropolis(target, symmetric).transition[off] == pytest.approx(plain[off], rel=1e-12)


def test_metropolis_chains_with_numbers_of_their_own():
    """S3-074: π = (¼, ¾) and T = ½ give S = [[½, ½], [1/6, 5/6]]; S0-300: what leads one way only is refused."""
    half = [[0.5, 0.5], [0.5, 0.5]]
    chain = MarkovChain.metropolis([0.25, 0.75], MarkovChain(half, states=["tails", "heads"]))
    assert chain.transition == pytest.approx(np.array([[1 / 2, 1 / 2], [1 / 6, 5 / 6]]), rel=1e-14)
    assert chain.states == ("tails", "heads")
    assert chain.stationary == pytest.approx([0.25, 0.75], rel=1e-14)
    assert MarkovChain.metropolis([10.0**-300, 10.0**300], half).transition == pytest.approx(
        np.array([[0.5, 0.5], [0.0, 1.0]])
    )
    lazy = (np.eye(3) + ROTATION) / 2
    with pytest.raises(InvalidData, match="leads from state 'a' to state 'b' and never back"):
        MarkovChain.metropolis([1, 1, 1], lazy, states=list("abc"))
    with pytest.raises(InvalidModel, match="positive in every state; in 1 it is 0"):
        MarkovChain.metropolis([1, 0], half)
    with pytest.raises(InvalidModel, match="one entry per state"):
        MarkovChain.metropolis([1, 1, 1], half)


def test_the_second_eigenvalue_of_a_round_of_gibbs():
    """The kernel of one Gibbs round for p(B, F | G = 0) of the fuel network: π and λ₂ = .038644."""
    joint = np.array([[0.028571, 0.228571], [0.228571, 0.514286]])
    joint = joint / joint.sum()
    rounds = np.zeros((4, 4))
    for b, f, new_b, new_f in np.ndindex(2, 2, 2, 2):
        rounds[2 * b + f, 2 * new_b + new_f] = (
            joint[new_b, f] / joint[:, f].sum() * joint[new_b, new_f] / joint[new_b].sum()
        )
    chain = MarkovChain(rounds)
    assert chain.stationary == pytest.approx(joint.ravel(), rel=1e-12)
    assert chain.second_eigenvalue_modulus == pytest.approx(0.038644, abs=2e-6)


# --- mixing ----------------------------------------------------------------------------------------------------------


@given(positive_chains())
def test_distances_shrink_at_the_rate_of_the_second_eigenvalue(chain):
    """S0-296, S3-068: from every vertex, and never up again."""
    distances = chain.worst_distance(12)
    single = np.max([chain.distance_to_stationary(12, state) for state in chain.states], axis=0)
    assert distances == pytest.approx(single, abs=1e-12)
    assert (np.diff(distances) <= 1e-12).all()
    by_hand = [np.abs(chain.transition_after(t) - chain.stationary).sum(axis=1).max() / 2 for t in range(13)]
    assert distances == pytest.approx(by_hand, abs=1e-12)
    rate = chain.second_eigenvalue_modulus
    assert (distances + 1e-12 >= rate ** np.arange(13) / 2).all() or chain.num_states == 1


def test_a_periodic_chain_does_not_converge():
    """S3-068: the distance of the swap stays ½."""
    chain = MarkovChain(SWAP)
    assert chain.distance_to_stationary(5, 0).tolist() == [0.5] * 6
    assert chain.mixing_time() == math.inf
    assert chain.mixing_time(0.5) == 0
    assert chain.spectral_gap == 0
    assert chain.eigenvalues.tolist() == pytest.approx([1, -1])
    leaving = MarkovChain([[0, 1, 0], [1, 0, 0], [0.5, 0, 0.5]])
    assert leaving.mixing_time(0.6) == 1  # from the state that leaves the distance is 1, then ½
    assert MarkovChain(np.eye(1)).mixing_time() == 0


@given(positive_chains(), st.sampled_from([0.25, 1e-3, 0.9]))
def test_the_mixing_time_is_the_first_time(chain, threshold):
    time = chain.mixing_time(threshold)
    if time > 10_000:
        return
    distances = [
        np.abs(chain.transition_after(t) - chain.stationary).sum(axis=1).max() / 2 for t in (max(time - 1, 0), time)
    ]
    assert distances[-1] <= threshold + 1e-12
    assert time == 0 or distances[0] > threshold - 1e-12


def test_the_mixing_time_of_two_states():
    """d(t) = max(a, b)/(a + b) |1 - a - b|^t, also where it takes 1e12 steps."""
    for a, b in ((0.2, 0.1), (1e-12, 3e-12)):
        expected = math.ceil(math.log(0.25 / (max(a, b) / (a + b))) / math.log1p(-(a + b)))
        assert MarkovChain([[1 - a, a], [b, 1 - b]]).mixing_time() == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InvalidData, match="threshold"):
        MarkovChain(ONE_ZERO).mixing_time(0)


@given(transitions())
def test_eigenvalues(transition):
    """Those of the matrix; as many of modulus 1 as the closed classes have periods together."""
    chain = MarkovChain(transition)
    found = chain.eigenvalues
    modulus = np.abs(found)
    assert (np.diff(modulus) <= 1e-9).all()
    assert found.sum() == pytest.approx(np.trace(transition), abs=1e-9)
    assert np.prod(found) == pytest.approx(np.linalg.det(transition), abs=1e-9)
    turns = sum(chain.period(members[0]) for members in chain.closed_classes)
    assert modulus[:turns] == pytest.approx(np.ones(turns), abs=1e-12)
    assert (chain.spectral_gap == 0) == (turns > 1)
    assert chain.spectral_gap == pytest.approx(1 - chain.second_eigenvalue_modulus, abs=1e-7)


def test_a_tiny_spectral_gap_is_precise():
    """By the flow between the two pairs; for two states it is a + b."""
    chain, _ = nearly_decomposable(1e-12)
    assert chain.spectral_gap == pytest.approx((3 / 8 + 2 * 3 / 7) * 1e-12, rel=1e-9)
    a, b = 1e-200, 3e-200
    assert MarkovChain([[1 - a, a], [b, 1 - b]]).spectral_gap == pytest.approx(a + b, rel=1e-12)
    assert MarkovChain([[0.5, 0.5], [0.5, 0.5]]).spectral_gap == pytest.approx(1)
    assert MarkovChain([[1.0]]).spectral_gap == 1


# --- passages --------------------------------------------------------------------------------------------------------


def solved(transition: np.ndarray, targets: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The oracle: the smallest solutions of the equations, by stepping the probability that a target was met."""
    stopped = transition.copy()
    stopped[targets] = np.eye(len(transition))[targets]
    far = reduce(lambda power, _: power @ power, range(80), stopped)
    chances = far[:, targets].sum(axis=1)
    rest = [state for state in range(len(transition)) if state not in targets]
    times = np.where(chances < 1 - 1e-9, np.inf, 0.0)
    sure = [state for state in rest if chances[state] >= 1 - 1e-9]
    if sure:
        within = transition[np.ix_(sure, sure)]
        times[sure] = np.linalg.solve(np.eye(len(sure)) - within, np.ones(len(sure)))
    return chances, times


@given(transitions(), st.data())
def test_hitting_against_linear_equations(transition, data):
    chain = MarkovChain(transition)
    targets = sorted(data.draw(st.sets(st.sampled_from(chain.states), min_size=1)))
    chances, times = solved(transition, targets)
    assert chain.hitting_probabilities(targets) == pytest.approx(chances, abs=1e-7)
    assert chain.hitting_times(targets) == pytest.approx(times, rel=1e-5)


@given(chains())
def test_the_time_to_come_back_is_one_over_the_stationary_probability(chain):
    """Kac: one step, and then the way back."""
    if chain.is_irreducible:
        back = [1 + chain.transition[state] @ chain.hitting_times(state) for state in chain.states]
        assert back == pytest.approx(1 / chain.stationary, rel=1e-10)


def test_hitting_times_against_simulation():
    chain = MarkovChain([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]], 0)
    paths = [drawn.states for drawn in jt.sample(chain, [200] * 4000, rng=0)]
    times = [int(np.argmax(path == 2)) for path in paths]
    assert np.mean(times) == pytest.approx(chain.hitting_times(2)[0], rel=0.05)


def test_gambler():
    """Ruin from a stake: 1 - i/n in a fair game, after i (n - i) rounds on average."""
    size = 11
    transition = np.diag(np.full(size - 1, 0.5), 1) + np.diag(np.full(size - 1, 0.5), -1)
    transition[0], transition[-1] = np.eye(size)[0], np.eye(size)[-1]
    chain, stakes = MarkovChain(transition), np.arange(size)
    assert chain.hitting_probabilities(0) == pytest.approx(1 - stakes / 10, rel=1e-13)
    assert chain.absorption_probabilities() == pytest.approx(
        np.stack([1 - stakes / 10, stakes / 10], axis=1), rel=1e-13
    )
    assert chain.absorption_times() == pytest.approx(stakes * (10 - stakes), rel=1e-13)
    assert chain.hitting_times(0).tolist() == [0] + [math.inf] * 10
    assert chain.hitting_times([0, 10]) == pytest.approx(chain.absorption_times())
    assert chain.absorbing_states == (0, 10)
    assert chain.transient_states == tuple(range(1, 10))


def test_what_cannot_be_reached():
    chain = MarkovChain(LIMIT_WITHOUT_REGULARITY, states=["home", "away"])
    assert chain.hitting_times("away").tolist() == [math.inf, 0]
    assert chain.hitting_probabilities("away").tolist() == [0, 1]
    assert chain.hitting_times("home").tolist() == [0, 1]
    with pytest.raises(UnknownState, match="did you mean 'home'"):
        chain.hitting_times("hone")
    with pytest.raises(InvalidData, match="needs a target"):
        chain.hitting_times([])


def test_long_passages_keep_their_digits():
    """Out of a pair of states that are left with probability ε: 8/(3ε) from the flow, to all digits."""
    for coupling in (1e-12, 1e-100):
        chain, _ = nearly_decomposable(coupling)
        into_second = chain.hitting_times([2, 3])
        # t0 = (1 + 0.5 t1) / (0.5 + ε) and t1 = 1/0.3 + t0
        assert into_second[0] == pytest.approx((1 + 0.5 / 0.3) / coupling, rel=1e-13)
        assert into_second[1] == pytest.approx((1 + 0.5 / 0.3) / coupling + 1 / 0.3, rel=1e-13)


def test_what_floats_can_just_tell():
    """A state that is left once in 1e200 steps."""
    e = 1e-200
    chain = MarkovChain([[1 - e, 0, e], [0, 1 - e, e], [1 - e, e, 0]])
    assert chain.stationary == pytest.approx([1, e, e], rel=1e-12)
    assert chain.hitting_times(2) == pytest.approx([1e200, 1e200, 0], rel=1e-12)
    assert chain.mixing_time() == pytest.approx(math.log(4) * 1e200, rel=1e-9)
    assert chain.spectral_gap == pytest.approx(e, rel=1e-9)


def test_what_no_float_can_tell():
    """Two wells with a way of probability 1e-400 between them: an end and a sentence, and no NaN."""
    e = 1e-200
    wells = MarkovChain([[1 - e, e, 0, 0], [1 - e, 0, e, 0], [0, e, 0, 1 - e], [0, 0, e, 1 - e]])
    assert wells.is_regular
    assert wells.mixing_time() == math.inf
    assert wells.spectral_gap < 1e-250
    assert wells.stationary == pytest.approx([0.5, 0.5 * e, 0.5 * e, 0.5], rel=1e-12)
    with pytest.raises(Unsupported, match="1e-308"):
        wells.hitting_times(3)


@given(chains())
def test_absorption_adds_up(chain):
    chances = chain.absorption_probabilities()
    assert chances.sum(axis=1) == pytest.approx(1, rel=1e-12)
    assert chain.transition @ chances == pytest.approx(chances, abs=1e-12)
    by_class = [chain.hitting_probabilities(list(members)) for members in chain.closed_classes]
    assert pytest.approx(np.array(by_class), abs=1e-12) == chances.T
