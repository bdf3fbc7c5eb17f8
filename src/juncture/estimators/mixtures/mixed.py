"""`MixedMixture`: columns of different families, such as numbers, categories and counts; holes and weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from juncture.checks import check_choice, check_kind, check_number
from juncture.components.categorical import CategoricalEmissions
from juncture.components.contract import Emissions
from juncture.components.convert import of_batch
from juncture.components.gaussian import GaussianEmissions
from juncture.components.gaussian_estimate import first_variance
from juncture.components.independent import IndependentEmissions
from juncture.components.mixture import MixturePrior
from juncture.data.tables.coding import warn_unseen
from juncture.errors import InvalidData, Unsupported
from juncture.estimators.mixtures.estimator import LikelihoodMixture
from juncture.estimators.tables import default_names
from juncture.families.continuous.exponential import Exponential
from juncture.families.discrete.poisson import Poisson
from juncture.latent.mixtures.starts import mean_and_variance
from juncture.variables import is_missing


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
    alpha
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
    alpha: float = 1.0

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
        alpha = check_number(self.alpha, "alpha", least=0.0)
        priors = [None if known is None or not alpha else alpha for known in self.categories_]
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
