"""`elbo` of linear-Gaussian factors: the bound of any Gaussian over the factors of each row, in closed form.

With q = N(m, S) and the seen columns x of a row, E log p(x | z) is the log-density of x at W m + μ, less
½ Σ wᵀ S w / ψ over the rows w of the loadings; KL(q ‖ N(0, I)) and KL(q ‖ p(z | x)) are those of Gaussians.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_kind
from juncture.data.rows import rows_of
from juncture.errors import InvalidData
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.inference.variational.elbo import RowBounds
from juncture.latent.factor_analysis.beliefs import FactorBeliefs
from juncture.latent.factor_analysis.infer import infer_factors
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.numerics.stable import LOG_TWO_PI


def bound_factors(model: LinearFactors, q: Any, evidence: Any) -> RowBounds:
    """The bounds of rows, or of one; what is missing in a row is integrated out."""
    rows, _ = rows_of(evidence, (model.num_columns,), model.feature_names)
    beliefs = infer_factors(model, rows)
    mean, covariance = as_gaussians(q, len(rows), model.num_factors)
    own, exact = MultivariateGaussian(mean, covariance), beliefs["factors"]
    prior = MultivariateGaussian(np.zeros(mean.shape), np.broadcast_to(np.eye(model.num_factors), covariance.shape))
    likelihood = expected_log_likelihood(model, rows, mean, covariance)
    entropy = np.asarray(own.entropy())
    return RowBounds(
        likelihood - np.asarray(own.cross_entropy(prior)),
        entropy,
        np.asarray(beliefs.posterior.log_evidence),
        np.asarray(own.kl_divergence(exact)),
        likelihood,
        np.asarray(own.kl_divergence(prior)),
    )


def expected_log_likelihood(
    model: LinearFactors, rows: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """(row,): E log p(seen | factors)."""
    seen = ~np.isnan(rows)
    squares = (np.where(seen, rows, 0.0) - mean @ model.loadings.T - model.mean) ** 2
    squares += np.einsum("cf,nfg,cg->nc", model.loadings, covariance, model.loadings)
    logs = -0.5 * (np.log(model.variances) + LOG_TWO_PI + squares / model.variances)
    return np.where(seen, logs, 0.0).sum(axis=1)


def as_gaussians(q: Any, num_rows: int, num_factors: int) -> tuple[np.ndarray, np.ndarray]:
    """The means (row, factor) and the covariances (row, factor, factor) of q."""
    given: Any = q["factors"] if isinstance(q, FactorBeliefs) else check_kind(q, MultivariateGaussian, "q")
    mean, covariance = np.asarray(given.mean), np.asarray(given.covariance)
    if mean.shape[-1] != num_factors or mean.shape[:-1] not in {(), (num_rows,), (1,)}:
        raise InvalidData(
            f"q is a Gaussian over {num_factors} factors, for all {num_rows} rows or with one a row;"
            f" its means have the shape {mean.shape}"
        )
    wide = (num_rows, num_factors)
    return np.broadcast_to(mean, wide), np.broadcast_to(covariance, (*wide, num_factors))
