"""Hidden Markov models as scikit-learn's estimators: with states, numbers or mixtures as observations."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_count, check_kind, is_one_of, shown
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.gaussian import STRUCTURES, GaussianEmissions
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import MixtureEmissions
from juncture.data.rows import default_names
from juncture.data.sequences import Sequences
from juncture.data.tables.coding import as_coding, warn_unseen
from juncture.data.tables.labels import as_variable, label_array
from juncture.data.tables.table import Table
from juncture.errors import InvalidData, InvalidModel, hint
from juncture.estimators.reading import draw_seed, validate_table
from juncture.estimators.sequences import Stack, as_stack, find_labels, state_variable
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.numerics import stable
from juncture.sequences.hidden_markov.initial_model import first_gaussian, initial_hidden_markov, repeat_for_states
from juncture.sequences.hidden_markov.model import HiddenMarkovModel
from juncture.sequences.hidden_markov.options import HiddenMarkovPrior
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
    tolerance: float = 1e-7
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
        return fit(model, sequences, prior=self._prior(model), fixed=self.fixed, start=start, method=method, rng=seed)

    def _prior(self, model: HiddenMarkovModel) -> Any:
        return self.prior

    def _encode(self, rows: np.ndarray, model: HiddenMarkovModel) -> np.ndarray:
        """The cells as the model observes them."""
        if rows.shape[1] != np.prod(model.event_shape):
            raise InvalidData(f"X has {rows.shape[1]} columns, the model observes {int(np.prod(model.event_shape))}")
        return rows.reshape(len(rows), *model.event_shape)

    def _check_model(self, model: object) -> HiddenMarkovModel:
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
        logs = stable.log(predicted) + self.model_.emissions.log_prob(sequences.observations)
        return stack.split(stable.log_sum_exp(logs, axis=1))

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


@dataclass(eq=False, repr=False)
class CategoricalHMM(HiddenMarkovEstimator):
    """A hidden Markov model with discrete symbols, as a scikit-learn estimator.

    Symbols are text, truth values or numbers. Several columns are independent given the state. Symbols that no row of
    `fit` had are taken as missing, with a warning. The attributes are those of `GaussianHMM`.

    Parameters
    ----------
    symbols
        The number of symbols (0, 1, …) or their labels, for every column; None takes the symbols in X.
    prior
        A pseudo-count for all tables, or a `HiddenMarkovPrior`.
    start
        "random", "left-to-right", or a `HiddenMarkovModel`.
    states, fixed, restarts, tolerance, max_steps, decoder, random_state
        As in `GaussianHMM`.

    Examples
    --------
    >>> import numpy as np
    >>> words = [np.array(["sun", "sun", "rain", "rain", "rain"]), np.array(["rain", None, "sun"])]
    >>> CategoricalHMM(states=2, prior=0.1).fit(words).predict_proba(words)[1].shape
    (3, 2)
    """

    kinds = (CategoricalEmissions, IndependentEmissions)
    cells = None

    symbols: Any = None

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        names = getattr(self, "feature_names_in_", default_names(rows.shape[1]))
        columns = [self._symbols(column, str(name)) for column, name in zip(rows.T, names, strict=True)]
        parts = [
            CategoricalEmissions(np.full((num_states, len(labels)), 1.0 / len(labels)), labels) for labels in columns
        ]
        return parts[0] if len(parts) == 1 else IndependentEmissions(parts)

    def _symbols(self, column: np.ndarray, name: str) -> tuple[Any, ...]:
        if self.symbols is not None:
            return as_variable("symbol", self.symbols).labels
        found = find_labels(column)
        if not found:
            raise InvalidData(
                f"the column {name!r} has no observed cell to learn from: leave it out, or say which symbols there are"
                " in symbols="
            )
        return tuple(found)

    def _check_model(self, model: object) -> HiddenMarkovModel:
        checked = super()._check_model(model)
        for part in column_emissions(checked.emissions):
            if not isinstance(part, CategoricalEmissions):
                raise InvalidData(f"CategoricalHMM has symbols in all columns; one of this model has {part!r}")
        return checked

    def _encode(self, rows: np.ndarray, model: HiddenMarkovModel) -> np.ndarray:
        """The code of each symbol; NaN for what is missing, or was never seen."""
        parts, names = column_emissions(model.emissions), default_names(rows.shape[1])
        if len(parts) != len(names):
            raise InvalidData(f"X has {len(names)} columns, the model observes {len(parts)}")
        variables = [Variable(name, part.symbols) for name, part in zip(names, parts, strict=True)]
        table = Table(dict(zip(names, rows.T, strict=True)), len(rows))
        coding = as_coding(variables, None, "missing")
        columns = [coding.column(table, name) for name in names]
        warn_unseen({column.variable.name: column.num_unseen for column in columns if column.num_unseen})
        codes = np.stack([column.values.astype(np.float64) for column in columns], axis=1)
        codes[codes < 0] = np.nan
        return codes.reshape(len(rows), *model.event_shape)

    def _prior(self, model: HiddenMarkovModel) -> Any:
        if isinstance(model.emissions, IndependentEmissions) and isinstance(self.prior, Real):
            return HiddenMarkovPrior(self.prior, self.prior, [self.prior] * len(model.emissions.parts))
        return self.prior

    def _cells(self, observations: np.ndarray) -> np.ndarray:
        if observations.ndim == 1:
            return super()._cells(observations)
        parts = column_emissions(self.model_.emissions)
        pairs = zip(parts, observations.T.astype(int), strict=True)
        columns = [label_array(part.symbols)[codes] for part, codes in pairs]
        kinds = {column.dtype.kind for column in columns}
        return np.stack(columns, axis=1, dtype=None if len(kinds) == 1 else object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def column_emissions(emissions: Any) -> tuple[Any, ...]:
    """The emissions of each column."""
    return emissions.parts if isinstance(emissions, IndependentEmissions) else (emissions,)


@dataclass(eq=False, repr=False)
class GaussianHMM(HiddenMarkovEstimator):
    """A hidden Markov model with Gaussian emissions, as a scikit-learn estimator.

    X is a table, which is one sequence or, with `lengths`, several; or a list of sequences. NaN is a missing cell.

    Parameters
    ----------
    states
        The number of states, or their labels; None takes the labels in `y`, or two states.
    covariance
        "full", "diagonal", "spherical", or "tied": one covariance for all states.
    start
        "k-means", "random", "left-to-right", or a `HiddenMarkovModel`, which then gives states and covariance.
    prior
        A pseudo-count for initial and transition probabilities, or a `HiddenMarkovPrior`.
    fixed
        The names of parts that stay as they are: "initial", "transition", "emissions".
    restarts
        The number of further random starts of EM; the best model is kept.
    tolerance, max_steps
        EM ends when a step gains less than `tolerance` of what the log-likelihood rose, or after `max_steps`.
    decoder
        The states that `predict` gives: "viterbi" for the most probable path, or "posterior" for the most probable
        state of each step.
    random_state
        The seed of random starts.

    Attributes
    ----------
    model_
        The `HiddenMarkovModel`.
    fit_
        The `Fit`.
    classes_
        The states.
    n_features_in_
        The number of columns.

    Examples
    --------
    >>> rows = [[0.1], [0.2], [5.1], [4.9], [float("nan")], [5.2], [0.0]]
    >>> GaussianHMM(states=2).fit(rows).predict(rows).tolist()
    [0, 0, 1, 1, 1, 1, 0]
    """

    kinds: ClassVar[tuple[type[Emissions], ...]] = (GaussianEmissions,)

    covariance: str = "diagonal"
    start: Any = field(default="k-means", kw_only=True)

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        return repeat_gaussian(rows, self.covariance, num_states)


def repeat_gaussian(rows: np.ndarray, covariance: str, number: int) -> GaussianEmissions:
    """The Gaussian of all rows, `number` times."""
    if not isinstance(covariance, str) or covariance not in STRUCTURES:
        raise InvalidData(f"there is no covariance {covariance!r}; {hint(covariance, STRUCTURES)}")
    return repeat_for_states(first_gaussian(rows, covariance), number)


@dataclass(eq=False, repr=False)
class MixtureHMM(HiddenMarkovEstimator):
    """A hidden Markov model whose states each emit rows from a mixture of `num_components` Gaussians.

    The start "k-means" takes clusters as components; clusters that are followed by the same clusters form a state. The
    attributes are those of `GaussianHMM`.

    Parameters
    ----------
    num_components
        The number of Gaussians of each state.
    covariance
        As in `GaussianHMM`; "tied" is one covariance for all components of all states.
    states, start, prior, fixed, restarts, tolerance, max_steps, decoder, random_state
        As in `GaussianHMM`.

    Examples
    --------
    >>> values = [0, 0, 5, 5, 0, 5, 5, 0, 20, 20, 25, 25, 20, 25, 25, 20, 0, 0, 5, 5]
    >>> rows = [[value + position % 3] for position, value in enumerate(values)]
    >>> MixtureHMM(states=2, num_components=2).fit(rows).predict(rows).tolist()
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]
    """

    kinds = (MixtureEmissions,)

    num_components: int = 2
    covariance: str = "diagonal"
    start: Any = field(default="k-means", kw_only=True)

    def _first_emissions(self, rows: np.ndarray, num_states: int) -> Emissions:
        size = check_count(self.num_components, "num_components", least=1)
        weights = np.full((num_states, size), 1.0 / size)
        return MixtureEmissions(weights, repeat_gaussian(rows, self.covariance, num_states * size))

    def _learn(self, model: HiddenMarkovModel, sequences: Sequences, start: str, seed: int) -> Fit[HiddenMarkovModel]:
        if start == "given":
            return super()._learn(model, sequences, start, seed)
        first = initial_mixture(sequences, model.num_states, self.num_components, self.covariance, start, seed)
        named = HiddenMarkovModel(first.initial, first.transition, first.emissions, states=model.states)
        return super()._learn(named, sequences, "given", seed)


def initial_mixture(
    sequences: Sequences, num_states: int, num_components: int, covariance: str, start: Any, seed: int
) -> HiddenMarkovModel:
    """A first model; from clusters where these are asked for, no step is labelled and there are steps enough."""
    number = num_states * num_components
    if start == "k-means" and sequences.states is None and sequences.num_steps >= number:
        clusters = initial_hidden_markov(sequences, number, covariance, start=start, rng=seed)
        return merge_states(clusters, group_rows(clusters.transition, num_states, seed))
    first: Any = initial_hidden_markov(sequences, num_states, covariance, start=start, rng=seed)
    return HiddenMarkovModel(first.initial, first.transition, split_components(first.emissions, num_components))


def group_rows(transition: np.ndarray, num_groups: int, seed: int) -> np.ndarray:
    """Rows shared out into groups of the same size, those that are alike together: (group, member).

    What follows a step depends on its state only, so components of one state go on alike.
    """
    from scipy.optimize import linear_sum_assignment

    rows = np.sqrt(transition)
    distances = KMeans(num_groups, n_init=10, random_state=seed).fit(rows).transform(rows)  # (row, group)
    size = len(rows) // num_groups
    _, positions = linear_sum_assignment(np.repeat(distances**2, size, axis=1))
    members = np.argsort(positions // size, kind="stable").reshape(num_groups, size)
    return np.asarray(members[np.argsort(members.mean(axis=1), kind="stable")])


def merge_states(clusters: HiddenMarkovModel, groups: np.ndarray) -> HiddenMarkovModel:
    """The model whose states are groups of those of another, which become their components."""
    order = groups.ravel()
    transition = clusters.transition[order][:, order].reshape(*groups.shape, *groups.shape)
    return HiddenMarkovModel(
        clusters.initial[groups].sum(axis=1),
        transition.sum(axis=3).mean(axis=1),
        MixtureEmissions(np.full(groups.shape, 1.0 / groups.shape[1]), clusters.emissions.take(order)),
    )


def split_components(gaussians: GaussianEmissions, num_components: int) -> MixtureEmissions:
    """Mixtures whose components lie along the longest axis of each Gaussian, up to one standard deviation away."""
    values, vectors = np.linalg.eigh(gaussians.full.covariance)
    axes = vectors[:, :, -1] * np.sqrt(values[:, -1:])  # (state, column)
    positions = np.linspace(-1.0, 1.0, num_components) if num_components > 1 else np.zeros(1)
    means = gaussians.means[:, None] + positions[:, None] * axes[:, None]  # (state, component, column)
    covariance = gaussians.covariance
    if gaussians.structure != "tied":
        covariance = np.repeat(covariance, num_components, axis=0)
    components = GaussianEmissions(means.reshape(-1, means.shape[-1]), covariance, gaussians.structure)
    return MixtureEmissions(np.full(means.shape[:2], 1.0 / num_components), components)
