"""NormalInverseWishart: the mean and covariance of a MultivariateGaussian, uncertain together."""

from __future__ import annotations

from math import isqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from juncture.errors import InvalidData
from juncture.families.conjugacy import Pair
from juncture.families.constraints import POSITIVE, POSITIVE_DEFINITE, REAL_VECTOR
from juncture.families.family import Real
from juncture.families.statistics.statistics import Known
from juncture.families.supports import Pairs, PositiveDefinite, Vectors
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors import matrix_family
from juncture.families.vectors.inverse_wishart import InverseWishart
from juncture.families.vectors.joint_prior import JointPrior, as_pair, strength_of
from juncture.families.vectors.matrix_family import check_degrees, degrees_from
from juncture.families.vectors.multivariate_gaussian import MultivariateGaussian
from juncture.families.vectors.multivariate_student_t import MultivariateStudentT
from juncture.families.vectors.vector_family import check_dimensions, dimension_of
from juncture.families.vectors.whitening import Spectrum, Whitening, apply, whitening_of
from juncture.numerics.stable import LOG_TWO_PI


class MeanAndCovariance(NamedTuple):
    mean: Any
    covariance: Any


class NormalInverseWishart(JointPrior):
    """Σ from InverseWishart(degrees, scale), μ given Σ from a MultivariateGaussian with the covariance Σ / strength.

    u = (log |Σ|, vec Σ⁻¹, Σ⁻¹μ, μᵀΣ⁻¹μ), η = (-½ (ν+d+2), -½ vec(Ψ + κmmᵀ), κm, -½κ), with degrees ν, scale Ψ,
    strength κ and mean m. The conjugate prior of the mean and covariance of a MultivariateGaussian.

    Parameters
    ----------
    mean
        m, the mean of μ, (…, d).
    strength
        κ, how many observations the prior mean is worth, positive.
    degrees
        ν, the degrees of freedom, above d - 1.
    scale
        Ψ, (…, d, d), positive definite.
    """

    parameters: ClassVar = {
        "mean": REAL_VECTOR, "strength": POSITIVE, "degrees": POSITIVE, "scale": POSITIVE_DEFINITE,
    }  # fmt: skip
    pair_type: ClassVar = MeanAndCovariance
    mean_axes: ClassVar = 1
    mean: np.ndarray
    strength: Real
    degrees: Real
    scale: np.ndarray

    def __init__(self, mean: Any, strength: Any, degrees: Any, scale: Any) -> None:
        self._declare(mean=mean, strength=strength, degrees=degrees, scale=scale)

    def _check(self) -> None:
        check_dimensions(self)
        check_degrees(self)

    @property
    def dimension(self) -> int:
        return dimension_of(self)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.dimension,)

    @classmethod
    def _supports(cls, event_shape: tuple[int, ...]) -> Pairs:
        return Pairs(Vectors(event_shape[0]), PositiveDefinite(event_shape[0]))

    @property
    def _whitening(self) -> Whitening:
        return whitening_of(self, "scale")

    # -- the exponential family

    def _natural(self) -> np.ndarray:
        mean, strength, degrees, scale = (self._given[name] for name in self.parameters)
        pulled = strength[..., None] * mean
        second = scale + pulled[..., :, None] * mean[..., None, :]
        return _concatenate_parts(-0.5 * (degrees + self.dimension + 2), -0.5 * second, pulled, -0.5 * strength)

    @classmethod
    def _from_natural(cls, natural: np.ndarray, known: Known) -> Self:
        mean, strength, half_degrees, half_scale = _parameters_at(natural)
        return cls(mean, strength, 2 * half_degrees, 2 * half_scale)

    @classmethod
    def _mean_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        return _expectations(*_parameters_at(natural))

    def _mean(self) -> np.ndarray:
        mean, strength, degrees, scale = (self._given[name] for name in self.parameters)
        return _expectations(mean, strength, 0.5 * degrees, 0.5 * scale)

    @classmethod
    def _from_mean(cls, mean: np.ndarray, known: Known) -> Self:
        log_determinant, precision, pulled, square = _split_parts(mean)
        degrees = degrees_from(-log_determinant, precision, name=cls.__name__)
        covariance = Whitening.of(precision, name="the mean of the inverses").inverse
        center = apply(covariance, pulled)
        variation = square - (center * pulled).sum(axis=-1)
        if not (variation > 0).all():
            raise InvalidData(f"{cls.__name__} cannot be estimated from equal means: give at least two different ones")
        return cls(center, precision.shape[-1] / variation, degrees, degrees[..., None, None] * covariance)

    @classmethod
    def _log_partition_of(cls, natural: np.ndarray, known: Known) -> np.ndarray:
        _, strength, half_degrees, half_scale = _parameters_at(natural)
        dimension = half_scale.shape[-1]
        gaussian = 0.5 * dimension * (LOG_TWO_PI - np.log(strength))
        return np.asarray(matrix_family.log_partition(half_degrees, half_scale) + gaussian)

    @classmethod
    def _sufficient(cls, x: Any, known: Known) -> np.ndarray:
        mean, covariance = x
        spectrum = Spectrum.of(covariance)
        precision = spectrum.inverse
        pulled = apply(precision, mean)
        return _concatenate_parts(spectrum.log_determinant, precision, pulled, (pulled * mean).sum(axis=-1))

    # -- its two parts

    def _marginal_of_second(self) -> InverseWishart:
        return self.covariance_marginal

    @classmethod
    def _log_precision(cls, second: np.ndarray) -> np.ndarray:
        return -Spectrum.of(second).log_determinant

    @classmethod
    def _squared_distance(cls, shift: np.ndarray, second: np.ndarray) -> np.ndarray:
        return Spectrum.of(second).squared_distance(shift)

    @classmethod
    def _color(cls, noise: np.ndarray, second: np.ndarray) -> np.ndarray:
        return Spectrum.of(second).color(noise)

    def _expected_square(self, shift: np.ndarray) -> np.ndarray:
        return np.asarray(self._given["degrees"] * self._whitening.squared_distance(shift))

    def _expected_log_precision(self) -> np.ndarray:
        return matrix_family.expected_log_determinant(0.5 * self._given["degrees"], 0.5 * self._given["scale"])

    @property
    def covariance_marginal(self) -> InverseWishart:
        """The distribution of the covariance alone."""
        return InverseWishart(self._given["degrees"], self._given["scale"])

    @property
    def mean_marginal(self) -> MultivariateStudentT:
        """The distribution of the mean alone: a t with ν - d + 1 degrees and the scale Ψ / (κ (ν - d + 1))."""
        degrees = self._given["degrees"] - self.dimension + 1
        scale = self._given["scale"] / (self._given["strength"] * degrees)[..., None, None]
        return MultivariateStudentT(degrees, self._given["mean"], scale)

    @property
    def expected_covariance(self) -> np.ndarray:
        """Ψ / (ν - d - 1), for ν > d + 1."""
        return self.covariance_marginal.mean

    @property
    def mode(self) -> MeanAndCovariance:
        """The pair where the density is largest: covariance Ψ / (ν + d + 2)."""
        divisor = self._given["degrees"] + self.dimension + 2
        found: MeanAndCovariance = self._pair(self._given["scale"] / divisor[..., None, None])
        return found

    def _inside(self) -> MeanAndCovariance:
        return self.mode

    def _mean_point(self) -> MeanAndCovariance:
        found: MeanAndCovariance = self._pair(self.expected_covariance)
        return found


def _concatenate_parts(first: np.ndarray, matrix: np.ndarray, vector: np.ndarray, last: np.ndarray) -> np.ndarray:
    """(number, vec matrix, vector, number) along one axis."""
    return blocks.side_by_side(np.asarray(first)[..., None], blocks.vec(matrix), vector, np.asarray(last)[..., None])


def _split_parts(vector: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The parts of such a vector: d² + d + 2 numbers have the dimension d."""
    dimension = (isqrt(4 * vector.shape[-1] - 7) - 1) // 2
    end = vector.shape[-1] - dimension - 1
    return vector[..., 0], blocks.unvec(vector[..., 1:end]), vector[..., end:-1], vector[..., -1]


def _parameters_at(natural: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """m, κ, ν/2 and Ψ/2 of the natural parameters, which may be complex."""
    first, second, pulled, last = _split_parts(natural)
    strength = -2 * last
    mean = pulled / strength[..., None]
    half_scale = -second - 0.5 * pulled[..., :, None] * mean[..., None, :]
    return mean, strength, -first - 0.5 * (mean.shape[-1] + 2), half_scale


def _expectations(
    mean: np.ndarray, strength: np.ndarray, half_degrees: np.ndarray, half_scale: np.ndarray
) -> np.ndarray:
    """E (log |Σ|, vec Σ⁻¹, Σ⁻¹μ, μᵀΣ⁻¹μ)."""
    precision = matrix_family.expected_matrix(half_degrees, half_scale)
    pulled = apply(precision, mean)
    log_covariance = -matrix_family.expected_log_determinant(half_degrees, half_scale)
    return _concatenate_parts(
        log_covariance, precision, pulled, mean.shape[-1] / strength + (pulled * mean).sum(axis=-1)
    )


def after_vectors(prior: NormalInverseWishart, statistics: Any) -> NormalInverseWishart:
    """Mean (κm + n x̄) / (κ + n), strength κ + n, degrees ν + n, Ψ + scatter + nκ / (κ + n) (x̄ - m)(x̄ - m)ᵀ."""
    weight, before = statistics.weight, np.asarray(prior.strength)
    strength = before + weight
    shift = statistics.center - prior.mean
    share = np.asarray(before * weight / strength)[..., None, None]
    scale = prior.scale + statistics.scatter + share * shift[..., :, None] * shift[..., None, :]
    mean = prior.mean + np.asarray(weight / strength)[..., None] * shift
    return NormalInverseWishart(mean, strength, prior.degrees + weight, scale)


def next_vector(prior: NormalInverseWishart, known: Known) -> MultivariateStudentT:
    """Student's t with ν - d + 1 degrees and the scale Ψ (κ + 1) / (κ (ν - d + 1))."""
    strength, degrees = np.asarray(prior.strength), np.asarray(prior.degrees) - prior.dimension + 1
    factor = np.asarray((strength + 1) / (strength * degrees))
    return MultivariateStudentT(degrees, prior.mean, prior.scale * factor[..., None, None])


NormalInverseWishart.pairs = (
    Pair(
        NormalInverseWishart, MultivariateGaussian, "mean and covariance", after_vectors,
        at=lambda point, known: MultivariateGaussian(*as_pair(point, "covariance")), sample_size=strength_of,
        closed_form_predictive=next_vector,
    ),
)  # fmt: skip
