"""`fit` for conditional random fields: L-BFGS on Σ log p(labels | steps), with exact gradients.

The gradient of a weight is how often its feature occurs with its label, less how often the model expects that; it is
the same for transitions. The objective is concave (Lafferty, McCallum and Pereira 2001).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import shown
from juncture.base.options import Options
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import read_sequences
from juncture.errors import ImpossibleEvidence, InvalidData, Unsupported
from juncture.learning.fit import Fit
from juncture.learning.networks.gradient import GradientAscent
from juncture.learning.undirected.ascent import Stopping, ascend
from juncture.learning.undirected.fit import warn_unless_converged
from juncture.learning.undirected.log_tables import FreeCells
from juncture.learning.undirected.penalties import Penalty, check_penalty
from juncture.numerics.iteration import ProgressCallback, check_progress
from juncture.sequences.conditional_random_field.features import (
    GivenSequence,
    find_features,
    labels_of,
    split_given,
)
from juncture.sequences.conditional_random_field.infer import inner_steps, path_scores
from juncture.sequences.conditional_random_field.model import ConditionalRandomField
from juncture.sequences.hidden_markov.chain import Chain
from juncture.sequences.hidden_markov.forward_backward import map_parts, smooth
from juncture.sequences.options import LabelledSequences

TOLERANCE = 1e-6  # of the largest entry of the gradient, by the step


@dataclass(frozen=True)
class LabelOptions(LabelledSequences):
    """How a conditional random field is learned from labelled sequences.

    Parameters
    ----------
    states
        The name of the column of a table, with `group`, that holds the labels. Features are the columns of their names.
    penalty
        `L2(strength)` or `L1(strength)`. Without one the maximum is often at infinity, as where a feature occurs with
        one label only.
    method
        "gradient", which is L-BFGS, or a `GradientAscent` with its options.
    """

    penalty: Penalty | None = None
    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"gradient": GradientAscent}

    def __post_init__(self) -> None:
        object.__setattr__(self, "penalty", check_penalty(self.penalty))
        engine = self.method.engine if isinstance(self.method, GradientAscent) else "auto"
        if not (isinstance(engine, str) and engine == "auto"):
            raise Unsupported(f"learning a conditional random field asks no engine; leave engine={shown(engine)} out")


def fit_labels(
    structure: ConditionalRandomField,
    data: Any,
    *,
    prior: Any = None,
    weights: Any = None,
    progress: ProgressCallback | None = None,
    options: LabelOptions,
) -> Fit[ConditionalRandomField]:
    """A conditional random field with the states of the given one, learned from labelled sequences.

    The weights of the given one say where the ascent starts; without features it takes those of the data: a pair of
    steps and labels, or a list of such pairs; `Sequence` with `states` where steps are vectors.
    """
    if prior is not None:
        raise Unsupported("a conditional random field takes no prior; give penalty=jt.L2(…) or jt.L1(…)")
    check_progress(progress)
    group, learner = options.group, options.method
    start, data = (structure, data) if structure.features else with_features(structure, data, group)
    sequences = read_sequences(start, data, options.lengths, group, options.states, weights).all()
    likelihood = ConditionalLikelihood(start, sequences, labels_of(sequences))
    likelihood.check()
    coordinates = FreeCells(likelihood.first, np.isfinite(likelihood.first))
    tolerance = TOLERANCE if learner.tolerance is None else learner.tolerance
    stopping = Stopping(tolerance, learner.max_steps, progress)
    vector, trace = ascend(likelihood, coordinates, stopping, options.penalty)
    warn_unless_converged(trace)
    parameters = coordinates.logs(vector)
    log_likelihood = likelihood.value_and_gradient(parameters)[0]
    return Fit(likelihood.model(parameters), log_likelihood, trace, likelihood.observed)


def with_features(
    model: ConditionalRandomField, data: Any, group: str | None
) -> tuple[ConditionalRandomField, GivenSequence | list[GivenSequence]]:
    """The model with the features of the data, and the data, which were looked at once."""
    if group is not None or callable(data):
        raise InvalidData(
            "features are found in sequences in memory; for others name them, as in"
            " jt.ConditionalRandomField(states, features=[…])"
        )
    given, is_single = split_given(data)
    named = ConditionalRandomField(model.states, find_features(given), None, model.transition)
    return named, given[0] if is_single else given


@dataclass(frozen=True, eq=False)
class ConditionalLikelihood:
    """Σ weight · log p(labels | steps), as a function of all weights in one vector."""

    start: ConditionalRandomField
    sequences: Sequences
    codes: np.ndarray  # (step,)

    @property
    def weight(self) -> float:
        """Of all steps."""
        return float(self.step_weights.sum())

    @cached_property
    def step_weights(self) -> np.ndarray:
        """The weight of each step: that of its sequence."""
        return np.repeat(self.sequences.weights, self.sequences.lengths)

    @property
    def first(self) -> np.ndarray:
        return np.concatenate([self.start.weights.reshape(-1), self.start.transition.reshape(-1)])

    def model(self, vector: np.ndarray) -> ConditionalRandomField:
        size, num = self.start.weights.size, self.start.num_states
        weights, transition = vector[:size].reshape(-1, num), vector[size:].reshape(num, num)
        return ConditionalRandomField(self.start.states, self.start.features, weights, transition)

    @cached_property
    def observed(self) -> np.ndarray:
        """How often each feature occurs with each label, and each transition, by weight."""
        num, later = self.start.num_states, inner_steps(self.sequences.offsets)
        labels = np.zeros((len(self.codes), num))
        labels[np.arange(len(self.codes)), self.codes] = self.step_weights
        pairs = self.codes[later - 1] * num + self.codes[later]
        moves = np.bincount(pairs, self.step_weights[later], num * num)
        return np.concatenate([np.asarray(self.transposed @ labels).reshape(-1), moves])

    @cached_property
    def transposed(self) -> Any:
        matrix: Any = self.sequences.observations
        return matrix.T.copy() if isinstance(matrix, np.ndarray) else matrix.T.tocsr()

    def value_and_gradient(self, vector: np.ndarray) -> tuple[float, np.ndarray]:
        model = self.model(vector)
        log_z, posteriors, moves = expect(model, self.sequences)
        expected = np.asarray(self.transposed @ (posteriors * self.step_weights[:, np.newaxis]))
        score = self.observed @ np.where(self.observed != 0, vector, 0.0)
        gradient = self.observed - np.concatenate([expected.reshape(-1), moves.reshape(-1)])
        return float(score - self.sequences.weights @ log_z), gradient

    def check(self) -> None:
        """Raise where there is nothing to learn from, or where labels follow each other that must not."""
        if not self.weight > 0:
            raise InvalidData("learning a conditional random field needs at least one step of positive weight")
        scores = path_scores(self.start, self.sequences.observations, self.codes, self.sequences.offsets)
        if np.isneginf(scores).any():
            raise ImpossibleEvidence(
                f"sequence {int(np.isneginf(scores).argmax())} has a transition that the given model forbids: its"
                " weight of -inf stays"
            )


def expect(model: ConditionalRandomField, given: Sequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(log Z of each sequence, the posteriors of the labels (step, state), the expected transitions by weight)."""
    sequences, chain = model.to_sequences(given), Chain.of(model.hidden)
    lattice = np.empty((sequences.num_steps, model.num_states))

    def smooth_part(part: slice) -> tuple[np.ndarray, np.ndarray]:
        moves = np.zeros((model.num_states, model.num_states))
        own = lattice[sequences.offsets[part.start] : sequences.offsets[part.stop]]
        return smooth(chain, sequences.take(part), own, moves), moves

    parts = map_parts(smooth_part, chain, sequences)
    return np.concatenate([log_z for log_z, _ in parts]), lattice, np.sum([moves for _, moves in parts], axis=0)
