"""Hidden Markov models asked by `infer`, `log_prob` and `online_filter`, against the sum over all paths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import juncture as jt
from juncture.kernels.chains.forward_backward import DISCARD
from juncture.sequences.hidden_markov import forward_backward
from juncture.sequences.hidden_markov.chain import Chain, Form
from juncture.sequences.hidden_markov.forward_backward import NOTHING, pass_short, run_passes
from support.chain_oracles import all_paths, chains, enumerate_paths, observed

S0_250 = jt.HiddenMarkovModel([0.5, 0.5], [[3 / 4, 1 / 4], [1 / 3, 2 / 3]], [[0.8, 0.2], [0.3, 0.7]])
WEATHER = jt.HiddenMarkovModel([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], states=["dry", "wet"])
LEFT_TO_RIGHT = np.array([[0.9, 0.1, 0.0], [0.0, 0.9, 0.1], [0.0, 0.0, 1.0]])


def possible(hmm, observations, states=None):
    paths = all_paths(hmm, observations, states)
    assume(paths.log_evidence > -np.inf)
    return paths


# the worked example


def fractions(*values: str) -> np.ndarray:
    return np.array([float(Fraction(value)) for value in values])


def test_three_steps_in_exact_fractions():
    """S0-250, S0-245, S0-246; its matrix is printed by columns."""
    beliefs = jt.infer(S0_250, [0, 1, 1])
    assert np.isclose(np.exp(beliefs.log_evidence), 1169 / 12000, rtol=1e-14)
    assert np.allclose(beliefs.smoothed[:, 0], fractions("682/1169", "39/167", "34/167"), rtol=1e-14)
    assert np.allclose(beliefs.filtered[:, 0], fractions("8/11", "1/3", "34/167"), rtol=1e-14)
    assert np.allclose(beliefs.pairwise[0].T, np.array([[234, 39], [448, 448]]) / 1169, rtol=1e-14)
    assert np.allclose(beliefs.smoothed.sum(axis=1), 1)


# every question against enumeration


@given(chains(), observed)
def test_all_beliefs_are_sums_over_paths(hmm, observations):
    """S0-243 to S0-251, S1-134, S1-138 to S1-140, S3-001, S3-002, S4-199."""
    paths = possible(hmm, observations)
    beliefs = jt.infer(hmm, observations)
    assert np.isclose(beliefs.log_evidence, paths.log_evidence, rtol=1e-10, atol=1e-12)
    assert np.isclose(jt.log_prob(hmm, observations), paths.log_evidence, rtol=1e-10, atol=1e-12)
    assert np.allclose(beliefs.smoothed, paths.smoothed, atol=1e-10)
    assert np.allclose(beliefs.pairwise, paths.pairwise, atol=1e-10)
    assert np.allclose(beliefs.expected_transitions, paths.pairwise.sum(axis=0), atol=1e-10)
    assert np.array_equal(beliefs.decoded, np.argmax(beliefs.smoothed, axis=1))
    assert beliefs.pairwise.shape == (max(0, len(observations) - 1), hmm.num_states, hmm.num_states)


@given(chains(), observed, st.integers(0, 5))
def test_filtering_prediction_and_lags_know_the_past_only(hmm, observations, lag):
    possible(hmm, observations)
    beliefs, lagged = jt.infer(hmm, observations), jt.infer(hmm, observations).lagged(lag)
    for step in range(len(observations)):
        known, blank = observations[: step + 1], [None]
        assert np.allclose(beliefs.filtered[step], all_paths(hmm, known).distribution(step), atol=1e-10)
        assert np.allclose(beliefs.predicted[step], all_paths(hmm, known[:-1] + blank).distribution(step), atol=1e-10)
        assert np.allclose(lagged[step], all_paths(hmm, observations[: step + lag + 1]).distribution(step), atol=1e-10)


@given(chains(), observed, st.integers(1, 3))
def test_a_forecast_is_the_law_after_steps_that_are_not_observed(hmm, observations, h):
    possible(hmm, observations)
    forecast = jt.infer(hmm, observations).forecast(h)
    paths = all_paths(hmm, observations + [None] * h)
    assert len(forecast) == len(forecast.observations) == h
    for step in range(h):
        assert np.allclose(forecast.states[step], paths.distribution(len(observations) + step), atol=1e-10)
    ahead = all_paths(hmm, observations + [None] * (h - 1) + [1]).log_evidence - paths.log_evidence
    assert np.isclose(np.exp(forecast.log_prob(1)[-1]), np.exp(ahead), atol=1e-10)
    assert np.isclose(np.exp(forecast.observations[-1].log_prob(1)), np.exp(ahead), atol=1e-10)


@given(chains(), observed, st.integers(0, 3))
def test_a_filter_takes_one_observation_at_a_time(hmm, observations, lag):
    possible(hmm, observations)
    beliefs, filter_ = jt.infer(hmm, observations), jt.online_filter(hmm, lag=lag)
    lagged = beliefs.lagged(lag)
    assert np.allclose(filter_.predicted, hmm.initial)
    for step, observation in enumerate(observations):
        assert np.allclose(filter_.predicted, beliefs.predicted[step], atol=1e-10)
        filter_ = filter_.step(observation)
        assert np.allclose(filter_.filtered, beliefs.filtered[step], atol=1e-10)
        if step >= lag:
            assert np.allclose(filter_.lagged, lagged[step - lag], atol=1e-10)
    assert filter_.num_steps == len(observations)
    assert np.isclose(filter_.log_evidence, beliefs.log_evidence, rtol=1e-10, atol=1e-12)


@given(chains(), observed, st.data())
def test_labels_of_some_states_restrict_the_paths(hmm, observations, data):
    label = st.none() | st.integers(0, hmm.num_states - 1)
    states = data.draw(st.lists(label, min_size=len(observations), max_size=len(observations)))
    paths = possible(hmm, observations, states)
    beliefs = jt.infer(hmm, jt.Sequence(observations, states=states))
    assert np.isclose(beliefs.log_evidence, paths.log_evidence, rtol=1e-10, atol=1e-12)
    assert np.allclose(beliefs.smoothed, paths.smoothed, atol=1e-10)
    assert np.allclose(beliefs.expected_transitions, paths.pairwise.sum(axis=0), atol=1e-10)


@given(chains(zeros=(0.0,)), st.lists(observed, max_size=4))
def test_many_sequences_are_answered_one_by_one(hmm, sequences):
    many = jt.infer(hmm, [jt.Sequence(each) for each in sequences]) if sequences else []
    for beliefs, own in zip(many, sequences, strict=True):
        alone = jt.infer(hmm, own)
        assert beliefs.log_evidence == alone.log_evidence
        assert np.array_equal(beliefs.smoothed, alone.smoothed)


def test_lengths_cut_a_stacked_array():
    stacked = [0, 1, 1, 0, 1]
    assert np.allclose(jt.log_prob(WEATHER, stacked, lengths=[2, 0, 3]), jt.log_prob(WEATHER, [[0, 1], [], [1, 0, 1]]))
    assert [len(beliefs) for beliefs in jt.infer(WEATHER, stacked, lengths=[2, 0, 3])] == [2, 0, 3]


def test_the_probabilities_of_all_sequences_sum_to_one():
    """S0-243, S1-128."""
    every = np.array(np.meshgrid(*[[0, 1]] * 5)).reshape(5, -1).T
    assert np.isclose(np.exp(jt.log_prob(WEATHER, list(every))).sum(), 1)


def test_an_empty_sequence_tells_nothing():
    beliefs = jt.infer(WEATHER, [])
    assert beliefs.log_evidence == 0.0
    assert beliefs.smoothed.shape == beliefs.filtered.shape == beliefs.predicted.shape == (0, 2)
    assert beliefs.pairwise.shape == (0, 2, 2)
    assert np.allclose(beliefs.forecast(1).states, WEATHER.initial)


# the general engine


@given(chains(num_symbols=3), st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=5))
def test_the_chain_as_a_network_and_as_a_factor_graph_gives_the_same(hmm, observations):
    """S0-244, S1-142, S4-230."""
    possible(hmm, observations)
    beliefs, names = jt.infer(hmm, observations), [f"state{step}" for step in range(len(observations))]
    evidence = {f"observation{step}": value for step, value in enumerate(observations)}
    network = jt.infer(hmm.to_bayesian_network(len(observations)), evidence)
    graph = jt.infer(hmm.to_factor_graph(observations))
    for general in (network, graph):
        assert np.isclose(general.log_evidence, beliefs.log_evidence, rtol=1e-10, atol=1e-12)
        assert np.allclose([general[name].values for name in names], beliefs.smoothed, atol=1e-10)
    for step in range(len(observations) - 1):
        joint = network.joint(names[step], names[step + 1]).values
        assert np.allclose(joint, beliefs.pairwise[step], atol=1e-10)


def test_likelihoods_that_a_double_just_holds_are_factors():
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[1e-300, 1.0], [2e-300, 1.0]])
    graph, beliefs = jt.infer(hmm.to_factor_graph([0, 0, 1])), jt.infer(hmm, [0, 0, 1])
    assert graph.log_evidence == pytest.approx(beliefs.log_evidence, rel=1e-12)
    assert graph["state0"].values == pytest.approx(beliefs.smoothed[0], rel=1e-12)


def test_states_apart_are_independent_given_one_between_but_not_given_what_is_seen():
    """S4-237, problem 6.4."""
    graph = WEATHER.to_bayesian_network(3).graph
    assert not graph.is_separated({"state0"}, {"state2"}, given={"observation1"})
    assert graph.is_separated({"state0"}, {"state2"}, given={"state1"})
    assert not graph.is_separated({"observation0"}, {"observation2"})


# numbers


def test_uninformative_steps_add_up_exactly():
    """S3-003: 2,000 steps of probability ½."""
    coin = jt.HiddenMarkovModel([0.3, 0.7], [[0.5, 0.5], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]])
    assert np.isclose(jt.log_prob(coin, np.zeros(2000, int)), -2000 * np.log(2), rtol=1e-14)


def test_tiny_emissions_of_a_hundred_thousand_steps_stay_finite():
    """S0-251, S4-230."""
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], None)
    rows = np.random.default_rng(0).normal(-5000.0, 900.0, (100_000, 2))
    beliefs = jt.infer(hmm, rows)
    assert np.isfinite(beliefs.smoothed).all()
    assert np.allclose(beliefs.smoothed.sum(axis=1), 1)
    assert beliefs.log_evidence < -4e8


@pytest.mark.parametrize("num_states", [1, 2, 5, 9])
def test_plain_and_exact_numbers_agree(num_states):
    """S3-006: the scaled and the logarithmic domain, to 1e-10."""
    rng = np.random.default_rng(num_states)
    hmm = jt.HiddenMarkovModel(*(rng.dirichlet(np.ones(num_states), size) for size in (None, num_states)), None)
    sequence, chain = hmm.sequences(rng.normal(0.0, 30.0, (2000, num_states))), Chain.of(hmm)
    one, other = np.empty((2, 2000, num_states))
    pairs = np.zeros((2, num_states, num_states))
    plain = run_passes(chain, sequence, one, 2, pairs[0], Form.SCALED)
    exact = run_passes(chain, sequence, other, 2, pairs[1], Form.EXACT)
    assert np.allclose(plain, exact, rtol=1e-13)
    assert np.allclose(one, other, atol=1e-10)
    assert np.allclose(*pairs, rtol=1e-10, atol=1e-10)


def left_to_right(num_steps: int):
    """State 0 falls behind by exp(-30 · steps), until the last step, which only state 0 can explain."""
    rows = np.tile([-30.0, 0.0, 0.0], (num_steps, 1))
    rows[-1] = [0.0, -np.inf, -np.inf]
    return jt.HiddenMarkovModel([1.0, 0.0, 0.0], LEFT_TO_RIGHT, None), rows


@pytest.mark.parametrize("num_steps", [20, 400, 100_000])
def test_a_mass_far_below_the_others_may_decide_in_the_end(num_steps):
    hmm, rows = left_to_right(num_steps)
    beliefs = jt.infer(hmm, rows)
    expected = (num_steps - 1) * (np.log(0.9) - 30.0)
    assert np.isclose(beliefs.log_evidence, expected, rtol=1e-12)
    assert np.isclose(jt.log_prob(hmm, rows), expected, rtol=1e-12)
    assert np.allclose(beliefs.smoothed, [1.0, 0.0, 0.0])
    assert np.allclose(beliefs.filtered[-1], [1.0, 0.0, 0.0])
    assert np.allclose(beliefs.expected_transitions, np.diag([num_steps - 1.0, 0.0, 0.0]))
    assert (jt.most_probable(hmm, rows).path == 0).all()


def test_plain_numbers_alone_would_have_lost_it():
    hmm, rows = left_to_right(400)
    chain, sequence = Chain.of(hmm), hmm.sequences(rows)
    assert chain.is_exact
    forgetful = jt.HiddenMarkovModel([1.0, 0.0, 0.0], 0.9999 * LEFT_TO_RIGHT + 0.0001 / 3, None)
    assert not Chain.of(forgetful).is_exact
    assert np.isfinite(run_passes(chain, sequence, NOTHING, DISCARD, NOTHING, Form.EXACT)[0])
    assert np.isnan(pass_short(chain, sequence, NOTHING, DISCARD, NOTHING, Form.SCALED)[0])  # nothing was left
    rows[-100:] = [0.0, -200.0, -200.0]  # to be explained by state 0, or very badly
    part = hmm.sequences(rows)
    right, wrong = (pass_short(chain, part, NOTHING, DISCARD, NOTHING, form)[0] for form in (Form.EXACT, Form.SCALED))
    assert right == pytest.approx(399 * np.log(0.9) - 300 * 30.0)
    assert wrong == pytest.approx(-100 * 200.0, rel=0.01)


def test_a_first_step_that_speaks_against_the_initial_law_is_kept():
    """exp(-2000) of mass is left after the first step; all transitions are large."""
    hmm = jt.HiddenMarkovModel([1.0, 0.0], [[0.9, 0.1], [0.2, 0.8]], None)
    rows = np.array([[-2000.0, 0.0], [0.0, 0.0], [-1.0, -2.0]])
    paths = enumerate_paths(hmm.initial, hmm.transition, rows)
    beliefs = jt.infer(hmm, rows)
    assert np.isclose(beliefs.log_evidence, paths.log_evidence, rtol=1e-14)
    assert np.allclose(beliefs.smoothed, paths.smoothed)
    assert np.allclose(beliefs.filtered[0], [1.0, 0.0])


EDGY = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], jt.Beta([0.5, 2.0], [1.0, 2.0]))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: jt.infer(EDGY, [0.5, 0.0, 0.5]),
        lambda: jt.log_prob(EDGY, [[0.5], [0.0]]),
        lambda: jt.most_probable(EDGY, [0.0, 0.5]),
        lambda: jt.online_filter(EDGY).step(0.0),
        lambda: jt.fit(EDGY, [0.5, 0.0, 0.5]),
        lambda: jt.infer(jt.HiddenMarkovModel([1.0], [[1.0]], [jt.Mixture([0.5, 0.5], list(EDGY.emissions))]), [0.0]),
        lambda: jt.infer(EDGY, jt.Sequence([0.0], states=[0])),
    ],
)
def test_an_infinite_density_is_refused_by_all_verbs(ask):
    with pytest.raises(jt.errors.InvalidData, match=r"the observation 0\.0 has no finite density"):
        ask()


def test_an_infinite_density_of_a_state_that_is_not_the_one_told_is_no_matter():
    assert np.array_equal(jt.infer(EDGY, jt.Sequence([0.5, 0.5], states=[None, 1])).smoothed[1], [0.0, 1.0])
    assert np.isneginf(jt.log_prob(EDGY, jt.Sequence([0.0], states=[1])))


def test_a_factor_graph_has_no_infinite_density():
    with pytest.raises(jt.errors.InvalidData, match="step 1 has the log-likelihood inf, which is no likelihood"):
        EDGY.to_factor_graph([0.5, 0.0])


# what is impossible


BANNED = jt.HiddenMarkovModel([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]])


def test_an_impossible_sequence_is_refused_with_the_step():
    with pytest.raises(jt.ImpossibleEvidence, match="up to step 2"):
        jt.infer(BANNED, [0, 2, 0, 1])
    with pytest.raises(jt.ImpossibleEvidence, match="up to step 0"):
        jt.infer(BANNED, [2, 1])
    assert jt.log_prob(BANNED, [0, 2, 0, 1]) == -np.inf


def test_impossible_sequences_among_others_are_marked():
    with pytest.warns(jt.errors.ImpossibleEvidenceWarning, match=r"1 of 3 sequences .* sequence 1"):
        first, second, third = jt.infer(BANNED, [[0, 1], [0, 2, 0], [1]])
    assert second.log_evidence == -np.inf
    assert not second.is_possible
    assert np.isnan(second.smoothed).all()
    assert np.isnan(second.filtered).all()
    assert np.isfinite(first.smoothed).all()
    assert np.isfinite(third.log_evidence)
    with pytest.raises(jt.ImpossibleEvidence, match="no distribution"):
        second.forecast(1)
    with pytest.raises(jt.ImpossibleEvidence, match="sequence 1"):
        jt.infer(BANNED, [[0, 1], [0, 2, 0], [1]], on_impossible="raise")
    assert np.array_equal(np.isneginf(jt.log_prob(BANNED, [[0, 1], [0, 2, 0], [1]])), [False, True, False])


def test_a_filter_refuses_what_cannot_come_next():
    filter_ = jt.online_filter(BANNED).step(0).step(2)
    with pytest.raises(jt.ImpossibleEvidence, match="at step 2"):
        filter_.step(0)


def test_a_label_that_cannot_be_is_impossible():
    with pytest.raises(jt.ImpossibleEvidence, match="step 1"):
        jt.infer(BANNED, jt.Sequence([0, 0], states=[0, 1]))


# long sequences and threads


@pytest.fixture
def _everything_is_long(monkeypatch):
    monkeypatch.setattr(forward_backward, "LONG", 0)


@pytest.mark.parametrize("num_steps", [1, 255, 257, 1000, 5000])
@pytest.mark.parametrize("zeros", [0.0, 0.5])
def test_a_sequence_walked_from_both_ends_gives_the_same(num_steps, zeros, monkeypatch):
    rng = np.random.default_rng(num_steps)
    size = 40  # states: blocks are of 1,638 steps
    transition = rng.random((size, size)) * (rng.random((size, size)) >= zeros) + np.eye(size)
    hmm = jt.HiddenMarkovModel(rng.dirichlet(np.ones(size)), transition / transition.sum(axis=1, keepdims=True), None)
    rows = rng.normal(0.0, 5.0, (num_steps, size))
    sequence = jt.Sequence(rows, states=np.where(rng.random(num_steps) < 0.01, 3, -1))
    short, path = jt.infer(hmm, sequence), jt.most_probable(hmm, sequence)
    transitions = short.expected_transitions
    monkeypatch.setattr(forward_backward, "LONG", 0)
    long, long_path = jt.infer(hmm, sequence), jt.most_probable(hmm, sequence)
    assert np.isclose(long.log_evidence, short.log_evidence, rtol=1e-12)
    assert np.isclose(jt.log_prob(hmm, sequence), short.log_evidence, rtol=1e-12)
    assert np.allclose(long.smoothed, short.smoothed, atol=1e-10)
    assert np.allclose(long.expected_transitions, transitions, atol=1e-9)
    assert np.array_equal(long_path.path, path.path)
    assert np.isclose(long_path.log_joint, path.log_joint, rtol=1e-12)


@pytest.mark.usefixtures("_everything_is_long")
def test_a_long_impossible_sequence_is_refused_with_the_step():
    with pytest.raises(jt.ImpossibleEvidence, match="up to step 2"):
        jt.infer(BANNED, [0, 2, 0, *[1] * 600])
    with pytest.raises(jt.ImpossibleEvidence, match="up to step 602"):
        jt.most_probable(BANNED, [0, 2, *[1] * 600, 0])


def test_the_number_of_cores_does_not_change_answers(monkeypatch):
    rng = np.random.default_rng(3)
    hmm = jt.HiddenMarkovModel(rng.dirichlet(np.ones(8)), rng.dirichlet(np.ones(8), 8), rng.dirichlet(np.ones(5), 8))
    data = [rng.integers(0, 5, length) for length in [*rng.integers(0, 400, 300), 50_000]]
    answers = []
    for cores in (1, 2, 7):
        monkeypatch.setattr("juncture.runtime.parallel.num_cores", lambda cores=cores: cores)
        beliefs = jt.infer(hmm, data)
        answers.append(
            (
                jt.log_prob(hmm, data).tobytes(),
                b"".join(each.smoothed.tobytes() for each in beliefs),
                beliefs[-1].expected_transitions.tobytes(),
                b"".join(each.codes.tobytes() for each in jt.most_probable(hmm, data)),
            )
        )
    assert answers[0] == answers[1] == answers[2]


# doors


def test_beliefs_say_how_they_were_obtained():
    beliefs = jt.infer(WEATHER, [0, 1, 1])
    assert (beliefs.exact, beliefs.converged, beliefs.method) == (True, True, "forward-backward")
    assert repr(beliefs) == "ChainBeliefs(3 steps, 2 states; log_evidence=-2.36834; exact, by forward-backward)"
    assert beliefs.decoded.tolist() == ["dry", "wet", "wet"]
    assert repr(beliefs.forecast(2)).startswith("ChainForecast(2 steps: dry 0.")
    assert repr(beliefs.forecast(9)).count("…") == 2
    assert len(beliefs.forecast(0)) == 0


def test_beliefs_have_a_table_for_notebooks():
    model = jt.HiddenMarkovModel(WEATHER.initial, WEATHER.transition, WEATHER.emissions, states=["<dry>", "wet"])
    beliefs = jt.infer(model, [0, 1, 1])
    html = beliefs._repr_html_()
    assert "<th>&lt;dry&gt;</th><th>wet</th>" in html
    assert html.count("<tr>") == 4
    assert f"<td>{beliefs.smoothed[2, 1]:.4f}<div" in html
    assert "cut from 100 rows" in jt.infer(model, [0] * 100)._repr_html_()
    assert beliefs.forecast(2)._repr_html_().count("<tr>") == 3


def test_options_that_make_no_sense_are_refused():
    with pytest.raises(jt.errors.Unsupported, match="loopy"):
        jt.infer(WEATHER, [0, 1], method="loopy")
    with pytest.raises(jt.errors.InvalidData, match="on_impossible"):
        jt.infer(WEATHER, [0, 1], on_impossible="ignore")
    with pytest.raises(jt.errors.InvalidData, match="lag"):
        jt.infer(WEATHER, [0, 1]).lagged(-1)
    with pytest.raises(jt.errors.InvalidData, match="number of steps must be a whole number of at least 0"):
        jt.infer(WEATHER, [0, 1]).forecast(-1)
    with pytest.raises(jt.errors.InvalidData, match="symbols are"):
        jt.online_filter(WEATHER).step(7)
    with pytest.raises(jt.errors.Unsupported, match="online_filter"):
        jt.online_filter(3)


def test_vectors_and_missing_parts_of_them():
    """S1-132: real vectors; a hole is summed out."""
    distribution = jt.MultivariateGaussian([[0.0, 0.0], [3.0, 1.0]], [np.eye(2), [[1.0, 0.5], [0.5, 2.0]]])
    hmm = jt.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], distribution)
    rows = np.array([[0.1, 0.2], [np.nan, 1.0], [np.nan, np.nan], [2.0, 1.5]])
    paths = enumerate_paths(hmm.initial, hmm.transition, hmm.emissions.log_prob(rows))
    assert np.allclose(jt.infer(hmm, rows).smoothed, paths.smoothed)
    filter_ = jt.online_filter(hmm)
    for row in (rows[0], rows[1], None, rows[3]):
        filter_ = filter_.step(row)
    assert np.isclose(filter_.log_evidence, paths.log_evidence)
    assert np.allclose(filter_.filtered, paths.distribution(3))


def test_equal_rows_make_a_mixture():
    """S0-253, S1-141: without memory the posteriors are the responsibilities."""
    weights = np.array([0.3, 0.7])
    distribution = jt.Gaussian([0.0, 2.0], [1.0, 1.0])
    hmm = jt.HiddenMarkovModel(weights, [weights, weights], distribution)
    x = np.array([0.0, 1.0, 2.5])
    joint = weights * np.exp(distribution.log_prob(x[:, None]))
    assert np.allclose(jt.infer(hmm, x).smoothed, joint / joint.sum(axis=1, keepdims=True))


TALK = jt.HiddenMarkovModel(
    [0.5, 0.5], [[0.8, 0.2], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]], states=("dry", "wet"), symbols=("walk", "shop")
)


def test_a_filter_takes_labelled_states():
    labelled = jt.Sequence(["walk", "shop", None, "walk"], states=["wet", None, "dry", None])
    beliefs = jt.infer(TALK, labelled)
    plainly = jt.online_filter(TALK).step("walk", "wet").step("shop").step(None, state="dry").step("walk")
    wrapped = jt.online_filter(TALK)
    for step in range(4):
        wrapped = wrapped.step(jt.Sequence(labelled.observations[[step]], states=labelled.states[[step]]))
    for each in (plainly, wrapped):
        assert each.log_evidence == pytest.approx(beliefs.log_evidence)
        assert each.filtered == pytest.approx(beliefs.filtered[-1])


def test_a_filter_counts_its_steps_in_messages():
    before = jt.online_filter(TALK).step("walk")
    with pytest.raises(jt.errors.UnknownState, match="step 1: variable 'symbol' has no state 'wlk'"):
        before.step("wlk")
    with pytest.raises(jt.errors.UnknownState, match="step 1: variable 'state' has no state 'wt'"):
        before.step("walk", "wt")
    with pytest.raises(jt.errors.InvalidData, match="take one step after the other"):
        before.step(jt.Sequence(["walk", "shop"]))
