"""Questions to linear factors: the factors of a row, how probable it is, and rows and factors drawn at random.

`elbo` bounds log p(row) by any Gaussian over the factors, in closed form. With q = N(m, S) and the seen columns x of a
row, E log p(x | z) is the log-density of x at W m + μ, less ½ Σ wᵀ S w / ψ over the rows w of the loadings;
KL(q ‖ N(0, I)) and KL(q ‖ p(z | x)) are those of Gaussians.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.base.checks import check_kind
from juncture.base.methods import register_methods, resolve_method
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.dataset import Dataset
from juncture.data.findings import row_index
from juncture.data.rows import Rows, as_dataset
from juncture.errors import InvalidData
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.inference.engines.contract import EXACT, Cost, Diagnosed, Diagnostics
from juncture.inference.engines.verb_options import check_limits, check_num_rows, check_policy
from juncture.inference.variational.elbo import RowBounds
from juncture.latent.factor_analysis.beliefs import BLOCK, FactorBeliefs, Patterns, Posterior, posterior_of
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.numerics.stable import LOG_TWO_PI


def infer_factors(
    model: LinearFactors,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> FactorBeliefs:
    """The beliefs about the factors of one row, or of each of many; what is missing (NaN) is integrated out."""
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    read = Rows.of(evidence, model.feature_names)
    rows, is_single = read.numbers((model.num_columns,)), read.is_single((model.num_columns,))
    if budget is not None or memory_limit is not None:
        check_cost(model, len(rows), budget, memory_limit)
    index = None if is_single else row_index(evidence)
    return FactorBeliefs(model, rows, posterior_of(model, Patterns.of(rows)), is_single, algorithm, index=index)


def check_cost(model: LinearFactors, num_rows: int, budget: Any, memory_limit: Any) -> None:
    """Raise `TooLarge` for a run beyond the limits."""
    columns, factors = model.loadings.shape
    cost = Cost(0, factors, 8 * num_rows * (4 * columns + factors**2), num_rows * (columns + factors) * factors)
    check_limits(cost, f"the factors of {number_of(num_rows, 'row')}", budget, memory_limit)


def log_prob_factors(model: LinearFactors, rows: Any, *, method: Any = "auto") -> Any:
    """Log p of what is seen: a number for one row, an array for many."""
    resolve_method(model, "log_prob", method)
    read = Rows.of(rows, model.feature_names)
    table, is_single = read.numbers((model.num_columns,)), read.is_single((model.num_columns,))
    blocks = [table[start : start + BLOCK] for start in range(0, len(table), BLOCK)]
    found = [posterior_of(model, Patterns.of(block)).log_evidence for block in blocks]
    return float(found[0][0]) if is_single else np.concatenate([np.zeros(0), *found])


def most_probable_factors(
    model: LinearFactors,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> MostProbableFactors:
    """The most probable factors of one row, or of each of many."""
    algorithm = resolve_method(model, "most_probable", method)
    limits: dict[str, Any] = {"budget": budget, "memory_limit": memory_limit}
    beliefs = infer_factors(model, evidence, method=algorithm, on_impossible=on_impossible, **limits)
    peaks = peak_log_density(beliefs.posterior)
    log_prob = float(peaks[0]) if beliefs.is_single else peaks
    return MostProbableFactors(beliefs.mean, log_prob, log_prob + beliefs.log_evidence, algorithm)


@dataclass(frozen=True, eq=False, repr=False)
class MostProbableFactors(Diagnosed):
    """The factors with the highest density given each row, which are their means.

    `log_prob` is their log-density given the row, `log_joint` that of factors and row together: numbers for one row,
    (row,) for many.
    """

    factors: np.ndarray  # (factor,) or (row, factor)
    log_prob: Any
    log_joint: Any
    method: str = "gaussian"
    diagnostics: Diagnostics = EXACT

    @property
    def assignment(self) -> dict[str, np.ndarray]:
        return {"factors": self.factors}

    @property
    def impossible(self) -> tuple[int, ...]:
        """No row has density zero under Gaussian noise: always ()."""
        return ()

    def __repr__(self) -> str:
        *rows, factors = self.factors.shape
        return f"MostProbableFactors({number_of(factors, 'factor')} of {number_of(sum(rows) or 1, 'row')})"


def peak_log_density(posterior: Posterior) -> np.ndarray:
    """Log of the density of each row's Gaussian at its mean, (row,)."""
    log_sizes = np.linalg.slogdet(posterior.covariances)[1]
    return -0.5 * (log_sizes + posterior.mean.shape[1] * LOG_TWO_PI)[posterior.codes]


def sample_factors(model: LinearFactors, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Any:
    """`n` rows drawn from the model, with columns "x0", "x1", …; with `given`, one row: `n` draws of its factors."""
    algorithm = resolve_method(model, "sample", method)
    if given is not None:
        beliefs = infer_factors(model, given, method=algorithm)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    return draw_rows(model, check_num_rows(n, 24 * model.num_columns), as_generator(rng))


def draw_rows(model: LinearFactors, count: int, generator: np.random.Generator) -> Dataset:
    factors = generator.standard_normal((count, model.num_factors))
    noise = generator.standard_normal((count, model.num_columns)) * np.sqrt(model.variances)
    return as_dataset(factors @ model.loadings.T + model.mean + noise, model.feature_names)


def bound_factors(model: LinearFactors, q: Any, evidence: Any) -> RowBounds:
    """The bounds of rows, or of one; what is missing in a row is integrated out."""
    rows = Rows.of(evidence, model.feature_names).numbers((model.num_columns,))
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


def expected_log_likelihood(
    model: LinearFactors, rows: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """(row,): E log p(seen | factors)."""
    seen = ~np.isnan(rows)
    squares = (np.where(seen, rows, 0.0) - mean @ model.loadings.T - model.mean) ** 2
    squares += np.einsum("cf,nfg,cg->nc", model.loadings, covariance, model.loadings)
    logs = -0.5 * (np.log(model.variances) + LOG_TWO_PI + squares / model.variances)
    return np.where(seen, logs, 0.0).sum(axis=1)


for each in ("infer", "log_prob", "most_probable", "sample"):
    register_methods(LinearFactors, each, "gaussian")
