"""Dask frames: two local workers, of which one is killed; partitions as they are; what fails, in a sentence."""

from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import juncture as jt
from juncture.data.sources import as_source, collect
from juncture.data.sources.contract import map_blocks
from juncture.inference.predictions import add_predictions
from support.partitions import LocalPartitions

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

ASIA = jt.example("asia")
STEPS = jt.ExpectationMaximization(max_steps=3, tolerance=0.0)


def asia_rows(number: int = 600) -> pd.DataFrame:
    """Rows with weights, whose sums depend on their order in the last bits."""
    rng = np.random.default_rng(3)
    return jt.sample(ASIA, number, rng=1).to_pandas().assign(w=rng.gamma(1.0, size=number))


def with_holes(rows: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return rows.assign(**{name: rows[name].mask(rng.random(len(rows)) < 0.2) for name in ASIA.variables.names})


@pytest.fixture(scope="module", params=[1, 2])
def client(request):
    """One worker or two, each a process of one thread, that start again when they are killed."""
    how = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(n_workers=request.param, **how) as cluster, distributed.Client(cluster) as found:
        yield found


def end_worker_once(frame: dd.DataFrame, folder: Path) -> dd.DataFrame:
    """The same frame, in which the first worker that reaches partition 2 is killed."""

    def read(rows, partition_info=None):
        if partition_info is not None and partition_info["number"] == 2:
            mark = folder / "killed"
            if not mark.exists():
                mark.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return rows

    return frame.map_partitions(read, meta=frame._meta)


WANTED: dict[str, object] = {}  # of the first number of workers


def assert_same(name: str, found: object) -> None:
    assert WANTED.setdefault(name, found) == found


def test_weighted_counts_have_the_same_bits_for_one_worker_and_two(client, tmp_path):
    frame = dd.from_pandas(asia_rows(), npartitions=6)
    found = jt.statistics(ASIA, frame, weights="w")
    assert_same("counts", found.to_json())
    assert jt.statistics(ASIA, end_worker_once(frame, tmp_path), weights="w") == found
    assert (tmp_path / "killed").exists()
    parts = [frame.partitions[number].compute() for number in range(6)]
    local = LocalPartitions([jt.Dataset(part).to_arrow() for part in parts])
    assert jt.statistics(ASIA, local, weights="w") == found


def test_em_has_the_same_bits_also_after_a_worker_was_lost(client, tmp_path, monkeypatch):
    monkeypatch.setattr("juncture.learning.networks.fit.FEW_DISTINCT", 10)
    frame = dd.from_pandas(with_holes(asia_rows()), npartitions=4)

    def learn(data):
        with pytest.warns(jt.errors.NotConvergedWarning):
            return jt.fit(ASIA.graph, data, prior=1.0, weights="w", variables=ASIA.variables, method=STEPS).model

    found = learn(frame)
    assert_same("model", found)
    assert learn(end_worker_once(frame, tmp_path)) == found
    assert (tmp_path / "killed").exists()


def test_every_verb_takes_a_frame_on_a_cluster(client):
    rows = asia_rows(300).drop(columns="w")
    frame, holes = (dd.from_pandas(each, npartitions=3) for each in (rows, with_holes(rows)))
    assert as_source(frame).variables == jt.Dataset(rows).variables
    assert jt.fit(ASIA, frame, prior=1.0).model == jt.fit(ASIA, rows, prior=1.0).model
    assert jt.learn_structure(frame, rng=0) == jt.learn_structure(rows, rng=0)
    assert np.array_equal(jt.log_prob(ASIA, holes), jt.log_prob(ASIA, with_holes(rows)))
    evidence = holes.drop(columns="lung")
    found = jt.infer(ASIA, evidence, targets=["lung"])["lung"].values
    assert np.array_equal(found, jt.infer(ASIA, evidence.compute(), targets=["lung"])["lung"].values)
    two = jt.Mixture([0.5, 0.5], [jt.Gaussian(0.0, 1.0), jt.Gaussian(5.0, 1.0)])
    numbers = np.concatenate([np.random.default_rng(0).normal(size=60), np.arange(4.0, 8.0, 0.2)])
    mixed = jt.fit(two, dd.from_pandas(pd.DataFrame({"x": numbers}), npartitions=3), prior="weak")
    assert mixed.log_likelihood == pytest.approx(jt.fit(two, numbers, prior="weak").log_likelihood, rel=1e-9)


def test_an_error_on_a_worker_is_one_sentence_here(client):
    frame = dd.from_pandas(asia_rows(), npartitions=3)
    wrong = frame.assign(asia=frame["asia"].replace("yes", "perhaps"))
    with pytest.raises(
        jt.errors.UnknownState, match=r"no state 'perhaps' in row \d+ of partition \d of the Dask frame"
    ):
        jt.statistics(ASIA, wrong, weights="w")
    mixed = pd.DataFrame({"a": pd.Series([1, "x", 2.5], dtype=object)})
    with dask.config.set({"dataframe.convert-string": False}), pytest.raises(jt.FormatError) as found:
        collect(as_source(dd.from_pandas(mixed, npartitions=1)))
    assert "partition 0 of the Dask frame cannot be read" in str(found.value)
    assert "\n" not in str(found.value)


def test_a_pass_that_ends_early_leaves_nothing_on_the_cluster(client):
    source = as_source(dd.from_pandas(asia_rows(), npartitions=20), ASIA.variables, extra="ignore")
    blocks = source.blocks()
    next(blocks)
    blocks.close()
    with client.as_current():
        assert not client.futures or all(future.cancelled() for future in client.futures.values())


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas 3.1, by Dask
def test_partitions_of_small_files_are_not_joined(tmp_path):
    """Dask joins files of few columns when it optimises, by its settings; blocks must not depend on them."""
    dd.from_pandas(asia_rows(), npartitions=8).to_parquet(tmp_path, write_index=False)
    frame = dd.read_parquet(tmp_path).fillna("no")
    assert frame[["asia"]].optimize().npartitions < 8
    source = as_source(frame, ASIA.variables, extra="ignore").only(["asia", "tub"])
    assert len(list(map_blocks(lambda block: len(block.rows), source))) == 8
    assert "columns=['tub']" in frame[["tub"]].simplify().expr.tree_repr()


def test_categories_keep_their_order_and_whole_numbers_with_holes_are_declared():
    order = pd.CategoricalDtype(["low", "mid", "high"])
    rows = pd.DataFrame({"size": pd.Series(["high", "low"] * 3, dtype=order), "number": [1, 2, None, 1, 2, None]})
    source = as_source(dd.from_pandas(rows, npartitions=3))
    assert source.variables == (jt.Variable("size", ["low", "mid", "high"]), jt.Variable("number"))
    declared = as_source(dd.from_pandas(rows, npartitions=3), [*source.variables[:1], jt.Variable("number", [1, 2])])
    assert collect(declared) == jt.Dataset(rows, declared.variables)


def test_two_columns_of_one_name_are_refused():
    rows = pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = dd.from_pandas(rows, npartitions=1)
    with pytest.raises(jt.FormatError, match="the column 'a' is there twice"):
        as_source(frame)


def test_predictions_stay_in_dask(tmp_path):
    rows = asia_rows(30).drop(columns="w").set_axis(range(100, 130))
    found = add_predictions(ASIA, dd.from_pandas(rows, npartitions=3), ["lung"])
    assert list(found.columns) == [*rows.columns, "predicted lung", "P(lung=yes)", "P(lung=no)"]
    frame = found.compute()
    assert frame.index.tolist() == rows.index.tolist()
    assert frame.dtypes.to_dict() == found.dtypes.to_dict()
    beliefs = jt.infer(ASIA, rows.drop(columns="lung"), targets=["lung"])["lung"]
    assert np.array_equal(frame["P(lung=yes)"], beliefs["yes"])
