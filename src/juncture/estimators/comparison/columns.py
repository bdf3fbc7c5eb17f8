"""Columns as learners take them: a table with its texts and holes, or scaled numbers; both are fitted inside a fold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from juncture.estimators.comparison.task import PredictionTask

MAX_CATEGORIES = 20  # of a column of text; rarer ones are one category


class NamedColumns(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The columns by name, with texts in place of codes.

    Columns without a value in the training rows are left out; a text that no training row has is a missing cell.
    """

    def __init__(self, texts: tuple[tuple[str, ...] | None, ...]) -> None:
        self.texts = texts

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        self.kept_ = np.flatnonzero(~np.isnan(X).all(axis=0)).tolist()
        self.seen_ = [np.unique(column[~np.isnan(column)]) for column in X.T]
        return self

    def transform(self, X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"x{place}": self._decode(X[:, place], place) for place in self.kept_}

    def _decode(self, column: np.ndarray, place: int) -> np.ndarray:
        """Numbers as they are; texts by their codes, None for holes."""
        texts = self.texts[place]
        if texts is None:
            return column
        codes = np.where(np.isin(column, self.seen_[place]), column, len(texts)).astype(int)
        return np.array([*texts, None], dtype=object)[codes]


def as_table(task: PredictionTask, learner: Any) -> Pipeline:
    """A learner that takes texts and missing cells itself."""
    return make_pipeline(NamedColumns(task.texts), learner)


def as_numbers(task: PredictionTask, learner: Any, drop: str | None = None) -> Pipeline:
    """A learner of complete numbers: medians for holes, which are marked, then scales; a column for each text."""
    numbers = [place for place, texts in enumerate(task.texts) if texts is None]
    texts = [place for place, texts in enumerate(task.texts) if texts is not None]
    impute = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    encode = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MAX_CATEGORIES, drop=drop, sparse_output=False
    )
    parts = [("numbers", make_pipeline(impute, StandardScaler()), numbers), ("texts", encode, texts)]
    return make_pipeline(ColumnTransformer([part for part in parts if part[2]]), learner)


def as_contrasts(task: PredictionTask, learner: Any) -> Pipeline:
    """As `as_numbers`, without the first text of each column, so that the columns do not add up to a constant."""
    return as_numbers(task, learner, drop="first")
