"""`LatentDirichletAllocation`: each document has shares of topics, and each topic a distribution over words.

    shares of document d ~ Dirichlet(concentration),    topic of each token ~ shares,    its word ~ topics[topic].

A document is known by its counts of words: the order of its tokens does not matter.
"""

from __future__ import annotations

from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from juncture.base.checks import check_array, check_count, check_iterable, is_count
from juncture.base.values import Value, number_of, read_only
from juncture.data.rows import free_name
from juncture.drawing.notebook import html_table
from juncture.errors import InvalidModel
from juncture.factors.printed_tables import MAX_HTML_ROWS, format_omitted
from juncture.factors.scope_tables import import_pandas
from juncture.variables import Scope, Variable

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 8  # words of a topic in a notebook


class LatentDirichletAllocation(Value):
    """Latent Dirichlet allocation (Blei, Ng and Jordan 2003).

    Parameters
    ----------
    topics
        (topic, word): the distribution over words of each topic.
    concentration
        The concentration of the Dirichlet distribution of the shares of a document, (topic,) or a number for all.
    words
        The words, one for each column; by default their indices.

    Examples
    --------
    >>> import juncture as jt
    >>> model = jt.LatentDirichletAllocation([[0.6, 0.4, 0.0], [0.0, 0.2, 0.8]], 0.5, ["goal", "ball", "vote"])
    >>> model.top_words(2)
    (('goal', 'ball'), ('vote', 'ball'))
    >>> jt.infer(model, [3, 1, 0]).shares.round(2).tolist()
    [0.9, 0.1]
    """

    kind: ClassVar[str] = "latent Dirichlet allocation"
    topics: np.ndarray  # (topic, word)
    concentration: np.ndarray  # (topic,)
    words: tuple[Any, ...]

    def __init__(self, topics: Any, concentration: Any = 0.1, words: Any = None) -> None:
        table = check_array(topics, "the topics", ndim=2, error=InvalidModel).astype(np.float64)
        if 0 in table.shape:
            raise InvalidModel(f"the topics are (topic, word), at least one of each; got the shape {table.shape}")
        if not (table >= 0).all() or not np.allclose(table.sum(axis=1), 1.0, rtol=0.0, atol=1e-6):
            raise InvalidModel("each topic must be a distribution over words: numbers from 0 that sum to 1")
        alphas = check_array(concentration, "the concentration", error=InvalidModel)
        if alphas.shape not in ((), table.shape[:1]):
            raise InvalidModel(f"the concentration is a number, or one a topic, {len(table)}; got {alphas.shape}")
        if not ((alphas > 0) & np.isfinite(alphas)).all():
            raise InvalidModel(f"the concentration must be positive and finite; the smallest is {np.min(alphas)}")
        given = range(table.shape[1]) if words is None else check_iterable(words, "words", error=InvalidModel)
        names = tuple(word.item() if isinstance(word, np.generic) else word for word in given)
        if len(names) != table.shape[1]:
            raise InvalidModel(f"there are {number_of(len(names), 'word')}, but topics over {table.shape[1]}")
        alphas = read_only(np.broadcast_to(alphas, len(table)), np.float64)
        self._set(topics=read_only(table, np.float64), concentration=alphas, words=names)

    @classmethod
    def standard(cls, num_topics: int, words: Any, concentration: Any = 0.1) -> Self:
        """Uniform topics: where only the sizes and the concentration matter, as for `fit`.

        Parameters
        ----------
        num_topics
            The number of topics.
        words
            The words, or their number.
        concentration
            Of the shares of a document.
        """
        topics = check_count(num_topics, "num_topics", least=1, error=InvalidModel)
        if is_count(words):
            words = range(check_count(words, "words", least=1, error=InvalidModel))
        names = check_iterable(words, "words", error=InvalidModel)
        size = max(len(names), 1)
        return cls(np.full((topics, size), 1.0 / size), concentration, names)

    @property
    def num_topics(self) -> int:
        return len(self.topics)

    @property
    def num_words(self) -> int:
        return int(self.topics.shape[1])

    @cached_property
    def variables(self) -> Scope:
        """The counts of the words of a document, numbers by the text of the word; and the vector of the shares."""
        names = [str(word) for word in self.words]
        shares = Variable(free_name("shares", names), dimension=self.num_topics)
        return Scope([*map(Variable, names), shares])

    @property
    def num_parameters(self) -> int:
        """Free numbers: those of the topics; the concentration is given."""
        return self.num_topics * (self.num_words - 1)

    def top_words(self, number: int = 10) -> tuple[tuple[Any, ...], ...]:
        """The most probable words of each topic, the most probable first.

        Parameters
        ----------
        number
            How many of each topic.
        """
        return tuple(tuple(self.words[word] for word in row) for row in self._order(number))

    def to_pandas(self, number: int = 10) -> pd.DataFrame:
        """A frame of topic, rank, word and probability: the most probable words of each topic.

        Parameters
        ----------
        number
            How many of each topic.
        """
        records = [
            (topic, rank, self.words[word], float(self.topics[topic, word]))
            for topic, row in enumerate(self._order(number))
            for rank, word in enumerate(row)
        ]
        return import_pandas().DataFrame(records, columns=["topic", "rank", "word", "probability"])

    def _order(self, number: int) -> np.ndarray:
        most = check_count(number, "number", least=1)
        return np.argsort(-self.topics, axis=1, kind="stable")[:, :most]

    def _repr_html_(self) -> str:
        heads = ["topic", *range(1, min(SHOWN, self.num_words) + 1)]
        probabilities = np.sort(self.topics, axis=1)[:, ::-1]
        rows = (
            (topic, *(f"{word} {share:.3f}" for word, share in zip(words, probabilities[topic], strict=False)))
            for topic, words in enumerate(self.top_words(SHOWN)[:MAX_HTML_ROWS])
        )
        note = format_omitted(self.num_topics)
        return f"<p><code>{escape(repr(self))}</code></p>" + html_table(heads, rows, note, num_labels=1)

    def __repr__(self) -> str:
        topics, words = map(number_of, self.topics.shape, ("topic", "word"))
        return f"LatentDirichletAllocation({topics}, {words})"
