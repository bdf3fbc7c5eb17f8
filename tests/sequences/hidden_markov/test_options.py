"""What may be asked of Baum-Welch: parts kept or shared, weights, parts of data, and how it ends."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import HiddenMarkovPrior
from support.emission_examples import (
    random_hidden_markov,
    random_rows,
    some_sequences,
    walk,
)
from support.hidden_markov_oracles import assert_rises, calmly, few

SEEDS = st.integers(0, 2**32 - 1)


# --- structure that stays ------------------------------------------------------------------------------------------


@given(seed=SEEDS, start=st.sampled_from(["given", "random"]), prior=st.sampled_from([None, 1.0]))
def test_zeros_stay_zeros(seed, start, prior):
    """S1-136: a left-to-right chain stays one, with a prior and from starts at random too."""
    rng = np.random.default_rng(seed)
    hmm = random_hidden_markov(rng, "gaussian numbers", zeros=0.4)
    data = some_sequences(hmm, rng)
    fitted = calmly(jt.fit, hmm, data, prior=prior, start=start, method=few(5), rng=rng)
    assert (fitted.model.transition[hmm.transition == 0] == 0).all()
    assert (fitted.model.initial[hmm.initial == 0] == 0).all()
    assert_rises(fitted.trace)


@pytest.mark.parametrize("part", ["initial", "transition", "emissions"])
@pytest.mark.parametrize("start", ["given", "random", "k-means", "left-to-right"])
def test_fixed_parts_stay(part, start):
    rng = np.random.default_rng(3)
    hmm = random_hidden_markov(rng, "gaussian numbers")
    fitted = calmly(jt.fit, hmm, some_sequences(hmm, rng), prior=0.5, fixed=[part], start=start, method=few(4))
    assert_rises(fitted.trace)
    for name in ("initial", "transition", "emissions"):
        same = jt.results.Fit(getattr(fitted.model, name), 0, fitted.trace, 0) == jt.results.Fit(
            getattr(hmm, name), 0, fitted.trace, 0
        )
        assert same is (name == part)


def test_all_fixed_is_a_score():
    rng = np.random.default_rng(3)
    hmm = random_hidden_markov(rng, "poisson")
    data = some_sequences(hmm, rng)
    fitted = jt.fit(hmm, data, fixed=["initial", "transition", "emissions"])
    assert fitted.model == hmm
    assert fitted.trace.converged


@pytest.mark.parametrize("kind", ["categorical", "tied", "mixture", "poisson"])
def test_tied_emissions_are_one_distribution(kind):
    """S4-210: what is shared is learned from the sum of the statistics."""
    rng = np.random.default_rng(4)
    hmm = random_hidden_markov(rng, kind)
    data = some_sequences(hmm, rng, lengths=(30, 20))
    fitted = calmly(jt.fit, hmm, data, tied={"emissions": ["a", "b", "a"]}, method=few(6), rng=0)
    assert_rises(fitted.trace)
    rows = np.concatenate([part.observations for part in data])
    logs = fitted.model.emissions.log_prob(hmm.sequences(data).observations)
    assert np.array_equal(logs[:, 0], logs[:, 2])
    assert not np.allclose(logs[:, 0], logs[:, 1])
    assert fitted.model.emissions.num_parameters < hmm.emissions.num_parameters
    assert len(rows) == 50


def test_one_law_for_all_states_is_that_of_all_data():
    rng = np.random.default_rng(4)
    hmm = random_hidden_markov(rng, "poisson")
    data = [walk(hmm, 40, rng)[1]]
    fitted = calmly(jt.fit, hmm, data, tied=["emissions"], rng=0)
    assert fitted.model.emissions[2].rate == pytest.approx(data[0].mean())


@pytest.mark.parametrize(
    ("prior", "added"), [(None, 0.0), (1.0, 1.0), (jt.Dirichlet([2.0, 3.0, 1.0]), np.array([2.0, 3.0, 1.0]))]
)
def test_tied_rows_are_one_row(prior, added):
    """S4-210: from the sum of their counts; the prior counts once."""
    rng = np.random.default_rng(6)
    hmm = random_hidden_markov(rng, "gaussian numbers")
    priors, tied = HiddenMarkovPrior(transition=prior), {"transition": [0, 1, 1]}
    data = some_sequences(hmm, rng, lengths=(30, 20))
    fitted = calmly(jt.fit, hmm, data, prior=priors, tied=tied, method=few(6), rng=0)
    assert_rises(fitted.trace)
    assert np.array_equal(fitted.model.transition[1], fitted.model.transition[2])
    assert not np.allclose(fitted.model.transition[0], fitted.model.transition[1])
    counts = fitted.statistics.transitions[1:].sum(axis=0) + added
    again = calmly(jt.fit, fitted.model, data, prior=priors, tied=tied, method=few(1), rng=0)
    assert again.model.transition[2] == pytest.approx(counts / counts.sum())


# --- weights, parts, missing steps ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["categorical", "full", "mixture"])
def test_weights_are_repetitions(kind):
    rng = np.random.default_rng(7)
    hmm = random_hidden_markov(rng, kind)
    first, second = (walk(hmm, length, rng)[1] for length in (12, 9))
    repeated = calmly(jt.fit, hmm, [first, second, first, first], method=few(4), rng=0)
    weighted = calmly(jt.fit, hmm, [first, second], weights=[3, 1], method=few(4), rng=0)
    own = calmly(jt.fit, hmm, [Sequence(first, weight=3), Sequence(second)], method=few(4), rng=0)
    for other in (weighted, own):
        assert other.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-10)
        assert other.model.transition == pytest.approx(repeated.model.transition, rel=1e-9)


def test_what_weighs_nothing_does_not_matter():
    """Not even if it is impossible."""
    hmm = HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5, 0.0], [0.9, 0.1, 0.0]])
    data = [[0, 1, 0, 0, 1], [2, 2]]
    with_it = calmly(jt.fit, hmm, data, weights=[1, 0], method=few(3), rng=0)
    assert with_it.log_likelihood == pytest.approx(calmly(jt.fit, hmm, data[:1], method=few(3), rng=0).log_likelihood)


@pytest.mark.parametrize("kind", ["categorical", "full", "poisson", "mixture"])
def test_parts_that_come_one_by_one_are_as_good_as_all_at_once(kind):
    rng = np.random.default_rng(8)
    hmm = random_hidden_markov(rng, kind)
    data = [walk(hmm, length, rng)[1] for length in (12, 0, 9, 30, 1)]
    passes = []

    def parts():
        passes.append(len(passes))
        yield data[:2]
        yield data[1:2]
        yield data[2:]

    whole, streamed = (calmly(jt.fit, hmm, given, method=few(4), rng=0) for given in (data, parts))
    assert streamed.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-10)
    assert streamed.model.transition == pytest.approx(whole.model.transition, rel=1e-9)
    assert len(passes) >= 5
    for start in ("random", "left-to-right"):
        assert_rises(calmly(jt.fit, hmm, parts, start=start, method=few(2), rng=0).trace)


def test_stacked_data_with_lengths():
    rng = np.random.default_rng(9)
    hmm = random_hidden_markov(rng, "diagonal")
    parts = [walk(hmm, length, rng)[1] for length in (7, 5, 11)]
    listed = calmly(jt.fit, hmm, parts, method=few(3), rng=0)
    stacked = calmly(jt.fit, hmm, np.concatenate(parts), lengths=[7, 5, 11], method=few(3), rng=0)
    assert listed.trace.values == stacked.trace.values


def test_missing_steps_are_steps():
    """A missing step still takes time: two steps apart, the transition is its square."""
    hmm = HiddenMarkovModel([1.0, 0.0], [[0.7, 0.3], [0.4, 0.6]], np.eye(2))
    fitted = jt.fit(hmm, [[0, None, 1]], fixed=["initial", "transition", "emissions"])
    assert fitted.log_likelihood == pytest.approx(np.log((hmm.transition @ hmm.transition)[0, 1]))
    learned = calmly(jt.fit, hmm, [[0, None, 1], [0, None, 0]], fixed=["emissions"], method=few(3), rng=0)
    assert_rises(learned.trace)


def test_given_log_likelihoods_leave_the_chain_to_be_learned():
    rng = np.random.default_rng(10)
    truth = random_hidden_markov(rng, "gaussian numbers")
    seen = walk(truth, 50, rng)[1]
    logs = truth.emissions.log_prob(seen)
    start = random_rows(rng, (3, 3))
    known = calmly(
        jt.fit,
        HiddenMarkovModel(truth.initial, start, truth.emissions),
        seen,
        fixed=["emissions"],
        method=few(5),
        rng=0,
    )
    found = calmly(jt.fit, HiddenMarkovModel(truth.initial, start, None), logs, method=few(5), rng=0)
    assert found.model.transition == pytest.approx(known.model.transition, rel=1e-9)


# --- how it goes on and ends ---------------------------------------------------------------------------------------


def test_progress_is_told_and_ctrl_c_keeps_the_last_whole_step():
    rng = np.random.default_rng(11)
    hmm = random_hidden_markov(rng, "categorical")
    data, found = some_sequences(hmm, rng), []

    def watch(step, objective):
        found.append(objective)
        if step == 3:
            raise KeyboardInterrupt

    start = random_hidden_markov(rng, "categorical")
    fitted = calmly(
        jt.fit, start, data, method=jt.ExpectationMaximization(tolerance=0.0, restarts=5), progress=watch, rng=0
    )
    assert fitted.trace.is_interrupted
    assert fitted.trace.values[1:] == tuple(found)
    assert fitted.model == calmly(jt.fit, start, data, method=few(3), rng=0).model


def test_restarts_never_end_lower():
    rng = np.random.default_rng(12)
    truth = random_hidden_markov(rng, "categorical")
    data = some_sequences(truth, rng, lengths=(60, 60))
    start = random_hidden_markov(rng, "categorical")
    ends = [
        calmly(
            jt.fit, start, data, method=jt.ExpectationMaximization(max_steps=40, restarts=number), rng=0
        ).log_likelihood
        for number in (0, 2, 4)
    ]
    assert ends == sorted(ends)
    assert ends[-1] > ends[0]


def test_running_out_of_steps_is_said():
    rng = np.random.default_rng(13)
    hmm = random_hidden_markov(rng, "poisson")
    with pytest.warns(jt.errors.NotConvergedWarning, match="stopped after 2 steps"):
        jt.fit(hmm, some_sequences(hmm, rng), method=few(2))


def test_states_and_symbols_keep_their_names():
    hmm = HiddenMarkovModel(
        [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]], states=["dry", "wet"], symbols=["no", "yes"]
    )
    fitted = calmly(jt.fit, hmm, [["no", "yes", None, "yes"]], method=few(2), rng=0)
    assert fitted.model.states == ("dry", "wet")
    assert fitted.model.emissions.symbols == ("no", "yes")
    assert "log-likelihood" in repr(fitted)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fixed": ["transitions"]}, "did you mean 'transition'"),
        ({"fixed": "transition"}, r"fixed=\['transition'\]"),
        ({"tied": "emissions"}, r"tied=\['emissions'\]"),
        ({"tied": {"emissions": [0, 1]}}, "has 3 group labels, one for each state"),
        ({"tied": ["initial"]}, "not 'initial'"),
        ({"start": "kmeans"}, "did you mean 'k-means'"),
        ({"on_unvisited": "drop"}, "'hold', 'reseed'"),
        ({"progress": 3}, "progress is a function of the step and the objective; got 3"),
        ({"weights": [1.0]}, "there are 2 sequences"),
        ({"weights": [1.0, -1.0]}, "at least 0"),
        ({"weights": [0.0, 0.0]}, "no step to learn from"),
        ({"weights": ["a", "b"]}, "weights are numbers"),
        ({"prior": "strong"}, "HiddenMarkovPrior"),
        ({"prior": -1.0}, "at least 0"),
    ],
)
def test_refused(options, message):
    rng = np.random.default_rng(14)
    hmm = random_hidden_markov(rng, "gaussian numbers")
    with pytest.raises(jt.errors.InvalidData, match=message):
        jt.fit(hmm, [[0.1, 0.2], [0.4]], **options)


def test_refused_methods_and_data():
    hmm = HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5, 0.0], [0.9, 0.1, 0.0]])
    with pytest.raises(jt.errors.Unsupported, match="no method of learning 'gradient'; known are 'auto', 'em'"):
        jt.fit(hmm, [0, 1], method="gradient")
    with pytest.raises(
        jt.ImpossibleEvidence, match="step 1 of sequence 1 holds 2, which no state can emit: give distributions"
    ):
        jt.fit(hmm, [[0, 1], [0, 2]])
    with pytest.raises(jt.errors.InvalidData, match="no step to learn from"):
        jt.fit(hmm, [[], []])
    with pytest.raises(jt.errors.InvalidData, match="carry their own"):
        jt.fit(hmm, lambda: [[0, 1]], weights=[1.0])
