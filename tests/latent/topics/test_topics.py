"""Latent Dirichlet allocation against enumeration of the topics of all tokens of tiny corpora (S4-197)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import digamma

import juncture as jt
from juncture.kernels.topics import exponential_digamma
from juncture.latent.topics.fit import TopicChain
from juncture.latent.topics.word_counts import as_counts, as_tokens
from support.topics import enumerate_assignments, exact_log_prob, log_polya, random_model

SEEDS = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")  # a few steps are enough here


@given(SEEDS)
def test_the_bound_of_variational_em_never_falls(seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.gamma(0.5, size=(6, 5))) + np.eye(6, 5, dtype=int)
    fitted = jt.fit(
        jt.LatentDirichletAllocation.standard(3, 5, rng.uniform(0.05, 2.0)),
        counts,
        prior=rng.choice([0.0, 0.1, 1.0]),
        max_steps=30,
        rng=rng,
    )
    values = np.array(fitted.trace.values)
    assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()


@given(SEEDS)
def test_the_bound_is_below_the_evidence_and_never_falls(seed):
    rng = np.random.default_rng(seed)
    model, counts = random_model(rng), rng.integers(0, 3, 3)
    beliefs = jt.infer(model, counts)
    assert beliefs.bound <= exact_log_prob(model, counts) + 1e-9
    assert np.diff(beliefs.trace.values).min(initial=0.0) >= -1e-9
    assert np.isclose(beliefs["shares"].mean, beliefs.shares).all()


def test_one_topic_is_a_multinomial_and_its_bound_is_the_evidence():
    counts = np.array([[3, 1, 0], [0, 1, 3]])
    fitted = jt.fit(jt.LatentDirichletAllocation.standard(1, 3), counts, prior=0.0)
    assert np.allclose(fitted.model.topics, [[3 / 8, 2 / 8, 3 / 8]])
    expected = (counts * np.log([3 / 8, 2 / 8, 3 / 8])).sum()
    assert np.isclose(fitted.log_likelihood, expected)


def test_left_to_right_is_unbiased():
    rng = np.random.default_rng(0)
    model, counts = random_model(rng, 3), np.array([2, 2, 1])
    exact = exact_log_prob(model, counts)
    score = jt.sampling.left_to_right(model, counts, particles=20_000, rng=1)
    assert 0 < score.standard_error < 0.01
    assert abs(score.log_prob - exact) < 4 * score.standard_error


def test_left_to_right_of_many_documents():
    model = jt.LatentDirichletAllocation([[1.0, 0.0], [0.0, 1.0]], 1.0)
    score = jt.sampling.left_to_right(model, [[0, 0], [1, 0], [1, 1]], particles=4000, rng=0)
    assert np.allclose(score.log_prob, [0.0, np.log(1 / 2), np.log(1 / 6)], atol=0.05)
    assert score.standard_error[:2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("pseudo_count", [0.5, 2.0])
def test_collapsed_gibbs_has_the_posterior_of_enumeration(pseudo_count):
    """The log joint of every assignment, and how often a long chain visits each."""
    counts, _ = as_counts([[2, 1], [0, 1]], 2)
    concentration = np.array([0.5, 1.5])
    states = enumerate_assignments(2, 4)
    chains = [TopicChain.start(counts, concentration, pseudo_count, state) for state in states]
    target = np.exp([enumerated_log_joint(counts, state, concentration, pseudo_count) for state in states])
    assert np.allclose([chain.log_joint for chain in chains], np.log(target))
    draws = 4000
    rng = np.random.default_rng(3)
    seen, chain = np.zeros(len(states)), chains[0]
    for _ in range(draws):
        chain.sweep(rng.random(4))
        seen[int(chain.assigned @ [8, 4, 2, 1])] += 1
    assert np.abs(seen / draws - target / target.sum()).max() < 0.04


def enumerated_log_joint(counts, state, concentration, pseudo_count):
    documents, words = as_tokens(counts)
    shares = [log_polya(np.bincount(state[documents == d], minlength=2), concentration) for d in (0, 1)]
    topics = [log_polya(np.bincount(words[state == k], minlength=2), [pseudo_count] * 2) for k in (0, 1)]
    return sum(shares) + sum(topics)


@given(SEEDS)
def test_a_gibbs_draw_is_by_the_conditional_of_enumeration(seed):
    """The topic of the last token, and the uniform at which it changes, against ratios of the enumerated joint."""
    rng = np.random.default_rng(seed)
    counts, _ = as_counts([[2, 1], [0, 1]], 2)
    concentration, pseudo_count, state = rng.uniform(0.2, 2.0, 2), rng.uniform(0.2, 2.0), rng.integers(2, size=4)
    chain = TopicChain.start(counts, concentration, pseudo_count, state)
    chain.sweep(rng.random(4))
    drawn = chain.assigned.copy()
    pair = [np.append(drawn[:-1], topic) for topic in (0, 1)]
    logs = [enumerated_log_joint(counts, each, concentration, pseudo_count) for each in pair]
    first = 1 / (1 + np.exp(logs[1] - logs[0]))
    for uniform, topic in ((first - 1e-6, 0), (first + 1e-6, 1)):
        last = last_token_chain(counts, concentration, pseudo_count, drawn)
        last.sweep(np.array([uniform]))
        assert last.assigned[-1] == topic


def last_token_chain(counts, concentration, pseudo_count, assigned):
    """A chain that draws the last token only, with the counts of all."""
    chain = TopicChain.start(counts, concentration, pseudo_count, assigned)
    documents, words = chain.tokens
    return TopicChain(
        (documents[-1:].copy(), words[-1:].copy()), chain.assigned[-1:].copy(), chain.in_documents, chain.in_topics,
        chain.totals, chain.concentration, pseudo_count,
    )  # fmt: skip


@pytest.mark.parametrize("method", [jt.VariationalBayes(max_steps=100), jt.CollapsedGibbs(draws=100)])
def test_topics_of_a_drawn_corpus_are_found_from_sparse_counts(method):
    rng = np.random.default_rng(0)
    true = np.array([[0.5, 0.4, 0.1, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.1, 0.4, 0.5]])
    counts = np.array([rng.multinomial(50, rng.dirichlet([0.3, 0.3]) @ true) for _ in range(60)])
    model = jt.LatentDirichletAllocation.standard(2, list("abcdef"), 0.3)
    fitted = jt.fit(model, sparse.csr_matrix(counts), method=method, rng=1)
    order = np.argsort(-fitted.model.topics[:, 0])
    assert np.abs(fitted.model.topics[order] - true).max() < 0.05
    assert {frozenset(words) for words in fitted.model.top_words(2)} == {frozenset("ab"), frozenset("ef")}
    assert np.allclose(fitted.statistics.sum(axis=1), 1.0)
    dense = jt.fit(model, counts, method=method, rng=1)
    assert np.array_equal(dense.model.topics, fitted.model.topics)


def test_topics_as_a_table():
    model = jt.LatentDirichletAllocation([[0.6, 0.4], [0.1, 0.9]], words=["x", "y"])
    frame = model.to_pandas(1)
    assert frame.to_dict("records") == [
        {"topic": 0, "rank": 0, "word": "x", "probability": 0.6},
        {"topic": 1, "rank": 0, "word": "y", "probability": 0.9},
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jt.LatentDirichletAllocation([[0.5, 0.6]]), "sum to 1"),
        (lambda: jt.LatentDirichletAllocation([[0.5, 0.5]], -1.0), "positive"),
        (lambda: jt.LatentDirichletAllocation([[0.5, 0.5]], words=["a"]), "1 word"),
        (lambda: jt.infer(jt.LatentDirichletAllocation([[1.0, 0.0]]), [0, 1]), "no topic has the word"),
        (lambda: jt.infer(jt.LatentDirichletAllocation([[1.0, 0.0]]), [0.5, 0]), "whole numbers"),
        (lambda: jt.infer(jt.LatentDirichletAllocation([[1.0, 0.0]]), [1, 0, 0]), "2 words"),
        (lambda: jt.infer(jt.LatentDirichletAllocation([[1.0, 0.0]]), [np.nan, 0]), "document 0 has nan of word 0"),
        (lambda: jt.fit(jt.LatentDirichletAllocation.standard(2, 2), [[0, 0]]), "no words"),
        (lambda: jt.fit(jt.LatentDirichletAllocation.standard(2, 2), [1, 1]), "many documents"),
        (lambda: jt.fit(jt.LatentDirichletAllocation.standard(2, 2), [[1, 1]], weights=[0.0]), "weigh nothing"),
        (
            lambda: jt.fit(jt.LatentDirichletAllocation.standard(2, 2), [[1, 1]], weights=[2.0], method="gibbs"),
            "variational",
        ),
        (lambda: jt.sample(jt.LatentDirichletAllocation.standard(2, 2), 3, length=[1, 2]), "2 lengths"),
        (lambda: jt.sample(jt.LatentDirichletAllocation.standard(2, 2), 3, length=-1), "length"),
        (lambda: jt.sample(jt.LatentDirichletAllocation.standard(2, ["a", "a"]), 3), "same text"),
        (lambda: jt.most_probable(jt.LatentDirichletAllocation.standard(2, 2), [1, 1]), "argmax"),
        (lambda: jt.infer(jt.LatentDirichletAllocation.standard(2, 2), [1, 1], method="exact"), "approximates"),
        (lambda: jt.log_prob(jt.LatentDirichletAllocation.standard(20, 2), [[9, 9]], method="exact"), "left-to-right"),
        (
            lambda: jt.infer(jt.LatentDirichletAllocation.standard(2, ["a", "b"]), jt.Dataset({"a": [1], "c": [2]})),
            "none for 'b'",
        ),
        (
            lambda: jt.fit(jt.LatentDirichletAllocation.standard(2, 2), [[1, 0]], prior=0, method="gibbs"),
            "pseudo-count",
        ),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(jt.JunctureError, match=message):
        call()


def test_the_exponential_of_digamma_is_that_of_scipy():
    values = np.concatenate([10.0 ** np.arange(-3.0, 13.0, 0.25), np.linspace(0.01, 20.0, 101)])
    found = [exponential_digamma(value) for value in values]
    assert found == pytest.approx(np.exp(digamma(values)), rel=1e-12)
    assert exponential_digamma(1e-300) == exponential_digamma(0.0) == 0.0
