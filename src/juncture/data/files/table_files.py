"""Tables from files: CSV and Parquet, one of them or many with the same columns."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from juncture.base.checks import check_path
from juncture.data.files.csv_arrow import read_plain
from juncture.data.files.csv_text import Source, read_table
from juncture.data.tables.columns import ColumnParts
from juncture.data.tables.table import Table
from juncture.errors import InvalidData
from juncture.runtime.files import file_not_found

PathLike: TypeAlias = str | os.PathLike[str]
PARQUET = {".parquet", ".pq"}


def read_table_files(*paths: PathLike) -> Table:
    """The rows of all files, each given by its path or, with others, by a pattern ("rows/*.csv")."""
    files = [file for path in paths for file in expand_pattern(path)]
    if len(paths) == len(files) == 1:
        return read_table_file(files[0])
    if len({is_parquet(file) for file in files}) > 1:
        raise InvalidData("files of one table must be of one kind; these are CSV and Parquet")
    return concatenate_tables(files, [read_table_file(file) for file in files])


def expand_pattern(path: PathLike) -> list[PathLike]:
    """The files that a pattern means, sorted; whatever is no pattern means itself."""
    if check_path(path).exists():
        return [path]
    if not glob.has_magic(str(path)):
        raise file_not_found(path)
    files = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (it leaves hidden files out)
    if not files:
        raise InvalidData(f"no file matches the pattern {str(path)!r}")
    return list(files)


def read_table_file(path: PathLike) -> Table:
    if not is_parquet(path):
        return read_csv_table(path)
    from juncture.data.files.parquet import parquet_table

    return parquet_table(path)


def is_parquet(path: PathLike) -> bool:
    return Path(path).suffix.lower() in PARQUET


def read_csv_table(source: Source) -> Table:
    cells, num_rows = read_plain(source) or read_table(source)
    return Table(cells, num_rows, [(str(source), num_rows)] if isinstance(source, str | os.PathLike) else ())


def concatenate_tables(files: Sequence[PathLike], tables: Sequence[Table]) -> Table:
    """One table after the other; the order of the columns is that of the first."""
    for file, table in zip(files, tables, strict=True):
        check_columns(file, set(table.cells), files[0], set(tables[0].cells))
    cells = {name: ColumnParts(table.cells[name] for table in tables) for name in tables[0].cells}
    rows = [(str(file), len(table)) for file, table in zip(files, tables, strict=True)]
    return Table(cells, sum(map(len, tables)), rows)


def check_columns(file: PathLike, names: set[str], first: PathLike, wanted: set[str]) -> None:
    for more, one, other in ((wanted - names, file, first), (names - wanted, first, file)):
        if more:
            raise InvalidData(f"all files must have the same columns; {one} lacks {min(more)!r}, which {other} has")
