"""Moment matching without a closed form: natural parameters from mean parameters, by Newton's method."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, polygamma

MAX_STEPS = 100
TOLERANCE = 1e-13


def match_log_means(log_means: np.ndarray) -> np.ndarray:
    """The counts α with E log x_k = ψ(α_k) - ψ(Σα), for Beta and Dirichlet (Minka's Newton step, which costs O(k)).

    α_k = ψ⁻¹(ψ(Σα) + E log x_k) is iterated a few times first: it converges from everywhere.
    """
    counts = np.ones(log_means.shape)
    for _ in range(20):
        counts = inverse_digamma(digamma(counts.sum(axis=-1, keepdims=True)) + log_means)
    for _ in range(MAX_STEPS):
        total = counts.sum(axis=-1, keepdims=True)
        gradient = digamma(total) - digamma(counts) + log_means
        curvature, shared = -polygamma(1, counts), polygamma(1, total)
        pull = (gradient / curvature).sum(axis=-1, keepdims=True) / (
            1 / shared + (1 / curvature).sum(axis=-1, keepdims=True)
        )
        step = (gradient - pull) / curvature
        counts = np.maximum(counts - step, counts / 10)
        if (np.abs(step) <= TOLERANCE * counts).all():
            break
    return counts


def inverse_digamma(value: np.ndarray) -> np.ndarray:
    """x with ψ(x) = value, by Newton from Minka's start."""
    x = np.where(value >= -2.22, np.exp(np.minimum(value, 500.0)) + 0.5, -1 / (np.minimum(value, -1e-9) - digamma(1.0)))
    for _ in range(8):
        x = x - (digamma(x) - value) / polygamma(1, x)
    return np.asarray(x)
