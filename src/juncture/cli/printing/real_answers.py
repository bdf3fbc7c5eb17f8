"""Answers about real-valued variables on the command line: mean, standard deviation and an interval."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.data.dataset import Dataset
from juncture.inference.engines.beliefs import Beliefs
from juncture.inference.predictions import LEVELS
from juncture.variables import Variable


def numbers_of(marginal: Any) -> dict[str, float]:
    """What is printed of the marginal of one row."""
    ends = {level: float(marginal.quantile(share)) for level, share in LEVELS.items()}
    return {"mean": float(marginal.mean), "standard deviation": float(np.sqrt(marginal.variance)), **ends}


def numbers_document(predicted: Dataset, variable: Variable, beliefs: Beliefs) -> dict[str, Any]:
    """The prediction of a number in each row, None where a row is impossible."""
    columns = [[None if np.isnan(x) else x for x in column.tolist()] for column in predicted.columns.values()]
    return {
        "target": variable.name,
        "method": beliefs.method,
        "exact": beliefs.exact,
        **dict(zip(("predicted", "standard deviation", *LEVELS), columns, strict=True)),
        "impossible": list(beliefs.impossible),
    }
