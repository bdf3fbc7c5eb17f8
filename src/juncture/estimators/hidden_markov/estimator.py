"""The base class of the hidden Markov estimators: it reads sequences, and calls `fit` and `infer`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from juncture import numerics
from juncture.checks import check_kind, is_one_of, shown
from juncture.components.contract import Emissions
from juncture.data.sequences.sequences import Sequences
from juncture.data.tables.labels import label_array
from juncture.errors import InvalidData, InvalidModel
from juncture.estimators.hidden_markov.sequences import Stack, as_stack, state_variable
from juncture.estimators.tables import draw_seed, validate_table
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.variables import Variable
from juncture.verbs import fit, infer, log_prob, most_probable, sample

DECODERS = ("viterbi", "posterior")
FEW = 2  # states, where nothing says how many


@dataclass(eq=False, repr=False)
class HiddenMarkovEstimator(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A hidden Markov model learned from rows that are the steps of sequences.

    A table is one sequence, or several one after the other with `lengths`; a list of arrays, frames or `jt.Sequence`s
    is many, and labels and weights of the steps are then lists too. Plain lists of one value each are a table of one
    column, those of different lengths are sequences; `fit` rejects others, for they could be both. NaN is a missing
    observation.

    The fields are the parameters of the constructor; a subclass adds its own after `states`.
    """

    kinds: ClassVar[tuple[type[Emissions], ...]] = (Emissions,)
    cells: ClassVar[Any] = np.float64  # what cells are turned into; None leaves them

    states: Any = None
    _: KW_ONLY
    start: Any = "random"
    prior: Any = None
    fixed: Any = ()
    restarts: int = 0
    tolerance: float = 1e-8
    max_steps: int = 1000
    decoder: str = "viterbi"
    random_state: Any = 0

    @classmethod
    def from_model(cls, model: HiddenMarkovModel) -> Self:
        """An estimator that is a given model, as if it had been fitted; `fit` starts from it."""
        made = cls(start=model)
        made._adopt(made._check_model(model))
        made.n_features_in_ = int(np.prod(model.event_shape))
        return made

    def fit(self, X: Any, y: Any = None, *, lengths: Any = None, sample_weight: Any = None) -> Self:
        """Learn the model from sequences.

        `y` has the state of each step, or None, NaN or -1 where it is unknown: known states are kept to, and where all
        are known the model is counted in one step. `sample_weight` has one weight a sequence; one a
        step, as scikit-learn gives them, will do where all steps of a sequence have the same.
        """
        check_decoder(self.decoder)
        check_kind(self.start, (str, HiddenMarkovModel), "the start")
        given = self._check_model(self.start) if isinstance(self.start, HiddenMarkovModel) else None
        columns = None if given is None else int(np.prod(given.event_shape))
        stack = as_stack(X, y, lengths, sample_weight, columns)
        rows = self._table(stack, reset=True)
        states = state_variable(self.states if given is None else given.states, stack.labels, default=FEW)
        model = given or self._first_model(rows, states)
        sequences = stack.sequences(self._encode(rows, model), states)
        seed = draw_seed(self.random_state)
        self.fit_ = self._learn(model, sequences, "given" if given else self.start, seed)
        self._adopt(self.fit_.model)
        return self

    def _first_model(self, rows: np.ndarray, states: Variable) -> HiddenMarkovModel:
        """A model whose states are all equal; the start of EM makes them differ."""
        size = states.num_states
        even = np.full((size, size), 1.0 / size)
        return HiddenMarkovModel(even[0], even, self._first_emissions(rows, size), states=states.labels)

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        """Emissions of the kind that is asked for, the same for all states."""
        raise NotImplementedError

    def _learn(self, model: HiddenMarkovModel, sequences: Sequences, start: Any, seed: int) -> Fit[HiddenMarkovModel]:
        method = ExpectationMaximization(self.tolerance, self.max_steps, self.restarts)
        return fit(model, sequences, self._prior(model), fixed=self.fixed, start=start, method=method, rng=seed)

    def _prior(self, model: HiddenMarkovModel) -> Any:
        return self.prior

    def _encode(self, rows: np.ndarray, model: HiddenMarkovModel) -> np.ndarray:
        """The cells as the model observes them."""
        if rows.shape[1] != np.prod(model.event_shape):
            raise InvalidData(f"X has {rows.shape[1]} columns, the model observes {int(np.prod(model.event_shape))}")
        return rows.reshape(len(rows), *model.event_shape)

    def _check_model(self, model: Any) -> HiddenMarkovModel:
        """The model, if its emissions are of the kind that this class learns."""
        if not isinstance(model, HiddenMarkovModel) or not isinstance(model.emissions, self.kinds):
            names = " or ".join(kind.__name__ for kind in self.kinds)
            raise InvalidModel(f"{type(self).__name__} takes a HiddenMarkovModel with {names}; got {model!r}")
        return model

    # --- answers ----------------------------------------------------------------------------------------------------

    def predict(self, X: Any, lengths: Any = None) -> Any:
        """The state of each step on the most probable path; with `decoder="posterior"`, of each step by itself."""
        stack, sequences = self._read_sequences(X, lengths)
        if check_decoder(self.decoder) == "posterior":
            codes = self._smooth(sequences).argmax(axis=1)
        else:
            paths = most_probable(self.model_, sequences, on_impossible="raise")
            codes = np.concatenate([path.codes for path in paths])
        return stack.split(self.classes_[codes])

    def predict_proba(self, X: Any, lengths: Any = None) -> Any:
        """p(state | all observations of the sequence) for each step, (step, state), in the order of `classes_`."""
        stack, sequences = self._read_sequences(X, lengths)
        return stack.split(self._smooth(sequences))

    def score(self, X: Any, y: Any = None, *, lengths: Any = None) -> float:
        """log p(X), the sum over all sequences; with `y`, of the observations together with the states in `y`."""
        _, sequences = self._read_sequences(X, lengths, y)
        return float(np.sum(log_prob(self.model_, sequences)))

    def score_samples(self, X: Any, lengths: Any = None) -> Any:
        """log p(observation | all earlier ones of its sequence) for each step: they add up to `score`."""
        stack, sequences = self._read_sequences(X, lengths)
        beliefs = infer(self.model_, replace(sequences, states=None), on_impossible="raise")
        predicted = np.concatenate([each.predicted for each in beliefs])  # (step, state)
        logs = numerics.log(predicted) + self.model_.emissions.log_prob(sequences.observations)
        return stack.split(numerics.log_sum_exp(logs, axis=1))

    def aic(self, X: Any, lengths: Any = None) -> float:
        """Akaike's criterion, -2 log p(X) + 2 · parameters: the lower the better."""
        return 2.0 * self.model_.num_parameters - 2.0 * self.score(X, lengths=lengths)

    def bic(self, X: Any, lengths: Any = None) -> float:
        """The Bayesian information criterion, -2 log p(X) + log(steps) · parameters: the lower the better."""
        _, sequences = self._read_sequences(X, lengths)
        total = float(np.sum(log_prob(self.model_, sequences)))
        return float(np.log(sequences.num_steps)) * self.model_.num_parameters - 2.0 * total

    def sample(self, num_steps: Any = 1, random_state: Any = None) -> tuple[Any, Any]:
        """(rows, states) of a sequence drawn from the model; a list of lengths gives two lists."""
        check_is_fitted(self)
        seed = draw_seed(self.random_state if random_state is None else random_state)
        drawn = sample(self.model_, num_steps, rng=seed)
        if not isinstance(drawn, list):
            return self._cells(drawn.observations), label_array(drawn.states)
        return [self._cells(each.observations) for each in drawn], [label_array(each.states) for each in drawn]

    def _cells(self, observations: np.ndarray) -> np.ndarray:
        """Observations as a table: (step, column)."""
        return observations.reshape(len(observations), self.n_features_in_).copy()  # free to write on

    def _smooth(self, sequences: Sequences) -> np.ndarray:
        beliefs = infer(self.model_, sequences, on_impossible="raise")
        return np.concatenate([each.smoothed for each in beliefs])

    def _read_sequences(self, X: Any, lengths: Any, y: Any = None) -> tuple[Stack, Sequences]:
        check_is_fitted(self)
        stack = replace(as_stack(X, y, lengths, columns=self.n_features_in_), weights=None)
        observations = self._encode(self._table(stack, reset=False), self.model_)
        return stack, stack.sequences(observations, Variable("state", self.model_.states))

    # --- reading ----------------------------------------------------------------------------------------------------

    def _table(self, stack: Stack, *, reset: bool) -> np.ndarray:
        limits = {"ensure_all_finite": "allow-nan", "ensure_min_samples": 0 if stack.is_list and not reset else 1}
        return np.asarray(validate_table(self, stack.rows, dtype=self.cells, reset=reset, **limits))

    def _adopt(self, model: HiddenMarkovModel) -> None:
        self.model_, self.classes_ = model, label_array(model.states)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def check_decoder(decoder: Any) -> str:
    if not is_one_of(decoder, DECODERS):
        raise InvalidData(f"a decoder is one of {', '.join(map(repr, DECODERS))}; got {shown(decoder)}")
    return str(decoder)
