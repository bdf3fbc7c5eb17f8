"""What a Dirichlet is a prior for: the probabilities of several states."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import InvalidData
from juncture.families.conjugacy.pair import Pair
from juncture.families.discrete.categorical import Categorical
from juncture.families.statistics.statistics import Known, Statistics
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.families.vectors.dirichlet_multinomial import DirichletMultinomial
from juncture.families.vectors.multinomial import Multinomial


def after_counts(prior: Dirichlet, statistics: Statistics) -> Dirichlet:
    """Dirichlet(α + counts)."""
    concentration = prior._given["concentration"]
    states, counted = concentration.shape[-1], statistics.total.shape[-1]
    if states != counted:
        raise InvalidData(f"this Dirichlet has {states} states, the statistics have {counted}")
    return Dirichlet(concentration + statistics.total)


def total(prior: Dirichlet, known: Known) -> Any:
    return np.asarray(prior.concentration.sum(axis=-1) / known.get("trials", 1.0))


PAIRS = (
    Pair(
        Dirichlet, Categorical, "probabilities", after_counts,
        at=lambda point, known: Categorical(point),
        sample_size=total,
        known=frozenset({"num_states"}), implied=frozenset({"num_states"}), is_usual=True,
        told_predictive=lambda posterior, known: Categorical(posterior.mean),
    ),
    Pair(
        Dirichlet, Multinomial, "probabilities", after_counts,
        at=lambda point, known: Multinomial(known["trials"], point),
        sample_size=total,
        known=frozenset({"trials"}),
        told_predictive=lambda posterior, known: DirichletMultinomial(known["trials"], posterior.concentration),
    ),
)  # fmt: skip
