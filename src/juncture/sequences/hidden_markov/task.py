"""`SequenceTask`: a hidden Markov model to learn, and all that was asked; what EM takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from juncture.checks import check_iterable
from juncture.data.sequences.sequences import Sequences
from juncture.errors import InvalidData
from juncture.iteration import ProgressCallback
from juncture.sequences.hidden_markov.baum_welch import AcceleratedBaumWelch, BaumWelch, Pass
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.starts import Starts
from juncture.sequences.hidden_markov.statistics import with_weights


@dataclass(frozen=True, eq=False)
class SequenceTask:
    """A hidden Markov model to learn: where to start, and the algorithm from there."""

    starts: Starts
    kind: str
    progress: ProgressCallback | None

    def start(self) -> HiddenMarkovModel:
        return self.starts.make(self.kind)

    def another_start(self) -> HiddenMarkovModel:
        """Other clusters, if clusters are asked for; else at random."""
        return self.starts.make("k-means" if self.kind == "k-means" else "random")

    def algorithm(self, start: HiddenMarkovModel, acceleration: Any = None) -> BaumWelch:
        kind = BaumWelch if acceleration is None else AcceleratedBaumWelch
        return kind(start, self.starts.parts, self.starts.wishes)


def passes(model: HiddenMarkovModel, data: Any, lengths: Any, weights: Any) -> Pass:
    """All sequences, as often as asked for: in one part, or as the parts that a function gives anew each time."""
    if callable(data):
        if lengths is not None or weights is not None:
            raise InvalidData("parts that a function gives carry their own lengths and weights, as jt.Sequence")
        return lambda: filled(
            model.sequences(part) for part in check_iterable(data(), "what the function of the data gives")
        )
    sequences = with_weights(model.sequences(data, lengths), weights)
    return lambda: filled([sequences])


def filled(parts: Any) -> Iterator[Sequences]:
    """The parts that have any step that weighs something; one sentence if there is none."""
    some = False
    for part in parts:
        if (part.lengths[part.weights > 0] > 0).any():
            some = True
            yield part
    if not some:
        raise InvalidData("there is no step to learn from: all sequences are empty, or weigh nothing")
