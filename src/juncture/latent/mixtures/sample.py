"""`sample` of mixtures: rows, or components given a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.components.mixture import Mixture
from juncture.data.dataset import Dataset
from juncture.errors import InvalidData
from juncture.inference.engines.draws import check_num_rows
from juncture.latent.mixtures.infer import infer_component
from juncture.latent.rows import as_dataset, column_names


def sample_mixture(model: Mixture, n: Any, *, given: Any = None, rng: Any = None, method: Any = "auto") -> Dataset:
    """`n` rows drawn from the mixture: a column "x" of numbers, or "x0", "x1", … of the entries of vectors.

    The columns of a mixture with `feature_names` have these names.

    With `given`, one row: `n` components from the posterior.
    """
    if given is not None:
        beliefs = infer_component(model, given, method=method)
        if not beliefs.is_single:
            raise InvalidData("given= takes one row; sample once for each row")
        return beliefs.sample(n, rng=rng)
    count = check_num_rows(n, 24 * len(column_names(model.event_shape)))
    return as_dataset(np.asarray(model.sample(count, rng=rng)), model.feature_names)
