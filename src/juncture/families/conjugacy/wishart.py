"""What a Wishart and its inverse are priors for: the precision, and the covariance, of a Gaussian with a known mean."""

from __future__ import annotations

from typing import Any

import numpy as np

from juncture.families.conjugacy.pair import Pair
from juncture.families.statistics.statistics import Known
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.wishart import Wishart


def after_vectors_by_precision(prior: Wishart, statistics: Any) -> Wishart:
    """Wishart(ν + n, (V⁻¹ + S)⁻¹) for the scatter S about the mean; as (1 + VS)⁻¹V, which is V for no data."""
    scale = prior.scale
    grown = np.eye(prior.dimension) + scale @ statistics.scatter_about(statistics.known["mean"])
    found = np.linalg.solve(grown, np.broadcast_to(scale, grown.shape))
    return Wishart(prior.degrees + statistics.weight, (found + np.swapaxes(found, -2, -1)) / 2)


def after_vectors_by_covariance(prior: InverseWishart, statistics: Any) -> InverseWishart:
    """InverseWishart(ν + n, Ψ + S) for the scatter S about the mean."""
    scatter = statistics.scatter_about(statistics.known["mean"])
    return InverseWishart(prior.degrees + statistics.weight, prior.scale + scatter)


def next_vector(degrees: Any, scale: np.ndarray, known: Known) -> MultivariateStudentT:
    """Student's t with ν - d + 1 degrees and the scale Ψ / (ν - d + 1)."""
    left = np.asarray(degrees) - scale.shape[-1] + 1
    return MultivariateStudentT(left, known["mean"], scale / left[..., None, None])


def degrees(prior: Any, known: Known) -> Any:
    return prior.degrees


PAIRS = (
    Pair(
        Wishart, MultivariateGaussian, "precision", after_vectors_by_precision,
        at=lambda point, known: MultivariateGaussian(known["mean"], np.linalg.inv(point)), sample_size=degrees,
        known=frozenset({"mean"}),
        told_predictive=lambda posterior, known: next_vector(posterior.degrees, np.linalg.inv(posterior.scale), known),
    ),
    Pair(
        InverseWishart, MultivariateGaussian, "covariance", after_vectors_by_covariance,
        at=lambda point, known: MultivariateGaussian(known["mean"], point), sample_size=degrees,
        known=frozenset({"mean"}),
        told_predictive=lambda posterior, known: next_vector(posterior.degrees, posterior.scale, known),
    ),
)  # fmt: skip
