"""Predictive scores of posterior draws: WAIC and leave-one-out by Pareto-smoothed importance sampling.

Both estimate Σ log p(row | the other rows) from the log-likelihoods log p(row | θ) of draws θ of the posterior of all
rows (Vehtari, Gelman and Gabry 2017). WAIC subtracts the variance over the draws; leave-one-out weights each draw by
1 / p(row | θ), with the largest weights smoothed. The tail of these weights has the shape k: above 0.7 a row is so
influential that its estimate cannot be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.checks import check_array
from juncture.base.values import number_of
from juncture.drawing.notebook import html_table
from juncture.errors import ApproximationWarning, InvalidData, warn_user
from juncture.inference.sampling.importance_weights import RELIABLE_K, smooth_weights
from juncture.numerics.stable import log_sum_exp

if TYPE_CHECKING:
    import pandas as pd

LARGE_VARIANCE = 0.4  # of log p(row | θ), above which WAIC is unreliable


@dataclass(frozen=True, eq=False)
class PredictiveScore:
    """How well a model predicts a row from the others, estimated from posterior draws.

    Attributes
    ----------
    criterion
        "waic" or "loo".
    value
        Σ log p(row | the other rows); the higher the better.
    standard_error
        Of the sum, over the rows.
    num_effective
        The effective number of parameters: what the fit to the rows themselves is better by.
    rows
        (row,): the part of each row.
    pareto_k
        (row,): the shape of the tail of the weights, for "loo"; None for "waic".
    num_unreliable
        Rows whose k is above 0.7, or whose variance over the draws is above 0.4.
    """

    criterion: str
    value: float
    standard_error: float
    num_effective: float
    rows: np.ndarray
    pareto_k: np.ndarray | None
    num_unreliable: int

    def to_pandas(self) -> pd.DataFrame:
        """A line for each row: its score, and its k where there is one."""
        import pandas as pd

        shapes = {} if self.pareto_k is None else {"pareto_k": self.pareto_k}
        return pd.DataFrame({"score": self.rows} | shapes)

    def __repr__(self) -> str:
        numbers = f"{self.value:.6g} ± {self.standard_error:.3g}, {self.num_effective:.3g} effective parameters"
        doubt = f", {number_of(self.num_unreliable, 'unreliable row')}" if self.num_unreliable else ""
        return f"PredictiveScore({self.criterion}: {numbers}{doubt})"

    def _repr_html_(self) -> str:
        names = ("value", "standard_error", "num_effective", "num_unreliable")
        rows = [(name.replace("_", " "), f"{getattr(self, name):.6g}") for name in names]
        return html_table([self.criterion, ""], rows, num_labels=1)


def waic(log_likelihoods: Any) -> PredictiveScore:
    """The widely applicable information criterion of posterior draws (Watanabe 2010), as a log score.

    Parameters
    ----------
    log_likelihoods
        log p(row | θ): (draw, row), or (chain, draw, row).

    Returns
    -------
    PredictiveScore
        Σ log of the mean over draws of p(row | θ), less the variance over draws of log p(row | θ). On the scale of a
        deviance it is -2 times that.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(1000, 1)) / np.sqrt(20)  # of a mean, after 20 rows
    >>> rows = np.linspace(-2, 2, 20)
    >>> round(waic(-0.5 * (rows - draws) ** 2 - 0.5 * np.log(2 * np.pi)).num_effective, 1)
    1.4
    """
    draws = read_draws(log_likelihoods)
    spread = draws.var(axis=0, ddof=1)
    fit = np.asarray(log_sum_exp(draws, axis=0)) - np.log(len(draws))
    return summarise("waic", fit - spread, fit, None, int((spread > LARGE_VARIANCE).sum()))


def psis_loo(log_likelihoods: Any) -> PredictiveScore:
    """Leave-one-out predictive scores of posterior draws, by Pareto-smoothed importance sampling.

    Parameters
    ----------
    log_likelihoods
        log p(row | θ): (draw, row), or (chain, draw, row). At least 25 draws, of chains that have mixed.

    Returns
    -------
    PredictiveScore
        With Pareto's k of each row; an `ApproximationWarning` says how many rows have a k above 0.7.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(1000, 1)) / np.sqrt(20)  # of a mean, after 20 rows
    >>> rows = np.linspace(-2, 2, 20)
    >>> found = psis_loo(-0.5 * (rows - draws) ** 2 - 0.5 * np.log(2 * np.pi))
    >>> round(found.value, 1), bool((found.pareto_k < 0.7).all())
    (-34.4, True)
    """
    draws = read_draws(log_likelihoods)
    smoothed = [smooth_weights(-column) for column in draws.T]
    logs, shapes = np.stack([weights for weights, _ in smoothed], axis=1), np.array([k for _, k in smoothed])
    scores = np.asarray(log_sum_exp(logs + draws, axis=0)) - np.asarray(log_sum_exp(logs, axis=0))
    fit = np.asarray(log_sum_exp(draws, axis=0)) - np.log(len(draws))
    number = int((shapes > RELIABLE_K).sum())
    if number:
        warn_user(
            f"{number_of(number, 'row')} of {len(shapes)} {'has' if number == 1 else 'have'} a Pareto k above"
            f" {RELIABLE_K}: leaving them out changes the posterior too much for these draws; refit without them, or"
            " cross-validate",
            ApproximationWarning,
        )
    return summarise("loo", scores, fit, shapes, number)


def summarise(
    criterion: str, scores: np.ndarray, fit: np.ndarray, shapes: np.ndarray | None, number: int
) -> PredictiveScore:
    """The sums over rows, and the standard error of the sum of the scores."""
    error = float(np.sqrt(len(scores) * scores.var()))
    return PredictiveScore(criterion, float(scores.sum()), error, float((fit - scores).sum()), scores, shapes, number)


def read_draws(log_likelihoods: Any) -> np.ndarray:
    """(draw, row), finite."""
    given = check_array(log_likelihoods, "the log-likelihoods of draws")
    if given.ndim not in (2, 3) or not given.size:
        raise InvalidData(
            "the log-likelihoods of draws have the axes (draw, row) or (chain, draw, row); got an array of the shape"
            f" {given.shape}"
        )
    draws = given.reshape(-1, given.shape[-1])
    if len(draws) < 2 or not np.isfinite(draws).all():
        raise InvalidData(
            "the log-likelihoods of draws are finite, of at least 2 draws: drop draws that are impossible"
        )
    return draws
