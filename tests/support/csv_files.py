"""Datasets from CSV files, with the variables that code them."""

from __future__ import annotations

from juncture.data.dataset import Dataset, without_row_names
from juncture.data.files.table_files import read_csv_table


def read_csv(source, variables=None, *, extra="error") -> Dataset:
    """The rows of a CSV file, coded by `variables`."""
    return Dataset(without_row_names(read_csv_table(source), ()), variables, extra=extra)
