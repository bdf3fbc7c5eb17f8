"""Searches, scores and tests on sources past memory: the same to the last bit as on the same rows in memory.

Memory is made small: distinct rows beyond a few are written to a copy, tables are counted in passes over it, and the
sample that leads a search is a few rows, so that most of its estimates are wrong.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juncture as jt
from juncture import structure
from juncture.data.sources import as_source
from juncture.learning.structure import data as structure_data
from juncture.learning.structure.independence import TESTS
from juncture.learning.structure.learn import SEARCHES
from juncture.learning.structure.scores.scores import SCORES
from juncture.learning.structure.sets import member_of
from juncture.learning.structure.streamed import counting, streamed_rows
from juncture.learning.structure.streamed.coded_copy import ClusterRows
from juncture.learning.structure.streamed.streamed_rows import StreamedRows
from juncture.learning.structure.streamed.sums import SummedRows
from juncture.learning.structure.strength import count_rows, resample_rows
from support.partitions import LocalPartitions
from support.structure_examples import random_reals, random_rows

SEEDS = st.integers(0, 2**32 - 1)
SIZES = [2, 3, 2, 4, 2]
REAL_SCORES = ("bic", "aic", "log-likelihood", "bge")


@pytest.fixture(autouse=True, scope="module")
def _small_memory():
    """Few distinct rows fit in memory, and the sample has few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(structure_data, "MAX_DISTINCT", 6)
        patch.setattr(streamed_rows, "SAMPLE", 16)
        yield


def draw_rows(seed: int, holes: float = 0.0, weights: Any = None) -> tuple[jt.Dataset, Any]:
    """Random rows, and a source of them that is past memory."""
    rng = np.random.default_rng(seed)
    num_rows = int(rng.integers(60, 200))
    rows = random_rows(rng, num_rows, SIZES, None if weights is None else weights(rng, num_rows))
    if holes:
        columns = {name: np.where(rng.random(num_rows) < holes, -1, own) for name, own in rows.columns.items()}
        rows = jt.Dataset.from_codes(rows.variables, columns, rows.weights)
    return rows, as_source(rows, block_rows=int(rng.integers(10, 80)))


def own_options(name: str) -> dict[str, Any]:
    return {"target": "n1"} if name == "tree-augmented" else {}


def test_a_source_past_memory_is_counted_in_passes():
    _, source = draw_rows(0)
    rows = structure_data.read_cases(source, None, None)
    assert isinstance(rows, StreamedRows)
    assert len(rows.copy.lengths) > 1
    assert len(rows.sample) < 40


@given(SEEDS)
@pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")
def test_every_search_finds_the_same_graph_with_the_same_scores(seed):
    """A new search in the table is tested here too."""
    rows, source = draw_rows(seed)
    for name in SEARCHES:
        found = structure.search(source, name, rng=seed, **own_options(name))
        wanted = structure.search(rows, name, rng=seed, **own_options(name))
        assert (found.graph, found.method, found.scores) == (wanted.graph, wanted.method, wanted.scores), name


@pytest.mark.parametrize("seed", range(3))
def test_constraints_and_walks_hold_past_memory(seed):
    rows, source = draw_rows(seed)
    options: dict[str, Any] = {"required": [("n4", "n0")], "forbidden": [("n1", "n2")], "max_parents": 2}
    for name, more in (("hill-climbing", {"tabu": 5, "restarts": 2}), ("exact", {}), ("ges", {"directed": True})):
        found = jt.learn_structure(source, name, rng=seed, **options, **more)
        assert found == jt.learn_structure(rows, name, rng=seed, **options, **more), name


@given(SEEDS, st.sampled_from([0.0, 0.1]))
def test_every_score_has_the_same_bits(seed, holes):
    rows, source = draw_rows(seed, holes)
    graph = jt.DirectedGraph.parse("n0 -> n1; n1 -> n2; n0 -> n2; n2 -> n3; n4")
    scores = ["node-average"] if holes else [name for name in SCORES if name != "bge"]
    for score in [*scores, structure.EdgePrior(scores[0], 2.0)]:
        assert structure.score(graph, source, score) == structure.score(graph, rows, score), score


@given(SEEDS)
def test_trees_and_the_node_average_take_holes_past_memory(seed):
    rows, source = draw_rows(seed, holes=0.1)
    for name, options in (
        ("chow-liu", {}),
        ("chow-liu", {"score": "bic"}),
        ("tree-augmented", {"target": "n1"}),
        ("hill-climbing", {"score": "node-average"}),
    ):
        assert jt.learn_structure(source, name, **options) == jt.learn_structure(rows, name, **options), name


@given(SEEDS)
def test_every_test_has_the_same_p_value_or_is_refused(seed):
    rows, source = draw_rows(seed)
    for test in TESTS:
        if test == "permutation":
            with pytest.raises(jt.errors.Unsupported, match="rows past memory cannot be shuffled"):
                structure.independence_test(source, "n0", "n3", ["n1", "n4"], test=test)
        elif test != "fisher-z":
            found = structure.independence_test(source, "n0", "n3", ["n1", "n4"], test=test)
            assert found == structure.independence_test(rows, "n0", "n3", ["n1", "n4"], test=test), test


@given(SEEDS)
def test_whole_weights_have_the_same_bits_and_others_agree_up_to_rounding(seed):
    graph = jt.DirectedGraph.parse("n0 -> n1; n1 -> n3; n0 -> n3; n2; n4")
    rows, source = draw_rows(seed, weights=lambda rng, size: rng.integers(0, 4, size))
    assert structure.score(graph, source) == structure.score(graph, rows)
    assert jt.learn_structure(source, "hill-climbing") == jt.learn_structure(rows, "hill-climbing")
    rows, source = draw_rows(seed, weights=lambda rng, size: rng.gamma(1.0, size=size))
    assert structure.score(graph, source) == pytest.approx(structure.score(graph, rows), rel=1e-12)


@given(SEEDS, st.sampled_from([0.0, 0.2]), st.booleans())
def test_tables_are_those_of_enumeration(seed, holes, is_sparse):
    rows, source = draw_rows(seed, holes, weights=lambda rng, size: rng.integers(0, 3, size))
    streamed = structure_data.read_cases(source, None, None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MAX_COUNTS", 2000)  # several passes
        if is_sparse:
            patch.setattr(counting, "MAX_BASE_CELLS", 0)
            patch.setattr(counting, "MAX_DENSE", 3)
        found = counting.count_sets(streamed.copy, streamed.sizes, range(1, 2 ** len(SIZES)))
    for number, table in found.items():
        inside = [place for place in range(len(SIZES)) if number >> place & 1]
        wanted = np.zeros([SIZES[one] for one in inside])
        for codes, weight in zip(zip(*(rows.arrays[one] for one in inside), strict=True), rows.weights, strict=True):
            if min(codes) >= 0:
                wanted[codes] += weight
        layers = counting.arrange_table(table, number, [], inside, streamed.sizes).reshape(-1)
        assert np.array_equal(layers, wanted.reshape(-1))
        assert isinstance(table, counting.SparseTable) == (is_sparse and wanted.size > 3)


@given(SEEDS)
def test_scores_and_tests_of_tables_with_many_cells_agree_up_to_rounding(seed):
    """Only the cells that occur are there, in the order of their numbers."""
    rows, source = draw_rows(seed)
    graph = jt.DirectedGraph.parse("n0 -> n3; n1 -> n3; n2; n4")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MAX_BASE_CELLS", 0)
        patch.setattr(counting, "MAX_DENSE", 3)
        for score in ("bic", "bdeu", "bds", "k2"):
            assert structure.score(graph, source, score) == pytest.approx(
                structure.score(graph, rows, score), rel=1e-12
            )
        p_value = structure.independence_test(source, "n0", "n3", ["n1"])
        tree = jt.learn_structure(source, "chow-liu")
    assert p_value == pytest.approx(structure.independence_test(rows, "n0", "n3", ["n1"]), rel=1e-9)
    assert tree == jt.learn_structure(rows, "chow-liu")


def draw_reals(seed: int, with_states: bool) -> tuple[jt.Dataset, Any]:
    rng = np.random.default_rng(seed)
    num_rows = int(rng.integers(60, 200))
    columns = {name: 1e5 + own for name, own in random_reals(rng, num_rows, 4).columns.items()}
    if with_states:
        group = rng.integers(0, 3, num_rows)
        columns |= {"group": group, "flag": rng.integers(0, 2, num_rows), "n0": columns["n0"] + group}
    rows = jt.Dataset(columns)
    return rows, as_source(rows, block_rows=int(rng.integers(10, 80)))


def are_equivalent(one: Any, other: Any) -> bool:
    """Rounding decides between an edge and its reverse where both score the same."""
    return bool(one == other) or member_of(one).is_equivalent(member_of(other))


@given(SEEDS)
def test_real_columns_are_summed_up_in_one_pass(seed):
    rows, source = draw_reals(seed, with_states=False)
    assert isinstance(structure_data.read_cases(source, None, None), SummedRows)
    graph = jt.DirectedGraph.parse("n0 -> n1; n1 -> n2; n0 -> n2; n3")
    for score in REAL_SCORES:
        wanted = structure.score(graph, rows, score)
        assert structure.score(graph, source, score) == pytest.approx(wanted, rel=1e-9), score
    p_value = structure.independence_test(source, "n0", "n1", ["n3"])
    assert p_value == pytest.approx(structure.independence_test(rows, "n0", "n1", ["n3"]), rel=1e-6)


def test_every_search_finds_an_equivalent_graph_of_real_columns():
    rows, source = draw_reals(0, with_states=False)
    for name in SEARCHES:
        options = {"target": "n1"} if name == "tree-augmented" else {}
        assert are_equivalent(jt.learn_structure(source, name, **options), jt.learn_structure(rows, name, **options)), (
            name
        )


@given(SEEDS)
def test_columns_with_states_and_numbers_are_summed_up_for_each_combination_of_states(seed):
    rows, source = draw_reals(seed, with_states=True)
    graph = jt.DirectedGraph.parse("group -> n0; flag -> n0; n0 -> n1; group -> n1; n2; n3")
    for score in ("bic", "aic"):
        wanted = structure.score(graph, rows, score)
        assert structure.score(graph, source, score) == pytest.approx(wanted, rel=1e-9), score
    assert are_equivalent(jt.learn_structure(source, "chow-liu"), jt.learn_structure(rows, "chow-liu"))


def test_climbs_over_columns_with_states_and_numbers_end_at_equivalent_graphs():
    rows, source = draw_reals(0, with_states=True)
    for name in ("hill-climbing", "ges"):
        assert are_equivalent(jt.learn_structure(source, name), jt.learn_structure(rows, name)), name


@pytest.mark.filterwarnings("ignore::juncture.errors.DeterministicRelationWarning")
def test_rows_on_a_cluster_are_counted_there():
    table = random_rows(np.random.default_rng(0), 300, SIZES).to_arrow()
    source = as_source(LocalPartitions([table.slice(0, 100), table.slice(100, 0), table.slice(100)]))
    assert isinstance(structure_data.read_cases(source, None, None).copy, ClusterRows)
    for name in SEARCHES:
        found = jt.learn_structure(source, name, **own_options(name))
        assert found == jt.learn_structure(table, name, **own_options(name)), name
    reals = random_reals(np.random.default_rng(0), 600, 3)
    source = as_source(LocalPartitions([reals.take(slice(0, 400)).to_arrow(), reals.take(slice(400, 600)).to_arrow()]))
    assert are_equivalent(jt.learn_structure(source, rng=0), jt.learn_structure(reals, rng=0))
    assert isinstance(structure_data.read_cases(source, None, None), SummedRows)


def test_posteriors_of_edges_are_those_in_memory():
    rows, source = draw_rows(1)
    options: dict[str, Any] = {"draws": 20, "warmup": 20, "chains": 2, "max_parents": 2, "rng": 0}
    with pytest.warns(jt.errors.NotConvergedWarning):
        found, wanted = structure.posteriors(source, **options), structure.posteriors(rows, **options)
    assert np.array_equal(found.probabilities, wanted.probabilities)


def test_what_needs_rows_in_memory_is_refused():
    _, source = draw_rows(0)
    with pytest.raises(jt.TooLarge, match="drawing bootstrap samples needs rows in memory"):
        structure.strengths(source, draws=2, rng=0)
    _, source = draw_rows(0, holes=0.1)
    with pytest.raises(jt.TooLarge, match=r"structural EM draws the missing cells .* or with score='node-average'"):
        jt.learn_structure(source, rng=0)
    with pytest.raises(jt.errors.InvalidData, match=r"'n\d' has missing values, the first in row \d+: drop these rows"):
        jt.learn_structure(source, "hill-climbing")
    rows = jt.Dataset({"a": [1.0, None, 2.5] * 5, "b": [0.5, 1.5, 2.0] * 5})
    for method, match in (("auto", "structural EM draws"), ("chow-liu", "between numbers with holes need rows")):
        with pytest.raises(jt.TooLarge, match=match):
            jt.learn_structure(as_source(rows, block_rows=4), method)


def test_a_search_that_would_count_too_many_tables_is_refused(monkeypatch):
    _, source = draw_rows(0)
    monkeypatch.setattr("juncture.learning.structure.scores.streamed_scores.MAX_SETS", 10)
    with pytest.raises(jt.TooLarge, match=r"'n0' has 16 possible sets of parents, .*: set max_parents"):
        jt.learn_structure(source, "exact")
    assert jt.learn_structure(source, "exact", max_parents=1).nodes
    _, source = draw_reals(0, with_states=True)
    monkeypatch.setattr("juncture.learning.structure.streamed.sums.MAX_NUMBERS", 100)
    with pytest.raises(jt.TooLarge, match=r"have more than 4 combinations, .* moments of 4 columns of numbers"):
        jt.learn_structure(source, rng=0)


def test_a_full_disk_is_said(monkeypatch):
    class Full:
        def write(self, data):
            raise OSError(28, "No space left on device")

        def close(self): ...

    monkeypatch.setattr("juncture.learning.structure.streamed.coded_copy.SpooledTemporaryFile", lambda **_: Full())
    with pytest.raises(jt.TooLarge, match=r"do not fit into the folder of temporary files, .*set TMPDIR"):
        jt.learn_structure(draw_rows(0)[1], rng=0)


def test_a_pass_that_is_full_counts_before_the_search_goes_on(monkeypatch):
    rows, source = draw_rows(3)
    monkeypatch.setattr("juncture.learning.structure.streamed.streamed_rows.PASS_CELLS", 40)
    monkeypatch.setattr("juncture.learning.structure.streamed.streamed_rows.KEPT_CELLS", 100)
    for name in ("hill-climbing", "ges", "exact"):
        assert jt.learn_structure(source, name) == jt.learn_structure(rows, name), name


def test_progress_and_warnings_are_those_of_the_last_run():
    """Runs before it follow estimates; a generator goes on from where it would in memory."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    rows = jt.Dataset({"a": one, "b": other, "c": one | other, "d": rng.integers(0, 3, 300)})
    source = as_source(rows, block_rows=40)
    with pytest.warns(jt.errors.DeterministicRelationWarning) as found:
        jt.learn_structure(source, "mmhc")
    with pytest.warns(jt.errors.DeterministicRelationWarning) as wanted:
        jt.learn_structure(rows, "mmhc")
    assert [str(each.message) for each in found] == [str(each.message) for each in wanted]
    assert {each.filename for each in found} == {__file__}
    steps: dict[str, list[tuple[int, float]]] = {"memory": [], "source": []}
    ends = []
    for kind, data in (("memory", rows), ("source", source)):
        generator = np.random.default_rng(1)
        jt.learn_structure(
            data, "hill-climbing", restarts=2, rng=generator, progress=lambda *step, kind=kind: steps[kind].append(step)
        )
        ends.append(generator.random())
    assert steps["source"] == steps["memory"]
    assert ends[0] == ends[1]


def test_declared_states_and_weights_of_a_source_are_taken():
    frame = {"a": ["x", "y"] * 40, "b": ["y", "x", "x", "y"] * 20, "c": list("xyyyxxyx") * 10, "w": [1, 2, 0, 3] * 20}
    states = [jt.Variable("a", ["x", "y", "z"])]
    wanted = structure.search(frame, "ges", variables=states, weights="w", score="bdeu")
    found = structure.search(as_source(frame, block_rows=9), "ges", variables=states, weights="w", score="bdeu")
    assert found == wanted
    with pytest.raises(jt.errors.InvalidData, match="the weights of all rows are zero"):
        jt.learn_structure(as_source(frame | {"w": [0.0] * 80}, block_rows=9), weights="w", rng=0)
    with pytest.raises(jt.UnknownVariable, match="no column 'q', which is declared"):
        jt.learn_structure(as_source(frame, block_rows=9), variables=[jt.Variable("q", 2)], rng=0)
    empty = as_source(jt.Dataset.from_codes(states, {"a": np.zeros(0, int)}))
    with pytest.raises(jt.errors.InvalidData, match="the source has no rows"):
        jt.learn_structure(empty, rng=0)


def test_bootstrap_samples_of_a_source_have_as_many_rows_as_it(monkeypatch):
    """Distinct rows with their counts are drawn as the rows themselves."""
    rows, source = draw_rows(5)
    monkeypatch.setattr(structure_data, "MAX_DISTINCT", 1000)
    assert structure.strengths(source, "chow-liu", draws=2, rng=0).joined.any()
    distinct = structure_data.read_cases(source, None, None)
    assert resample_rows(distinct, count_rows(distinct), np.random.default_rng(0)).weights.sum() == len(rows)
