"""Code that is shorter than Numba's does the same as Python: elements of arrays, variables, counts of references."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juncture.kernels.compiler import kernel


@kernel
def exchange(vector, matrix, flags, place, column):
    """Read and write elements from both ends, of rows and columns too."""
    row, strided = matrix[place], matrix[:, column]
    before = vector[place]
    vector[place] = matrix[place, column] + row[-1]
    matrix[-1, column] = before + strided[0]
    flags[place] = not flags[place - 1]
    strided[place] += len(row)
    return vector[-1]


@kernel
def gather(cube, places):
    """Add elements of a table of three axes, with whole numbers of another size and without sign."""
    total = 0.0
    for index in range(len(places)):
        total += cube[places[index], 1, index] * cube[places[index], index, -1]
    return total


@kernel
def fill(number, times):
    """Take memory, parts of it and tuples of parts in a loop; variables change what they hold."""
    kept = np.zeros(number)
    for step in range(times):
        fresh = np.full(number, float(step))
        pair = (fresh, kept[: number - 1])
        if step % 2 == 1:
            kept = pair[0]
        pair[1][0] += 1.0
    return kept


@given(st.integers(1, 4), st.data())
def test_elements_are_those_of_python(size, data):
    place, column = data.draw(st.integers(1 - size, size - 1)), data.draw(st.integers(-size, size - 1))
    given = [np.arange(size) + 0.5, np.arange(size * size).reshape(size, size) * 1.5, np.arange(size) % 2 == 0]
    compiled, interpreted = ([part.copy() for part in given] for _ in range(2))
    assert exchange.compiled(*compiled, place, column) == exchange.interpreted(*interpreted, place, column)
    for one, other in zip(compiled, interpreted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_places_may_be_of_any_size(kind):
    cube, places = np.arange(24.0).reshape(2, 3, 4)[:, :, 1:], np.array([1, 0, 1], kind)
    contiguous = np.ascontiguousarray(cube)
    assert gather.compiled(cube, places) == gather.interpreted(cube, places)
    assert gather.compiled(contiguous, places) == gather.interpreted(contiguous, places)


def test_memory_that_is_taken_is_given_back():
    from numba.core.runtime import _nrt_python, rtsys

    fill.compiled(3, 4)
    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    np.testing.assert_array_equal(fill.compiled(3, 5), fill.interpreted(3, 5))
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.alloc > before.alloc
    assert after.alloc - before.alloc == after.free - before.free
