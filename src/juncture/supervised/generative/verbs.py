"""What the verbs do with generative classifiers: joint distributions of a row and its class."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture import verbs
from juncture.base.dispatch import register
from juncture.base.options import Options, as_generator
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.inference.engines.verb_options import check_num_rows
from juncture.supervised.answers import infer_target, register_answers, take_target
from juncture.supervised.generative.classifier import GenerativeClassifier
from juncture.supervised.generative.fit import GenerativeOptions, fit_classifier
from juncture.supervised.model import is_one_row


def sample_rows(
    model: GenerativeClassifier,
    n: Any,
    *,
    given: Any = None,
    rng: Any = None,
    method: Any = "auto",
    extra: str = "error",
) -> Dataset:
    """`n` rows with their classes; rows of the class that `given` has; or classes given one row of inputs."""
    algorithm = model.algorithm_of(method, "sample")
    name, generator = model.target.name, as_generator(rng)
    is_of_class = is_one_row(given) and set(given) == {name}
    if given is not None and not is_of_class:
        beliefs = infer_target(model, given, method=algorithm, extra=extra, options=Options())
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=generator)
    label = take_target(model, given)[1][0] if is_of_class else None
    count = check_num_rows(n, 8 * (model.num_columns + 1))
    rows, codes = model.draw(count, generator, label)
    return model.dataset_of(np.asarray(rows, np.float64).reshape(count, model.num_columns), codes)


register(verbs.fit, GenerativeClassifier, fit_classifier, GenerativeOptions, takes_class=True)
register_answers(GenerativeClassifier)
register(verbs.sample, GenerativeClassifier, sample_rows)
