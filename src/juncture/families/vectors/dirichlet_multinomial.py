"""DirichletMultinomial: a Multinomial whose probabilities have a Dirichlet distribution."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from juncture.families.constraints import COUNT, POSITIVE_VECTOR
from juncture.families.discrete.beta_binomial import BetaBinomial
from juncture.families.discrete.whole_numbers import check_countable, sum_expectation
from juncture.families.exponential_family import sum_in_order
from juncture.families.family import Family, Real, plain
from juncture.families.log_factorial import log_weight, look_up
from juncture.families.supports import CountVectors
from juncture.families.vectors.vector_family import check_same_dimension


class DirichletMultinomial(Family):
    """p(x) = n! Γ(Σα) / Γ(n + Σα) Π Γ(x_k + α_k) / (x_k! Γ(α_k)) for counts x that sum to n.

    The predictive of Dirichlet for Multinomial; Pólya's urn, from which n balls are drawn.

    Parameters
    ----------
    trials
        The number of trials n.
    concentration
        α, (…, category), positive.

    Examples
    --------
    >>> DirichletMultinomial(trials=2, concentration=[1, 1, 1]).prob([[2, 0, 0], [1, 0, 1]]).round(12)
    array([0.16666667, 0.16666667])
    """

    parameters: ClassVar = {"trials": COUNT, "concentration": POSITIVE_VECTOR}
    trials: Real
    concentration: np.ndarray

    def __init__(self, trials: Any, concentration: Any) -> None:
        self._declare(trials=trials, concentration=concentration)

    @property
    def num_states(self) -> int:
        return int(self._given["concentration"].shape[-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.num_states,)

    @property
    def support(self) -> CountVectors:
        return CountVectors(self.num_states, self._given["trials"])

    def _log_prob(self, x: np.ndarray) -> np.ndarray:
        alpha = self._given["concentration"]
        if self.batch_shape:
            return np.asarray(log_weight(x, alpha).sum(axis=-1) + self._log_scale())
        terms = [look_up(partial(log_weight, concentration=alpha[k]), x[..., k]) for k in range(self.num_states)]
        return np.asarray(sum_in_order(terms) + self._log_scale())

    def _log_scale(self) -> np.ndarray:
        """log n! Γ(Σα) / Γ(n + Σα)."""
        return -log_weight(self._given["trials"], self._given["concentration"].sum(axis=-1))

    def _draw(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        """State by state, each time with a share of what is left: no product of tiny shares to normalise."""
        check_countable(self._given["trials"], "DirichletMultinomial")
        alpha = self._given["concentration"]
        left = np.broadcast_to(self._given["trials"].astype(np.int64), shape)
        counts = []
        for state in range(self.num_states - 1):
            share = rng.beta(alpha[..., state], alpha[..., state + 1 :].sum(axis=-1), shape)
            counts.append(rng.binomial(left, share))
            left = left - counts[-1]
        return np.stack([*counts, left], axis=-1)

    # -- moments

    def _shares(self) -> np.ndarray:
        alpha = self._given["concentration"]
        return alpha / alpha.sum(axis=-1, keepdims=True)

    @property
    def mean(self) -> Real:
        return plain(self._given["trials"][..., None] * self._shares())

    @property
    def variance(self) -> Real:
        """The variance of each count."""
        return plain(np.diagonal(self.covariance, axis1=-2, axis2=-1))

    @property
    def covariance(self) -> np.ndarray:
        """n (n + Σα) / (1 + Σα) (diag m - m mᵀ) with the shares m = α / Σα: (*batch, state, state)."""
        shares, n, total = self._shares(), self._given["trials"], self._given["concentration"].sum(axis=-1)
        scale = np.asarray(n * ((n + total) / (1 + total)))[..., None, None]
        return scale * shares[..., None] * (np.eye(self.num_states) - shares[..., None, :])

    # -- information

    def cross_entropy(self, other: Family) -> Real:
        """-E log q(X): the log-mass is a sum over states, and each count alone is a BetaBinomial."""
        if type(other) is not DirichletMultinomial:
            return super().cross_entropy(other)
        check_same_dimension(self, other)
        expected = other._log_scale() + self._expected_log_weights(other._given["concentration"])
        return plain(np.where(self._given["trials"] == other._given["trials"], -expected, np.inf))

    def kl_divergence(self, other: Family) -> Real:
        """E log p(X)/q(X)."""
        return plain(np.maximum(np.asarray(self.cross_entropy(other)) - np.asarray(self.entropy()), 0.0))

    def _expected_log_weights(self, concentration: np.ndarray) -> np.ndarray:
        """E Σ log Γ(X_k + α_k) / (X_k! Γ(α_k)) for the α given."""
        if self.num_states == 1:
            return log_weight(self._given["trials"], concentration[..., 0])
        alpha, _ = np.broadcast_arrays(self._given["concentration"], concentration)
        expected = []
        for state in range(self.num_states):
            rest = np.delete(alpha, state, axis=-1).sum(axis=-1)
            count = BetaBinomial(self._given["trials"], alpha[..., state], rest)
            expected.append(sum_expectation(count, partial(log_weight, concentration=concentration[..., state])))
        return sum_in_order(expected)
