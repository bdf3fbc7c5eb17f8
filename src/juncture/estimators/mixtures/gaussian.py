"""`GaussianMixture`: components that are Gaussian, with four structures of covariance; holes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.checks import check_choice, check_flag
from juncture.components.contract import Emissions
from juncture.components.gaussian import GaussianEmissions, shape_of
from juncture.components.gaussian_estimate import first_variance
from juncture.components.mixture import Mixture, MixturePrior
from juncture.estimators.mixtures.estimator import LikelihoodMixture, MixtureEstimator
from juncture.latent.mixtures.starts import mean_and_variance
from juncture.learning.fit import Fit

STRUCTURES = {"full": "full", "tied": "tied", "diag": "diagonal", "spherical": "spherical"}


class ImputingMixture(MixtureEstimator):
    """A mixture of columns of numbers, which says what is expected in holes."""

    def impute(self, X: Any, *, return_std: bool = False) -> Any:
        """The rows with E[missing | observed] in their holes; with `return_std`, also the deviation of each cell."""
        check_flag(return_std, "return_std")
        found = self._beliefs(X).impute()
        return (np.array(found.mean), np.array(found.deviation)) if return_std else np.array(found.mean)


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
        EM ends when a step gains less than `tol` of the log-likelihood, or after `max_iter` steps.
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
