"""K-means, K-medoids and hierarchies of clusters."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("sklearn")

from sklearn.cluster import KMeans

import juncture as jt
from juncture.clusters.means import replay

SEEDS = st.integers(0, 10_000)


def random_rows(seed, number=8, columns=2):
    return np.random.default_rng(seed).normal(size=(number, columns))


# --- K-means ---------------------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_the_best_partition_of_few_rows_is_a_fixed_point(seed):
    """S4-149 and S0-057, by all partitions: no start ends below the best one, and it stays where it is."""
    rows = random_rows(seed, 6)
    masks = [np.array([True, *each]) for each in product([False, True], repeat=5)]
    centers = [np.stack([rows[mask].mean(axis=0), rows[~mask].mean(axis=0)]) for mask in masks if not mask.all()]
    costs = [((rows[:, None] - each) ** 2).sum(axis=2).min(axis=1).sum() for each in centers]
    best = int(np.argmin(costs))
    assert jt.clusters.k_means(rows, 2, start=centers[best]).distortion == pytest.approx(costs[best])
    assert jt.clusters.k_means(rows, 2, restarts=1).distortion >= costs[best] - 1e-9


@given(seed=SEEDS)
def test_the_distortion_never_rises_and_ends_where_scikit_learn_ends(seed):
    """S0-055 to S0-058, S0-060: from the same centers; rows are with the nearest center, which is their mean."""
    rows = random_rows(seed, 40)
    start = rows[:4]
    found = jt.clusters.k_means(rows, 4, start=start)
    theirs = KMeans(4, init=start, n_init=1, tol=0.0, max_iter=1000).fit(rows)
    assert found.distortion == pytest.approx(theirs.inertia_)
    assert np.array_equal(found.labels, theirs.labels_)
    assert all(
        after <= before + 1e-9 for before, after in zip(found.trace.values, found.trace.values[1:], strict=False)
    )
    assert found.trace.values[-1] == pytest.approx(found.distortion)
    for cluster in range(4):
        assert found.centers[cluster] == pytest.approx(rows[found.labels == cluster].mean(axis=0))
    assert np.array_equal(found.predict(rows), found.labels)


@given(seed=SEEDS)
def test_the_steps_of_k_means_are_kept(seed):
    """S0-058: rows go to the nearest center, centers to the mean of their rows; at the end Σ z (x - μ) = 0."""
    rows = random_rows(seed, 40)
    found = jt.clusters.k_means(rows, 4, start=rows[:4], history=True)
    steps = found.history
    assert [step.distortion for step in steps] == list(found.trace.values)
    assert np.array_equal(steps[0].centers, rows[:4])
    for before, after in pairwise(steps):
        distances = ((rows[:, None] - before.centers) ** 2).sum(axis=2)
        assert np.array_equal(before.labels, distances.argmin(axis=1))
        assert before.distortion == pytest.approx(distances.min(axis=1).sum())
        for cluster in np.unique(before.labels):
            assert after.centers[cluster] == pytest.approx(rows[before.labels == cluster].mean(axis=0))
    gradient = [(rows - center)[steps[-1].labels == at].sum(axis=0) for at, center in enumerate(steps[-1].centers)]
    assert np.array(gradient) == pytest.approx(np.zeros((4, rows.shape[1])), abs=1e-9)
    assert steps[-1].centers == pytest.approx(found.centers)
    with pytest.raises(jt.JunctureError, match="kept no steps"):
        _ = jt.clusters.k_means(rows, 4, start=rows[:4]).history


def test_a_bad_start_is_arbitrarily_bad():
    """S0-063: corners of a long rectangle; S0-061 and S0-062: restarts and K-means++ find the optimum."""
    rows = np.array([[0.0, 0.0], [0.0, 1.0], [50.0, 0.0], [50.0, 1.0]])
    assert jt.clusters.k_means(rows, 2, start=[[25.0, 0.0], [25.0, 1.0]]).distortion == pytest.approx(2500.0)
    assert jt.clusters.k_means(rows, 2).distortion == pytest.approx(1.0)
    assert jt.clusters.k_means(rows, 2, start="random", restarts=19).distortion == pytest.approx(1.0)


def test_empty_clusters_and_ties():
    """S0-059: more clusters than distinct rows, a center without rows, and rows between two centers."""
    same = jt.clusters.k_means([[1.0]] * 4 + [[2.0]], 4)
    assert same.distortion == 0.0
    assert len(np.unique(same.labels)) == 2
    rows = np.array([[0.0], [1.0], [10.0]])
    steps = replay(rows, np.ones(3), np.array([[0.0], [1.0], [99.0]]))  # the third takes the farthest row
    assert sorted(steps.centers.ravel().tolist()) == [0.0, 1.0, 10.0]
    assert jt.clusters.k_means([[0.0], [2.0], [1.0]], 2, start=[[0.0], [2.0]]).labels.tolist()[2] == 0


def test_weights_are_repetitions():
    rows, counts = random_rows(0, 20), np.random.default_rng(1).integers(1, 4, 20)
    weighed = jt.clusters.k_means(rows, 3, start=rows[:3], weights=counts)
    repeated = jt.clusters.k_means(np.repeat(rows, counts, axis=0), 3, start=rows[:3])
    assert weighed.distortion == pytest.approx(repeated.distortion)
    assert weighed.centers == pytest.approx(repeated.centers)


@given(seed=SEEDS)
def test_k_means_is_the_limit_of_em(seed):
    """S4-164, S0-082 and S1-153: with known covariances εI and equal weights, EM takes the steps of K-means."""
    rows = random_rows(seed, 30)
    means = rows[:3]
    for _ in range(30):
        mixture = jt.Mixture([1 / 3] * 3, [jt.MultivariateGaussian(mean, 1e-6 * np.eye(2)) for mean in means])
        shares = jt.infer(mixture, rows).responsibilities
        means = shares.T @ rows / shares.sum(axis=0)[:, None]
    found = jt.clusters.k_means(rows, 3, start=rows[:3])
    assert np.array_equal(shares.argmax(axis=1), found.labels)
    assert means == pytest.approx(found.centers, abs=1e-6)


def test_the_penalty_chooses_the_number():
    """S0-064: the distortion never rises with the number, is 0 at K = n, and a large penalty leaves one cluster."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([center + 0.2 * rng.normal(size=(15, 2)) for center in ([0, 0], [3, 0], [0, 3], [9, 9])])
    found = jt.clusters.choose_num_clusters(rows, 8, restarts=3)
    assert found.best.num_clusters == 4
    assert (np.diff(found.distortions) <= 1e-9).all()
    assert jt.clusters.choose_num_clusters(rows, 4, penalty=1e9, restarts=0).best.num_clusters == 1
    few = jt.clusters.choose_num_clusters(rows[:5], 5, penalty=0.0, restarts=0)
    assert few.distortions[-1] == pytest.approx(0.0, abs=1e-12)


# --- K-medoids -------------------------------------------------------------------------------------------------------


@given(seed=SEEDS)
def test_medoids_are_the_best_of_all_sets(seed):
    """S4-150, by all sets of medoids, for dissimilarities that are neither symmetric nor distances."""
    table = np.random.default_rng(seed).random((7, 7))
    np.fill_diagonal(table, 0.0)
    for number in (1, 2, 3):
        best = min(table[:, list(some)].min(axis=1).sum() for some in combinations(range(7), number))
        found = jt.clusters.k_medoids(table, number, restarts=9)
        assert found.distortion == pytest.approx(best)
        assert found.distortion == pytest.approx(table[np.arange(7), found.centers[found.labels]].sum())
        assert list(found.trace.values) == sorted(found.trace.values, reverse=True)


# --- hierarchies -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "ward"])
def test_a_cut_is_that_of_scipy(linkage):
    """S4-152."""
    from scipy.cluster.hierarchy import fcluster

    rows = random_rows(3, 25)
    tree = jt.clusters.hierarchical_clusters(rows, linkage=linkage)
    for number in (1, 4, 25):
        theirs = fcluster(tree.merges, number, "maxclust")
        ours = tree.cut(number)
        assert ours.max() + 1 == number
        assert len(set(zip(ours.tolist(), theirs.tolist(), strict=True))) == number
    height = float(tree.heights[10])
    theirs = fcluster(tree.merges, height, "distance")
    assert len(set(zip(tree.cut(height=height).tolist(), theirs.tolist(), strict=True))) == theirs.max()


def test_distances_may_be_given():
    from scipy.spatial.distance import cdist

    rows = random_rows(4, 9)
    given_table = jt.clusters.hierarchical_clusters(cdist(rows, rows), linkage="average", metric="precomputed")
    assert given_table.heights == pytest.approx(jt.clusters.hierarchical_clusters(rows, linkage="average").heights)


def test_purity_is_the_share_of_the_class_of_most_rows_of_a_cluster():
    """S4-151: 1 for perfect clusters, whatever their names; the share of the largest class for a single cluster."""
    rows, classes = np.repeat([[0.0], [50.0], [99.0]], [6, 5, 4], axis=0), np.repeat(["b", "a", "c"], [6, 5, 4])
    assert jt.clusters.k_means(rows, 3, rng=0).purity(classes) == 1.0
    assert jt.clusters.k_means(rows, 1, rng=0).purity(classes) == pytest.approx(6 / 15)
    pair = jt.clusters.k_medoids(np.abs(rows - rows.T), 2)  # one cluster holds two of the values
    together = [classes[pair.labels == label] for label in range(2)]
    expected = sum(max(np.unique(part, return_counts=True)[1]) for part in together) / 15
    assert pair.purity(classes) == pytest.approx(expected)
    assert expected < 1
    with pytest.raises(jt.errors.InvalidData, match="a class for each of the 15 rows"):
        pair.purity(classes[:3])


def test_mistakes_are_explained():
    rows = random_rows(0)
    with pytest.raises(jt.errors.InvalidData, match="fewer than the 9 clusters"):
        jt.clusters.k_means(rows, 9)
    with pytest.raises(jt.errors.InvalidData, match="start is"):
        jt.clusters.k_means(rows, 2, start="far")
    with pytest.raises(jt.errors.InvalidData, match="square table"):
        jt.clusters.k_medoids(rows, 2)
    with pytest.raises(jt.errors.InvalidData, match="give one of them"):
        jt.clusters.hierarchical_clusters(rows).cut()
    with pytest.raises(jt.errors.InvalidData, match="goes with the Euclidean metric"):
        jt.clusters.hierarchical_clusters(rows, metric="cityblock")
    with pytest.raises(jt.errors.InvalidData, match="has a hole"):
        jt.clusters.k_means([[0.0], [np.nan]], 1)


def test_a_mixture_finds_stretched_clusters_that_k_means_cuts():
    """S0-065: three round clusters are found by both, two long ones side by side only by the mixture."""
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    long = rng.normal(size=(200, 2)) * [8.0, 0.5] + np.array([[0.0, 0.0], [0.0, 5.0]])[truth]
    start = [jt.MultivariateGaussian([0.0, height], 9 * np.eye(2)) for height in (-1.0, 6.0)]
    learned = jt.fit(jt.Mixture([0.5, 0.5], start), long).model
    mixed = adjusted_rand_score(truth, jt.infer(learned, long).responsibilities.argmax(axis=1))
    cut = adjusted_rand_score(truth, jt.clusters.k_means(long, 2).labels)
    assert mixed > 0.95
    assert cut < 0.1
    groups = np.repeat([0, 1, 2], 40)
    round_rows = rng.normal(size=(120, 2)) + np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])[groups]
    assert adjusted_rand_score(groups, jt.clusters.k_means(round_rows, 3).labels) == 1.0
