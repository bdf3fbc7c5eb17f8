"""Emissions as plain data: their kind and their fields, with other emissions and families inside."""

from __future__ import annotations

import numpy as np

from juncture.base.documents.codec import (
    TABLE,
    Pair,
    Record,
    Union,
    encode_table,
    left_out,
    list_of,
    one_of,
    under,
)
from juncture.base.documents.node import Node
from juncture.components.bernoulli import BernoulliEmissions
from juncture.components.categorical import CategoricalEmissions
from juncture.components.family import FamilyEmissions, StudentEmissions
from juncture.components.gaussian import STRUCTURES, GaussianEmissions
from juncture.components.grouped import GroupedEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import MixtureEmissions
from juncture.components.precomputed import PrecomputedLogLikelihoods
from juncture.components.repeated import RepeatedEmissions
from juncture.components.shared import SharedEmissions
from juncture.components.word_counts import DirichletCounts, MultinomialCounts
from juncture.data.document import states_of
from juncture.errors import FormatError
from juncture.families.document import FAMILY

MAX_COLUMNS = 2**20  # of a table


def read_indices(node: Node) -> np.ndarray:
    """A list of whole numbers."""
    indices = node.codes()
    if indices.ndim != 1:
        raise node.kind_error("a list of whole numbers")
    return indices


def encode_num_columns(num_columns: int) -> int:
    if num_columns > MAX_COLUMNS:
        raise FormatError(f"JSON holds at most {MAX_COLUMNS:,} tied columns; this model has {num_columns:,}")
    return num_columns


INDICES = Pair(encode_table, read_indices)
NUM_COLUMNS = Pair(encode_num_columns, lambda node: node.check_size(node.integer(), "columns", MAX_COLUMNS))
EMISSIONS = Union("JSON cannot hold {kind}: this kind of emissions is none of {kinds}")
EMISSIONS.add(
    Record(CategoricalEmissions, "symbols", "probabilities", symbols=left_out(states_of("symbol"))),
    Record(BernoulliEmissions),
    Record(GaussianEmissions, "structure", "mean", "covariance", structure=one_of(STRUCTURES)),
    Record(FamilyEmissions, family=FAMILY),
    Record(StudentEmissions, family=FAMILY),
    Record(MultinomialCounts, table=under("probabilities", TABLE)),
    Record(DirichletCounts, table=under("concentration", TABLE)),
    Record(RepeatedEmissions, column=EMISSIONS, num_columns=NUM_COLUMNS),
    Record(MixtureEmissions, components=EMISSIONS),
    Record(IndependentEmissions, parts=list_of(EMISSIONS)),
    Record(SharedEmissions, "groups", "distributions", groups=INDICES, distributions=EMISSIONS),
    Record(
        GroupedEmissions,
        "positions",
        "groups",
        positions=under("states", list_of(INDICES)),
        groups=list_of(EMISSIONS),
    ),
    Record(PrecomputedLogLikelihoods),
)
