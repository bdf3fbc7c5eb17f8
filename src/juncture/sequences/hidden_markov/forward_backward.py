"""The forward and the backward pass over sequences: filtering, smoothing, log-evidence.

Chunks of short sequences run on all cores; a long sequence is passed from both its ends at once. Chunks depend on
lengths only, so answers do not change with the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TypeVar

import numpy as np

from juncture.data.sequences import Sequences
from juncture.kernels.chains.bounded_passes import is_loss_negligible, pass_bounded, pass_bounded_sequences
from juncture.kernels.chains.encoded_numbers import DECISIVE_SUM, log_sum_of_products
from juncture.kernels.chains.forward_backward import DISCARD, pass_block, pass_sequences
from juncture.kernels.chains.steps import COMBINE, STORE
from juncture.runtime import parallel
from juncture.runtime.parallel import BLOCK
from juncture.sequences.hidden_markov.chain import Chain, Form, LikelihoodBlocks, likelihoods

LONG = 4 * BLOCK  # numbers: from here on a sequence is passed from both ends

Result = TypeVar("Result")
NOTHING = np.empty((0, 0))


def is_long(chain: Chain, part: Sequences) -> bool:
    return part.num == 1 and part.num_steps * chain.num_states > LONG


def map_parts(function: Callable[[slice], Result], chain: Chain, sequences: Sequences) -> list[Result]:
    """`function` of each chunk of sequences, in order: chunks of short ones on all cores, long ones one by one."""
    parts = cut_parts(sequences.offsets, chain.num_states)
    if len(parts) == 1:
        return [function(parts[0])]
    is_alone = [is_long(chain, sequences.take(part)) for part in parts]
    short = [position for position, alone in enumerate(is_alone) if not alone]
    answers = parallel.map(lambda position: function(parts[position]), short)
    results = dict(zip(short, answers, strict=True))
    return [results[position] if position in results else function(part) for position, part in enumerate(parts)]


def cut_parts(offsets: np.ndarray, num_states: int) -> list[slice]:
    """Sequences in a row that make some BLOCK of numbers together; long ones alone."""
    if len(offsets) < 2:
        return []
    numbers = offsets * num_states
    alone = np.diff(numbers) > LONG
    block = numbers[:-1] // BLOCK
    starts = (np.diff(block) > 0) | alone[1:] | alone[:-1]
    edges = [0, *(np.flatnonzero(starts) + 1).tolist(), len(alone)]
    return [slice(first, last) for first, last in pairwise(edges)]


def score(chain: Chain, part: Sequences) -> np.ndarray:
    """The log-evidence of each sequence: (sequence,)."""
    return run_passes(chain, part, NOTHING, DISCARD, NOTHING)


def smooth(chain: Chain, part: Sequences, lattice: np.ndarray, pairs: np.ndarray = NOTHING) -> np.ndarray:
    """The log-evidence of each sequence; fills `lattice` (step, state) with posteriors, NaN in impossible sequences.

    `pairs`, unless empty, has the expected number of transitions added, each sequence by its weight.
    """
    return run_passes(chain, part, lattice, COMBINE, pairs)


def run_passes(
    chain: Chain, part: Sequences, lattice: np.ndarray, use: int, pairs: np.ndarray, form: Form | None = None
) -> np.ndarray:
    form = chain.form if form is None else form
    along = pass_long if is_long(chain, part) else pass_short
    log_evidence = along(chain, part, lattice, use, pairs, form)
    for run in find_runs(np.isnan(log_evidence)):
        own = lattice if use == DISCARD else lattice[part.offsets[run.start] : part.offsets[run.stop]]
        if form is Form.EXACT:
            log_evidence[run] = -np.inf
            own[:] = np.nan
        else:  # plain numbers may have lost what matters
            log_evidence[run] = run_passes(chain, part.take(run), own, use, pairs, Form.EXACT)
    return log_evidence


def find_runs(is_true: np.ndarray) -> list[slice]:
    """The longest slices in which all entries are true."""
    edges = np.flatnonzero(np.diff(is_true, prepend=False, append=False)).tolist()
    return [slice(start, stop) for start, stop in zip(edges[::2], edges[1::2], strict=True)]


def pass_short(
    chain: Chain, part: Sequences, lattice: np.ndarray, use: int, pairs: np.ndarray, form: Form
) -> np.ndarray:
    """A forward and then a backward pass over each sequence."""
    found = likelihoods(chain.emissions, part.observations, part.states, form)
    log_evidence, moves = np.empty(part.num), np.zeros_like(pairs)
    given = (
        *found, part.offsets.copy(), chain.initial, lattice, use, moves, part.weights * chain.pair_scale, log_evidence
    )  # fmt: skip
    if form is Form.BOUNDED:
        pass_bounded_sequences(chain.bounded_forward, chain.bounded_backward, *given)
    else:
        pass_sequences(chain.forward, chain.backward, form is Form.EXACT, *given)
    if len(pairs):
        pairs += moves.T * chain.transition / chain.pair_scale
    return log_evidence


def pass_long(
    chain: Chain, part: Sequences, lattice: np.ndarray, use: int, pairs: np.ndarray, form: Form
) -> np.ndarray:
    """The two passes start from both ends at once; in the middle each goes on through the lattice of the other."""
    blocks = LikelihoodBlocks(chain, part, form)
    middle = len(blocks) // 2
    first, second = range(middle), range(len(blocks) - 1, middle - 1, -1)
    forward, backward = (DirectedPass(chain, blocks, is_reverse=reverse) for reverse in (False, True))
    start = min(use, STORE)
    run_both(lambda: forward.run(first, lattice, start), lambda: backward.run(second, lattice, start))
    if forward.failed >= 0 or backward.failed >= 0:
        return np.array([np.nan])
    log_met = log_sum_of_products(forward.message, backward.previous[None], 0)
    if log_met == -np.inf or not do_meet(forward, backward):
        return np.array([np.nan])
    log_evidence = np.array([forward.log_scale + backward.log_scale + log_met])
    if use == COMBINE:
        backward.previous[:] = 0.0  # the forward pass counts the pair in the middle
        weight = float(part.weights[0]) * chain.pair_scale
        moves, reverse_moves = np.zeros_like(pairs), np.zeros_like(pairs)
        run_both(
            lambda: forward.run(reversed(second), lattice, COMBINE, moves, weight),
            lambda: backward.run(reversed(first), lattice, COMBINE, reverse_moves, weight),
        )
        if forward.failed >= 0 or backward.failed >= 0 or not backward.is_start_kept():
            return np.array([np.nan])
        if len(pairs):
            pairs += (moves + reverse_moves.T) * chain.transition / chain.pair_scale
    return log_evidence


def do_meet(forward: DirectedPass, backward: DirectedPass) -> bool:
    """Whether the passes, where they meet in the middle, have lost almost nothing of the evidence."""
    if not (forward.lost.any() or backward.lost.any()):
        return True
    return is_loss_negligible(forward.message, backward.previous, backward.lost[1]) and is_loss_negligible(
        backward.previous + backward.lost[1], forward.message, forward.lost[0]
    )


def run_both(*passes: Callable[[], None]) -> None:
    parallel.map(lambda run: run(), passes)


class DirectedPass:
    """A forward or a backward pass over one sequence: its message after the steps that it has passed."""

    def __init__(self, chain: Chain, blocks: LikelihoodBlocks, *, is_reverse: bool) -> None:
        self.chain, self.blocks, self.is_reverse = chain, blocks, is_reverse
        self.message = np.ones(chain.num_states) if is_reverse else chain.initial.copy()
        self.previous = np.zeros(chain.num_states)
        self.lost = np.zeros((2, chain.num_states))  # at most, of `message` and `previous`
        self.log_scale, self.failed = 0.0, -1

    def run(
        self, positions: Iterable[int], lattice: np.ndarray, use: int, pairs: np.ndarray = NOTHING, weight: float = 1.0
    ) -> None:
        """Pass over these blocks; stop at the step `failed` where no mass is left."""
        for position in positions:
            steps = self.blocks.steps[position]
            log_scale, failed = self.run_block(position, lattice[steps], use, pairs, weight)
            self.log_scale += log_scale
            if failed >= 0:
                self.failed = steps.start + failed
                return

    def run_block(
        self, position: int, lattice: np.ndarray, use: int, pairs: np.ndarray, weight: float
    ) -> tuple[float, int]:
        """Pass over one block; (sum of log-totals, the step at which no mass was left, or -1)."""
        chain, found = self.chain, self.blocks[position]
        if self.blocks.form is Form.BOUNDED:
            bounded = chain.bounded_backward if self.is_reverse else chain.bounded_forward
            return pass_bounded(
                bounded, *found, self.is_reverse, self.message, self.previous, self.lost, lattice, use, pairs, weight
            )
        transition, is_exact = chain.backward if self.is_reverse else chain.forward, self.blocks.form is Form.EXACT
        return pass_block(
            transition, is_exact, *found, self.is_reverse, self.message, self.previous, lattice, use, pairs, weight
        )

    def run_all(self, lattice: np.ndarray, use: int) -> None:
        """Pass over all blocks."""
        positions = range(len(self.blocks))
        self.run(reversed(positions) if self.is_reverse else positions, lattice, use)

    def is_start_kept(self) -> bool:
        """Whether the states in which a sequence may begin have lost almost nothing on the way back to the start."""
        return not self.lost.any() or is_loss_negligible(self.chain.initial, self.previous, self.lost[1])


def run_pass(
    chain: Chain, sequence: Sequences, *, is_reverse: bool = False, use: int = STORE, form: Form | None = None
) -> tuple[DirectedPass, np.ndarray]:
    """A pass over one sequence, and its lattice in the numbers of `kernels.chains.encoded_numbers`.

    `form` says which numbers to try first; without it, no number vanishes in the lattice of a chain with zeros.
    """
    lattice = NOTHING if use == DISCARD else np.empty((sequence.num_steps, chain.num_states))
    form = form or (Form.EXACT if chain.is_exact else Form.SCALED)
    one_pass = run_pass_in_form(form, chain, sequence, is_reverse, lattice, use)
    if form is not Form.EXACT and (one_pass.failed >= 0 or is_start_lost(chain, lattice, is_reverse)):
        one_pass = run_pass_in_form(Form.EXACT, chain, sequence, is_reverse, lattice, use)
    return one_pass, lattice


def run_pass_in_form(
    form: Form, chain: Chain, sequence: Sequences, is_reverse: bool, lattice: np.ndarray, use: int
) -> DirectedPass:
    one_pass = DirectedPass(chain, LikelihoodBlocks(chain, sequence, form), is_reverse=is_reverse)
    one_pass.run_all(lattice, use)
    return one_pass


def is_start_lost(chain: Chain, lattice: np.ndarray, is_reverse: bool) -> bool:
    """Whether a backward pass in plain numbers has lost all states in which the sequence may begin."""
    return is_reverse and len(lattice) > 0 and not chain.initial @ lattice[0] > DECISIVE_SUM
