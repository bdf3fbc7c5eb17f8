"""Whole runs in other processes: the same numbers as here, and errors, warnings and versions as one sentence each."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import Executor, Future, ProcessPoolExecutor

import numpy as np
import pytest

import juncture as jt
from juncture.errors import warn_user
from juncture.runtime.workers import Versions, has_workers, map_runs, on_workers
from support.partitions import load, pickle


class PicklingExecutor(Executor):
    """An executor in this process: what goes to a worker and comes back is pickled, and the last part is done first."""

    def __init__(self):
        self.waiting, self.num_runs = [], 0

    def submit(self, function, /, *arguments):
        future = LazyFuture(self)
        self.waiting.append((future, pickle.dumps((function, arguments))))
        self.num_runs += 1
        return future

    def run_all(self):
        while self.waiting:
            future, content = self.waiting.pop()
            function, arguments = load(content)
            future.set_result(load(pickle.dumps(function(*arguments))))


class LazyFuture(Future):
    def __init__(self, executor):
        super().__init__()
        self.executor = executor

    def result(self, timeout=None):
        self.executor.run_all()
        return super().result(timeout)


@pytest.fixture
def workers():
    return PicklingExecutor()


ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 200, rng=0)


def test_restarts_of_em_give_the_same_model(workers):
    two = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(0.0, 1.0)])
    numbers = np.concatenate([np.random.default_rng(0).normal(size=40), np.arange(4.0, 8.0, 0.2)])
    hidden = jt.Variable("h", 3)
    graph = jt.DirectedGraph.parse("h -> xray; h -> dysp; h -> bronc")
    steps = jt.ExpectationMaximization(restarts=3, max_steps=500)
    for fit in (
        lambda: jt.fit(two, numbers, prior="weak", method=steps, rng=0),
        lambda: jt.fit(graph, ROWS, prior=1.0, variables=[hidden], latent=["h"], method=steps, rng=0),
    ):
        here, before = fit(), workers.num_runs
        with on_workers(workers):
            found = fit()
        assert workers.num_runs == before + 4
        assert found.model == here.model
        assert found.trace == here.trace


def test_bootstrap_samples_and_chains_give_the_same_numbers(workers):
    gibbs = jt.Gibbs(draws=3000, chains=3)
    strengths = jt.structure.strengths(ROWS, draws=4, rng=0)
    beliefs = jt.infer(ASIA, {"xray": "yes"}, method=gibbs, rng=1)["lung"].values
    with on_workers(workers):
        assert jt.structure.strengths(ROWS, draws=4, rng=0) == strengths
        assert workers.num_runs == 4
        assert np.array_equal(jt.infer(ASIA, {"xray": "yes"}, method=gibbs, rng=1)["lung"].values, beliefs)
    assert workers.num_runs > 4
    assert workers.num_runs % 3 == 1  # rounds of three chains
    assert not has_workers()


def refuse(part):
    if part == 2:
        raise jt.errors.InvalidData("the second part is wrong")
    if part == 3:
        raise jt.errors.InvalidData("the third part is wrong")
    warn_user(f"part {part}", jt.errors.RegularizedWarning)
    return part


def test_errors_and_warnings_come_back_in_the_order_of_the_parts(workers):
    with on_workers(workers), pytest.warns(jt.errors.RegularizedWarning, match="part 1") as caught:  # noqa: SIM117
        with pytest.raises(jt.errors.InvalidData, match="the second part"):
            list(map_runs(refuse, [1, 2, 3]))
    assert len(caught) == 1


def test_workers_of_other_versions_and_things_that_are_no_workers_are_refused(workers, monkeypatch):
    here = Versions.of_this_process()
    versions = iter([here, here._replace(numpy="1.0"), here._replace(numpy="1.0")])
    monkeypatch.setattr(Versions, "of_this_process", lambda: next(versions))
    with (
        on_workers(workers),
        pytest.raises(jt.errors.Unsupported, match=r"the workers have numpy 1\.0 and this process"),
    ):
        list(map_runs(abs, [1, 2]))
    with pytest.raises(jt.errors.InvalidData, match="workers are a Dask client or an executor"), on_workers(3):
        pass


@pytest.mark.slow
def test_processes_are_workers():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool, on_workers(pool):
        found = jt.structure.strengths(ROWS, draws=4, rng=0)
    assert found == jt.structure.strengths(ROWS, draws=4, rng=0)
