"""Adaptive importance sampling, as in AIS-BN: the tables of a proposal learn from the weights of their own draws.

In each stage q ← (1 - η) q + η q̂, where q̂ are the weighted counts of the stage's draws, with the table itself as
some pseudo-counts; η falls from 0.4 to 0.14. The draws of the answer come after all stages, so that their weights are
those of a fixed proposal, without bias (Cheng and Druzdzel 2000).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juncture.inference.sampling.importance_weights import effective_sample_size
from juncture.inference.sampling.proposals.tables import TableProposal
from juncture.inference.sampling.table_draws import Batch
from juncture.inference.sampling.weighted_run import BLOCK, Streams

STAGES = 10
DRAWS_OF_STAGE = 2 * BLOCK
FIRST_RATE, LAST_RATE = 0.4, 0.14
PSEUDO_COUNT = 10.0  # effective draws that the old table counts as, in each state of the nodes before
LEARNING = 2**31  # the key of generators for stages, apart from those of blocks of draws


def adapt(proposal: TableProposal, streams: Streams, row: int) -> TableProposal:
    """The proposal after all stages."""
    for stage in range(STAGES):
        batch = proposal.source().draw(DRAWS_OF_STAGE, streams.generator(row, LEARNING, stage))
        rate = FIRST_RATE * (LAST_RATE / FIRST_RATE) ** (stage / (STAGES - 1))
        if np.isneginf(batch.log_weights).all():
            return proposal
        proposal = replace(proposal, tables=learn_tables(proposal, batch, rate))
    return proposal


def learn_tables(proposal: TableProposal, batch: Batch, rate: float) -> dict[int, np.ndarray]:
    """The tables moved towards the weighted counts."""
    weights = np.exp(batch.log_weights - batch.log_weights.max())
    weights *= effective_sample_size(batch.log_weights) / weights.sum()  # so that they sum to what they count as
    tables = {}
    for node, table in proposal.tables.items():
        cells = np.ravel_multi_index(tuple(batch.codes[list(proposal.scopes[node])]), table.shape)
        counts = np.bincount(cells, weights, minlength=table.size).reshape(table.shape) + PSEUDO_COUNT * table
        tables[node] = (1.0 - rate) * table + rate * counts / counts.sum(axis=-1, keepdims=True)
    return tables
