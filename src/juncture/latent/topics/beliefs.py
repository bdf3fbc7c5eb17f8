"""`TopicBeliefs`: the shares of topics in documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juncture.base.options import as_generator
from juncture.base.values import number_of
from juncture.errors import Unsupported
from juncture.factors.scope_tables import import_pandas
from juncture.families.vectors.dirichlet import Dirichlet
from juncture.inference.engines.contract import Diagnostics, OneVariable
from juncture.inference.engines.display import steps_html
from juncture.inference.engines.verb_options import check_num_rows
from juncture.latent.topics.model import LatentDirichletAllocation
from juncture.numerics.iteration import Trace

if TYPE_CHECKING:
    import pandas as pd


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
    def deviation(self) -> np.ndarray:
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
        means, deviations = np.atleast_2d(self.shares), np.atleast_2d(self.deviation)
        documents, topics = np.indices(means.shape)
        columns = {
            "document": documents.ravel(),
            "variable": "shares",
            "topic": topics.ravel(),
            "mean": means.ravel(),
            "deviation": deviations.ravel(),
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
