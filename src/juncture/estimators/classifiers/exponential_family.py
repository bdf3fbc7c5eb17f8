"""`ExponentialFamilyClassifier`: columns of one family in each class, with one member for all of them on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.checks import check_flag
from juncture.components.contract import Emissions
from juncture.components.repeated import RepeatedEmissions
from juncture.errors import Unsupported
from juncture.estimators.classifiers.generative import GenerativeEstimator
from juncture.estimators.tables import check_seen, default_names, validate_table
from juncture.families.continuous.gaussian import Gaussian
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.supervised.generative.columns import ColumnFamily, as_column_family, column_density, equal_classes
from juncture.supervised.generative.estimation import Estimation

BY_CELL = {"bernoulli": Bernoulli, "gaussian": Gaussian}


@dataclass(eq=False, repr=False)
class ExponentialFamilyClassifier(GenerativeEstimator):
    """Classes whose columns are independent and of one family, such as `jt.Gamma` or "poisson".

    Parameters
    ----------
    family
        A name as in `NaiveBayes`, or a class of families with `estimate`, such as `jt.Gamma` or `jt.Laplace`.
    tied
        Whether all columns of a class share one member of the family: tied Bernoulli classes depend on the number of
        ones in the row only.
    alpha, priors, estimate, tol, max_iter
        As those of `NaiveBayes`.

    Attributes
    ----------
    model_, classes_, class_prior_, coef_, intercept_, statistics_, num_parameters_, n_iter_, n_features_in_
        As those of `NaiveBayes`.

    Examples
    --------
    >>> tied = ExponentialFamilyClassifier("bernoulli", tied=True, alpha=0.0)
    >>> rows = [[0, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 1, 1, 1]]
    >>> tied.fit(rows, ["few", "few", "many", "many"]).model_.densities.column.family.probability.tolist()
    [0.25, 0.75]
    """

    family: Any = "gaussian"
    tied: bool = False
    alpha: float = 1.0

    def _estimation(self) -> Estimation:
        return Estimation(self.alpha, self.priors, self.estimate)

    def _read(self, X: Any, *, reset: bool) -> np.ndarray:
        rows = np.asarray(validate_table(self, X, dtype=np.float64, reset=reset, ensure_all_finite="allow-nan"))
        if reset:
            check_seen(rows, list(getattr(self, "feature_names_in_", default_names(rows.shape[1]))))
        return rows

    def _densities(self, rows: np.ndarray, num_classes: int) -> Emissions:
        family = as_column_family(self.family)
        if family.name in {"categorical", "multinomial"}:
            raise Unsupported(f"columns of the family {family.name!r} are those of NaiveBayes")
        if not check_flag(self.tied, "tied"):
            return equal_classes(rows, [family] * rows.shape[1], num_classes)
        cell = ColumnFamily(family.name, family.family or BY_CELL[family.name])
        return RepeatedEmissions(column_density(rows.reshape(-1), cell, num_classes, 0), rows.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = bool(self.tied)  # a row counts by the sums of its cells only
        return tags
