"""The code of the guide for engines that the other tests do without: it runs, and gives what the file gives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from support.spark_frames import spark_session

PAGE = Path(__file__).resolve().parents[3] / "docs" / "large_data.md"
FENCE = re.compile(r"^```python(?P<marks>[^\n`]*)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGES = {
    "duckdb": ("duckdb",),
    "ibis": ("ibis", "duckdb"),
    "dask": ("dask.dataframe", "distributed"),
    "spark": ("pyspark.sql",),
}


def blocks_with(*marks: str) -> list[str]:
    """The code of the blocks that have exactly these marks."""
    return [found["code"] for found in FENCE.finditer(PAGE.read_text()) if set(found["marks"].split()) == set(marks)]


@pytest.fixture
def page(tmp_path, monkeypatch):
    """What the page defines before the sections of engines."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "page"}
    for code in blocks_with():
        exec(code, names)  # noqa: S102
    return names


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas 3.1, by Dask
@pytest.mark.parametrize("engine", PACKAGES)
def test_the_lines_of_the_page_give_what_the_file_gives(engine, page):
    for package in PACKAGES[engine]:
        pytest.importorskip(package)
    if engine == "spark":
        spark_session()  # a quiet one, which the lines of the page get
    codes, found = blocks_with("no-run", engine), dict(page)
    assert codes
    try:
        for code in codes:  # Spark finds paths from where its session began
            exec(code.replace('.parquet("', f'.parquet("{Path.cwd()}/') if engine == "spark" else code, found)  # noqa: S102
    finally:
        if "client" in found:
            found["client"].shutdown()
    for name in ("fitted graph scores", "smokers"):
        wanted, got = ([names[part] for part in name.split()] for names in (page, found))
        (fitted, graph, scores), (model, edges, numbers) = (
            each if len(each) == 3 else each[0] for each in (wanted, got)
        )
        assert model.model == fitted.model
        assert edges == graph
        assert np.array_equal(numbers, scores)
    assert found["strengths"] == page["strengths"]
