"""Counts of words as a sparse matrix, (document, word), checked once; and the tokens that they count."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_array
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.data.rows import Rows, as_dataset
from juncture.data.tables.foreign import unwrap_frame
from juncture.errors import InvalidData
from juncture.latent.topics.model import LatentDirichletAllocation


def counts_of(model: LatentDirichletAllocation, given: Any) -> tuple[Any, bool]:
    """Counts as a matrix in rows, and whether they are those of one document; named columns go to their words."""
    rows = Rows.of(given)
    if rows.names is None:
        return as_counts(rows.table, model.num_words)
    return as_counts(Rows.of(rows, tuple(order_columns(model, list(rows.names)))).values, model.num_words)


def order_columns(model: LatentDirichletAllocation, columns: list[str]) -> list[str]:
    """The columns by the words that they are named after; as they come for words that are numbers only."""
    names = word_names(model)
    if set(names) == set(columns):
        return names
    if model.words == tuple(range(model.num_words)):
        return columns
    missing = [name for name in names if name not in set(columns)]
    wrong = f"there is none for {missing[0]!r}" if missing else f"there are {len(columns)} of them"
    raise InvalidData(f"counts have a column for each of the {number_of(len(names), 'word')}; {wrong}")


def word_names(model: LatentDirichletAllocation) -> list[str]:
    """The names of columns of counts: the words as text."""
    return [str(word) for word in model.words]


def name_counts(model: LatentDirichletAllocation, counts: np.ndarray) -> Dataset:
    """Counts (document, word) as a column a word."""
    names = word_names(model)
    if len(set(names)) < len(names):
        raise InvalidData("the columns of counts are named by the words, and two words have the same text")
    return as_dataset(counts, tuple(names))


def as_counts(counts: Any, num_words: int, *, is_whole: bool = True) -> tuple[Any, bool]:
    """Counts as a SciPy matrix in rows (CSR) of float64, and whether they are those of one document."""
    from scipy import sparse

    array = counts if sparse.issparse(counts) else check_array(unwrap_frame(counts), "the counts")
    is_single = isinstance(array, np.ndarray) and array.ndim == 1
    table = np.atleast_2d(array) if is_single else array
    if table.ndim != 2 or table.shape[1] != num_words:
        raise InvalidData(f"counts are (document, word) with {num_words} words; got the shape {table.shape}")
    matrix = sparse.csr_array(table, dtype=np.float64)
    matrix.sum_duplicates()
    check_numbers(matrix, is_whole)
    matrix.eliminate_zeros()
    return matrix, is_single


def check_numbers(matrix: Any, is_whole: bool) -> None:
    """Check that counts are finite and not negative, and whole numbers where they count tokens."""
    found = matrix.data
    wrong = ~(np.isfinite(found) & (found >= 0))
    if is_whole:
        wrong |= found % 1 != 0
    if wrong.any():
        first = int(np.argmax(wrong))
        place = f"document {documents_of(matrix)[first]} has {found[first]:g} of word {matrix.indices[first]}"
        raise InvalidData(f"counts of words must be {'whole' if is_whole else 'finite'} numbers from 0; {place}")


def documents_of(matrix: Any) -> np.ndarray:
    """The document of each entry of a matrix in rows."""
    return np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))


def as_tokens(matrix: Any) -> tuple[np.ndarray, np.ndarray]:
    """The document and the word of each token."""
    times = matrix.data.astype(np.int64)
    return np.repeat(documents_of(matrix), times), np.repeat(matrix.indices.astype(np.int64), times)


def lengths_of(matrix: Any) -> np.ndarray:
    """The number of tokens of each document."""
    return np.asarray(matrix.sum(axis=1)).reshape(-1).astype(np.int64)


def missing_word(topics: np.ndarray, matrix: Any) -> np.ndarray:
    """For each document a word that it has and no topic has; -1 where there is none."""
    never = topics.max(axis=0) == 0
    entries = np.flatnonzero(never[matrix.indices])
    found = np.full(matrix.shape[0], -1)
    found[documents_of(matrix)[entries]] = matrix.indices[entries]
    return found
