"""Random state spaces and sequences, and the dense Gaussian that judges what is inferred of them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from juncture.data.sequences import Sequence
from juncture.sequences.state_space.model import LinearGaussianStateSpace, unroll


def covariance(rng, size, *, rank=None):
    root = rng.normal(size=(size, size if rank is None else rank))
    return root @ root.T + (0.1 * np.eye(size) if rank is None else 0.0)


def random_model(rng, states=2, values=2, *, inputs=0, offsets=False, length=None):
    """A model; where a length is given, all parts that may vary do, for sequences of that length."""

    def part(make, moving=False):
        count = None if length is None else max(1, length - moving)
        return make() if count is None else np.stack([make() for _ in range(count)])

    def matrix(rows, columns, size=1.0):
        return lambda: size * rng.normal(size=(rows, columns))

    extra = {}
    if inputs:
        extra["input_to_state"] = part(matrix(states, inputs), moving=True)
        extra["input_to_observation"] = part(matrix(values, inputs))
    if offsets:
        extra["transition_offset"] = part(lambda: rng.normal(size=states), moving=True)
        extra["observation_offset"] = part(lambda: rng.normal(size=values))
    return LinearGaussianStateSpace(
        part(matrix(states, states, 0.6), moving=True),
        part(matrix(values, states)),
        part(lambda: covariance(rng, states), moving=True),
        part(lambda: covariance(rng, values)),
        rng.normal(size=states),
        covariance(rng, states),
        **extra,
    )


def random_sequence(rng, model, length, holes=0.3):
    observations = rng.normal(size=(length, model.observation_dimension))
    observations[rng.random(observations.shape) < holes] = np.nan
    inputs = rng.normal(size=(length, model.num_inputs)) if model.num_inputs else None
    return Sequence(observations, covariates=inputs)


@st.composite
def cases(draw, max_length=5):
    """A model and a sequence of any length from 0, with holes, perhaps with inputs, offsets and varying parts."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    length = draw(st.integers(0, max_length))
    model = random_model(
        rng,
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        inputs=draw(st.integers(0, 2)),
        offsets=draw(st.booleans()),
        length=draw(st.sampled_from([None, length + 3])),
    )
    return model, random_sequence(rng, model, length, draw(st.sampled_from([0.0, 0.3, 1.0])))


def dense(model, sequence, *, ahead=0):
    """(mean (time, state), covariance (time, state, time, state), log p(observed)) by conditioning one big Gaussian.

    `ahead` further steps follow, with inputs zero, of which nothing is observed.
    """
    values = np.vstack([sequence.observations, np.full((ahead, model.observation_dimension), np.nan)])
    length, size = len(values), model.state_dimension
    inputs = sequence.covariates
    if inputs is not None:
        inputs = np.vstack([inputs, np.zeros((ahead, model.num_inputs))])
    mean, whole = unroll(model, length, inputs)
    states = np.arange(length * size)
    seen = length * size + np.nonzero(~np.isnan(values.ravel()))[0]
    return (*conditioned(mean, whole, states, seen, values.ravel()[seen - length * size], (length, size)),)


def conditioned(mean, whole, states, seen, values, shape):
    inner, across = whole[np.ix_(seen, seen)], whole[np.ix_(states, seen)]
    error = values - mean[seen]
    weights = np.linalg.solve(inner, across.T).T if len(seen) else np.zeros((len(states), 0))
    new_mean = mean[states] + weights @ error
    new_covariance = whole[np.ix_(states, states)] - weights @ across.T
    squares = error @ np.linalg.solve(inner, error) if len(seen) else 0.0
    log_volume = np.linalg.slogdet(2 * np.pi * inner)[1] if len(seen) else 0.0
    return new_mean.reshape(shape), new_covariance.reshape(*shape, *shape), -0.5 * (squares + log_volume)


def plain_filter(model, values):
    """The covariance form as textbooks have it, for parts that do not vary and complete observations."""
    move, look, step_noise, noise = model.transition, model.observation, model.transition_noise, model.observation_noise
    mean, cov, moments, log_density = model.initial_mean, model.initial_covariance, [], 0.0
    for value in values:
        inner = look @ cov @ look.T + noise
        gain = np.linalg.solve(inner, look @ cov).T
        error = value - look @ mean
        log_density -= 0.5 * (error @ np.linalg.solve(inner, error) + np.linalg.slogdet(2 * np.pi * inner)[1])
        predicted = mean, cov
        mean, cov = mean + gain @ error, cov - gain @ look @ cov
        moments.append((*predicted, mean, cov))
        mean, cov = move @ mean, move @ cov @ move.T + step_noise
    return moments, log_density


def plain_smoother(model, moments):
    mean, cov = moments[-1][2:]
    found = [(mean, cov)]
    for (_, _, own_mean, own_cov), (next_mean, next_cov, _, _) in zip(moments[-2::-1], moments[:0:-1], strict=True):
        gain = np.linalg.solve(next_cov, model.transition @ own_cov).T
        mean = own_mean + gain @ (mean - next_mean)
        cov = own_cov + gain @ (cov - next_cov) @ gain.T
        found.append((mean, cov))
    return found[::-1]


def stable(model):
    return model.with_parts(transition=0.98 / np.abs(np.linalg.eigvals(model.transition)).max() * model.transition)
