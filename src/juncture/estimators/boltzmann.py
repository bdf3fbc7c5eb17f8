"""`RestrictedBoltzmannMachine` as a scikit-learn estimator, with the names and shapes of `BernoulliRBM`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_choice, check_count, check_number
from juncture.base.options import as_generator
from juncture.errors import InvalidData
from juncture.estimators.reading import draw_seed, row_weights, validate_table, weighted_mean
from juncture.latent.boltzmann import model as machines
from juncture.latent.boltzmann.fit import gradient_steps
from juncture.latent.boltzmann.infer import gibbs_step
from juncture.latent.boltzmann.layers import KINDS
from juncture.latent.boltzmann.learners import ContrastiveDivergence, ExactGradient
from juncture.latent.boltzmann.partition_function import is_small
from juncture.learning.fit import check_learned
from juncture.verbs import infer, log_prob

METHODS = ("persistent", "contrastive-divergence", "exact")


@dataclass(eq=False, repr=False)
class RestrictedBoltzmannMachine(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A restricted Boltzmann machine as a scikit-learn estimator, which takes holes and weights.

    Parameters
    ----------
    n_components
        The number of hidden units; up to 20, log Z is exact and rows may have holes.
    learning_rate
        The rate of the gradient steps, which falls to 0 over the second half of the epochs of `fit`.
    batch_size, n_iter
        Rows of each step, and chains; the number of epochs.
    visible
        "bernoulli": 0 or 1; "gaussian": real numbers; "softmax": 0, 1, ….
    binarize
        Cells of Bernoulli units above this number are ones; None if all cells are 0 or 1.
    method
        The negative phase: "persistent" chains, chains that start at the rows ("contrastive-divergence"), or for small
        machines the sum over all states ("exact").
    penalty
        As in `ContrastiveDivergence`.
    random_state
        The seed of the first weights, the order of the rows and the chains.

    Attributes
    ----------
    model_
        The `juncture.RestrictedBoltzmannMachine`.
    components_
        (hidden, visible): the weights, for softmax units (hidden, visible × state).
    intercept_hidden_, intercept_visible_
        The biases.
    log_partition_
        Log Z: exact for small machines, else by annealed importance sampling; computed when it is first asked for.
    log_partition_error_
        Its standard error: 0 where it is exact.
    n_features_in_
        The number of columns.

    Examples
    --------
    >>> rows = np.array([[1, 1, 0, 0], [0, 0, 1, 1]] * 50)
    >>> machine = RestrictedBoltzmannMachine(2, learning_rate=0.3, n_iter=50).fit(rows)
    >>> machine.transform(rows[:2]).shape
    (2, 2)
    >>> bool(machine.score_samples([[1, 1, 0, 0]])[0] > machine.score_samples([[1, 0, 0, 1]])[0])
    True
    """

    n_components: int = 16
    _: KW_ONLY
    learning_rate: float = 0.1
    batch_size: int = 10
    n_iter: int = 10
    visible: str = "bernoulli"
    binarize: float | None = 0.0
    method: str = "persistent"
    penalty: Any = None
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn weights and biases.

        Parameters
        ----------
        X
            A table of numbers; NaN is a missing cell, with up to 20 hidden units.
        y
            Not used.
        sample_weight
            The weight of each row.

        Returns
        -------
        The estimator itself.
        """
        rows, weights = self._rows(X, reset=True), row_weights(sample_weight, X)
        seed = draw_seed(self.random_state)
        self._begin(rows, seed)
        return self._learn(rows, weights, check_count(self.n_iter, "n_iter", least=1), seed)

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn one epoch more from these rows, at the first learning rate, starting at the weights learned so far.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.

        Returns
        -------
        The estimator itself.
        """
        is_first = "model_" not in vars(self)
        rows, weights = self._rows(X, reset=is_first), row_weights(sample_weight, X)
        seed = draw_seed(self.random_state)
        if is_first:
            self._begin(rows, seed)
        self.epochs_ += 1
        return self._learn(rows, weights, 1, seed + self.epochs_)

    def transform(self, X: Any) -> np.ndarray:
        """p(h = 1 | row), (row, hidden); missing cells are summed out."""
        check_is_fitted(self)
        return np.asarray(infer(self.model_, self._rows(X), rng=draw_seed(self.random_state)).hidden_means)

    def gibbs(self, v: Any) -> np.ndarray:
        """The rows after one step of block Gibbs sampling, (row, visible)."""
        check_is_fitted(self)
        rng = as_generator(draw_seed(self.random_state))
        rows = self._rows(v)
        if np.isnan(rows).any():
            raise InvalidData("a Gibbs step goes on from complete rows, and one has a hole: use impute")
        u = gibbs_step(self.model_, self.model_.units.encode(rows), rng)
        return self.model_.units.decode(u)

    def impute(self, X: Any) -> np.ndarray:
        """The rows, with each missing cell filled by its expectation, for softmax units by its likeliest state."""
        check_is_fitted(self)
        rows = self._rows(X)
        found = infer(self.model_, rows, rng=draw_seed(self.random_state)).visible_means
        filled = found.argmax(axis=2) if self.visible == "softmax" else found
        return np.where(np.isnan(rows), filled, rows)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log p of each row, with `log_partition_` as log Z; scikit-learn's is the pseudo-likelihood instead."""
        check_is_fitted(self)
        return np.asarray(log_prob(self.model_, self._rows(X), log_partition=self.log_partition_))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean of `score_samples`, weighted if there are weights."""
        return weighted_mean(self.score_samples(X), sample_weight)

    def _begin(self, rows: np.ndarray, seed: int) -> None:
        """The first machine, with small random weights."""
        kind = check_choice(self.visible, KINDS, "visible")
        states = int(np.nanmax(rows, initial=1)) + 1 if kind == "softmax" else 2
        hidden = check_count(self.n_components, "n_components", least=1)
        self.model_ = machines.RestrictedBoltzmannMachine.random(
            rows.shape[1], hidden, kind, num_states=states, rng=seed
        )
        self.epochs_ = 0

    def _learn(self, rows: np.ndarray, weights: np.ndarray | None, epochs: int, seed: int) -> Self:
        """So many epochs; the likelihood, which takes longer than an epoch, is left to `log_partition_`."""
        size = check_count(self.batch_size, "batch_size", least=1)
        steps = {"learning_rate": self.learning_rate, "batch_size": size, "epochs": epochs, "penalty": self.penalty}
        if check_choice(self.method, METHODS, "method") == "exact":
            learner: Any = ExactGradient(**steps)
        else:
            learner = ContrastiveDivergence(**steps, chains=size, persistent=self.method == "persistent")
        algorithm = gradient_steps(self.model_, rows, weights, learner, as_generator(seed))
        model = check_learned(algorithm.run())
        self.model_ = model
        self.components_ = model.matrix.T
        self.intercept_hidden_, self.intercept_visible_ = model.hidden_bias, model.visible_bias
        return self

    @property
    def log_partition_(self) -> float:
        return self._estimate()[0]

    @property
    def log_partition_error_(self) -> float:
        return self._estimate()[1]

    def _estimate(self) -> tuple[float, float]:
        """Log Z of the machine so far, and its standard error; kept with the machine."""
        check_is_fitted(self)
        kept = self.model_.derived
        if "estimator's log Z" not in kept:
            if is_small(self.model_):
                kept["estimator's log Z"] = self.model_.log_partition, 0.0
            else:
                found = self.model_.annealed_log_partition(rng=draw_seed(self.random_state))
                kept["estimator's log Z"] = found.log_evidence, found.standard_error
        found_log_z: tuple[float, float] = kept["estimator's log Z"]
        return found_log_z

    def _rows(self, X: Any, *, reset: bool = False) -> np.ndarray:
        rows = np.asarray(validate_table(self, X, dtype=np.float64, reset=reset, ensure_all_finite="allow-nan"))
        if check_choice(self.visible, KINDS, "visible") != "bernoulli" or self.binarize is None:
            return rows
        return np.where(np.isnan(rows), np.nan, rows > check_number(self.binarize, "binarize"))

    @property
    def _n_features_out(self) -> int:
        return int(self.model_.num_hidden)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
