"""`LatentDirichletAllocation` for scikit-learn users: the same shapes and shares, counts of any kind, the bound."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

pytest.importorskip("sklearn")

from sklearn.decomposition import LatentDirichletAllocation as TheirAllocation

import juncture as jt
from juncture.estimators import LatentDirichletAllocation, topics

TOPICS = np.kron(np.eye(3), np.full((1, 4), 0.22)) + 0.01
TRUE = jt.LatentDirichletAllocation(TOPICS / TOPICS.sum(axis=1, keepdims=True), 0.2)
COUNTS = jt.sample(TRUE, 120, length=60, rng=0).to_pandas().to_numpy()


def test_topics_and_shares_are_those_of_scikit_learn():
    """The drawn topics are found by both; at the same topics, and converged, their shares are the same."""
    ours = LatentDirichletAllocation(3, doc_topic_prior=0.2, topic_word_prior=0.1).fit(COUNTS[:100])
    theirs = TheirAllocation(
        3, doc_topic_prior=0.2, topic_word_prior=0.1, max_iter=20, mean_change_tol=1e-10, max_doc_update_iter=10_000,
        random_state=0,
    ).fit(COUNTS[:100])  # fmt: skip
    other = theirs.components_ / theirs.components_.sum(axis=1, keepdims=True)
    match = np.abs(ours.components_[:, None] - other[None]).max(axis=2)
    assert (match.min(axis=1) < 0.02).all()
    assert sorted(match.argmin(axis=1)) == [0, 1, 2]
    theirs.exp_dirichlet_component_ = ours.components_
    assert ours.transform(COUNTS[100:]) == pytest.approx(theirs.transform(COUNTS[100:]), abs=1e-6)


def test_the_bound_is_that_of_the_verbs():
    ours = LatentDirichletAllocation(3, doc_topic_prior=0.2).fit(COUNTS[:30])
    bound = jt.infer(ours.model_, COUNTS[30:40]).bound
    assert ours.score_samples(COUNTS[30:40]) == pytest.approx(bound, rel=1e-6)
    assert ours.score(COUNTS[30:40]) == pytest.approx(bound.sum(), rel=1e-6)
    assert ours.perplexity(COUNTS[30:40]) == pytest.approx(np.exp(-bound.sum() / COUNTS[30:40].sum()), rel=1e-6)
    with pytest.raises(jt.errors.InvalidData, match="has none"):
        ours.perplexity(np.zeros((1, 12)))


def test_frames_name_the_words_and_sparse_counts_are_the_same():
    frame = pd.DataFrame(COUNTS[:30], columns=list("abcdefghijkl"))
    named = LatentDirichletAllocation(3).fit(frame)
    assert named.model_.words == tuple("abcdefghijkl")
    plain = LatentDirichletAllocation(3).fit(sparse.csr_matrix(COUNTS[:30]))
    assert np.array_equal(plain.components_, named.components_)


def test_counts_need_not_be_whole_numbers():
    """A document of half the counts has half the words' part of the bound at one topic, which has no other part."""
    one = LatentDirichletAllocation(1).fit(COUNTS[:20])
    assert one.score_samples(0.5 * COUNTS[:20]) == pytest.approx(0.5 * one.score_samples(COUNTS[:20]), rel=1e-12)
    for wrong in (-1.0, np.inf):
        with pytest.raises(ValueError, match=r"Negative|infinity"):
            one.transform(np.full((1, 12), wrong))


def test_shares_are_at_the_maximum_and_do_not_depend_on_other_documents():
    ours = LatentDirichletAllocation(3, doc_topic_prior=0.2).fit(COUNTS[:30])
    shares = ours.transform(COUNTS[30:60])
    assert all(np.array_equal(ours.transform(COUNTS[30 + row :][:1])[0], shares[row]) for row in range(0, 30, 7))
    assert shares == pytest.approx(jt.infer(ours.model_, COUNTS[30:60], tolerance=1e-15).shares, abs=1e-5)


def test_documents_that_still_move_are_told(monkeypatch):
    ours = LatentDirichletAllocation(3).fit(COUNTS[:30])
    monkeypatch.setattr(topics, "STEPS", 2)
    with pytest.warns(jt.errors.NotConvergedWarning, match="10 documents still moved after 2 steps"):
        ours.transform(COUNTS[:10])
