"""Kalman filter and smoother on many sequences and on long ones: one by one, at rest, on any number of cores."""

from __future__ import annotations

import numpy as np
import pytest

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.runtime import parallel as cores
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from support.processor_time import time_of
from support.state_space_examples import dense, plain_filter, plain_smoother, random_model, stable

WALK = LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0)


def test_many_sequences_are_answered_one_by_one():
    rng = np.random.default_rng(5)
    model = random_model(rng, 3, 2)
    lengths = [4, 0, 1, 7]
    rows = rng.normal(size=(sum(lengths), 2))
    rows[2] = np.nan
    parts = np.split(rows, np.cumsum(lengths)[:-1])
    beliefs = jt.infer(model, parts)
    stacked = jt.infer(model, rows, lengths=lengths)
    values = jt.log_prob(model, parts)
    np.testing.assert_array_equal(values, jt.log_prob(model, rows, lengths=lengths))
    assert [one.num_steps for one in beliefs] == lengths
    assert [best.path.shape for best in jt.most_probable(model, parts)] == [(n, 3) for n in lengths]
    for one, other, part, value in zip(beliefs, stacked, parts, values, strict=True):
        alone = jt.infer(model, part)
        assert one.log_evidence == alone.log_evidence == other.log_evidence == pytest.approx(value, abs=1e-12)
        np.testing.assert_array_equal(one.smoothed_covariance, alone.smoothed_covariance)
        np.testing.assert_array_equal(one.smoothed_mean, other.smoothed_mean)
    assert jt.infer(model, rows[:0], lengths=[]) == []
    assert jt.log_prob(model, rows[:0], lengths=[]).shape == (0,)


def test_answers_do_not_depend_on_the_number_of_cores(monkeypatch):
    rng = np.random.default_rng(6)
    model = random_model(rng, 2, 2)
    parts = [rng.normal(size=(n, 2)) for n in rng.integers(0, 60, 2000)]
    one, many = [], []
    for count, found in ((1, one), (3, many)):
        monkeypatch.setattr(cores, "num_cores", lambda count=count: count)
        found += [jt.log_prob(model, parts), np.concatenate([b.smoothed_mean for b in jt.infer(model, parts)])]
    np.testing.assert_array_equal(one[0], many[0])
    np.testing.assert_array_equal(one[1], many[1])


@pytest.mark.parametrize("seed", range(4))
def test_a_long_sequence_agrees_with_the_textbook_recursion(seed):
    """Also after the factors have come to rest, and when a hole wakes them up again (see below)."""
    rng = np.random.default_rng(seed)
    model = stable(random_model(rng, 4, 2))
    values = jt.sample(model, 1500, rng=seed).observations
    beliefs = jt.infer(model, values)
    distributions, log_density = plain_filter(model, values)
    smoothed = plain_smoother(model, distributions)
    assert beliefs.log_evidence == pytest.approx(log_density, rel=1e-11)
    np.testing.assert_allclose(
        beliefs.predicted_covariance, [distribution[1] for distribution in distributions], atol=1e-10
    )
    np.testing.assert_allclose(beliefs.filtered_mean, [distribution[2] for distribution in distributions], atol=1e-9)
    np.testing.assert_allclose(beliefs.smoothed_mean, [distribution[0] for distribution in smoothed], atol=1e-9)
    np.testing.assert_allclose(beliefs.smoothed_covariance, [distribution[1] for distribution in smoothed], atol=1e-10)


def test_a_hole_in_a_sequence_at_rest():
    rng = np.random.default_rng(8)
    model = stable(random_model(rng, 2, 2))
    values = jt.sample(model, 120, rng=1).observations.copy()
    values[80, 0] = values[81] = np.nan
    beliefs = jt.infer(model, values)
    mean, covariance, log_evidence = dense(model, Sequence(values))
    assert beliefs.log_evidence == pytest.approx(log_evidence, rel=1e-11)
    np.testing.assert_allclose(beliefs.smoothed_mean, mean, atol=1e-10)
    own = [covariance[t, :, t] for t in range(120)]
    np.testing.assert_allclose(beliefs.smoothed_covariance, own, atol=1e-10)
    np.testing.assert_allclose(beliefs.cross_covariance(), [covariance[t + 1, :, t] for t in range(119)], atol=1e-10)


def test_much_faster_than_numpy_step_by_step():
    model = stable(random_model(np.random.default_rng(0), 4, 2))
    values = jt.sample(model, 3000, rng=0).observations
    jt.infer(model, values)
    step_by_step = time_of(lambda: plain_smoother(model, plain_filter(model, values)[0]), times=1)
    assert step_by_step > 5 * time_of(lambda: jt.infer(model, values))
