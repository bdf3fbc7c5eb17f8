"""What memory does not hold is refused before anything is allocated, with one sentence that says how large it is."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juncture as jt
from juncture.errors import InvalidModel, TooLarge
from juncture.runtime import memory

LIMIT = 2**28
WEATHER = jt.HiddenMarkovModel([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]])
WALK = jt.LinearGaussianStateSpace(1.0, 1.0, 0.5, 2.0, initial_mean=0.0, initial_covariance=1.0)
CHAIN = jt.MarkovChain([[0.9, 0.1], [0.5, 0.5]], 0)

LARGE = {
    "uniform": lambda: jt.MarkovChain.uniform(20_000),
    "uniform of a high order": lambda: jt.MarkovChain.uniform(10, order=9),
    "uniform of the highest order": lambda: jt.MarkovChain.uniform(1000, order=30),
    "first order": lambda: jt.MarkovChain.uniform(12, order=4).to_first_order(),
    "chain as network": lambda: CHAIN.to_bayesian_network(10**12),
    "hidden Markov as network": lambda: WEATHER.to_bayesian_network(10**12),
    "start": lambda: jt.initial_hidden_markov([0.0, 1.0, 2.0], 20_000, rng=0),
    "symbols": lambda: jt.initial_hidden_markov([0, 1, 10**12], 2, "categorical", rng=0),
    "sequence": lambda: jt.sample(WEATHER, 10**12),
    "sequences": lambda: jt.sample(WEATHER, [3, 10**15]),
    "states of a chain": lambda: jt.sample(CHAIN, 10**12),
    "sequence of a state space": lambda: jt.sample(WALK, 10**12),
    "paths": lambda: jt.infer(WEATHER, [0, 1]).sample(10**12),
    "forecast": lambda: jt.infer(WEATHER, [0, 1]).forecast(10**12),
    "state space as Gaussian": lambda: WALK.to_gaussian(10**6),
    "state space forecast": lambda: jt.infer(WALK, [[1.0]]).forecast(10**12),
    "state space paths": lambda: jt.infer(WALK, [[1.0]]).sample(10**12),
}


@pytest.fixture(autouse=True)
def _little_memory(monkeypatch):
    monkeypatch.setattr(memory, "default_memory_limit", lambda: LIMIT)


@pytest.mark.parametrize("name", list(LARGE))
def test_what_does_not_fit_is_refused_before_it_is_made(name):
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match=r"would need .*; the limit is 256 MiB: "):
            LARGE[name]()
        assert tracemalloc.get_traced_memory()[1] < LIMIT
    finally:
        tracemalloc.stop()


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 6))
def test_what_fits_is_made(size, order):
    """The limit is about the table: whatever is below it is made, whatever is above is refused."""
    needed = memory.COPIES * memory.NUMBER * size ** (order + 1)
    if needed > LIMIT:
        with pytest.raises(TooLarge):
            jt.MarkovChain.uniform(size, order=order)
    elif needed < 2**22:
        assert jt.MarkovChain.uniform(size, order=order).transition.shape == (size,) * (order + 1)


@pytest.mark.parametrize("order", [31, 100, 10**9])
def test_an_order_beyond_the_axes_of_arrays_is_refused(order):
    with pytest.raises(InvalidModel, match=f"at most 30, .* got {order}"):
        jt.MarkovChain.uniform(1, order=order)
    with pytest.raises(InvalidModel, match="at most 30"):
        jt.MarkovChain(np.ones((1, 1)), order=order)
