"""`LatentDirichletAllocation` as a scikit-learn estimator, with the bound that never falls, and weights."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from juncture.base.checks import check_count, check_number
from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.data.tables.weights import as_weights
from juncture.errors import InvalidData, NotConvergedWarning, warn_user
from juncture.estimators.reading import draw_seed, row_weights, validate_table
from juncture.latent.topics import model as topics
from juncture.latent.topics.fit import learn_topics
from juncture.latent.topics.variational import Shares, TopicState, check_possible
from juncture.latent.topics.word_counts import as_counts
from juncture.numerics.iteration import Trace, check_stopping_rule

CHANGE = 1e-6  # of the mean concentration of a document in a step, at which its shares end; scikit-learn: 1e-3
STEPS = 2000  # of a document, at most


@dataclass(eq=False, repr=False)
class LatentDirichletAllocation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Latent Dirichlet allocation as a scikit-learn estimator, by variational EM whose bound never falls.

    Parameters
    ----------
    n_components
        The number of topics.
    doc_topic_prior
        The concentration of the shares of a document; None is 1 / n_components.
    topic_word_prior
        A pseudo-count for each word of each topic; None is 1 / n_components.
    tolerance, max_steps
        EM ends when a step gains less than `tolerance` of what the bound rose, or after `max_steps`.
    random_state
        The seed of the random start.

    Attributes
    ----------
    model_
        The `juncture.LatentDirichletAllocation`; its words are the names of the columns where X has some.
    fit_
        The `Fit`.
    components_
        (topic, word): the distribution over words of each topic. In scikit-learn each row is a multiple of one.
    bound_
        The mean-field lower bound of the log-likelihood.
    n_iter_
        The number of steps of EM.
    n_features_in_, feature_names_in_
        The number of words, and their names where X has names.

    Examples
    --------
    >>> counts = [[3, 1, 0, 0], [4, 2, 0, 0], [0, 0, 2, 3], [0, 1, 3, 3]]
    >>> model = LatentDirichletAllocation(n_components=2).fit(counts)
    >>> model.transform(counts).argmax(axis=1).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    True
    """

    n_components: int = 10
    _: KW_ONLY
    doc_topic_prior: float | None = None
    topic_word_prior: float | None = None
    tolerance: float = 1e-5
    max_steps: int = 1000
    random_state: Any = 0

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Learn the topics.

        Parameters
        ----------
        X
            Counts of words, (document, word), an array, a frame or a sparse matrix. As in scikit-learn they need not be
            whole numbers.
        y
            Not used.
        sample_weight
            The weight of each document.

        Returns
        -------
        The estimator itself.
        """
        counts = self._counts(X, reset=True)
        weights = as_weights(row_weights(sample_weight, X), counts.shape[0])
        number = check_count(self.n_components, "n_components", least=1)
        check_stopping_rule(self.tolerance, self.max_steps)
        words = getattr(self, "feature_names_in_", counts.shape[1])
        start = topics.LatentDirichletAllocation.standard(number, words, self._share(self.doc_topic_prior, "doc_topic"))
        self.fit_ = learn_topics(
            start, counts, weights, pseudo_count=self._share(self.topic_word_prior, "topic_word"), start="random",
            tolerance=self.tolerance, max_steps=self.max_steps, rng=as_generator(draw_seed(self.random_state)),
        )  # fmt: skip
        report_end(self.fit_.trace)
        self.model_, self.bound_ = self.fit_.model, self.fit_.log_likelihood
        self.components_ = self.model_.topics
        self.n_iter_ = self.fit_.trace.num_steps
        return self

    def _share(self, given: float | None, name: str) -> float:
        return 1.0 / self.n_components if given is None else check_number(given, f"{name}_prior", least=0)

    def transform(self, X: Any) -> np.ndarray:
        """The expected shares of topics in each document, (document, topic)."""
        concentrations = self._infer(X)[1].concentrations
        return np.asarray(concentrations / concentrations.sum(axis=1, keepdims=True))

    def score_samples(self, X: Any) -> np.ndarray:
        """The lower bound of log p of the words of each document, (document,)."""
        shares, state = self._infer(X)
        return shares.bounds(state)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The lower bound of the log-likelihood, the sum of `score_samples` as in scikit-learn, times the weights."""
        bounds = self.score_samples(X)
        weights = as_weights(sample_weight, len(bounds))
        return float(bounds.sum() if weights is None else bounds @ weights)

    def perplexity(self, X: Any) -> float:
        """exp(-score / number of words): an upper bound of the perplexity."""
        num_words = float(self._counts(X).sum())
        if not num_words:
            raise InvalidData("the perplexity is for each word, and X has none: all counts are 0")
        return float(np.exp(-self.score(X) / num_words))

    def _infer(self, X: Any) -> tuple[Shares, TopicState]:
        """The shares of each document, which end one by one: they do not depend on other documents."""
        check_is_fitted(self)
        counts = self._counts(X)
        check_possible(self.model_.topics, counts, self.model_.words)
        shares = Shares(counts, self.model_.concentration, self.model_.topics)
        state, num_open = shares.ascend(shares.init(), CHANGE, STEPS)
        if num_open:
            warn_user(
                f"the shares of {number_of(num_open, 'document')} still moved after {STEPS:,} steps: they are near the"
                " maximum of the mean-field bound, not at it",
                NotConvergedWarning,
            )
        return shares, state

    def _counts(self, X: Any, *, reset: bool = False) -> Any:
        checked = validate_table(self, X, dtype=np.float64, accept_sparse="csr", reset=reset, ensure_non_negative=True)
        return as_counts(checked, checked.shape[1], is_whole=False)[0]

    @property
    def _n_features_out(self) -> int:
        return int(self.model_.num_topics)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags


def report_end(trace: Trace) -> None:
    if not trace.converged:
        warn_user(f"the mean-field bound {trace.reason}; raise max_steps or tolerance", NotConvergedWarning)
