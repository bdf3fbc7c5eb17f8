"""The density of a conjugate prior at the parameters of a distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families.conjugacy.pairs import find_pair
from juncture.families.family import Family


def log_prior_of(prior: Any, family: Family) -> np.ndarray:
    """log p(parameters) of each member of the batch under the conjugate prior."""
    pair = find_pair(type(prior), type(family), family._known())
    names = [name.strip() for name in pair.parameter.split(" and ")]
    values = [value_of(family, name) for name in names]
    return np.asarray(prior.log_prob(values[0] if len(values) == 1 else tuple(values)))


def value_of(family: Family, name: str) -> Any:
    return 1 / np.asarray(family.variance) if name == "precision" else getattr(family, name)
