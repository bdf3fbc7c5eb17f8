"""First queries from many threads at once, memos that stay small, and the same bits for the same question."""

from __future__ import annotations

import itertools
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import juncture as jt
from juncture.inference.engines.contract import recall
from juncture.inference.exact.junction_tree import choice
from support.builders import random_evidence, random_network

NUM_THREADS = 8


@pytest.fixture(autouse=True)
def _threads_switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def _every_run_is_long(monkeypatch):
    """Slicing and parts are weighed for every question, as they are for large models."""
    monkeypatch.setattr(choice, "LONG_RUN", 0.0)
    monkeypatch.setattr(choice, "OPERATIONS_PER_FACTOR", 0)
    monkeypatch.setattr(choice, "SEARCH_PER_FACTOR", 0)


def at_once(work):
    """`work` of every thread's number, all threads starting together; what they return, or the first error."""
    barrier = threading.Barrier(NUM_THREADS)

    def start(number):
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(NUM_THREADS) as pool:
        return [future.result() for future in [pool.submit(start, number) for number in range(NUM_THREADS)]]


def bits(beliefs):
    return beliefs.log_evidence, *(beliefs[name].values.tobytes() for name in beliefs.targets)


def copy_of(model):
    """The same model with nothing worked out yet."""
    return jt.BayesianNetwork(model.conditionals)


def questions(model):
    """(evidence, targets): every pair of variables observed, with and without a target."""
    pairs = itertools.combinations(model.variables, 2)
    for place, (one, other) in enumerate(pairs):
        yield {one.name: one.labels[0], other.name: other.labels[-1]}, (None, [one.name], [other.name])[place % 3]


def answer(model, question):
    try:
        return bits(jt.infer(model, question[0], targets=question[1]))
    except jt.ImpossibleEvidence as error:
        return str(error)


class Model:
    """Something to keep a memo with."""

    def __init__(self):
        self.derived = {}


def test_a_memo_from_many_threads_is_right_and_bounded():
    model = Model()

    def work(number):
        return [recall(model, "squares", key % 11, lambda k=key % 11: k * k, 4) for key in range(number, 2000)]

    for number, found in enumerate(at_once(work)):
        assert found == [(key % 11) ** 2 for key in range(number, 2000)]
    assert len(model.derived["squares"]) == 4


def test_a_memo_forgets_what_was_not_used_for_longest():
    model = Model()
    for key in (1, 2, 3, 1, 4):
        recall(model, "memo", key, lambda k=key: -k, 3)
    assert model.derived["memo"] == {3: -3, 1: -1, 4: -4}


@pytest.mark.usefixtures("_every_run_is_long")
def test_first_queries_from_many_threads_answer_as_one_thread_does():
    asia = jt.example("asia")
    asked = list(questions(asia))
    alone = copy_of(asia)
    expected = [answer(alone, question) for question in asked]
    for _ in range(3):
        model = copy_of(asia)
        for found in at_once(lambda number, model=model: [answer(model, q) for q in asked[number:] + asked[:number]]):
            assert sorted(map(repr, found)) == sorted(map(repr, expected))
        assert len(model.derived["structures"]) <= choice.MAX_STRUCTURES
        assert len(model.derived["parts"]) <= choice.MAX_PARTS


@pytest.mark.usefixtures("_every_run_is_long")
def test_the_choices_that_are_kept_are_bounded(monkeypatch):
    monkeypatch.setattr(choice, "MAX_CHOICES", 5)
    model = jt.example("asia")
    for question in questions(model):
        answer(model, (question[0], None))
    assert len(model.derived["choices"]) == 5


@pytest.mark.usefixtures("_every_run_is_long")
@pytest.mark.parametrize("seed", range(10))
def test_the_same_question_gets_the_same_bits_whatever_was_asked_before(seed):
    rng = np.random.default_rng(seed)
    network = random_network(rng)
    evidence = random_evidence(network, rng)
    asked = [*questions(network), (evidence, None), (evidence, list(network.variables.names[:1]))]
    fresh = [answer(copy_of(network), question) for question in asked]
    used = copy_of(network)
    assert [answer(used, question) for question in asked] == fresh
    assert [answer(used, question) for question in asked] == fresh


def test_a_large_model_gets_the_same_bits_the_first_time_and_later(monkeypatch):
    """A run on the whole takes long, so that slicing pays."""
    monkeypatch.setattr(choice, "LONG_RUN", 1e6)
    rng = np.random.default_rng(1)
    root = [jt.Variable(f"r{place}", 12) for place in range(4)]
    middle = jt.Variable("m", 12)
    leaf = jt.Variable("l", 12)
    tables = [jt.Conditional(variable, [], rng.dirichlet(np.ones(12))) for variable in root]
    tables.append(jt.Conditional(middle, root, rng.dirichlet(np.ones(12), size=(12,) * 4)))
    tables.append(jt.Conditional(leaf, [middle], rng.dirichlet(np.ones(12), size=12)))
    model = jt.BayesianNetwork(tables)
    asked = [({"r0": 3, "r1": 5}, None), ({"r0": 3, "r2": 5}, ["l"]), ({"l": 1}, ["r0"])]
    first = [answer(model, question) for question in asked]
    assert model.derived["choices"][frozenset({"r0", "r1"}), frozenset()].is_reduced
    assert [answer(model, question) for question in reversed(asked)] == first[::-1]
    assert [answer(copy_of(model), question) for question in asked] == first
