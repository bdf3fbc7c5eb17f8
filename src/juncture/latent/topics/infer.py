"""`infer` for latent Dirichlet allocation: the shares of topics in documents, by mean field."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.errors import NotConvergedWarning, Unsupported, warn_user
from juncture.inference.engines.contract import Diagnostics
from juncture.inference.engines.verb_options import check_evidence, check_policy, impossible_indices
from juncture.latent.topics.beliefs import TopicBeliefs
from juncture.latent.topics.documents import counts_of, missing_word
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import Shares
from juncture.numerics.iteration import Trace, check_stopping_rule, iterate

METHODS = ("auto", "mean-field")


def infer_topics(
    model: LatentDirichletAllocation,
    evidence: Any,
    *,
    method: str = "auto",
    on_impossible: str = "warn",
    tolerance: float = 1e-10,
    max_steps: int = 1000,
) -> TopicBeliefs:
    """The shares of topics in documents, by coordinate ascent on the mean-field bound.

    Parameters
    ----------
    model
        The topics and the concentration.
    evidence
        Counts of words: (word,) of one document, or (document, word), an array, a sparse matrix of SciPy, or a frame or
        `Dataset` whose columns are named by the words.
    method
        "auto" or "mean-field".
    on_impossible
        As in `infer`, for documents with a word that no topic has.
    tolerance, max_steps
        When to end.

    Returns
    -------
    TopicBeliefs
        Its `shares`, and a lower bound of log p of each document.
    """
    check_method(method)
    check_policy(on_impossible)
    check_stopping_rule(tolerance, max_steps)
    counts, is_single = counts_of(model, evidence)
    never = missing_word(model.topics, counts)
    impossible = np.where(never >= 0, -np.inf, 0.0)
    check_evidence(
        impossible,
        lambda document: f"no topic has the word {model.words[never[document]]!r}",
        is_single=is_single,
        on_impossible=on_impossible,
        single="the document",
    )
    concentrations, bounds, trace = infer_shares(model, without(counts, never >= 0), tolerance, max_steps)
    if not trace.converged:
        warn_user(f"the mean-field bound {trace.reason}; raise max_steps", NotConvergedWarning)
    concentrations[never >= 0], bounds[never >= 0] = np.nan, -np.inf
    shown: Any = float(bounds[0]) if is_single else bounds
    diagnostics = Diagnostics(False, trace.converged, trace.num_steps, lower=shown)
    found = concentrations[0] if is_single else concentrations
    return TopicBeliefs(model, found, shown, trace, diagnostics, impossible_indices(impossible))


def check_method(method: Any) -> None:
    if method not in METHODS:
        raise Unsupported(
            f"infer of a LatentDirichletAllocation has no method {method!r}; did you mean 'mean-field', which"
            " approximates: there is no exact one"
        )


def infer_shares(
    model: LatentDirichletAllocation,
    counts: Any,
    tolerance: float,
    max_steps: int,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, Trace]:
    """The Dirichlet distributions of the shares (document, topic), the bounds (document,) and their course."""
    algorithm = Shares(counts, model.concentration, model.topics, weights)
    state, trace = iterate(algorithm, tolerance=tolerance, max_steps=max_steps)
    return state.concentrations, algorithm.bounds(state), trace


def without(counts: Any, left_out: np.ndarray) -> Any:
    """The counts, with some documents emptied."""
    if not left_out.any():
        return counts
    from scipy import sparse

    return sparse.csr_array(sparse.diags_array((~left_out).astype(np.float64)) @ counts)


def most_probable_topics(model: LatentDirichletAllocation, evidence: Any, **options: Any) -> Any:
    """Not defined: the density of the shares has no largest value where a concentration is below 1."""
    raise Unsupported(
        "latent Dirichlet allocation has no most probable shares: their density is unbounded where a concentration is"
        " below 1; take infer(model, counts).shares, and argmax(axis=-1) of them for the largest topic"
    )
