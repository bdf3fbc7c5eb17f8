"""Evidence lower bounds as values: of one row, of many, and estimated from draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from juncture.base.checks import check_count
from juncture.base.values import number_of
from juncture.errors import InvalidData, TooLarge
from juncture.families.log_factorial import log_factorial
from juncture.numerics import stable

MAX_SAMPLES = 10**6  # sets of draws that are listed
EXCLUDED = "q gives probability to assignments that the model excludes: its bound is -inf"


@dataclass(frozen=True)
class EvidenceBound:
    """The evidence lower bound of a distribution q over the unobserved variables z of a discrete model.

    Attributes
    ----------
    expected_log_joint, entropy
        E log p(x, z), and H(q): their sum is the bound.
    log_evidence, gap
        log p(x), and KL(q ‖ p(z | x)): their difference is the bound.
    expected_log_likelihood, prior_divergence
        E log p(x | z), and KL(q ‖ p(z)): their difference is the bound. None for undirected models, without a prior.
    """

    expected_log_joint: float
    entropy: float
    log_evidence: float
    gap: float
    expected_log_likelihood: float | None
    prior_divergence: float | None
    weights: tuple[tuple[float, float], ...]  # (q, log p(x, z) / q) of each z that q allows

    @property
    def value(self) -> float:
        """The bound, E log p(x, z) + H(q)."""
        return self.expected_log_joint + self.entropy

    @property
    def forms(self) -> dict[str, float]:
        """The same number, computed in each way."""
        forms = {
            "expected log joint + entropy": self.value,
            "log evidence - divergence from the posterior": self.log_evidence - self.gap,
        }
        if self.expected_log_likelihood is not None and self.prior_divergence is not None:
            difference = self.expected_log_likelihood - self.prior_divergence
            forms["expected log likelihood - divergence from the prior"] = difference
        return forms

    def multi_sample(self, num_samples: int) -> float:
        """E log 1/K Σ p(x, zₖ) / q(zₖ) over K independent draws from q, exactly; 1 draw gives the bound itself."""
        shares, logs = np.array(self.weights).T
        return float(average_sets(shares[None], logs[None], num_samples)[0])

    def __repr__(self) -> str:
        return f"EvidenceBound(value={self.value:.6g}, log_evidence={self.log_evidence:.6g}, gap={self.gap:.6g})"


def average_sets(shares: np.ndarray, logs: np.ndarray, num_samples: Any) -> np.ndarray:
    """(row,): E log 1/K Σ exp(logs[row, zₖ]) over K draws z from shares (row, state); 0 · -inf counts 0."""
    count, size = check_count(num_samples, "num_samples", least=1), shares.shape[1]
    sets = math.comb(size + count - 1, count)
    if sets > MAX_SAMPLES:
        raise TooLarge(
            f"there are {sets:.2g} sets of {count} draws among {size} assignments; the limit is"
            f" {MAX_SAMPLES:,}: estimate it by elbo(log_joint, q, num_samples=...)"
        )
    drawn = np.array(list(combinations_with_replacement(range(size), count)))  # (set, draw)
    counts = np.apply_along_axis(np.bincount, 1, drawn, minlength=size)  # (set, state)
    orders = math.lgamma(count + 1) - log_factorial(counts).sum(axis=1)
    found = np.empty(len(shares))
    rows_at_once = max(1, MAX_SAMPLES // counts.size)
    for start in range(0, len(shares), rows_at_once):
        some = slice(start, start + rows_at_once)
        log_shares = np.where(shares[some] > 0, stable.log(shares[some]), -np.inf)
        terms = np.where(counts > 0, counts * np.where(counts > 0, log_shares[:, None], 0.0), 0.0)
        sums = stable.log_sum_exp(logs[some, None] + stable.log(counts), axis=-1)  # (row, set)
        probabilities = np.exp(orders + terms.sum(axis=-1))
        found[some] = (probabilities * np.where(probabilities > 0, sums - math.log(count), 0.0)).sum(axis=-1)
    return found


@dataclass(frozen=True, eq=False)
class RowBounds:
    """The evidence lower bounds of many rows; what is hidden in one row is independent of the other rows.

    Attributes
    ----------
    expected_log_joint, entropy
        (row,): E log p(row, z), and H(q): their sum is the bound.
    log_evidence, gap
        (row,): log p(row), and KL(q ‖ p(z | row)): their difference is the bound.
    expected_log_likelihood, prior_divergence
        (row,): E log p(row | z), and KL(q ‖ p(z)): their difference is the bound.
    """

    expected_log_joint: np.ndarray
    entropy: np.ndarray
    log_evidence: np.ndarray
    gap: np.ndarray
    expected_log_likelihood: np.ndarray
    prior_divergence: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """(row,): the bound of each row."""
        return self.expected_log_joint + self.entropy

    @property
    def value(self) -> float:
        """The bound of all rows."""
        return float(self.values.sum())

    @property
    def forms(self) -> dict[str, float]:
        """The bound of all rows, computed in each way."""
        return {
            "expected log joint + entropy": self.value,
            "log evidence - divergence from the posterior": float((self.log_evidence - self.gap).sum()),
            "expected log likelihood - divergence from the prior": float(
                (self.expected_log_likelihood - self.prior_divergence).sum()
            ),
        }

    def __len__(self) -> int:
        return len(self.gap)

    def __repr__(self) -> str:
        totals = f"log_evidence={self.log_evidence.sum():.6g}, gap={self.gap.sum():.6g}"
        return f"{type(self).__name__}({number_of(len(self), 'row')}; value={self.value:.6g}, {totals})"


@dataclass(frozen=True, eq=False, repr=False)
class DiscreteRowBounds(RowBounds):
    """The bounds of rows with one hidden state each: also the multi-sample bound, exactly."""

    shares: np.ndarray  # (row, state): q
    log_weights: np.ndarray  # (row, state): log p(row, state) / q(state); 0 where q is 0

    @classmethod
    def of(cls, shares: np.ndarray, log_joint: np.ndarray, log_prior: np.ndarray) -> DiscreteRowBounds:
        """From q and log p(row, state), (row, state), and log p(state), (state,)."""
        is_met = shares > 0
        if not np.isfinite(log_joint[is_met]).all():
            raise InvalidData(EXCLUDED)

        def expect(values: np.ndarray) -> np.ndarray:
            return (shares * np.where(is_met, values, 0.0)).sum(axis=1)

        log_q, log_evidence = stable.log(shares), stable.log_sum_exp(log_joint, axis=1)
        with np.errstate(invalid="ignore"):  # -inf less -inf, where q is 0
            weights = np.where(is_met, log_joint - log_q, 0.0)
            gap = expect(log_q - (log_joint - log_evidence[:, None]))
            likelihood, divergence = expect(log_joint - log_prior), expect(log_q - log_prior)
        return cls(expect(log_joint), -expect(log_q), log_evidence, gap, likelihood, divergence, shares, weights)

    def multi_sample(self, num_samples: int) -> np.ndarray:
        """(row,): E log 1/K Σ p(row, zₖ) / q(zₖ) over K draws from q; 1 draw gives the bounds themselves."""
        return average_sets(self.shares, self.log_weights, num_samples)


@dataclass(frozen=True, eq=False)
class EstimatedBound:
    """An evidence lower bound estimated from draws: `log_weights` are log p(x, z) / q(z) at draws z from q."""

    log_weights: np.ndarray  # (draw,)

    @property
    def value(self) -> float:
        """The mean of log p(x, z) / q(z)."""
        return float(self.log_weights.mean())

    @property
    def standard_error(self) -> float:
        return float(self.log_weights.std(ddof=1) / math.sqrt(len(self.log_weights)))

    @cached_property
    def log_evidence(self) -> float:
        """log 1/N Σ p(x, z) / q(z) over all N draws: the importance sampling estimate, which is no bound."""
        return float(stable.log_sum_exp(self.log_weights)) - math.log(len(self.log_weights))

    def multi_sample(self, num_samples: int) -> float:
        """The mean of log 1/K Σ p(x, zₖ) / q(zₖ) over groups of K draws; draws that fill no group are left out."""
        count = check_count(num_samples, "num_samples", least=1)
        groups = len(self.log_weights) // count
        if not groups:
            raise InvalidData(f"a group of {count} draws needs as many; there are {len(self.log_weights)}")
        logs = self.log_weights[: groups * count].reshape(groups, count)
        return float(stable.log_sum_exp(logs, axis=1).mean()) - math.log(count)

    def __repr__(self) -> str:
        return f"EstimatedBound(value={self.value:.6g}, standard_error={self.standard_error:.2g})"
