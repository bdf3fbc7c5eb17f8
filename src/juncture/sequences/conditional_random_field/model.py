"""`ConditionalRandomField`: p(labels | observed steps) ∝ exp Σ (weights of the steps + weights of the transitions)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from html import escape
from typing import Any, ClassVar

import numpy as np

from juncture.base.checks import shown
from juncture.base.options import as_names
from juncture.base.values import Value, number_of, read_only
from juncture.components.precomputed import PrecomputedLogLikelihoods
from juncture.data.sequences import Sequences
from juncture.data.sources.sequence_source import StepKind
from juncture.errors import InvalidModel
from juncture.factors.printed_tables import table_html
from juncture.numerics import stable
from juncture.sequences.conditional_random_field.features import as_feature_sequences, check_features, split_given
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.variables import Scope, State, Variable


class ConditionalRandomField(Value):
    """p(y | x) ∝ exp Σ_t (Σ_k x_tk · weights[k, y_t] + transition[y_t-1, y_t]): labels of the steps of a sequence.

    The features x of a step may depend on all of what is observed: only the labels are modelled. Without features it
    is a template, from which `fit` learns those of the data.

    Parameters
    ----------
    states
        The labels.
    features
        The names of the features.
    weights
        (feature, state): what a feature adds to the logarithm; 0 by default.
    transition
        (from, to): what a transition adds; -inf forbids it; 0 by default.

    Examples
    --------
    >>> tagger = ConditionalRandomField(["noun", "verb"], ["ends in s"], [[0.0, 1.0]], [[0.0, 2.0], [1.0, 0.0]])
    >>> tagger.num_parameters
    6
    """

    kind: ClassVar[str] = "conditional random field"
    states: tuple[State, ...]
    features: tuple[str, ...]
    weights: np.ndarray  # (feature, state)
    transition: np.ndarray  # (from, to)

    def __init__(
        self, states: Iterable[State] | int, features: Iterable[str] = (), weights: Any = None, transition: Any = None
    ) -> None:
        labels = Variable("state", states).labels
        names = as_feature_names(features)
        shape, square = (len(names), len(labels)), (len(labels), len(labels))
        given = np.zeros(shape) if weights is None else weights
        moves = np.zeros(square) if transition is None else transition
        table = stable.as_logs(moves, square, name="the transition weights", axes="one row and one column per state")
        self._set(states=labels, features=names, transition=table)
        axes = "one row per feature, one column per state"
        self._set(weights=stable.as_numbers(given, shape, name="the weights", axes=axes))

    @property
    def num_states(self) -> int:
        return len(self.states)

    @cached_property
    def variables(self) -> Scope:
        """The features of a step, which are numbers, and its label, "state"."""
        features = (Variable(f"{name} (feature)" if name == "state" else name) for name in self.features)
        return Scope([*features, self.variable])

    @property
    def num_parameters(self) -> int:
        """The number of weights, but for those of transitions that are forbidden."""
        return self.weights.size + int(np.isfinite(self.transition).sum())

    @cached_property
    def variable(self) -> Variable:
        return Variable("state", self.states)

    @cached_property
    def hidden(self) -> HiddenMarkovModel:
        """The hidden Markov model with the same posteriors: transitions with rows that sum to 1."""
        rows = self.transition - np.where(self.can_go_on, self.log_totals, 0.0)[:, np.newaxis]
        matrix = np.where(self.can_go_on[:, np.newaxis], np.exp(rows), 1.0 / self.num_states)
        uniform = np.full(self.num_states, 1.0 / self.num_states)
        matrix /= matrix.sum(axis=1, keepdims=True)
        return HiddenMarkovModel(uniform, matrix, PrecomputedLogLikelihoods(self.num_states), states=self.states)

    @cached_property
    def log_totals(self) -> np.ndarray:
        """The logarithm of the sum of each row of exp(transition)."""
        return read_only(stable.log_sum_exp(self.transition, axis=1))

    @property
    def can_go_on(self) -> np.ndarray:
        """(state,): whether a transition leads on from it."""
        return read_only(self.log_totals > -np.inf)

    @property
    def step_kind(self) -> StepKind:
        """How rows of a table are read as steps: features are columns of their names."""
        return StepKind((len(self.features),), states=self.states, columns=self.features)

    def sequences(self, data: Any, lengths: Any = None) -> Sequences:
        """Data as checked sequences: rows of features, which may be a sparse matrix, and the codes of labels."""
        if isinstance(data, Sequences):
            check_features(data.observations)
            return data
        return as_feature_sequences(*split_given(data), self.features, self.variable, lengths)

    def to_sequences(self, sequences: Sequences) -> Sequences:
        """Return the scores of labels at each step as log-likelihoods of the states of `hidden`; its evidence is Z(x).

        exp(transition) is the matrix of `hidden` with each row times its total: the total belongs to the step before.
        """
        scores = np.asarray(sequences.observations @ self.weights)
        starts, ends = sequences.offsets[:-1], sequences.offsets[1:] - 1
        full = starts <= ends
        has_next = np.ones(len(scores), bool)
        has_next[ends[full]] = False
        scores = scores + np.where(has_next[:, np.newaxis], self.log_totals, 0.0)
        scores[starts[full]] += np.log(self.num_states)
        return replace(sequences, observations=scores, states=None)

    def __repr__(self) -> str:
        return (
            f"ConditionalRandomField({number_of(self.num_states, 'state')}, {number_of(len(self.features), 'feature')})"
        )

    def _repr_html_(self) -> str:
        now, after = Variable("state", self.states), Variable("next", self.states)
        words = f"<p><code>{escape(repr(self))}</code>, weights of the transitions:</p>"
        return words + table_html(Scope([now, after]), self.transition)


def as_feature_names(features: Iterable[str]) -> tuple[str, ...]:
    names = tuple(as_names(features, "features"))
    for name in names:
        if not isinstance(name, str):
            raise InvalidModel(f"the name of a feature is a text; got {shown(name)}")
    if len(set(names)) != len(names):
        raise InvalidModel("the names of the features must differ")
    return names
