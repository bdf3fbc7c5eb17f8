"""The base class of the mixture estimators: it reads a table with holes, and calls `fit` and `infer`."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from juncture.checks import check_choice, check_count
from juncture.components.contract import Emissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.estimators.tables import check_seen, default_names, draw_seed, row_weights, validate_table
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.verbs import fit, infer, log_prob

STARTS = {"kmeans": "k-means", "random": "random"}


@dataclass(eq=False, repr=False)
class MixtureEstimator(DensityMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture learned from rows of a table, in which NaN is a missing cell.

    The fields are the parameters of the constructor; a subclass adds its own.
    """

    cells: ClassVar[Any] = np.float64  # what cells are turned into; None leaves them

    n_components: int = 1
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 1000
    n_init: int = 1
    init_params: str = "kmeans"
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mixture; `y` is ignored, `sample_weight` has one weight a row."""
        raise NotImplementedError

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Learn the mixture, and give the most probable component of each row."""
        return self.fit(X, y, sample_weight).predict(X)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable component of each row."""
        return np.asarray(self._beliefs(X).log_joint.argmax(axis=1))

    def predict_proba(self, X: Any) -> np.ndarray:
        """p(component | row), (row, component)."""
        return np.array(self._beliefs(X).responsibilities)

    def score_samples(self, X: Any) -> np.ndarray:
        """log p(row); what is missing is summed out."""
        rows = self._rows(X)
        return np.asarray(log_prob(self.model_, rows))

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log p(row)."""
        return float(self.score_samples(X).mean())

    def code_length(self, X: Any) -> np.ndarray:
        """-log₂ p(row): bits for each row."""
        return np.asarray(self._beliefs(X).code_length)

    def outlier_score(self, X: Any) -> np.ndarray:
        """The share of rows drawn from the mixture, with the same holes, that are likelier: near 1 for an outlier."""
        return self._beliefs(X).outlier_score(rng=draw_seed(self.random_state))

    def aic(self, X: Any) -> float:
        """Akaike's criterion, -2 log p(X) + 2 · parameters: the lower the better."""
        total = float(self.score_samples(X).sum())
        return 2.0 * self.model_.num_parameters - 2.0 * total

    def bic(self, X: Any) -> float:
        """The Bayesian information criterion, -2 log p(X) + log(rows) · parameters: the lower the better."""
        logs = self.score_samples(X)
        return float(np.log(len(logs))) * self.model_.num_parameters - 2.0 * float(logs.sum())

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """(rows, components) drawn from the mixture."""
        check_is_fitted(self)
        count = check_count(n_samples, "n_samples", least=1)
        rng = np.random.default_rng(draw_seed(self.random_state if random_state is None else random_state))
        shares = self.model_.weights / self.model_.weights.sum()
        chosen = rng.choice(self.model_.num_components, count, p=shares)
        drawn = self.model_.components.sample(chosen, rng).reshape(count, -1)
        return self._cells(drawn), chosen

    def _num_starts(self) -> int:
        return int(check_count(self.n_init, "n_init", least=1))

    def _start(self) -> Any:
        return STARTS[check_choice(self.init_params, STARTS, "init_params")]

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        """The cells as the mixture observes them."""
        table = validate_table(self, X, dtype=self.cells, reset=reset, ensure_all_finite="allow-nan")
        return np.asarray(table)

    def _cells(self, rows: np.ndarray) -> Any:
        """What the mixture observes as cells of a table."""
        return rows

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._read(X, reset=False)

    def _beliefs(self, X: Any) -> Any:
        rows = self._rows(X)
        return infer(self.model_, rows, on_impossible="raise")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


@dataclass(eq=False, repr=False)
class LikelihoodMixture(MixtureEstimator):
    """A mixture whose likelihood, or posterior density, EM makes as large as it can."""

    _: KW_ONLY
    hard: bool = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mixture; `y` is ignored, `sample_weight` has one weight a row."""
        number, starts = int(check_count(self.n_components, "n_components", least=1)), self._num_starts()
        kind = self._start()
        rows = self._read(X, reset=True)
        check_seen(rows, list(getattr(self, "feature_names_in_", default_names(rows.shape[1]))))
        template = Mixture(np.full(number, 1.0 / number), self._first_components(rows, number))
        method = ExpectationMaximization(self.tol, self.max_iter, starts - 1)
        self.fit_: Fit[Mixture] = fit(
            template,
            rows,
            self._prior(),
            weights=row_weights(sample_weight, X),
            start=kind,
            hard=self.hard,
            method=method,
            rng=draw_seed(self.random_state),
        )
        self._adopt(self.fit_)
        return self

    def _first_components(self, rows: np.ndarray, number: int) -> Emissions:
        """Components of the kind that is asked for, all of them equal."""
        raise NotImplementedError

    def _prior(self) -> MixturePrior | None:
        return None

    def _adopt(self, found: Fit[Mixture]) -> None:
        self.model_, self.weights_ = found.model, np.array(found.model.weights)
        self.converged_, self.n_iter_ = found.trace.converged, found.trace.num_steps
        self.lower_bound_ = found.trace.values[-1]
