"""Documents of latent Dirichlet allocation: exact log p against enumeration, draws, frames, weights (S4-197)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats

import juncture as jt
from juncture.latent.topics.log_prob import exact_log_prob
from juncture.latent.topics.word_counts import as_counts
from support.topics import exact_log_prob as enumerated
from support.topics import random_model

SEEDS = st.integers(0, 2**32 - 1)
MODEL = jt.LatentDirichletAllocation([[0.6, 0.4, 0.0], [0.0, 0.2, 0.8]], [0.5, 1.0], ["goal", "ball", "vote"])


@given(SEEDS, st.integers(1, 4))
def test_the_sum_over_urns_is_the_sum_over_assignments(seed, num_topics):
    rng = np.random.default_rng(seed)
    model, counts = random_model(rng, num_topics), rng.integers(0, 3, (4, 3))
    expected = [enumerated(model, row) for row in counts]
    assert jt.log_prob(model, counts) == pytest.approx(expected, rel=1e-12)
    assert jt.log_prob(model, sparse.csr_matrix(counts), method="exact") == pytest.approx(expected, rel=1e-12)
    assert jt.log_prob(model, counts[0]) == pytest.approx(expected[0], rel=1e-12)


def test_the_probabilities_of_all_documents_of_one_length_sum_to_one():
    grid = np.array([(a, b, 5 - a - b) for a in range(6) for b in range(6 - a)])
    logs = jt.log_prob(MODEL, grid) + stats.multinomial.logpmf(grid, 5, np.ones(3) / 3) + 5 * np.log(3)
    assert np.exp(logs).sum() == pytest.approx(1.0, rel=1e-12)


def test_a_long_document_of_two_topics_is_a_beta_binomial():
    """Where the words tell the topics, log p is that of the numbers of topics: no underflow at 600 tokens."""
    model = jt.LatentDirichletAllocation(np.eye(2), [0.001, 2.0])
    counts = np.array([[300, 300], [600, 0]])
    coefficient = stats.binom.logpmf(counts[:, 0], 600, 0.5) - 600 * np.log(0.5)
    expected = stats.betabinom.logpmf(counts[:, 0], 600, 0.001, 2.0) - coefficient
    assert exact_log_prob(model, as_counts(counts, 2)[0]) == pytest.approx(expected, rel=1e-9)


def test_for_small_concentrations_it_is_a_mixture_of_multinomials():
    rng = np.random.default_rng(0)
    weights, topics = np.array([0.2, 0.5, 0.3]), rng.dirichlet(np.ones(4), 3)
    counts = rng.multinomial(6, [0.25] * 4, 5)
    mixture = jt.Mixture(weights, jt.Multinomial(6, topics))
    coefficients = stats.multinomial.logpmf(counts, 6, np.ones(4) / 4) + 6 * np.log(4)
    found = jt.log_prob(jt.LatentDirichletAllocation(topics, 1e-9 * weights), counts) + coefficients
    assert found == pytest.approx(jt.log_prob(mixture, counts), abs=1e-6)


def test_a_mixture_of_multinomials_is_learned_from_documents():
    """A fixed point of EM: responsibilities and topics by their formulas."""
    rng = np.random.default_rng(1)
    true = np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    counts = np.array([rng.multinomial(20, true[row % 2]) for row in range(60)])
    start = jt.Mixture([0.5, 0.5], jt.Multinomial(20, [[0.5, 0.3, 0.2], [0.3, 0.3, 0.4]]))
    model = jt.fit(start, counts, method=jt.ExpectationMaximization(tolerance=1e-14)).model
    topics = model.components.family.probabilities
    logs = np.log(model.weights) + counts @ np.log(topics).T
    own = np.exp(logs - np.logaddexp.reduce(logs, axis=1, keepdims=True))
    assert model.weights == pytest.approx(own.mean(axis=0), abs=1e-6)
    assert topics == pytest.approx((own.T @ counts) / (20 * own.sum(axis=0))[:, None], abs=1e-6)
    assert np.abs(topics - true).max() < 0.05


def test_what_is_estimated_is_said():
    rng = np.random.default_rng(0)
    model = jt.LatentDirichletAllocation(rng.dirichlet(np.ones(4), 5), 0.5)
    counts = np.array([[1, 0, 1, 0], [5, 5, 0, 3]])
    with pytest.warns(jt.errors.ApproximationWarning, match="1 of 2 documents is estimated"):
        found = jt.log_prob(model, counts, rng=1)
    exact = jt.log_prob(model, counts, method="exact")
    assert found[0] == exact[0]
    score = jt.sampling.left_to_right(model, counts[1:], rng=1)
    assert found[1] == score.log_prob[0]
    assert abs(found[1] - exact[1]) < 5 * score.standard_error[0]
    assert np.array_equal(jt.log_prob(model, counts[1], method="left-to-right", rng=1), found[1])


def test_a_word_of_no_topic_has_probability_zero():
    model = jt.LatentDirichletAllocation([[1.0, 0.0]])
    assert jt.log_prob(model, [[1, 0], [1, 1]]).tolist() == [0.0, -np.inf]
    with pytest.raises(jt.ImpossibleEvidence, match="no topic has the word 1"):
        jt.infer(model, [0, 1])


def test_drawn_documents_follow_the_model():
    """The exact probability of each document of three words, against how often it is drawn."""
    draws = jt.sample(MODEL, 4000, length=3, rng=0).to_pandas()
    assert list(draws.columns) == ["goal", "ball", "vote"]
    grid = np.array([(a, b, 3 - a - b) for a in range(4) for b in range(4 - a)])
    coefficients = stats.multinomial.logpmf(grid, 3, np.ones(3) / 3) + 3 * np.log(3)
    expected = 4000 * np.exp(jt.log_prob(MODEL, grid) + coefficients)
    seen = [(draws == row).all(axis=1).sum() for row in grid]
    assert stats.chisquare(seen, expected).pvalue > 1e-4


def test_lengths_are_kept():
    drawn = jt.sample(MODEL, 3, length=[0, 5, 70], rng=1)
    assert drawn.to_pandas().sum(axis=1).tolist() == [0, 5, 70]
    assert jt.sample(MODEL, 2, rng=1).to_pandas().sum(axis=1).tolist() == [100, 100]


def test_columns_are_found_by_the_words():
    counts = {"vote": [0, 4], "goal": [3, 0], "ball": [1, 1]}
    expected = jt.infer(MODEL, [[3, 1, 0], [0, 1, 4]]).shares
    for frame in (pd.DataFrame(counts), pl.DataFrame(counts), jt.Dataset(counts)):
        assert np.array_equal(jt.infer(MODEL, frame).shares, expected)
    with pytest.raises(jt.errors.InvalidData, match="none for 'goal'"):
        jt.infer(MODEL, pd.DataFrame({"a": [1], "b": [2], "c": [3]}))


@given(SEEDS)
def test_a_weight_is_a_number_of_times(seed):
    rng = np.random.default_rng(seed)
    counts, weights = rng.integers(0, 4, (5, 4)) + np.eye(5, 4, dtype=int), rng.integers(0, 3, 5)
    weights[0] += 1
    start = jt.LatentDirichletAllocation.standard(2, 4, 0.5)
    options = {"max_steps": 200, "tolerance": 1e-5, "rng": 1}
    weighted = jt.fit(start, counts, weights=weights, **options)
    repeated = jt.fit(start, np.repeat(counts, weights, axis=0), **options)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-9)
    assert weighted.model.topics == pytest.approx(repeated.model.topics, rel=1e-6)


def test_a_file_keeps_the_model(tmp_path):
    jt.write(MODEL, tmp_path / "topics.json")
    assert jt.read(tmp_path / "topics.json") == MODEL


def test_numpy_words_are_plain_text():
    model = jt.LatentDirichletAllocation([[0.5, 0.5]], words=np.array(["x", "y"]))
    assert type(model.words[0]) is str


def test_topics_in_a_notebook():
    html = MODEL._repr_html_()
    assert "goal 0.600" in html
    assert "vote 0.800" in html
