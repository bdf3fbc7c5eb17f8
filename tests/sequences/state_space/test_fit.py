"""EM for linear-Gaussian state spaces: it climbs, it ends where the gradient is zero, and closed forms come out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture.data.sequences import Sequence
from juncture.errors import InvalidData, InvalidModel, NotConvergedWarning, Unsupported
from juncture.sequences.state_space.model import LinearGaussianStateSpace
from juncture.sequences.state_space.moments import expected_moments
from support.state_space_examples import random_model, random_sequence

ALL = ("transition", "observation", "transition_noise", "observation_noise", "initial_mean", "initial_covariance")
WALK = LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, 0.0, 1.0)


def all_but(model, *learned):
    return [name for name in model.parts if name not in learned]


def quick(max_steps=8, tolerance=0.0):
    return jt.ExpectationMaximization(tolerance=tolerance, max_steps=max_steps)


def leaping(tolerance):
    return jt.ExpectationMaximization(tolerance=tolerance, max_steps=500, acceleration="squarem")


def gradient(model, name, data, step=1e-5):
    """Of the log-likelihood, in the entries of one part; symmetric where it is a covariance."""
    part = model.parts[name]
    found = np.empty(part.shape)
    for place in np.ndindex(part.shape):
        change = np.zeros(part.shape)
        change[place] = step
        if name.endswith(("noise", "covariance")):
            change = (change + change.T) / 2
        values = [np.sum(jt.log_prob(model.with_parts(**{name: part + sign * change}), data)) for sign in (1, -1)]
        found[place] = (values[0] - values[1]) / (2 * step)
    return found


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 0.3]), st.sampled_from([None, "squarem"]), st.data())
@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
@pytest.mark.filterwarnings("ignore::juncture.errors.RegularizedWarning")  # short data may leave no noise
def test_no_step_loses_likelihood(seed, has_more, holes, acceleration, data):
    rng = np.random.default_rng(seed)
    model = random_model(rng, 2, 2, inputs=int(has_more), offsets=has_more)
    sequences = [random_sequence(rng, model, length, holes) for length in (8, 0, 5, 1)]
    fixed = data.draw(st.lists(st.sampled_from(sorted(model.parts)), unique=True, max_size=6))
    method = jt.ExpectationMaximization(tolerance=0.0, max_steps=5, acceleration=acceleration)
    fitted = jt.fit(model, sequences, method=method, fixed=fixed)
    values = np.array(fitted.trace.values)
    assert (np.diff(values) >= -1e-9 * np.abs(values[1:])).all()
    assert fitted.log_likelihood == pytest.approx(jt.log_prob(fitted.model, sequences).sum(), abs=1e-9)
    for name in fixed:
        np.testing.assert_array_equal(fitted.model.parts[name], model.parts[name])
    assert fitted.model.parts.keys() == model.parts.keys()


@pytest.mark.parametrize("holes", [0.0, 0.35])
def test_at_the_end_the_gradient_is_zero(holes):
    rng = np.random.default_rng(3)
    truth = LinearGaussianStateSpace(
        0.7, [[1.0], [0.5]], 1.0, [[1.0, 0.3], [0.3, 0.8]], 0.0, 1.0, input_to_state=0.5, observation_offset=[1.0, 2.0]
    )
    inputs = [rng.normal(size=(40, 1)) for _ in range(8)]
    sequences = []
    for one in jt.sample(truth, [40] * 8, covariates=inputs, rng=0):
        values = np.where(rng.random(one.observations.shape) < holes, np.nan, one.observations)
        sequences.append(Sequence(values, covariates=one.covariates))
    fixed = ["transition_noise"]  # else states could be scaled
    fitted = jt.fit(truth, sequences, fixed=fixed, method=leaping(1e-12))
    assert fitted.trace.converged
    for name in fitted.model.parts:
        if name not in fixed:
            np.testing.assert_allclose(gradient(fitted.model, name, sequences), 0.0, atol=2e-2)
    assert np.abs(gradient(truth, "observation", sequences)).max() > 1.0


def test_states_that_are_told_leave_three_regressions():
    rng = np.random.default_rng(1)
    truth = random_model(rng, 2, 3, inputs=1, offsets=True).with_parts(transition=[[0.5, 0.2], [-0.3, 0.6]])
    drawn = jt.sample(truth, [30, 1, 20], covariates=[rng.normal(size=(n, 1)) for n in (30, 1, 20)], rng=0)
    fitted = jt.fit(random_model(rng, 2, 3, inputs=1, offsets=True), drawn).model
    before = np.vstack([np.hstack([s.states, s.covariates, np.ones((len(s), 1))])[:-1] for s in drawn])
    after = np.vstack([s.states[1:] for s in drawn])
    weights, *_ = np.linalg.lstsq(before, after, rcond=None)
    np.testing.assert_allclose(fitted.transition, weights[:2].T, atol=1e-9)
    np.testing.assert_allclose(fitted.input_to_state, weights[2:3].T, atol=1e-9)
    np.testing.assert_allclose(fitted.transition_offset, weights[3], atol=1e-9)
    left = after - before @ weights
    np.testing.assert_allclose(fitted.transition_noise, left.T @ left / len(left), atol=1e-9)
    here = np.vstack([np.hstack([s.states, s.covariates, np.ones((len(s), 1))]) for s in drawn])
    seen = np.vstack([s.observations for s in drawn])
    weights, *_ = np.linalg.lstsq(here, seen, rcond=None)
    np.testing.assert_allclose(fitted.observation, weights[:2].T, atol=1e-9)
    np.testing.assert_allclose(fitted.observation_noise, np.cov((seen - here @ weights).T, bias=True), atol=1e-9)
    first = np.array([s.states[0] for s in drawn])
    np.testing.assert_allclose(fitted.initial_mean, first.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(fitted.initial_covariance, np.cov(first.T, bias=True), atol=1e-9)


def test_single_steps_have_a_closed_form():
    """z ~ N(m, P) seen through known noise R: m is the mean, P the covariance less R."""
    rng = np.random.default_rng(2)
    rows = rng.multivariate_normal([1.0, -2.0], [[3.0, 1.0], [1.0, 2.0]], 50)
    noise = np.array([[0.3, 0.1], [0.1, 0.2]])
    model = LinearGaussianStateSpace(np.eye(2), np.eye(2), np.eye(2), noise, np.zeros(2), np.eye(2))
    fixed = all_but(model, "initial_mean", "initial_covariance")
    fitted = jt.fit(model, [row[None] for row in rows], fixed=fixed, method=quick(2000, 1e-15)).model
    np.testing.assert_allclose(fitted.initial_mean, rows.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(fitted.initial_covariance, np.cov(rows.T, bias=True) - noise, atol=1e-5)
    np.testing.assert_array_equal(fitted.transition, np.eye(2))


def test_partly_missing_vectors_are_the_same_as_missing_at_random_in_one_gaussian():
    """No states to speak of: y ~ N(offset, R) with holes, whose maximum a hole-wise pattern search must not beat."""
    rng = np.random.default_rng(4)
    rows = rng.multivariate_normal([1.0, 2.0], [[1.0, 0.8], [0.8, 1.0]], 300)
    rows[:100, 1] = np.nan
    model = LinearGaussianStateSpace(0.0, [[0.0], [0.0]], 0.0, np.eye(2), 0.0, 0.0, observation_offset=[0.0, 0.0])
    fixed = all_but(model, "observation_offset", "observation_noise")
    fitted = jt.fit(model, rows, fixed=fixed, method=quick(500, 1e-14)).model
    # monotone missingness: the regression of the second on the first column is that of the complete rows
    x, y = rows[100:, 0], rows[100:, 1]
    slope = np.cov(x, y, bias=True)[0, 1] / x.var()
    mean = y.mean() + slope * (rows[:, 0].mean() - x.mean())
    left = (y - y.mean() - slope * (x - x.mean())).var()
    variance = rows[:, 0].var()
    np.testing.assert_allclose(fitted.observation_offset, [rows[:, 0].mean(), mean], atol=1e-5)
    expected = [[variance, slope * variance], [slope * variance, left + slope**2 * variance]]
    np.testing.assert_allclose(fitted.observation_noise, expected, atol=1e-5)


def test_a_known_model_is_found_again():
    truth = LinearGaussianStateSpace(
        [[0.9, 0.3], [-0.3, 0.9]], [[1.0, 0.0]], 0.1 * np.eye(2), 0.2, [1.0, 0.0], 0.1 * np.eye(2)
    )
    sequence = jt.sample(truth, 3000, rng=0).observations
    start = truth.with_parts(transition=[[0.5, 0.1], [-0.1, 0.5]], observation_noise=1.0)
    fixed = ["observation", "transition_noise", "initial_mean", "initial_covariance"]
    fitted = jt.fit(start, sequence, fixed=fixed, method=leaping(1e-7))
    values = np.linalg.eigvals(fitted.model.transition)
    np.testing.assert_allclose(np.sort_complex(values), [0.9 - 0.3j, 0.9 + 0.3j], atol=0.03)
    assert fitted.model.observation_noise[0, 0] == pytest.approx(0.2, abs=0.05)
    assert fitted.log_likelihood > jt.log_prob(truth, sequence)


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
def test_states_far_from_zero_lose_no_digits():
    """The same data shifted by 1e6 give the same noises: statistics are those of what the model leaves over."""
    rng = np.random.default_rng(5)
    values = np.cumsum(rng.normal(size=200)) + rng.normal(size=200)
    fixed = all_but(WALK, "transition_noise", "observation_noise")
    near = jt.fit(WALK, values, fixed=fixed, method=quick(50)).model
    far = jt.fit(WALK.with_parts(initial_mean=1e6), values + 1e6, fixed=fixed, method=quick(50)).model
    np.testing.assert_allclose(far.transition_noise, near.transition_noise, rtol=1e-9)
    np.testing.assert_allclose(far.observation_noise, near.observation_noise, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning")
def test_weights_count_as_copies_and_statistics_add():
    rng = np.random.default_rng(6)
    model = random_model(rng, 2, 2)
    one, two = (random_sequence(rng, model, n) for n in (7, 5))
    heavy = jt.fit(model, [one, two], weights=[2.0, 1.0], method=quick()).model
    copies = jt.fit(model, [one, one, two], method=quick()).model
    own = jt.fit(model, [Sequence(one.observations, weight=2.0), two], method=quick()).model
    for name in ALL:
        np.testing.assert_allclose(heavy.parts[name], copies.parts[name], rtol=1e-10)
        np.testing.assert_array_equal(heavy.parts[name], own.parts[name])
    parts = [expected_moments(model, model.sequences([one])), expected_moments(model, model.sequences([two]))]
    whole = expected_moments(model, model.sequences([one, two]))
    both = parts[0] + parts[1]
    assert both.log_likelihood == pytest.approx(whole.log_likelihood)
    for distribution in ("initial", "transition", "observation"):
        for field in ("weight", "regressors", "cross", "residuals"):
            added = getattr(getattr(both, distribution), field)
            np.testing.assert_allclose(added, getattr(getattr(whole, distribution), field), atol=1e-12)


def test_parts_that_vary_stay_while_others_are_learned():
    """Regression with coefficients that never move: the noise is the mean square that is left over, in expectation."""
    rng = np.random.default_rng(7)
    x, truth = rng.normal(size=(60, 1, 2)), np.array([1.0, -2.0])
    y = x[:, 0] @ truth + 0.5 * rng.normal(size=60)
    model = LinearGaussianStateSpace(np.eye(2), x, np.zeros((2, 2)), 1.0, np.zeros(2), 100 * np.eye(2))
    fitted = jt.fit(model, y, fixed=all_but(model, "observation_noise"), method=quick(500, 1e-14))
    assert np.abs(gradient(fitted.model, "observation_noise", y)).max() < 1e-3
    assert fitted.model.observation_noise[0, 0] == pytest.approx(0.25, abs=0.1)


def test_a_prior_holds_noises():
    rng = np.random.default_rng(8)
    values = rng.normal(size=30)
    prior = {
        "transition_noise": jt.InverseWishart(50.0, [[50.0]]),
        "initial_covariance": jt.InverseWishart(3.0, [[2.0]]),
    }
    fitted = jt.fit(WALK, values, prior=prior, fixed=["transition", "observation"], method=quick(3000, 1e-14))
    values_ = np.diff(fitted.trace.values)
    assert (values_ >= -1e-9).all()
    model = fitted.model
    for name, distribution in prior.items():
        step = 1e-5
        noise = model.parts[name]
        up, down = (float(distribution.log_prob(noise + sign * step)) for sign in (1, -1))
        slope = gradient(model, name, values)[0, 0] + (up - down) / (2 * step)
        assert slope == pytest.approx(0.0, abs=1e-2)
    objective = fitted.log_likelihood + sum(
        float(distribution.log_prob(model.parts[name])) for name, distribution in prior.items()
    )
    assert fitted.trace.values[-1] == pytest.approx(objective)


def test_edges():
    one = jt.fit(WALK, Sequence([1.0]), fixed=all_but(WALK, "initial_mean", "transition", "transition_noise")).model
    np.testing.assert_array_equal(one.transition, WALK.transition)
    np.testing.assert_array_equal(one.transition_noise, WALK.transition_noise)
    with pytest.raises(InvalidData, match="nothing was observed"):
        jt.fit(WALK, [[None, None]], fixed=["initial_mean"])
    quiet = WALK.with_parts(transition_noise=0.0)
    fitted = jt.fit(quiet, [1.0, 2.0, 3.0, 2.0], fixed=all_but(quiet, "transition_noise", "initial_mean"))
    np.testing.assert_allclose(fitted.model.transition_noise, 0.0, atol=1e-25)


def test_other_starts_at_random_and_progress():
    rng = np.random.default_rng(9)
    model = random_model(rng, 2, 2, inputs=1)
    data = [random_sequence(rng, model, 10, 0.0) for _ in range(3)]
    seen = []
    method = jt.ExpectationMaximization(tolerance=1e-3, restarts=2)
    many = jt.fit(model, data, method=method, rng=1, progress=lambda step, value: seen.append((step, value)))
    again = jt.fit(model, data, method=method, rng=1)
    assert many.log_likelihood == again.log_likelihood
    assert many.log_likelihood >= jt.fit(model, data, method=jt.ExpectationMaximization(tolerance=1e-3)).log_likelihood
    assert sum(step == 1 for step, _ in seen) == 3
    with pytest.warns(NotConvergedWarning, match="stopped after 1 step "):
        jt.fit(model, data, method=jt.ExpectationMaximization(max_steps=1))


def test_what_cannot_be_learned_is_refused():
    rng = np.random.default_rng(0)
    varying, noisy = random_model(rng, 1, 1, length=4), WALK.with_parts(transition_noise=np.ones((3, 1, 1)))
    with pytest.raises(InvalidData, match="varies in time, and such parts are not learned"):
        jt.fit(varying, np.zeros(3))
    with pytest.raises(InvalidData, match="transition is not learned where transition_noise varies"):
        jt.fit(noisy, np.zeros(3), fixed=["transition_noise"])
    with pytest.raises(InvalidData, match="no part 'transitions' to be fixed; did you mean 'transition'"):
        jt.fit(WALK, np.zeros(3), fixed=["transitions"])
    with pytest.raises(InvalidData, match=r"write fixed=\['transition'\]"):
        jt.fit(WALK, np.zeros(3), fixed="transition")
    with pytest.raises(InvalidData, match="no step to learn from"):
        jt.fit(WALK, [[], []])
    with pytest.raises(InvalidData, match="no step to learn from"):
        jt.fit(WALK, [1.0, 2.0], weights=[0.0])
    with pytest.raises(Unsupported, match="no method of learning 'gradient'; known are 'auto', 'em'"):
        jt.fit(WALK, [1.0, 2.0], method="gradient")
    with pytest.raises(InvalidData, match="mapping"):
        jt.fit(WALK, [1.0, 2.0], prior=1.0)
    distribution = jt.InverseWishart(3.0, [[1.0]])
    with pytest.raises(InvalidData, match="a prior is one of a noise; 'transition' is none"):
        jt.fit(WALK, [1.0, 2.0], prior={"transition": distribution})
    with pytest.raises(InvalidData, match="is fixed, so its prior has no effect"):
        jt.fit(WALK, [1.0, 2.0], prior={"transition_noise": distribution}, fixed=["transition_noise"])
    with pytest.raises(InvalidData, match="InverseWishart of 1 × 1"):
        jt.fit(WALK, [1.0, 2.0], prior={"transition_noise": jt.InverseWishart(3.0, np.eye(2))})
    with pytest.raises(InvalidModel, match="no density"):
        jt.fit(WALK.with_parts(observation_noise=0.0, transition_noise=0.0), [1.0, 2.0])
    with pytest.raises(InvalidData, match="progress is a function of the step and the objective; got True"):
        jt.fit(WALK, [1.0, 2.0], progress=True)
