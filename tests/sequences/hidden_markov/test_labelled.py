"""Sequences whose steps are all labelled: counts, in one step; and sequences with some labels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import HiddenMarkovPrior
from juncture.sequences.hidden_markov.statistics import STEPS_AT_ONCE, HiddenMarkovStatistics
from support.emission_examples import EMISSIONS, random_hidden_markov, walk, with_holes
from support.hidden_markov_oracles import calmly, expected_slowly

ONE_STEP = "labelled sequences: estimated in one step"
HOT, COLD = 0, 1


def weather():
    """Three labelled sequences of two states and three symbols."""
    start = HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], np.full((2, 3), 1 / 3), states=["hot", "cold"])
    data = [
        Sequence([2, 2, 1, 0], states=["hot", "hot", "cold", "cold"]),
        Sequence([0, 1, 2], states=["cold", "hot", "hot"], weight=2.0),
        Sequence([1], states=["hot"]),
        Sequence([]),
    ]
    return start, data


def test_counts():
    """S0-252: the maximum of the complete log-likelihood is what the labels count."""
    start, data = weather()
    statistics = jt.statistics(start, data)
    assert statistics.initial.tolist() == [2.0, 2.0]
    assert statistics.transitions.tolist() == [[1 + 2.0, 1.0], [2.0, 1.0]]
    assert statistics.visits.sum() == 4 + 2 * 3 + 1
    model = jt.estimate(start, statistics)
    assert model.initial == pytest.approx([0.5, 0.5])
    assert model.transition == pytest.approx(np.array([[3 / 4, 1 / 4], [2 / 3, 1 / 3]]))
    assert model.emissions.probabilities == pytest.approx(np.array([[0, 3 / 7, 4 / 7], [3 / 4, 1 / 4, 0]]))
    assert model.states == ("hot", "cold")


def test_fit_of_labelled_sequences_is_one_step():
    """S0-252: log-likelihood = Σ log initial + Σ log transition + Σ log emission along the labelled paths."""
    start, data = weather()
    fitted = jt.fit(start, data)
    assert fitted.model == jt.estimate(start, jt.statistics(start, data))
    assert fitted.trace.reason == ONE_STEP
    assert fitted.trace.num_steps == 0
    model, total = fitted.model, 0.0
    for part in data[:3]:
        path = [("hot", "cold").index(state) for state in part.states]
        terms = [model.initial[path[0]], *(model.transition[a, b] for a, b in pairwise(path))]
        terms += [
            model.emissions.probabilities[state, symbol] for state, symbol in zip(path, part.observations, strict=True)
        ]
        total += part.weight * np.log(terms).sum()
    assert fitted.log_likelihood == pytest.approx(total)


@pytest.mark.parametrize("kind", list(EMISSIONS))
def test_labelled_sequences_are_estimated_by_each_kind(kind):
    """What EM with all states labelled comes to is the estimate from the labels; mixtures go on from there."""
    rng = np.random.default_rng(1)
    hmm = random_hidden_markov(rng, kind)
    parts = [walk(hmm, length, rng) for length in (30, 0, 1, 25)]
    data = [Sequence(seen, states=states) for states, seen in parts]
    fitted = calmly(jt.fit, random_hidden_markov(rng, kind), data)
    assert (fitted.trace.reason == ONE_STEP) is (kind != "mixture")
    again = calmly(jt.fit, fitted.model, data, method=jt.ExpectationMaximization(max_steps=1), rng=0)
    assert again.log_likelihood == pytest.approx(fitted.log_likelihood, rel=1e-6)
    slow = expected_slowly(fitted.model, hmm.sequences(data)).log_evidence
    assert fitted.log_likelihood == pytest.approx(slow.sum(), rel=1e-9)


@pytest.mark.parametrize("kind", ["categorical", "full", "poisson", "mixture", "laplace"])
def test_statistics_add(kind):
    rng = np.random.default_rng(2)
    hmm = random_hidden_markov(rng, kind)
    data = [Sequence(seen, states=states) for states, seen in (walk(hmm, length, rng) for length in (10, 20, 5))]
    whole, parts = jt.statistics(hmm, data), [jt.statistics(hmm, [part]) for part in data]
    assert jt.estimate(hmm, whole).transition == pytest.approx(jt.estimate(hmm, sum(parts)).transition)
    assert calmly(jt.estimate, hmm, whole).emissions.log_prob(hmm.sequences(data).observations) == pytest.approx(
        calmly(jt.estimate, hmm, sum(parts)).emissions.log_prob(hmm.sequences(data).observations)
    )
    assert "35 steps" in repr(whole)


def test_statistics_of_many_steps_are_those_of_their_pairs():
    """Longer than a block: the transition across its end counts too."""
    rng = np.random.default_rng(3)
    states = rng.integers(2, size=STEPS_AT_ONCE + 10)
    hmm = HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], np.eye(2))
    found = jt.statistics(hmm, Sequence(states, states=states))
    counts = np.zeros((2, 2))
    np.add.at(counts, (states[:-1], states[1:]), 1.0)
    assert np.array_equal(found.transitions, counts)
    assert np.array_equal(found.emissions.parts[0], np.diag(np.bincount(states)))


def test_map_of_labelled_sequences():
    """Counts plus pseudo-counts; at the mode of the posterior each prior adds 1 less."""
    start, data = weather()
    one = jt.fit(start, data, prior=1.0).model
    assert one.transition[HOT] == pytest.approx([4 / 6, 2 / 6])
    assert one.emissions.probabilities[HOT] == pytest.approx([1 / 10, 4 / 10, 5 / 10])
    prior = HiddenMarkovPrior(jt.Dirichlet([3.0, 1.0]), jt.Dirichlet([[2.0, 2.0], [1.0, 4.0]]), 1.5)
    own = jt.fit(start, data, prior=prior, point="mode")
    assert own.model.initial == pytest.approx([4 / 6, 2 / 6])
    assert own.model.transition == pytest.approx(np.array([[4 / 6, 2 / 6], [2 / 6, 4 / 6]]))
    assert own.model.emissions.probabilities[COLD] == pytest.approx([3.5 / 5.5, 1.5 / 5.5, 0.5 / 5.5])
    log_prior = 2 * np.log(4 / 6) + np.log(4 / 6) + np.log(2 / 6) + 3 * np.log(4 / 6)
    log_prior += 0.5 * np.log(own.model.emissions.probabilities).sum()
    assert own.trace.values[-1] - own.log_likelihood == pytest.approx(log_prior)
    less = HiddenMarkovPrior([2.0, 0.0], [[1.0, 1.0], [0.0, 3.0]], 0.5)
    assert jt.fit(start, data, prior=less).model == own.model


def test_a_dirichlet_adds_its_concentration():
    """The mean of the posterior, as for networks: α + counts, also of the symbols."""
    start, data = weather()
    prior = HiddenMarkovPrior(jt.Dirichlet([3.0, 1.0]), jt.Dirichlet([0.5, 0.5]), jt.Dirichlet([1.0, 2.0, 0.5]))
    counts = HiddenMarkovPrior([3.0, 1.0], 0.5, jt.Dirichlet([2.0, 3.0, 1.5]))
    mean = jt.fit(start, data, prior=prior).model
    assert mean.initial == pytest.approx(jt.fit(start, data, prior=counts).model.initial)
    assert mean.transition == pytest.approx(jt.fit(start, data, prior=counts).model.transition)
    found = jt.statistics(start, data)
    added = found.emissions.parts[0] + [1.0, 2.0, 0.5]
    assert mean.emissions.probabilities == pytest.approx(added / added.sum(axis=1, keepdims=True))
    assert jt.estimate(start, found, prior) == mean
    assert jt.estimate(start, found, counts, point="mean").transition == pytest.approx(mean.transition)
    with pytest.raises(jt.errors.InvalidData, match="point"):
        jt.fit(start, data, prior=prior, point="median")


def test_map_of_gaussian_emissions_in_closed_form():
    """One state: the posterior mode of the family itself."""
    rows = np.random.default_rng(4).normal(3.0, 2.0, 30)
    prior = jt.NormalInverseGamma(0.0, 2.0, 3.0, 4.0)
    hmm = HiddenMarkovModel([1.0], [[1.0]], jt.Gaussian([0.0], [1.0]))
    found = jt.fit(hmm, rows, prior=HiddenMarkovPrior(emissions=prior)).model.emissions[0]
    plain = jt.Gaussian.estimate(jt.Gaussian.statistics(rows), prior=prior)
    assert found.mean == pytest.approx(plain.mean)
    assert found.variance == pytest.approx(plain.variance)


def test_fixed_parts_of_an_estimate():
    start, data = weather()
    model = jt.estimate(start, jt.statistics(start, data), fixed=["emissions", "initial"])
    assert model.emissions == start.emissions
    assert model.transition[HOT, COLD] == 0.25


def test_told_states_are_believed():
    """Partly labelled: a labelled state has all the weight at its step."""
    rng = np.random.default_rng(5)
    hmm = random_hidden_markov(rng, "gaussian numbers")
    states, seen = walk(hmm, 40, rng)
    labels = np.where(rng.random(40) < 0.5, states, -1)
    fitted = calmly(jt.fit, hmm, [Sequence(seen, states=labels)], rng=0)
    assert (np.diff(fitted.trace.values) >= -1e-9 * abs(fitted.trace.values[0])).all()
    known = np.bincount(states[labels >= 0], minlength=3)
    assert (fitted.statistics.visits >= known - 1e-9).all()


@pytest.mark.parametrize("start", ["random", "k-means", "left-to-right"])
def test_starts_agree_with_the_labels(start):
    """The states that are learned are those that the labels name, not a permutation of them."""
    rng = np.random.default_rng(6)
    truth = HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], jt.Gaussian([-3.0, 3.0], [1.0, 1.0]))
    blank = HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], jt.Gaussian([0.0, 0.0], [1.0, 1.0]))
    states, seen = walk(truth, 300, rng)
    labels = np.where(np.arange(300) < 30, states, -1)
    shape = blank if start != "left-to-right" else HiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0, 1]], blank.emissions)
    if start == "left-to-right":
        seen, labels = np.sort(seen), np.where(np.arange(300) < 10, 0, -1)
    fitted = calmly(jt.fit, shape, [Sequence(seen, states=labels)], start=start, rng=0)
    assert fitted.model.emissions.mean == pytest.approx([-3.0, 3.0], abs=0.5)


def test_labels_with_holes_in_vectors_go_on_by_em():
    """A covariance of vectors with holes has no closed form: the labels alone are not enough."""
    rng = np.random.default_rng(7)
    hmm = random_hidden_markov(rng, "full", num_states=2)
    states, seen = walk(hmm, 60, rng)
    seen = with_holes(seen, rng, 0.3, in_part=True)
    fitted = calmly(jt.fit, hmm, [Sequence(seen, states=states)], rng=0)
    assert fitted.trace.num_steps > 1
    assert (np.diff(fitted.trace.values) >= -1e-9).all()


def test_refused():
    start, data = weather()
    chain = HiddenMarkovModel([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], np.full((2, 3), 1 / 3), states=["hot", "cold"])
    statistics = jt.statistics(start, data)
    with pytest.raises(jt.errors.InvalidData, match="begins in state 'cold'"):
        jt.fit(chain, data)
    with pytest.raises(jt.errors.InvalidData, match="from state 'cold' to 'hot'"):
        jt.estimate(chain, statistics, fixed=["initial"])
    with pytest.raises(jt.errors.InvalidData, match="no step is labelled"):
        jt.statistics(start, [0, 1])
    with pytest.raises(jt.errors.InvalidData, match="step 1 of sequence 0"):
        jt.statistics(start, [Sequence([0, 1], states=["hot", None])])
    with pytest.raises(jt.errors.InvalidData, match="estimate takes"):
        jt.estimate(start, 3)
    other = HiddenMarkovStatistics(np.ones(3), np.ones((3, 3)), statistics.emissions)
    with pytest.raises(jt.errors.InvalidData, match="of 3 states, the model has 2"):
        jt.estimate(start, other)
    with pytest.raises(jt.errors.InvalidData, match="do not add"):
        statistics + other
    with pytest.raises(TypeError):
        statistics + 1


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (HiddenMarkovPrior(initial=[1.0, 2.0, 3.0]), "broadcasts to the shape"),
        (HiddenMarkovPrior(transition="much"), "is a number"),
        (HiddenMarkovPrior(initial=np.nan), "finite"),
    ],
)
def test_refused_priors(prior, message):
    start, data = weather()
    with pytest.raises(jt.errors.InvalidData, match=message):
        jt.fit(start, data, prior=prior)


def test_priors_tell_themselves():
    assert repr(HiddenMarkovPrior(transition=2.0)) == "HiddenMarkovPrior(transition=2.0)"
    assert HiddenMarkovPrior(1.0) == HiddenMarkovPrior(1.0)


def test_the_mode_needs_counts_of_at_least_one():
    start, data = weather()
    for prior in (HiddenMarkovPrior(transition=jt.Dirichlet([0.5, 1.0])), 0.5):
        with pytest.raises(
            jt.errors.InvalidData, match="the mode of the posterior need not exist for prior counts below 1"
        ):
            jt.fit(start, data, prior=prior, point="mode")
