"""`BernoulliMixture`: columns of zeros and ones, independent within each component; holes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.checks import check_number
from juncture.components.contract import Emissions
from juncture.components.convert import of_batch
from juncture.components.mixture import Mixture, MixturePrior
from juncture.errors import InvalidData
from juncture.estimators.mixtures.estimator import LikelihoodMixture
from juncture.families.continuous.beta import Beta
from juncture.families.discrete.bernoulli import Bernoulli
from juncture.families.vectors.independent import Independent
from juncture.learning.fit import Fit


@dataclass(eq=False, repr=False)
class BernoulliMixture(LikelihoodMixture):
    """A mixture of independent Bernoulli columns (latent classes) as a scikit-learn estimator.

    Parameters
    ----------
    n_components
        The number of components.
    alpha
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

    alpha: float = 1.0
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
        alpha = check_number(self.alpha, "alpha", least=0.0)
        return MixturePrior(None, [Beta(1.0 + alpha, 1.0 + alpha)] * self.n_features_in_) if alpha else None

    def _adopt(self, found: Fit[Mixture]) -> None:
        super()._adopt(found)
        parts: Any = found.model.components
        self.probabilities_ = np.stack([np.asarray(part.family.probability) for part in parts.parts], axis=1)
