"""`Trellis`: the best path to each state at each step (the table of the Viterbi algorithm), and the best path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juncture.data.sequences.sequences import Sequences
from juncture.data.tables.labels import decode_labels
from juncture.drawing.diagram import Diagram, Edge, Node
from juncture.sequences.hidden_markov.chain import Chain, Form, likelihoods
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.values import number_of
from juncture.variables import State

SHOWN = 10  # steps at most in a text


@dataclass(frozen=True, eq=False, repr=False)
class Trellis:
    """States × steps; `scores` has the log-probability of the best way to each, `predecessors` the state before it.

    The first step has no predecessors, nor has a state that cannot be reached: -1.
    """

    states: tuple[State, ...]
    scores: np.ndarray  # (step, state)
    predecessors: np.ndarray  # (step, state)
    codes: np.ndarray  # (step,), of the path

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
        return cls(model.states, scores, predecessors, codes)

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

    def to_diagram(self) -> Diagram:
        """One row of nodes per step, each with its score, joined to the state before it; the path is shaded."""
        positions = list(zip(*np.nonzero(self.scores > -np.inf), strict=True))
        nodes = (
            Node(
                node_name(step, state),
                label=str(self.states[state]),
                shaded=bool(self.codes[step] == state),
                note=f"{self.scores[step, state]:.4g}",
                row=step,
            )
            for step, state in positions
        )
        edges = (
            Edge(node_name(step - 1, self.predecessors[step, state]), node_name(step, state))
            for step, state in positions
            if step
        )
        return Diagram(nodes, edges)

    def _cell(self, step: int, state: int) -> str:
        before = self.predecessors[step, state]
        way = f" ← {self.states[before]}" if before >= 0 else ""
        return f"{self.scores[step, state]:.4g}{way}{' *' if self.codes[step] == state else ''}"

    def __repr__(self) -> str:
        steps, states = map(number_of, self.scores.shape, ("step", "state"))
        return f"Trellis({steps}, {states})\n{self}"


def node_name(step: int, state: int) -> str:
    return f"{step}: {state}"
