"""Many sequences on all cores: short ones in chunks, long ones one by one.

Chunks depend on lengths only, so answers do not change with the number of cores.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeVar

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.parallel import BLOCK, on_cores
from juncture.sequences.hidden_markov.chain import Chain

LONG = 4 * BLOCK  # numbers: from here on a sequence is walked from both ends

Result = TypeVar("Result")


def is_long(chain: Chain, part: Sequences) -> bool:
    return part.num == 1 and part.num_steps * chain.num_states > LONG


def over_parts(function: Callable[[slice], Result], chain: Chain, sequences: Sequences) -> list[Result]:
    """`function` of each chunk of sequences, in order: chunks of short ones on all cores, long ones one by one."""
    parts = cut_parts(sequences.offsets, chain.num_states)
    is_alone = [is_long(chain, sequences.take(part)) for part in parts]
    short = [place for place, alone in enumerate(is_alone) if not alone]
    answers = on_cores(lambda place: function(parts[place]), short)
    results = dict(zip(short, answers, strict=True))
    return [results[place] if place in results else function(part) for place, part in enumerate(parts)]


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
