"""Questions to independent sources: the sources of a row, how probable it is, and rows drawn at random.

Without noise the sources of a row are one point. With noise, let each source be one of its Gaussian parts: given a
combination c of parts, with means m and variances V, factors and row are jointly Gaussian. With G = Σ w wᵀ / ψ over the
seen columns and h = Σ w (x - μ) / ψ, the covariance of the factors is S = (G + V⁻¹)⁻¹, their mean is S (h + V⁻¹ m), and

    log p(x | c) = ½ (hᵀ, 1) Q (h, 1)ᵀ - ½ (Σ (x - μ)²/ψ + log |2πΨ| + log |V| - log |S| + Σ m²/V),

with Q of S and S V⁻¹ m. So all combinations of all rows are a few products of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from juncture.base.methods import register_methods, resolve_method
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.findings import row_index
from juncture.data.rows import Rows, as_dataset, check_complete
from juncture.errors import InvalidData
from juncture.inference.engines.contract import Cost
from juncture.inference.engines.verb_options import check_limits, check_num_rows, check_policy
from juncture.latent.factor_analysis.beliefs import FactorBeliefs, Patterns, Posterior
from juncture.latent.independent_components.model import IndependentComponents, IndependentFactors, IndependentSources
from juncture.latent.independent_components.sources import Combinations, combinations, log_prob_of
from juncture.numerics import stable

CELLS = 2**22  # of (row, combination) at once
INSTEAD = ("independent components", "fit IndependentFactors, which have noise, or fill it first")


class SourceMoments(NamedTuple):
    """The mean and the covariance of the sources given a row; with an axis of rows where many were given."""

    mean: np.ndarray
    covariance: np.ndarray

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The number of rows, () for one."""
        return self.mean.shape[:-1]

    @property
    def variance(self) -> np.ndarray:
        """The variance of each source."""
        return np.diagonal(self.covariance, axis1=-2, axis2=-1)


@dataclass(frozen=True, eq=False, repr=False)
class SourceBeliefs(FactorBeliefs):
    """The sources of each row given what is seen of it: `beliefs["sources"]`, their mean and covariance.

    Without noise the mean is the one point that explains the row, and the covariance is 0. With noise the posterior is
    a mixture of Gaussians, from which `sample` draws. The other answers are those of `FactorBeliefs`.
    """

    variable = "sources"
    model: Any

    def __getitem__(self, name: str) -> Any:
        """The mean and the covariance of the sources given the row, or given each row."""
        self._check_variable(name)
        return SourceMoments(self.mean, self.covariance)

    def _draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        if isinstance(self.model, IndependentComponents):
            return np.repeat(self.posterior.mean, count, axis=0)
        (found,) = answer_patterns(self.model, Patterns.of(self.rows))
        shares, table = found.shares[0], found.table
        chosen = generator.choice(len(shares), count, p=shares / shares.sum())
        unit = generator.standard_normal((count, self.model.num_sources))
        factors = np.linalg.cholesky(table.covariances)[chosen]
        means = table.maps[chosen] @ found.features[0]
        return np.asarray(means + (factors @ unit[:, :, None])[:, :, 0])

    @property
    def impossible(self) -> tuple[int, ...]:
        """Every row has a density above zero: always ()."""
        return ()


# --- without noise ---------------------------------------------------------------------------------------------------
def read_rows(model: IndependentSources, given: Any) -> tuple[np.ndarray, bool]:
    read = Rows.of(given, model.feature_names)
    return read.numbers((model.num_columns,)), read.is_single((model.num_columns,))


def unmix(model: IndependentComponents, rows: np.ndarray) -> np.ndarray:
    """The sources of complete rows, (row, source)."""
    check_complete(rows, *INSTEAD)
    return np.asarray((rows - model.mean) @ model.unmixing.T)


def log_density(model: IndependentComponents, sources: np.ndarray) -> np.ndarray:
    """(row,): log p of the rows with these sources."""
    return log_prob_of(model.sources, sources).sum(axis=1) - np.linalg.slogdet(model.loadings)[1]


def infer_components(
    model: IndependentComponents,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> SourceBeliefs:
    """The sources of one complete row, or of each of many."""
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    rows, is_single = read_rows(model, evidence)
    check_cost(model, len(rows), 1, budget, memory_limit)
    sources = unmix(model, rows)
    size = model.num_sources
    posterior = Posterior(
        sources, np.zeros((1, size, size)), np.zeros(len(rows), np.int64), log_density(model, sources)
    )
    index = None if is_single else row_index(evidence)
    return SourceBeliefs(model, rows, posterior, is_single, algorithm, index=index)


def log_prob_components(model: IndependentComponents, rows: Any, *, method: Any = "auto") -> Any:
    """Log p of complete rows: a number for one row, an array for many."""
    resolve_method(model, "log_prob", method)
    table, is_single = read_rows(model, rows)
    found = log_density(model, unmix(model, table))
    return float(found[0]) if is_single else found


# --- with noise ------------------------------------------------------------------------------------------------------
class CombinationTable(NamedTuple):
    """The posterior of each combination of parts, for rows with one pattern of what is seen."""

    covariances: np.ndarray  # (combination, source, source): S
    maps: np.ndarray  # (combination, source, source + 1): S and S V⁻¹ m, which times (h, 1) are the mean
    forms: np.ndarray  # (combination, (source + 1)²): ½ Q
    logs: np.ndarray  # (combination,): all of log p(x, c) that is no function of the row


class PatternAnswers(NamedTuple):
    """Rows with one pattern of what is seen, or some of them: how probable each combination is."""

    places: np.ndarray  # (row,): where they are among all rows
    table: CombinationTable
    features: np.ndarray  # (row, source + 1): h and 1
    shares: np.ndarray  # (row, combination): p(c | x)
    log_evidence: np.ndarray  # (row,)


def table_of(model: IndependentFactors, parts: Combinations, seen: np.ndarray) -> CombinationTable:
    loadings = (model.loadings / np.sqrt(model.noise)[:, None])[seen]
    precisions = loadings.T @ loadings + np.eye(model.num_sources) / parts.variances[:, None, :]
    covariances = np.linalg.inv(precisions)
    pulls = parts.means / parts.variances
    means = (covariances @ pulls[:, :, None])[:, :, 0]
    maps = np.concatenate([covariances, means[:, :, None]], axis=2)
    last = np.concatenate([means, (pulls * means).sum(axis=1, keepdims=True)], axis=1)
    forms = 0.5 * np.concatenate([maps, last[:, None, :]], axis=1)
    sizes = np.log(parts.variances).sum(axis=1) + np.linalg.slogdet(precisions)[1] + (parts.means * pulls).sum(axis=1)
    noise = (np.log(model.noise[seen]) + stable.LOG_TWO_PI).sum()
    return CombinationTable(covariances, maps, forms.reshape(len(forms), -1), parts.log_weights - 0.5 * (sizes + noise))


def answer_patterns(model: IndependentFactors, data: Patterns) -> Iterator[PatternAnswers]:
    """The combinations of all rows, a block of rows with one pattern of holes at a time."""
    parts = combinations(model.sources)
    size = max(1, CELLS // len(parts.log_weights))
    for pattern, entries in enumerate(data.seen):
        seen = entries > 0
        places = np.flatnonzero(data.codes == pattern)
        table = table_of(model, parts, seen)
        for start in range(0, len(places), size):
            yield answer_block(model, data.rows, places[start : start + size], table, seen)


def answer_block(
    model: IndependentFactors, rows: np.ndarray, places: np.ndarray, table: CombinationTable, seen: np.ndarray
) -> PatternAnswers:
    deviations = np.sqrt(model.noise[seen])
    with np.errstate(over="ignore", invalid="ignore"):
        centered = (rows[np.ix_(places, np.flatnonzero(seen))] - model.mean[seen]) / deviations
        features = np.concatenate(
            [centered @ (model.loadings[seen] / deviations[:, None]), np.ones((len(places), 1))], 1
        )
        logs = products(features) @ table.forms.T + table.logs - 0.5 * (centered**2).sum(axis=1)[:, None]
    if not np.isfinite(logs).all():
        raise InvalidData(
            "a row lies so many deviations of the noise from the mean that its factors are beyond doubles: the noise is"
            " too small for such rows, or the row is wrong"
        )
    log_evidence = stable.log_sum_exp(logs, axis=1)
    return PatternAnswers(places, table, features, np.exp(logs - log_evidence[:, None]), log_evidence)


def products(features: np.ndarray) -> np.ndarray:
    """(row, feature²): each row times itself."""
    return (features[:, :, None] * features[:, None, :]).reshape(len(features), -1)


def posterior_of(model: IndependentFactors, rows: np.ndarray) -> Posterior:
    """The mean and the covariance of the factors of each row, and log p of what is seen."""
    size = model.num_sources
    mean, log_evidence = np.empty((len(rows), size)), np.empty(len(rows))
    covariances = np.empty((len(rows), size, size))
    for found in answer_patterns(model, Patterns.of(rows)):
        maps, features, places = found.table.maps, found.features, found.places
        means = (found.shares @ maps.reshape(len(maps), -1)).reshape(-1, size, size + 1) @ features[:, :, None]
        squares = np.einsum("cif,cjg->cijfg", maps, maps).reshape(len(maps), -1)
        outer = (found.shares @ squares).reshape(len(places), size * size, -1) @ products(features)[:, :, None]
        spread = (found.shares @ found.table.covariances.reshape(len(maps), -1)).reshape(-1, size, size)
        mean[places], log_evidence[places] = means[:, :, 0], found.log_evidence
        covariances[places] = spread + outer.reshape(-1, size, size) - means * means[:, None, :, 0]
    return Posterior(mean, covariances, np.arange(len(rows)), log_evidence)


def infer_factors(
    model: IndependentFactors,
    evidence: Any,
    *,
    method: Any = "auto",
    on_impossible: str = "warn",
    budget: float | None = None,
    memory_limit: int | None = None,
) -> SourceBeliefs:
    """The factors of one row, or of each of many; what is missing (NaN) is integrated out."""
    algorithm = resolve_method(model, "infer", method)
    check_policy(on_impossible)
    rows, is_single = read_rows(model, evidence)
    check_cost(model, len(rows), len(combinations(model.sources).log_weights), budget, memory_limit)
    index = None if is_single else row_index(evidence)
    return SourceBeliefs(model, rows, posterior_of(model, rows), is_single, algorithm, index=index)


def log_prob_factors(model: IndependentFactors, rows: Any, *, method: Any = "auto") -> Any:
    """Log p of what is seen: a number for one row, an array for many."""
    resolve_method(model, "log_prob", method)
    table, is_single = read_rows(model, rows)
    found = np.empty(len(table))
    for each in answer_patterns(model, Patterns.of(table)):
        found[each.places] = each.log_evidence
    return float(found[0]) if is_single else found


def check_cost(model: IndependentSources, num_rows: int, num_combinations: int, budget: Any, memory_limit: Any) -> None:
    """Raise `TooLarge` for a run beyond the limits."""
    if budget is None and memory_limit is None:
        return
    size = model.num_sources
    cells = min(num_rows * num_combinations, CELLS) + num_combinations * (size + 1) ** 4 + num_rows * size**2
    cost = Cost(0, size, 8 * cells, num_rows * num_combinations * (size + 1) ** 4)
    check_limits(cost, f"the sources of {number_of(num_rows, 'row')}", budget, memory_limit)


def sample_sources(
    model: IndependentSources, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto"
) -> Any:
    """`n` rows drawn from the model, with columns "x0", "x1", …; with `given`, one row: `n` draws of its sources."""
    algorithm = resolve_method(model, "sample", method)
    if given is not None:
        infer: Any = infer_components if isinstance(model, IndependentComponents) else infer_factors
        beliefs = infer(model, given, method=algorithm)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count, generator = check_num_rows(n, 24 * model.num_columns), as_generator(rng)
    sources = np.stack([np.asarray(source.sample(count, rng=generator)) for source in model.sources], axis=1)
    noise = generator.standard_normal((count, model.num_columns)) * np.sqrt(model.variances)
    return as_dataset(sources @ model.loadings.T + model.mean + noise, model.feature_names)


for each in ("infer", "log_prob", "sample"):
    register_methods(IndependentComponents, each, "unmixing")
    register_methods(IndependentFactors, each, "quadrature")
