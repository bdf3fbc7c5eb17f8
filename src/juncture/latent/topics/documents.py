"""Counts of words as a sparse matrix, (document, word), checked once; and the tokens that they count."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import check_array
from juncture.errors import InvalidData


def as_counts(counts: Any, num_words: int) -> tuple[Any, bool]:
    """Counts as a SciPy matrix in rows (CSR) of float64, and whether they are those of one document."""
    from scipy import sparse

    array = counts if sparse.issparse(counts) else check_array(counts, "the counts")
    is_single = isinstance(array, np.ndarray) and array.ndim == 1
    table = np.atleast_2d(array) if is_single else array
    if table.ndim != 2 or table.shape[1] != num_words:
        raise InvalidData(f"counts are (document, word) with {num_words} words; got the shape {table.shape}")
    matrix = sparse.csr_array(table, dtype=np.float64)
    matrix.sum_duplicates()
    if not (np.isfinite(matrix.data).all() and (matrix.data >= 0).all() and (matrix.data % 1 == 0).all()):
        raise InvalidData("counts of words must be whole numbers from 0; one is not")
    matrix.eliminate_zeros()
    return matrix, is_single


def documents_of(matrix: Any) -> np.ndarray:
    """The document of each entry of a matrix in rows."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def as_tokens(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """The document and the word of each token."""
    times = matrix.data.astype(np.int64)
    return np.repeat(documents_of(matrix), times), np.repeat(matrix.indices.astype(np.int64), times)
