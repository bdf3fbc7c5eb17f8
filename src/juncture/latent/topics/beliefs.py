"""`TopicBeliefs`: the shares of topics in documents; and `infer`, which finds them by mean field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juncture.checks import check_choice
from juncture.errors import UnknownVariable
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.iteration import Trace, check_stopping_rule, iterate
from juncture.latent.topics.documents import as_counts
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import Shares, check_possible
from juncture.values import number_of


@dataclass(frozen=True, eq=False, repr=False)
class TopicBeliefs:
    """The shares of topics in each document given its words, by mean field: an approximation.

    Attributes
    ----------
    model
        The `LatentDirichletAllocation`.
    concentrations
        Of the Dirichlet distribution of the shares, (topic,) of one document, (document, topic) of many.
    bound
        A lower bound of log p of the tokens, in their order: a float of one document, (document,) of many.
    trace
        The bound of all documents at each step.
    """

    model: LatentDirichletAllocation
    concentrations: np.ndarray
    bound: Any
    trace: Trace

    method = "mean-field"
    exact = False

    @property
    def converged(self) -> bool:
        """Whether the bound converged."""
        return self.trace.converged

    @property
    def shares(self) -> np.ndarray:
        """The expected shares of topics, (topic,) of one document, (document, topic) of many."""
        return np.asarray(self.concentrations / self.concentrations.sum(axis=-1, keepdims=True))

    def __getitem__(self, name: str) -> Dirichlet:
        """The Dirichlet distribution of the "shares", or a batch with one a document."""
        if not isinstance(name, str) or name != "shares":
            raise UnknownVariable(f"beliefs about documents are of 'shares'; got {name!r}")
        return Dirichlet(self.concentrations)

    def __len__(self) -> int:
        return len(np.atleast_2d(self.concentrations))

    def __repr__(self) -> str:
        topics, documents = number_of(self.model.num_topics, "topic"), number_of(len(self), "document")
        return f"TopicBeliefs({topics}; {documents}; approximate, by mean field)"


def infer_topics(
    model: LatentDirichletAllocation,
    evidence: Any,
    *,
    method: str = "auto",
    tolerance: float = 1e-10,
    max_steps: int = 1000,
) -> TopicBeliefs:
    """The shares of topics in documents, by coordinate ascent on the mean-field bound.

    Parameters
    ----------
    model
        The topics and the concentration.
    evidence
        Counts of words: (word,) of one document, or (document, word), an array or a sparse matrix of SciPy.
    method
        "auto" or "mean-field".
    tolerance, max_steps
        When to end.

    Returns
    -------
    TopicBeliefs
        Its `shares`, and a lower bound of log p of each document.
    """
    check_choice(method, ("auto", "mean-field"), "method")
    check_stopping_rule(tolerance, max_steps)
    counts, is_single = as_counts(evidence, model.num_words)
    check_possible(model.topics, counts, model.words)
    algorithm = Shares(counts, model.concentration, model.topics)
    state, trace = iterate(algorithm, tolerance=tolerance, max_steps=max_steps)
    bounds = algorithm.bounds(state)
    if is_single:
        return TopicBeliefs(model, state.concentrations[0], float(bounds[0]), trace)
    return TopicBeliefs(model, state.concentrations, bounds, trace)
