"""`infer` and `sample` for latent Dirichlet allocation: the shares of topics in documents, by mean field; and draws.

Draws are documents as counts of words, or the shares of topics given a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from juncture.base.checks import check_counts
from juncture.base.methods import register_names, resolve_method
from juncture.base.options import Options, as_generator
from juncture.base.values import number_of
from juncture.errors import InvalidData, NotConvergedWarning, Unsupported, warn_user
from juncture.factors.scope_tables import import_pandas
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.inference.engines.contract import Diagnostics, OneVariable
from juncture.inference.engines.display import steps_html
from juncture.inference.engines.verb_options import check_evidence, check_num_rows, check_policy, impossible_indices
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.latent.topics.variational import Shares, VariationalBayes, limits_of
from juncture.latent.topics.word_counts import counts_of, missing_word, name_counts
from juncture.numerics.iteration import Trace, iterate

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE, MAX_STEPS = 1e-10, 1000  # of the mean field, by default
LENGTH = 100  # words of a document that is drawn


@dataclass(frozen=True)
class SharesOptions(Options):
    """How the shares of topics in documents are inferred.

    Parameters
    ----------
    method
        "mean-field", or a `VariationalBayes` with its options.
    """

    method: Any = "auto"
    methods: ClassVar[Mapping[str, type[Options]]] = {"mean-field": VariationalBayes}
    task: ClassVar[str] = "inference"

    def __post_init__(self) -> None:
        if isinstance(self.method, str) and self.method == "exact":
            raise Unsupported("the shares of topics have no exact method; take 'mean-field', which approximates")


def infer_topics(
    model: LatentDirichletAllocation,
    evidence: Any,
    *,
    on_impossible: str = "warn",
    options: SharesOptions,
) -> TopicBeliefs:
    """The shares of topics in documents, by coordinate ascent on the mean-field bound.

    Parameters
    ----------
    model
        The topics and the concentration.
    evidence
        Counts of words: (word,) of one document, or (document, word), an array, a sparse matrix of SciPy, or a frame or
        `Dataset` whose columns are named by the words.
    on_impossible
        As in `infer`, for documents with a word that no topic has.
    options
        The method, with its tolerance and number of steps.

    Returns
    -------
    TopicBeliefs
        Its `shares`, and a lower bound of log p of each document.
    """
    check_policy(on_impossible)
    limits = limits_of(options.method, TOLERANCE, MAX_STEPS)
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
    concentrations, bounds, trace = infer_shares(model, without(counts, never >= 0), **limits)
    if not trace.converged:
        warn_user(f"the mean-field bound {trace.reason}; raise max_steps", NotConvergedWarning)
    concentrations[never >= 0], bounds[never >= 0] = np.nan, -np.inf
    shown: Any = float(bounds[0]) if is_single else bounds
    diagnostics = Diagnostics(False, trace.converged, trace.num_steps, lower=shown)
    found = concentrations[0] if is_single else concentrations
    return TopicBeliefs(model, found, shown, trace, diagnostics, impossible_indices(impossible))


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


@dataclass(frozen=True, eq=False, repr=False)
class TopicBeliefs(OneVariable):
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
    diagnostics
        That the answers are approximate, and whether the bound converged.
    impossible
        The documents with a word that no topic has; their answers are NaN.
    """

    variable = "shares"
    model: LatentDirichletAllocation
    concentrations: np.ndarray
    bound: Any
    trace: Trace
    diagnostics: Diagnostics
    impossible: tuple[int, ...] = ()

    method = "mean-field"

    @property
    def is_single(self) -> bool:
        """Whether there is one document."""
        return self.concentrations.ndim == 1

    @property
    def log_evidence(self) -> Any:
        """The `bound`; `log_prob` of the model has the probability itself, exact or estimated."""
        return self.bound

    @property
    def shares(self) -> np.ndarray:
        """The expected shares of topics, (topic,) of one document, (document, topic) of many."""
        return np.asarray(self.concentrations / self.concentrations.sum(axis=-1, keepdims=True))

    @property
    def mean(self) -> np.ndarray:
        """The same as `shares`."""
        return self.shares

    @property
    def standard_deviation(self) -> np.ndarray:
        """The standard deviation of each share under its Dirichlet distribution, of the shape of `shares`."""
        total = self.concentrations.sum(axis=-1, keepdims=True)
        return np.sqrt(self.shares * (1.0 - self.shares) / (total + 1.0))

    def __getitem__(self, name: str) -> Dirichlet:
        """The Dirichlet distribution of the "shares", or a batch with one a document."""
        self._check_variable(name)
        if self.impossible:
            raise Unsupported(f"document {self.impossible[0]} has probability zero and no shares: leave it out")
        return Dirichlet(self.concentrations)

    def sample(self, n: int, *, rng: Any = None) -> np.ndarray:
        """`n` draws of the shares of one document, (n, topic)."""
        if not self.is_single:
            raise Unsupported("shares are drawn given one document; infer and sample once for each row")
        return np.asarray(self["shares"].sample(check_num_rows(n, 8 * self.model.num_topics), rng=as_generator(rng)))

    def to_dict(self) -> dict[str, dict[str, np.ndarray]]:
        """Name → "mean" and "concentration"."""
        return {"shares": {"mean": self.shares, "concentration": self.concentrations}}

    def to_pandas(self) -> pd.DataFrame:
        """A frame of document, variable, topic, the mean of its share and the standard deviation."""
        means, deviations = np.atleast_2d(self.shares), np.atleast_2d(self.standard_deviation)
        documents, topics = np.indices(means.shape)
        columns = {
            "document": documents.ravel(),
            "variable": "shares",
            "topic": topics.ravel(),
            "mean": means.ravel(),
            "standard_deviation": deviations.ravel(),
        }
        return import_pandas().DataFrame(columns)

    def __len__(self) -> int:
        return len(np.atleast_2d(self.concentrations))

    def _repr_html_(self) -> str:
        heads = [f"topic {topic}" for topic in range(self.model.num_topics)]
        return steps_html(repr(self), heads, np.atleast_2d(self.shares), "document")

    def __repr__(self) -> str:
        topics, documents = number_of(self.model.num_topics, "topic"), number_of(len(self), "document")
        return f"TopicBeliefs({topics}; {documents}; approximate, by {self.method})"


def sample_documents(
    model: LatentDirichletAllocation,
    n: Any,
    *,
    given: Any = None,
    rng: Any = None,
    method: Any = "auto",
    length: Any = LENGTH,
) -> Any:
    """`n` documents drawn from the model, as a `Dataset` of counts with a column for each word.

    Parameters
    ----------
    model
        The topics and the concentration.
    n
        The number of documents.
    given
        The counts of one document: draw its shares instead, (n, topic), from the mean-field approximation.
    rng
        A seed or a `numpy.random.Generator`.
    method
        As in `infer`, for draws of shares.
    length
        The number of words of each document, or a list with one for each.
    """
    options = SharesOptions.of({"method": method})
    if isinstance(method, str):
        resolve_method(model, "sample", method)
    if given is not None:
        beliefs = infer_topics(model, given, options=options)
        if not beliefs.is_single:
            raise InvalidData("given= takes one document; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count = check_num_rows(n, 24 * model.num_words)
    lengths = np.asarray(check_counts(length, "length"))
    if lengths.shape not in ((), (count,)):
        raise InvalidData(f"there are {count} documents to draw, and {len(lengths)} lengths")
    generator = as_generator(rng)
    words = generator.dirichlet(model.concentration, count) @ model.topics
    return name_counts(model, generator.multinomial(lengths, words / words.sum(axis=1, keepdims=True)))


register_names(LatentDirichletAllocation, "sample", {"auto": "mean-field", "mean-field": "mean-field"})
