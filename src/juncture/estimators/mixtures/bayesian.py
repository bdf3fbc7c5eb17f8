"""`BayesianGaussianMixture`: a Dirichlet-process mixture of Gaussians by variational inference; holes and weights."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np

from juncture.checks import check_choice, check_count
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, Unsupported
from juncture.estimators.mixtures.gaussian import STRUCTURES, ImputingMixture
from juncture.estimators.tables import check_seen, default_names, draw_seed, row_weights
from juncture.latent.mixtures.dirichlet_process import fit_dirichlet_process
from juncture.learning.em.expectation_maximization import ExpectationMaximization


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
