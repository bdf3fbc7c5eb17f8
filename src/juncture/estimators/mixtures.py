"""Mixtures as scikit-learn's estimators.

Mixtures of Gaussians, with a prior over their weights too, of binary columns, and of columns of several kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_choice, check_count, check_flag, check_kind, check_number
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.convert import of_batch
from juncture.components.densities import mean_and_variance
from juncture.components.gaussian import GaussianEmissions, shape_of
from juncture.components.gaussian_estimate import first_variance
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import Mixture, MixturePrior
from juncture.data.rows import default_names
from juncture.data.tables.coding import warn_unseen
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, Unsupported
from juncture.estimators.reading import check_seen, draw_seed, row_weights, validate_table, weighted_mean
from juncture.families.continuous.beta import Beta
from juncture.families.continuous.exponential import Exponential
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.discrete.poisson import Poisson
from juncture.families.vectors.independent import Independent
from juncture.latent.mixtures.dirichlet_process import fit_dirichlet_process
from juncture.learning.em.expectation_maximization import ExpectationMaximization
from juncture.learning.fit import Fit
from juncture.variables import is_missing
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

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean of log p(row), weighted if there are weights."""
        return weighted_mean(self.score_samples(X), sample_weight)

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
        """The cells of a table as the mixture observes them."""
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
            prior=self._prior(),
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


STRUCTURES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


class ImputingMixture(MixtureEstimator):
    """A mixture of columns of numbers, which says what is expected in holes."""

    def impute(self, X: Any, *, return_std: bool = False) -> Any:
        """The rows with E[missing | observed] in their holes; with `return_std`, also the deviation of each cell."""
        check_flag(return_std, "return_std")
        found = self._beliefs(X).impute()
        return (np.array(found.mean), np.array(found.standard_deviation)) if return_std else np.array(found.mean)


@dataclass(eq=False, repr=False)
class GaussianMixture(ImputingMixture, LikelihoodMixture):
    """A Gaussian mixture as a scikit-learn estimator, for tables with holes and weights.

    A cell that is missing (NaN) is summed out, exactly, for every structure of covariance.

    Parameters
    ----------
    n_components
        The number of components.
    covariance_type
        "full", "tied", "diag" or "spherical".
    prior
        A pseudo-count for each weight, or a `MixturePrior`; None for maximum likelihood.
    tol, max_iter
        EM ends when a step gains less than `tol` of what the log-likelihood rose, or after `max_iter` steps.
    n_init
        The number of starts, of which the best is kept.
    init_params
        "kmeans" or "random".
    hard
        Whether each row belongs wholly to its most probable component (hard EM).
    random_state
        The seed of starts.

    Attributes
    ----------
    model_
        The `Mixture`.
    fit_
        The `Fit`, with the trace of the objective.
    weights_, means_, covariances_
        The parameters, in scikit-learn's shapes.
    converged_, n_iter_, lower_bound_
        How EM ended, after how many steps, and the objective.
    n_features_in_
        The number of columns.

    Examples
    --------
    >>> rows = [[0.0, 0.1], [0.2, float("nan")], [0.1, -0.2], [9.0, 9.2], [float("nan"), 8.9], [9.1, 9.0]]
    >>> GaussianMixture(2, covariance_type="spherical").fit(rows).predict(rows).tolist()
    [1, 1, 1, 0, 0, 0]
    """

    covariance_type: str = "full"
    prior: Any = None

    def _first_components(self, rows: np.ndarray, number: int) -> Emissions:
        structure: Any = STRUCTURES[check_choice(self.covariance_type, STRUCTURES, "covariance_type")]
        mean, variance = mean_and_variance(rows, np.ones(len(rows)))
        variance = first_variance(mean, variance)
        means = np.tile(mean, (number, 1))
        of_all = {
            "full": np.diag(variance),
            "tied": np.diag(variance),
            "diagonal": variance,
            "spherical": variance.mean(),
        }
        covariance = np.broadcast_to(of_all[structure], shape_of(structure, means.shape))
        return GaussianEmissions(means, covariance, structure)

    def _prior(self) -> MixturePrior | None:
        return self.prior

    def _adopt(self, found: Fit[Mixture]) -> None:
        super()._adopt(found)
        components: Any = found.model.components
        self.means_, self.covariances_ = np.array(components.means), np.array(components.covariance)


@dataclass(eq=False, repr=False)
class BayesianGaussianMixture(ImputingMixture):
    """A Dirichlet-process mixture of Gaussians as a scikit-learn estimator: components that are not needed stay empty.

    The bound on the evidence never falls, and missing cells (NaN) are integrated out. Answers are those of the mixture
    with the expected weights and precisions.

    Parameters
    ----------
    n_components
        The largest number of components.
    covariance_type
        "full": the means and covariances of components have a normal-inverse-Wishart prior.
    prior
        A `NormalInverseWishart` of the means and covariances; by default the mean of the data with the strength of one
        row, and as many degrees as columns with the variances of the columns.
    weight_concentration_prior
        α of the Dirichlet process: the larger, the more components; None for 1 / n_components.
    init_params
        "kmeans": clusters of the rows. "random": each row goes with the nearest of a few random rows.
    tol, max_iter, n_init, random_state
        As those of `GaussianMixture`.

    Attributes
    ----------
    posterior_
        The approximate posterior of weights and components.
    model_, weights_, means_, covariances_, converged_, n_iter_, n_features_in_
        As those of `GaussianMixture`.
    lower_bound_
        The bound on the log-evidence.

    Examples
    --------
    >>> rows = [[0.0, 0.1], [0.2, 0.0], [0.1, -0.2], [9.0, 9.2], [9.2, 8.9], [9.1, 9.0]] * 5
    >>> found = BayesianGaussianMixture(5).fit(rows)
    >>> int((found.weights_ > 0.05).sum())
    2
    """

    _: KW_ONLY
    covariance_type: str = "full"
    prior: Any = None
    weight_concentration_prior: float | None = None

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the mixture; `y` is ignored, `sample_weight` has one weight a row."""
        number, starts = int(check_count(self.n_components, "n_components", least=1)), self._num_starts()
        start = self._start()
        if check_choice(self.covariance_type, STRUCTURES, "covariance_type") != "full":
            raise Unsupported(
                f'BayesianGaussianMixture learns "full" covariances; got covariance_type={self.covariance_type!r}; '
                f'take "full", or GaussianMixture with prior="weak"'
            )
        rows = self._read(X, reset=True)
        given = as_weights(row_weights(sample_weight, X), len(rows))
        weights = np.ones(len(rows)) if given is None else np.array(given)
        if np.isnan(rows[weights > 0]).all():
            raise InvalidData("nothing was observed: all values of all rows are missing")
        check_seen(rows, list(getattr(self, "feature_names_in_", default_names(rows.shape[1]))))
        alpha = self.weight_concentration_prior
        rng = np.random.default_rng(draw_seed(self.random_state))
        method = ExpectationMaximization(self.tol, self.max_iter, starts - 1)
        self.posterior_, trace = fit_dirichlet_process(
            rows, weights, number, 1.0 / number if alpha is None else alpha, method, rng, self.prior, start
        )
        self.model_ = self.posterior_.to_mixture()
        components: Any = self.model_.components
        self.weights_, self.means_ = np.array(self.model_.weights), np.array(components.means)
        self.covariances_ = np.array(components.covariance)
        self.converged_, self.n_iter_, self.lower_bound_ = trace.converged, trace.num_steps, trace.values[-1]
        return self


@dataclass(eq=False, repr=False)
class BernoulliMixture(LikelihoodMixture):
    """A mixture of independent Bernoulli columns (latent classes) as a scikit-learn estimator.

    Parameters
    ----------
    n_components
        The number of components.
    prior
        A pseudo-count of both values, in each column of each component; 0 for maximum likelihood.
    binarize
        Cells above this number are ones; None if all cells are 0 or 1.
    tol, max_iter, n_init, init_params, hard, random_state
        As those of `GaussianMixture`.

    Attributes
    ----------
    model_, fit_, weights_, converged_, n_iter_, lower_bound_, n_features_in_
        As those of `GaussianMixture`.
    probabilities_
        p(1 | component), (component, column).

    Examples
    --------
    >>> rows = [[1, 1, 0], [1, float("nan"), 0], [1, 1, 0], [0, 0, 1], [0, 0, float("nan")], [0, 0, 1]]
    >>> labels = BernoulliMixture(2).fit_predict(rows).tolist()
    >>> labels[:3] == [labels[0]] * 3, labels[0] != labels[3]
    (True, True)
    """

    prior: float = 1.0
    binarize: float | None = 0.0

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        rows = super()._read(X, reset=reset)
        if self.binarize is not None:
            limit = check_number(self.binarize, "binarize")
            return np.where(np.isnan(rows), np.nan, rows > limit)
        if not (np.isnan(rows) | (rows == 0) | (rows == 1)).all():
            raise InvalidData("with binarize=None all cells are 0, 1 or missing; give a number to compare them with")
        return rows

    def _first_components(self, rows: np.ndarray, number: int) -> Emissions:
        even = Bernoulli(np.full(number, 0.5))
        return of_batch(Independent([even] * rows.shape[1]))

    def _prior(self) -> MixturePrior | None:
        prior = check_number(self.prior, "prior", least=0.0)
        return MixturePrior(None, [Beta(1.0 + prior, 1.0 + prior)] * self.n_features_in_) if prior else None

    def _adopt(self, found: Fit[Mixture]) -> None:
        super()._adopt(found)
        parts: Any = found.model.components
        self.probabilities_ = np.stack([np.asarray(part.family.probability) for part in parts.parts], axis=1)


def gaussian_column(mean: float, variance: float, number: int) -> Emissions:
    return GaussianEmissions(np.full(number, mean), np.full(number, variance))


def poisson_column(mean: float, variance: float, number: int) -> Emissions:
    return of_batch(Poisson(np.full(number, max(mean, 1e-3))))


def exponential_column(mean: float, variance: float, number: int) -> Emissions:
    return of_batch(Exponential(np.full(number, 1.0 / max(mean, 1e-300))))


NUMBERS: dict[str, Callable[[float, float, int], Emissions]] = {
    "gaussian": gaussian_column,
    "poisson": poisson_column,
    "exponential": exponential_column,
}
KINDS = (*NUMBERS, "categorical")


@dataclass(eq=False, repr=False)
class MixedMixture(LikelihoodMixture):
    """A mixture whose columns have families of their own, independent within each component (latent classes).

    Parameters
    ----------
    n_components
        The number of components.
    kinds
        The family of each column, "gaussian", "poisson", "exponential" or "categorical": a list, or a mapping from
        column names or positions. Other columns are categorical if they hold text or booleans, else Gaussian.
    prior
        A pseudo-count of each category, in each component; 0 for maximum likelihood.
    tol, max_iter, n_init, init_params, hard, random_state
        As those of `GaussianMixture`.

    Attributes
    ----------
    model_, fit_, weights_, converged_, n_iter_, lower_bound_, n_features_in_
        As those of `GaussianMixture`.
    kinds_
        The family of each column.
    categories_
        The categories of each column; None for numbers.

    Examples
    --------
    >>> rows = [[0.1, "a"], [0.0, None], [0.2, "a"], [7.0, "b"], [7.1, "b"], [float("nan"), "b"]]
    >>> labels = MixedMixture(2).fit_predict(rows).tolist()
    >>> labels[:3] == [labels[0]] * 3, labels[0] != labels[3]
    (True, True)
    """

    cells: ClassVar[Any] = None

    kinds: Any = None
    prior: float = 1.0

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        table = super()._read(X, reset=reset)
        columns = [table[:, column] for column in range(table.shape[1])]
        if reset:
            self.kinds_ = self._find_kinds(columns)
            pairs = zip(columns, self.kinds_, strict=True)
            self.categories_ = [categories_of(each) if kind == "categorical" else None for each, kind in pairs]
        found = zip(columns, self.categories_, strict=True)
        coded = [as_numbers(each) if known is None else as_codes(each, known) for each, known in found]
        if not reset:
            self._warn_unseen(columns, coded)
        return np.stack(coded, axis=1)

    def _warn_unseen(self, columns: list[np.ndarray], coded: list[np.ndarray]) -> None:
        """Warn of categories that no row of `fit` had: they are taken as missing."""
        names = getattr(self, "feature_names_in_", default_names(len(columns)))
        unseen = {}
        for name, cells, codes, known in zip(names, columns, coded, self.categories_, strict=True):
            if known is not None and np.isnan(codes).any():
                unseen[str(name)] = sum(not is_missing(cell) for cell in cells[np.isnan(codes)].tolist())
        warn_unseen({name: number for name, number in unseen.items() if number})

    def _find_kinds(self, columns: list[np.ndarray]) -> list[str]:
        kinds = ["categorical" if is_text(column) else "gaussian" for column in columns]
        names = list(getattr(self, "feature_names_in_", range(len(columns))))
        check_kind(self.kinds, (Mapping, list, tuple, type(None)), "kinds")
        given = self.kinds if isinstance(self.kinds, Mapping) else dict(enumerate(self.kinds or []))
        for name, kind in given.items():
            position = names.index(name) if name in names else name
            if not isinstance(position, int | np.integer) or not 0 <= position < len(columns):
                raise InvalidData(f"kinds names the column {name!r}, which X has not")
            kinds[position] = check_choice(kind, KINDS, "a kind of column")
        return kinds

    def _first_components(self, rows: np.ndarray, number: int) -> Emissions:
        means, variances = mean_and_variance(rows, np.ones(len(rows)))
        variances = first_variance(means, variances)
        parts = []
        for column, (kind, known) in enumerate(zip(self.kinds_, self.categories_, strict=True)):
            if known is None:
                parts.append(NUMBERS[kind](float(means[column]), float(variances[column]), number))
            else:
                parts.append(CategoricalEmissions(np.full((number, len(known)), 1.0 / len(known))))
        return IndependentEmissions(parts)

    def _prior(self) -> MixturePrior | None:
        prior = check_number(self.prior, "prior", least=0.0)
        priors = [None if known is None or not prior else prior for known in self.categories_]
        return MixturePrior(None, priors)

    def _cells(self, rows: np.ndarray) -> Any:
        """Numbers, and the labels of categories."""
        if not any(kind == "categorical" for kind in self.kinds_):
            return rows
        cells = rows.astype(object)
        for column, known in enumerate(self.categories_):
            if known is not None:
                cells[:, column] = np.array(known, object)[rows[:, column].astype(np.int64)]
        return cells

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def is_text(column: np.ndarray) -> bool:
    """Whether a column holds something else than numbers."""
    if column.dtype.kind != "O":
        return column.dtype.kind in "bUS"
    return any(isinstance(cell, str | bool | np.bool_) for cell in column)


def categories_of(column: np.ndarray) -> list[Any]:
    """The labels that a column shows, sorted; a column of holes has one."""
    return sorted(
        {cell for cell in column.tolist() if not is_missing(cell)}, key=lambda cell: (str(type(cell)), cell)
    ) or [""]


def as_codes(column: np.ndarray, known: list[Any]) -> np.ndarray:
    """The number of each label; NaN for holes, and for labels that no row of `fit` had."""
    codes = {label: float(code) for code, label in enumerate(known)}
    return np.array([np.nan if is_missing(cell) else codes.get(cell, np.nan) for cell in column.tolist()])


def as_numbers(column: np.ndarray) -> np.ndarray:
    try:
        return np.array([np.nan if cell is None else cell for cell in column.tolist()], float)
    except TypeError as error:
        raise Unsupported(f"a cell is neither a number nor text: {error}") from error
    except ValueError as error:
        raise InvalidData(f"a column of numbers holds something else: {error}") from error
