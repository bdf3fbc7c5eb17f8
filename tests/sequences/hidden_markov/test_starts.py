"""Where Baum-Welch starts, and states that are lost on the way."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import juncture as jt
from juncture.components.mixture import Mixture, MixtureEmissions
from juncture.data.sequences import Sequence, as_sequences
from juncture.errors import MissingExtra, UnvisitedStatesWarning
from juncture.sequences.hidden_markov.initial_model import initial_hidden_markov
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import HiddenMarkovPrior
from juncture.sequences.hidden_markov.starts import STEPS, excerpt
from support.emission_examples import EMISSIONS, random_hidden_markov, walk, with_holes
from support.hidden_markov_oracles import calmly, few

TRUTH = HiddenMarkovModel(
    [0.4, 0.3, 0.3],
    [[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.1, 0.2, 0.7]],
    jt.Gaussian([0.0, 4.0, 8.0], [1.0, 0.5, 1.0]),
)
ALIKE = HiddenMarkovModel(np.full(3, 1 / 3), np.full((3, 3), 1 / 3), jt.Gaussian([0.0] * 3, [1.0] * 3))


def draw_rows(length=400, seed=0):
    return walk(TRUTH, length, np.random.default_rng(seed))[1]


# --- starts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(EMISSIONS))
@pytest.mark.parametrize("start", ["random", "left-to-right"])
def test_every_kind_starts_from_data(kind, start):
    rng = np.random.default_rng(1)
    hmm = random_hidden_markov(rng, kind)
    data = [walk(hmm, length, rng)[1] for length in (20, 0, 1, 15)]
    fitted = calmly(jt.fit, hmm, data, start=start, method=few(4), rng=3)
    assert np.isfinite(fitted.trace.values).all()
    assert fitted.trace.values == calmly(jt.fit, hmm, data, start=start, method=few(4), rng=3).trace.values
    other = calmly(jt.fit, hmm, data, start=start, method=few(4), rng=4)
    assert (fitted.trace.values == other.trace.values) is (start == "left-to-right")


def test_clusters_find_states_that_are_apart():
    for rng in range(3):
        fitted = calmly(jt.fit, ALIKE, draw_rows(), start="k-means", rng=rng)
        assert np.sort(fitted.model.emissions.mean) == pytest.approx([0, 4, 8], abs=0.4)


def test_clusters_of_vectors_with_holes():
    rng = np.random.default_rng(2)
    hmm = random_hidden_markov(rng, "full")
    data = with_holes(walk(hmm, 80, rng)[1], rng, 0.2, in_part=True)
    fitted = calmly(jt.fit, hmm, [data, data[:3]], start="k-means", method=few(5), rng=0)
    assert (np.diff(fitted.trace.values) >= -1e-9 * abs(fitted.trace.values[0])).all()


def test_clusters_keep_the_order_of_a_chain():
    """Left to right: the clusters come in the order in which sequences pass through them."""
    rng = np.random.default_rng(3)
    rows = [np.concatenate([rng.normal(5, 0.5, 10), rng.normal(-3, 0.5, 12), rng.normal(1, 0.5, 9)]) for _ in range(5)]
    chain = HiddenMarkovModel([1, 0, 0], [[0.5, 0.5, 0], [0, 0.5, 0.5], [0, 0, 1]], ALIKE.emissions)
    fitted = calmly(jt.fit, chain, rows, start="k-means", rng=0)
    assert fitted.model.emissions.mean == pytest.approx([5, -3, 1], abs=0.3)


def test_left_to_right_is_a_chain():
    rng = np.random.default_rng(4)
    rows = [np.concatenate([rng.normal(5, 0.5, 10), rng.normal(-3, 0.5, 12), rng.normal(1, 0.5, 9)]) for _ in range(5)]
    fitted = calmly(jt.fit, ALIKE, rows, start="left-to-right", rng=0)
    assert fitted.model.initial.tolist() == [1.0, 0.0, 0.0]
    assert np.array_equal(fitted.model.transition > 0, [[1, 1, 0], [0, 1, 1], [0, 0, 1]])
    assert fitted.model.emissions.mean == pytest.approx([5, -3, 1], abs=0.3)
    assert fitted.model.transition[0, 1] == pytest.approx(0.1, abs=0.01)
    skipping = HiddenMarkovModel([0.5, 0.5, 0], [[0.4, 0.3, 0.3], [0, 0.5, 0.5], [0, 0, 1]], ALIKE.emissions)
    kept = calmly(jt.fit, skipping, rows, start="left-to-right", method=few(1), rng=0).model
    assert np.array_equal(kept.initial > 0, [True, True, False])
    assert kept.transition[1, 0] == 0


def test_states_that_are_alike_are_told_apart():
    """EM would never part them: a model whose states are all the same is no place to start from."""
    fitted = calmly(jt.fit, ALIKE, draw_rows(), method=jt.ExpectationMaximization(restarts=4), rng=0)
    assert np.ptp(fitted.model.emissions.mean) > 3
    rng = np.random.default_rng(5)
    shared = calmly(jt.fit, ALIKE, draw_rows(), tied=["emissions"], method=few(5), rng=0)
    assert not np.allclose(shared.model.transition[0], shared.model.transition[1])
    kept = calmly(jt.fit, ALIKE, draw_rows(), fixed=["emissions", "transition"], method=few(2), rng=rng)
    assert np.array_equal(kept.model.transition, ALIKE.transition)


def test_a_model_that_is_not_alike_is_where_it_starts():
    """The first value of the trace is the objective of the model given."""
    data = draw_rows(50)
    fitted = calmly(jt.fit, TRUTH, data, method=few(1), rng=0)
    scored = jt.fit(TRUTH, data, fixed=["initial", "transition", "emissions"])
    assert fitted.trace.values[0] == pytest.approx(scored.log_likelihood)


@pytest.mark.parametrize("length", [300, 20_000])
def test_a_random_start_seldom_gets_stuck(length):
    """A single draw ends with both states alike in about four of ten cases; the likeliest of some, in few."""
    two = HiddenMarkovModel([0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], jt.Gaussian([0.0, 3.0], [1.0, 0.5]))
    data = jt.sample(two, length, rng=2).observations
    ends = [jt.fit(initial_hidden_markov(data, 2, "diagonal", rng=seed), data).model for seed in range(12)]
    assert sum(np.ptp(model.emissions.mean) > 2 for model in ends) >= 11


def test_a_random_start_forbids_nothing_that_is_far_from_its_excerpt():
    """One symbol comes up once in many steps, in a part that a function gives later."""
    parts = [np.zeros(50_000, int), np.array([1, 0]), np.array([0, 2])]
    table = HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], np.full((2, 3), 1 / 3))
    fitted = calmly(jt.fit, table, lambda: iter(parts), start="random", method=few(1), rng=0)
    assert np.isfinite(fitted.log_likelihood)


def test_an_excerpt_is_windows_of_the_sequences():
    lengths = np.array([5_000, 0, 9_000, 400, 20_000])
    whole = as_sequences([1000.0 * place + np.arange(length) for place, length in enumerate(lengths)])
    found = excerpt(whole)
    assert found.num_steps == STEPS
    assert all((np.diff(part.observations) == 1).all() for part in found)
    assert excerpt(as_sequences(np.arange(5.0))).num_steps == 5


def test_k_means_needs_numbers_and_its_extra(monkeypatch):
    table = HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], np.full((2, 3), 1 / 3))
    with pytest.raises(jt.errors.Unsupported, match="start at random"):
        jt.fit(table, [0, 1, 2, 2], start="k-means")
    with pytest.raises(jt.errors.InvalidData, match="a step for each of the 3 states"):
        jt.fit(ALIKE, [0.0, 1.0], start="k-means")
    monkeypatch.setitem(sys.modules, "sklearn.cluster", None)
    with pytest.raises(MissingExtra, match="scikit-learn"):
        jt.fit(ALIKE, draw_rows(20), start="k-means")


# --- a first model -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["random", "k-means", "left-to-right"])
@pytest.mark.parametrize("kind", ["full", "diagonal", "spherical", "tied"])
def test_first_gaussian_models(kind, start):
    rng = np.random.default_rng(6)
    truth = random_hidden_markov(rng, "full")
    vectors = walk(truth, 60, rng)[1]
    model = initial_hidden_markov(vectors, 3, kind, start=start, rng=0)
    assert model.emissions.structure == kind
    assert model.event_shape == (2,)
    fitted = calmly(jt.fit, model, vectors, rng=0)
    assert fitted.log_likelihood > jt.fit(model, vectors, fixed=["initial", "transition", "emissions"]).log_likelihood
    numbers = initial_hidden_markov([vectors[:, 0], vectors[:9, 1]], 2, kind, start=start, rng=0)
    assert numbers.event_shape == ()


def test_first_models_of_other_kinds():
    rng = np.random.default_rng(7)
    symbols = rng.integers(4, size=50)
    assert initial_hidden_markov(symbols, 2, "categorical", rng=0).emissions.num_symbols == 4
    named = initial_hidden_markov([["a", "b", None], ["b"]], 2, "categorical", symbols=["a", "b", "c"], rng=0)
    assert named.emissions.symbols == ("a", "b", "c")
    counts = initial_hidden_markov(rng.poisson(4, 50), 3, jt.Poisson, rng=0)
    assert isinstance(counts.emissions[0], jt.Poisson)
    known = initial_hidden_markov(rng.binomial(7, 0.5, 50), 2, jt.Binomial(7, 0.5), rng=0)
    assert known.emissions[1].trials == 7
    mixed = initial_hidden_markov(
        draw_rows(), 2, Mixture([0.5, 0.5], [jt.Gaussian(0.0, 4.0), jt.Gaussian(5.0, 4.0)]), rng=0
    )
    assert isinstance(mixed.emissions, MixtureEmissions)
    stacked = initial_hidden_markov(draw_rows(40), 2, lengths=[30, 10], weights=[1.0, 2.0], rng=0)
    assert stacked.num_states == 2


def test_first_models_with_labels():
    labelled = [
        jt.Sequence([0.1, 5.0, 0.2], states=["low", None, None]),
        jt.Sequence([5.1, 4.9], states=[None, "high"]),
    ]
    for start in ("random", "left-to-right", "k-means"):
        model = initial_hidden_markov(labelled, ["low", "high"], "diagonal", start=start, rng=0)
        assert model.states == ("low", "high")
        assert start != "k-means" or model["low"].mean < model["high"].mean
    words = [jt.Sequence(["a", "b"], states=["low", "high"])]
    assert initial_hidden_markov(words, ["low", "high"], "categorical", symbols=["a", "b"], rng=0).states == (
        "low",
        "high",
    )


def test_first_models_refused():
    for wrong in ("low", 1.5, None):
        with pytest.raises(jt.errors.InvalidData, match=r"states.* at least 1"):
            initial_hidden_markov([0.0, 1.0], wrong, rng=0)
    with pytest.raises(jt.errors.InvalidData, match="at least 1"):
        initial_hidden_markov([0.0, 1.0], 0, rng=0)
    with pytest.raises(jt.errors.Unsupported, match="did you mean 'diagonal'"):
        initial_hidden_markov([0.0, 1.0], 2, "diag", rng=0)
    with pytest.raises(jt.errors.InvalidData, match="'random', 'k-means'"):
        initial_hidden_markov([0.0, 1.0], 2, start="given", rng=0)
    with pytest.raises(jt.errors.InvalidData, match="no symbol is observed"):
        initial_hidden_markov([None, None], 2, "categorical", rng=0)
    with pytest.raises(jt.errors.InvalidData, match=r"holds 'a'; .*; where symbols are labels, say which there are"):
        initial_hidden_markov([["a", "b"]], 2, "categorical", rng=0)
    with pytest.raises(jt.errors.InvalidData, match="step 0 holds -2; symbols are whole numbers"):
        initial_hidden_markov([-2, -2], 2, "categorical", rng=0)
    with pytest.raises(jt.errors.InvalidData, match="no step to learn from"):
        initial_hidden_markov([], 2, rng=0)


# --- states that nothing visits ------------------------------------------------------------------------------------


def lost():
    """A state that nothing leads to, once EM has seen the data."""
    start = HiddenMarkovModel(
        [0.5, 0.4, 0.1],
        np.full((3, 3), 1 / 3),
        [[0.5, 0.5, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]],
        states=["a", "b", "c"],
    )
    return start, [[0, 1, 0, 0, 1, 1, 0], [1, 1, 0]]


def test_a_state_that_nothing_visits_is_reported_and_kept():
    """S1-136: 0/0 is no NaN."""
    start, data = lost()
    with pytest.warns(UnvisitedStatesWarning, match="'c'"):
        fitted = jt.fit(start, data)
    assert fitted.model.emissions.probabilities[2].tolist() == [0.0, 0.0, 1.0]
    assert fitted.model.transition[2] == pytest.approx(1 / 3)
    assert fitted.model.transition[:2, 2] == pytest.approx(0.0)
    assert np.isfinite(fitted.model.transition).all()


@pytest.mark.parametrize("kind", ["gaussian numbers", "full", "poisson", "mixture", "laplace"])
def test_lost_states_of_every_kind_stay_finite(kind):
    rng = np.random.default_rng(8)
    hmm = random_hidden_markov(rng, kind)
    lonely = HiddenMarkovModel([0.5, 0.5, 0], [[0.6, 0.4, 0], [0.4, 0.6, 0], [0.3, 0.3, 0.4]], hmm.emissions)
    data = [walk(lonely, 200, rng)[1]]
    with pytest.warns(UnvisitedStatesWarning, match="2"):
        fitted = jt.fit(lonely, data, method=jt.ExpectationMaximization(max_steps=5000, tolerance=1e-6))
    rows = hmm.sequences(data).observations
    assert np.isfinite(fitted.model.emissions.log_prob(rows)).all()
    assert fitted.model.emissions.log_prob(rows)[:, 2] == pytest.approx(hmm.emissions.log_prob(rows)[:, 2])


def test_a_prior_holds_what_nothing_visits():
    start, data = lost()
    prior = HiddenMarkovPrior(transition=1.0, emissions=1.0)
    fitted = calmly(jt.fit, start, data, prior=prior, method=few(200), rng=0)
    assert fitted.model.emissions.probabilities[2] == pytest.approx([1 / 3, 1 / 3, 1 / 3], abs=0.2)
    assert (fitted.model.transition > 0).all()


def test_what_nothing_visits_may_try_other_data():
    """Three levels of data, two states that know of them: with another try the third state finds its level."""
    data = draw_rows(300)
    start = HiddenMarkovModel(
        [0.5, 0.5, 0.0], [[0.5, 0.5 - 1e-12, 1e-12], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]],
        jt.Gaussian([0.0, 5.0, 500.0], [1.0, 1.0, 1e-3]),
    )  # fmt: skip
    held = calmly(jt.fit, start, data, rng=0)
    tried = calmly(jt.fit, start, data, rng=0, on_unvisited="reseed")
    assert tried.trace.values[-1] >= held.trace.values[-1]
    assert np.isfinite(tried.trace.values).all()
    free = HiddenMarkovModel(
        [0.4, 0.4, 0.2], [[0.5, 0.5 - 1e-9, 1e-9], [0.5 - 1e-9, 0.5, 1e-9], [0.3, 0.3, 0.4]],
        jt.Gaussian([0.0, 5.0, 500.0], [1.0, 1.0, 1e-3]),
    )  # fmt: skip
    with pytest.warns(UnvisitedStatesWarning):
        lost_one = jt.fit(free, data, rng=0)
    found = calmly(jt.fit, free, data, rng=0, on_unvisited="reseed")
    assert found.log_likelihood > lost_one.log_likelihood + 10
    assert np.sort(found.model.emissions.mean) == pytest.approx([0, 4, 8], abs=0.5)


def test_labelled_states_that_nobody_names():
    start, _ = lost()
    with pytest.warns(UnvisitedStatesWarning, match="'c'"):
        fitted = jt.fit(start, [Sequence([0, 1], states=["a", "b"])])
    assert fitted.model.transition[2] == pytest.approx(1 / 3)
