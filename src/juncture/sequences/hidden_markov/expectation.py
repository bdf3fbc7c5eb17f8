"""`expected`: the statistics of hidden Markov models, summed over paths and sequences; the E step of Baum-Welch.

One pass over chunks of sequences on all cores; only the lattices of the chunks at hand are in memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from juncture.components.contract import Emissions, EmissionStatistics
from juncture.data.sequences.sequences import Sequences
from juncture.parallel import block_rows, over_blocks
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import smooth
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.parts import is_long, over_parts


@dataclass(frozen=True, eq=False)
class ChainExpectation:
    """Expected counts given all observations and labels, each sequence counted by its weight.

    A sequence that is impossible has log_evidence -inf and adds nothing.
    """

    log_evidence: np.ndarray  # (sequence,)
    initial: np.ndarray  # (state,): how often a sequence starts there
    transitions: np.ndarray  # (from, to)
    emissions: EmissionStatistics


def expected(model: HiddenMarkovModel, sequences: Sequences) -> ChainExpectation:
    """Expected starts, transitions and emissions of all sequences."""
    chain = Chain.of(model)
    parts = over_parts(lambda part: expected_of_part(chain, sequences.take(part)), chain, sequences)
    if not parts:
        parts = [expected_of_part(chain, sequences)]
    return ChainExpectation(
        np.concatenate([part.log_evidence for part in parts]),
        np.sum([part.initial for part in parts], axis=0),
        np.sum([part.transitions for part in parts], axis=0),
        reduce(add, [part.emissions for part in parts]),
    )


def expected_of_part(chain: Chain, part: Sequences) -> ChainExpectation:
    """The same of one chunk."""
    lattice = np.empty((part.num_steps, chain.num_states))
    transitions = np.zeros((chain.num_states, chain.num_states))
    log_evidence = smooth(chain, part, lattice, transitions)
    for place in np.flatnonzero(np.isneginf(log_evidence)):
        lattice[part.steps(int(place))] = 0.0
    if (part.weights != 1).any():
        lattice *= np.repeat(part.weights, part.lengths)[:, None]
    initial = lattice[part.offsets[:-1][part.lengths > 0]].sum(axis=0)
    size = block_rows(lattice.shape[1:], part.observations.shape[1:]) if is_long(chain, part) else len(lattice)
    statistics = emission_statistics(chain.emissions, part.observations, lattice, size)
    return ChainExpectation(log_evidence, initial, transitions, statistics)


def emission_statistics(emissions: Emissions, rows: np.ndarray, weights: np.ndarray, size: int) -> EmissionStatistics:
    """Statistics of weighted rows, in blocks of this size on all cores."""
    if not len(rows):
        return emissions.statistics(rows, weights)
    parts = over_blocks(lambda block: emissions.statistics(rows[block], weights[block]), len(rows), size)
    return reduce(add, parts)
