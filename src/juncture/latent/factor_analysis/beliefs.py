"""`FactorBeliefs`: the factors of each row and what is expected in its holes; and the Gaussian that they come from.

The posterior p(z | seen) is Gaussian, and its covariance depends only on which entries are seen. With
G = I + Σ_seen w wᵀ / variance over the seen entries' rows w of the loadings, the covariance is G⁻¹ and the mean
G⁻¹ Σ_seen w (x - mean) / variance. The matrices have the size of the factors, not of the columns (Woodbury). Loadings
and rows are first divided by the deviation of the noise, since the inverse of its variance may be beyond doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.drawing.courses import Course, Panel
from juncture.errors import InvalidData, Unsupported
from juncture.factors.scope_tables import import_pandas
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.inference.engines.contract import EXACT, Diagnostics, OneVariable
from juncture.inference.engines.display import intervals_html
from juncture.inference.engines.verb_options import check_num_rows
from juncture.latent.factor_analysis.model import LinearFactors
from juncture.numerics.stable import LOG_TWO_PI
from juncture.runtime.memory import check_table_fits

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 2**14  # rows that are handled at once


@dataclass(frozen=True, eq=False, repr=False)
class FactorBeliefs(OneVariable):
    """The Gaussian of the factors of each row given what is seen of it: `beliefs["factors"]`.

    For one row, `beliefs["factors"]` is one `MultivariateGaussian` and `log_evidence` a number. For many rows it is a
    batch of them, and `log_evidence` is (row,).

    Attributes
    ----------
    model
        The `FactorAnalysis` or `ProbabilisticPCA`.
    rows
        The rows, (row, column), with NaN for holes.
    posterior
        Means and covariances of the factors.
    is_single
        Whether there is one row.
    method
        The name of the algorithm.
    diagnostics
        Whether the answers are exact, and further facts about the run.
    index
        The index of the frame of pandas that the rows come from; else None.
    """

    variable = "factors"
    model: LinearFactors
    rows: np.ndarray  # (row, column)
    posterior: Posterior
    is_single: bool
    method: str = "gaussian"
    diagnostics: Diagnostics = EXACT
    index: Any = None

    @property
    def impossible(self) -> tuple[int, ...]:
        """No row has density zero under Gaussian noise: always ()."""
        return ()

    @property
    def log_evidence(self) -> Any:
        """Log p of what is seen: a float of one row, (row,) of many."""
        return float(self.posterior.log_evidence[0]) if self.is_single else self.posterior.log_evidence

    @property
    def mean(self) -> np.ndarray:
        """The mean of the factors given a row, (factor,) of one row, (row, factor) of many."""
        return self._one(self.posterior.mean)

    @property
    def covariance(self) -> np.ndarray:
        """Their covariance given a row, (factor, factor) of one row, (row, factor, factor) of many."""
        return self._one(self.posterior.covariances[self.posterior.codes])

    def _one(self, array: np.ndarray) -> np.ndarray:
        return np.asarray(array[0] if self.is_single else array)

    def __getitem__(self, name: str) -> MultivariateGaussian:
        """p(factors | row): a Gaussian, or a batch with one a row."""
        self._check_variable(name)
        return MultivariateGaussian(self.mean, self.covariance)

    @cached_property
    def _expected(self) -> np.ndarray:
        return np.asarray(self.posterior.mean @ self.model.loadings.T + self.model.mean)

    @property
    def expected(self) -> np.ndarray:
        """What is expected of a row without its noise, (column,) of one, (row, column) of many."""
        return self._one(self._expected)

    @property
    def completed(self) -> np.ndarray:
        """The rows, with each hole filled by its expectation."""
        return self._one(np.where(np.isnan(self.rows), self._expected, self.rows))

    @property
    def standard_deviation(self) -> np.ndarray:
        """The standard deviation of each entry of `completed`: 0 where it was seen."""
        loadings, covariances = self.model.loadings, self.posterior.covariances
        variances = np.einsum("df,pfg,dg->pd", loadings, covariances, loadings) + self.model.variances
        return self._one(np.where(np.isnan(self.rows), np.sqrt(variances)[self.posterior.codes], 0.0))

    def sample(self, n: int, *, rng: Any = None) -> np.ndarray:
        """`n` draws of the factors or sources of one row, (n, factor)."""
        if not self.is_single:
            raise Unsupported(f"{self.variable} are drawn given one row; infer and sample once for each row")
        count = check_num_rows(n)
        size = self.posterior.mean.shape[1]
        check_table_fits((count, size), f"{count} draws", "draw fewer at a time", copies=1)
        return self._draw(count, as_generator(rng))

    def _draw(self, count: int, generator: np.random.Generator) -> np.ndarray:
        return np.asarray(self[self.variable].sample(count, rng=generator))

    def to_dict(self) -> dict[str, dict[str, np.ndarray]]:
        """Name → "mean" and "covariance"."""
        return {self.variable: {"mean": self.mean, "covariance": self.covariance}}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of row, variable, the index of the factor, its mean and its variance."""
        deviations = self._deviations
        records = [
            (row, self.variable, factor, float(mean), float(deviations[row, factor] ** 2))
            for (row, factor), mean in np.ndenumerate(self.posterior.mean)
        ]
        return import_pandas().DataFrame(records, columns=["row", "variable", "factor", "mean", "variance"])

    def to_frame(self) -> pd.DataFrame:
        """A wide frame: a line per row, with the mean and the standard deviation of each factor."""
        num_factors = self.posterior.mean.shape[1]
        names = [f"{what} {factor}" for what in ("mean", "standard deviation") for factor in range(num_factors)]
        table = np.hstack([self.posterior.mean, self._deviations])
        return import_pandas().DataFrame(table, index=self.index, columns=names)

    @property
    def _deviations(self) -> np.ndarray:
        variances = np.diagonal(self.posterior.covariances, axis1=1, axis2=2)
        return np.sqrt(variances)[self.posterior.codes]

    def __len__(self) -> int:
        return len(self.rows)

    def to_diagram(self) -> Course:
        """The mean of each factor, row by row."""
        panels = [Panel(f"{self.variable[:-1]} {at}", part) for at, part in enumerate(self.posterior.mean.T)]
        return Course(tuple(panels))

    def _repr_html_(self) -> str:
        return intervals_html(repr(self), self.posterior.mean, self._deviations, self.to_diagram(), index=self.index)

    def __repr__(self) -> str:
        rows = f"log_evidence={self.log_evidence:.6g}" if self.is_single else number_of(len(self), "row")
        what = number_of(self.posterior.mean.shape[1], self.variable[:-1])
        return f"{type(self).__name__}({what}; {rows}; exact, by {self.method})"


def posterior_of(model: LinearFactors, data: Patterns) -> Posterior:
    """The factors given what is seen of each row."""
    deviations, factors = np.sqrt(model.variances), model.num_factors
    loadings = model.loadings / deviations[:, None]
    products = (loadings[:, :, None] * loadings[:, None, :]).reshape(len(loadings), -1)
    precisions = (data.seen @ products).reshape(-1, factors, factors) + np.eye(factors)
    covariances = np.linalg.inv(precisions)
    covariances = 0.5 * (covariances + np.swapaxes(covariances, 1, 2))
    log_sizes = np.linalg.slogdet(precisions)[1] + data.seen @ (np.log(model.variances) + LOG_TWO_PI)
    with np.errstate(over="ignore", invalid="ignore"):
        centered = (data.rows - model.mean) / deviations * data.seen[data.codes]
        means = (covariances[data.codes] @ (centered @ loadings)[:, :, None])[:, :, 0]
        residuals = (centered - means @ loadings.T) * data.seen[data.codes]
        squares = (residuals**2).sum(axis=1) + (means**2).sum(axis=1)  # = xᵀ C⁻¹ x, a sum that cancels nothing
    if not np.isfinite(means).all():
        row = int(np.argmin(np.isfinite(means).all(axis=1)))
        far = float(np.abs(centered[row]).max())
        raise InvalidData(
            f"a row lies {far:g} deviations of the noise from the mean, so far that its factors are beyond doubles: the"
            " noise is too small for such rows, or the row is wrong"
        )
    return Posterior(means, covariances, data.codes, -0.5 * (log_sizes[data.codes] + squares))


class Posterior(NamedTuple):
    """The Gaussian of the factors of each row, and the log-density of what is seen in it."""

    mean: np.ndarray  # (row, factor)
    covariances: np.ndarray  # (pattern, factor, factor)
    codes: np.ndarray  # (row,): the pattern of each row
    log_evidence: np.ndarray  # (row,)


class Patterns(NamedTuple):
    """Rows, in which 0 stands for a hole; the distinct patterns of what is seen; and the pattern of each row."""

    rows: np.ndarray  # (row, column)
    seen: np.ndarray  # (pattern, column): 1.0 where an entry is seen
    codes: np.ndarray  # (row,)

    @classmethod
    def of(cls, rows: np.ndarray) -> Patterns:
        holes = np.isnan(rows)
        if not holes.any():
            return cls(rows, np.ones((1, rows.shape[1])), np.zeros(len(rows), np.int64))
        keys = np.packbits(holes, axis=1)
        _, first, codes = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        return cls(np.where(holes, 0.0, rows), (~holes[first]).astype(np.float64), codes.reshape(-1))
