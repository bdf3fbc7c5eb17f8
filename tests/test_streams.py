"""`parallel.map_stream`: results in order, few parts in memory, errors of the first part, an end at any time."""

from __future__ import annotations

from threading import Lock

import numpy as np
import pytest

import juncture as jt
from juncture.data.sources import as_source
from juncture.runtime import parallel


@pytest.fixture(params=[1, 2, 5], ids=lambda number: f"{number} threads")
def num_threads(request):
    jt.set_num_threads(request.param)
    yield request.param
    jt.set_num_threads(None)


def test_results_come_in_the_order_of_the_parts(num_threads):
    def slow(part):
        np.linalg.eigvalsh(np.eye(3 + 40 * (part % 3)))
        return part

    assert list(parallel.map_stream(slow, iter(range(50)))) == list(range(50))
    assert list(parallel.map_stream(slow, [])) == []


def test_few_parts_are_held(num_threads):
    taken, most, lock = 0, 0, Lock()

    def parts():
        nonlocal taken
        for part in range(40):
            taken += 1
            yield part

    for done, _ in enumerate(parallel.map_stream(lambda part: part, parts())):
        with lock:
            most = max(most, taken - done)
    assert 1 <= most <= num_threads + 2


def test_an_error_is_that_of_the_first_part_that_fails(num_threads):
    def fail(part):
        if part in {7, 9}:
            raise ValueError(str(part))
        return part

    done = []
    with pytest.raises(ValueError, match=r"^7$"):
        done.extend(parallel.map_stream(fail, iter(range(100))))
    assert done in ([], list(range(7)))


def test_an_error_of_the_iterator_comes_after_the_results_before_it(num_threads):
    def parts():
        yield from range(3)
        raise ValueError("no more")

    results = parallel.map_stream(lambda part: part, parts())
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="no more"):
        next(results)


def test_leaving_early_closes_the_iterator(num_threads):
    closed = []

    def parts():
        try:
            yield from range(1000)
        finally:
            closed.append(True)

    results = parallel.map_stream(lambda part: part, parts())
    assert next(results) == 0
    results.close()
    del results
    assert closed


def test_weighted_counts_have_the_same_bits_for_any_number_of_threads():
    model, found = jt.example("asia"), set()
    rows = jt.sample(model, 3000, rng=0)
    weighted = jt.Dataset.from_codes(rows.variables, rows.columns, np.random.default_rng(0).gamma(1.0, size=3000))
    for number in (1, 2, 5):
        jt.set_num_threads(number)
        found.add(jt.statistics(model, as_source(weighted, block_rows=100)).to_json())
    jt.set_num_threads(None)
    assert len(found) == 1
