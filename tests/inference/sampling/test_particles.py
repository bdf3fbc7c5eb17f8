"""Particle filters agree with the Kalman filter and with forward-backward, and their evidence is unbiased."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student_t

import juncture as jt
from juncture.inference.sampling.particle_filter import systematic_resample

LOG_ROOT = 0.5 * math.log(2 * math.pi)
NOISE = 0.8  # standard deviation of the observations


def log_normal(x, mean, deviation=1.0):
    return -0.5 * ((x - mean) / deviation) ** 2 - math.log(deviation) - LOG_ROOT


WALK = jt.sampling.ParticleModel(
    initial=lambda n, rng: rng.normal(size=n),
    transition=lambda states, time, rng: 0.9 * states + rng.normal(size=states.shape),
    log_observation=lambda y, states, time: log_normal(y, states, NOISE),
    log_transition=lambda later, earlier, time: log_normal(later, 0.9 * earlier),
    log_initial=lambda states: log_normal(states, 0.0),
)
KALMAN = jt.LinearGaussianStateSpace(0.9, 1.0, 1.0, NOISE**2, 0.0, 1.0)
PRECISION = 1 + 1 / NOISE**2  # of z[t] given z[t - 1] and y[t]


def propose(mean, observation, rng):
    """The best choice: p(z[t] | z[t - 1], y[t])."""
    centre = (mean + observation / NOISE**2) / PRECISION
    drawn = centre + rng.normal(size=centre.shape) / math.sqrt(PRECISION)
    return drawn, log_normal(drawn, centre, 1 / math.sqrt(PRECISION))


GUIDED = jt.sampling.Proposal(
    initial=lambda y, n, rng: propose(np.zeros(n), y, rng),
    transition=lambda states, y, time, rng: propose(0.9 * states, y, rng),
)
HMM = jt.HiddenMarkovModel([0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], [[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])


def hidden_markov_space(hmm):
    """The same model, as functions of codes."""
    initial, transition = np.asarray(hmm.initial), np.asarray(hmm.transition)
    emissions = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    return jt.sampling.ParticleModel(
        initial=lambda n, rng: (rng.random(n) > initial[0]).astype(int),
        transition=lambda states, time, rng: (rng.random(len(states)) > transition[states, 0]).astype(int),
        log_observation=lambda y, states, time: np.log(emissions[states, y]),
        log_transition=lambda later, earlier, time: np.log(transition[earlier, later]),
        log_initial=lambda states: np.log(initial[states]),
    )


def observations(steps=12):
    values = np.asarray(jt.sample(KALMAN, steps, rng=2).observations).reshape(-1).copy()
    values[5:6] = np.nan
    return values


def is_within(means, errors, truth, count):
    """All within the quantile of Student's t for `repeats` filters, at 0.001 over the number of comparisons."""
    width = student_t.ppf(1 - 0.0005 / np.size(truth), count - 1)
    return bool((np.abs(np.asarray(means) - truth) <= width * np.asarray(errors)).all())


@pytest.mark.parametrize("proposal", [None, GUIDED], ids=["bootstrap", "guided"])
def test_filters_agree_with_kalman(proposal):
    y = observations()
    exact = jt.infer(KALMAN, y)
    found = jt.sampling.particle_filter(WALK, y, particles=200, repeats=12, proposal=proposal, rng=0)
    assert is_within(found.log_evidence, found.log_evidence_error, exact.log_evidence, 12)
    assert is_within(*found.filtered(), exact.filtered_mean[:, 0], 12)
    assert is_within(*found.smoothed(), exact.smoothed_mean[:, 0], 12)
    squares = exact.smoothed_mean[:, 0] ** 2 + exact.smoothed_covariance[:, 0, 0]
    assert is_within(*found.smoothed(np.square), squares, 12)


def test_a_guided_filter_varies_less():
    y = observations()
    errors = [
        jt.sampling.particle_filter(WALK, y, particles=50, repeats=40, proposal=proposal, rng=1).log_evidence_error
        for proposal in (None, GUIDED)
    ]
    assert errors[1] < 0.7 * errors[0]


def test_filters_agree_with_forward_backward():
    steps = [0, 2, 1, 1, 0, 2, 2]
    exact = jt.infer(HMM, steps)
    found = jt.sampling.particle_filter(hidden_markov_space(HMM), steps, particles=200, repeats=12, rng=5)
    assert is_within(found.log_evidence, found.log_evidence_error, exact.log_evidence, 12)
    assert is_within(*found.filtered(), exact.filtered[:, 1], 12)
    assert is_within(*found.smoothed(), exact.smoothed[:, 1], 12)


def test_paths_have_the_pairs_of_the_smoothed_states():
    """The paths of backward simulation, against pairwise beliefs of forward-backward."""
    steps = [0, 2, 1, 1, 0]
    found = jt.sampling.particle_filter(hidden_markov_space(HMM), steps, particles=1000, repeats=4, rng=5)
    paths = found.sample(3000, rng=6)["state"][0]
    assert paths.shape == (3000, 5)
    exact = jt.infer(HMM, steps).pairwise  # (time - 1, from, to)
    for time in range(4):
        shares = np.bincount(2 * paths[:, time] + paths[:, time + 1], minlength=4).reshape(2, 2) / 3000
        assert np.abs(shares - exact[time]).max() < 4.5 * math.sqrt(0.25 / 3000) + 0.03  # paths, and particles


def enumerated_evidence(steps):
    initial, transition = np.asarray(HMM.initial), np.asarray(HMM.transition)
    emissions = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])
    belief = initial * emissions[:, steps[0]]
    for y in steps[1:]:
        belief = belief @ transition * emissions[:, y]
    return belief.sum()


@pytest.mark.filterwarnings("ignore:the filters' estimates")
@pytest.mark.parametrize("resample_below", [0.0, 0.5, 1.0])
def test_the_evidence_is_unbiased_also_with_three_particles(resample_below):
    steps, repeats = [0, 2, 2, 0], 600
    options = {"particles": 3, "repeats": repeats, "resample_below": resample_below}
    found = jt.sampling.particle_filter(hidden_markov_space(HMM), steps, rng=8, **options)
    estimates = np.exp([run.log_evidence for run in found.runs])
    error = estimates.std(ddof=1) / math.sqrt(repeats)
    assert abs(estimates.mean() - enumerated_evidence(steps)) < 4 * error
    assert math.isclose(found.log_evidence, math.log(estimates.mean()))


def test_systematic_resampling_is_unbiased_and_even():
    class Given:
        def __init__(self, uniform):
            self.random = lambda: uniform

    weights = np.array([0.05, 0.4, 0.0, 0.3, 0.25])
    grid = (np.arange(2000) + 0.5) / 2000
    counts = np.array([np.bincount(systematic_resample(weights, Given(u)), minlength=5) for u in grid])
    assert np.allclose(counts.mean(axis=0), 5 * weights, atol=1e-3)
    assert (np.abs(counts - 5 * weights) < 1).all()
    assert systematic_resample(np.array([1.0, 0.0]), Given(1 - 1e-17)).tolist() == [0, 0]


def test_the_same_seed_gives_the_same_answer():
    y = observations()
    one, other = (jt.sampling.particle_filter(WALK, y, particles=50, repeats=3, rng=4) for _ in range(2))
    assert one.log_evidence == other.log_evidence
    assert np.array_equal(one.sample(5, rng=1)["state"], other.sample(5, rng=1)["state"])
    assert repr(one).startswith("ParticleBeliefs(3 × 50 particles, 12 steps, log_evidence")


def test_vectors_of_states():
    space = jt.sampling.ParticleModel(
        initial=lambda n, rng: rng.normal(size=(n, 2)),
        transition=lambda states, time, rng: states + rng.normal(size=states.shape),
        log_observation=lambda y, states, time: log_normal(y, states[:, 0]),
        log_transition=lambda later, earlier, time: log_normal(later, earlier).sum(axis=-1),
    )
    found = jt.sampling.particle_filter(space, [0.1, 0.2], particles=30, repeats=2, rng=0)
    assert found.smoothed()[0].shape == (2, 2)
    assert found.sample(7, rng=0)["state"].shape == (1, 7, 2, 2)
    assert found.effective_sample_sizes.shape == (2,)
    assert jt.sampling.particle_filter(space, [0.1], particles=30, repeats=1, rng=0).filtered()[1] is None


def test_filters_that_disagree_are_reported():
    with pytest.warns(jt.errors.NotConvergedWarning, match="5 filters count as 1"):
        jt.sampling.particle_filter(WALK, [0.0, 30.0], particles=10, repeats=5, rng=0)


@pytest.mark.filterwarnings("ignore:the filters' estimates")
def test_impossible_observations():
    space = jt.sampling.ParticleModel(
        lambda n, rng: rng.integers(0, 2, n),
        lambda states, time, rng: states,
        lambda y, states, time: np.where(states == y, 0.0, -np.inf),
    )
    with pytest.raises(jt.ImpossibleEvidence, match="time 1"):
        jt.sampling.particle_filter(space, [1, 7], rng=0)
    found = jt.sampling.particle_filter(space, [1, 1], particles=2, repeats=200, rng=0)  # a quarter of the filters dies
    assert len(found.alive) < 200
    estimates = np.exp([run.log_evidence for run in found.runs])
    assert abs(estimates.mean() - 0.5) < 4 * estimates.std() / math.sqrt(200)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"initial": lambda n, rng: rng.normal(size=n + 1)}, "must return 50 states"),
        ({"initial": lambda n, rng: np.full(n, np.nan)}, "NaN or infinite"),
        ({"transition": lambda states, time, rng: states[:1]}, "transition must return 50 states"),
        ({"log_observation": lambda y, states, time: 0.0}, r"shape \(50,\)"),
        ({"log_observation": lambda y, states, time: np.full(50, np.nan)}, "NaN"),
        ({"log_observation": lambda y, states, time: "no"}, "shape"),
    ],
)
def test_functions_that_return_something_else_are_named(changes, words):
    parts = {name: getattr(WALK, name) for name in ("initial", "transition", "log_observation")}
    with pytest.raises(jt.errors.InvalidModel, match=words):
        jt.sampling.particle_filter(jt.sampling.ParticleModel(**parts | changes), [0.0, 1.0], particles=50, rng=0)


def test_what_is_missing_for_a_task_is_named():
    bare = jt.sampling.ParticleModel(WALK.initial, WALK.transition, WALK.log_observation)
    with pytest.raises(jt.errors.InvalidModel, match="log_initial"):
        jt.sampling.particle_filter(bare, [0.0], proposal=GUIDED)
    with pytest.raises(jt.errors.InvalidModel, match="smoothing needs"):
        jt.sampling.particle_filter(bare, [0.0, 1.0], rng=0).smoothed()
    with pytest.raises(jt.errors.InvalidData, match="at least one"):
        jt.sampling.particle_filter(bare, [])
    single = jt.sampling.Proposal(lambda y, n, rng: np.zeros(n), GUIDED.transition)
    with pytest.raises(jt.errors.InvalidModel, match="tuple of two"):
        jt.sampling.particle_filter(WALK, [0.0], proposal=single)


def test_intervals_of_a_few_filters_hold_the_truth_as_often_as_they_say():
    """Student's t, over 300 runs of five filters: a binomial test at 0.001; normal quantiles hold it far less often."""
    y = observations(steps=2)
    exact = jt.infer(KALMAN, y)
    hits, normal = [], []
    for seed in range(300):
        found = jt.sampling.particle_filter(WALK, y, particles=100, repeats=5, rng=[11, seed])
        low, high = found.interval(0.9)
        first, last = found.log_evidence_interval(0.9)
        truth = exact.filtered_mean[-1, 0]
        hits.append([low[-1] <= truth <= high[-1], first <= exact.log_evidence <= last])
        means, errors = found.filtered()
        normal.append(abs(means[-1] - truth) <= 1.6449 * errors[-1])
    for shares in np.mean(hits, axis=0):
        assert abs(shares - 0.9) < 3.3 * math.sqrt(0.09 / 300)
    assert np.mean(normal) < 0.86
    assert found.degrees_of_freedom == 4
    low, high = found.interval(0.5, smoothed=True)
    means, errors = found.smoothed()
    assert high - low == pytest.approx(2 * student_t.ppf(0.75, 4) * errors)
    with pytest.raises(jt.errors.Unsupported, match="a single filter does not know its error"):
        jt.sampling.particle_filter(WALK, y, repeats=1, rng=0).interval()
