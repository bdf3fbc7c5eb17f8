"""`elbo` of a mixture: the bound of any distribution over the component of each row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juncture import numerics
from juncture.checks import check_array, shown
from juncture.components.mixture import Mixture
from juncture.errors import InvalidData
from juncture.inference.variational.bounds import DiscreteRowBounds
from juncture.latent.mixtures.beliefs import MixtureBeliefs
from juncture.latent.rows import rows_of
from juncture.numerics import as_probabilities


def bound_mixture(model: Mixture, q: Any, evidence: Any) -> DiscreteRowBounds:
    """The bounds of rows, or of one; what is missing in a row is summed out."""
    rows, _ = rows_of(evidence, model.event_shape, model.feature_names)
    log_prior = numerics.log(model.weights)
    return DiscreteRowBounds.of(as_shares(q, len(rows), model), model.component_log_prob(rows) + log_prior, log_prior)


def as_shares(q: Any, num_rows: int, model: Mixture) -> np.ndarray:
    """q as (row, component)."""
    wanted = (num_rows, model.num_components)
    if isinstance(q, MixtureBeliefs):
        shares = q.responsibilities
        if shares.shape != wanted or np.isnan(shares).any():
            raise InvalidData(f"q is of the shape {shares.shape} where {wanted} is wanted, or of impossible rows")
        return shares
    if isinstance(q, Mapping) and set(q) != {"component"}:
        raise InvalidData(f'q has a distribution of "component" and of nothing else; got {shown(q)}')
    table = check_array(q["component"] if isinstance(q, Mapping) else q, "q, the probabilities of the components,")
    return as_probabilities(np.broadcast_to(table, wanted) if table.shape == wanted[1:] else table, wanted, name="q")
