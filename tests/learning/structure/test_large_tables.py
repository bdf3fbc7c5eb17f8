"""Columns with very many states are refused by the size of their tables, before anything is allocated."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from juncture.data.dataset import Dataset
from juncture.errors import TooLarge
from juncture.learning.structure.independence import independence_test
from juncture.learning.structure.learn import learn_structure
from juncture.learning.structure.scores.discrete import MAX_CELLS, CodedRows
from juncture.variables import Variable

METHODS = ["auto", "hill-climbing", "ges", "pc", "mmhc", "chow-liu", "tree-augmented", "exact"]
SIZE = 100_000
pytestmark = pytest.mark.filterwarnings("ignore::juncture.errors.IdentifierWarning")


@pytest.fixture(scope="module")
def identifiers() -> Dataset:
    """Few rows of variables with very many states: the tables are large, the data are not."""
    rng = np.random.default_rng(0)
    variables = [Variable(name, SIZE) for name in ("one", "other", "third")]
    return Dataset.from_codes(variables, {variable.name: rng.integers(SIZE, size=50) for variable in variables})


@pytest.mark.parametrize("method", METHODS)
def test_tables_of_identifiers_are_refused_before_they_are_allocated(identifiers, method):
    options = {"target": "one"} if method == "tree-augmented" else {}
    options |= {"score": "bdeu"} if method == "exact" else {}
    tracemalloc.start()
    with pytest.raises(TooLarge, match=r"100,000 states.* would have .* cells; the limit is 134,217,728: leave out"):
        learn_structure(identifiers, method, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**27


def test_a_single_test_and_a_score_with_holes_are_refused_too(identifiers):
    with pytest.raises(TooLarge, match="10,000,000,000 cells"):
        independence_test(identifiers, "one", "other")
    with pytest.raises(TooLarge, match="409,600,000 cells"):
        learn_structure(identifiers, score="node-average", rng=0)


def test_a_column_of_identifiers_beside_few_states_is_learned_from():
    """Its tables with small columns are small: 100,000 cells for each of their states."""
    rng = np.random.default_rng(0)
    small = rng.integers(2, size=200)
    columns = {"identifier": np.arange(200), "a": small, "b": small ^ (rng.random(200) < 0.05)}
    data = Dataset.from_codes([Variable("identifier", SIZE), Variable("a", 2), Variable("b", 2)], columns)
    for method in ("auto", "hill-climbing", "ges"):
        edges = {frozenset(edge) for edge in learn_structure(data, method).edges}
        assert frozenset("ab") in edges


def test_the_limit_is_that_of_the_cells_counted():
    """Of the states of the given, no more combinations are told apart than twice the rows, at least 4096."""
    data = Dataset.from_codes([Variable(name, 2**13) for name in "abc"], {name: np.zeros(10, int) for name in "abc"})
    rows = CodedRows.of(data)
    rows.check_table([0], [1, 2])  # 2**13 states, 2**12 layers
    rows.check_table([0, 1], [])
    assert 2**13 * 2**13 <= MAX_CELLS < 2**13 * 2**13 * 2**12
    with pytest.raises(TooLarge):
        rows.check_table([0, 1], [2])
