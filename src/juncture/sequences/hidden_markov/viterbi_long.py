"""The best path of one long sequence: scored from both ends at once, then read from the middle on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.kernels.chains.path_reading import TIE, read_ahead, read_back
from juncture.kernels.chains.viterbi import score_steps
from juncture.parallel import on_cores
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.likelihoods import Form, LikelihoodBlocks


def decode_long(chain: Chain, sequence: Sequences, path: np.ndarray) -> float:
    """The log-weight of the best path, which is filled in; -inf if none is possible."""
    blocks = LikelihoodBlocks(chain, sequence, Form.LOG)
    lattice = np.empty((sequence.num_steps, chain.num_states))
    places, middle = range(len(blocks)), len(blocks) // 2
    ahead, back = Scorer(chain, blocks, is_reverse=False), Scorer(chain, blocks, is_reverse=True)
    walks = (ahead, places[:middle]), (back, places[middle:][::-1])
    on_cores(lambda walk: walk[0].go(walk[1], lattice), walks)
    if ahead.log_scale + back.log_scale == -np.inf:
        return -np.inf
    edge = blocks.steps[middle].start
    lattice[edge] += ahead.scores  # now of whole paths
    log_joint = ahead.log_scale + back.log_scale + lattice[edge].max()
    if log_joint > -np.inf:
        read_from(edge, chain, lattice, path)
    return float(log_joint)


def read_from(edge: int, chain: Chain, lattice: np.ndarray, path: np.ndarray) -> None:
    """Read the best path from a step on in both directions."""
    best = np.flatnonzero(lattice[edge] >= lattice[edge].max() - TIE)

    def read_first_half(_: int) -> None:
        read_back(chain.log_back, lattice[: edge + 1], path[: edge + 1])

    def read_second_half(state: int) -> None:
        read_ahead(chain.log_transition[state], chain.log_transition, lattice[edge + 1 :], path[edge + 1 :])

    if len(best) == 1:
        on_cores(lambda read: read(best[0]), [read_first_half, read_second_half])
    else:  # which one is the first, is told by the first half
        read_first_half(edge)
        read_second_half(path[edge])


class Scorer:
    """Where the scores from one end of a sequence have come to."""

    def __init__(self, chain: Chain, blocks: LikelihoodBlocks, *, is_reverse: bool) -> None:
        self.blocks, self.is_reverse = blocks, is_reverse
        self.log_matrix = chain.log_back if is_reverse else chain.log_transition
        self.scores = np.zeros(chain.num_states) if is_reverse else chain.log_initial.copy()
        self.log_scale = 0.0

    def go(self, places: Iterable[int], lattice: np.ndarray) -> None:
        """Score these blocks, as long as a path is left."""
        for place in places:
            if self.log_scale > -np.inf:
                own = lattice[self.blocks.steps[place]]
                found = self.blocks[place]
                self.log_scale += score_steps(self.log_matrix, *found, self.is_reverse, self.scores, own)
