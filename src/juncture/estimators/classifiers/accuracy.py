"""The share of rows that a classifier predicts rightly."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.checks import check_array
from juncture.data.tables.columns import Column
from juncture.errors import InvalidData
from juncture.estimators.tables import class_labels
from juncture.variables import Variable


def accuracy(column: Column, variable: Variable, predicted: np.ndarray, sample_weight: Any) -> float:
    """The share of rows whose class was predicted, among those that say their class."""
    truth, known = class_labels(column, variable), column.levels.codes >= 0
    if not known.any():
        raise InvalidData(f"no row says its class {variable.name!r}, so there is nothing to compare with")
    if len(predicted) != len(truth):
        raise InvalidData(f"y has {len(truth)} rows, X has {len(predicted)}: they must be as many")
    weights = None if sample_weight is None else check_array(sample_weight, "sample_weight", ndim=1)
    if weights is not None and len(weights) != len(truth):
        raise InvalidData(f"sample_weight has {len(weights)} weights for {len(truth)} rows: they must be as many")
    right = truth[known] == predicted[known]
    return float(np.average(right, weights=None if weights is None else weights[known]))
