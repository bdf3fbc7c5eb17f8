"""`most_probable` of hidden Markov models: the Viterbi algorithm, its trellis, and the k best paths.

Costs num_steps · num_states² operations and one lattice (step, state) of memory, k times that for k paths. References:
A. J. Viterbi, Error bounds for convolutional codes and an asymptotically optimum decoding algorithm, 1967; N. Seshadri
and C.-E. W. Sundberg, List Viterbi decoding algorithms with applications, 1994. The `Trellis` is the table of the
algorithm: the best path to each state at each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_count, check_flag
from juncture.base.methods import register_methods
from juncture.base.values import number_of
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.data.tables.labels import decode_labels
from juncture.drawing.lattice import Cell, Lattice, Link
from juncture.drawing.notebook import diagram_html
from juncture.drawing.shares import ShareDiagram
from juncture.drawing.text import format_steps
from juncture.inference.engines.contract import EXACT, Diagnosed, Diagnostics
from juncture.inference.engines.display import path_shares, states_html
from juncture.inference.engines.ranked import RankedAnswers
from juncture.kernels.chains.viterbi import (
    TIE,
    best_paths,
    decode_each,
    log_weight,
    read_backward,
    read_forward,
    score_steps,
)
from juncture.runtime import parallel
from juncture.sequences.hidden_markov.chain import Chain, Form, LikelihoodBlocks, likelihoods
from juncture.sequences.hidden_markov.forward_backward import is_long, map_parts, score
from juncture.sequences.hidden_markov.infer import ChainOptions, check_possible
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.variables import State

if TYPE_CHECKING:
    from juncture.sequences.conditional_random_field.model import ConditionalRandomField
    from juncture.sequences.markov_chains.model import MarkovChain

MAX_PATHS = 12  # in a picture
SHOWN = 10  # steps at most in a text
MAX_STEPS = 24  # in a notebook
LEGEND = "the most probable path", "the best way to each state, with its log-probability"


def most_probable_path(  # noqa: PLR0913 (one verb, many options)
    model: HiddenMarkovModel,
    evidence: Any,
    *,
    k: int | None = None,
    trellis: bool = False,
    lengths: Any = None,
    group: str | None = None,
    states: str | None = None,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> Any:
    """The most probable path of states given a sequence, or a list of them, one for each of many sequences.

    With `k` a list of the k best paths, best first, in place of each; fewer if fewer are possible. Of equally good
    paths the one with the earlier states comes first, the first step counting most. `trellis` works `path.trellis` out
    at once.
    """
    options = ChainOptions.of(model, "most_probable", method, on_impossible, budget, memory_limit)
    sequences = read_sequences(model, evidence, lengths, group, states).all()
    return decode_sequences(model, model, sequences, options, k, trellis)


def decode_sequences(
    model: HiddenMarkovModel | MarkovChain | ConditionalRandomField,
    hidden: HiddenMarkovModel,
    sequences: Sequences,
    options: ChainOptions,
    k: Any,
    trellis: Any,
) -> Any:
    """The best paths of checked sequences under a model that is the same as a hidden Markov model."""
    if k is not None:
        check_count(k, "k", least=1)
    options.check_cost(sequences, hidden.num_states)
    chain = Chain.of(hidden)
    found = np.full(sequences.num_steps, -1), np.full(sequences.num, -np.inf)
    map_parts(lambda part: decode(chain, sequences, part, *found), chain, sequences)
    check_possible(chain, sequences, found[1], options.on_impossible)
    edges = pairwise(sequences.offsets.tolist())
    paths: list[Any] = [
        MostProbablePath(model, hidden, sequences, index, found[0][first:last], own, options.method)
        for index, ((first, last), own) in enumerate(zip(edges, found[1].tolist(), strict=True))
    ]
    if check_flag(trellis, "trellis"):
        [path.trellis for path in paths]
    if k is not None:
        paths = [rank_paths(path, int(k)) for path in paths]
    return paths[0] if sequences.is_single else paths


@dataclass(frozen=True, eq=False, repr=False)
class MostProbablePath(Diagnosed):
    """A path of states, and the log of its joint probability with the observations.

    For an impossible sequence among others the codes are -1, log_joint is -inf and log_prob is NaN.

    Attributes
    ----------
    model
        The model.
    hidden
        The hidden Markov model that was run.
    sequences, position
        The checked sequences, and the position of this one among them.
    codes
        The positions of the states, (step,); `path` has their labels.
    log_joint
        log p(path, observations).
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and further facts about the run.
    """

    model: (
        HiddenMarkovModel | MarkovChain | ConditionalRandomField
    )  # the model that was asked: a hidden Markov model, or a Markov chain
    hidden: HiddenMarkovModel  # the same as a hidden Markov model
    sequences: Sequences
    position: int  # which of them
    codes: np.ndarray  # (step,)
    log_joint: float
    method: str = "viterbi"
    diagnostics: Diagnostics = EXACT

    @property
    def impossible(self) -> tuple[int, ...]:
        """The index of this sequence among those that were given, if the sequence has probability zero; else ()."""
        return () if self.log_joint > -np.inf else (self.position,)

    @property
    def key(self) -> Any:
        """The key of a sequence in the rows of a table; None of other sequences."""
        return None if self.sequences.keys is None else self.sequences.keys[self.position]

    @cached_property
    def sequence(self) -> Sequences:
        """What was observed."""
        return self.sequences.take(slice(self.position, self.position + 1))

    @property
    def path(self) -> np.ndarray:
        """The states by their labels: (step,)."""
        return decode_labels(self.hidden.states, self.codes)

    @cached_property
    def log_prob(self) -> float:
        """log p(path | observations)."""
        if self.log_joint == -np.inf:
            return float("nan")
        return self.log_joint - float(score(Chain.of(self.hidden), self.sequence)[0])

    @cached_property
    def trellis(self) -> Trellis:
        """The best way to each state at each step, and this path among them."""
        return Trellis.of(self.hidden, self.sequence, self.codes)

    def __repr__(self) -> str:
        shown = np.array2string(self.path, threshold=12, edgeitems=4, separator=", ", max_line_width=1000)
        return f"MostProbablePath({shown}; log_joint={self.log_joint:.6g})"

    def to_diagram(self) -> ShareDiagram:
        """The state of each step, in a lane for each state."""
        return self._diagram_of([self])

    @staticmethod
    def _diagram_of(ranked: Sequence[MostProbablePath]) -> ShareDiagram:
        """The best paths of a sequence, one below the other."""
        titles = [f"path {rank + 1}" for rank in range(len(ranked))] if len(ranked) > 1 else ["state"]
        parts = (
            path_shares(f"{title}, log-probability {path.log_prob:.4g}", path.hidden.states, path.codes)
            for title, path in zip(titles, ranked[:MAX_PATHS], strict=False)
        )
        note = f"the first {MAX_PATHS} of {len(ranked)} paths" if len(ranked) > MAX_PATHS else ""
        return ShareDiagram(tuple(parts), ranked[0].sequence.index, note=note)

    def _repr_html_(self) -> str:
        """Each run of one state, with its steps."""
        words = f"MostProbablePath({number_of(len(self.codes), 'step')}; log_joint={self.log_joint:.6g})"
        if not len(self.codes) or self.impossible:
            return f"<p><code>{words}</code></p>"
        starts = np.flatnonzero(np.diff(self.codes, prepend=-1))
        ends = np.append(starts[1:], len(self.codes)) - 1
        rows = zip(starts.tolist(), ends.tolist(), self.path[starts].tolist(), strict=True)
        return states_html(words, ["from step", "to step", "state"], rows, len(starts), picture=self.to_diagram())


def decode(chain: Chain, sequences: Sequences, part: slice, codes: np.ndarray, log_joint: np.ndarray) -> None:
    """Fill in the best path of each sequence of a part, and its log-weight."""
    own, path = sequences.take(part), codes[sequences.offsets[part.start] : sequences.offsets[part.stop]]
    if is_long(chain, own):
        log_joint[part] = decode_long(chain, own, path)
        return
    lattice = np.empty((own.num_steps, chain.num_states))
    found = likelihoods(chain.emissions, own.observations, own.states, Form.LOG)
    tables = chain.log_initial, chain.log_transition, chain.log_backward
    decode_each(*tables, *found, own.offsets.copy(), lattice, path, log_joint[part])


def decode_long(chain: Chain, sequence: Sequences, path: np.ndarray) -> float:
    """The log-weight of the best path, whose states are filled in; -inf if none is possible."""
    blocks = LikelihoodBlocks(chain, sequence, Form.LOG)
    lattice = np.empty((sequence.num_steps, chain.num_states))
    positions, middle = range(len(blocks)), len(blocks) // 2
    forward, backward = Scorer(chain, blocks, is_reverse=False), Scorer(chain, blocks, is_reverse=True)
    passes = (forward, positions[:middle]), (backward, positions[middle:][::-1])
    parallel.map(lambda each: each[0].run(each[1], lattice), passes)
    if forward.log_scale + backward.log_scale == -np.inf:
        return -np.inf
    edge = blocks.steps[middle].start
    lattice[edge] += forward.scores  # now of whole paths
    log_joint = forward.log_scale + backward.log_scale + lattice[edge].max()
    if log_joint > -np.inf:
        read_from(edge, chain, lattice, path)
    return float(log_joint)


class Scorer:
    """Where the scores from one end of a sequence have come to."""

    def __init__(self, chain: Chain, blocks: LikelihoodBlocks, *, is_reverse: bool) -> None:
        self.blocks, self.is_reverse = blocks, is_reverse
        self.log_matrix = chain.log_backward if is_reverse else chain.log_transition
        self.scores = np.zeros(chain.num_states) if is_reverse else chain.log_initial.copy()
        self.log_scale = 0.0

    def run(self, positions: Iterable[int], lattice: np.ndarray) -> None:
        """Score these blocks, as long as a path is left."""
        for position in positions:
            if self.log_scale > -np.inf:
                own = lattice[self.blocks.steps[position]]
                found = self.blocks[position]
                self.log_scale += score_steps(self.log_matrix, *found, self.is_reverse, self.scores, own)


def read_from(edge: int, chain: Chain, lattice: np.ndarray, path: np.ndarray) -> None:
    """Read the best path from a step on in both directions."""
    best = np.flatnonzero(lattice[edge] >= lattice[edge].max() - TIE)

    def read_first_half(_: int) -> None:
        read_backward(chain.log_backward, lattice[: edge + 1], path[: edge + 1])

    def read_second_half(state: int) -> None:
        read_forward(chain.log_transition[state], chain.log_transition, lattice[edge + 1 :], path[edge + 1 :])

    if len(best) == 1:
        parallel.map(lambda read: read(best[0]), [read_first_half, read_second_half])
    else:  # the first half says which of the best states comes first
        read_first_half(edge)
        read_second_half(path[edge])


def rank_paths(best: MostProbablePath, count: int) -> list[MostProbablePath]:
    """The best paths of one sequence, best first."""
    if best.log_joint == -np.inf or not best.sequence.num_steps:
        return RankedAnswers([best][: int(best.log_joint > -np.inf)])
    chain, sequence = Chain.of(best.hidden), best.sequence
    found = likelihoods(chain.emissions, sequence.observations, sequence.states, Form.LOG)
    nexts = np.empty((sequence.num_steps, chain.num_states * count), np.int64)
    paths = np.empty((count, sequence.num_steps), np.int64)
    num = best_paths(chain.log_initial, chain.log_transition, found.values, found.rows, count, nexts, paths)
    return RankedAnswers(
        replace(best, codes=path, log_joint=log_weight(chain.log_initial, chain.log_transition, *found, path))
        for path in paths[:num]
    )


@dataclass(frozen=True, eq=False, repr=False)
class Trellis:
    """States × steps; `scores` has the log-probability of the best way to each, `predecessors` the state before it.

    The first step has no predecessors, nor has a state that cannot be reached: -1.
    """

    states: tuple[State, ...]
    scores: np.ndarray  # (step, state)
    predecessors: np.ndarray  # (step, state)
    codes: np.ndarray  # (step,), of the path
    index: Any = None  # of the frame of observations, such as its dates

    @classmethod
    def of(cls, model: HiddenMarkovModel, sequence: Sequences, codes: np.ndarray) -> Trellis:
        """The trellis of a sequence; of equally good ways to a state of the path it has the path's."""
        chain = Chain.of(model)
        found = likelihoods(chain.emissions, sequence.observations, sequence.states, Form.LOG)
        log_likelihoods = found.values[found.rows] + found.tops[found.rows][:, None]  # (step, state)
        scores = np.empty_like(log_likelihoods)
        predecessors = np.full(scores.shape, -1)
        scores[:1] = chain.log_initial + log_likelihoods[:1]
        for step in range(1, len(scores)):
            ways = scores[step - 1][:, None] + chain.log_transition  # (from, to)
            best = ways.max(axis=0)
            predecessors[step] = np.where(best > -np.inf, ways.argmax(axis=0), -1)
            scores[step] = best + log_likelihoods[step]
            predecessors[step, codes[step]] = codes[step - 1]
        return cls(model.states, scores, predecessors, codes, sequence.index)

    @property
    def path(self) -> np.ndarray:
        """The states of the path by their labels: (step,)."""
        return decode_labels(self.states, self.codes)

    def __str__(self) -> str:
        """One line per state and one column per step: score, ← state before, * on the path."""
        shown = range(min(len(self.scores), SHOWN))
        columns = [[""] + [str(label) for label in self.states]]
        columns += [[str(step)] + [self._cell(step, state) for state in range(len(self.states))] for step in shown]
        if len(self.scores) > SHOWN:
            columns.append(["…"] * (len(self.states) + 1))
        widths = [max(map(len, column)) for column in columns]
        lines = zip(
            *([cell.ljust(width) for cell in column] for column, width in zip(columns, widths, strict=True)),
            strict=True,
        )
        return "\n".join("  ".join(line).rstrip() for line in lines)

    def to_diagram(self) -> Lattice:
        """A column per step and a lane per state, with arrows from the state before; the path is marked.

        What cannot be reached is left out.
        """
        return self._lattice(len(self.scores))

    def _repr_html_(self) -> str:
        """The picture of the first steps."""
        return diagram_html(repr(self).partition("\n")[0], self._lattice(min(len(self.scores), MAX_STEPS)))

    def _lattice(self, num_steps: int) -> Lattice:
        """The diagram of the first steps."""
        places = [(int(step), int(state)) for step, state in np.argwhere(self.scores[:num_steps] > -np.inf)]
        position = {place: number for number, place in enumerate(places)}
        steps = tuple(format_steps(self.index, range(num_steps)))
        cells = (
            Cell(
                step,
                state,
                f"{self.scores[step, state]:.4g}",
                self._tip(step, state, steps[step]),
                self._is_best(step, state),
            )
            for step, state in places
        )
        links = (
            Link(position[step - 1, int(self.predecessors[step, state])], target, self._is_best(step, state))
            for target, (step, state) in enumerate(places)
            if step
        )
        is_cut = num_steps < len(self.scores)
        note = f"the first {num_steps} of {number_of(len(self.scores), 'step')}" if is_cut else ""
        return Lattice(tuple(map(str, self.states)), steps, tuple(cells), tuple(links), LEGEND, note)

    def _is_best(self, step: int, state: int) -> bool:
        return bool(self.codes[step] == state)

    def _tip(self, step: int, state: int, name: str) -> str:
        return f"step {name}, {self.states[state]}: log-probability {self.scores[step, state]:.6g}"

    def _cell(self, step: int, state: int) -> str:
        before = self.predecessors[step, state]
        way = f" ← {self.states[before]}" if before >= 0 else ""
        return f"{self.scores[step, state]:.4g}{way}{' *' if self.codes[step] == state else ''}"

    def __repr__(self) -> str:
        steps, states = map(number_of, self.scores.shape, ("step", "state"))
        return f"Trellis({steps}, {states})\n{self}"


register_methods(HiddenMarkovModel, "most_probable", "viterbi")
