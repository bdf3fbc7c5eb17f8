"""`most_probable` of hidden Markov models: the Viterbi algorithm, and the k best paths.

Costs num_steps · num_states² operations and one lattice (step, state) of memory, k times that for k paths. References:
A. J. Viterbi, Error bounds for convolutional codes and an asymptotically optimum decoding algorithm, 1967; N. Seshadri
and C.-E. W. Sundberg, List Viterbi decoding algorithms with applications, 1994.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from juncture.checks import check_count, check_flag
from juncture.data.sequences.sequences import Sequences
from juncture.data.tables.labels import labelled
from juncture.kernels.chains.best_paths import best_paths
from juncture.kernels.chains.viterbi import decode_each, log_weight
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import score
from juncture.sequences.hidden_markov.infer import refuse_impossible
from juncture.sequences.hidden_markov.likelihoods import Form, likelihoods
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.parts import is_long, over_parts
from juncture.sequences.hidden_markov.trellis import Trellis
from juncture.sequences.hidden_markov.viterbi_long import decode_long


@dataclass(frozen=True, eq=False, repr=False)
class MostProbablePath:
    """A path of states, and the log of its joint probability with the observations.

    Of an impossible sequence among others the codes are -1, log_joint is -inf and log_prob NaN.
    """

    model: HiddenMarkovModel
    sequences: Sequences
    place: int  # which of them
    codes: np.ndarray  # (step,)
    log_joint: float

    @cached_property
    def sequence(self) -> Sequences:
        """What was observed."""
        return self.sequences.take(slice(self.place, self.place + 1))

    @property
    def path(self) -> np.ndarray:
        """The states by their labels: (step,)."""
        return labelled(self.model.states, self.codes)

    @cached_property
    def log_prob(self) -> float:
        """log p(path | observations)."""
        if self.log_joint == -np.inf:
            return float("nan")
        return self.log_joint - float(score(Chain.of(self.model), self.sequence)[0])

    @cached_property
    def trellis(self) -> Trellis:
        """The best way to each state at each step, and this path among them."""
        return Trellis.of(self.model, self.sequence, self.codes)

    def __repr__(self) -> str:
        shown = np.array2string(self.path, threshold=12, edgeitems=4, separator=", ")
        return f"MostProbablePath({shown}; log_joint={self.log_joint:.6g})"


def most_probable_path(
    model: HiddenMarkovModel,
    evidence: Any,
    *,
    k: int | None = None,
    trellis: bool = False,
    lengths: Any = None,
    on_impossible: str = "warn",
) -> Any:
    """The most probable path of states given a sequence, or a list of them, one for each of many sequences.

    With `k` a list of the k best paths, best first, in place of each; fewer if fewer are possible. Of equally good
    paths the one with the earlier states comes first, the first step counting most. `trellis` works `path.trellis` out
    at once.
    """
    if k is not None:
        check_count(k, "k", least=1)
    sequences, chain = model.sequences(evidence, lengths), Chain.of(model)
    found = np.full(sequences.num_steps, -1), np.full(sequences.num, -np.inf)
    over_parts(lambda part: decode(chain, sequences, part, *found), chain, sequences)
    refuse_impossible(chain, sequences, found[1], on_impossible)
    edges = pairwise(sequences.offsets.tolist())
    paths: list[Any] = [
        MostProbablePath(model, sequences, place, found[0][first:last], own)
        for place, ((first, last), own) in enumerate(zip(edges, found[1].tolist(), strict=True))
    ]
    if check_flag(trellis, "trellis"):
        [path.trellis for path in paths]
    if k is not None:
        paths = [ranked(path, int(k)) for path in paths]
    return paths[0] if sequences.is_single else paths


def decode(chain: Chain, sequences: Sequences, part: slice, codes: np.ndarray, log_joint: np.ndarray) -> None:
    """Fill in the best path of each sequence of a part, and its log-weight."""
    own, path = sequences.take(part), codes[sequences.offsets[part.start] : sequences.offsets[part.stop]]
    if is_long(chain, own):
        log_joint[part] = decode_long(chain, own, path)
        return
    lattice = np.empty((own.num_steps, chain.num_states))
    found = likelihoods(chain.emissions, own.observations, own.states, Form.LOG)
    roads = chain.log_initial, chain.log_transition, chain.log_back
    decode_each(*roads, *found, own.offsets.copy(), lattice, path, log_joint[part])


def ranked(best: MostProbablePath, count: int) -> list[MostProbablePath]:
    """The best paths of one sequence, best first."""
    if best.log_joint == -np.inf or not best.sequence.num_steps:
        return [best][: int(best.log_joint > -np.inf)]
    chain, sequence = Chain.of(best.model), best.sequence
    found = likelihoods(chain.emissions, sequence.observations, sequence.states, Form.LOG)
    nexts = np.empty((sequence.num_steps, chain.num_states * count), np.int64)
    paths = np.empty((count, sequence.num_steps), np.int64)
    num = best_paths(chain.log_initial, chain.log_transition, found.values, found.rows, count, nexts, paths)
    return [
        replace(best, codes=path, log_joint=log_weight(chain.log_initial, chain.log_transition, *found, path))
        for path in paths[:num]
    ]
