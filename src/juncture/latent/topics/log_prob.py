"""`log_prob` of documents: exact where the sum over topics is short, otherwise an estimate that says so."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_choice
from juncture.errors import ApproximationWarning, warn_user
from juncture.latent.topics.documents import counts_of, lengths_of, missing_word
from juncture.latent.topics.enumeration import QUICK, exact_log_prob, num_operations
from juncture.latent.topics.left_to_right import left_to_right
from juncture.latent.topics.model import LatentDirichletAllocation

METHODS = ("auto", "exact", "enumeration", "left-to-right")


def log_prob_documents(
    model: LatentDirichletAllocation, rows: Any, *, method: str = "auto", num_particles: int = 100, rng: Any = 0
) -> Any:
    """log p of the tokens of documents, in their order; of their counts it is larger by the multinomial coefficient.

    Parameters
    ----------
    model
        The topics and the concentration.
    rows
        Counts of words, as `infer` takes them.
    method
        "enumeration" or "exact": the sum over topics, for few topics or tokens; beyond memory it raises `TooLarge`.
        "left-to-right": the estimate of `left_to_right`, which gives standard errors, too. "auto" sums where that is
        quick, and estimates the other documents with an `ApproximationWarning` that tells the largest standard error.
    num_particles, rng
        Of the estimate.

    Returns
    -------
    float or numpy.ndarray
        A number for one document, (document,) for many; -inf for a document with a word that no topic has.
    """
    check_choice(method, METHODS, "method")
    counts, is_single = counts_of(model, rows)
    found = np.full(counts.shape[0], -np.inf)
    possible = missing_word(model.topics, counts) < 0
    summed = possible & is_summed(model, counts, method)
    if summed.any():
        found[summed] = exact_log_prob(model, counts[summed])
    guessed = possible & ~summed
    if guessed.any():
        score = left_to_right(model, counts[guessed], num_particles=num_particles, rng=rng)
        found[guessed] = score.log_prob
        if method == "auto":
            report_estimate(score.standard_error, len(found))
    return float(found[0]) if is_single else found


def is_summed(model: LatentDirichletAllocation, counts: Any, method: str) -> np.ndarray:
    """Whether each document is summed over exactly."""
    if method == "auto":
        return np.asarray(num_operations(model, lengths_of(counts)) <= QUICK)
    return np.full(counts.shape[0], method != "left-to-right")


def report_estimate(errors: np.ndarray, num_documents: int) -> None:
    warn_user(
        f"log p of {len(errors)} of {num_documents} documents is estimated from left to right, with standard errors up"
        f' to {errors.max():.2g}; method="left-to-right" says that you know, left_to_right gives all errors',
        ApproximationWarning,
    )
