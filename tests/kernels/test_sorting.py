"""Sorting in place against NumPy's."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from juncture.kernels.sorting import find_key, sort_digits, sort_keys


@given(
    size=st.integers(0, 200), most=st.sampled_from([1, 5, 2**62]), seed=st.integers(0, 1000), order=st.integers(-1, 1)
)
def test_keys_are_sorted_and_found(size, most, seed, order):
    keys = np.random.default_rng(seed).integers(0, most, size, dtype=np.int64)
    keys = np.ascontiguousarray(np.sort(keys)[::order]) if order else keys
    expected = np.sort(keys)
    sort_keys(keys, size)
    assert keys.tolist() == expected.tolist()
    for key in (*expected[:3], most // 2):
        assert find_key(keys, size, np.int64(key)) == np.searchsorted(expected, key)


@given(size=st.integers(0, 300), num_bits=st.integers(0, 13), seed=st.integers(0, 1000))
def test_digits_are_sorted_and_equal_ones_keep_their_order(size, num_bits, seed):
    """The lower bits number the keys, as those of rows do."""
    values = np.random.default_rng(seed).integers(0, 1 << num_bits, size, dtype=np.int64)
    keys = (values << 20) | np.arange(size)
    found = sort_digits(keys.copy(), size, np.int64(20), np.int64(num_bits))
    assert found[:size].tolist() == keys[np.argsort(values, kind="stable")].tolist()
