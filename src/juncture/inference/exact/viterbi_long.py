"""The best path of one long sequence: scored from both ends at once, then read from the middle on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juncture.cores import on_cores
from juncture.data.sequences import Sequences
from juncture.inference.exact.chain_likelihoods import Form, LikelihoodBlocks
from juncture.inference.exact.chain_model import Chain
from juncture.kernels.viterbi import best_score, score_steps, trace


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
    log_joint = ahead.log_scale + back.log_scale + best_score(ahead.scores, lattice, edge)
    if log_joint > -np.inf and not read_from(edge, chain, ahead.scores, lattice, path):
        back.go(places[:middle][::-1], lattice)
        trace(chain.log_initial, chain.log_transition, lattice, False, path)
    return float(log_joint)


def read_from(edge: int, chain: Chain, log_start: np.ndarray, lattice: np.ndarray, path: np.ndarray) -> bool:
    """Read the best path from a step in both directions; False where an earlier step has another choice as good.

    Then the first of equally good paths can only be read from the start.
    """
    later, log_transition = slice(edge, edge + 1), chain.log_transition
    if not trace(log_start, log_transition, lattice[later], False, path[later]):
        return False
    before, after = slice(0, edge), slice(edge, len(path))
    reads = [
        (chain.log_back[path[edge]], chain.log_back, lattice[before], True, path[before]),
        (log_start, log_transition, lattice[after], False, path[after]),
    ]
    return bool(on_cores(lambda read: trace(*read), reads)[0])


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
