"""Rows in Spark: one quiet session in local mode for all tests, and frames whose partitions are known."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Sequence
from contextlib import chdir
from functools import reduce
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

OPTIONS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.default.parallelism": "2",
    "spark.sql.shuffle.partitions": "2",
}


def spark_session(master: str = "local[2,4]") -> Any:
    """The session that runs, or a new one; a task may fail four times."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = sql.SparkSession.builder.master(master)
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings(), chdir(Path(__file__).parent):  # a folder that stays, as the workers start in it
        warnings.simplefilter("ignore")  # PySpark warns of pandas 3 and of sockets that it leaves open
        return builder.getOrCreate()


def as_spark_frame(table: pa.Table, folder: Path) -> Any:
    """Three partitions, of which one has no rows."""
    middle = len(table) // 2
    return frame_of_parts(table, folder, [0, middle, middle, len(table)])


def frame_of_parts(table: pa.Table, folder: Path, cuts: Sequence[int]) -> Any:
    """A frame with one partition for each file, which holds the rows between two cuts."""
    session, frames = spark_session(), []
    for number, (low, high) in enumerate(pairwise(cuts)):
        path = folder / f"spark{number}.parquet"
        pa.parquet.write_table(table.slice(low, high - low), path)
        frames.append(session.read.parquet(str(path)))
    return reduce(lambda one, other: one.union(other), frames)
