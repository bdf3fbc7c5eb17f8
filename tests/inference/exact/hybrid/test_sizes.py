"""Hybrid networks with many configurations: what is small is answered at once, what is not is refused with its size."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import juncture as jt
from support.processor_time import takes_at_most

SIZES = {"region": 9, "zone": 5, "kind": 6, "year": 37, "month": 12, "season": 4, "day": 31, "hour": 24}
TABLES = {"zone": ["region"], "kind": ["zone"], "season": ["month"], "day": ["month"]}
LINES = {
    "latitude": (["region", "zone"], []),
    "height": (["region", "kind"], ["latitude"]),
    "warmth": (["month", "hour"], ["latitude"]),
    "wind": (["season", "year"], ["warmth"]),
    "layer": (["hour"], ["warmth", "wind"]),
    "nitrogen": (["day", "kind"], ["layer", "wind"]),
    "ozone": (["day"], ["nitrogen", "warmth"]),
    "dust": (["day"], ["nitrogen"]),
    "fine dust": ([], ["dust", "ozone"]),
}
LARGE = ("nitrogen", "ozone", "dust", "fine dust")


def air_of_regions() -> jt.BayesianNetwork:
    """Measurements of the air by place and time: all eight tables meet in the last four numbers."""
    rng = np.random.default_rng(0)
    known = {name: jt.Variable(name, SIZES.get(name)) for name in (*SIZES, *LINES)}
    parts: list = []
    for name, size in SIZES.items():
        parents = TABLES.get(name, [])
        table = rng.random([*(SIZES[parent] for parent in parents), size]) + 0.1
        table /= table.sum(axis=-1, keepdims=True)
        parts.append(jt.Conditional(known[name], [known[parent] for parent in parents], table))
    for name, (states, numbers) in LINES.items():
        shape = [SIZES[parent] for parent in states]
        slopes = 0.5 * rng.normal(size=(*shape, len(numbers)))
        parents = [known[parent] for parent in (*states, *numbers)]
        parts.append(jt.LinearGaussian(known[name], parents, slopes, rng.normal(size=shape), 0.1 + rng.random(shape)))
    return jt.BayesianNetwork(parts)


def moments_of_wind(model: jt.BayesianNetwork) -> np.ndarray:
    """E[wind], E[wind²], by sums over all configurations of its states."""
    table = {name: np.asarray(model[name].values) for name in SIZES}
    place = table["region"][:, None] * table["zone"]
    low = model["latitude"]
    first, second = (place * low.intercept).sum(), (place * (low.intercept**2 + low.variance)).sum()
    warm, wind = model["warmth"], model["wind"]
    slope, level = warm.coefficients[..., 0], warm.intercept  # (month, hour)
    mean = slope * first + level
    square = slope**2 * second + 2 * slope * level * first + level**2 + warm.variance
    time = np.einsum("m,ms,y,h->symh", table["month"], table["season"], table["year"], table["hour"])
    gain, shift = wind.coefficients[..., 0][..., None, None], wind.intercept[..., None, None]  # (season, year, 1, 1)
    noise = wind.variance[..., None, None]
    one = gain * mean + shift
    two = gain**2 * square + 2 * gain * shift * mean + shift**2 + noise
    return np.array([(time * one).sum(), (time * two).sum()])


def test_four_numbers_are_too_large_and_all_others_are_answered():
    model = air_of_regions()
    sizes = {name: jt.cost(model, targets=[name]).largest_table for name in model.variables.names}
    assert {name for name, size in sizes.items() if size > 2e6} == set(LARGE)
    assert {sizes[name] for name in LARGE} == {9 * 5 * 6 * 37 * 12 * 4 * 31 * 24}  # 3.6e8
    ask_what_is_small(model)  # kernels warm
    with takes_at_most(2.0):
        ask_what_is_small(air_of_regions())


def ask_what_is_small(model: jt.BayesianNetwork) -> None:
    beliefs = jt.infer(model, memory_limit=2**31)
    assert beliefs["season"].values.sum() == pytest.approx(1.0)
    assert np.isfinite([beliefs[name].mean for name in ("latitude", "height", "warmth")]).all()
    for name in LARGE:
        with pytest.raises(jt.TooLarge, match=rf"the posterior of {name} would need .* 3\.57e\+08 configurations"):
            beliefs[name]
    seen = {"kind": 0, "day": 3, "year": 5}  # observed parents are cut off
    assert np.isfinite(jt.infer(model, seen, targets=["latitude", "season"]).log_evidence)
    some = {"layer": 0.3, "wind": 0.1, "warmth": 0.5}  # which separate the last four from the rest
    assert np.isfinite(jt.infer(model, some, targets=["fine dust"])["fine dust"].variance)


@pytest.mark.slow
def test_a_number_of_two_million_configurations():
    model = air_of_regions()
    wind = jt.infer(model, targets=["wind"])["wind"]
    assert wind.num_components == 9 * 5 * 37 * 12 * 4 * 24
    mean, square = moments_of_wind(model)
    assert (wind.mean, wind.variance) == pytest.approx((mean, square - mean**2), rel=1e-10)


def test_all_answers_about_a_long_chain_are_one_run():
    """A hidden Markov model as a network of states and numbers, of which half are observed."""
    num_steps, transition = 150, np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.0, 0.3, 0.7]])
    initial, means = np.array([0.5, 0.3, 0.2]), np.array([0.0, 1.5, 4.0])
    hidden = jt.HiddenMarkovModel(initial, transition, [jt.Gaussian(mean, 1.0) for mean in means])
    seen = np.array(jt.sample(hidden, num_steps, rng=0).observations, float).reshape(-1)
    seen[1::2] = np.nan
    states = [jt.Variable(f"z{step}", 3) for step in range(num_steps)]
    parts = [jt.Conditional(states[0], [], initial)]
    parts += [jt.Conditional(now, [before], transition) for before, now in pairwise(states)]
    parts += [
        jt.LinearGaussian(jt.Variable(f"x{step}"), [state], np.empty((3, 0)), means, np.ones(3))
        for step, state in enumerate(states)
    ]
    model, wanted = jt.BayesianNetwork(parts), jt.infer(hidden, seen)
    beliefs = jt.infer(model, {f"x{step}": value for step, value in enumerate(seen)})
    assert beliefs.log_evidence == pytest.approx(wanted.log_evidence, rel=1e-12)
    with takes_at_most(3.0):  # a plan for each of them would take ten times as long
        found = np.array([beliefs[state.name].values for state in states])
        numbers = np.array([beliefs[f"x{step}"].mean for step in range(1, num_steps, 2)])
    assert found == pytest.approx(wanted.smoothed, abs=1e-12)
    assert numbers == pytest.approx(wanted.smoothed[1::2] @ means, abs=1e-12)
