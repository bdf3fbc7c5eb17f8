"""Every reader of data: rows, statistics, discretizers, evidence and results; the laws of hostile files hold for each.

A reader is a member of `READERS`; `test_hostile_data.py` and `test_fuzz.py` run over the list, and a law there asks
that each module that reads files or JSON text is the module of some member.
"""

from __future__ import annotations

import gzip
import io
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import juncture as jt
from juncture.cli.fitted_blocks import SavedModel
from juncture.data.files import csv_arrow
from juncture.data.sources import as_source, collect
from juncture.errors import FormatError, InvalidData, JunctureError
from juncture.formats.uai_evidence import read_evidence, write_evidence
from juncture.formats.uai_results import read_result, write_result
from juncture.learning.networks.saved_counts import SavedCounts
from support.csv_files import read_csv

ASIA = jt.example("asia")


class Reader(NamedTuple):
    """A reader: its module, a file's suffix, files to damage, how it reads, and what must work with what it gave.

    `refusals` are what it may raise; `is_text` says whether it is given text, not a path.
    """

    module: str
    suffix: str
    seeds: list[bytes]
    read: Callable[[Path], Any]
    use: Callable[[Any, Path], None]
    refusals: tuple[type[JunctureError], ...] = (FormatError,)
    is_text: bool = False


def text_in(path: Path) -> str:
    """Whatever bytes a file has, as text."""
    return path.read_bytes().decode("utf-8", errors="surrogateescape")


# --- rows ------------------------------------------------------------------------------------------------------------

CSV = [
    b'a,b,"c d"\n1,yes,0.5\n2,no,\n,"x ""y""",nan\n',
    b"x\nTrue\nFalse\n",
    "ä,b\r\n1.5,-0\r\n2,007\r\n".encode(),
    b"a,b\n" + b"1,x\n2,y\n" * 50,
]
PARQUET_OPTIONS = [
    {},
    {"compression": "none"},
    {"compression": "zstd", "row_group_size": 2},
    {"use_dictionary": False, "version": "1.0"},
    {"compression": "gzip", "data_page_version": "2.0"},
    {"store_schema": False},
]
TABLE = pa.table(
    {
        "text": ["b", "a", None, "b"],
        "a.b": [3, 1, 2, 3],
        "level": pa.DictionaryArray.from_arrays([1, None, 0, 1], ["low", "mid", "high"]),
        "real": [1.5, None, -2.0, 0.1],
        "truth": [True, None, False, True],
        "vector": [[1.0, 2.0], None, [3.0, 4.0], [5.0, 6.0]],
    }
)


def parquet_bytes(table: pa.Table, **options: Any) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream, **options)
    return stream.getvalue()


def read_by_arrow(path: Path) -> Any:
    with mock.patch.object(csv_arrow, "LONG", 0):
        return read_csv(path)


def read_pattern(path: Path) -> Any:
    return jt.Dataset(path.with_name(f"{path.stem[:-1]}?{path.suffix}"))


def read_blocks(path: Path) -> Any:
    return collect(as_source(path, block_rows=3 if path.stat().st_size < 2**12 else 4096))


def use_rows(dataset: Any, path: Path) -> None:
    """Rows come back equal as CSV, unless CSV says why it cannot have them."""
    copy = path.with_name("copy.csv")
    try:
        dataset.to_csv(copy)
    except InvalidData:
        return
    assert read_csv(copy, dataset.variables) == dataset


# --- statistics and discretizers -------------------------------------------------------------------------------------

A, B, C, D = (jt.Variable(name, states) for name, states in zip("abcd", (["x", "y"], 3, 2, 2), strict=True))
R, S = jt.Variable("r"), jt.Variable("s")
NETWORK = jt.BayesianNetwork(
    [
        jt.Conditional(A, [], [0.5, 0.5]),
        jt.Conditional(B, [A], [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]),
        jt.Conditional(D, [], [0.3, 0.7]),
        jt.NoisyOr(C, [D], [0.5], 0.1),
        jt.LinearGaussian(R, [], [], 0.0, 1.0),
        jt.LinearGaussian(S, [R, A], np.ones((2, 1)), np.zeros(2), np.ones(2)),
    ]
)
NOISY = jt.BayesianNetwork([jt.Conditional(D, [], [0.5, 0.5]), jt.NoisyOr(C, [D], [0.5], 0.1)])
NETWORK_STATISTICS = [
    jt.statistics(NETWORK, jt.sample(NETWORK, 30, rng=0)),
    jt.fit(NOISY, {"d": [1, None, 0], "c": [1, 1, 0]}).statistics,
]
MEMBERS = [
    *(jt.Poisson(3.0), jt.Binomial(4, 0.25), jt.Gaussian(0.0, 1.0), jt.Gamma(2.0, 1.0), jt.Uniform(0.0, 2.0)),
    *(jt.StudentT(5.0, 0.0, 1.0), jt.Categorical([0.2, 0.8]), jt.Dirichlet([1.0, 2.0, 3.0])),
    jt.MultivariateGaussian([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]]),
]


def use_network_statistics(found: Any, path: Path) -> None:
    assert jt.results.NetworkStatistics.from_json(found.to_json()) == found
    assert (found + found).weight == found.scaled(2.0).weight
    for model in (NETWORK, NOISY):
        try:
            jt.estimate(model, found)
        except JunctureError:
            continue  # a sentence


def use_family_statistics(found: Any, path: Path) -> None:
    assert jt.families.statistics_from_json(found.to_json()) == found
    assert ((found + found).weight == found.scaled(2.0).weight).all()
    try:
        found.family.estimate(found)
    except JunctureError:
        return  # a sentence


def use_discretizer(found: Any, path: Path) -> None:
    assert jt.results.FittedDiscretizer.from_json(found.to_json()) == found
    found.transform({name: [0.0, None] for name in found.cuts})


def use_evidence(evidence: Any, path: Path) -> None:
    write_evidence(evidence, ASIA, path)
    assert read_evidence(path, ASIA) == evidence


def use_result(result: Any, path: Path) -> None:
    write_result(result, path)
    assert read_result(path) == result


def saved_counts_bytes() -> list[bytes]:
    """Counts of an interrupted run, and those of a run that counted nothing yet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        found = []
        for saved in (SavedCounts([]), SavedCounts([]).plus(NETWORK_STATISTICS[0])):
            saved.save(str(path))
            found.append(path.read_bytes())
        return found


def read_saved_counts(path: Path) -> Any:
    """A file that is not there means a fresh run, which is not reading."""
    if not path.exists():
        raise FileNotFoundError(path)
    return SavedCounts.load(str(path), [])


def use_saved_counts(saved: Any, path: Path) -> None:
    saved.save(str(path))
    assert SavedCounts.load(str(path), []) == saved


def saved_steps_bytes() -> list[bytes]:
    """The model after some steps of EM."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.json"
        SavedModel([], {}, 2, ASIA).save(str(path))
        return [path.read_bytes()]


def read_saved_steps(path: Path) -> Any:
    if not path.exists():
        raise FileNotFoundError(path)
    return SavedModel([], {}).load(str(path))


def use_saved_steps(saved: Any, path: Path) -> None:
    if saved.model is not None:
        saved.save(str(path))
        assert SavedModel([], {}).load(str(path)) == saved


ROWS = (FormatError, InvalidData)
READERS = {
    "saved steps": Reader("cli.fitted_blocks", ".json", saved_steps_bytes(), read_saved_steps, use_saved_steps, ROWS),
    "saved counts": Reader(
        "learning.networks.saved_counts", ".json", saved_counts_bytes(), read_saved_counts, use_saved_counts, ROWS
    ),
    "csv": Reader("data.files.csv_text", ".csv", CSV, read_csv, use_rows, ROWS),
    "csv by arrow": Reader("data.files.csv_arrow", ".csv", CSV, read_by_arrow, use_rows, ROWS),
    "packed csv": Reader(
        "data.files.csv_text", ".csv.gz", [gzip.compress(data, mtime=0) for data in CSV], jt.Dataset, use_rows, ROWS
    ),
    "parquet": Reader(
        "data.files.parquet",
        ".parquet",
        [parquet_bytes(TABLE, **how) for how in PARQUET_OPTIONS],
        jt.Dataset,
        use_rows,
        ROWS,
    ),
    "csv in blocks": Reader("data.sources.csv", ".csv", CSV, read_blocks, use_rows, ROWS),
    "parquet in blocks": Reader(
        "data.files.parquet",
        ".parquet",
        [parquet_bytes(TABLE, **how) for how in PARQUET_OPTIONS],
        read_blocks,
        use_rows,
        ROWS,
    ),
    "pattern": Reader("data.files.csv_text", ".csv", CSV, read_pattern, use_rows, ROWS),
    "network statistics": Reader(
        "learning.networks.statistics",
        ".json",
        [found.to_json().encode() for found in NETWORK_STATISTICS],
        lambda path: jt.results.NetworkStatistics.from_json(text_in(path)),
        use_network_statistics,
        is_text=True,
    ),
    "family statistics": Reader(
        "families.statistics_document",
        ".json",
        [member.statistics(member.sample(5, rng=0)).to_json().encode() for member in MEMBERS],
        lambda path: jt.families.statistics_from_json(text_in(path)),
        use_family_statistics,
        is_text=True,
    ),
    "discretizer": Reader(
        "data.discretization",
        ".json",
        [
            b'{"cuts": {"age": [29.5], "size": []}, "whole": ["x"]}',
            '{"cuts": {"ä b": [-1e300, 0, 5e-324, 1.5, 2]}}'.encode(),
        ],
        lambda path: jt.results.FittedDiscretizer.from_json(text_in(path)),
        use_discretizer,
        is_text=True,
    ),
    "evidence": Reader(
        "formats.uai_evidence",
        ".evid",
        [b"2 0 1 7 0", b"3\n1 0 1\n0\n2 3 0 4 1\n", b"1\n1 2 0\n"],
        lambda path: read_evidence(path, ASIA),
        use_evidence,
    ),
    "result": Reader(
        "formats.uai_results",
        ".MAR",
        [b"MAR\n2 2 0.1 0.9 3 0.5 0.5 0", b"PR\n-2.5", b"MPE\n-BEGIN-\n1\n3 0 1 1"],
        read_result,
        use_result,
    ),
}


def check_reader(reader: Reader, path: Path) -> JunctureError | None:
    """The refusal of a file; or None, after what was read has proved usable. Anything else is a fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jt.errors.ColumnKindWarning)
        warnings.simplefilter("ignore", jt.errors.TextColumnWarning)  # whose texts are what the mutation made of them
        try:
            found = reader.read(path)
        except reader.refusals as error:
            return error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what an estimate warns of is no fault of the reader
        reader.use(found, path)
    return None
