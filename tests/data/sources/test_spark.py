"""What is special to Spark: its partitions, tasks that run again, types, and the errors of two languages."""

from __future__ import annotations

import os
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import juncture as jt
from juncture.data.sources import as_source, collect, spark
from juncture.data.sources.spark import find_reason
from juncture.inference.predictions import add_predictions
from support.spark_frames import as_spark_frame, frame_of_parts, spark_session

pytest.importorskip("pyspark")

ASIA = jt.example("asia")
ROWS = jt.sample(ASIA, 90, rng=1).to_arrow()
WEIGHTS = np.random.default_rng(0).gamma(1.0, size=90)
ONE_STEP = jt.ExpectationMaximization(max_steps=1, tolerance=0.0)
CUTS = [0, 17, 17, 40, 71, 90]


def weighted_frame(folder):
    return frame_of_parts(ROWS.append_column("w", pa.array(WEIGHTS)), folder, CUTS)


def learn(frame):
    """Weighted counts, and a step of EM for rows with holes, of which each block gives its sums."""
    source = as_source(frame, ASIA.variables, weights="w", block_rows=10)
    with pytest.warns(jt.errors.NotConvergedWarning):
        model = jt.fit(ASIA, source, prior=1.0, latent=["lung"], method=ONE_STEP).model
    return jt.statistics(ASIA, source).to_json(), model


def lose_a_worker(frame, mark):
    """The frame; the first process that reads its partition 3 is killed, and leaves a mark."""

    def read(batches):
        from pyspark import TaskContext

        if TaskContext.get().partitionId() == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    return frame.mapInArrow(read, frame.schema)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_sums_are_the_same_to_the_last_bit_on_one_core_and_on_two_and_after_a_worker_was_lost(tmp_path, monkeypatch):
    monkeypatch.setattr("juncture.learning.networks.fit.FEW_DISTINCT", 10)
    frame = weighted_frame(tmp_path)
    two = learn(frame)
    assert learn(lose_a_worker(frame, tmp_path / "killed")) == two
    assert (tmp_path / "killed").exists()
    spark_session().stop()
    try:
        assert spark_session("local[1]").sparkContext.defaultParallelism == 2  # as declared
        one = learn(weighted_frame(tmp_path))
    finally:
        spark_session().stop()
    assert one == two


def test_blocks_are_those_of_each_partition(tmp_path):
    source = as_source(frame_of_parts(ROWS, tmp_path, CUTS), block_rows=10)
    blocks = list(source.blocks())
    assert [len(block.rows) for block in blocks] == [10, 7, 10, 10, 3, 10, 10, 10, 1, 10, 9]
    assert blocks[4].describe_row(1) == "row 21 of partition 2 of the Spark frame"
    assert collect(source) == jt.Dataset(ROWS, source.variables)


def test_results_come_in_pieces_and_in_several_jobs(tmp_path, monkeypatch):
    source = as_source(frame_of_parts(ROWS, tmp_path, CUTS), ASIA.variables, block_rows=10)
    whole, counted = jt.log_prob(ASIA, source), jt.statistics(ASIA, source)
    monkeypatch.setattr(spark, "PIECE", 100)
    monkeypatch.setattr(spark, "WAVE", 1)
    session, jobs = spark_session(), []
    run = type(session.sparkContext).runJob
    monkeypatch.setattr(type(session.sparkContext), "runJob", lambda *given: jobs.append(list(given[3])) or run(*given))
    assert np.array_equal(jt.log_prob(ASIA, source), whole)
    assert jobs == [[0, 1], [2, 3], [4]]
    assert jt.statistics(ASIA, source) == counted


def test_a_pass_that_is_left_can_be_followed_by_another(tmp_path):
    source = as_source(as_spark_frame(ROWS, tmp_path), block_rows=10)
    assert len(next(source.blocks()).rows) == 10
    assert len(collect(source)) == 90


def test_names_are_not_expressions(tmp_path):
    frame = frame_of_parts(pa.table({"a.b": ["x", "y"], "`": [1, 2], "x y": [0.5, 1.5]}), tmp_path, [0, 2])
    source = as_source(frame)
    assert source.names == ("a.b", "`", "x y")
    assert collect(source).to_dict() == {"a.b": ["x", "y"], "`": [1, 2], "x y": [0.5, 1.5]}
    assert collect(source.only(["x y", "a.b"])).to_dict() == {"a.b": ["x", "y"], "x y": [0.5, 1.5]}
    cases = frame.toDF("a", "A", "b")
    assert collect(as_source(cases).only(["A"])).to_dict() == {"A": [1, 2]}
    with pytest.raises(jt.FormatError, match="'a' is there twice"):
        as_source(frame.toDF("a", "b", "a"))


def select(*columns: str):
    return spark_session().range(0, 3, 1, 2).selectExpr(*columns)


def test_types_are_states_numbers_and_vectors():
    frame = select(
        "cast(id as tinyint) as byte",
        "id",
        "cast(id + 0.5 as float) as f",
        "cast(id / 4 as decimal(9, 2)) as d",
        "id = 1 as b",
        "cast('x' as varchar(2)) as c",
        "array(id + 0.5d, 1d) as v",
        "if(id = 2, null, 'low') as s",
        "if(id = 0, cast('nan' as double), id) as r",
    )
    assert collect(as_source(frame)).to_dict() == {
        "byte": [0, 1, 2],
        "id": [0, 1, 2],
        "f": [0.5, 1.5, 2.5],
        "d": [0.0, 0.25, 0.5],
        "b": [False, True, False],
        "c": ["x", "x", "x"],
        "v": [[0.5, 1.0], [1.5, 1.0], [2.5, 1.0]],
        "s": ["low", "low", None],
        "r": [None, 1.0, 2.0],
    }


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        (
            "named_struct('x', id)",
            r"'a' of the Spark frame has the type struct<x:bigint>.*select its fields, as a\.field",
        ),
        ("map('x', id)", r"has the type map<string,bigint>.*as a\[key\]"),
        ("interval 1 day", "has the type interval day.*such as the days"),
        ("parse_json('1')", "has the type variant.*variant_get"),
        ("date '2024-01-01'", "'a' holds dates or times"),
        ("timestamp '2024-01-01 00:00:00'", "'a' holds dates or times"),
        ("cast('x' as binary)", "b'x'"),
        ("array('x')", "'a'"),
        ("null", "'a' has no observed value"),
        ("cast('x' as int)", r"Spark cannot run the query of the frame: \[CAST_INVALID_INPUT\] The value 'x'"),
    ],
)
def test_what_has_no_states_is_refused_in_one_sentence(cell, sentence):
    with pytest.raises(jt.errors.InvalidData, match=sentence) as found:
        collect(as_source(select(f"{cell} as a", "id as b")))
    assert "\n" not in str(found.value)
    assert len(str(found.value)) < 400
    assert collect(as_source(select(f"{cell} as a", "id as b")).only(["b"])).to_dict() == {"b": [0, 1, 2]}


def test_frames_of_streams_and_of_ended_sessions_are_refused(tmp_path):
    stream = spark_session().readStream.format("rate").load()
    with pytest.raises(jt.errors.InvalidData, match="a stream without end"):
        as_source(stream)
    frame = as_spark_frame(ROWS, tmp_path)
    source = as_source(frame)
    spark_session().stop()
    with pytest.raises(jt.errors.InvalidData, match="session of the Spark frame has ended: make the frame anew"):
        collect(source)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_workers_without_a_package_are_told_of_in_one_sentence(tmp_path):
    def read(batches):
        import no_such_package  # noqa: F401

        yield from batches

    frame = as_spark_frame(ROWS, tmp_path)
    with pytest.raises(
        jt.errors.InvalidData, match=r"No module named 'no_such_package' \(the Python of the workers lacks it"
    ):
        collect(as_source(frame.mapInArrow(read, frame.schema)))


def test_predictions_stay_in_spark_beside_columns_of_any_type(tmp_path):
    frame = as_spark_frame(ROWS, tmp_path).selectExpr("*", "named_struct('a', tub) as s", "date '2024-01-01' as d")
    found = add_predictions(ASIA, frame, ["lung"])
    assert found.columns == [*frame.columns, "predicted lung", "P(lung=yes)", "P(lung=no)"]
    found.write.parquet(str(tmp_path / "predicted"))
    rows = found.collect()
    assert [row.s.a for row in rows] == ROWS["tub"].to_pylist()
    beliefs = jt.infer(ASIA, ROWS.drop_columns(["lung"]), targets=["lung"])["lung"]
    assert np.array_equal([row["P(lung=yes)"] for row in rows], beliefs["yes"])
    with pytest.raises(jt.errors.InvalidData, match="'i' of the Spark frame has the type interval year"):
        add_predictions(ASIA, frame.selectExpr("*", "interval 1 year as i"), ["lung"])


def test_the_reason_is_the_line_that_says_it():
    stack = "Traceback (most recent call last):\n  File 'x', line 2\nMemoryError: full\n SQLSTATE: 38000"
    assert find_reason(f"An exception was thrown: {stack}") == "MemoryError: full"
    java = "An error occurred while calling o1.x.\n: java.lang.IllegalState: stopped\n\tat org.apache.X(Y.scala:1)\n"
    assert find_reason(java) == "java.lang.IllegalState: stopped"
    assert find_reason("") == ""


def test_answers_come_in_the_order_of_partitions_and_predictions_keep_the_key_of_their_row(tmp_path):
    """Spark packs the largest files first, whatever their names; the order is that of `collect`."""
    keyed = ROWS.append_column("key", pa.array(np.arange(90)))
    for name, rows in (("a", keyed.slice(0, 5)), ("b", keyed.slice(5))):
        pa.parquet.write_table(rows, tmp_path / f"{name}.parquet")
    frame = spark_session().read.parquet(str(tmp_path))
    keys = [row.key for row in frame.select("key").collect()]
    assert keys == [*range(5, 90), *range(5)]
    found = jt.log_prob(ASIA, as_source(frame, ASIA.variables, extra="ignore"))
    assert np.array_equal(found, jt.log_prob(ASIA, ROWS)[keys])
    rows = add_predictions(ASIA, frame, ["lung"]).select("key", "P(lung=yes)").collect()
    whole = jt.infer(ASIA, ROWS.drop_columns(["lung"]), targets=["lung"])["lung"]["yes"]
    assert {row.key: row["P(lung=yes)"] for row in rows} == dict(enumerate(whole.tolist()))
