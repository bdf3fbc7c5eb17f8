"""`Trellis`: the best path to each state at each step (the table of the Viterbi algorithm), and the best path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.values import number_of
from juncture.data.sequences import Sequences
from juncture.data.tables.labels import decode_labels
from juncture.drawing.lattice import Cell, Lattice, Link
from juncture.drawing.notebook import diagram_html
from juncture.drawing.text import format_steps
from juncture.sequences.hidden_markov.chain import Chain, Form, likelihoods
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.variables import State

SHOWN = 10  # steps at most in a text
MAX_STEPS = 24  # in a notebook
LEGEND = "the most probable path", "the best way to each state, with its log-probability"


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
