"""`GaussianFunction`: exp(log_scale + ηᵀx - ½ xᵀΛx), where products add and conditioning is slicing."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from juncture.base.values import Value
from juncture.data.observations import as_values
from juncture.errors import InvalidData, InvalidModel, Unsupported
from juncture.families.constraints import POSITIVE_DEFINITE, REAL, REAL_VECTOR, SYMMETRY_TOLERANCE, Constraint
from juncture.families.family import Real, plain
from juncture.families.vectors import block_matrices as blocks
from juncture.families.vectors.whitening import Whitening, apply
from juncture.numerics.stable import LOG_TWO_PI


class GaussianFunction(Value):
    """What `CanonicalGaussian` can do without its moments: values and integrals, products and parts."""

    loading: np.ndarray  # (*batch, d)
    precision: np.ndarray  # (*batch, d, d)
    log_scale: np.ndarray  # (*batch)

    def __init__(self, loading: Any, precision: Any, log_scale: Any = None) -> None:
        loading = REAL_VECTOR.check(loading, name="the loading of CanonicalGaussian")
        precision = SYMMETRIC.check(precision, name="the precision of CanonicalGaussian")
        if loading.shape[-1] != precision.shape[-1]:
            raise InvalidModel(
                f"a loading of {loading.shape[-1]} numbers does not go with a precision of size {precision.shape[-1]}"
            )
        self._set(loading=loading, precision=precision)
        scale = -_log_integral(loading, precision) if log_scale is None else log_scale
        self._set(log_scale=REAL.check(scale, name="the log_scale of CanonicalGaussian"))

    @property
    def dimension(self) -> int:
        return int(self.loading.shape[-1])

    def log_value(self, x: Any) -> Real:
        """log_scale + ηᵀx - ½ xᵀΛx."""
        values = as_values(x, (self.dimension,), name="CanonicalGaussian")
        return plain(self.log_scale + _exponent(self.loading, self.precision, values))

    def log_integral(self) -> Real:
        """log of the integral over all x: 0 for a density."""
        return plain(self.log_scale + _log_integral(self.loading, self.precision))

    def log_prob(self, x: Any) -> Real:
        """The log-density of the normalised function."""
        return plain(np.asarray(self.log_value(x)) - self.log_integral())

    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean Λ⁻¹η and the covariance Λ⁻¹."""
        covariance = _whitening(self.precision).inverse
        return apply(covariance, self.loading), covariance

    def marginal(self, indices: Any) -> Self:
        """The function of these entries, the others integrated out: η1 - Λ12 Λ22⁻¹ η2, Λ11 - Λ12 Λ22⁻¹ Λ21."""
        kept, out = blocks.split(indices, self.dimension)
        inner, cross = blocks.block(self.precision, out, out), blocks.block(self.precision, out, kept)
        log_scale = self.log_scale + _log_integral(self.loading[..., out], inner)
        pull = np.linalg.solve(inner, cross)
        loading = self.loading[..., kept] - apply(np.swapaxes(pull, -2, -1), self.loading[..., out])
        precision = blocks.block(self.precision, kept, kept) - np.swapaxes(cross, -2, -1) @ pull
        return type(self)(loading, blocks.symmetric(precision), log_scale)

    def conditional(self, indices: Any, values: Any) -> Self:
        """The function of the other entries where those at the indices have these values: η2 - Λ21 x1, Λ22.

        The function is not normalised: its integral is the density of the values.
        """
        given, rest = blocks.split(indices, self.dimension)
        if not rest.size:
            raise InvalidData("all entries are given, none is left; log_value is the number that remains")
        found = as_values(values, given.shape, name="the entries that are given")
        loading = self.loading[..., rest] - apply(blocks.block(self.precision, rest, given), found)
        reached = _exponent(self.loading[..., given], blocks.block(self.precision, given, given), found)
        return type(self)(loading, blocks.block(self.precision, rest, rest), self.log_scale + reached)

    def __mul__(self, other: object) -> Self:
        return self._combine(other, 1.0)

    def __truediv__(self, other: object) -> Self:
        return self._combine(other, -1.0)

    def _combine(self, other: object, sign: float) -> Self:
        if not isinstance(other, GaussianFunction):
            return NotImplemented
        if self.dimension != other.dimension:
            raise InvalidData(f"Gaussians of {self.dimension} and of {other.dimension} entries do not multiply")
        parts = ((getattr(self, name), getattr(other, name)) for name in self._fields)
        return type(self)(*(mine + sign * theirs for mine, theirs in parts))

    def __repr__(self) -> str:
        return f"CanonicalGaussian(dimension={self.dimension})"


def _exponent(loading: np.ndarray, precision: np.ndarray, x: np.ndarray) -> np.ndarray:
    """ηᵀx - ½ xᵀΛx."""
    return np.asarray(((loading - 0.5 * apply(precision, x)) * x).sum(axis=-1))


def _log_integral(loading: np.ndarray, precision: np.ndarray) -> np.ndarray:
    """½ ηᵀΛ⁻¹η + ½ d log 2π - ½ log |Λ|."""
    whitening = _whitening(precision)
    fit = whitening.squared_distance(loading)
    return np.asarray(0.5 * (fit + loading.shape[-1] * LOG_TWO_PI - whitening.log_determinant))


def _whitening(precision: np.ndarray) -> Whitening:
    if precision.size and not POSITIVE_DEFINITE.is_met(precision).all():
        raise Unsupported("a Gaussian whose precision is not positive definite has no integral and no density")
    return Whitening.of(precision, name="the precision of CanonicalGaussian")


def _is_symmetric(matrices: np.ndarray) -> np.ndarray:
    if matrices.shape[-1] != matrices.shape[-2]:
        return np.zeros(matrices.shape[:-2], bool)
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    safe = np.where(finite[..., None, None], matrices, 0.0)
    slack = SYMMETRY_TOLERANCE * np.abs(safe).max(axis=(-2, -1), keepdims=True)
    return np.asarray(finite & (np.abs(safe - np.swapaxes(safe, -2, -1)) <= slack).all(axis=(-2, -1)))


SYMMETRIC = Constraint("a symmetric matrix of finite numbers", 2, _is_symmetric)
