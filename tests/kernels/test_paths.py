"""Interpreted or compiled is chosen once a public call, and holds for all that it calls, in its threads too."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import juncture as jt
from juncture.base import compilation, dispatch
from juncture.base.compilation import COMPILED, INTERPRETED, PATH, Path, choose_path
from juncture.data.sources import as_source
from juncture.kernels import compiler
from juncture.runtime.workers import Remote, map_runs, on_workers
from support.model_kinds import KINDS

pytestmark = [  # of fits that are short on purpose
    pytest.mark.filterwarnings("ignore::juncture.errors.NotConvergedWarning"),
    pytest.mark.filterwarnings("ignore::juncture.errors.RegularizedWarning"),
]


@pytest.fixture
def automatic(monkeypatch):
    """A process of mode "auto" that has not loaded Numba, though this one has."""
    monkeypatch.setattr(compilation, "is_loaded", lambda: False)
    monkeypatch.setattr(compilation, "_small_calls", compilation.SmallCalls())
    jt.set_compilation("auto")
    yield
    jt.set_compilation(None)


@pytest.fixture
def chosen(automatic, monkeypatch):
    """How often a path was chosen at a public call, and by a kernel that was called outside of one."""
    counts, paths = SimpleNamespace(calls=0, kernels=0), cycle([INTERPRETED, COMPILED])

    def choose(predict):
        predict()
        counts.calls += 1
        return next(paths)

    def choose_for_kernel(predict):
        counts.kernels += 1
        return next(paths)

    monkeypatch.setattr(dispatch, "choose_path", choose)
    monkeypatch.setattr(compiler, "choose_path", choose_for_kernel)
    return counts


def bits(value):
    return np.asarray(value).tobytes()


@pytest.mark.parametrize("name", KINDS)
def test_every_verb_of_every_kind_chooses_once(name, chosen):
    """Paths alternate from choice to choice, so that a second choice inside a call would mix them."""
    kind = KINDS[name]()
    verbs = [lambda: jt.infer(kind.model, kind.one), lambda: jt.infer(kind.model, kind.many)]
    if not kind.answers("infer"):
        verbs = []
    if kind.has_most_probable:
        verbs.append(lambda: jt.most_probable(kind.model, kind.one))
    if kind.labelled is not None:
        verbs += [lambda: jt.fit(kind.model, kind.labelled, **kind.learner)] * kind.is_learned
    elif kind.answers("sample"):
        drawn = jt.sample(kind.model, 30 if kind.sampled is jt.Dataset else [20] * 5, rng=0)
        chosen.calls = chosen.kernels = 0
        if kind.answers("log_prob"):
            verbs.append(lambda: jt.log_prob(kind.model, drawn))
        verbs.append(lambda: jt.sample(kind.model, 2, rng=0))
        if kind.can_be_learned:
            verbs.append(lambda: jt.fit(kind.learned or kind.model, drawn, **kind.learner))
    for number, verb in enumerate(verbs, start=1):
        verb()
        assert (chosen.calls, chosen.kernels) == (number, 0)
    assert PATH.get() is None


def test_functions_that_are_no_verbs_choose_once(chosen):
    rows = {"a": [0, 1, 1, 0] * 5, "b": [0, 1, 0, 0] * 5, "c": [1, 1, 0, 0] * 5}
    asia = jt.example("asia")
    for number, call in enumerate(
        (
            lambda: jt.learn_structure(rows, rng=0),
            lambda: jt.structure.score(jt.DirectedGraph.parse("a -> b; b -> c"), rows),
            lambda: jt.structure.strengths(rows, draws=2, rng=0),
            lambda: jt.cost(asia),
            lambda: jt.compile(asia),
            lambda: jt.sensitivity(asia, {"xray": "yes"}, target=("lung", "yes")),
            lambda: jt.fit(jt.supervised.DecisionTree, rows, [0, 1, 1, 0] * 5),
        ),
        start=1,
    ):
        call()
        assert (chosen.calls, chosen.kernels) == (number, 0)


def sequences(number):
    model = jt.HiddenMarkovModel([0.6, 0.4], [[0.8, 0.2], [0.3, 0.7]], [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
    return model, [one.observations for one in jt.sample(model, [7] * number, rng=0)]


def test_fit_of_many_sequences_repeats_to_the_bit(automatic):
    """Whatever the number of threads: none of them counts the work that decides how the others run."""
    model, rows = sequences(300)
    found = set()
    for threads in (1, 3, 3):
        jt.set_num_threads(threads)
        fit = jt.fit(model, rows, method=jt.ExpectationMaximization(max_steps=5))
        found.add((fit.log_likelihood, bits(fit.model.transition), bits(fit.model.initial)))
    jt.set_num_threads(None)
    assert len(found) == 1


@pytest.mark.parametrize("mode", ["never", "always"])
def test_a_call_has_the_bits_of_one_path(chosen, monkeypatch, mode):
    model, rows = sequences(20)
    paths = {"never": INTERPRETED, "always": COMPILED}
    monkeypatch.setattr(dispatch, "choose_path", lambda predict: paths[mode])
    automatic = jt.infer(model, rows)
    jt.set_compilation(mode)
    for one, other in zip(automatic, jt.infer(model, rows), strict=True):
        assert bits(one.smoothed) == bits(other.smoothed)


def test_small_calls_are_interpreted_and_large_ones_are_not(automatic):
    predicted = [10, compilation.SMALL_WORK, compilation.SMALL_WORK + 1, float("inf"), 10]
    paths = [choose_path(lambda operations=operations: operations).compiles for operations in predicted]
    assert paths == [False, False, None, None, False]


def test_many_small_calls_take_machine_code(automatic):
    number = compilation.WORK_OF_SMALL_CALLS // compilation.LEAST_WORK
    paths = [choose_path(lambda: 1.0).compiles for _ in range(number + 1)]
    assert paths == [False] * number + [None]


def test_once_numba_is_loaded_machine_code_is_taken(automatic, monkeypatch):
    """And nothing is predicted: a frame is not counted in every call."""
    monkeypatch.setattr(compilation, "is_loaded", lambda: True)
    assert choose_path(lambda: 1 / 0).compiles is None


class Loop:
    """A kernel, as a path sees it."""

    def __init__(self, *, is_at_hand=False):
        self.is_at_hand, self.work_done = is_at_hand, 0

    def has_machine_code(self):
        return self.is_at_hand


def test_machine_code_at_hand_is_taken_and_the_rest_is_compiled_where_that_pays():
    small, large = Path(None, lambda: 10.0), Path(None, lambda: compilation.WORK_TO_COMPILE + 1.0)
    kept, missing = Loop(is_at_hand=True), Loop()
    assert [path.takes_machine_code(kept) for path in (small, large)] == [True, True]
    assert [path.takes_machine_code(missing) for path in (small, large)] == [False, True]


def test_a_kernel_keeps_its_way_until_the_call_ends():
    """Though another process, or another thread, has compiled it meanwhile, or it has done much work."""
    path, one, other = Path(None, lambda: 10.0), Loop(), Loop()
    assert not path.takes_machine_code(one)
    assert not path.takes_machine_code(other)
    one.is_at_hand, other.work_done = True, compilation.WORK_TO_COMPILE + 1
    assert not path.takes_machine_code(one)
    assert not path.takes_machine_code(other)
    later = Path(None, lambda: 10.0)
    assert later.takes_machine_code(one)
    assert later.takes_machine_code(other)


def test_interpreted_work_of_kernels_without_machine_code_is_counted(automatic, monkeypatch):
    total = compiler.kernel(lambda values: values.sum())
    monkeypatch.setattr(compilation, "is_loaded", lambda: True)
    for _ in range(3):
        assert total(np.ones(10)) == 10
    assert total.work_done == 30
    assert total.compiled.dispatcher is None
    total.work_done = compilation.WORK_TO_COMPILE + 1
    assert total(np.ones(10)) == 10
    assert total.compiled.dispatcher is not None


def test_threads_of_a_user_choose_for_themselves(chosen):
    """Two public calls at once, of which one is interpreted, do not change each other's path."""
    model, rows = sequences(5)
    both = threading.Barrier(2)
    seen = []

    def progress(step, objective):
        if step == 1:
            both.wait(30)
        seen.append((threading.get_ident(), PATH.get()))

    with ThreadPoolExecutor(2) as pool:
        learner = jt.ExpectationMaximization(max_steps=3)
        list(pool.map(lambda _: jt.fit(model, rows, method=learner, progress=progress), range(2)))
    assert len(set(seen)) == len({thread for thread, _ in seen}) == 2
    assert {path for _, path in seen} == {INTERPRETED, COMPILED}


def tell_path(part):
    return PATH.get().compiles


@pytest.mark.parametrize("compiles", [True, False, None])
def test_work_for_other_processes_takes_the_path_along(compiles):
    path = Path(compiles, lambda: 7.0)
    with compilation.on_path(path):
        work = Remote.of(lambda part: iter([tell_path(part)]))
    sent = pickle.loads(pickle.dumps(work))  # noqa: S301
    assert sent(0).results == [compiles]
    assert sent.path.predict() == (7.0 if compiles is None else 0.0)
    with ThreadPoolExecutor(1) as pool, on_workers(pool), compilation.on_path(path):
        assert list(map_runs(tell_path, [0, 1])) == [compiles, compiles]


class Unread:
    """Rows of which nothing may be asked before the call needs them."""

    def __getattr__(self, name):
        raise AttributeError(name)

    def __len__(self):
        raise AssertionError("the rows were counted")


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (None, 1), ({"a": "yes"}, 1), ({"a": [1, 2, 3], "b": np.zeros(3)}, 3), ([{"a": 1}, {}], 2), ([0, 1, 1], 3),
        ([[0, 1], [1, 1, 0]], 5), ([np.zeros((4, 2)), np.zeros((3, 2))], 7), (np.zeros((6, 2)), 6),
        (jt.Dataset({"a": [0, 1]}), 2), ("rows.csv", float("inf")), (Unread(), float("inf")),
    ],
)  # fmt: skip
def test_rows_are_counted_without_reading_them(data, rows):
    assert dispatch.count_rows(data) == rows


def test_work_grows_with_the_cliques_not_with_the_tables():
    """Every pair of twenty variables has a small table; the one clique has a million cells."""
    variables = [jt.Variable(f"x{index}", 2) for index in range(20)]
    pairs = [
        jt.Factor([one, other], np.ones((2, 2))) for one in variables for other in variables if one.name < other.name
    ]
    chain = pairs[:1] + [jt.Factor(list(pair), np.ones((2, 2))) for pair in pairwise(variables)]
    (_, dense), (_, sparse) = (dispatch.work_of_model(jt.MarkovNetwork(factors)) for factors in (pairs, chain))
    assert dense > 2**20
    assert sparse < 1000


START_UP = """
import juncture as jt
from juncture.kernels.compiler import KERNELS

def loaded():
    return {one.__name__ for one in KERNELS if "compiled" in vars(one) and one.compiled.dispatcher is not None}

model = jt.example("alarm")
jt.set_compilation("always")
jt.compile(model)
at_first = loaded()
jt.infer(model, {"HISTORY": "TRUE"})
jt.infer(model, [{"HISTORY": "TRUE"}, {"CVP": "LOW"}])
print(len(at_first), *sorted(loaded() - at_first))
"""


def test_a_plan_loads_the_kernels_of_its_runs():
    run = subprocess.run([sys.executable, "-c", START_UP], capture_output=True, text=True, check=True)
    number, *later = run.stdout.split()
    assert int(number) > 0
    assert later == []


def test_predicted_operations_of_a_method_are_those_of_its_passes():
    asia, grid = jt.example("asia"), jt.ising((8, 8), 0.3)
    rows = {"lung": ["yes", "no", None]}
    plain = dispatch.predict_operations("fit", [asia, rows], {})
    assert dispatch.predict_operations("fit", [asia, rows], {"method": jt.ExpectationMaximization()}) == plain
    numbers = 64 * 2 + 112 * 4  # a factor for each node and each edge; those of cliques are far more
    once = dispatch.work_of_model(grid)[0]
    assert dispatch.predict_operations("infer", [grid], {}) - once > 2 * numbers
    draws = dispatch.predict_operations("infer", [grid], {"method": jt.Gibbs(draws=50)}) - once
    assert draws <= 50 * 2 * numbers


def test_rows_that_would_have_to_be_read_are_not_taken_for_one_number(tmp_path):
    """A search over the rows of a file is no small call because the name of the file is short."""
    rows = {"a": [0, 1] * 4, "b": [1, 0] * 4}
    jt.Dataset(rows).to_csv(tmp_path / "rows.csv")
    lazy = pytest.importorskip("polars").LazyFrame(rows)
    for read in (tmp_path / "rows.csv", str(tmp_path), "rows/*.csv", ["one.csv", "two.csv"], as_source(lazy), lazy):
        assert dispatch.predict_from_numbers([read, "hill-climbing"], {}) == dispatch.UNKNOWN
        assert dispatch.predict_from_numbers([], {"data": read}) == dispatch.UNKNOWN
    for small in (
        rows,
        jt.Dataset(rows),
        jt.Dataset(rows).to_pandas(),
        ["hill-climbing"],
        len,
        np.random.default_rng(0),
    ):
        options = {"method": "hill-climbing", "score": jt.BDeu(), "progress": print}
        assert dispatch.predict_from_numbers([small, jt.HillClimbing()], options) < compilation.SMALL_WORK
