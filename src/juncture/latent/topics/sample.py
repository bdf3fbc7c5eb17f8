"""`sample` of latent Dirichlet allocation: documents as counts, or shares given a document."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.base.checks import check_counts
from juncture.base.options import as_generator
from juncture.errors import InvalidData
from juncture.inference.engines.verb_options import check_num_rows
from juncture.latent.topics.documents import as_dataset
from juncture.latent.topics.infer import check_method, infer_topics
from juncture.latent.topics.model import LatentDirichletAllocation

LENGTH = 100


def sample_documents(
    model: LatentDirichletAllocation,
    n: Any,
    *,
    given: Any = None,
    rng: Any = None,
    method: str = "auto",
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
    if given is not None:
        beliefs = infer_topics(model, given, method=method)
        if not beliefs.is_single:
            raise InvalidData("given= takes one document; sample once for each row")
        return beliefs.sample(n, rng=rng)
    check_method(method)
    count = check_num_rows(n, 24 * model.num_words)
    lengths = np.asarray(check_counts(length, "length"))
    if lengths.shape not in ((), (count,)):
        raise InvalidData(f"there are {count} documents to draw, and {len(lengths)} lengths")
    generator = as_generator(rng)
    words = generator.dirichlet(model.concentration, count) @ model.topics
    return as_dataset(model, generator.multinomial(lengths, words / words.sum(axis=1, keepdims=True)))
