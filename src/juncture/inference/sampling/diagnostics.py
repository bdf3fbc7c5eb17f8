"""Diagnostics of Markov chains: R-hat, effective sample sizes, standard errors and autocorrelations.

Every function takes draws as (chain, draw, …) and gives one number for each of the further axes. Chains are split in
halves, so that a chain that drifts disagrees with itself. Ranks of all draws, mapped to normal scores, replace the
draws where moments need not exist (Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021). With W the mean variance
within chains and B / n the variance of their means,

    R-hat² = ((n - 1) / n W + B / n) / W,    ESS = m n / τ,    τ = -1 + 2 Σ_t P_t,

where P_t = ρ(2t) + ρ(2t + 1) are sums of neighbouring autocorrelations, kept while they are positive and made
monotone (Geyer 1992).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juncture.base.checks import check_choice
from juncture.errors import InvalidData

KINDS = ("bulk", "tail", "mean")
LEAST_DRAWS = 4  # in each chain: two in each half
TAILS = (0.05, 0.95)
BLOM = 3 / 8  # the offset of the ranks
BLOCK = 2**22  # numbers that are looked at together


def r_hat(values: Any) -> Any:
    """The rank-normalised R-hat of split chains: near 1 where the chains agree; below 1.01 is good.

    It is the larger one of two: of the normal scores of the ranks of the draws, and of those of their distances from
    the median, which see chains that agree in the mean but not in the spread.

    Parameters
    ----------
    values
        Draws as (chain, draw, …), with at least 4 draws in a chain; a single chain is compared with itself, half by
        half. A quantity that has the same value everywhere has R-hat 1; one that is constant within every chain but
        not across them has R-hat ∞.

    Returns
    -------
    float or numpy.ndarray
        One number for each of the further axes.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> round(r_hat(draws), 2), round(r_hat(draws + np.arange(4)[:, None]), 1)
    (1.0, 1.5)
    """

    def of_columns(columns: np.ndarray) -> np.ndarray:
        split = split_chains(columns)
        folded = np.abs(split - np.median(split, axis=(0, 1)))
        return np.maximum(potential_scale_reduction(normal_scores(split)), folded_r_hat(folded))

    return by_column(of_columns, values)


def effective_sample_size(values: Any, kind: str = "bulk") -> Any:
    """The number of independent draws that estimate a quantity as well as these dependent ones.

    Parameters
    ----------
    values
        Draws as (chain, draw, …), with at least 4 draws in a chain.
    kind
        "bulk", of the normal scores of the ranks: for the centre of the distribution; "tail", the smaller one for the
        quantiles at 5 % and 95 %; "mean", of the draws themselves: for their mean.

    Returns
    -------
    float or numpy.ndarray
        One number for each of the further axes; the number of draws for a quantity that is constant.

    Examples
    --------
    >>> import numpy as np
    >>> steps = np.random.default_rng(0).normal(size=(4, 500))
    >>> effective_sample_size(steps) > 1500
    True
    >>> effective_sample_size(np.cumsum(steps, axis=1)) < 50
    True
    """
    check_choice(kind, KINDS, "kind")
    return by_column({"bulk": bulk_size, "tail": tail_size, "mean": mean_size}[kind], values)


def standard_error(values: Any) -> Any:
    """The Monte Carlo standard error of the mean: standard deviation / √ESS.

    Parameters
    ----------
    values
        Draws as (chain, draw, …), with at least 4 draws in a chain.

    Returns
    -------
    float or numpy.ndarray
        One number for each of the further axes.

    Examples
    --------
    >>> import numpy as np
    >>> round(standard_error(np.random.default_rng(0).normal(size=(4, 2500))), 3)
    0.01
    """

    def of_columns(columns: np.ndarray) -> np.ndarray:
        return columns.std(axis=(0, 1), ddof=1) / np.sqrt(mean_size(columns))

    return by_column(of_columns, values)


def autocorrelation(values: Any) -> np.ndarray:
    """The autocorrelation of each chain at every lag.

    Parameters
    ----------
    values
        Draws as (chain, draw, …).

    Returns
    -------
    numpy.ndarray
        (chain, lag, …), 1 at lag 0. The autocorrelation of a constant is 1 at lag 0 and 0 beyond it.

    Examples
    --------
    >>> autocorrelation([[1.0, -1.0, 1.0, -1.0]])
    array([[ 1.  , -0.75,  0.5 , -0.25]])
    """
    array = as_draws(values)
    covariances = autocovariance(array)
    variances = covariances[:, :1]
    is_constant = (array == array[:, :1]).all(axis=1, keepdims=True)
    correlations = np.divide(covariances, variances, out=np.zeros_like(covariances), where=~is_constant)
    correlations[:, 0] = 1.0
    return correlations


# --- the parts -------------------------------------------------------------------------------------------------------


def as_draws(values: Any, least_draws: int = 1) -> np.ndarray:
    """Draws as floats, (chain, draw, …), all finite."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise InvalidData("draws must be an array of numbers, (chain, draw, …)") from None
    if array.ndim < 2 or array.shape[0] < 1:
        raise InvalidData(f"draws must have the axes (chain, draw, …); got the shape {array.shape}")
    if array.shape[1] < least_draws:
        raise InvalidData(f"this needs at least {least_draws} draws in each chain; got {array.shape[1]}: draw more")
    if not np.isfinite(array).all():
        raise InvalidData("draws must be finite numbers; some are NaN or infinite")
    return array


def by_column(function: Callable[[np.ndarray], np.ndarray], values: Any) -> Any:
    """Apply a function of (chain, draw, column) to blocks of columns; answers have the shape of the further axes."""
    array = as_draws(values, LEAST_DRAWS)
    columns = array.reshape(*array.shape[:2], -1)
    width = max(1, BLOCK // (array.shape[0] * array.shape[1]))
    blocks = [function(columns[:, :, first : first + width]) for first in range(0, columns.shape[2], width)]
    answers = np.concatenate([np.empty(0), *blocks]).reshape(array.shape[2:])
    return answers if answers.ndim else float(answers)


def split_chains(columns: np.ndarray) -> np.ndarray:
    """(2 chains, half of the draws, column): the first and the second halves, without the draw in the middle."""
    half = columns.shape[1] // 2
    return np.concatenate([columns[:, :half], columns[:, -half:]])


def normal_scores(columns: np.ndarray) -> np.ndarray:
    """Φ⁻¹ of the ranks among all draws of a column; equal draws have equal ranks."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    size = columns.shape[0] * columns.shape[1]
    ranks = rankdata(columns.reshape(size, -1), axis=0)
    return ndtri((ranks - BLOM) / (size - 2 * BLOM + 1)).reshape(columns.shape)


def potential_scale_reduction(columns: np.ndarray) -> np.ndarray:
    """√((B / W + n - 1) / n); 1 for a constant, ∞ where only the chains are constant."""
    num_draws = columns.shape[1]
    between = num_draws * columns.mean(axis=1).var(axis=0, ddof=1)
    within = columns.var(axis=1, ddof=1).mean(axis=0)
    is_still = (columns == columns[:, :1]).all(axis=(0, 1))
    is_same = (columns == columns[:1, :1]).all(axis=(0, 1))
    ratios = np.divide(between, within, out=np.full_like(within, np.inf), where=~is_still)
    return np.where(is_same, 1.0, np.sqrt((ratios + num_draws - 1) / num_draws))


def folded_r_hat(folded: np.ndarray) -> np.ndarray:
    """R-hat of distances from the median; these may be constant where the draws are not."""
    is_still = (folded == folded[:1, :1]).all(axis=(0, 1))
    return np.where(is_still, 1.0, potential_scale_reduction(normal_scores(folded)))


def bulk_size(columns: np.ndarray) -> np.ndarray:
    return chain_size(normal_scores(split_chains(columns)))


def mean_size(columns: np.ndarray) -> np.ndarray:
    return chain_size(split_chains(columns))


def tail_size(columns: np.ndarray) -> np.ndarray:
    quantiles = np.quantile(columns, TAILS, axis=(0, 1))
    sizes = [chain_size(split_chains((columns <= quantile).astype(float))) for quantile in quantiles]
    return np.minimum(*sizes)


def chain_size(columns: np.ndarray) -> np.ndarray:
    """The effective sample size of chains that are split already."""
    num_chains, num_draws, num_columns = columns.shape
    size = num_chains * num_draws
    covariances = autocovariance(columns).mean(axis=0)  # (lag, column)
    within = covariances[0] * num_draws / (num_draws - 1.0)
    total = covariances[0] + columns.mean(axis=1).var(axis=0, ddof=1)
    is_constant = np.ptp(columns.reshape(size, num_columns), axis=0) < np.finfo(float).resolution
    correlations = 1.0 - (within - covariances) / np.where(is_constant, 1.0, total)
    correlations[0] = 1.0
    time = np.maximum(autocorrelation_time(correlations), 1.0 / np.log10(size))
    return np.where(is_constant, size, size / time)


def autocorrelation_time(correlations: np.ndarray) -> np.ndarray:
    """-1 + 2 Σ P_t over the initial monotone sequence of positive sums, and ρ at the even lag after it once."""
    num_lags, num_columns = correlations.shape
    num_pairs = max(0, -((4 - num_lags) // 2)) + 1  # those of which the last may end the sequence
    pairs = correlations[: 2 * num_pairs].reshape(num_pairs, 2, num_columns).sum(axis=1)
    ends = pairs[:-1] <= 0.0
    last = np.where(ends.any(axis=0), ends.argmax(axis=0) if num_pairs > 1 else 0, num_pairs - 1)  # (column,)
    kept = np.arange(num_pairs)[:, None] < last
    monotone = np.where(kept, np.minimum.accumulate(pairs, axis=0), 0.0).sum(axis=0)
    further = np.take_along_axis(correlations, 2 * last[None], axis=0)[0]
    ending = np.take_along_axis(pairs, last[None], axis=0)[0]
    return -1.0 + 2.0 * monotone + np.where((ending >= 0.0) | (further > 0.0), further, 0.0)


def autocovariance(array: np.ndarray) -> np.ndarray:
    """(chain, lag, …): Σ_s (x_s - x̄)(x_{s + lag} - x̄) / n, by the Fourier transform."""
    from scipy.fft import irfft, next_fast_len, rfft

    num_draws = array.shape[1]
    length = next_fast_len(2 * num_draws, real=True)
    centred = np.moveaxis(array - array.mean(axis=1, keepdims=True), 1, -1)
    spectrum = rfft(np.ascontiguousarray(centred), n=length)
    covariances = irfft((spectrum * spectrum.conj()).real, n=length)[..., :num_draws] / num_draws
    return np.moveaxis(covariances, -1, 1)
